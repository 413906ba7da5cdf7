/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that the kernel split by CPU: for each CPU a lane of its own. A reading reads the lanes of those CPUs on which the
 * task has been since the last one, as its watch tells, and all of them when that isn't known.
 */
#include "base/error.h"
#include "base/os.h"
#include "set/set.h"

/* A task that moves while its lanes are read is followed this often; what comes later is the next reading's. */
#define LARGEST_CHASE 4

/* The enabled time of two lanes differs by what reading them one after the other took, and starting them: that
 * is measured, as a hypervisor or an interrupt may come between. */
#define SKEW_NS      20000u
#define LANE_SKEW_NS 2000u

static uint64_t *start_of(const struct ps_eventset *set, size_t lane)
{
	return set->elapsed + lane * set->series->groups;
}

/* For each group the enabled time since ps_start, at the last fetch. */
static uint64_t *clock_of(const struct ps_eventset *set)
{
	return start_of(set, set->backend->lanes);
}

void ps__set_start_lanes(struct ps_eventset *set)
{
	size_t groups = set->series->groups;

	for (size_t lane = 0; lane < set->backend->lanes; lane++) {
		for (size_t group = 0; group < groups; group++)
			start_of(set, lane)[group] = ps__set_credited(set, lane)[2 * group];
	}
	for (size_t group = 0; group < groups; group++)
		clock_of(set)[group] = 0;
}

static void ignore_visit(const struct ps__visit *visit, void *context)
{
	(void)visit;
	(void)context;
}

