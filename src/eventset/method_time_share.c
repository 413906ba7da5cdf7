/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose events count on any CPU, beside clocks that tell how long its tasks were on each.
 * A task that is created copies each event once, and a clock for each CPU that it may use: events +
 * CPUs, where per-CPU counters take events x CPUs. While all tasks below a root stay on one CPU the
 * clocks prove that, and the counts belong there. Otherwise each CPU gets a share in proportion to
 * the time, as if an event happened at the same rate on all of them: an estimate, and labelled so.
 * The shares add up to what was counted.
 *
 * Where there can be CPUs without a clock, one more for any CPU tells the time of all.
 */
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "base/vector.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/parts.h"

#include <string.h>

/* The clocks of a running task are started, and read, one after the other. */
#define LARGEST_SKEW_NS 20000

/* A task that ends needs more time than this on the CPU where it does. */
#define SHORTEST_STAY_NS 2000

/* Time on CPUs without a clock is told from the lag of software clocks before Linux 6.2: it is more
 * than this part of the whole. */
#define LARGEST_LAG 64

void ps__set_forget_clocks(struct ps_eventset *set)
{
	struct ps__time_share *share = &set->attribution.time_share;

	ps__os_free(share->places);
	ps__os_free(share->known);
	ps__os_free(share->stayed);
	*share = (struct ps__time_share){0};
	set->counters.target.clocks = NULL;
	set->counters.target.clock_count = 0;
}

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

/* The places while they are listed. */
struct listing {
	struct ps__clock_place *places;
	size_t count;
	size_t room;
	size_t root;
};

static int list_place(int cpu, void *context)
{
	struct listing *listing = context;
	struct ps__clock_place *places = ps__vector_reserve(
	    listing->places, listing->count, listing->count + 1, &listing->room, sizeof *places);

	if (!places)
		return 1;
	listing->places = places;
	places[listing->count++] = (struct ps__clock_place){.root = listing->root, .cpu = cpu};
	return 0;
}

static size_t count_possible_cpus(void)
{
	char text[4096];

	return ps__os_read_file("/sys/devices/system/cpu/possible", text, sizeof text) > 0
	           ? ps__list_count(text)
	           : 0;
}

/* The CPUs that a root may use: what it creates has the same mask. Behind them the place for any
 * CPU, unless these are all that there can be. */
static int list_places_of(struct listing *listing, pid_t tid, size_t possible)
{
	size_t first = listing->count;
	int result = ps__locate_for_each_allowed(tid, list_place, listing);

	if (result == 0 && listing->count - first != possible)
		result = list_place(PS__CLOCK_ANY, listing);
	if (result > 0)
		return ps__fail_memory("the clocks of a process");
	return result == 0 ? PS_OK
	                   : ps__fail(PS_ESYS, "the CPUs that thread %d may use can't be read: %s",
	                              (int)tid, strerror(-result));
}

static int list_places(const struct ps_eventset *set, struct listing *listing)
{
	size_t possible = count_possible_cpus();
	int result = PS_OK;

	for (; result == PS_OK && listing->root < set->counters.target.root_count; listing->root++)
		result =
		    list_places_of(listing, set->counters.target.roots[listing->root], possible);
	return result;
}

static int prepare_clocks(struct ps_eventset *set)
{
	struct ps__time_share *share = &set->attribution.time_share;
	struct listing listing = {0};
	int result = list_places(set, &listing);

	if (result != PS_OK) {
		ps__os_free(listing.places);
		return result;
	}
	share->places = listing.places;
	share->known = ps__os_calloc(listing.count, sizeof *share->known);
	share->stayed = ps__os_calloc(set->counters.target.root_count, sizeof *share->stayed);
	if (!share->known || !share->stayed)
		return ps__fail_memory("the clocks of a process");
	set->counters.target.clocks = share->places;
	set->counters.target.clock_count = listing.count;
	return PS_OK;
}

static int count_cpu(int cpu, void *context)
{
	(void)cpu;
	++*(size_t *)context;
	return 0;
}

bool ps__set_prefers_time_share(const struct ps_eventset *set)
{
	size_t copies = set->events.count * ps__set_count_present_cpus();
	size_t clocks = 0;

	if (copies < PS__COSTLY_COPIES || set->counters.target.root_count == 0)
		return false;
	ps__locate_for_each_allowed(set->counters.target.roots[0], count_cpu, &clocks);
	return clocks > 0 && 2 * (set->events.count + clocks) <= copies;
}

