/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of events that are known on this machine, as ps_eventset_add takes them. */
#ifndef PERFSAGE_EVENT_H
#define PERFSAGE_EVENT_H

#include <perfsage/eventset.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One known event. All strings live during the visit alone; none is NULL. */
struct ps_event_info {
	size_t size;      /* sizeof(struct ps_event_info) of the library: later versions may have more behind */
	const char *name; /* what ps_eventset_add takes; a term that the user must give stands as "chip=?" */
	const char *pmu;  /* "cpu", "software", "msr", "tracepoint", "uncore_imc_0"; libpfm4's: "amd64_fam19h_zen4" */
	const char *description; /* "" if none is known */
	const char *unit;        /* "ns", "Joules"; "" for a plain count */
	enum ps_scope scope;     /* what one count covers */
};

/**
 * Visits the names of all events that are known on this machine: perf's generic hardware, cache and software events, the
 * named events of its PMUs, tracepoints, and what libpfm4 knows of its PMUs. Those of one source come together, in no order.
 *
 * That a name is known doesn't mean that it can be counted here, by this user: ps_eventset_add finds that out. Raw codes,
 * breakpoints and probes have no list. Sources that this user may not look into are left out: tracepoints, where
 * tracefs isn't mounted or is root's.
 *
 * visit: returns 0 to go on; any other number ends the walk and is returned. context is handed through. It may call the
 * library, but for this function.
 * Returns 0 after a whole walk. PS_EINVAL: visit is NULL. PS_ECOUNT: no file descriptor is left. PS_ESYS: a file of sysfs
 * can't be read. PS_ENOMEM.
 * Any thread. Cost: it reads some files for each event; tens of milliseconds where there are thousands of tracepoints.
 */
PS_PUBLIC int ps_event_for_each(int (*visit)(const struct ps_event_info *info, void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
