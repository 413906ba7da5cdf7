/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that the kernel records when the task is moved. A record's counts, less what is assigned
 * already, happened on the CPU where the task was before. What a reading finds beyond the last
 * record happened on the CPU where the task is. The switch ring is always on, and tells of every
 * migration. A group may lack the record of a migration: its ring was full, or the group was not on
 * the hardware then. No count is lost in this case, but it isn't known where the counts of that
 * interval belong.
 */
#include "base/error.h"
#include "base/os.h"
#include "event/pmu.h"
#include "eventset/attribution.h"
#include "eventset/undo.h"

/* The number of times to look for a record that another CPU is about to write. That CPU's
 * interrupts are off, so the write takes a microsecond. */
#define LARGEST_WAIT 1000

/* A summary of the switch ring's records. */
struct visits {
	uint64_t started_ns; /* time when the groups were enabled */
	size_t count;        /* number of migrations since then */
	int first_cpu;       /* CPU where the task was at started_ns */
	int cpu;             /* CPU of the last migration */
};

/* Adds one migration. If it came after the task's CPU was looked up and before the groups were
 * enabled, the groups have no record of it: it sets first_cpu, and isn't counted. */
static void note_visit(const struct ps__visit *visit, void *context)
{
	struct visits *visits = context;

	if (visit->time_ns < visits->started_ns)
		visits->first_cpu = visit->cpu;
	else
		visits->count++;
	visits->cpu = visit->cpu;
}

/* A walk over one group's records. It starts at the CPU of the last fetch. */
struct walk {
	struct ps_eventset *set;
	size_t group;
	size_t count;
	int cpu;
	bool is_short_of_memory;
};

/* Assigns a word. If the total is below what is assigned already, its record was read too late, and
 * nothing is assigned. */
static void assign_word(struct ps_eventset *set, struct ps__slot *slot, size_t word)
{
	uint64_t total = ps__set_totals(set, 0)[word];
	uint64_t *known = &ps__set_assigned(set, 0)[word];

	if (total <= *known)
		return;
	slot->counts[word] += total - *known;
	*known = total;
}

static void assign_group(struct ps_eventset *set, struct ps__slot *slot, size_t group)
{
	size_t times = 2 * set->recorder.recording->groups;

	ps__set_change_begin(set, slot, 0);
	assign_word(set, slot, 2 * group);
	assign_word(set, slot, 2 * group + 1);
	for (size_t event = 0; event < set->events.count; event++) {
		if (set->counters.backend->group_of[event] == group)
			assign_word(set, slot, times + event);
	}
	ps__set_change_end(set);
	ps__set_label_counts(slot, PS_ATTRIBUTION_EXACT);
	ps__set_activate(set, slot);
}

static void take_record(int cpu, void *context)
{
	struct walk *walk = context;
	struct ps__slot *slot = ps__set_slot(walk->set, walk->cpu);

	if (slot)
		assign_group(walk->set, slot, walk->group);
	else
		walk->is_short_of_memory = true;
	walk->cpu = cpu;
	walk->count++;
}

/* Assigns a group's records. True if the group has as many records as the switch ring has
 * migrations, and both end on the same CPU: then each count is where it belongs. */
static bool follow_group(struct ps_eventset *set, size_t group, const struct visits *visits)
{
	struct walk walk = {.set = set, .group = group, .cpu = visits->first_cpu};
	const struct ps__backend *backend = set->counters.backend;
	int waits = set->counters.target.kind == PS__TARGET_SELF ? 0 : LARGEST_WAIT;
	bool complete = true;

	do {
		complete &= backend->ops->drain(set->counters.backend, group,
		                                ps__set_totals(set, 0), take_record, &walk);
	} while (walk.count < visits->count && waits-- > 0);
	return complete && !walk.is_short_of_memory && walk.count == visits->count &&
	       walk.cpu == visits->cpu;
}

/* An atomic store, because another thread may read it (peek.c). */
static void set_last_cpu(struct ps_eventset *set, int cpu)
{
	__atomic_store_n(&set->attribution.last_cpu, cpu, __ATOMIC_RELAXED);
}

/* Assigns the records of all groups, up to the CPU where the switch ring saw the task last. */
static void records_follow(struct ps_eventset *set)
{
	struct visits visits = {.started_ns = set->counters.backend->run.started_ns,
	                        .first_cpu = set->attribution.last_cpu,
	                        .cpu = set->attribution.last_cpu};
	bool complete = ps__switch_ring_drain(&set->attribution.switches, note_visit, &visits);

	for (size_t group = 0; group < set->counters.backend->groups; group++)
		complete &= follow_group(set, group, &visits);
	set_last_cpu(set, visits.cpu);
	if (set->attribution.switches.has_ended && set->counters.target.kind == PS__TARGET_TID)
		set->is_ended = true;
	if (complete)
		return;
	set->attribution.has_lost = true;
	set_last_cpu(set, ps__set_find_cpu(set));
}

static void records_follow_moved(struct ps_eventset *set)
{
	if (ps__switch_ring_has_moved(&set->attribution.switches))
		records_follow(set);
}

static int read_recorded(struct ps_eventset *set, struct ps__fetch *fetch)
{
	ps__set_begin_counts(set);
	int result = ps__set_read_still(set, records_follow_moved);

	fetch->cpu = set->attribution.last_cpu;
	return result;
}

/* Assigns what was counted after the last record. */
static bool assign_rest(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	bool has_lost = set->attribution.has_lost;

	fetch->mark = (has_lost ? PS_ATTRIBUTION_LAST_CPU : PS_ATTRIBUTION_EXACT) | fetch->flags;
	/* If the task never stood still, the next reading assigns this. */
	if (!set->attribution.is_moving)
		fetch->mark |= ps__set_assign(set, here, 0);
	ps__set_label_counts(here, fetch->mark);
	if (has_lost)
		ps__set_doubt_parts(set, PS_ATTRIBUTION_LAST_CPU);
	set->attribution.has_lost = false;
	return true;
}

/* Refuses core events if there are several kinds of cores: a group is on the hardware only on one
 * kind, and would miss migrations. */
static int check_core_kinds(struct ps_eventset *set)
{
	size_t kinds = 1;

	for (size_t index = 0; index < set->events.count; index++) {
		if (set->events.list[index].unsupported ||
		    set->events.list[index].klass != PS__EVENT_CLASS_CORE)
			continue;
		if (ps__pmu_core_count(&kinds) != 0 || kinds > 1)
			return ps__fail(
			    PS_ENOSUPP,
			    "migration records don't tell apart several kinds of cores");
		return PS_OK;
	}
	return PS_OK;
}

static int open_migrations(struct ps_eventset *set, pid_t tid)
{
	return ps__switch_ring_open_migrations(&set->attribution.switches, tid);
}

static bool is_recorded_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	return (slot->counts_mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_EXACT &&
	       slot->cpu == set->attribution.last_cpu && !set->attribution.has_lost;
}

const struct ps__method ps__method_records = {
    .split = PS__SPLIT_RECORDS,
    .is_exact = true,
    .why = "the counts are split by migration records: an interval with more migrations than their "
	   "ring holds is last-cpu",
    .prepare = check_core_kinds,
    .open_switch_ring = open_migrations,
    .read = read_recorded,
    .assign = assign_rest,
    .is_label_lasting = is_recorded_lasting,
};