size_t ps__set_time_share_copies(const struct ps_eventset *set)
{
	const struct ps__target *target = &set->counters.target;
	size_t clocks = 0;

	if (!set->counters.backend || target->clock_count == 0)
		return 0;
	while (clocks < target->clock_count && target->clocks[clocks].root == 0)
		clocks++;
	return set->events.count + clocks;
}

/* The time since the last fetch, as the clocks of a root tell. */
struct look {
	size_t root;
	size_t first, end; /* its clocks */
	size_t cpus;       /* that have one */
	size_t visited;    /* of these, */
	int last;          /* and the last one of them; its clock went on nowhere else: */
	bool is_steady;
	bool has_any; /* a clock for any CPU, which says: */
	uint64_t whole_ns;
	uint64_t least_ns; /* of it: without the time in which the clocks were read, */
	uint64_t gap_ns;   /* which was this much */
	uint64_t spent_ns; /* on the CPUs that have a clock */
	uint64_t away_ns;  /* on others */
};

static uint64_t ran_ns(const struct ps_eventset *set, size_t index)
{
	return set->counters.backend->clocks[index].running_ns -
	       set->attribution.time_share.known[index].running_ns;
}

static bool is_visited(const struct ps_eventset *set, size_t index)
{
	return set->counters.target.clocks[index].cpu != PS__CLOCK_ANY && ran_ns(set, index) > 0;
}

static void look_at_clock(const struct ps_eventset *set, size_t index, struct look *look)
{
	int cpu = set->counters.target.clocks[index].cpu;
	uint64_t passed = set->counters.backend->clocks[index].enabled_ns -
	                  set->attribution.time_share.known[index].enabled_ns;
	uint64_t ran = ran_ns(set, index);

	if (cpu == PS__CLOCK_ANY) {
		const struct ps__clock_time *now = &set->counters.backend->clocks[index];
		const struct ps__clock_time *then = &set->attribution.time_share.known[index];
		look->has_any = true;
		look->whole_ns = ran;
		look->gap_ns = now->running_ns - now->earlier_ns;
		look->least_ns = ran > look->gap_ns ? ran - look->gap_ns : 0;
		look->gap_ns += then->running_ns - then->earlier_ns;
		return;
	}
	look->cpus++;
	look->spent_ns += ran;
	if (ran == 0)
		return;
	look->visited++;
	look->last = cpu;
	look->is_steady = ran == passed;
}

static struct look look_at_root(const struct ps_eventset *set, size_t first)
{
	const struct ps__target *target = &set->counters.target;
	struct look look = {.root = target->clocks[first].root, .first = first, .end = first};

	while (look.end < target->clock_count && target->clocks[look.end].root == look.root)
		look_at_clock(set, look.end++, &look);
	if (look.whole_ns > look.spent_ns &&
	    look.whole_ns - look.spent_ns > look.whole_ns / LARGEST_LAG)
		look.away_ns = look.whole_ns - look.spent_ns;
	return look;
}

/*
 * The clock of a task that runs elsewhere is enabled there. But the kernel forgets that time if the
 * task ends there, and the clock for any CPU has it.
 */
static bool was_elsewhere(const struct look *look)
{
	if (!look->is_steady || look->gap_ns > LARGEST_SKEW_NS)
		return true;
	if (look->spent_ns > look->whole_ns)
		return look->spent_ns - look->whole_ns > LARGEST_SKEW_NS;
	return look->least_ns > look->spent_ns &&
	       look->least_ns - look->spent_ns > SHORTEST_STAY_NS;
}

/*
 * The one CPU on which the root's tasks were since the last fetch; PS__STAYED_NOWHERE: not known.
 * Without a clock for any CPU each CPU has one, and the others stood still.
 */
static int stay_of(const struct look *look)
{
	if (look->visited != 1 || (look->has_any && was_elsewhere(look)))
		return PS__STAYED_NOWHERE;
	return look->last;
}

/* Only this can fail, and nothing is assigned yet. */
static int find_slots(struct ps_eventset *set)
{
	for (size_t first = 0; first < set->counters.target.clock_count;) {
		struct look look = look_at_root(set, first);
		for (size_t index = look.first; index < look.end; index++) {
			if (is_visited(set, index) &&
			    !ps__set_slot(set, set->counters.target.clocks[index].cpu))
				return PS_ENOMEM;
		}
		if (look.away_ns > 0 && !ps__set_slot(set, -1))
			return PS_ENOMEM;
		first = look.end;
	}
	return PS_OK;
}

