/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads this machine, an XML file or a synthetic description. hwloc reads them, and import_tree.c
 * makes our tree from hwloc's. Sources that may crash hwloc, or keep it busy, are tried in a child
 * process first (child.c). These are files, large descriptions, and trees that hwloc's environment
 * variables put in the place of this machine.
 */
#include "topology/import.h"

#include "base/advice.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "topology/annotate.h"
#include "topology/child.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The kernel refuses a mask smaller than its own. This is far larger than the largest machines
 * need. */
#define LARGEST_MASK_CPUS 65536

struct source {
	const char *subject; /* what messages call it */
	/* A synthetic description, or the bytes of an XML file; both are NULL for this machine */
	const char *synthetic;
	const char *xml;
	int xml_bytes;
	/* Result of ps_topology_origin. For this machine it is used only if hwloc read another
	 * tree */
	const char *origin;
	bool is_this_machine;
	bool is_trusted; /* needs no trial in a child process */
	unsigned long flags;
};

struct job {
	const struct source *source;
	struct ps_topology *topology;
	bool is_refused; /* hwloc refuses the source */
};

static unsigned long import_cheap_flags(void)
{
#if HWLOC_API_VERSION >= 0x00020800
	return HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
#else
	return 0;
#endif
}

/* Gets the reason why hwloc refuses a description. Runs in a child process, because hwloc writes
 * the reason to stderr. */
static int import_synthetic_reason(void *context)
{
	const struct job *job = context;
	char reason[512] = "";
	hwloc_topology_t hwloc;
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) < 0 || dup2(ends[1], STDERR_FILENO) < 0 ||
	    setenv("HWLOC_SYNTHETIC_VERBOSE", "1", 1) < 0 || hwloc_topology_init(&hwloc) < 0)
		return ps__fail(PS_ESYS, "no reason known");
	hwloc_topology_set_synthetic(hwloc, job->source->synthetic);
	fputc('\n', stderr);
	fflush(stderr);
	if (read(ends[0], reason, sizeof reason - 1) < 0)
		return ps__fail(PS_ESYS, "no reason known");
	reason[strcspn(reason, "\n")] = '\0';
	return ps__fail(PS_EINVAL, "hwloc refuses the synthetic description \"%s\"%s%s",
	                job->source->synthetic, reason[0] ? ": " : "", reason);
}

static int import_fail_source(struct job *job)
{
	const struct source *source = job->source;
	int error = errno;

	if (error == ENOMEM)
		return ps__fail_memory("hwloc's topology");
	job->is_refused = true;
	if (source->xml)
		return ps__fail(PS_EINVAL,
		                "%s is damaged, or not hwloc's XML: hwloc refuses it (%s)",
		                source->subject, strerror(error));
	if (source->synthetic)
		return ps__fail(PS_EINVAL, "hwloc refuses the synthetic description \"%s\"",
		                source->synthetic);
	if (source->origin)
		return ps__fail(PS_EINVAL,
		                "hwloc refuses %s (%s): correct what the variables say, or unset "
		                "them",
		                source->subject, strerror(error));
	return ps__fail(PS_ESYS, "hwloc could not read %s: %s (does lstopo work?)", source->subject,
	                strerror(error));
}

/* True if the variables name a file or a description, but hwloc read this machine instead. Some
 * builds of hwloc do so if there is no such file or description; others fail. */
static bool import_is_ignored(const struct source *source, hwloc_topology_t hwloc)
{
	return source->is_this_machine && source->origin && ps__import_variables_replace() &&
	       hwloc_topology_is_thissystem(hwloc);
}

static int import_run(struct job *job, hwloc_topology_t hwloc)
{
	const struct source *source = job->source;
	int result = 0;

	if (source->xml)
		result = hwloc_topology_set_xmlbuffer(hwloc, source->xml, source->xml_bytes);
	if (source->synthetic)
		result = hwloc_topology_set_synthetic(hwloc, source->synthetic);
	if (result == 0)
		result = hwloc_topology_set_flags(hwloc, source->flags);
	if (result == 0)
		result = hwloc_topology_load(hwloc);
	if (result == 0 && import_is_ignored(source, hwloc)) {
		errno = EINVAL;
		result = -1;
	}
	if (result < 0)
		return import_fail_source(job);
	return ps__import_tree(&job->topology, hwloc, source->subject);
}

/* Sets where the tree comes from. Asks hwloc whether its variables put another tree in this
 * machine's place. */
