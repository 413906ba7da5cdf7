/* SPDX-License-Identifier: BSD-3-Clause */
/* A set's storage: the recording of its readings, and the vectors of the counters. */
#include "base/error.h"
#include "base/os.h"
#include "eventset/eventset.h"
#include "store/aggregate.h"

#include <stdio.h>
#include <string.h>

static int storage_name_columns(const struct ps_eventset *set, struct ps__recording *recording)
{
	recording->counts_cpu = set->counters.target.kind == PS__TARGET_CPU;
	for (size_t index = 0; index < set->events.count; index++) {
		const struct ps__event *event = &set->events.list[index];
		struct ps__column *column = &recording->column[index];
		if (ps__column_set_name(column, event->name, event->written) < 0)
			return -1;
		column->group = set->counters.backend->group_of[index];
		column->cpus = event->cpus ? ps__os_strdup(event->cpus) : NULL;
		if (event->cpus && !column->cpus)
			return -1;
		column->scope = event->scope;
		column->flags = event->user_only ? PS_VALUE_USER_ONLY : 0;
		atomic_init(&column->paused_from, event->control.is_paused ? 1 : 0);
		column->scale = event->scale;
		snprintf(column->unit, sizeof column->unit, "%s", event->unit);
		column->place = set->counters.papi ? set->counters.papi->place_of[index] : 0;
		column->is_estimate = set->counters.papi && set->counters.papi->is_estimate;
		ps__column_settle(recording, column);
	}
	return 0;
}

void ps__set_renew_fast_path(struct ps_eventset *set)
{
	struct ps__fast_path *fast = &set->fast_path;
	size_t room = 2 + fast->width + set->counters.backend->spare;

	fast->previous = fast->memory + 1;
	fast->current = fast->previous + room;
	fast->offset = fast->current + room;
	fast->kept = fast->offset + room;
	fast->snapshot.passed = fast->kept + room;
	fast->snapshot.totals = fast->snapshot.passed + room;
}

int ps__set_make_fast_path(struct ps_eventset *set, size_t width)
{
	struct ps__fast_path *fast = &set->fast_path;
	/* One word before each vector for the backend; one after for a recorder, or an even
	 * width. */
	size_t room = 2 + width + set->counters.backend->spare;
	uint64_t *memory = ps__os_calloc_apart(6 * room, sizeof *memory);

	if (!memory)
		return -1;
	*fast = (struct ps__fast_path){.memory = memory,
	                               .width = width,
	                               .even_bytes = width / 2 * (2 * sizeof *memory),
	                               .set.calls = &set->calls};
	ps__set_renew_fast_path(set);
	return 0;
}

void ps__set_free_fast_path(struct ps_eventset *set)
{
	ps__os_free_apart(set->fast_path.memory);
	set->fast_path = (struct ps__fast_path){.set.calls = &set->calls};
}

static void storage_free_vectors(struct ps_eventset *set)
{
	ps__os_free_apart(set->counters.totals);
	ps__os_free_apart(set->counters.assigned);
	ps__os_free_apart(set->attribution.per_cpu.elapsed);
	ps__os_free_apart(set->recorder.undo.saved);
	ps__set_free_fast_path(set);
	set->counters.totals = NULL;
	set->counters.assigned = NULL;
	set->attribution.per_cpu.elapsed = NULL;
	set->recorder.undo = (struct ps__undo){0};
}

void ps__set_begin_totals(struct ps_eventset *set)
{
	const struct ps__backend *backend = set->counters.backend;
	size_t size_bytes =
	    (2 * backend->groups + set->events.count) * sizeof *set->counters.totals;

	if (!backend->origin)
		return;
	memcpy(set->counters.totals + 1, backend->origin, size_bytes);
	memcpy(set->counters.assigned, backend->origin, size_bytes);
}

static int storage_make_vectors(struct ps_eventset *set, const struct ps__recording *recording)
{
	size_t width = ps__recording_width(recording);
	size_t instances = set->counters.backend->instances;

	set->counters.totals =
	    ps__os_calloc_apart(instances * (1 + width) + 1, sizeof *set->counters.totals);
	set->counters.assigned =
	    ps__os_calloc_apart(instances * width, sizeof *set->counters.assigned);
	set->attribution.per_cpu.elapsed = ps__os_calloc_apart(
	    (instances + 2) * recording->groups, sizeof *set->attribution.per_cpu.elapsed);
	set->recorder.undo.saved = ps__os_calloc_apart(2 * width + 3 * recording->groups,
	                                               sizeof *set->recorder.undo.saved);
	if (!set->counters.totals || !set->counters.assigned || !set->attribution.per_cpu.elapsed ||
	    !set->recorder.undo.saved || ps__set_make_fast_path(set, width) < 0) {
		storage_free_vectors(set);
		return -1;
	}
	ps__set_begin_totals(set);
	set->balance.is_begun = false;
	return 0;
}

int ps__set_make_storage(struct ps_eventset *set)
{
	struct ps__recording *recording =
	    ps__recording_create(set->events.count, set->counters.backend->groups);

	if (!recording || storage_name_columns(set, recording) < 0)
		goto free_recording;
	if (storage_make_vectors(set, recording) < 0)
		goto free_recording;
	if (ps__set_create_slots(set) != PS_OK)
		goto free_vectors;
	set->recorder.recording = recording;
	return PS_OK;
free_vectors:
	storage_free_vectors(set);
free_recording:
	if (recording)
		ps__recording_free(recording);
	return ps__fail_memory("the readings of an event set");
}

int ps__set_renew_vectors(struct ps_eventset *set)
{
	storage_free_vectors(set);
	if (storage_make_vectors(set, set->recorder.recording) < 0)
		return ps__fail_memory("an event set's counters");
	ps__set_find_instances(set);
	return PS_OK;
}

void ps__set_drop_storage(struct ps_eventset *set)
{
	ps__set_free_slots(set);
	if (set->recorder.recording)
		set->recorder.past_readings += ps__recording_count_writes(set->recorder.recording);
	if (set->recorder.last_bound)
		ps__aggregate_tidy(set->recorder.last_bound->topology);
	/* A bound recording belongs to the topology, where its readings stay: see last_bound. */
	if (set->recorder.recording && !set->recorder.recording->topology)
		ps__recording_free(set->recorder.recording);
	storage_free_vectors(set);
	set->recorder.recording = NULL;
	set->recorder.root = NULL;
}

int ps__set_reserve(struct ps_eventset *set, size_t rows)
{
	/* Each hardware thread has a chunk that is only partly filled. */
	if (ps__set_reserve_slots(set, rows) < 0 ||
	    ps__pool_reserve(&set->recorder.recording->pool,
	                     rows / PS__CHUNK_ROWS + 1 + set->recorder.met_count) < 0)
		return ps__fail_memory("the reserved readings");
	return PS_OK;
}
