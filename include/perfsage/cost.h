/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What readings cost: the path by which an event set's counters are read, and
 * how long one reading takes on this machine. See ps_cost(3).
 */
#ifndef PERFSAGE_COST_H
#define PERFSAGE_COST_H

#include <perfsage/visibility.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ps_eventset;

/** How counters are read. */
enum ps_read_path {
	PS_READ_PATH_SYSCALL, /* read(2), once for each group */
	PS_READ_PATH_USER,    /* in user space: a fiftieth of read(2)'s instructions */
	PS_READ_PATH_PAPI     /* PAPI_read, for an event set of PAPI's */
};

/**
 * The path by which the set's counters are read.
 *
 * The library takes the cheapest path that the kernel permits.
 * PS_READ_PATH_USER: all groups of the set are read in user space while they are
 * on the hardware and the thread stays on its CPU. A group that waits for its turn,
 * or that was counted on another CPU before the thread moved, is read by read(2).
 * The values are the same.
 *
 * set - any; NULL and a set whose events are not open give PS_READ_PATH_SYSCALL
 * why - may be NULL; receives a sentence on why the library does not take a cheaper
 *     path, and what would permit a cheaper path; "" if there is no cheaper path.
 *     The sentence is valid until the next ps_start, or the next call that changes
 *     or destroys the set.
 *
 * Any thread, while no other call on the set is under way. Costs nothing.
 */
PS_PUBLIC enum ps_read_path ps_eventset_read_path(const struct ps_eventset *set, const char **why);

/** "syscall", "user" or "papi"; "unknown" for any other number. */
PS_PUBLIC const char *ps_read_path_name(enum ps_read_path path);

/** The cost of a set's readings: in all reading_ns * readings nanoseconds. */
struct ps_overhead {
	double reading_ns; /* nanoseconds of one ps_read that updates a reading, on this machine */
	/* Readings by ps_read, ps_accum, ps_stop and ps_store since the set was created */
	uint64_t readings;
};

/**
 * Measures what one reading of this set costs here.
 *
 * The first call after the events were opened makes about 1100 readings of the
 * set's counters: whole ps_read calls, into a topology of its own. The call takes
 * about as long as these readings, and keeps the median of 16 batches. Caches are
 * warm during the measurement; a reading costs more in a program that has used the
 * caches for other data.
 *
 * The measurement changes no reading of the set. A set that counts the calling
 * thread, as its owner or by ps_eventset_attach_tid, does not count the measurement.
 * A running set attached to a CPU, or to a process or control group that the
 * caller belongs to, counts the measurement like other work. A set that isn't
 * running is started for the measurement, and stopped again: it does not count the
 * measurement.
 *
 * set - a set that the caller may read with ps_read
 * out - receives the cost and the number of readings; untouched on failure
 *
 * Errors, and those of ps_start and ps_read:
 *   PS_EINVAL - an argument is NULL, the set is empty, or it belongs to
 *       another, living thread
 *   PS_ENOSUPP - the set keeps tasks apart (ps_eventset_set_tasks) and isn't
 *       running: the counts of the measurement would be mixed with those of the tasks
 *   PS_PARTIAL - a group of events could not be read: mostly because a pinned
 *       event got no hardware counter
 */
PS_PUBLIC int ps_eventset_overhead(struct ps_eventset *set, struct ps_overhead *out);

#ifdef __cplusplus
}
#endif
#endif
