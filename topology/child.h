/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tries work that may crash in a child process. import.c uses it for sources that it doesn't trust.
 */
#ifndef PS_TOPOLOGY_CHILD_H
#define PS_TOPOLOGY_CHILD_H

/*
 * Runs work(context) in a forked child, and waits for it. Changes that work makes in memory stay in
 * the child. Returns the result of work, with its detail sentence. If work didn't return: PS_EINVAL
 * if it crashed, or took too much CPU time or memory; the detail sentence is about `subject`.
 * PS_ESYS: no child process could be made. The caller must not hold PS__LOCK_HWLOC, so that a bad
 * file makes no other thread wait.
 *
 * The child has only a copy of the calling thread. POSIX then allows only async-signal-safe
 * functions. glibc promises more: malloc and stdio work after fork in a program of many threads.
 * work() may use these, but no other lock that another thread may have held.
 */
int ps__child_run(int (*work)(void *context), void *context, const char *subject);

#endif
