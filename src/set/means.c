/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a set knows where its task was: by a mask of one CPU, by lanes (the kernel splits), or by a look at each reading. HACKING
 * says what each costs.
 */
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "set/set.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PRESENT "/sys/devices/system/cpu/present"

/* AUTO leaves this part of the process's descriptors to the program. */
#define SHARE_OF_PROGRAM 2

/* Descriptors that lanes have taken in this process. Written when sets are opened and closed, never in a reading. */
static _Atomic size_t descriptors_of_lanes;

static size_t count_supported(const struct ps_eventset *set)
{
	size_t count = 0;

	for (size_t index = 0; index < set->event_count; index++)
		count += !set->events[index].unsupported;
	return count;
}

static size_t descriptors_needed(const struct ps_eventset *set)
{
	size_t roots = set->target.kind == PS__TARGET_PROCESS ? set->target.root_count : 1;

	return count_supported(set) * set->target.lane_count * roots;
}

void ps__set_settle_for_plain(struct ps_eventset *set, const char *why)
{
	set->means = PS__MEANS_PLAIN;
	set->target.lane_count = 0;
	set->target.lane_cpus = NULL;
	ps__os_free(set->lane_cpus);
	set->lane_cpus = NULL;
	snprintf(set->why, sizeof set->why, "%s", why);
}

static int append_cpu(int cpu, void *context)
{
	struct ps_eventset *set = context;

	set->lane_cpus[set->target.lane_count++] = cpu;
	return 0;
}

/* Offline CPUs, too: a task's event may wait for a CPU that comes later. */
static int list_lanes(struct ps_eventset *set)
{
	char text[4096];

	if (ps__os_read_file(PRESENT, text, sizeof text) <= 0 || ps__list_count(text) == 0)
		return ps__fail(PS_ESYS,
		                "exact attribution needs the machine's CPUs, and they can't be read from " PRESENT);
	set->lane_cpus = ps__os_calloc(ps__list_count(text), sizeof *set->lane_cpus);
	if (!set->lane_cpus)
		return ps__fail_memory("an event set");
	set->target.lane_count = 0;
	ps__list_for_each(text, append_cpu, set);
	set->target.lane_cpus = set->lane_cpus;
	set->means = PS__MEANS_LANES;
	return PS_OK;
}

static bool is_within_budget(const struct ps_eventset *set)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	size_t taken = atomic_load_explicit(&descriptors_of_lanes, memory_order_relaxed);
	return descriptors_needed(set) + taken <= limit.rlim_cur / SHARE_OF_PROGRAM;
}

static void say_budget(struct ps_eventset *set)
{
	struct rlimit limit = {0};
	char why[sizeof set->why];

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(
	    why, sizeof why,
	    "exact attribution takes %zu file descriptors here, and event sets may take half of the process's %llu: "
	    "raise it with ulimit -n, or ask for PS_ATTRIBUTE_EXACT",
	    descriptors_needed(set), (unsigned long long)limit.rlim_cur);
	ps__set_settle_for_plain(set, why);
}

static pid_t watched_tid(const struct ps_eventset *set)
{
	return set->target.kind == PS__TARGET_TID ? set->target.tid : 0;
}

/* Only a single task can be pinned. */
static int only_cpu(const struct ps_eventset *set)
{
	if (set->target.kind == PS__TARGET_CPU || set->target.kind == PS__TARGET_PROCESS)
		return -1;
	if (set->papi && set->papi->is_shared)
		return -1;
	return ps__locate_only_cpu(watched_tid(set));
}

