/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that the kernel splits by CPU: there is an instance for each CPU. A reading reads the
 * instances of those CPUs on which the task has been since the last reading, as the switch ring
 * tells. If that isn't known, it reads all instances.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/tasks.h"
#include "eventset/undo.h"
#include "eventset/waiting.h"

static uint64_t per_cpu_step(uint64_t total, uint64_t *known, uint16_t *flags)
{
	uint64_t before = *known;

	*known = total;
	if (__builtin_expect(total >= before, 1))
		return total - before;
	*flags |= PS__MARK_WENT_BACK;
	return total;
}

/* Assigns to the slot what the instance counted since its last assignment. The slot's enabled time
 * grows only by the time on the hardware here. The instance's own enabled time also grows while the
 * task is on other CPUs, which is no multiplexing. */
static void assign_instance(struct ps_eventset *set, struct ps__slot *slot, size_t instance,
                            uint16_t mark)
{
	size_t times = 2 * set->recorder.recording->groups;
	size_t width = ps__recording_width(set->recorder.recording);
	const uint64_t *totals = ps__set_totals(set, instance);
	uint64_t *known = ps__set_assigned(set, instance);

	/* Noted first: if the call is left after the change, the interval still has these times. */
	slot->interval.is_assigned = true;
	ps__set_change_begin(set, slot, instance);
	for (size_t group = 0; group < set->recorder.recording->groups; group++) {
		uint64_t passed = totals[2 * group] - known[2 * group];
		uint64_t ran = per_cpu_step(totals[2 * group + 1], &known[2 * group + 1], &mark);
		known[2 * group] = totals[2 * group];
		slot->interval.off_ns[group] += passed - ran;
		slot->counts[2 * group] += ran;
		slot->counts[2 * group + 1] += ran;
		slot->interval.ran_ns[group] += ran;
	}
	for (size_t word = times; word < width; word++)
		slot->counts[word] += per_cpu_step(totals[word], &known[word], &mark);
	if (set->counters.backend->residency_ns)
		ps__set_assign_waiting(set, slot, instance);
	ps__set_change_end(set);
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
}

/* True if the totals just read have anything that isn't assigned yet. */
static bool per_cpu_has_counted(const struct ps_eventset *set, size_t instance)
{
	const uint64_t *totals = ps__set_totals(set, instance);
	const uint64_t *known = ps__set_assigned(set, instance);
	size_t groups = set->recorder.recording->groups;

	for (size_t group = 0; group < groups; group++) {
		if (totals[2 * group + 1] != known[2 * group + 1])
			return true;
		if (ps__set_waited_ns(set, instance, group) > 0)
			return true;
	}
	for (size_t word = 2 * groups; word < ps__recording_width(set->recorder.recording);
	     word++) {
		if (totals[word] != known[word])
			return true;
	}
	return false;
}

static void take_clocks(const struct ps_eventset *set, size_t instance)
{
	for (size_t group = 0; group < set->recorder.recording->groups; group++)
		ps__set_assigned(set, instance)[2 * group] =
		    ps__set_totals(set, instance)[2 * group];
}

/* One round of reading instances. */
struct round {
	struct ps_eventset *set;
	uint16_t mark;
	int result;
};

/* Returns the label for the counts of an instance whose read gave this result. */
static uint16_t per_cpu_mark(const struct round *round, int result)
{
	return result == PS_PARTIAL ? round->mark | PS__MARK_INTERRUPTED : round->mark;
}

/* Reads an instance. It gets a slot only if it has new counts, or if some are missing: a sweep over
 * 256 instances must not make 256 slots. */
static void sweep_instance(struct round *round, size_t instance)
{
	struct ps_eventset *set = round->set;
	int result = set->counters.backend->ops->read(set->counters.backend, instance,
	                                              ps__set_totals(set, instance));

	round->result = ps__result_join(round->result, result);
	if (ps__set_is_failure(result))
		return;
	if (result == PS_OK && !per_cpu_has_counted(set, instance)) {
		take_clocks(set, instance);
		return;
	}
	struct ps__slot *slot = ps__set_slot(
	    set, set->attribution.per_cpu.cpus[instance % set->counters.target.instance_count]);
	if (!slot)
		round->result = PS_ENOMEM;
	else
		assign_instance(set, slot, instance, per_cpu_mark(round, result));
}

/* Sweeps all instances except `known`, which this round has read already; -1: none was read. */
static void per_cpu_sweep(struct round *round, ptrdiff_t known)
{
	for (size_t instance = 0; instance < round->set->counters.backend->instances; instance++) {
		if ((ptrdiff_t)instance != known)
			sweep_instance(round, instance);
	}
}

/* Reads the CPU's instance, and returns its slot; NULL after a failure. */
static struct ps__slot *read_cpu(struct round *round, int cpu)
{
	struct ps_eventset *set = round->set;

