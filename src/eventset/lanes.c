/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that the kernel split by CPU: for each CPU a lane of its own. A reading reads the lanes of
 * those CPUs on which the task has been since the last one, as its watch tells, and all of them
 * when that isn't known.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/undo.h"
#include "eventset/waiting.h"

/* A task that moves while its lanes are read is followed this often; what comes later is the next
 * reading's. */
#define LARGEST_CHASE 4

static void ignore_visit(const struct ps__visit *visit, void *context)
{
	(void)visit;
	(void)context;
}

void ps__set_skip_visits(struct ps_eventset *set)
{
	if (set->attribution.method != &ps__method_bound && set->attribution.watch.fd >= 0)
		ps__watch_drain(&set->attribution.watch, ignore_visit, NULL);
}

static uint64_t step(uint64_t total, uint64_t *known, uint16_t *flags)
{
	uint64_t before = *known;

	*known = total;
	if (__builtin_expect(total >= before, 1))
		return total - before;
	*flags |= PS__MARK_WENT_BACK;
	return total;
}

/* The lane's news become the slot's. Time on the hardware here is enabled time here: where the task
 * isn't, the lane's clock goes on, and that is no multiplexing. */
static void credit_lane(struct ps_eventset *set, struct ps__slot *slot, size_t lane, uint16_t mark)
{
	size_t times = 2 * set->recorder.recording->groups;
	size_t width = ps__recording_width(set->recorder.recording);
	const uint64_t *totals = ps__set_totals(set, lane);
	uint64_t *known = ps__set_credited(set, lane);

	ps__set_change_begin(set, slot, known);
	for (size_t group = 0; group < set->recorder.recording->groups; group++) {
		uint64_t passed = totals[2 * group] - known[2 * group];
		uint64_t ran = step(totals[2 * group + 1], &known[2 * group + 1], &mark);
		known[2 * group] = totals[2 * group];
		slot->off[group] += passed - ran;
		slot->counts[2 * group] += ran;
		slot->counts[2 * group + 1] += ran;
		slot->ran[group] += ran;
	}
	for (size_t word = times; word < width; word++)
		slot->counts[word] += step(totals[word], &known[word], &mark);
	ps__set_change_end(set);
	slot->is_credited = true;
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
	if (set->counters.backend->residency_ns)
		ps__set_credit_waiting(set, slot, lane);
}

/* Is there anything in the totals just read that isn't credited yet? */
static bool has_news(const struct ps_eventset *set, size_t lane)
{
	const uint64_t *totals = ps__set_totals(set, lane);
	const uint64_t *known = ps__set_credited(set, lane);
	size_t groups = set->recorder.recording->groups;

	for (size_t group = 0; group < groups; group++) {
		if (totals[2 * group + 1] != known[2 * group + 1])
			return true;
		if (ps__set_waited_ns(set, lane, group) > 0)
			return true;
	}
	for (size_t word = 2 * groups; word < ps__recording_width(set->recorder.recording);
	     word++) {
		if (totals[word] != known[word])
			return true;
	}
	return false;
}

static void take_clocks(const struct ps_eventset *set, size_t lane)
{
	for (size_t group = 0; group < set->recorder.recording->groups; group++)
		ps__set_credited(set, lane)[2 * group] = ps__set_totals(set, lane)[2 * group];
}

/* One round of reading lanes. */
struct round {
	struct ps_eventset *set;
	uint16_t mark;
	int result;
};

/* The worst result is the round's: what one lane lacks must not hide that another could not be read
 * at all. */
static void note_result(struct round *round, int result)
{
	if (result != PS_OK && !ps__set_is_failure(round->result))
		round->result = result;
}

/* How the counts of a lane are known that gave this result. */
static uint16_t mark_of(const struct round *round, int result)
{
	return result == PS_PARTIAL ? round->mark | PS__MARK_INTERRUPTED : round->mark;
}

/* Only a lane with news, or that lacks some, meets a hardware thread: a sweep over 256 lanes makes
 * no 256 slots. */
static void sweep_lane(struct round *round, size_t lane)
{
	struct ps_eventset *set = round->set;
	int result = set->counters.backend->ops->read(set->counters.backend, lane,
	                                              ps__set_totals(set, lane));

	note_result(round, result);
	if (ps__set_is_failure(result))
		return;
	if (result == PS_OK && !has_news(set, lane)) {
		take_clocks(set, lane);
		return;
	}
	struct ps__slot *slot =
	    ps__set_slot(set, set->attribution.lanes.cpus[lane % set->counters.target.lane_count]);
	if (!slot)
		note_result(round, PS_ENOMEM);
	else
		credit_lane(set, slot, lane, mark_of(round, result));
}