static int import_note_origin(struct job *job)
{
	const struct source *source = job->source;
	struct ps_topology *topology = job->topology;

	topology->is_stand_in =
	    source->is_this_machine && !hwloc_topology_is_thissystem(topology->hwloc);
	topology->is_foreign = !source->is_trusted && !source->synthetic;
	if (!source->origin || (source->is_this_machine && !topology->is_stand_in))
		return PS_OK;
	topology->origin = ps__arena_strdup(&topology->arena, source->origin);
	return topology->origin ? PS_OK : ps__fail_memory("the topology");
}

static int import_fill(struct job *job)
{
	hwloc_topology_t hwloc;

	if (hwloc_topology_init(&hwloc) < 0)
		return ps__fail_memory("hwloc's topology");
	int code = import_run(job, hwloc);
	if (code < 0) {
		hwloc_topology_destroy(hwloc);
		return code;
	}
	job->topology->hwloc = hwloc;
	code = import_note_origin(job);
	if (code < 0)
		ps_topology_destroy(job->topology);
	return code;
}

/* Tries a source that is not trusted. Runs in a child process, and does all that the caller will do
 * with the source. So a crash, or too much use of time or memory, happens in the child. */
static int import_rehearse(void *context)
{
	struct job *job = context;

	/* With HWLOC_THISSYSTEM, hwloc says of any tree that it is this machine's. Without it,
	 * import_is_ignored can see whether hwloc read the source. */
	if (job->source->is_this_machine)
		unsetenv("HWLOC_THISSYSTEM");
	int code = import_fill(job);
	if (job->is_refused && job->source->synthetic)
		return import_synthetic_reason(job);
	if (code < 0)
		return code;
	if (job->topology->is_foreign)
		code = ps__annotate_rehearse(job->topology, job->source->subject);
	ps_topology_destroy(job->topology);
	return code;
}

static int import_explain_refusal(struct job *job)
{
	if (ps__child_run(import_synthetic_reason, job, job->source->subject) == PS_EINVAL)
		return PS_EINVAL;
	return ps__fail(PS_EINVAL, "hwloc refuses the synthetic description \"%s\"",
	                job->source->synthetic);
}

static int import_load_uncancelled(struct ps_topology **out, const struct source *source)
{
	struct job job = {.source = source};
	int code =
	    source->is_trusted ? PS_OK : ps__child_run(import_rehearse, &job, source->subject);

	if (code < 0)
		return code;
	ps__lock_take(PS__LOCK_HWLOC);
	code = import_fill(&job);
	ps__lock_release(PS__LOCK_HWLOC);
	if (job.is_refused && source->synthetic)
		return import_explain_refusal(&job);
	if (code == PS_OK)
		*out = job.topology;
	return code;
}

static int import_load(struct ps_topology **out, const struct source *source)
{
	int cancel = ps__cancel_hold();
	int code = import_load_uncancelled(out, source);

	ps__cancel_release(cancel);
	return code;
}

/* Fails if the kernel refuses sched_getaffinity, because hwloc would then repeat the call for ever,
 * each time with a larger mask. */
static int import_check_affinity(void)
{
	unsigned long mask[LARGEST_MASK_CPUS / (8 * sizeof(unsigned long))];

	if (ps__os.sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) >= 0)
		return PS_OK;
	int error = errno;
	return ps__fail(error == EPERM || error == EACCES ? PS_EPERM : PS_ESYS,
	                "the topology of this machine can't be read: sched_getaffinity is refused "
	                "(%s), which hwloc can't do without: allow the call in the seccomp filter, "
	                "or load a file that lstopo wrote elsewhere (ps_topology_load_xml)",
	                strerror(error));
}

#define NEEDED_DESCRIPTORS 3

/* Fails if hwloc would lack a free descriptor. hwloc treats a file of /sys that it can't open as
 * missing, and guesses: without a free descriptor it finds no NUMA nodes. It was seen to have at
 * most two files open at a time. */
static int import_check_descriptors(void)
{
	int fds[NEEDED_DESCRIPTORS], error = 0;
	size_t count = 0;

	while (count < NEEDED_DESCRIPTORS && error == 0) {
		fds[count] = ps__os.open("/", O_RDONLY | O_CLOEXEC);
		error = fds[count] < 0 ? errno : 0;
		count += error == 0;
	}
	while (count > 0)
		ps__os.close(fds[--count]);
	if (error != EMFILE && error != ENFILE)
		return PS_OK;
	return ps__fail(PS_ECOUNT,
	                "the topology of this machine can't be read: hwloc needs %d free file "
	                "descriptors (%s): " PS__ADVICE_DESCRIPTORS ", or close files",
	                NEEDED_DESCRIPTORS, strerror(error));
}

/* Loads the tree that hwloc gives for this machine. hwloc's variables may replace it by any other
 * tree. */
