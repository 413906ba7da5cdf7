/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts a control group. An event for each CPU counts what the group's tasks do there. So the
 * counts are split by CPU. Created tasks cost nothing, because they inherit no event. But each
 * reading reads all CPUs.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/parts.h"

#include <errno.h>

void ps__set_note_missing(struct ps_eventset *set)
{
	set->attribution.is_lacking = true;
}

static bool cgroup_has_counted(const struct ps_eventset *set, size_t instance)
{
	const uint64_t *totals = ps__set_totals(set, instance);
	const uint64_t *known = ps__set_assigned(set, instance);

	for (size_t word = 0; word < ps__recording_width(set->recorder.recording); word++) {
		if (totals[word] != known[word])
			return true;
	}
	return false;
}

/* True if counting was off on the CPU that was just read. Clears the flag, so that it isn't taken
 * for the next CPU's. */
static bool take_interruption(struct ps_eventset *set)
{
	bool was_interrupted = set->counters.backend->interrupted;

	set->counters.backend->interrupted = false;
	return was_interrupted;
}

/* Sets the enabled time of software events to their running time, because they never wait for a
 * counter. The kernel's clock of a control group can be ahead of the time in which the events
 * counted: until the first switch after they were enabled, or when the group's tasks come back. */
static void settle_software_times(const struct ps_eventset *set, size_t instance)
{
	uint64_t *totals = ps__set_totals(set, instance);

	for (size_t group = 0; group < set->recorder.recording->groups; group++) {
		if (!set->counters.backend->is_hardware[group])
			totals[2 * group] = totals[2 * group + 1];
	}
}

/* Reads one CPU. It gets a slot only if it has new counts, or if some may be missing. */
static int cgroup_read_instance(struct ps_eventset *set, size_t instance)
{
	int result = set->counters.backend->ops->read(set->counters.backend, instance,
	                                              ps__set_totals(set, instance));
	bool is_interrupted = take_interruption(set) || result == PS_PARTIAL;

	settle_software_times(set, instance);
	if ((result != PS_OK && result != PS_PARTIAL) ||
	    (!is_interrupted && !cgroup_has_counted(set, instance)))
		return result;
	struct ps__slot *slot = ps__set_slot(set, set->attribution.per_cpu.cpus[instance]);
	if (!slot)
		return PS_ENOMEM;
	uint16_t mark = PS_ATTRIBUTION_EXACT;
	if (is_interrupted)
		mark |= PS__MARK_INTERRUPTED;
	mark |= ps__set_assign(set, slot, instance);
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
	return result;
}

/* Returns the CPU of the reading: the reader's, if it is counted. */
static int cpu_here(const struct ps_eventset *set)
{
	int cpu = ps__os_getcpu();

	for (size_t instance = 0; instance < set->counters.target.instance_count; instance++) {
		if (set->attribution.per_cpu.cpus[instance] == cpu)
			return cpu;
	}
	return set->attribution.per_cpu.cpus[0];
}

int ps__set_read_places(struct ps_eventset *set)
{
	int result = PS_OK;

	ps__set_begin_counts(set);
	for (size_t instance = 0; instance < set->counters.backend->instances; instance++)
		result = ps__result_join(result, cgroup_read_instance(set, instance));
	return result;
}

static int read_cgroup(struct ps_eventset *set, struct ps__fetch *fetch)
{
	int result = ps__set_read_places(set);

	/* A CPU that came online since the start has no events. */
	set->attribution.is_lacking |= ps__set_has_new_cpu(set);
	fetch->cpu = cpu_here(set);
	return result;
}

/* Labels the parts. The counts are in slots already; the CPU of the reading always has a part. */
bool ps__set_label_places(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here)
{
	(void)here;
	fetch->mark = PS_ATTRIBUTION_EXACT;
	if (!set->attribution.is_lacking)
		return true;
	fetch->mark |= PS__MARK_INCOMPLETE;
	ps__set_mark_incomplete(set);
	return true;
}

/* True if the group was removed: the kernel counts nothing for it, though its folder is open. */
static bool is_removed(const struct ps_eventset *set)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .disabled = 1};
	int fd = ps__os_open_event(&attr, set->counters.target.cgroup.fd,
	                           set->attribution.per_cpu.cpus[0], -1, PERF_FLAG_PID_CGROUP);
	bool is_gone = fd == -ENOENT;

	if (fd >= 0)
		ps__os_close_event(fd, 0, false);
	return is_gone;
}

static bool has_cgroup_changed(const struct ps_eventset *set)
{
	return ps__set_has_other_cpus(set) || is_removed(set);
}

const struct ps__method ps__method_cgroup = {
    .split = PS__SPLIT_PLACES,
    .is_exact = true,
    .prepare = ps__set_list_cpus,
    .read = read_cgroup,
    .assign = ps__set_label_places,
    .has_changed = has_cgroup_changed,
};
