/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task that could run on one CPU only when its set was started, and was bound otherwise since, or to none. Its counters
 * don't split by CPU, and a reading can open no others. But the watch that vouched for the one CPU tells of all: what was
 * counted while the task stayed on one belongs there for certain; only of an interval in which it moved each CPU gets a
 * share, by time. Nothing is lost. The next ps_start opens what splits.
 */
#include "base/error.h"
#include "base/os.h"
#include "set/set.h"

/* A task that moves while it is read is followed this often. */
#define LARGEST_CHASE 4

static void look_for_stray(const struct ps__visit *visit, void *context)
{
	struct ps_eventset *set = context;

	if (visit->cpu != set->only_cpu)
		set->has_strayed = true;
}

/* Since when is the backend's to say: no look at the clock more. */
void ps__set_start_bound(struct ps_eventset *set)
{
	bool is_self = set->target.kind == PS__TARGET_SELF;

	set->stay = (struct ps__stay){.cpu = set->last_cpu, .state = is_self ? PS__STAY_ON : PS__STAY_UNKNOWN};
}

static void raise_to(uint64_t *number, uint64_t least)
{
	*number = *number < least ? least : *number;
}

/* Between two runs nobody asks how long the task was where. Where records were lost, the time on its own CPU tells. */
void ps__set_look_for_stray(struct ps_eventset *set)
{
	bool is_counted = set->is_running || set->is_unfetched;
	bool is_known = true;

	/* What came before the last reading is credited; of what came before ps_start nothing was noted. */
	raise_to(&set->stay.since_ns, set->last_timestamp);
	raise_to(&set->stay.since_ns, set->backend->started_ns);
	if (is_counted)
		is_known = ps__set_follow(set, set->stay.cpu);
	else
		is_known = ps__watch_drain(&set->watch, look_for_stray, set);
	set->stay.is_lost |= !is_known;
	if (!is_known || set->has_strayed)
		set->has_strayed |= ps__watch_was_away(&set->watch);
	if (is_counted && set->has_strayed)
		set->has_left = true;
}

static int look_for_cpu(struct ps_eventset *set)
{
	if (set->target.kind == PS__TARGET_SELF && !set->is_ended)
		return ps__os_getcpu();
	return ps__set_look_at_task(set);
}

static bool is_failure(int result)
{
	return result != PS_OK && result != PS_PARTIAL;
}

/* Reads the counters once more, behind the watch: what is read then is where the watch saw the task last. Where that
 * isn't known, cpu is where it is seen. */
static int read_still(struct ps_eventset *set, int *cpu)
{
	int result = PS_OK;

	for (int chase = 0; chase < LARGEST_CHASE; chase++) {
		if (ps__watch_has_moved(&set->watch))
			ps__set_look_for_stray(set);
		*cpu = look_for_cpu(set);
		if (set->stay.is_lost)
			set->stay.cpu = *cpu;
		result = set->backend->ops->read(set->backend, 0, ps__set_totals(set, 0));
		if (is_failure(result) || !ps__watch_has_moved(&set->watch))
			break;
	}
	*cpu = set->stay.cpu;
	return result;
}

/* How the interval since the last fetch is known. */
static unsigned label_of(const struct ps_eventset *set, const struct ps__slot *here, uint64_t spent_ns)
{
	if (set->stay.is_lost)
		return PS_ATTRIBUTION_LAST_CPU;
	if (spent_ns != here->spent_ns)
		return PS_ATTRIBUTION_MIXED;
	return here->cpu == set->only_cpu ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_EXACT;
}

static uint16_t take_flags(struct ps_eventset *set, int result)
{
	uint16_t flags = set->is_ended ? PS__MARK_ENDED : 0;

	if (set->backend->interrupted || result == PS_PARTIAL)
		flags |= PS__MARK_INTERRUPTED;
	if (set->backend->went_back)
		flags |= PS__MARK_WENT_BACK;
	set->backend->interrupted = false;
	set->backend->went_back = false;
	return flags;
}

int ps__set_fetch_strayed(struct ps_eventset *set, struct ps__slot **out)
{
	int cpu;
	int result = ps__set_check_caller(set);

	if (result != PS_OK)
		return result;
	result = read_still(set, &cpu);
	if (is_failure(result))
		return result;
	struct ps__slot *here = ps__set_slot(set, cpu);
	if (!here)
		return PS_ENOMEM;
	if (set->must_clear)
		ps__set_clear_counts(set);
	bool is_moving = set->is_running && ps__watch_has_moved(&set->watch);
	set->stay.is_lost |= is_moving;
	uint64_t spent_ns = ps__set_time_spent(set);
	unsigned label = label_of(set, here, spent_ns);
	uint16_t mark = (uint16_t)(label | take_flags(set, result));
	ps__set_activate(set, here);
	set->last_slot = here;
	if (label == PS_ATTRIBUTION_MIXED)
		ps__set_share_counts(set, spent_ns, mark);
	else
		mark |= ps__set_credit(set, here, 0);
	ps__set_label_counts(here, mark);
	ps__set_forget_times(set);
	/* What it does from the read until it is followed again belongs to the next interval, and may be anywhere. */
	set->stay.is_lost = is_moving;
	set->is_unfetched = false;
	*out = here;
	return result;
}
