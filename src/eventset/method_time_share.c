/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose events count on any CPU. Clocks, or looks at the tasks, tell how long its tasks
 * were on each CPU. With clocks, a created task copies each event once, and a clock for each CPU
 * that it may use: events + CPUs, where per-CPU counters take events x CPUs. With looks, the task
 * copies only the events. While all tasks below a root stay on one CPU, the clocks prove it, and
 * the counts belong there. Otherwise each CPU gets a share in proportion to the time, as if an
 * event happened at the same rate on all CPUs. This is an estimate, and labelled so. The shares add
 * up to what was counted.
 *
 * If there can be CPUs without a clock, one more clock, for any CPU, measures all time.
 */
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/looks.h"
#include "eventset/parts.h"
#include "eventset/snapshot.h"

#include <string.h>

/* The largest difference between clocks of a running task, which start one after another. */
#define LARGEST_SKEW_NS 20000

/* A task that ends on a CPU has run there longer than this. */
#define SHORTEST_STAY_NS 2000

/* Time on CPUs without a clock counts if it is more than the whole time divided by this. Less can
 * be the lag of software clocks before Linux 6.2. */
#define LARGEST_LAG 64

static void forget_stays(struct ps_eventset *set, int stayed)
{
	int *list = set->attribution.time_share.stayed;

	for (size_t root = 0; list && root < set->counters.target.root_count; root++)
		list[root] = stayed;
}

void ps__set_doubt_clocks(struct ps_eventset *set)
{
	forget_stays(set, PS__STAYED_NOWHERE);
}

void ps__set_look(struct ps_eventset *set)
{
	if (ps__set_has_looks(set) && set->state == PS__SET_RUNNING)
		ps__looks_take(set->attribution.time_share.looks);
}

/* The time of a root's tasks since the last fetch, according to its clocks and looks. */
struct root_times {
	size_t root;
	size_t first, end; /* range of its clocks */
	size_t cpus;       /* number of CPUs that have a clock */
	size_t visited;    /* number of these where the tasks ran */
	int last;          /* the last of these; is_steady: its clock ran whenever it was enabled */
	bool is_steady;
	bool has_any; /* there is a clock for any CPU; its times: */
	uint64_t whole_ns;
	uint64_t least_ns; /* whole_ns, less the time in which the clocks were read */
	uint64_t gap_ns;   /* time in which the clocks were read, at both ends of the interval */
	uint64_t spent_ns; /* time on CPUs that have a clock */
	uint64_t away_ns;  /* time on other CPUs */
	/* Times on the CPUs that looks visited; valid for one root at a time. NULL: use the
	 * clocks */
	const uint64_t *seen_ns;
	uint64_t shared_ns; /* sum of the times by which the counts are divided */
};

static uint64_t ran_ns(const struct ps_eventset *set, size_t index)
{
	return set->counters.backend->clocks[index].running_ns -
	       set->attribution.time_share.known[index].last.running_ns;
}

static bool is_visited(const struct ps_eventset *set, size_t index)
{
	return set->counters.target.clocks[index].cpu != PS__CLOCK_ANY && ran_ns(set, index) > 0;
}

static void add_clock(const struct ps_eventset *set, size_t index, struct root_times *times)
{
	int cpu = set->counters.target.clocks[index].cpu;
	uint64_t passed = set->counters.backend->clocks[index].enabled_ns -
	                  set->attribution.time_share.known[index].last.enabled_ns;
	uint64_t ran = ran_ns(set, index);

	if (cpu == PS__CLOCK_ANY) {
		const struct ps__clock_time *now = &set->counters.backend->clocks[index];
		const struct ps__clock_time *then = &set->attribution.time_share.known[index].last;
		times->has_any = true;
		times->whole_ns = ran;
		times->gap_ns = now->running_ns - now->earlier_ns;
		times->least_ns = ran > times->gap_ns ? ran - times->gap_ns : 0;
		times->gap_ns += then->running_ns - then->earlier_ns;
		return;
	}
	times->cpus++;
	times->spent_ns += ran;
	if (ran == 0)
		return;
	times->visited++;
	times->last = cpu;
	times->is_steady = ran == passed;
}