/* The clocks come after the counts: they tell at least of the time of these. */
static int read_time_share(struct ps_eventset *set, struct ps__fetch *fetch)
{
	fetch->cpu = ps__set_find_cpu(set);
	int result = ps__set_read_whole(set);
	if (ps__set_is_failure(result))
		return result;
	int clocks = set->counters.backend->ops->read_clocks(set->counters.backend);
	if (clocks == PS_OK)
		clocks = find_slots(set);
	return clocks == PS_OK ? result : clocks;
}

/* The counts of this fetch began after the last look at the clocks but one, so both must prove it.
 */
static bool is_proven(const struct ps_eventset *set, const struct look *look)
{
	int before = set->attribution.time_share.stayed[look->root];
	int stayed = stay_of(look);

	return stayed >= 0 && (before == stayed || before == PS__STAYED_ANY);
}

static unsigned label_of(const struct ps_eventset *set, const struct look *look)
{
	if (look->spent_ns + look->away_ns == 0)
		return PS_ATTRIBUTION_LAST_CPU;
	if (!is_proven(set, look))
		return PS_ATTRIBUTION_MIXED;
	return look->cpus == 1 ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_EXACT;
}

static void spend(struct ps_eventset *set, int cpu, uint64_t spent_ns)
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

static void share_root(struct ps_eventset *set, const struct look *look, uint16_t mark)
{
	forget_spent(set); /* of a call that was left here */
	for (size_t index = look->first; index < look->end; index++) {
		if (is_visited(set, index))
			spend(set, set->counters.target.clocks[index].cpu, ran_ns(set, index));
	}
	if (look->away_ns > 0)
		spend(set, -1, look->away_ns);
	ps__set_share_counts(set, look->root, look->spent_ns + look->away_ns, mark);
	forget_spent(set);
}

/* Neither counts nor time since the last fetch. */
static bool is_idle(const struct ps_eventset *set, const struct look *look)
{
	size_t bytes = ps__recording_width(set->recorder.recording) * sizeof(uint64_t);

	return look->spent_ns + look->away_ns == 0 &&
	       memcmp(ps__set_totals(set, look->root), ps__set_assigned(set, look->root), bytes) ==
	           0;
}

/* Returns the label. */
static unsigned assign_root(struct ps_eventset *set, const struct look *look, struct ps__slot *here,
                            uint16_t flags)
{
	struct ps__time_share *share = &set->attribution.time_share;
	unsigned label = label_of(set, look);
	struct ps__slot *slot = look->visited == 1 ? ps__set_slot(set, look->last) : here;

	if (is_idle(set, look))
		return PS_ATTRIBUTION_EXACT;
	if (label == PS_ATTRIBUTION_MIXED) {
		share_root(set, look, (uint16_t)(label | flags));
	} else {
		flags |= ps__set_assign(set, slot, look->root);
		ps__set_label_counts(slot, (uint16_t)(label | flags));
		ps__set_activate(set, slot);
	}
	share->weakest = share->is_assigned && share->weakest > label ? share->weakest : label;
	share->is_assigned = true;
	share->stayed[look->root] = stay_of(look);
	return label;
}

/* True: the first thread's CPU has a part, if only 0. That is no more certain than the shares. */
static bool assign_time_share(struct ps_eventset *set, struct ps__fetch *fetch,
                              struct ps__slot *here)
{
	struct ps__time_share *share = &set->attribution.time_share;
	unsigned weakest = PS_ATTRIBUTION_EXACT;

	for (size_t first = 0; first < set->counters.target.clock_count;) {
		struct look look = look_at_root(set, first);
		unsigned label = assign_root(set, &look, here, fetch->flags);
		weakest = label > weakest ? label : weakest;
		first = look.end;
	}
	memcpy(share->known, set->counters.backend->clocks,
	       set->counters.target.clock_count * sizeof *share->known);
	fetch->mark = (uint16_t)(PS_ATTRIBUTION_MIXED | fetch->flags);
	return weakest >= PS_ATTRIBUTION_MIXED;
}

static void start_clocks(struct ps_eventset *set)
{
	forget_stays(set, PS__STAYED_ANY);
}

const struct ps__method ps__method_time_share = {
    .split = PS__SPLIT_TIMES,
    .why = "the counts are shared out by the time on each CPU, as counters for each CPU would cost "
	   "every task more: PS_ATTRIBUTE_EXACT (perfsage stat --exact) demands these",
    .prepare = prepare_clocks,
    .start = start_clocks,
    .read = read_time_share,
    .assign = assign_time_share,
};
