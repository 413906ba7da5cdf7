/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loaders: this machine, an XML file, a synthetic description; hwloc reads them, import_tree.c makes our tree of it.
 * hwloc's own environment variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_COMPONENTS, ...) act on ps_topology_load.
 */
#include "topology/import.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/os.h"
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

/* Twice what the largest machines have, and a few: the kernel refuses a mask smaller than its own. */
#define LARGEST_MASK_CPUS 65536

struct source {
	const char *subject;   /* what a message calls it */
	const char *synthetic; /* either a description, or the bytes of an XML file, or neither: this machine */
	const char *xml;
	int xml_bytes;
	unsigned long flags;
};

struct job {
	const struct source *source;
	hwloc_topology_t hwloc;
	struct ps_topology *topology;
};

pthread_mutex_t ps__hwloc_lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned long cheap_flags(void)
{
#if HWLOC_API_VERSION >= 0x00020800
	return HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS;
#else
	return 0;
#endif
}

/* What hwloc prints about a bad description when asked to. Runs in a child process, as that goes to stderr. */
static int synthetic_reason(void *context)
{
	const struct job *job = context;
	char reason[512] = "";
	int ends[2];

	if (pipe2(ends, O_NONBLOCK) < 0 || dup2(ends[1], STDERR_FILENO) < 0 ||
	    setenv("HWLOC_SYNTHETIC_VERBOSE", "1", 1) < 0)
		return ps__fail(PS_ESYS, "no reason known");
	hwloc_topology_set_synthetic(job->hwloc, job->source->synthetic);
	fputc('\n', stderr);
	fflush(stderr);
	if (read(ends[0], reason, sizeof reason - 1) < 0)
		return ps__fail(PS_ESYS, "no reason known");
	reason[strcspn(reason, "\n")] = '\0';
	return ps__fail(PS_EINVAL, "hwloc refuses the synthetic description \"%s\"%s%s", job->source->synthetic,
	                reason[0] ? ": " : "", reason);
}

static int fail_source(struct job *job)
{
	const struct source *source = job->source;
	int error = errno;

	if (error == ENOMEM)
		return ps__fail_memory("hwloc's topology");
	if (source->xml)
		return ps__fail(PS_EINVAL, "%s is damaged, or not hwloc's XML: hwloc refuses it (%s)",
		                source->subject, strerror(error));
	if (source->synthetic && ps__child_run(synthetic_reason, job, source->subject) == PS_EINVAL)
		return PS_EINVAL;
	if (source->synthetic)
		return ps__fail(PS_EINVAL, "hwloc refuses the synthetic description \"%s\"", source->synthetic);
	return ps__fail(PS_ESYS, "hwloc could not read the topology of this machine: %s (does lstopo work?)",
	                strerror(error));
}

static int fill(struct job *job)
{
	const struct source *source = job->source;
	int result = 0;

	if (source->xml)
		result = hwloc_topology_set_xmlbuffer(job->hwloc, source->xml, source->xml_bytes);
	if (source->synthetic)
		result = hwloc_topology_set_synthetic(job->hwloc, source->synthetic);
	if (result == 0)
		result = hwloc_topology_set_flags(job->hwloc, source->flags);
	if (result == 0)
		result = hwloc_topology_load(job->hwloc);
	if (result < 0)
		return fail_source(job);
	return ps__import_tree(&job->topology, job->hwloc, source->subject);
}

/* All that the caller will do with a foreign file, to its end, so that a crash happens here. */
static int rehearse(void *context)
{
	struct job *job = context;
	int code = fill(job);

	hwloc_topology_destroy(job->hwloc);
	if (code == PS_OK)
		ps_topology_destroy(job->topology);
	return code;
}

static int load_locked(struct ps_topology **out, const struct source *source)
{
	struct job job = {.source = source};
	int code = PS_OK;

	if (hwloc_topology_init(&job.hwloc) < 0)
		return ps__fail_memory("hwloc's topology");
	if (source->xml)
		code = ps__child_run(rehearse, &job, source->subject);
	if (code == PS_OK)
		code = fill(&job);
	if (code < 0) {
		hwloc_topology_destroy(job.hwloc);
		return code;
	}
	job.topology->hwloc = job.hwloc;
	job.topology->is_foreign = source->xml != NULL;
	*out = job.topology;
	return PS_OK;
}

static int load(struct ps_topology **out, const struct source *source)
{
	int cancel = ps__cancel_hold();

	pthread_mutex_lock(&ps__hwloc_lock);
	int code = load_locked(out, source);
	pthread_mutex_unlock(&ps__hwloc_lock);
	ps__cancel_release(cancel);
	return code;
}