static int import_load_machine(struct ps_topology **out, unsigned long flags)
{
	char origin[PATH_MAX], subject[PATH_MAX + 64];
	struct source source = {.subject = "the topology of this machine",
	                        .is_this_machine = true,
	                        .is_trusted = true,
	                        .flags = flags};
	const char *description = getenv("HWLOC_SYNTHETIC");

	if (!ps__import_variables(origin, sizeof origin)) {
		int result = import_check_affinity();
		if (result == PS_OK)
			result = import_check_descriptors();
		return result == PS_OK ? import_load(out, &source) : result;
	}
	snprintf(subject, sizeof subject,
	         "the topology that %s puts in the place of this machine's", origin);
	source.subject = subject;
	source.origin = origin;
	source.is_trusted = false;
	int code = description ? ps__import_check_synthetic(description) : PS_OK;
	return code < 0 ? code : import_load(out, &source);
}

int ps_topology_load(struct ps_topology **out, const struct ps_topology_options *options)
{
	unsigned long flags = import_cheap_flags();

	if (!out)
		return ps__fail(PS_EINVAL,
		                "ps_topology_load: the pointer for the topology is NULL");
	if (options && options->size != sizeof *options)
		return ps__fail(
		    PS_EINVAL,
		    "ps_topology_load: options->size is %zu, not %zu: set it to sizeof options",
		    options->size, sizeof *options);
	if (options && (options->flags & ~(unsigned)PS_TOPOLOGY_WHOLE_MACHINE))
		return ps__fail(PS_EINVAL,
		                "ps_topology_load: options->flags has an unknown flag: 0x%x",
		                options->flags);
	if (options && (options->flags & PS_TOPOLOGY_WHOLE_MACHINE))
		flags |= HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
	return import_load_machine(out, flags);
}

/* Finds simple mistakes in XML, because hwloc reports only EINVAL. */
static int import_check_looks(const char *xml, size_t size_bytes, const char *subject)
{
	const char *start = xml;

	while (isspace((unsigned char)*start))
		start++;
	if (*start != '<' || strlen(xml) != size_bytes)
		return ps__fail(PS_EINVAL, "%s is not XML: write it with lstopo FILE.xml", subject);
	if (!strstr(xml, "<topology"))
		return ps__fail(
		    PS_EINVAL,
		    "%s is not hwloc's XML: it has no <topology>. Write it with lstopo FILE.xml",
		    subject);
	return PS_OK;
}

/* Loads all that the XML shows, also parts that the writing process was not allowed to use. */
static int import_load_xml(struct ps_topology **out, const char *xml, size_t size_bytes,
                           const char *subject, const char *origin)
{
	const struct source source = {.subject = subject,
	                              .xml = xml,
	                              .xml_bytes = (int)size_bytes,
	                              .origin = origin,
	                              .flags = import_cheap_flags() |
	                                       HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED};
	int code = import_check_looks(xml, size_bytes, subject);

	return code == PS_OK ? import_load(out, &source) : code;
}

int ps__topology_load_text(struct ps_topology **out, const char *xml, size_t size_bytes,
                           const char *subject)
{
	return import_load_xml(out, xml, size_bytes, subject, subject);
}

static int import_load_file(struct ps_topology **out, const char *path)
{
	char subject[PATH_MAX + 16], *xml;
	size_t size_bytes;
	int code = ps__import_read_file(&xml, &size_bytes, path);
	if (code < 0)
		return code;
	snprintf(subject, sizeof subject, "the file %s", path);
	code = import_load_xml(out, xml, size_bytes, subject, path);
	ps__os_free(xml);
	return code;
}

int ps_topology_load_xml(struct ps_topology **out, const char *path)
{
	if (!out || !path)
		return ps__fail(PS_EINVAL, "ps_topology_load_xml: the %s is NULL",
		                out ? "path" : "pointer for the topology");
	int cancel = ps__cancel_hold();
	int code = import_load_file(out, path);
	ps__cancel_release(cancel);
	return code;
}

int ps_topology_load_synthetic(struct ps_topology **out, const char *description)
{
	char subject[512];
	struct source source = {.subject = subject,
	                        .synthetic = description,
	                        .origin = description,
	                        .flags = import_cheap_flags()};

	if (!out || !description)
		return ps__fail(PS_EINVAL, "ps_topology_load_synthetic: the %s is NULL",
		                out ? "description" : "pointer for the topology");
	int code = ps__import_check_synthetic(description);
	if (code < 0)
		return code;
	snprintf(subject, sizeof subject, "the synthetic description \"%s\"", description);
	source.is_trusted = ps__import_is_small(description);
	return import_load(out, &source);
}
