/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the CPU of a set's task if the task isn't the caller: where it is, or was last seen. For
 * the caller's own CPU see ps__set_find_cpu in attribution.h. */
#include "base/os.h"
#include "eventset/attribution.h"

/* An exited task keeps its last known CPU. */
static int last_seen(const struct ps_eventset *set)
{
	return set->recorder.last_slot && set->attribution.method->split == PS__SPLIT_NOT
	           ? set->recorder.last_slot->cpu
	           : set->attribution.last_cpu;
}

/* If the switch ring has no new record, the task is still on the CPU where it was seen. The ring is
 * much cheaper to read than the task's file in /proc. A CPU is kept only if the ring had no new
 * record before and after the file was read, so that no switch came in between. */
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

int ps__set_find_other_cpu(struct ps_eventset *set)
{
	if (set->counters.target.kind == PS__TARGET_SELF)
		return last_seen(set);
	if (set->counters.target.kind == PS__TARGET_CGROUP)
		return ps__os_getcpu();
	return set->counters.target.kind == PS__TARGET_CPU ? set->counters.target.cpu
	                                                   : ps__set_look_at_task(set);
}

uint16_t ps__set_moved_mark(const struct ps_eventset *set, int cpu)
{
	if (set->counters.target.kind != PS__TARGET_SELF || set->is_ended ||
	    __builtin_expect(ps__os_getcpu() == cpu, 1))
		return 0;
	return PS__MARK_MOVED;
}
