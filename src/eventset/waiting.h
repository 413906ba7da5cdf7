/* SPDX-License-Identifier: BSD-3-Clause */
/* How long groups waited for the hardware, and on which CPU, if the kernel splits the counts by
 * CPU. */
#ifndef PS_EVENTSET_WAITING_H
#define PS_EVENTSET_WAITING_H

#include "eventset/eventset.h"

/* Returns by how much the enabled times of two instances may differ: the time between starting
 * them, and between reading them. The start is timed, because a hypervisor or an interrupt can make
 * it long. */
static inline uint64_t ps__set_skew_ns(const struct ps__backend *backend)
{
	return 20000u + 2000u * backend->instances + backend->run.start_ns;
}

/* Begins to measure waiting, at a start. */
void ps__set_start_instances(struct ps_eventset *set);
/* Drops an instance's counts and waiting times since the last fetch. The caller has just read the
 * instance's totals. */
void ps__set_discount_instance(struct ps_eventset *set, size_t instance);
/* With residencies: the waiting time, at the last read, that isn't assigned yet. Otherwise 0. */
uint64_t ps__set_waited_ns(const struct ps_eventset *set, size_t instance, size_t group);
/* Call it between ps__set_change_begin and ps__set_change_end. */
void ps__set_assign_waiting(struct ps_eventset *set, struct ps__slot *slot, size_t instance);
/* Notes that the task was on the slot's CPU since the last fetch. */
void ps__set_note_presence(struct ps_eventset *set, struct ps__slot *slot);
/* Ends the measurement of a fetch that found the task at `here`. */
void ps__set_settle_waiting(struct ps_eventset *set, struct ps__slot *here);
/* Marks estimates in the latest reading, which was just written: its parts are sums, of which
 * ps__set_settle_waiting knows only the counts. Call it within a write, if has_doubt is true. */
void ps__set_doubt_latest(struct ps_eventset *set);
/* The second half of ps__set_settle_waiting, which recover.c repeats if the call was left
 * meanwhile. */
void ps__set_end_settling(struct ps_eventset *set);

#endif
