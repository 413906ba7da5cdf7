/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the tasks of a process, for sets whose counts are divided by time. A look finds each
 * task on some CPU, and adds the time that the task ran since the last look to that CPU's time. The
 * times grow until a fetch takes them. A task that began and ended between two looks is not seen.
 */
#ifndef PS_EVENTSET_LOOKS_H
#define PS_EVENTSET_LOOKS_H

#include <stdint.h>
#include <sys/types.h>

struct ps__looks;

/* roots: the tasks that have counters of their own, in rising order; they stay the caller's. NULL,
 * with a detail, if out of memory. */
struct ps__looks *ps__looks_create(pid_t pid, const pid_t *roots, size_t root_count);
void ps__looks_destroy(struct ps__looks *looks);

/* Drops all times: what tasks ran before the next complete look is not counted. The looks still
 * know which tasks are the set's. */
void ps__looks_begin(struct ps__looks *looks);

/* Looks at all tasks. A task that can't be read now is left to the next look. */
void ps__looks_take(struct ps__looks *looks);

/* Return the number of CPUs that have any time since the last ps__looks_forget; and the CPU with
 * this index among them, or -1 if that CPU's number is out of range. */
size_t ps__looks_visited(const struct ps__looks *looks);
int ps__looks_cpu(const struct ps__looks *looks, size_t index);

/*
 * Returns an array with a time for each of these CPUs: the time that the tasks of a root ran there.
 * spent_ns is the time that the kernel has counted for the root. If spent_ns is more than the sum
 * of the times, and there are tasks whose root isn't known, the rest is divided in proportion to
 * the times of those tasks, as a guess. *total_ns receives the sum of the array, which is valid
 * until the next call.
 */
const uint64_t *ps__looks_times(struct ps__looks *looks, size_t root, uint64_t spent_ns,
                                uint64_t *total_ns);
void ps__looks_forget(struct ps__looks *looks);

#endif
