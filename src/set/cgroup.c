/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control group as a target: an event for each CPU counts what the group's tasks do there. So the counts are split by
 * nature, and a task that is created costs nothing, since nothing is inherited; each reading reads all CPUs.
 */
#include "base/error.h"
#include "base/os.h"
#include "set/set.h"

static bool has_news(const struct ps_eventset *set, size_t lane)
{
	const uint64_t *totals = ps__set_totals(set, lane);
	const uint64_t *known = ps__set_credited(set, lane);

	for (size_t word = 0; word < ps__recording_width(set->series); word++) {
		if (totals[word] != known[word])
			return true;
	}
	return false;
}

/* Was counting off on the CPU that was read just now? The next one's reading must not find the answer. */
static bool take_interruption(struct ps_eventset *set)
{
	bool was_interrupted = set->backend->interrupted;

	set->backend->interrupted = false;
	return was_interrupted;
}

/* Only a CPU with news meets a hardware thread: counts, or that some may be missing. */
static int read_lane(struct ps_eventset *set, size_t lane)
{
	int result = set->backend->ops->read(set->backend, lane, ps__set_totals(set, lane));
	bool is_interrupted = take_interruption(set) || result == PS_PARTIAL;

	if ((result != PS_OK && result != PS_PARTIAL) || (!is_interrupted && !has_news(set, lane)))
		return result;
	struct ps__slot *slot = ps__set_slot(set, set->lane_cpus[lane]);
	if (!slot)
		return PS_ENOMEM;
	uint16_t mark = PS_ATTRIBUTION_EXACT;
	if (is_interrupted)
		mark |= PS__MARK_INTERRUPTED;
	mark |= ps__set_credit(set, slot, lane);
	ps__set_label_counts(slot, mark);
	ps__set_activate(set, slot);
	return result;
}

/* The reader's CPU stands for the reading, if it is counted. */
static struct ps__slot *find_here(struct ps_eventset *set)
{
	int cpu = ps__os_getcpu();

	for (size_t lane = 0; lane < set->target.lane_count; lane++) {
		if (set->lane_cpus[lane] == cpu)
			return ps__set_slot(set, cpu);
	}
	return ps__set_slot(set, set->lane_cpus[0]);
}

int ps__set_fetch_cgroup(struct ps_eventset *set, struct ps__slot **out)
{
	int result = PS_OK;

	if (set->must_clear)
		ps__set_clear_counts(set);
	for (size_t lane = 0; lane < set->backend->lanes; lane++) {
		int one = read_lane(set, lane);
		if (one != PS_OK && (result == PS_OK || one != PS_PARTIAL))
			result = one;
	}
	if (result != PS_OK && result != PS_PARTIAL)
		return result;
	struct ps__slot *here = find_here(set);
	if (!here)
		return PS_ENOMEM;
	ps__set_label_counts(here, PS_ATTRIBUTION_EXACT);
	ps__set_activate(set, here);
	set->last_slot = here;
	set->is_unfetched = false;
	*out = here;
	return result;
}

int ps_eventset_attach_cgroup(struct ps_eventset *set, const char *path)
{
	int fd;
	int result = ps__set_enter_own(set, "ps_eventset_attach_cgroup",
	                               "PAPI knows no control groups; make a set with ps_eventset_create");

	if (result != PS_OK)
		return result;
	if (!path || !*path)
		result = ps__fail(PS_EINVAL, "ps_eventset_attach_cgroup: the path is NULL or empty");
	else
		result = ps__cgroup_open(path, &fd);
	if (result == PS_OK)
		ps__set_retarget(set, (struct ps__target){.kind = PS__TARGET_CGROUP, .cpu = -1, .cgroup_fd = fd},
		                 (struct ps__task){.fd = -1});
	ps__set_leave(set);
	return result;
}
