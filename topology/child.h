/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work that may crash, done first in a child process. Used by import.c for
 * files that it has no reason to trust.
 */
#ifndef PS_TOPOLOGY_CHILD_H
#define PS_TOPOLOGY_CHILD_H

/*
 * Runs work(context) in a forked child, and waits for it. What it changes stays
 * in the child. Returns what it returned, with its detail sentence taken over.
 * If it didn't return: PS_EINVAL if it crashed, or took more than its share of
 * CPU time or memory; the detail is a sentence about `subject`. PS_ESYS: no
 * child process could be made. The caller must not hold PS__LOCK_HWLOC: a bad
 * file makes no other thread wait.
 *
 * The child is a copy of the calling thread alone. POSIX lets it call
 * async-signal-safe functions only; glibc keeps its own promise, that malloc
 * and stdio work after fork in a program of many threads, and work() may need
 * no more than that: no lock that another thread may have held.
 */
int ps__child_run(int (*work)(void *context), void *context, const char *subject);

#endif
