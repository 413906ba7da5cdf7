/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long groups waited for the hardware, and on which CPU, if the kernel splits the
 * counts by CPU. The kernel's enabled time of an event for one CPU goes on wherever the task runs,
 * so it doesn't show waiting. If several groups take turns, the backend has the task's residency on
 * each CPU (the time that it was there), and waiting is the residency less the running time. A
 * single group seldom waits. Then its enabled and running times, over all CPUs, are enough.
 */
#include "eventset/waiting.h"

#include "eventset/undo.h"

/* Returns, by group, the enabled time since ps_start that the last fetch has accounted for. */
static uint64_t *clock_of(const struct ps_eventset *set)
{
	return ps__set_elapsed(set, set->counters.backend->instances);
}

/* Returns what clock_of becomes when the fetch is settled. */
static uint64_t *next_clock_of(const struct ps_eventset *set)
{
	return clock_of(set) + set->recorder.recording->groups;
}

/* Returns residency less running time, at the instance's last read: it grows by the time that the
 * group waits on this CPU. */
static uint64_t waiting_total(const struct ps_eventset *set, size_t instance, size_t group)
{
	return set->counters.backend->residency_ns[instance] -
	       ps__set_assigned(set, instance)[2 * group + 1];
}

void ps__set_start_instances(struct ps_eventset *set)
{
	size_t groups = set->recorder.recording->groups;

	for (size_t instance = 0; instance < set->counters.backend->instances; instance++) {
		for (size_t group = 0; group < groups; group++)
			ps__set_elapsed(set, instance)[group] =
			    set->counters.backend->residency_ns
				? waiting_total(set, instance, group)
				: ps__set_assigned(set, instance)[2 * group];
	}
	for (size_t group = 0; group < groups; group++)
		clock_of(set)[group] = 0;
	set->attribution.per_cpu.settled = NULL;
}

void ps__set_discount_instance(struct ps_eventset *set, size_t instance)
{
	const uint64_t *totals = ps__set_totals(set, instance);
	uint64_t *assigned = ps__set_assigned(set, instance);
	size_t groups = set->recorder.recording->groups;

	for (size_t group = 0; !set->counters.backend->residency_ns && group < groups; group++)
		ps__set_elapsed(set, instance)[group] += totals[2 * group] - assigned[2 * group];
	for (size_t word = 0; word < ps__recording_width(set->recorder.recording); word++)
		assigned[word] = totals[word];
	for (size_t group = 0; set->counters.backend->residency_ns && group < groups; group++)
		ps__set_elapsed(set, instance)[group] = waiting_total(set, instance, group);
	set->attribution.per_cpu.settled = NULL;
}

/* True if the CPU's kind of core has the group's events. If not, a dummy event stands in for them,
 * and tells how long the task was there. */
static bool can_count(const struct ps__slot *slot, size_t group)
{
	return group >= 64 || !(slot->lacking & UINT64_C(1) << group);
}

/* The residency is read before the group. So if the group never waits, its running time is larger
 * than the residency, and the difference is negative. */
uint64_t ps__set_waited_ns(const struct ps_eventset *set, size_t instance, size_t group)
{
	if (!set->counters.backend->residency_ns || !set->counters.backend->is_hardware[group])
		return 0;
	int64_t waited_ns =
	    (int64_t)(waiting_total(set, instance, group) - ps__set_elapsed(set, instance)[group]);
	return waited_ns > 0 ? (uint64_t)waited_ns : 0;
}

/* Adds to the slot's enabled time the time for which a group waited on its CPU. */
void ps__set_assign_waiting(struct ps_eventset *set, struct ps__slot *slot, size_t instance)
{
	for (size_t group = 0; group < set->recorder.recording->groups; group++) {
		uint64_t waited_ns = ps__set_waited_ns(set, instance, group);

		slot->counts[2 * group] += waited_ns;
		ps__set_elapsed(set, instance)[group] += waited_ns;
		set->attribution.per_cpu.has_waited |= waited_ns > 0;
	}
}

/* Notes that the task ran on this CPU. If a group has no running time there, it had to wait: its
 * enabled time becomes 1 ns, so that its counts of 0 show as never scheduled. */