void ps__set_skip_visits(struct ps_eventset *set)
{
	if ((set->means != PS__MEANS_PLAIN || set->cannot_split) && set->watch.fd >= 0)
		ps__watch_drain(&set->watch, ignore_visit, NULL);
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

/* The lane's news become the slot's. Time on the hardware here is enabled time here: where the task isn't, the lane's
 * clock goes on, and that is no multiplexing. */
static void credit_lane(struct ps_eventset *set, struct ps__slot *slot, size_t lane, uint16_t mark)
{
	size_t times = 2 * set->series->groups;
	size_t width = ps__series_width(set->series);
	const uint64_t *totals = ps__set_totals(set, lane);
	uint64_t *known = ps__set_credited(set, lane);

	ps__set_change_begin(set, slot, known);
	for (size_t group = 0; group < set->series->groups; group++) {
		uint64_t ran = step(totals[2 * group + 1], &known[2 * group + 1], &mark);
		known[2 * group] = totals[2 * group];
		slot->counts[2 * group] += ran;
		slot->counts[2 * group + 1] += ran;
		slot->ran[group] += ran;
	}
	for (size_t word = times; word < width; word++)
		slot->counts[word] += step(totals[word], &known[word], &mark);
	ps__set_change_end(set);
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
}

/* Is there anything in the totals just read that isn't credited yet? */
static bool has_news(const struct ps_eventset *set, size_t lane)
{
	const uint64_t *totals = ps__set_totals(set, lane);
	const uint64_t *known = ps__set_credited(set, lane);
	size_t groups = set->series->groups;

	for (size_t group = 0; group < groups; group++) {
		if (totals[2 * group + 1] != known[2 * group + 1])
			return true;
	}
	for (size_t word = 2 * groups; word < ps__series_width(set->series); word++) {
		if (totals[word] != known[word])
			return true;
	}
	return false;
}

static void take_clocks(const struct ps_eventset *set, size_t lane)
{
	for (size_t group = 0; group < set->series->groups; group++)
		ps__set_credited(set, lane)[2 * group] = ps__set_totals(set, lane)[2 * group];
}

/* One round of reading lanes. */
struct round {
	struct ps_eventset *set;
	uint16_t mark;
	int result;
};

static bool is_failure(int result)
{
	return result != PS_OK && result != PS_PARTIAL;
}

/* The worst result is the round's: what one lane lacks must not hide that another could not be read at all. */
static void note_result(struct round *round, int result)
{
	if (result != PS_OK && !is_failure(round->result))
		round->result = result;
}

/* How the counts of a lane are known that gave this result. */
static uint16_t mark_of(const struct round *round, int result)
{
	return result == PS_PARTIAL ? round->mark | PS__MARK_INTERRUPTED : round->mark;
}

/* Only a lane with news, or that lacks some, meets a hardware thread: a sweep over 256 lanes makes no 256 slots. */
static void sweep_lane(struct round *round, size_t lane)
{
	struct ps_eventset *set = round->set;
	int result = set->backend->ops->read(set->backend, lane, ps__set_totals(set, lane));

	note_result(round, result);
	if (is_failure(result))
		return;
	if (result == PS_OK && !has_news(set, lane)) {
		take_clocks(set, lane);
		return;
	}
	struct ps__slot *slot = ps__set_slot(set, set->lane_cpus[lane % set->target.lane_count]);
	if (!slot)
		note_result(round, PS_ENOMEM);
	else
		credit_lane(set, slot, lane, mark_of(round, result));
}

static void read_cpu(struct round *round, int cpu)
{
	struct ps_eventset *set = round->set;

	set->last_cpu = cpu;
	if (is_failure(round->result))
		return;
	struct ps__slot *slot = ps__set_slot(set, cpu);
	if (!slot) {
		round->result = PS_ENOMEM;
		return;
	}
	if (slot->visit == set->visit)
		return;
	slot->visit = set->visit;
	if (slot->lane < 0) {
		/* A CPU that wasn't there when the set was opened, and where nothing was counted; or it isn't known. */
		set->must_sweep = true;
		ps__set_label_counts(slot, PS_ATTRIBUTION_LAST_CPU | (cpu < 0 ? 0 : PS__MARK_INTERRUPTED));
		ps__set_activate(set, slot);
		return;
	}
	int result =
	    set->backend->ops->read(set->backend, (size_t)slot->lane, ps__set_totals(set, (size_t)slot->lane));
	note_result(round, result);
	if (!is_failure(result))
		credit_lane(set, slot, (size_t)slot->lane, mark_of(round, result));
}

static void visit_cpu(const struct ps__visit *visit, void *context)
{
	read_cpu(context, visit->cpu);
}

/* Can the group be on the hardware there? Where it can't, a stand-in tells how long the task was there. */
static bool can_count(const struct ps__slot *slot, size_t group)
{
	return group >= 64 || !(slot->lacking & UINT64_C(1) << group);
}

/* Where a group waited that was never on the hardware: here, or where the task was before on a kind of core that has it. */
static struct ps__slot *waiting_slot(const struct ps_eventset *set, size_t group, struct ps__slot *here)
{
	struct ps__slot *found = here;

	for (size_t index = 0; index < set->active_count && !can_count(found, group); index++) {
		if (can_count(set->active[index], group))
			found = set->active[index];
	}
	return found;
}

/* Enabled time in which the group was on no CPU's hardware, though the task ran: it waited for its turn. It belongs
 * to where the task was meanwhile, in proportion. */
static void spread_waiting(struct ps_eventset *set, size_t group, uint64_t waited_ns, struct ps__slot *here)
{
	uint64_t ran_ns = 0;

	for (size_t index = 0; index < set->active_count; index++)
		ran_ns += can_count(set->active[index], group) ? set->active[index]->ran[group] : 0;
	if (ran_ns == 0) {
		waiting_slot(set, group, here)->counts[2 * group] += waited_ns;
		return;
	}
	for (size_t index = 0; index < set->active_count; index++) {
		struct ps__slot *slot = set->active[index];
		if (can_count(slot, group))
			slot->counts[2 * group] +=
			    (uint64_t)((unsigned __int128)waited_ns * slot->ran[group] / ran_ns);
	}
}

/* What is too little to be told from skew stays on the clock: many short waits are a long one. */
static void settle_group(struct ps_eventset *set, size_t group, struct ps__slot *here)
{
	uint64_t now = 0;
	for (size_t lane = (size_t)here->lane; lane < set->backend->lanes; lane += set->target.lane_count)
		now += ps__set_credited(set, lane)[2 * group] - start_of(set, lane)[group];
	uint64_t passed = now - clock_of(set)[group];
	uint64_t skew = SKEW_NS + LANE_SKEW_NS * set->backend->lanes + set->backend->start_ns;
	uint64_t ran = 0;

	for (size_t index = 0; index < set->active_count; index++)
		ran += set->active[index]->ran[group];
	clock_of(set)[group] += ran;
	if (set->backend->is_hardware[group] && (int64_t)(passed - ran) > (int64_t)skew) {
		spread_waiting(set, group, passed - ran, here);
		clock_of(set)[group] = now;
	}
	for (size_t index = 0; index < set->active_count; index++)
		set->active[index]->ran[group] = 0;
}

/* The CPU on which the task is now, as far as it can be told. */
static int cpu_now(struct ps_eventset *set)
{
	if (set->target.kind == PS__TARGET_SELF && !set->is_ended)
		return ps__os_getcpu();
	if (set->target.kind == PS__TARGET_PROCESS) {
		ps__set_take_tasks(set);
		set->last_cpu = ps__set_look_at_task(set);
	}
	return set->last_cpu;
}

/* Reads the lanes of the CPUs that the watch tells of. If it lost records, these are the newest: the task is looked at. */
static void follow_watch(struct ps_eventset *set, struct round *round)
{
	if (ps__watch_drain(&set->watch, visit_cpu, round))
		return;
	set->must_sweep = true;
	if (set->target.kind == PS__TARGET_TID)
		set->last_cpu = ps__set_look_at_task(set);
}

/* Reads the lanes that may have news. Returns the CPU that was taken for the present one. */
static int read_round(struct ps_eventset *set, struct round *round)
{
	set->visit++;
	if (set->watch.fd < 0)
		set->must_sweep = true;
	else if (ps__watch_has_moved(&set->watch))
		follow_watch(set, round);
	if (set->watch.has_ended && set->target.kind == PS__TARGET_TID) {
		set->is_ended = true;
		round->mark |= PS__MARK_ENDED;
	}
	int cpu = cpu_now(set);
	/* A process has a lane for each of its roots: they are all swept. */
	if (set->target.kind != PS__TARGET_PROCESS)
		read_cpu(round, cpu);
	for (size_t lane = 0; set->must_sweep && lane < set->backend->lanes; lane++)
		sweep_lane(round, lane);
	/* What was to be read and could not be must be found by the next reading. */
	set->must_sweep = is_failure(round->result);
	return cpu;
}

static void settle_all_groups(struct ps_eventset *set, struct ps__slot *here)
{
	for (size_t group = 0; group < set->series->groups; group++)
		settle_group(set, group, here);
}

void ps__set_credit_lane(struct ps_eventset *set, struct ps__slot *slot, uint16_t mark)
{
	credit_lane(set, slot, (size_t)slot->lane, mark);
	settle_all_groups(set, slot);
}

int ps__set_fetch_lanes(struct ps_eventset *set, struct ps__slot **out)
{
	struct round round = {.set = set, .mark = PS_ATTRIBUTION_EXACT};
	int cpu = -1;
	int result = ps__set_check_caller(set);

	if (result != PS_OK)
		return result;
	if (__builtin_expect(set->must_clear, 0))
		ps__set_clear_counts(set);
	if (set->watch.fd < 0 && set->target.kind != PS__TARGET_SELF)
		ps__set_look_at_task(set);
	if (set->is_ended)
		round.mark |= PS__MARK_ENDED;
	for (int chase = 0; chase < LARGEST_CHASE && !is_failure(round.result); chase++) {
		cpu = read_round(set, &round);
		if (set->watch.fd < 0 || !ps__watch_has_moved(&set->watch))
			break;
	}
	if (is_failure(round.result))
		return round.result;
	struct ps__slot *here = ps__set_slot(set, cpu);
	if (!here)
		return PS_ENOMEM;
	if (here->lane >= 0)
		settle_all_groups(set, here);
	if (set->target.kind == PS__TARGET_PROCESS)
		ps__set_mark_uncounted(set, here);
	set->last_slot = here;
	set->is_unfetched = false;
	*out = here;
	return round.result;
}

static int check_lane(struct ps_eventset *set, size_t lane, long long *residual)
{
	size_t times = 2 * set->series->groups;
	int result = set->backend->ops->read(set->backend, lane, ps__set_totals(set, lane));

	for (size_t event = 0; !is_failure(result) && event < set->event_count; event++)
		residual[event] += (long long)(ps__set_totals(set, lane)[times + event] -
		                               ps__set_credited(set, lane)[times + event]);
	return result;
}

/* For those who print the tree. */
static void keep_residual(const struct ps_eventset *set, const long long *residual)
{
	for (size_t event = 0; event < set->event_count; event++)
		atomic_store_explicit(&set->series->column[event].residual, residual[event], memory_order_relaxed);
	atomic_store_explicit(&set->series->is_checked, true, memory_order_release);
}

static int check(struct ps_eventset *set, long long *residual)
{
	struct ps__slot *slot;
	int result = ps__set_adopt(set);

	if (result == PS_OK && !set->was_started)
		result = ps__fail(PS_ENOTRUN, "ps_eventset_check: the event set was never started");
	if (result == PS_OK && !set->backend)
		result =
		    ps__fail(PS_ENOTRUN, "ps_eventset_check: the last ps_start failed, and there are no counters to "
		                         "compare with: start the set again");
	if (result != PS_OK)
		return result;
	if (set->is_running || set->is_unfetched)
		result = ps__set_fetch(set, &slot);
	for (size_t event = 0; event < set->event_count; event++)
		residual[event] = 0;
	for (size_t lane = 0; !is_failure(result) && lane < set->backend->lanes; lane++)
		result = check_lane(set, lane, residual);
	if (!is_failure(result))
		keep_residual(set, residual);
	return result;
}

int ps_eventset_check(struct ps_eventset *set, long long *residual, int n)
{
	int result = ps__set_enter(set, "ps_eventset_check");

	if (result != PS_OK)
		return result;
	if (!residual || n < 0 || (size_t)n != set->event_count)
		result = ps__fail(PS_EINVAL, "ps_eventset_check: room for %d numbers given for a set of %zu events",
		                  n, set->event_count);
	else
		result = check(set, residual);
	ps__set_leave(set);
	return result;
}