/* Returns the time that the kernel counted for a root's tasks, whether looks saw them or not. */
static uint64_t time_share_enabled_ns(const struct ps_eventset *set, size_t root)
{
	uint64_t now = ps__set_totals(set, root)[0], before = ps__set_assigned(set, root)[0];

	return now > before ? now - before : 0;
}

/* Sums up a root's clocks. first: index of the first one. Clocks are ordered by root. */
static struct root_times times_of_root(const struct ps_eventset *set, size_t root, size_t first)
{
	const struct ps__target *target = &set->counters.target;
	struct root_times times = {.root = root, .first = first, .end = first};

	while (times.end < target->clock_count && target->clocks[times.end].root == root)
		add_clock(set, times.end++, &times);
	if (times.whole_ns > times.spent_ns &&
	    times.whole_ns - times.spent_ns > times.whole_ns / LARGEST_LAG)
		times.away_ns = times.whole_ns - times.spent_ns;
	times.shared_ns = times.spent_ns + times.away_ns;
	return times;
}

/*
 * True if a task may have been on another CPU than times->last. While a task runs elsewhere, the
 * clock of this CPU is enabled but not running. If the task ends there, the kernel drops that
 * enabled time, but the clock for any CPU has it.
 */
static bool was_elsewhere(const struct root_times *times)
{
	if (!times->is_steady || times->gap_ns > LARGEST_SKEW_NS)
		return true;
	if (times->spent_ns > times->whole_ns)
		return times->spent_ns - times->whole_ns > LARGEST_SKEW_NS;
	return times->least_ns > times->spent_ns &&
	       times->least_ns - times->spent_ns > SHORTEST_STAY_NS;
}

/*
 * Returns the one CPU on which the root's tasks were since the last fetch; PS__STAYED_NOWHERE: not
 * known. If no clock measures all time, each CPU has a clock, and all but one clock stood still.
 */
static int stay_of(const struct root_times *times)
{
	if (times->visited != 1 || (times->has_any && was_elsewhere(times)))
		return PS__STAYED_NOWHERE;
	return times->last;
}

static int find_seen_slots(struct ps_eventset *set)
{
	struct ps__looks *looks = set->attribution.time_share.looks;
	size_t count = looks ? ps__looks_visited(looks) : 0;

	for (size_t index = 0; index < count; index++) {
		if (!ps__set_slot(set, ps__looks_cpu(looks, index)))
			return PS_ENOMEM;
	}
	return PS_OK;
}

/* Finds all slots before anything is assigned: only this can fail. */
static int time_share_find_slots(struct ps_eventset *set)
{
	size_t first = 0;

	for (size_t root = 0; root < set->counters.target.root_count; root++) {
		struct root_times times = times_of_root(set, root, first);
		for (size_t index = times.first; index < times.end; index++) {
			if (is_visited(set, index) &&
			    !ps__set_slot(set, set->counters.target.clocks[index].cpu))
				return PS_ENOMEM;
		}
		if (times.away_ns > 0 && !ps__set_slot(set, -1))
			return PS_ENOMEM;
		first = times.end;
	}
	return find_seen_slots(set);
}

/* The clocks are read after the counts, so that their time covers the counts. */
static int read_time_share(struct ps_eventset *set, struct ps__fetch *fetch)
{
	fetch->cpu = ps__set_find_cpu(set);
	int result = ps__set_read_whole(set);
	if (ps__set_is_failure(result))
		return result;
	int clocks = set->counters.backend->ops->read_clocks(set->counters.backend);
	if (set->attribution.time_share.looks)
		ps__looks_take(set->attribution.time_share.looks);
	if (clocks == PS_OK)
		clocks = time_share_find_slots(set);
	return clocks == PS_OK ? result : clocks;
}

/* True if the root's tasks were certainly on one CPU. The last fetch read the counts before the
 * clocks, so this interval and the one before must both prove it. */