void ps__set_note_presence(struct ps_eventset *set, struct ps__slot *slot)
{
	for (size_t group = 0;
	     !set->counters.backend->residency_ns && group < set->recorder.recording->groups;
	     group++) {
		if (!set->counters.backend->is_hardware[group] || slot->counts[2 * group] > 0 ||
		    !can_count(slot, group))
			continue;
		slot->counts[2 * group] = 1;
		set->attribution.per_cpu.has_waited = true;
	}
}

/* Returns the slot that gets the waiting time of a group that was never on the hardware. This is
 * `here`; or, if that kind of core lacks the group, another active slot whose core has it. */
static struct ps__slot *waiting_slot(const struct ps_eventset *set, size_t group,
                                     struct ps__slot *here)
{
	struct ps__slot *found = here;

	for (size_t index = 0; index < set->recorder.active_count && !can_count(found, group);
	     index++) {
		if (can_count(set->recorder.active[index], group))
			found = set->recorder.active[index];
	}
	return found;
}

/* Gives a slot all of a group's waiting time. The first thread of a process may be where nothing
 * was counted: its slot isn't active then, and gets a part. */
static void give_waiting(struct ps_eventset *set, size_t group, uint64_t waited_ns,
                         struct ps__slot *slot)
{
	slot->interval.enabled_ns[group] += waited_ns;
	if (slot->is_active && slot->has_counts)
		return;
	ps__set_label_counts(slot, PS_ATTRIBUTION_EXACT);
	ps__set_activate(set, slot);
}

/* True if a switch ring tells on which CPUs the task was. Otherwise only counts tell it. */
static bool is_route_known(const struct ps_eventset *set)
{
	return set->counters.target.kind != PS__TARGET_PROCESS && set->attribution.switches.fd >= 0;
}

/* True if the task may have been on the slot's CPU in this interval. */
static bool may_have_been(const struct ps_eventset *set, const struct ps__slot *slot)
{
	return slot->interval.is_assigned || (slot->has_counts && !is_route_known(set));
}

/* Assigns a group's waiting time: enabled time in which the group was on no CPU's hardware, though
 * the task ran. Each CPU gets a share in proportion to the group's running time there; but at least
 * 1 ns where the group may have waited, so that its count there doesn't show as complete. */
static void spread_waiting(struct ps_eventset *set, size_t group, uint64_t waited_ns,
                           struct ps__slot *here)
{
	struct ps__slot *only = NULL;
	uint64_t ran_ns = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++)
		ran_ns += can_count(set->recorder.active[index], group)
		              ? set->recorder.active[index]->interval.ran_ns[group]
		              : 0;
	if (ran_ns == 0) {
		only = waiting_slot(set, group, here);
		give_waiting(set, group, waited_ns, only);
	}
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		if (slot == only || !can_count(slot, group) || !may_have_been(set, slot))
			continue;
		unsigned __int128 part =
		    (unsigned __int128)waited_ns * slot->interval.ran_ns[group];
		uint64_t share_ns = ran_ns ? (uint64_t)(part / ran_ns) : 0;
		slot->interval.enabled_ns[group] += share_ns ? share_ns : 1;
	}
}

/* For a task that may have moved. The enabled time of one instance (of all roots together) grows
 * wherever the task runs. If it exceeds the running times of all instances by more than the skew,
 * the group waited. A smaller excess is kept for the next fetch, because many short waits add up to
 * a long one. */
static void settle_moved(struct ps_eventset *set, size_t group, struct ps__slot *here, uint64_t ran)
{
	uint64_t now = 0;

	for (size_t instance = (size_t)here->instance; instance < set->counters.backend->instances;
	     instance += set->counters.target.instance_count)
		now += ps__set_assigned(set, instance)[2 * group] -
		       ps__set_elapsed(set, instance)[group];
	uint64_t passed = now - clock_of(set)[group];
	uint64_t skew = ps__set_skew_ns(set->counters.backend);
	next_clock_of(set)[group] += ran;
	if ((int64_t)(passed - ran) <= (int64_t)skew)
		return;
	spread_waiting(set, group, passed - ran, here);
	next_clock_of(set)[group] = now;
	set->attribution.per_cpu.has_waited = true;
}

