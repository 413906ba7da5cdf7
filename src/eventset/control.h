/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the calls of perfsage/counter.h and others. A set counts from ps_start (start.c) or
 * ps_resume (pause.c) to ps_stop (reading.c) or ps_pause. Events are named by their index. */
#ifndef PS_EVENTSET_CONTROL_H
#define PS_EVENTSET_CONTROL_H

#include "eventset/eventset.h"

/* Between ps_start and ps_stop, paused or not. */
static inline bool ps__set_is_started(const struct ps_eventset *set)
{
	return set->state == PS__SET_RUNNING || set->is_paused;
}

/* start.c: before counters that are open are enabled. The set runs, and its method begins where
 * attribution.last_cpu says. */
void ps__set_begin_running(struct ps_eventset *set);
/* Takes the counts that ps_stop or ps_pause could not fetch. */
int ps__set_fetch_rest(struct ps_eventset *set);
/* reading.c: stops the counters, and fetches their final counts. The slot is where the task was
 * seen last; untouched if they could not be fetched: they are the next fetch's then. */
int ps__set_halt(struct ps_eventset *set, struct ps__write *write);

/* events.c: PS_EINVAL if the set has no such event. */
int ps__set_check_index(const struct ps_eventset *set, size_t event, const char *call);

#endif
