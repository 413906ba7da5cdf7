/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that are not split: all that was counted since the last fetch is assigned to the CPU where
 * the task is seen. For a process, each thread that it had at the start has its own counters, and
 * its CPU is looked up separately. */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"

#include <stdio.h>

static bool has_many_roots(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_PROCESS &&
	       set->counters.target.root_count > 1;
}

/* Returns the root's CPU. A root that has ended stays where it was last seen. A root that was never
 * seen is assumed to be where the process is. */
static int cpu_of_root(const struct ps_eventset *set, size_t root, int cpu)
{
	int seen = set->counters.root_cpus[root];

	return seen >= 0 ? seen : cpu;
}

static void look_at_root(struct ps_eventset *set, size_t root)
{
	char path[64], stat[1024];

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)set->counters.target.tid,
	         (int)set->counters.target.roots[root]);
	ssize_t length = ps__os_read_file(path, stat, sizeof stat);
	int cpu = length > 0 ? ps__task_parse_cpu(stat, (size_t)length) : -1;
	if (cpu >= 0)
		set->counters.root_cpus[root] = cpu;
}

/* Finds the roots' slots before the counters are read, because this can fail. */
static int look_at_roots(struct ps_eventset *set, int cpu)
{
	for (size_t root = 0; root < set->counters.target.root_count; root++) {
		look_at_root(set, root);
		if (!ps__set_slot(set, cpu_of_root(set, root, cpu)))
			return PS_ENOMEM;
	}
	return PS_OK;
}

static int read_last_cpu(struct ps_eventset *set, struct ps__fetch *fetch)
{
	fetch->cpu = ps__set_find_cpu(set);
	if (__builtin_expect(has_many_roots(set), 0) && look_at_roots(set, fetch->cpu) != PS_OK)
		return PS_ENOMEM;
	int result = ps__set_read_whole(set);
	fetch->flags = ps__set_moved_mark(set, fetch->cpu);
	return result;
}

static uint16_t assign_roots(struct ps_eventset *set, int cpu, uint16_t mark)
{
	uint16_t flags = 0;

	for (size_t root = 0; root < set->counters.target.root_count; root++) {
		struct ps__slot *slot = ps__set_slot(set, cpu_of_root(set, root, cpu));
		uint16_t one = ps__set_assign(set, slot, root);
		ps__set_label_counts(slot, mark | one);
		flags |= one;
		ps__set_activate(set, slot);
	}
	return flags;
}

static bool assign_last_cpu(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	uint16_t mark = set->counters.target.kind == PS__TARGET_CPU ? PS_ATTRIBUTION_ATTACHED
	                                                            : PS_ATTRIBUTION_LAST_CPU;

	if (__builtin_expect(set->attribution.is_lacking, 0))
		mark |= PS__MARK_INCOMPLETE;
	fetch->mark = mark | fetch->flags;
	if (__builtin_expect(has_many_roots(set), 0))
		fetch->mark |= assign_roots(set, fetch->cpu, fetch->mark);
	else
		fetch->mark |= ps__set_assign_whole(set, here);
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
