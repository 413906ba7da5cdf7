/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares a process whose counts are divided by time, before its events are opened; and estimates
 * the cost. The rest is in method_time_share.c. */
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/looks.h"
#include "eventset/parts.h"

#include <string.h>

void ps__set_forget_clocks(struct ps_eventset *set)
{
	struct ps__time_share *share = &set->attribution.time_share;

	ps__os_free(share->places);
	ps__os_free(share->known);
	ps__os_free(share->stayed);
	ps__looks_destroy(share->looks);
	*share = (struct ps__time_share){0};
	set->counters.target.clocks = NULL;
	set->counters.target.clock_count = 0;
}

/* A list of clocks to open, while it grows. */
struct listing {
	struct ps__clock_place *places;
	size_t count;
	size_t room;
	size_t root;
	bool is_of_bound; /* list only roots that may use only one CPU */
};

static int list_place(int cpu, void *context)
{
	struct listing *listing = context;

	if (!PS__VECTOR_GROW(&listing->places, listing->count, &listing->room))
		return 1;
	listing->places[listing->count++] =
	    (struct ps__clock_place){.root = listing->root, .cpu = cpu};
	return 0;
}

/* Lists a clock for each CPU that a root may use; tasks that the root creates have the same mask.
 * Adds a clock for any CPU, unless the root may use all possible CPUs. Returns 0 or -errno. */
static int list_places_of(struct listing *listing, pid_t tid, size_t possible)
{
	size_t first = listing->count;

	if (listing->is_of_bound && ps__locate_only_cpu(tid) < 0)
		return 0;
	int result = ps__locate_for_each_allowed(tid, list_place, listing);

	if (result == 0 && listing->count - first != possible)
		result = list_place(PS__CLOCK_ANY, listing);
	return result > 0 ? -ENOMEM : result;
}

static int list_places(struct ps_eventset *set, struct listing *listing)
{
	size_t possible = ps__locate_count_possible();

	for (; listing->root < set->counters.target.root_count; listing->root++) {
		pid_t tid = set->counters.target.roots[listing->root];
		int result = list_places_of(listing, tid, possible);
		if (result == -ESRCH)
			set->counters.ended_root = tid;
		if (result == -ENOMEM)
			return ps__fail_memory("the clocks of a process");
		if (result < 0)
			return ps__fail(PS_ESYS,
			                "the CPUs that thread %d may use can't be read: %s",
			                (int)tid, strerror(-result));
	}
	return PS_OK;
}

static int adopt_places(struct ps_eventset *set, const struct listing *listing)
{
	struct ps__time_share *share = &set->attribution.time_share;

	share->places = listing->places;
	share->known = ps__os_calloc(listing->count + 1, sizeof *share->known);
	share->stayed = ps__os_calloc(set->counters.target.root_count, sizeof *share->stayed);
	if (!share->known || !share->stayed)
		return ps__fail_memory("the clocks of a process");
	set->counters.target.clocks = share->places;
	set->counters.target.clock_count = listing->count;
	return PS_OK;
}

int ps__set_prepare_clocks(struct ps_eventset *set)
{
	struct listing listing = {0};
	int result = list_places(set, &listing);

	if (result == PS_OK)
		return adopt_places(set, &listing);
	ps__os_free(listing.places);
	return result;
}

/* A root that may use only one CPU gets two clocks, too: they prove that it stays there. */
int ps__set_prepare_looks(struct ps_eventset *set)
{
	const struct ps__target *target = &set->counters.target;
	struct listing listing = {.is_of_bound = true};

	/* In another PID namespace the number is another process's. */
	if (!ps__locate_has_proc())
		return ps__fail(PS_ESYS,
		                "looks at the tasks of process %d need a /proc of this PID "
		                "namespace, and none is mounted",
		                (int)target->tid);
	if (ps__task_state(target->tid) == '\0')
		return ps__fail(
		    PS_ESYS,
		    "looks at the tasks of process %d need /proc/%d, which is not there "
		    "or hidden",
		    (int)target->tid, (int)target->tid);
	set->attribution.time_share.looks =
	    ps__looks_create(target->tid, target->roots, target->root_count);
	if (!set->attribution.time_share.looks)
		return PS_ENOMEM;
	if (list_places(set, &listing) != PS_OK ||
	    !ps__set_is_within_budget(set->events.count * target->root_count + listing.count)) {
		ps__os_free(listing.places);
		listing = (struct listing){0};
	}
	return adopt_places(set, &listing);
}

static int count_cpu(int cpu, void *context)
{
	(void)cpu;
	++*(size_t *)context;
	return 0;
}

bool ps__set_is_costly(const struct ps_eventset *set)
{
	return ps__set_per_cpu_copies(set->events.count) >= PS__COSTLY_COPIES;
}

bool ps__set_has_few_clocks(const struct ps_eventset *set)
{
	size_t copies = ps__set_per_cpu_copies(set->events.count);
	size_t clocks = 0;

	if (set->counters.target.root_count > 0)
		ps__locate_for_each_allowed(set->counters.target.roots[0], count_cpu, &clocks);
	return clocks > 0 && clocks <= PS__CHEAP_COPIES &&
	       2 * (set->events.count + clocks) <= copies;
}

size_t ps__set_time_share_copies(const struct ps_eventset *set)
{
	const struct ps__target *target = &set->counters.target;
	size_t clocks = 0;

	if (!set->counters.backend || set->attribution.method->split != PS__SPLIT_TIMES)
		return 0;
	while (clocks < target->clock_count && target->clocks[clocks].root == 0)
		clocks++;
	return set->events.count + clocks;
}

bool ps__set_has_looks(const struct ps_eventset *set)
{
	return set->attribution.time_share.looks != NULL;
}
