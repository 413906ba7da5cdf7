/* SPDX-License-Identifier: BSD-3-Clause */
/* AUTO's budget of descriptors: event sets leave a part of the process's descriptors to the
 * program. */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"

#include <stdio.h>

/* Event sets in AUTO may take the process's descriptors divided by this. */
#define SHARE_OF_PROGRAM 2

/* The largest number of descriptors for one process: this many are opened in a second or less. A
 * process can have thousands of threads. */
#define MOST_OF_A_PROCESS 32768

/* Descriptors that all sets of this process have taken to split counts. Written when sets are
 * opened and closed, never in a reading. */
static _Atomic size_t descriptors_taken;

static size_t count_supported(const struct ps_eventset *set)
{
	size_t count = 0;

	for (size_t index = 0; index < set->events.count; index++)
		count += !set->events.list[index].unsupported;
	return count;
}

/* Returns the number of descriptors for the events in one place. A control group's single event has
 * a witness (backend/perf.h). */
static size_t count_members(const struct ps_eventset *set)
{
	size_t count = count_supported(set);

	return count == 1 && set->counters.target.kind == PS__TARGET_CGROUP ? 2 : count;
}

static size_t count_roots(const struct ps_eventset *set)
{
	return set->counters.target.root_count ? set->counters.target.root_count : 1;
}

/* Returns the number of descriptors that the set's method opens, for one group; more are rare.
 * Migration records also need a recorder and the switch ring. Tasks that are kept apart need two
 * writers in each instance, and an anchor for each root (perf_tasks.h). */
static size_t descriptors_needed(const struct ps_eventset *set)
{
	size_t roots = count_roots(set);
	size_t writers = set->counters.wants_tasks ? 2 : 0,
	       anchors = set->counters.wants_tasks ? roots : 0;

	size_t clocks = set->counters.backend && set->counters.backend->residency_ns;

	if (set->counters.target.has_records)
		return count_supported(set) + 2;
	if (set->counters.target.clock_count || set->attribution.time_share.looks)
		return count_supported(set) * roots + set->counters.target.clock_count;
	return (count_members(set) + writers + clocks) * set->counters.target.instance_count *
	           roots +
	       anchors;
}

bool ps__set_is_within_budget(size_t needed)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	size_t taken = atomic_load_explicit(&descriptors_taken, memory_order_relaxed);
	return needed + taken <= limit.rlim_cur / SHARE_OF_PROGRAM;
}

static bool takes_long(const struct ps_eventset *set, size_t needed)
{
	return set->counters.target.kind == PS__TARGET_PROCESS && needed > MOST_OF_A_PROCESS;
}

static int fail_budget(struct ps_eventset *set)
{
	size_t needed = descriptors_needed(set);
	struct rlimit limit = {0};

	if (set->attribution.short_of == 0 || needed < set->attribution.short_of)
		set->attribution.short_of = needed;
	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	if (takes_long(set, needed))
		return ps__fail(PS_ECOUNT,
		                "a split by hardware thread takes %zu file descriptors here, and "
		                "more than %d take seconds to open: PS_ATTRIBUTE_EXACT (perfsage "
		                "stat --exact) demands it",
		                needed, MOST_OF_A_PROCESS);
	if (set->counters.target.clock_count)
		return ps__fail(PS_ECOUNT,
		                "attribution by time shares takes %zu file descriptors here, and "
		                "event sets may take half of the process's %llu: raise it with "
		                "ulimit -n",
		                needed, (unsigned long long)limit.rlim_cur);
	return ps__fail(
	    PS_ECOUNT,
	    "exact attribution takes %zu file descriptors here, and event sets may take half of "
	    "the process's %llu: raise it with ulimit -n; PS_ATTRIBUTE_EXACT (perfsage stat "
	    "--exact) demands it",
	    needed, (unsigned long long)limit.rlim_cur);
}

int ps__set_charge(struct ps_eventset *set, bool has_budget)
{
	size_t needed = descriptors_needed(set) - set->attribution.descriptors;

	if (needed == 0)
		return PS_OK;
	if (set->attribution.mode != PS_ATTRIBUTE_EXACT && has_budget &&
	    (takes_long(set, needed) || !ps__set_is_within_budget(needed)))
		return fail_budget(set);
	set->attribution.descriptors += needed;
	atomic_fetch_add_explicit(&descriptors_taken, needed, memory_order_relaxed);
	return PS_OK;
}

static void add_threads(const struct ps_eventset *set, char *out, size_t size_bytes)
{
	if (set->counters.target.kind == PS__TARGET_PROCESS && set->counters.target.root_count > 1)
		snprintf(out, size_bytes, " for the %zu threads of process %d",
		         set->counters.target.root_count, (int)set->counters.target.tid);
}

int ps__set_check_limit(const struct ps_eventset *set)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
	size_t places = set->counters.target.instance_count;
	size_t needed = count_members(set) * (places ? places : 1) * count_roots(set) +
	                set->counters.target.clock_count;
	char threads[64] = "";

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	if (needed <= limit.rlim_cur)
		return PS_OK;
	add_threads(set, threads, sizeof threads);
	return ps__fail(PS_ECOUNT,
	                "the set needs %zu file descriptors%s, and this process may have "
	                "%llu: " PS__ADVICE_DESCRIPTORS ", or count fewer events%s",
	                needed, threads, (unsigned long long)limit.rlim_cur,
	                *threads ? ", its control group, or whole CPUs" : "");
}

void ps__set_release(struct ps_eventset *set)
{
	/* Events and options may have changed since then, so release what was charged, and not what
	 * is needed now. */
	atomic_fetch_sub_explicit(&descriptors_taken, set->attribution.descriptors,
	                          memory_order_relaxed);
	set->attribution.descriptors = 0;
}
