/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of a task that could run on only one CPU when its set was started. Its counters don't
 * split by CPU. If its CPU mask is changed later, a reading can't open other counters. But the
 * switch ring, which proves that the task stays on its one CPU, tells of all CPUs. What was counted
 * while the task stayed on one CPU belongs there. In an interval in which the task moved, each CPU
 * gets a share in proportion to the time. Nothing is lost. The next ps_start opens counters that
 * split.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"

static void look_for_migration(const struct ps__visit *visit, void *context)
{
	struct ps_eventset *set = context;

	if (visit->cpu != set->attribution.only_cpu)
		set->attribution.has_migrated = true;
}

/* stay.since_ns stays 0: the backend notes the start, so the clock needn't be read here. */
static void start_bound(struct ps_eventset *set)
{
	bool is_self = set->counters.target.kind == PS__TARGET_SELF;

	set->attribution.stay = (struct ps__stay){
	    .cpu = set->attribution.last_cpu, .state = is_self ? PS__STAY_ON : PS__STAY_UNKNOWN};
}

/* Follows the switch ring. Between two runs the time on each CPU doesn't matter. If records were
 * lost, the time on the one CPU shows whether the task was elsewhere. */
void ps__set_look_for_migration(struct ps_eventset *set)
{
	bool is_counted = ps__set_has_uncollected(set);
	bool is_known = true;

	/* Time before ps_start isn't counted; assign_bound notes the time of each fetch. */
	ps__set_note_assigned(set, set->counters.backend->run.started_ns);
	if (is_counted)
		is_known = ps__set_follow(set, set->attribution.stay.cpu);
	else
		is_known =
		    ps__switch_ring_drain(&set->attribution.switches, look_for_migration, set);
	set->attribution.stay.is_lost |= !is_known;
	if (!is_known || set->attribution.has_migrated)
		set->attribution.has_migrated |=
		    ps__switch_ring_was_away(&set->attribution.switches);
	if (is_counted && set->attribution.has_migrated)
		set->attribution.has_left = true;
}

static bool has_left_its_cpu(const struct ps_eventset *set)
{
	return set->attribution.has_left || set->attribution.has_migrated;
}

/* True if the task was switched since the ring was last followed, or has times that aren't assigned
 * yet: ps_store follows the ring, too, in the middle of an interval. */
static bool must_follow(const struct ps_eventset *set)
{
	return ps__switch_ring_has_moved(&set->attribution.switches) || ps__set_time_spent(set) > 0;
}

/* Follows the switch ring: the counts then belong to the CPU where the ring saw the task last, or,
 * if that isn't known, where the task is seen. */
static void bound_follow(struct ps_eventset *set)
{
	if (must_follow(set))
		ps__set_look_for_migration(set);
	int cpu = ps__set_find_cpu(set);
	if (set->attribution.stay.is_lost)
		set->attribution.stay.cpu = cpu;
}

/* Returns the label of the interval since the last fetch. A PAPI set with this method has an event
 * that counts for several hardware threads: such counts are never exact. */
static unsigned bound_label(const struct ps_eventset *set, const struct ps__slot *here,
                            uint64_t spent_ns)
{
	if (set->attribution.stay.is_lost)
		return PS_ATTRIBUTION_LAST_CPU;
	if (spent_ns != here->spent_ns)
		return PS_ATTRIBUTION_MIXED;
	if (here->cpu == set->attribution.only_cpu)
		return PS_ATTRIBUTION_PINNED;
	return set->counters.papi ? PS_ATTRIBUTION_LAST_CPU : PS_ATTRIBUTION_EXACT;
}

static int read_bound(struct ps_eventset *set, struct ps__fetch *fetch)
{
	if (__builtin_expect(!set->attribution.has_left, 1)) {
		fetch->cpu = ps__set_find_cpu(set);
		int result = ps__set_read_whole(set);
		uint16_t moved = ps__set_moved_mark(set, fetch->cpu);
		if (ps__set_is_failure(result))
			return result;
		if (__builtin_expect(ps__switch_ring_has_moved(&set->attribution.switches), 0))
			ps__set_look_for_migration(set);
		fetch->flags = moved;
		if (__builtin_expect(!has_left_its_cpu(set), 1))
			return result;
	}
	int result = ps__set_read_still(set, bound_follow);
	fetch->cpu = set->attribution.stay.cpu;
	return result;
}

/* Assigns an interval in which, or before which, the task left its CPU. */
static void assign_migrated(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	set->attribution.stay.is_lost |= set->attribution.is_moving;
	uint64_t spent_ns = ps__set_time_spent(set);
	unsigned label = bound_label(set, here, spent_ns);
	fetch->mark = (uint16_t)(label | fetch->flags);
	ps__set_activate(set, here);
	if (label == PS_ATTRIBUTION_LAST_CPU)
		ps__set_doubt_parts(set, PS_ATTRIBUTION_LAST_CPU);
	if (label == PS_ATTRIBUTION_MIXED)
		ps__set_share_counts(set, 0, spent_ns, fetch->mark);
	else
		fetch->mark |= ps__set_assign(set, here, 0);
	ps__set_forget_times(set);
	/* The time from this read until the ring is followed again belongs to the next interval. If
	 * the task keeps moving, it isn't known where it is in that time. */
	set->attribution.stay.is_lost = set->attribution.is_moving;
}

static bool assign_bound(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	if (__builtin_expect(has_left_its_cpu(set), 0)) {
		assign_migrated(set, fetch, here);
		return true;
	}
	unsigned label = here->cpu == set->attribution.only_cpu ? PS_ATTRIBUTION_PINNED
	                                                        : PS_ATTRIBUTION_LAST_CPU;
	fetch->mark = (uint16_t)(label | fetch->flags | ps__set_assign_whole(set, here));
	/* All counts are from here, as the switch ring shows. */
	here->spent_ns = 0;
	ps__set_note_assigned(set, ps__clock_now_ns(&set->recorder.clock));
	set->attribution.stay.is_lost = false;
	return true;
}

const struct ps__method ps__method_bound = {
    .split = PS__SPLIT_NOT,
    .start = start_bound,
    .read = read_bound,
    .assign = assign_bound,
    .is_label_lasting = ps__set_is_stay_lasting,
    .has_changed = ps__set_mask_changed,
};
