/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of events on this machine, as ps_eventset_add takes them. */
#ifndef PERFSAGE_EVENT_H
#define PERFSAGE_EVENT_H

#include <perfsage/eventset.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One known event. The strings are valid during the visit only; none is NULL. */
struct ps_event_info {
	size_t size;      /* the library's sizeof; later versions can have more members */
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
 * breakpoints and probes are not in the list. Sources that this user cannot read
 * are left out: for example tracepoints, if tracefs isn't mounted or belongs to
 * root.
 *
 * Not every event of the list can be counted here by this user: ps_eventset_add
 * finds out whether an event can be counted.
 *
 * visit - returns 0 to go on; any other number ends the walk and is returned.
 *     Let visit return positive numbers: negative numbers look like errors. visit
 *     may call the library, but not this function.
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
 * Any thread. Cost: the call reads one or two files for each tracepoint and each
 * named event of a PMU; with thousands of tracepoints this takes tens of
 * milliseconds.
 */
PS_PUBLIC int ps_event_for_each(int (*visit)(const struct ps_event_info *info, void *context),
                                void *context);

#ifdef __cplusplus
}
#endif
#endif
