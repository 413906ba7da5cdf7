/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for further events: tracepoints of the kernel, and what this library was built with. */
#include <config.h>

#include "base/advice.h"
#include "base/os.h"
#include "diagnose/diagnosis.h"
#include "event/event.h"

#include <errno.h>
#include <stdio.h>

#define TRACEFS_LINE "tracefs /sys/kernel/tracing tracefs mode=755 0 0"

static const char *const roots[] = {"/sys/kernel/tracing/events",
                                    "/sys/kernel/debug/tracing/events"};
#define ROOT_COUNT (sizeof roots / sizeof *roots)

static int sources_stop_at_first(const char *name, void *context)
{
	(void)name;
	(void)context;
	return 1;
}

/* Returns the first root that can be listed; or NULL, and an errno. "Not permitted" says more than
 * "not there", so it is preferred. */
static const char *sources_find_root(int *out)
{
	int error = ENOENT;

	for (size_t i = 0; i < ROOT_COUNT; i++) {
		int found = ps__os.list(roots[i], sources_stop_at_first, NULL);
		if (found == 1)
			return roots[i];
		if (found < 0 && errno != ENOENT && error == ENOENT)
			error = errno;
	}
	*out = error;
	return NULL;
}

/* Opens the tracepoint that every kernel with tracing has. Returns 0, or the errno of reading its
 * number or of opening it. */
static int sources_probe_switch(const char *root, bool *has_number)
{
	char path[64];
	long number;

	snprintf(path, sizeof path, "%s/sched/sched_switch/id", root);
	int error = -ps__os_read_long(path, &number);
	*has_number = error == 0;
	if (error)
		return error;
	struct perf_event_attr attr = ps__probe_attr(PERF_TYPE_TRACEPOINT, (uint64_t)number, false);
	return ps__probe_event(&attr, 0, -1);
}

static void sources_say_unreadable(struct ps__diagnosis *d, int error)
{
	if (error == ENOENT) {
		ps__draft_fact(d, PS_FINDING_ABSENT,
		               "tracefs is not mounted, or empty: nothing is in %s.", roots[0]);
		ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "tracepoints can be named",
		                 "mount -t tracefs nodev /sys/kernel/tracing");
		ps__draft_lasting(d, "echo '" TRACEFS_LINE "' >> /etc/fstab");
		return;
	}
	ps__draft_fact(d, PS_FINDING_BLOCKED, "%s can't be entered (%s).", roots[0],
	               ps__probe_errno(error));
	ps__draft_remedy(d, PS_REMEDY_BY_ADMINISTRATOR, "tracepoints can be named",
	                 "mount -o remount,mode=755 /sys/kernel/tracing");
	ps__draft_lasting(d, "echo '" TRACEFS_LINE "' >> /etc/fstab");
}

void ps__diagnose_tracepoints(struct ps__diagnosis *d)
{
	int error = 0;
	bool has_number;
	const char *root = sources_find_root(&error);

	if (!root) {
		sources_say_unreadable(d, error);
		return;
	}
	error = sources_probe_switch(root, &has_number);
	if (error == 0) {
		ps__draft_fact(d, PS_FINDING_GOOD, "%s can be read, and sched:sched_switch opens.",
		               root);
	} else if (!has_number && error != ENOENT) {
		sources_say_unreadable(d, error);
	} else if (has_number) {
		ps__draft_fact(d, PS_FINDING_BLOCKED,
		               "%s can be read, but sched:sched_switch is refused (%s).", root,
		               ps__probe_errno(error));
		if (error == EACCES && d->reach == EINVAL && d->permissions.kernel == EACCES) {
			ps__draft_level(
			    d, "tracepoints are the kernel's, which may then be counted", 1);
		}
	} else {
		ps__draft_fact(d, PS_FINDING_GOOD,
		               "%s can be read; there is no sched:sched_switch to try.", root);
	}
}

#ifdef PS_WITH_PFM
static int sources_count_one(const struct ps_event_info *info, void *context)
{
	(void)info;
	++*(size_t *)context;
	return 0;
}
#endif

void ps__diagnose_pfm(struct ps__diagnosis *d)
{
#ifdef PS_WITH_PFM
	size_t count = 0;

	ps__pfm_list(sources_count_one, &count);
	ps__draft_fact(
	    d, PS_FINDING_GOOD,
	    "This perfsage was built with libpfm4, which knows %zu events of this machine.", count);
#else
	ps__draft_fact(d, PS_FINDING_ABSENT,
	               "This perfsage was built without libpfm4: its names of events by CPU model "
	               "are not known.");
	ps__draft_remedy(
	    d, PS_REMEDY_BY_YOU, "the CPU maker's names of events, by building perfsage anew",
	    "./configure --with-pfm  (its headers: Debian libpfm4-dev, Fedora libpfm-devel)");
#endif
}
