/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of events on this machine, as ps_eventset_add takes them. */
#ifndef PERFSAGE_EVENT_H
#define PERFSAGE_EVENT_H

#include <perfsage/eventset.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One known event. The strings live during the visit only; none is NULL. */
struct ps_event_info {
	size_t size;      /* the library's sizeof; later versions may have more members */
	const char *name; /* as ps_eventset_add takes it; "chip=?": the user gives the value */
	const char *pmu;  /* "cpu", "msr", "tracepoint"; libpfm4's: "amd64_fam19h_zen4" */
	const char *description; /* "" if none is known */
	const char *unit;        /* "ns", "Joules"; "" for a plain count */
	enum ps_scope scope;     /* what one count covers */
};

/**
 * Visits the names of all events that are known on this machine.
 *
 * These are perf's generic hardware, cache and software events, the named
 * events of the machine's PMUs, tracepoints, and libpfm4's events of these
 * PMUs. The names of one source come together, in no order. Raw codes,
 * breakpoints and probes have no list. Sources that this user may not read are
 * left out: tracepoints, where tracefs isn't mounted or belongs to root.
 *
 * A known name cannot always be counted here, by this user: ps_eventset_add
 * finds that out.
 *
 * visit - returns 0 to go on; any other number ends the walk and is returned.
 *     Let it return positive numbers: negative ones look like errors. It may
 *     call the library, but not this function.
 * context - handed through to visit
 *
 * Returns 0 after a whole walk.
 *
 * Errors:
 *   PS_EINVAL - visit is NULL
 *   PS_ECOUNT - no file descriptor is left
 *   PS_ESYS - a file of sysfs can't be read
 *   PS_ENOMEM - out of memory
 *
 * Any thread. Cost: one or two files for each tracepoint and each named event of
 * a PMU; tens of milliseconds where there are thousands of tracepoints.
 */
PS_PUBLIC int ps_event_for_each(int (*visit)(const struct ps_event_info *info, void *context),
                                void *context);

#ifdef __cplusplus
}
#endif
#endif