/* hwloc asks again and again with a larger mask until the kernel tells it, and so for ever if it never does. */
static int check_affinity(void)
{
	unsigned long mask[LARGEST_MASK_CPUS / (8 * sizeof(unsigned long))];

	if (ps__os.sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) >= 0)
		return PS_OK;
	int error = errno;
	return ps__fail(error == EPERM || error == EACCES ? PS_EPERM : PS_ESYS,
	                "the topology of this machine can't be read: sched_getaffinity is refused (%s), which hwloc "
	                "can't do without: allow the call in the seccomp filter, or load a file that lstopo wrote "
	                "elsewhere (ps_topology_load_xml)",
	                strerror(error));
}

int ps_topology_load(struct ps_topology **out, const struct ps_topology_options *options)
{
	struct source source = {.subject = "the topology of this machine", .flags = cheap_flags()};

	if (!out)
		return ps__fail(PS_EINVAL, "ps_topology_load: the pointer for the topology is NULL");
	if (options && options->size != sizeof *options)
		return ps__fail(PS_EINVAL,
		                "ps_topology_load: options->size is %zu, not %zu: set it to sizeof options",
		                options->size, sizeof *options);
	if (options && (options->flags & ~(unsigned)PS_TOPOLOGY_WHOLE_MACHINE))
		return ps__fail(PS_EINVAL, "ps_topology_load: options->flags has an unknown flag: 0x%x",
		                options->flags);
	if (options && (options->flags & PS_TOPOLOGY_WHOLE_MACHINE))
		source.flags |= HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
	int result = check_affinity();
	return result == PS_OK ? load(out, &source) : result;
}

/* hwloc says no more than EINVAL, so what is easily told is told here. */
static int check_looks(const char *xml, size_t size_bytes, const char *subject)
{
	const char *start = xml;

	while (isspace((unsigned char)*start))
		start++;
	if (*start != '<' || strlen(xml) != size_bytes)
		return ps__fail(PS_EINVAL, "%s is not XML: write it with lstopo FILE.xml", subject);
	if (!strstr(xml, "<topology"))
		return ps__fail(
		    PS_EINVAL, "%s is not hwloc's XML: it has no <topology>. Write it with lstopo FILE.xml", subject);
	return PS_OK;
}

static int load_file(struct ps_topology **out, const char *path)
{
	char subject[PATH_MAX + 16], *xml;
	size_t size_bytes;
	int code = ps__import_read_file(&xml, &size_bytes, path);
	if (code < 0)
		return code;
	snprintf(subject, sizeof subject, "the file %s", path);
	code = check_looks(xml, size_bytes, subject);
	/* The file was written to show what it shows: also what was not allowed to the process that wrote it. */
	struct source source = {.subject = subject,
	                        .xml = xml,
	                        .xml_bytes = (int)size_bytes,
	                        .flags = cheap_flags() | HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED};
	if (code == PS_OK)
		code = load(out, &source);
	ps__os_free(xml);
	return code;
}

int ps_topology_load_xml(struct ps_topology **out, const char *path)
{
	if (!out || !path)
		return ps__fail(PS_EINVAL, "ps_topology_load_xml: the %s is NULL",
		                out ? "path" : "pointer for the topology");
	int cancel = ps__cancel_hold();
	int code = load_file(out, path);
	ps__cancel_release(cancel);
	return code;
}

/* Multiplies what the levels have of children. hwloc itself would build any number, until memory runs out. */
static double count_threads(const char *description)
{
	double threads = 1;
	int nested = 0;

	for (const char *at = description; *at; at++) {
		nested += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
		bool starts = at == description || at[-1] == ':' || at[-1] == ' ';
		if (nested == 0 && starts && isdigit((unsigned char)*at))
			threads *= strtod(at, NULL);
	}
	return threads;
}

int ps_topology_load_synthetic(struct ps_topology **out, const char *description)
{
	struct source source = {
	    .subject = "the synthetic description", .synthetic = description, .flags = cheap_flags()};

	if (!out || !description)
		return ps__fail(PS_EINVAL, "ps_topology_load_synthetic: the %s is NULL",
		                out ? "description" : "pointer for the topology");
	if (count_threads(description) > PS__CPU_LIMIT)
		return ps__fail(PS_EINVAL, "the synthetic description \"%s\" has more than %d Threads", description,
		                PS__CPU_LIMIT);
	return load(out, &source);
}
