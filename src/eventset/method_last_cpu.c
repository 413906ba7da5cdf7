/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts that are not split: all that was counted since the last fetch is assigned to the CPU where
 * the task is seen. */
#include "eventset/attribution.h"

static int read_last_cpu(struct ps_eventset *set, struct ps__fetch *fetch)
{
	fetch->cpu = ps__set_find_cpu(set);
	int result = ps__set_read_whole(set);
	fetch->flags = ps__set_moved_mark(set, fetch->cpu);
	return result;
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