static bool is_proven(const struct ps_eventset *set, const struct root_times *times)
{
	int before = set->attribution.time_share.stayed[times->root];
	int stayed = stay_of(times);

	return stayed >= 0 && (before == stayed || before == PS__STAYED_ANY);
}

static unsigned time_share_label(const struct ps_eventset *set, const struct root_times *times)
{
	if (!is_proven(set, times))
		return times->shared_ns > 0 ? PS_ATTRIBUTION_MIXED : PS_ATTRIBUTION_LAST_CPU;
	return times->cpus == 1 ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_EXACT;
}

static void time_share_spend(struct ps_eventset *set, int cpu, uint64_t spent_ns)
{
	struct ps__slot *slot = ps__set_slot(set, cpu);

	slot->spent_ns = spent_ns;
	ps__set_activate(set, slot);
}

static void forget_spent(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.active_count; index++)
		set->recorder.active[index]->spent_ns = 0;
}

static void spend_seen(struct ps_eventset *set, const uint64_t *seen_ns)
{
	const struct ps__looks *looks = set->attribution.time_share.looks;

	for (size_t index = 0; index < ps__looks_visited(looks); index++) {
		if (seen_ns[index] > 0)
			time_share_spend(set, ps__looks_cpu(looks, index), seen_ns[index]);
	}
}

static void spend_by_clocks(struct ps_eventset *set, const struct root_times *times)
{
	for (size_t index = times->first; index < times->end; index++) {
		if (is_visited(set, index))
			time_share_spend(set, set->counters.target.clocks[index].cpu,
			                 ran_ns(set, index));
	}
	if (times->away_ns > 0)
		time_share_spend(set, -1, times->away_ns);
}

static void share_root(struct ps_eventset *set, const struct root_times *times, uint16_t mark)
{
	forget_spent(set); /* drops times of an earlier call that was left here */
	if (times->seen_ns)
		spend_seen(set, times->seen_ns);
	else
		spend_by_clocks(set, times);
	ps__set_share_counts(set, times->root, times->shared_ns, mark);
	forget_spent(set);
}

/* True if there are neither counts nor time since the last fetch. */
static bool is_idle(const struct ps_eventset *set, const struct root_times *times)
{
	size_t bytes = ps__recording_width(set->recorder.recording) * sizeof(uint64_t);

	return times->spent_ns + times->away_ns == 0 &&
	       memcmp(ps__set_totals(set, times->root), ps__set_assigned(set, times->root),
	              bytes) == 0;
}

/* True if any CPU may have had some of the root's counts: looks can miss a CPU, and the CPUs of
 * away_ns aren't known. */
static bool is_unplaced(const struct root_times *times)
{
	return times->seen_ns || times->away_ns > 0;
}

/* Called after a root's counts were divided among CPUs. Notes which other parts may lack some of
 * them. With clocks for all CPUs, these are the parts of the CPUs where the root ran in the
 * interval before: each fetch reads the counts before the clocks, so the first of these counts
 * belong to that interval. */
static void doubt_others(struct ps_eventset *set, const struct root_times *times, unsigned label)
{
	struct ps__clock_known *known = set->attribution.time_share.known;

	if (is_unplaced(times) || label == PS_ATTRIBUTION_LAST_CPU) {
		ps__set_doubt_parts(set, label);
		return;
	}
	for (size_t index = times->first; index < times->end; index++)
		known[index].is_doubtful = known[index].has_run;
}

/* Weakens the labels of the parts that doubt_others noted. Called after all roots are assigned,
 * because a part may have counts of several roots. */
static void weaken_doubtful(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->counters.target.clock_count; index++) {
		struct ps__clock_known *known = &set->attribution.time_share.known[index];
		int cpu = set->counters.target.clocks[index].cpu;
		struct ps__slot *slot = ps__set_met_slot(set, cpu);
		if (!known->is_doubtful || cpu == PS__CLOCK_ANY || !slot)
			continue;
		known->is_doubtful = false;
		if (slot->has_counts)
			ps__set_label_counts(slot, PS_ATTRIBUTION_MIXED);
		else if (set->snapshots)
			ps__slot_pass_mark(slot, PS_ATTRIBUTION_MIXED);
		if (slot->has_base)
			slot->base_mark = ps__mark_join(slot->base_mark, PS_ATTRIBUTION_MIXED);
	}
}