int ps__set_choose_means(struct ps_eventset *set)
{
	ps__set_settle_for_plain(set, "");
	set->only_cpu = only_cpu(set);
	if (set->papi) {
		ps__set_choose_for_papi(set);
		return PS_OK;
	}
	if (set->target.kind == PS__TARGET_CPU)
		return PS_OK;
	if (set->mode == PS_ATTRIBUTE_LAST_CPU) {
		snprintf(set->why, sizeof set->why, "PS_ATTRIBUTE_LAST_CPU was asked for");
		return PS_OK;
	}
	if (set->mode == PS_ATTRIBUTE_AUTO && set->only_cpu >= 0)
		return PS_OK;
	int result = list_lanes(set);
	if (result == PS_ENOMEM || (result != PS_OK && set->mode == PS_ATTRIBUTE_EXACT))
		return result;
	if (result != PS_OK)
		ps__set_settle_for_plain(set, ps_error_detail());
	else if (set->mode == PS_ATTRIBUTE_AUTO && !is_within_budget(set))
		say_budget(set);
	return PS_OK;
}

/* What is open fits a task that was pinned, or wasn't; lanes fit both. */
bool ps__set_means_changed(const struct ps_eventset *set)
{
	if (set->target.kind == PS__TARGET_CPU || set->means == PS__MEANS_LANES)
		return false;
	return set->only_cpu != only_cpu(set);
}

/* Without a watch, a task's whereabouts between readings are unknown: labels fall back, and lanes are all read. */
void ps__set_open_watch(struct ps_eventset *set)
{
	bool is_wanted = set->means == PS__MEANS_LANES || (set->only_cpu >= 0 && set->mode != PS_ATTRIBUTE_LAST_CPU);

	if (set->means == PS__MEANS_LANES)
		atomic_fetch_add_explicit(&descriptors_of_lanes, descriptors_needed(set), memory_order_relaxed);
	/* An attached task is found by its watch for less than by its file in /proc. */
	is_wanted |= set->papi && set->target.kind == PS__TARGET_TID && set->mode != PS_ATTRIBUTE_LAST_CPU;
	set->followed_cpu = -1;
	if (!is_wanted || set->target.kind == PS__TARGET_PROCESS)
		return;
	int opened =
	    ps__watch_open(&set->watch, watched_tid(set), set->means == PS__MEANS_LANES ? -1 : set->only_cpu);
	if (opened < 0)
		snprintf(set->why, sizeof set->why,
		         "the task's context switches can't be watched (%s): see kernel.perf_event_mlock_kb",
		         strerror(-opened));
}

void ps__set_forget_means(struct ps_eventset *set)
{
	if (set->means == PS__MEANS_LANES)
		atomic_fetch_sub_explicit(&descriptors_of_lanes, descriptors_needed(set), memory_order_relaxed);
	ps__set_settle_for_plain(set, "");
}

int ps_eventset_set_attribution(struct ps_eventset *set, enum ps_attribution_mode mode)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_attribution");

	if (result != PS_OK)
		return result;
	if (mode != PS_ATTRIBUTE_AUTO && mode != PS_ATTRIBUTE_EXACT && mode != PS_ATTRIBUTE_LAST_CPU) {
		result = ps__fail(PS_EINVAL, "ps_eventset_set_attribution: there is no mode %d", (int)mode);
	} else if (set->papi && mode == PS_ATTRIBUTE_EXACT) {
		result = ps__fail(
		    PS_ENOSUPP,
		    "ps_eventset_set_attribution: PAPI doesn't split the counts of its event set %d by hardware "
		    "thread: pin its thread, or count with ps_eventset_create and ps_eventset_add",
		    set->papi->id);
	} else if (mode != set->mode) {
		ps__set_close(set);
		set->mode = mode;
	}
	ps__set_leave(set);
	return result;
}

enum ps_attribution ps_eventset_attribution(const struct ps_eventset *set, const char **why)
{
	if (why)
		*why = set ? set->why : "";
	if (!set || !set->backend)
		return PS_ATTRIBUTION_LAST_CPU;
	if (set->target.kind == PS__TARGET_CPU)
		return PS_ATTRIBUTION_ATTACHED;
	if (set->means == PS__MEANS_LANES)
		return PS_ATTRIBUTION_EXACT;
	return set->only_cpu >= 0 && set->watch.fd >= 0 ? PS_ATTRIBUTION_PINNED : PS_ATTRIBUTION_LAST_CPU;
}
