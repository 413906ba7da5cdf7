/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts a process by a BPF program. On each CPU the program reads the CPU's events at each context
 * switch, and if a task of the process leaves the CPU, adds what they grew by to the process's
 * counts. So the counts are split by CPU, and created tasks cost nothing. But each reading reads
 * all CPUs. See src/backend/bpf.c.
 */
#include "base/error.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"

/* Refuses what the program can't do: it doesn't tell tasks apart, and counts once it is loaded. */
static int prepare_bpf(struct ps_eventset *set)
{
	if (set->counters.wants_tasks)
		return ps__fail(PS_ENOSUPP,
		                "attribution by BPF doesn't tell the tasks of a process apart "
		                "(ps_eventset_set_tasks): PS_ATTRIBUTE_EXACT does");
	if (set->counters.enables_on_exec)
		return ps__fail(PS_ENOSUPP,
		                "attribution by BPF can't begin with an exec "
		                "(ps_eventset_set_enable_on_exec): PS_ATTRIBUTE_EXACT can");
	return ps__set_list_cpus(set);
}

/* True if counts may be missing: a CPU went offline, or came online and has no events. */
static bool has_bpf_changed(const struct ps_eventset *set)
{
	return ps__set_has_other_cpus(set) || set->counters.backend->has_gaps;
}

/* The reading's CPU is that of the process's first thread, or where that was last. A CPU that came
 * online since the start is not read. */
static int read_bpf(struct ps_eventset *set, struct ps__fetch *fetch)
{
	int result = ps__set_read_places(set);

	set->attribution.is_lacking |= has_bpf_changed(set);
	set->attribution.last_cpu = ps__set_look_at_task(set);
	fetch->cpu = set->attribution.last_cpu;
	return result;
}

/* An unknown CPU gets a part only if there is no other part. */
static bool label_bpf(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	bool has_part = ps__set_label_places(set, fetch, here);

	return has_part && (fetch->cpu >= 0 || set->recorder.active_count == 0);
}

const struct ps__method ps__method_bpf = {
    .split = PS__SPLIT_PLACES,
    .is_exact = true,
    .prepare = prepare_bpf,
    .read = read_bpf,
    .assign = label_bpf,
    .has_changed = has_bpf_changed,
};