	set->attribution.last_cpu = cpu;
	if (ps__set_is_failure(round->result))
		return NULL;
	struct ps__slot *slot = ps__set_slot(set, cpu);
	if (!slot) {
		round->result = PS_ENOMEM;
		return NULL;
	}
	if (slot->visit == set->attribution.per_cpu.visit)
		return slot;
	slot->visit = set->attribution.per_cpu.visit;
	if (slot->instance < 0) {
		/* The CPU was absent when the set was opened, so nothing was counted there; or the
		 * CPU isn't known. */
		set->attribution.per_cpu.must_sweep = true;
		ps__set_label_counts(slot, PS_ATTRIBUTION_LAST_CPU |
		                               (cpu < 0 ? 0 : PS__MARK_INTERRUPTED));
		ps__set_activate(set, slot);
		return slot;
	}
	int result = set->counters.backend->ops->read(set->counters.backend, (size_t)slot->instance,
	                                              ps__set_totals(set, (size_t)slot->instance));
	round->result = ps__result_join(round->result, result);
	if (ps__set_is_failure(result))
		return NULL;
	assign_instance(set, slot, (size_t)slot->instance, per_cpu_mark(round, result));
	return slot;
}

/* Does what read_cpu does, for a CPU on which the task was since the last fetch. */
static struct ps__slot *read_visited(struct round *round, int cpu)
{
	struct ps__slot *slot = read_cpu(round, cpu);

	if (slot && slot->instance >= 0)
		ps__set_note_presence(round->set, slot);
	return slot;
}

static void visit_cpu(const struct ps__visit *visit, void *context)
{
	read_visited(context, visit->cpu);
}

/* Returns the CPU on which the task is now. For an attached task the switch ring has told it
 * already; ps__set_find_cpu would read a file at each reading. */
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

/* Reads the instances of the CPUs that the switch ring tells of. If the ring lost records, all
 * instances are swept, and the CPU of an attached task is looked up. */
static void follow_watch(struct ps_eventset *set, struct round *round)
{
	if (ps__switch_ring_drain(&set->attribution.switches, visit_cpu, round))
		return;
	set->attribution.per_cpu.must_sweep = true;
	if (set->counters.target.kind == PS__TARGET_TID)
		set->attribution.last_cpu = ps__set_look_at_task(set);
}

/* Reads the instances that may have new counts. Returns the CPU where the task seems to be. */
static int read_round(struct ps_eventset *set, struct round *round)
{
	set->attribution.per_cpu.visit++;
	if (set->attribution.switches.fd < 0)
		set->attribution.per_cpu.must_sweep = true;
	else if (ps__switch_ring_has_moved(&set->attribution.switches))
		follow_watch(set, round);
	if (set->attribution.switches.has_ended && set->counters.target.kind == PS__TARGET_TID) {
		set->is_ended = true;
		round->mark |= PS__MARK_ENDED;
	}
	int cpu = cpu_now(set);
	struct ps__slot *here = NULL;
	/* A process has an instance on each CPU for each of its roots: all are swept. */
	if (set->counters.target.kind == PS__TARGET_SELF && !set->is_ended)
		here = read_visited(round, cpu);
	else if (set->counters.target.kind != PS__TARGET_PROCESS)
		here = read_cpu(round, cpu);
	if (set->attribution.per_cpu.must_sweep)
		per_cpu_sweep(round, here ? here->instance : -1);
	/* After a failure the next reading must sweep again. */
	set->attribution.per_cpu.must_sweep = ps__set_is_failure(round->result);
	return cpu;
}

void ps__set_assign_instance(struct ps_eventset *set, struct ps__slot *slot)
{
	assign_instance(set, slot, (size_t)slot->instance, PS_ATTRIBUTION_EXACT);
	ps__set_settle_waiting(set, slot);
}

static int read_split(struct ps_eventset *set, struct ps__fetch *fetch)
{
	struct round round = {.set = set, .mark = PS_ATTRIBUTION_EXACT};

	ps__set_begin_counts(set);
	if (set->attribution.switches.fd < 0 && set->counters.target.kind != PS__TARGET_SELF)
		set->attribution.last_cpu = ps__set_look_at_task(set);
	if (set->is_ended)
		round.mark |= PS__MARK_ENDED;
	for (int turn = 0; turn < PS__LARGEST_FOLLOW && !ps__set_is_failure(round.result); turn++) {
		fetch->cpu = read_round(set, &round);
		if (set->attribution.switches.fd < 0 ||
		    !ps__switch_ring_has_moved(&set->attribution.switches))
			break;
	}
	return round.result;
}

/* Returns false, because the counts are in slots already. */
static bool settle_split(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	(void)fetch;
	if (here->instance >= 0)
		ps__set_settle_waiting(set, here);
	if (set->counters.target.kind == PS__TARGET_PROCESS)
		ps__set_mark_uncounted(set, here);
	return false;
}

static int open_switches(struct ps_eventset *set, pid_t tid)
{
	return ps__switch_ring_open(&set->attribution.switches, tid, -1);
}

static bool is_split_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	return (slot->counts_mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_EXACT &&
	       slot->instance >= 0 && set->attribution.switches.fd >= 0 &&
	       !set->attribution.per_cpu.must_sweep;
}

const struct ps__method ps__method_per_cpu = {
    .split = PS__SPLIT_COUNTERS,
    .is_exact = true,
    .prepare = ps__set_list_cpus,
    .open_switch_ring = open_switches,
    .start = ps__set_start_instances,
    .read = read_split,
    .assign = settle_split,
    .is_label_lasting = is_split_lasting,
};
