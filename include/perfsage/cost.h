/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What readings cost: by which path an event set's counters are read, and how long one reading takes on this machine. See
 * ps_cost(3).
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
	PS_READ_PATH_USER,    /* in user space, by the CPU's own instructions: a fiftieth as many as read(2) takes */
	PS_READ_PATH_PAPI     /* PAPI_read, of an event set of PAPI's */
};

/**
 * The path by which the set's counters are read. The library takes the cheapest that the kernel permits, by itself.
 *
 * USER: all groups of the set are read in user space while the thread runs with them on the hardware; a group that waits
 * for its turn, or was counted on another CPU before the thread moved, is read by read(2). The values are the same.
 * why: may be NULL; receives a sentence on why it isn't a cheaper one, and what would permit it ("" if it is the
 * cheapest), which lives as long as the set and changes at ps_start. Before the first ps_start and for NULL:
 * PS_READ_PATH_SYSCALL. Any thread, while no other call on the set is under way. Costs nothing.
 */
PS_PUBLIC enum ps_read_path ps_eventset_read_path(const struct ps_eventset *set, const char **why);

/** "syscall", "user", "papi"; "unknown" for any other number. */
PS_PUBLIC const char *ps_read_path_name(enum ps_read_path path);

/** What an event set's readings cost. reading_ns * readings is what they cost in all. */
struct ps_overhead {
	double reading_ns; /* nanoseconds of one ps_read that updates a reading, on this machine */
	uint64_t readings; /* made by ps_read, ps_accum, ps_stop and ps_store since the set was created */
};

/**
 * What one reading of this set costs here, and how many were made.
 *
 * The first call after the events were opened measures: it makes some 1000 readings of the set's counters, whole ps_read
 * calls with everything in them, into a topology of its own, and takes the median of 16 batches. It takes about as
 * long as 1000 readings and 2 ms; the number is kept. Caches are warm then: in a program that has used them for
 * other things since, a reading costs more.
 *
 * The set's readings and its counts are not touched. A set that counts the calling thread leaves out what the
 * measurement did; attached to a CPU, or a process that the caller belongs to, it counts it as that CPU's, or that
 * process's, work. A set that isn't running is started for the measurement, and stopped.
 *
 * The caller is who may call ps_read. PS_EINVAL: a NULL, an empty set, or a set of another, living thread. PS_ENOSUPP: a
 * stopped set that keeps tasks apart (ps_eventset_set_tasks), which would be told the measurement's counts as its own.
 * PS_PARTIAL: a counter is in the error state. Else what ps_start and ps_read return. out is untouched on failure.
 */
PS_PUBLIC int ps_eventset_overhead(struct ps_eventset *set, struct ps_overhead *out);

#ifdef __cplusplus
}
#endif
#endif