static void keep_clocks(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->counters.target.clock_count; index++) {
		struct ps__clock_known *known = &set->attribution.time_share.known[index];
		known->has_run = ran_ns(set, index) > 0;
		known->last = set->counters.backend->clocks[index];
	}
}

/* Assigns a root's counts. Returns their label. */
static unsigned assign_root(struct ps_eventset *set, struct root_times *times,
                            struct ps__slot *here, uint16_t flags)
{
	struct ps__time_share *share = &set->attribution.time_share;
	struct ps__slot *slot = times->visited == 1 ? ps__set_slot(set, times->last) : here;

	if (is_idle(set, times))
		return PS_ATTRIBUTION_EXACT;
	if (share->looks && !is_proven(set, times))
		times->seen_ns =
		    ps__looks_times(share->looks, times->root,
		                    time_share_enabled_ns(set, times->root), &times->shared_ns);
	unsigned label = time_share_label(set, times);
	if (label == PS_ATTRIBUTION_MIXED) {
		flags |= is_unplaced(times) ? PS__MARK_UNPLACED : 0;
		share_root(set, times, (uint16_t)(label | flags));
	} else {
		flags |= ps__set_assign(set, slot, times->root);
		ps__set_label_counts(slot, (uint16_t)(label | flags));
		ps__set_activate(set, slot);
	}
	if (label >= PS_ATTRIBUTION_MIXED)
		doubt_others(set, times, label);
	share->weakest = share->is_assigned && share->weakest > label ? share->weakest : label;
	share->is_assigned = true;
	share->stayed[times->root] = stay_of(times);
	return label;
}

/* Returns true if the CPU of the first thread gets a part, even one of 0. The part's label is then
 * as weak as that of the shares. */
static bool assign_time_share(struct ps_eventset *set, struct ps__fetch *fetch,
                              struct ps__slot *here)
{
	struct ps__time_share *share = &set->attribution.time_share;
	unsigned weakest = PS_ATTRIBUTION_EXACT;

	for (size_t root = 0, first = 0; root < set->counters.target.root_count; root++) {
		struct root_times times = times_of_root(set, root, first);
		unsigned label = assign_root(set, &times, here, fetch->flags);
		weakest = label > weakest ? label : weakest;
		first = times.end;
	}
	weaken_doubtful(set);
	keep_clocks(set);
	if (share->looks)
		ps__looks_forget(share->looks);
	fetch->mark = (uint16_t)(PS_ATTRIBUTION_MIXED | fetch->flags);
	return weakest >= PS_ATTRIBUTION_MIXED;
}

/* Begins the measurement of times: the tasks' time before this call is not counted. */
static void start_clocks(struct ps_eventset *set)
{
	forget_stays(set, PS__STAYED_ANY);
	if (!set->attribution.time_share.looks)
		return;
	ps__looks_begin(set->attribution.time_share.looks);
	ps__looks_take(set->attribution.time_share.looks);
}

const struct ps__method ps__method_time_share = {
    .split = PS__SPLIT_TIMES,
    .why = "the counts are shared out by the time on each CPU, as counters for each CPU would cost "
	   "every task more: PS_ATTRIBUTE_EXACT (perfsage stat --exact) demands these",
    .prepare = ps__set_prepare_clocks,
    .start = start_clocks,
    .read = read_time_share,
    .assign = assign_time_share,
};

const struct ps__method ps__method_looks = {
    .split = PS__SPLIT_TIMES,
    .why = "the counts are shared out by looks at the CPUs of the tasks, as counters for each CPU "
	   "would cost every task more: PS_ATTRIBUTE_EXACT (perfsage stat --exact) demands these",
    .prepare = ps__set_prepare_looks,
    .start = start_clocks,
    .read = read_time_share,
    .assign = assign_time_share,
};
