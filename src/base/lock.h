/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locks of what the process has once. A forked child has a copy of them, and of the parent's
 * threads the forking one alone: a lock that another thread held would stay held for ever.
 *
 * So fork(2) waits until none of them is held, in one order, and what they protect is whole in the
 * child. A child of clone(2) or _Fork(3), which run no handlers, gets them new at its first call;
 * what another thread was changing is half done there.
 */
#ifndef PS_BASE_LOCK_H
#define PS_BASE_LOCK_H

/* In the order in which a thread may take them. */
enum ps__lock {
	PS__LOCK_COLLECT, /* the collector: collect/collect.c */
	PS__LOCK_MARKS,   /* the marks' names, and who listens: region/marks.c */
	PS__LOCK_METRICS, /* metrics that the program defines: analysis/metric_define.c */
	PS__LOCK_PFM,     /* libpfm4, which no two threads may use at once: event/pfm.c */
	PS__LOCK_HWLOC,   /* hwloc, while it works: topology/import.c */
	/* The modules' slots: region/listen.c. Who loads a module has the dynamic linker's lock,
	 * and waits for this one; hwloc's users wait for the linker's, as hwloc loads plug-ins. */
	PS__LOCK_LISTEN,
	PS__LOCKS
};

/* Each may be taken again by the thread that has it, and is released as often. What must not be
 * entered by a signal handler that interrupted it needs a guard of its own. */
void ps__lock_take(enum ps__lock lock);
void ps__lock_release(enum ps__lock lock);

#endif