/* For a task that was only on this CPU since the instance was last read. Its enabled and running
 * times are of one event at one moment, and have no skew. */
static void settle_stayed(struct ps_eventset *set, size_t group, struct ps__slot *here,
                          uint64_t ran)
{
	uint64_t waited = can_count(here, group) ? here->interval.off_ns[group] : 0;

	here->interval.enabled_ns[group] += waited;
	next_clock_of(set)[group] += ran + waited;
	set->attribution.per_cpu.has_waited |= waited > 0;
}

/* Computes the enabled times, and the clock, that ps__set_end_settling stores. */
static void settle_group(struct ps_eventset *set, size_t group, struct ps__slot *here,
                         bool has_stayed)
{
	uint64_t ran = 0;

	next_clock_of(set)[group] = clock_of(set)[group];
	here->interval.enabled_ns[group] = here->counts[2 * group];
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		slot->interval.enabled_ns[group] = slot->counts[2 * group];
		ran += slot->interval.ran_ns[group];
	}
	if (!set->counters.backend->is_hardware[group])
		next_clock_of(set)[group] += ran;
	else if (has_stayed)
		settle_stayed(set, group, here, ran);
	else
		settle_moved(set, group, here, ran);
}

/* True if a single task was only on this CPU since the last fetch. False for a process, which may
 * run on several CPUs at once; and for an attached task without a switch ring, which may move while
 * its instances are read. */
static bool has_stayed(const struct ps_eventset *set, const struct ps__slot *here)
{
	bool is_watched =
	    set->counters.target.kind == PS__TARGET_SELF ||
	    (set->counters.target.kind == PS__TARGET_TID && set->attribution.switches.fd >= 0);

	if (!is_watched ||
	    (set->attribution.per_cpu.settled && set->attribution.per_cpu.settled != here))
		return false;
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		if (set->recorder.active[index] != here &&
		    set->recorder.active[index]->interval.is_assigned)
			return false;
	}
	return true;
}

/* If there are several parts, marks those with a group that waited: each CPU's share of the waiting
 * time is an estimate. */
static void label_turns(struct ps_eventset *set)
{
	size_t parts = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++)
		parts += set->recorder.active[index]->has_counts;
	for (size_t index = 0; parts > 1 && index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		for (size_t group = 0; group < set->recorder.recording->groups; group++) {
			if (slot->counts[2 * group] > slot->counts[2 * group + 1])
				slot->counts_mark |= PS__MARK_TOOK_TURNS;
		}
	}
}

/* If a group has waited since the counts began, the wait may have been on any CPU. So where the
 * group's count shows as complete, its enabled time grows by 1 ns. */
static void doubt_complete(struct ps_eventset *set, size_t group)
{
	bool has_waited = false;

	for (size_t index = 0; index < set->recorder.active_count; index++) {
		const struct ps__slot *slot = set->recorder.active[index];
		has_waited |= slot->counts[2 * group] > slot->counts[2 * group + 1];
	}
	for (size_t index = 0; has_waited && index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		if (slot->has_counts && can_count(slot, group) &&
		    slot->counts[2 * group] == slot->counts[2 * group + 1])
			slot->counts[2 * group]++;
	}
}

static bool is_wait_placed(const struct ps_eventset *set)
{
	return set->counters.backend->residency_ns || is_route_known(set);
}

/* Marks estimates, in a set whose groups have waited since ps_start. */
static void mark_waits(struct ps_eventset *set, struct ps__slot *here)
{
	bool is_known = is_wait_placed(set);

	/* Each reading has a part here. */
	if (!is_known && !here->has_counts) {
		ps__set_label_counts(here, PS_ATTRIBUTION_EXACT);
		ps__set_activate(set, here);
	}
	for (size_t group = 0; !is_known && group < set->recorder.recording->groups; group++) {
		if (set->counters.backend->is_hardware[group])
			doubt_complete(set, group);
	}
	set->has_doubt |= !is_known;
	label_turns(set);
}

