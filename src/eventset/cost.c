/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of readings. A copy of the set shares its counters and nothing else. The copy
 * is read about a thousand times. Then the set continues as if the measurement had not happened.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/control.h"
#include "eventset/eventset.h"
#include "eventset/waiting.h"

#include <perfsage/cost.h>
#include <perfsage/topology.h>
#include <stdlib.h>

#define BATCHES    16
#define BATCH_SIZE 64

enum ps_read_path ps_eventset_read_path(const struct ps_eventset *set, const char **why)
{
	const char *reason = set && set->counters.backend
	                         ? set->counters.backend->why_path
	                         : "the set's events are not open yet: ps_start opens them";

	if (why)
		*why = set ? reason : "";
	return set && set->counters.backend ? set->counters.backend->read_path
	                                    : PS_READ_PATH_SYSCALL;
}

const char *ps_read_path_name(enum ps_read_path path)
{
	switch (path) {
	case PS_READ_PATH_SYSCALL:
		return "syscall";
	case PS_READ_PATH_USER:
		return "user";
	case PS_READ_PATH_PAPI:
		return "papi";
	}
	return "unknown";
}

/* A copy of a set that shares the set's counters, with a recorder of its own. */
struct twin {
	struct ps_eventset set;
	struct ps_topology *topology;
};

static uint64_t *copy_vector(const uint64_t *vector, size_t count)
{
	uint64_t *copy = ps__os_calloc(count, sizeof *copy);

	for (size_t index = 0; copy && index < count; index++)
		copy[index] = vector[index];
	return copy;
}

static int copy_vectors(struct ps_eventset *set, const struct ps_eventset *of)
{
	size_t width = ps__recording_width(of->recorder.recording),
	       instances = of->counters.backend->instances;

	set->counters.totals = copy_vector(of->counters.totals, instances * (1 + width) + 1);
	set->counters.assigned = copy_vector(of->counters.assigned, instances * width);
	set->attribution.per_cpu.elapsed = copy_vector(
	    of->attribution.per_cpu.elapsed, (instances + 2) * of->recorder.recording->groups);
	if (!set->counters.totals || !set->counters.assigned || !set->attribution.per_cpu.elapsed ||
	    ps__set_make_fast_path(set, width) < 0)
		return PS_ENOMEM;
	return PS_OK;
}

static void twin_clear(struct twin *twin)
{
	struct ps_eventset *set = &twin->set;

	ps__set_free_slots(set);
	if (set->recorder.recording && set->recorder.recording->topology)
		ps__topology_release(set->recorder.recording->topology);
	else if (set->recorder.recording)
		ps__recording_free(set->recorder.recording);
	ps__os_free(set->counters.totals);
	ps__os_free(set->counters.assigned);
	ps__os_free(set->attribution.per_cpu.elapsed);
	ps__set_free_fast_path(set);
	if (twin->topology)
		ps_topology_destroy(twin->topology);
}

static int twin_create(struct twin *twin, const struct ps_eventset *of)
{
	struct ps_eventset *set = &twin->set;

	*twin = (struct twin){.set.calls = of->calls};
	set->calls.busy = 0;
	set->state = PS__SET_RUNNING;
	set->is_ended = of->is_ended;
	set->recorder.clock = of->recorder.clock;
	set->recorder.last_timestamp = of->recorder.last_timestamp;
	set->recorder.undo.saved = of->recorder.undo.saved;
	set->counters = of->counters;
	set->attribution = of->attribution;
	set->attribution.per_cpu.settled = NULL;
	set->events = of->events;
	int result = copy_vectors(set, of);
	if (result == PS_OK)
		result = ps__set_create_slots(set);
	if (result == PS_OK)
		set->recorder.recording = ps__set_copy_recording(of->recorder.recording);
	if (!set->recorder.recording)
		result = ps__fail_memory("the measurement of a reading's cost");
	if (result == PS_OK)
		result = ps_topology_load_synthetic(&twin->topology, "pu:1");
	if (result != PS_OK)
		twin_clear(twin);
	return result;
}

static int cost_compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* Measures the median batch. The first batch is left out, because it makes the storage. */
static int time_readings(struct twin *twin, double *reading_ns)
{
	struct ps_component *root = ps_topology_root(twin->topology);
	double batch_ns[BATCHES];

	for (int batch = -1; batch < BATCHES; batch++) {
		uint64_t begin_ns = ps__os_now_ns();
		for (int call = 0; call < BATCH_SIZE; call++) {
			int result = ps_read(&twin->set, root, NULL, NULL);
			if (result != PS_OK)
				return result;
		}
		if (batch >= 0)
			batch_ns[batch] = (double)(ps__os_now_ns() - begin_ns);
	}
	qsort(batch_ns, BATCHES, sizeof batch_ns[0], cost_compare);
	*reading_ns = (batch_ns[BATCHES / 2 - 1] + batch_ns[BATCHES / 2]) / 2 / BATCH_SIZE;
	return PS_OK;
}

/* True if the set counts the calling thread. Then all that was counted during the measurement comes
 * from the measurement. */
static bool counts_caller(const struct ps_eventset *set)
{
	const struct ps__target *target = &set->counters.target;

	return (target->kind == PS__TARGET_SELF && !set->is_ended) ||
	       (target->kind == PS__TARGET_TID && target->tid == ps__os.gettid());
}

