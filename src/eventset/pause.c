/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ps_pause and ps_resume. A paused set is in the state of a set that ps_stop stopped, but its
 * counts continue when it is resumed. So code that reads a stopped set needn't know about pauses.
 */
#include "base/error.h"
#include "eventset/attribution.h"
#include "eventset/control.h"

#include <perfsage/counter.h>

static int pause_check(struct ps_eventset *set, const char *call)
{
	if (set->counters.papi)
		return ps__fail(PS_ENOSUPP,
		                "%s: PAPI can't stop event set %d and keep its counts: take them "
		                "with ps_accum and ps_stop, and go on with ps_start",
		                call, set->counters.papi->id);
	int result = ps__set_check_foreign(set, call, false);
	if (result == PS_OK && !ps__set_is_started(set))
		result = ps__fail(PS_ENOTRUN,
		                  "%s: the event set is not running: call ps_start first", call);
	return result;
}

/* Refuses a pause before the exec: the exec enables the counters even if they are disabled. */
static int pause_check_begun(struct ps_eventset *set)
{
	struct ps__slot *slot;
	uint64_t enabled_ns = 0;

	if (!set->counters.target.enables_on_exec)
		return PS_OK;
	int result = ps__set_fetch(set, &slot);
	if (ps__set_is_failure(result))
		return result;
	/* The time in which the events were opened (origin) is none since the exec. */
	const uint64_t *origin = set->counters.backend->origin;
	for (size_t instance = 0; instance < set->counters.backend->instances; instance++)
		enabled_ns |=
		    ps__set_assigned(set, instance)[0] - (instance == 0 && origin ? origin[0] : 0);
	if (enabled_ns)
		return PS_OK;
	return ps__fail(PS_ENOTRUN,
	                "ps_pause: the set counts from the exec of task %d on, which is still to "
	                "come: pause it after that",
	                (int)set->counters.target.tid);
}

static int pause_set(struct ps_eventset *set)
{
	struct ps__write write = {.kind = PS__WRITE_COUNTS};
	int result = pause_check(set, "ps_pause");

	if (result == PS_OK && set->is_paused)
		return PS_OK;
	if (result == PS_OK)
		result = pause_check_begun(set);
	if (result != PS_OK)
		return result;
	result = ps__set_halt(set, &write);
	set->is_paused = true;
	return result == PS_PARTIAL ? PS_OK : result;
}

/* Notes if a pinned task, whose counters don't split, has left its CPU in the pause. */
static void pause_note_move(struct ps_eventset *set)
{
	int only_cpu = set->attribution.only_cpu;

	if (set->attribution.method->split == PS__SPLIT_NOT && only_cpu >= 0 &&
	    set->attribution.last_cpu != only_cpu)
		set->attribution.has_left = true;
}

static int pause_locate(struct ps_eventset *set)
{
	uint16_t mark;

	ps__set_skip_visits(set);
	int result = ps__set_locate(set, &set->attribution.last_cpu, &mark);
	if (result == PS_OK && set->is_ended)
		return ps__fail(PS_ESYS,
		                "ps_resume: task %d has ended: ps_stop gives its final counts",
		                (int)set->counters.target.tid);
	return result;
}

static int pause_end(struct ps_eventset *set)
{
	int result = pause_check(set, "ps_resume");

	if (result != PS_OK || !set->is_paused)
		return result;
	result = ps__set_fetch_rest(set);
	if (result == PS_OK)
		result = pause_locate(set);
	if (result != PS_OK)
		return result;
	pause_note_move(set);
	set->is_starting = true;
	atomic_signal_fence(memory_order_seq_cst);
	ps__set_begin_running(set);
	result = ps__set_enable(set);
	if (__builtin_expect(result == PS_OK, 1))
		set->is_paused = false;
	else
		set->state = PS__SET_STOPPED;
	atomic_signal_fence(memory_order_seq_cst);
	set->is_starting = false;
	return result;
}

int ps_pause(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_pause");

	if (result != PS_OK)
		return result;
	result = pause_set(set);
	ps__set_leave(set);
	return result;
}

int ps_resume(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_resume");

	if (result != PS_OK)
		return result;
	result = pause_end(set);
	ps__set_leave(set);
	return result;
}

int ps_eventset_is_paused(const struct ps_eventset *set)
{
	return set && set->is_paused;
}