/* Returns the slot's part of the latest reading. */
static struct ps__history_row last_row(const struct ps__slot *slot)
{
	size_t row = atomic_load_explicit(&slot->history->count, memory_order_relaxed) - 1;

	return ps__history_row_of(slot->history, ps__history_chunk(slot->history, row), row);
}

static bool has_part_waited(const struct ps__slot *slot, size_t group)
{
	if (!slot->has_part)
		return false;
	_Atomic uint64_t *times = last_row(slot).words + 1 + 2 * group;
	return atomic_load_explicit(&times[0], memory_order_relaxed) >
	       atomic_load_explicit(&times[1], memory_order_relaxed);
}

/* Does for a group of the parts what doubt_complete does for the counts. */
static void doubt_parts_of_group(struct ps_eventset *set, size_t group)
{
	bool has_waited = false;

	for (size_t index = 0; index < set->recorder.active_count; index++)
		has_waited |= has_part_waited(set->recorder.active[index], group);
	for (size_t index = 0; has_waited && index < set->recorder.active_count; index++) {
		const struct ps__slot *slot = set->recorder.active[index];
		if (!slot->has_part || !can_count(slot, group) || has_part_waited(slot, group))
			continue;
		_Atomic uint64_t *times = last_row(slot).words + 1 + 2 * group;
		uint64_t running_ns = atomic_load_explicit(&times[1], memory_order_relaxed);
		atomic_store_explicit(&times[0], running_ns + 1, memory_order_release);
	}
}

/* Does for the parts what label_turns does for the counts. */
static void label_parts_of_turns(struct ps_eventset *set)
{
	size_t parts = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++)
		parts += set->recorder.active[index]->has_part;
	for (size_t index = 0; parts > 1 && index < set->recorder.active_count; index++) {
		const struct ps__slot *slot = set->recorder.active[index];
		bool has_waited = false;
		for (size_t group = 0; group < set->recorder.recording->groups; group++)
			has_waited |= has_part_waited(slot, group);
		if (has_waited)
			atomic_fetch_or_explicit(last_row(slot).mark, PS__MARK_TOOK_TURNS,
			                         memory_order_release);
	}
}

void ps__set_doubt_latest(struct ps_eventset *set)
{
	if (set->attribution.method->split != PS__SPLIT_COUNTERS || is_wait_placed(set))
		return;
	for (size_t group = 0; group < set->recorder.recording->groups; group++) {
		if (set->counters.backend->is_hardware[group])
			doubt_parts_of_group(set, group);
	}
	label_parts_of_turns(set);
}

static void end_slot(const struct ps_eventset *set, struct ps__slot *slot)
{
	for (size_t group = 0; group < set->recorder.recording->groups; group++) {
		if (!set->counters.backend->residency_ns)
			slot->counts[2 * group] = slot->interval.enabled_ns[group];
		slot->interval.ran_ns[group] = slot->interval.off_ns[group] = 0;
	}
	slot->interval.is_assigned = false;
}

/* Stores what was computed. Each store can be repeated. */
void ps__set_end_settling(struct ps_eventset *set)
{
	const struct ps__slot *here = set->attribution.per_cpu.settling;

	for (size_t index = 0; index < set->recorder.active_count; index++)
		end_slot(set, set->recorder.active[index]);
	for (size_t group = 0;
	     !set->counters.backend->residency_ns && group < set->recorder.recording->groups;
	     group++)
		clock_of(set)[group] = next_clock_of(set)[group];
	set->attribution.per_cpu.settled = here;
	atomic_signal_fence(memory_order_seq_cst);
	set->attribution.per_cpu.settling = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}

void ps__set_settle_waiting(struct ps_eventset *set, struct ps__slot *here)
{
	bool stayed = has_stayed(set, here);

	for (size_t group = 0;
	     !set->counters.backend->residency_ns && group < set->recorder.recording->groups;
	     group++)
		settle_group(set, group, here, stayed);
	atomic_signal_fence(memory_order_seq_cst);
	set->attribution.per_cpu.settling = here;
	atomic_signal_fence(memory_order_seq_cst);
	ps__set_end_settling(set);
	if (__builtin_expect(set->attribution.per_cpu.has_waited, 0))
		mark_waits(set, here);
}