static void read_cpu(struct round *round, int cpu)
{
	struct ps_eventset *set = round->set;

	set->attribution.last_cpu = cpu;
	if (ps__set_is_failure(round->result))
		return;
	struct ps__slot *slot = ps__set_slot(set, cpu);
	if (!slot) {
		round->result = PS_ENOMEM;
		return;
	}
	if (slot->visit == set->attribution.lanes.visit)
		return;
	slot->visit = set->attribution.lanes.visit;
	if (slot->lane < 0) {
		/* A CPU that wasn't there when the set was opened, and where nothing was counted;
		 * or it isn't known. */
		set->attribution.lanes.must_sweep = true;
		ps__set_label_counts(slot, PS_ATTRIBUTION_LAST_CPU |
		                               (cpu < 0 ? 0 : PS__MARK_INTERRUPTED));
		ps__set_activate(set, slot);
		return;
	}
	int result = set->counters.backend->ops->read(set->counters.backend, (size_t)slot->lane,
	                                              ps__set_totals(set, (size_t)slot->lane));
	note_result(round, result);
	if (!ps__set_is_failure(result))
		credit_lane(set, slot, (size_t)slot->lane, mark_of(round, result));
}

/* As read_cpu, of a CPU on which the task was since the last fetch. */
static void read_visited(struct round *round, int cpu)
{
	read_cpu(round, cpu);
	struct ps__slot *slot =
	    ps__set_is_failure(round->result) ? NULL : ps__set_slot(round->set, cpu);
	if (slot && slot->lane >= 0)
		ps__set_note_presence(round->set, slot);
}

static void visit_cpu(const struct ps__visit *visit, void *context)
{
	read_visited(context, visit->cpu);
}

/* The CPU on which the task is now, as far as it can be told. */
static int cpu_now(struct ps_eventset *set)
{
	if (set->counters.target.kind == PS__TARGET_SELF && !set->is_ended)
		return ps__os_getcpu();
	if (set->counters.target.kind == PS__TARGET_PROCESS) {
		ps__set_take_tasks(set);
		set->attribution.last_cpu = ps__set_look_at_task(set);
	}
	return set->attribution.last_cpu;
}

/* Reads the lanes of the CPUs that the watch tells of. If it lost records, these are the newest:
 * the task is looked at. */
static void follow_watch(struct ps_eventset *set, struct round *round)
{
	if (ps__watch_drain(&set->attribution.watch, visit_cpu, round))
		return;
	set->attribution.lanes.must_sweep = true;
	if (set->counters.target.kind == PS__TARGET_TID)
		set->attribution.last_cpu = ps__set_look_at_task(set);
}

/* Reads the lanes that may have news. Returns the CPU that was taken for the present one. */
static int read_round(struct ps_eventset *set, struct round *round)
{
	set->attribution.lanes.visit++;
	if (set->attribution.watch.fd < 0)
		set->attribution.lanes.must_sweep = true;
	else if (ps__watch_has_moved(&set->attribution.watch))
		follow_watch(set, round);
	if (set->attribution.watch.has_ended && set->counters.target.kind == PS__TARGET_TID) {
		set->is_ended = true;
		round->mark |= PS__MARK_ENDED;
	}
	int cpu = cpu_now(set);
	/* A process has a lane for each of its roots: they are all swept. */
	if (set->counters.target.kind == PS__TARGET_SELF && !set->is_ended)
		read_visited(round, cpu);
	else if (set->counters.target.kind != PS__TARGET_PROCESS)
		read_cpu(round, cpu);
	for (size_t lane = 0;
	     set->attribution.lanes.must_sweep && lane < set->counters.backend->lanes; lane++)
		sweep_lane(round, lane);
	/* What was to be read and could not be must be found by the next reading. */
	set->attribution.lanes.must_sweep = ps__set_is_failure(round->result);
	return cpu;
}

void ps__set_credit_lane(struct ps_eventset *set, struct ps__slot *slot, uint16_t mark)
{
	credit_lane(set, slot, (size_t)slot->lane, mark);
	ps__set_settle_waiting(set, slot);
}

static int read_split(struct ps_eventset *set, struct ps__fetch *fetch)
{
	struct round round = {.set = set, .mark = PS_ATTRIBUTION_EXACT};

	ps__set_begin_counts(set);
	if (set->attribution.watch.fd < 0 && set->counters.target.kind != PS__TARGET_SELF)
		ps__set_look_at_task(set);
	if (set->is_ended)
		round.mark |= PS__MARK_ENDED;
	for (int chase = 0; chase < LARGEST_CHASE && !ps__set_is_failure(round.result); chase++) {
		fetch->cpu = read_round(set, &round);
		if (set->attribution.watch.fd < 0 || !ps__watch_has_moved(&set->attribution.watch))
			break;
	}
	return round.result;
}

/* The counts are in slots already. */
static bool settle_split(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	(void)fetch;
	if (here->lane >= 0)
		ps__set_settle_waiting(set, here);
	if (set->counters.target.kind == PS__TARGET_PROCESS)
		ps__set_mark_uncounted(set, here);
	return false;
}

static int open_switch_watch(struct ps_eventset *set, pid_t tid)
{
	return ps__watch_open(&set->attribution.watch, tid, -1);
}

static bool is_split_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	return (slot->counts_mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_EXACT &&
	       slot->lane >= 0 && set->attribution.watch.fd >= 0 &&
	       !set->attribution.lanes.must_sweep;
}

const struct ps__method ps__method_lanes = {
    .split = PS__SPLIT_COUNTERS,
    .prepare = ps__set_list_cpus,
    .open_watch = open_switch_watch,
    .start = ps__set_start_lanes,
    .read = read_split,
    .credit = settle_split,
    .is_label_lasting = is_split_lasting,
};
