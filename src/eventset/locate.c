/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the CPU of a set's task, for any caller, and says how the CPU is known. */
#include "base/os.h"
#include "eventset/attribution.h"

/* True if the task has been only on its one CPU since the last fetch. This can be true even if the
 * task's CPU mask was changed meanwhile. */
static bool is_pinned(struct ps_eventset *set, int cpu)
{
	/* Methods that split the counts read the switch ring themselves. */
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

/* Returns the CPU's label. */
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
