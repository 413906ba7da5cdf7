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
static void start_bound(struct ps_eventset *set)
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

static bool has_left_its_cpu(const struct ps_eventset *set)
{
	return set->has_left || set->has_strayed;
}

/* Reads the counters once more, behind the watch: what is read then is where the watch saw the task last. Where that
 * isn't known, cpu is where it is seen. */
static int read_still(struct ps_eventset *set, int *cpu)
{
	int result = PS_OK;

	for (int chase = 0; chase < LARGEST_CHASE; chase++) {
		if (ps__watch_has_moved(&set->watch))
			ps__set_look_for_stray(set);
		*cpu = ps__set_find_cpu(set);
		if (set->stay.is_lost)
			set->stay.cpu = *cpu;
		result = set->backend->ops->read(set->backend, 0, ps__set_totals(set, 0));
		if (ps__set_is_failure(result) || !ps__watch_has_moved(&set->watch))
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

static int read_bound(struct ps_eventset *set, struct ps__fetch *fetch)
{
	if (__builtin_expect(!set->has_left, 1)) {
		fetch->cpu = ps__set_find_cpu(set);
		int result = ps__set_read_whole(set);
		uint16_t moved = ps__set_moved_mark(set, fetch->cpu);
		if (ps__set_is_failure(result))
			return result;
		if (__builtin_expect(ps__watch_has_moved(&set->watch), 0))
			ps__set_look_for_stray(set);
		fetch->flags = moved;
		if (__builtin_expect(!has_left_its_cpu(set), 1))
			return result;
	}
	return read_still(set, &fetch->cpu);
}

/* Credits an interval in which the task left its CPU, or after it had. */
static void credit_strayed(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	bool is_moving = set->is_running && ps__watch_has_moved(&set->watch);

	set->stay.is_lost |= is_moving;
	uint64_t spent_ns = ps__set_time_spent(set);
	unsigned label = label_of(set, here, spent_ns);
	fetch->mark = (uint16_t)(label | fetch->flags);
	ps__set_activate(set, here);
	if (label == PS_ATTRIBUTION_MIXED)
		ps__set_share_counts(set, spent_ns, fetch->mark);
	else
		fetch->mark |= ps__set_credit(set, here, 0);
	ps__set_forget_times(set);
	/* What it does from the read until it is followed again belongs to the next interval, and may be anywhere. */
	set->stay.is_lost = is_moving;
}

static bool credit_bound(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	if (__builtin_expect(has_left_its_cpu(set), 0)) {
		credit_strayed(set, fetch, here);
		return true;
	}
	unsigned label = here->cpu == set->only_cpu ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_LAST_CPU;
	fetch->mark = (uint16_t)(label | fetch->flags | ps__set_credit_whole(set, here));
	/* All of it was here, as the watch noted. */
	here->spent_ns = 0;
	set->stay.is_lost = false;
	return true;
}

static bool is_pinned_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	unsigned label = slot->counts_mark & PS__MARK_ATTRIBUTION;

	if (label == PS_ATTRIBUTION_MIXED)
		return slot->cpu == set->stay.cpu;
	if (set->has_left)
		return label != PS_ATTRIBUTION_LAST_CPU && slot->cpu == set->stay.cpu && !set->stay.is_lost;
	return label == PS_ATTRIBUTION_PINNED && slot->cpu == set->only_cpu && !set->has_strayed;
}

const struct ps__method ps__method_bound = {
    .name = "pinned",
    .is_whole = true,
    .start = start_bound,
    .read = read_bound,
    .credit = credit_bound,
    .is_label_lasting = is_pinned_lasting,
    .has_changed = ps__set_mask_changed,
};
