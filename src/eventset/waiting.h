/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells how long groups waited for the hardware, and on which CPU, where the kernel splits the
 * counts by CPU. */
#ifndef PS_EVENTSET_WAITING_H
#define PS_EVENTSET_WAITING_H

#include "eventset/eventset.h"

/* The enabled time of two instances differs by what reading them one after the other took, and
 * starting them: that is measured, as a hypervisor or an interrupt may come between. */
static inline uint64_t ps__set_skew_ns(const struct ps__backend *backend)
{
	return 20000u + 2000u * backend->instances + backend->run.start_ns;
}

/* Waiting is measured from now on: a start. */
void ps__set_start_instances(struct ps_eventset *set);
/* Counts and waiting times since the last fetch belong to nobody; the instance's totals were
 * just read. */
void ps__set_discount_instance(struct ps_eventset *set, size_t instance);
/* With residencies, as of the instance's last read: what is not assigned yet; 0 without. */
uint64_t ps__set_waited_ns(const struct ps_eventset *set, size_t instance, size_t group);
void ps__set_assign_waiting(struct ps_eventset *set, struct ps__slot *slot, size_t instance);
/* The task was on the slot's CPU since the last fetch. */
void ps__set_note_presence(struct ps_eventset *set, struct ps__slot *slot);
/* The end of a fetch that found the task here. */
void ps__set_settle_waiting(struct ps_eventset *set, struct ps__slot *here);

#endif
