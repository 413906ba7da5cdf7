/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the tasks of a process, for sets whose counts are shared out by time. A look finds each
 * task on some CPU, and credits the time that it ran since the last look to that CPU. The times
 * grow until a fetch takes them. A task that began and ended between two looks is not seen.
 */
#ifndef PS_EVENTSET_LOOKS_H
#define PS_EVENTSET_LOOKS_H

#include <stdint.h>
#include <sys/types.h>

struct ps__looks;

/* roots: the tasks that have counters of their own, in rising order; they stay the caller's. NULL
 * for lack of memory, with a detail. */
struct ps__looks *ps__looks_create(pid_t pid, const pid_t *roots, size_t root_count);
void ps__looks_destroy(struct ps__looks *looks);

/* The next whole look credits no time: what tasks ran until then is not counted. Which tasks are
 * the set's stays known. */
void ps__looks_begin(struct ps__looks *looks);

/* Looks at all tasks. What can't be looked at now is left to the next look. */
void ps__looks_take(struct ps__looks *looks);

/* The number of CPUs that have any time since the last ps__looks_forget; and the n'th one of them,
 * -1 for an index out of range. */
size_t ps__looks_visited(const struct ps__looks *looks);
int ps__looks_cpu(const struct ps__looks *looks, size_t index);

/*
 * On each of these CPUs the time of a root's tasks, or a guess in proportion to it. spent_ns is
 * what the kernel has counted; where there are several roots, the root's own time is completed to
 * it by that of tasks whose root isn't known. *total_ns is the sum. Valid until the next call.
 */
const uint64_t *ps__looks_times(struct ps__looks *looks, size_t root, uint64_t spent_ns,
                                uint64_t *total_ns);
void ps__looks_forget(struct ps__looks *looks);

#endif