/* Copies what the twin has learnt about the task to the set. */
static void twin_hand_over(struct ps_eventset *set, const struct ps_eventset *twin)
{
	set->attribution.switches = twin->attribution.switches;
	set->attribution.last_cpu = twin->attribution.last_cpu;
	set->is_ended |= twin->is_ended;
	set->attribution.followed_cpu = twin->attribution.followed_cpu;
	set->attribution.stay = twin->attribution.stay;
	/* The twin's times of the interval are gone: where the set's counts belong isn't known. If
	 * the set counts the caller, its counts during the measurement are dropped. */
	set->attribution.stay.is_lost |= twin->attribution.has_left && !counts_caller(set);
	set->attribution.has_left |= twin->attribution.has_left;
	ps__set_doubt_clocks(set);
	set->attribution.per_cpu.must_sweep |= set->attribution.method->split == PS__SPLIT_COUNTERS;
	/* The twin has taken the records that tell where the task was. If the set counts the
	 * caller, that doesn't matter: the set's counts during the measurement are dropped. */
	set->attribution.has_lost |=
	    set->attribution.method->split == PS__SPLIT_RECORDS && !counts_caller(set);
	for (size_t index = 0; index < twin->recorder.active_count; index++) {
		uint16_t mark = twin->recorder.active[index]->counts_mark;
		set->attribution.has_migrated |=
		    (mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_LAST_CPU;
		set->counters.backend->interrupted |= (mark & PS__MARK_INTERRUPTED) != 0;
	}
}

/* Drops the counts since the last fetch. */
static int cost_discount(struct ps_eventset *set)
{
	int result = PS_OK;

	for (size_t instance = 0; instance < set->counters.backend->instances; instance++) {
		int one = set->counters.backend->ops->read(set->counters.backend, instance,
		                                           ps__set_totals(set, instance));
		result = ps__result_join(result, one);
		ps__set_discount_instance(set, instance);
	}
	return result;
}

/* Measures on a set whose counters are enabled, and whose counts are fetched. */
static int cost_measure(struct ps_eventset *set, double *reading_ns)
{
	struct twin twin;
	int result = twin_create(&twin, set);

	if (result != PS_OK)
		return result;
	result = time_readings(&twin, reading_ns);
	twin_hand_over(set, &twin.set);
	twin_clear(&twin);
	return result;
}

static int measure_running(struct ps_eventset *set, double *reading_ns)
{
	struct ps__slot *slot;
	int result = ps__set_fetch(set, &slot);

	if (result == PS_OK)
		result = cost_measure(set, reading_ns);
	if (counts_caller(set)) {
		int discounted = cost_discount(set);
		result = result == PS_OK ? discounted : result;
	}
	return result;
}

static int measure_stopped(struct ps_eventset *set, double *reading_ns)
{
	struct ps__slot *slot;

	/* The tasks' counts during the measurement can't be told from earlier ones. */
	if (set->counters.wants_tasks)
		return ps__fail(PS_ENOSUPP,
		                "ps_eventset_overhead: the set keeps tasks apart, which would be "
		                "credited with the measurement: call it while the set is running");
	int result = set->state == PS__SET_UNFETCHED ? ps__set_fetch(set, &slot) : PS_OK;

	if (result == PS_OK)
		result = ps__set_open(set);
	if (result != PS_OK)
		return result;
	ps__set_skip_visits(set);
	result = ps__set_enable(set);
	if (result != PS_OK)
		return result;
	result = cost_measure(set, reading_ns);
	int stopped = set->counters.backend->ops->stop(set->counters.backend);
	int discounted = cost_discount(set);
	set->attribution.has_migrated = false;
	result = result == PS_OK ? stopped : result;
	return result == PS_OK ? discounted : result;
}

static int cost_find_overhead(struct ps_eventset *set, struct ps_overhead *out)
{
	double reading_ns = set->reading_ns;
	int result = PS_OK;

	if (set->events.count == 0)
		return ps__fail(
		    PS_EINVAL,
		    "ps_eventset_overhead: the event set is empty: add its events first");
	if (reading_ns == 0 && set->state != PS__SET_NEW)
		result = ps__set_check_caller(set);
	if (reading_ns == 0 && result == PS_OK)
		result = set->state == PS__SET_RUNNING ? measure_running(set, &reading_ns)
		                                       : measure_stopped(set, &reading_ns);
	if (result != PS_OK)
		return result;
	set->reading_ns = reading_ns;
	if (set->recorder.recording)
		atomic_store_explicit(&set->recorder.recording->reading_ps,
		                      (uint64_t)(reading_ns * 1000), memory_order_relaxed);
	out->reading_ns = reading_ns;
	out->readings =
	    set->recorder.past_readings +
	    (set->recorder.recording ? ps__recording_count_writes(set->recorder.recording) : 0);
	return PS_OK;
}

int ps_eventset_overhead(struct ps_eventset *set, struct ps_overhead *out)
{
	int result = ps__set_enter(set, "ps_eventset_overhead");

	if (result != PS_OK)
		return result;
	result = out ? cost_find_overhead(set, out)
	             : ps__fail(PS_EINVAL, "ps_eventset_overhead: out is NULL");
	ps__set_leave(set);
	return result;
}
