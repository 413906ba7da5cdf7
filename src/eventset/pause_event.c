/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses and resumes one event of a set: the backend does it with the event's counters. */
#include "base/error.h"
#include "eventset/control.h"

#include <perfsage/counter.h>

static int event_check_pause(struct ps_eventset *set, size_t event, const char *call)
{
	if (set->counters.papi)
		return ps__fail(PS_ENOSUPP,
		                "%s: PAPI has no call for one event of event set %d: put it into a "
		                "PAPI event set of its own",
		                call, set->counters.papi->id);
	int result = ps__set_check_index(set, event, call);
	if (result != PS_OK)
		return result;
	if (set->events.list[event].unsupported)
		return ps__fail(PS_ENOSUPP, "%s: '%s' can't be counted here", call,
		                set->events.list[event].name);
	if (set->counters.wants_tasks)
		return ps__fail(PS_ENOSUPP,
		                "%s: the set keeps tasks apart, whose shares the kernel counts: it "
		                "can't leave out '%s'",
		                call, set->events.list[event].name);
	return ps__set_check_foreign(set, call, false);
}

/* Marks values from now on as paused, also after the event is resumed. */
static void event_note_paused(struct ps_eventset *set, size_t event)
{
	if (!set->recorder.recording)
		return;
	struct ps__column *column = &set->recorder.recording->column[event];
	if (atomic_load_explicit(&column->paused_from, memory_order_relaxed) == 0)
		ps__column_pause(column, ps__clock_now_ns(&set->recorder.clock));
}

/* Takes the migration records before an event is resumed: if they were taken later, their totals
 * would be read as those of the time after the resume. */
static int event_take_records(struct ps_eventset *set)
{
	struct ps__slot *slot;

	if (set->attribution.method->split != PS__SPLIT_RECORDS || !ps__set_has_uncollected(set))
		return PS_OK;
	int result = ps__set_fetch(set, &slot);
	return result == PS_PARTIAL ? PS_OK : result;
}

static int event_set_paused(struct ps_eventset *set, size_t event, bool pauses, const char *call)
{
	struct ps__backend *backend = set->counters.backend;
	int result = event_check_pause(set, event, call);

	if (result == PS_OK && !pauses)
		result = event_take_records(set);
	/* Even if is_paused has this value: an earlier call may have been left half done. */
	if (result == PS_OK && backend)
		result = backend->ops->pause_event(backend, event, pauses);
	if (result != PS_OK)
		return result;
	set->events.list[event].control.is_paused = pauses;
	if (pauses)
		event_note_paused(set, event);
	return PS_OK;
}

int ps_eventset_pause_event(struct ps_eventset *set, size_t event)
{
	int result = ps__set_enter(set, "ps_eventset_pause_event");

	if (result != PS_OK)
		return result;
	result = event_set_paused(set, event, true, "ps_eventset_pause_event");
	ps__set_leave(set);
	return result;
}

int ps_eventset_resume_event(struct ps_eventset *set, size_t event)
{
	int result = ps__set_enter(set, "ps_eventset_resume_event");

	if (result != PS_OK)
		return result;
	result = event_set_paused(set, event, false, "ps_eventset_resume_event");
	ps__set_leave(set);
	return result;
}

int ps_eventset_event_is_paused(const struct ps_eventset *set, size_t event)
{
	return set && event < set->events.count && set->events.list[event].control.is_paused;
}
