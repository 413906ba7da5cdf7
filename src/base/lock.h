/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks for data that exists once in the process. A forked child has a copy of the locks, but only
 * the thread that forked. A lock that another thread held would stay held for ever.
 *
 * So fork(2) first takes all locks, in one order, and the data is consistent in the child. clone(2)
 * and _Fork(3) run no handlers. Their child makes the locks anew at its first call; data that
 * another thread was changing is half changed there.
 */
#ifndef PS_BASE_LOCK_H
#define PS_BASE_LOCK_H

/* In the order in which a thread may take them. */
enum ps__lock {
	PS__LOCK_COLLECT, /* the collector: collect/collect.c */
	PS__LOCK_MARKS,   /* the marks' names, and their listener: region/marks.c */
	PS__LOCK_METRICS, /* metrics that the program defines: analysis/metric_define.c */
	PS__LOCK_PFM,     /* libpfm4, which no two threads may use at once: event/pfm.c */
	PS__LOCK_HWLOC,   /* hwloc, while it works: topology/import.c */
	/* The modules' slots: region/listen.c. Must be the last: a thread that loads a module holds
	 * the dynamic linker's lock and waits for this lock; a thread that uses hwloc waits for the
	 * linker's lock, because hwloc loads plug-ins. */
	PS__LOCK_LISTEN,
	PS__LOCKS
};

/* A thread may take a lock that it already holds, and must release it as often as it took it. So a
 * lock does not keep out a signal handler that interrupted the holder: code that must not be
 * re-entered needs a guard of its own. */
void ps__lock_take(enum ps__lock lock);
void ps__lock_release(enum ps__lock lock);

#endif
