/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the calls of perfsage/counter.h and others. A set counts from ps_start (start.c) or
 * ps_resume (pause.c) to ps_stop (reading.c) or ps_pause. Events are named by their index. */
#ifndef PS_EVENTSET_CONTROL_H
#define PS_EVENTSET_CONTROL_H

#include "eventset/eventset.h"

/* True between ps_start and ps_stop, also if paused. */
static inline bool ps__set_is_started(const struct ps_eventset *set)
{
	return set->state == PS__SET_RUNNING || set->is_paused;
}

/* start.c: sets the state to running, and starts the method at attribution.last_cpu. The caller
 * then enables the counters. */
void ps__set_begin_running(struct ps_eventset *set);
/* start.c: enables the counters, after a read found some in the error state. Counts from before,
 * which no read could give, are dropped. */
int ps__set_enable_unread(struct ps_eventset *set) __attribute__((cold, noinline));
/* Enables the counters. Code after this is counted, so nothing is asked then. */
static inline int ps__set_enable(struct ps_eventset *set)
{
	struct ps__backend *backend = set->counters.backend;

	return __builtin_expect(backend->off.has_unread, 0) ? ps__set_enable_unread(set)
	                                                    : backend->ops->start(backend);
}
/* Fetches counts that ps_stop or ps_pause could not fetch. */
int ps__set_fetch_rest(struct ps_eventset *set);
/* reading.c: stops the counters, and fetches their final counts. Sets write->slot to the slot where
 * the task was last seen. Leaves write->slot as it is if the counts could not be fetched; the next
 * fetch takes these counts. */
int ps__set_halt(struct ps_eventset *set, struct ps__write *write);

/* events.c: PS_EINVAL if the set has no such event. */
int ps__set_check_index(const struct ps_eventset *set, size_t event, const char *call);
void ps__set_clear_events(struct ps_eventset *set);

#endif
