/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the task is, looked up at the time; and the attribution method that has nothing else: all
 * that was counted since the last fetch is assigned to the CPU where the task is seen. A set that
 * counts on one CPU knows it for certain.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"

/* One that has ended can't move any more, and its counts are still there. */
static int last_seen(const struct ps_eventset *set)
{
	return set->recorder.last_slot && set->attribution.method->split == PS__SPLIT_NOT
	           ? set->recorder.last_slot->cpu
	           : set->attribution.last_cpu;
}

/* A task that wasn't switched since it was looked at is where it was: the switch ring tells, for a
 * fraction of what its file costs. Only what was seen while the ring stood still counts, so that no
 * switch falls between. */
static int follow_task(struct ps_eventset *set)
{
	bool stands_still = !ps__switch_ring_has_moved(&set->attribution.switches);

	if (stands_still && set->attribution.followed_cpu >= 0)
		return set->attribution.followed_cpu;
	int cpu = ps__task_cpu(&set->counters.task, &set->is_ended);
	set->attribution.followed_cpu =
	    stands_still && !ps__switch_ring_has_moved(&set->attribution.switches) ? cpu : -1;
	return cpu;
}

int ps__set_look_at_task(struct ps_eventset *set)
{
	int cpu = -1;

	if (!set->is_ended && set->attribution.switches.fd >= 0 &&
	    set->attribution.method->split == PS__SPLIT_NOT)
		cpu = follow_task(set);
	else if (!set->is_ended)
		cpu = ps__task_cpu(&set->counters.task, &set->is_ended);
	return cpu >= 0 ? cpu : last_seen(set);
}

/* Has the task been on its one CPU only, since the last fetch? The mask may have been another one
 * meanwhile. */
static bool is_pinned(struct ps_eventset *set, int cpu)
{
	/* What the switch ring tells is for those who split the counts. */
	if (set->attribution.method->split != PS__SPLIT_NOT || set->attribution.switches.fd < 0 ||
	    cpu < 0)
		return false;
	if (set->attribution.cannot_split)
		return cpu == set->attribution.only_cpu &&
		       !ps__switch_ring_has_moved(&set->attribution.switches);
	if (__builtin_expect(ps__switch_ring_has_moved(&set->attribution.switches), 0))
		ps__set_look_for_migration(set);
	return cpu == set->attribution.only_cpu && !set->attribution.has_migrated;
}

int ps__set_find_other_cpu(struct ps_eventset *set)
{
	if (set->counters.target.kind == PS__TARGET_SELF)
		return last_seen(set);
	if (set->counters.target.kind == PS__TARGET_CGROUP)
		return ps__os_getcpu();
	return set->counters.target.kind == PS__TARGET_CPU ? set->counters.target.cpu
	                                                   : ps__set_look_at_task(set);
}

/* Labels the CPU: how it is known. */
static uint16_t mark_of_cpu(struct ps_eventset *set, int cpu)
{
	uint16_t mark = PS_ATTRIBUTION_ATTACHED;

	if (set->counters.target.kind != PS__TARGET_CPU)
		mark = is_pinned(set, cpu) ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_LAST_CPU;
	return set->is_ended ? mark | PS__MARK_ENDED : mark;
}

int ps__set_locate(struct ps_eventset *set, int *cpu, uint16_t *mark)
{
	int result = ps__set_check_caller(set);

	*cpu = ps__set_find_cpu(set);
	*mark = mark_of_cpu(set, *cpu);
	return result;
}

uint16_t ps__set_moved_mark(const struct ps_eventset *set, int cpu)
{
	if (set->counters.target.kind != PS__TARGET_SELF || set->is_ended ||
	    __builtin_expect(ps__os_getcpu() == cpu, 1))
		return 0;
	return PS__MARK_MOVED;
}

int ps__set_read_rest(struct ps_eventset *set, int result)
{
	struct ps__backend *backend = set->counters.backend;

	for (size_t instance = 1; instance < backend->instances; instance++) {
		int one = backend->ops->read(backend, instance, ps__set_totals(set, instance));
		if (__builtin_expect(one != PS_OK, 0) && (result == PS_OK || one != PS_PARTIAL))
			result = one;
	}
	return result;
}

static int read_last_cpu(struct ps_eventset *set, struct ps__fetch *fetch)
{
	fetch->cpu = ps__set_find_cpu(set);
	int result = ps__set_read_whole(set);
	fetch->flags = ps__set_moved_mark(set, fetch->cpu);
	return result;
}

uint16_t ps__set_assign_whole(struct ps_eventset *set, struct ps__slot *slot)
{
	uint16_t flags = 0;

	for (size_t instance = 0; instance < set->counters.backend->instances; instance++)
		flags |= ps__set_assign(set, slot, instance);
	return flags;
}

static bool assign_last_cpu(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	uint16_t mark = set->counters.target.kind == PS__TARGET_CPU ? PS_ATTRIBUTION_ATTACHED
	                                                            : PS_ATTRIBUTION_LAST_CPU;

	fetch->mark = mark | fetch->flags | ps__set_assign_whole(set, here);
	return true;
}

static bool is_last_cpu_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	(void)set;
	return (slot->counts_mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_LAST_CPU;
}

static int open_switches_of_cpu(struct ps_eventset *set, pid_t tid)
{
	return ps__switch_ring_open(&set->attribution.switches, tid, set->attribution.only_cpu);
}

const struct ps__method ps__method_last_cpu = {
    .split = PS__SPLIT_NOT,
    .open_switch_ring = open_switches_of_cpu,
    .read = read_last_cpu,
    .assign = assign_last_cpu,
    .is_label_lasting = is_last_cpu_lasting,
    .has_changed = ps__set_mask_changed,
};
