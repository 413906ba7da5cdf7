/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what was shared while others were idle. Makes the sweep's spots, entries and events from
 * segments, and makes findings from the clocks of spots and entries. */
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/place_sweep.h"
#include "topology/tree.h"

#include <stdlib.h>

/* Sorts by time. Of events at the same time, ends come before begins, so that a task that moves is
 * never at two spots. */
static int compare_events(const void *one, const void *other)
{
	const struct place_event *a = one, *b = other;

	return a->ns != b->ns ? place_compare(a->ns, b->ns) : a->is_begin - b->is_begin;
}

static void sweep_add_events(struct place_sweep *sweep, const struct place_segment *segments,
                             size_t count, enum place_kind kind)
{
	for (size_t i = 0; i < count; i++) {
		sweep->events[sweep->event_count++] =
		    (struct place_event){.ns = segments[i].begin_ns,
		                         .segment = &segments[i],
		                         .kind = kind,
		                         .is_begin = true};
		sweep->events[sweep->event_count++] = (struct place_event){
		    .ns = segments[i].end_ns, .segment = &segments[i], .kind = kind};
	}
}

/* Sorts by spot (its index is in `entry` at this stage), then by task. */
static int compare_spots(const void *one, const void *other)
{
	const struct place_segment *a = one, *b = other;

	return a->entry != b->entry ? place_compare(a->entry, b->entry)
	                            : place_compare(a->task, b->task);
}

/* Makes an entry for each pair of spot and task, and sets each segment's entry. A segment without a
 * spot keeps SIZE_MAX. */
static void add_entries(struct place_sweep *sweep, struct place_spot *spots,
                        struct place_segment *segments, size_t count)
{
	struct place_segment before = {.entry = SIZE_MAX};

	qsort(segments, count, sizeof *segments, compare_spots);
	for (size_t i = 0; i < count; i++) {
		struct place_segment *segment = &segments[i];
		if (segment->entry == SIZE_MAX)
			continue;
		if (before.entry != segment->entry || before.task != segment->task)
			sweep->entries[sweep->entry_count++] = (struct place_entry){
			    .spot = &spots[segment->entry], .task = segment->task};
		before = *segment;
		segment->entry = sweep->entry_count - 1;
	}
}

static void make_threads(struct place_sweep *sweep, const struct place_input *input)
{
	const struct ps_topology *topology = input->root->topology;
	const struct ps_component *last = NULL;

	for (size_t i = 0; i <= topology->thread_count; i++) {
		struct place_spot *thread = &sweep->threads[i];
		const struct ps_component *component = topology->threads[i].component;
		const struct ps_component *core =
		    ps_component_ancestor(component, PS_COMPONENT_CORE, 1);
		bool is_unknown = i == topology->thread_count;
		bool is_allowed =
		    !is_unknown && tool_cpus_contain(input->allowed, topology->threads[i].cpu);
		*thread = (struct place_spot){
		    .component = component, .is_unknown = is_unknown, .is_allowed = is_allowed};
		/* The hardware threads of a core are adjacent. */
		if (core && core != last)
			sweep->cores[sweep->core_count++] =
			    (struct place_spot){.component = core, .is_core = true};
		last = core;
		if (!core)
			continue;
		thread->core = &sweep->cores[sweep->core_count - 1];
		thread->core->is_allowed |= is_allowed;
	}
}

static void make_holes(struct place_sweep *sweep, const struct place_input *input)
{
	const struct ps_topology *topology = input->root->topology;

	for (size_t i = 0; i < input->hole_count; i++) {
		const struct tool_hole *hole = &input->holes[i];
		if (hole->end_ns <= hole->begin_ns)
			continue;
		sweep->holes[sweep->hole_count++] = (struct place_segment){
		    .begin_ns = hole->begin_ns,
		    .end_ns = hole->end_ns,
		    .thread =
			(size_t)(ps__topology_thread(topology, hole->cpu) - topology->threads)};
	}
}

static void name_spots(const struct place_sweep *sweep, struct place_segments *segments)
{
	for (size_t i = 0; i < segments->stay_count; i++)
		segments->stays[i].entry = segments->stays[i].thread;
	for (size_t i = 0; i < segments->run_count; i++) {
		const struct place_spot *core = sweep->threads[segments->runs[i].thread].core;
		segments->runs[i].entry = core ? (size_t)(core - sweep->cores) : SIZE_MAX;
	}
}

static int sweep_create(struct place_sweep *sweep, const struct place_input *input,
                        struct place_segments *segments)
{
	size_t count = segments->run_count + segments->stay_count;
	size_t threads = input->root->topology->thread_count + 1;

	sweep->thread_count = threads;
	sweep->threads = ps__os_calloc(threads, sizeof *sweep->threads);
	sweep->cores = ps__os_calloc(threads, sizeof *sweep->cores);
	sweep->entries = ps__os_calloc(count + 1, sizeof *sweep->entries);
	sweep->holes = ps__os_calloc(input->hole_count + 1, sizeof *sweep->holes);
	sweep->events = ps__os_calloc(2 * (count + input->hole_count) + 1, sizeof *sweep->events);
	if (!sweep->threads || !sweep->cores || !sweep->entries || !sweep->holes || !sweep->events)
		return ps__fail_memory("the tasks that share a place");
	make_threads(sweep, input);
	make_holes(sweep, input);
	name_spots(sweep, segments);
	add_entries(sweep, sweep->threads, segments->stays, segments->stay_count);
	add_entries(sweep, sweep->cores, segments->runs, segments->run_count);
	sweep_add_events(sweep, segments->stays, segments->stay_count, PLACE_STAY);
	sweep_add_events(sweep, segments->runs, segments->run_count, PLACE_RUN);
	sweep_add_events(sweep, sweep->holes, sweep->hole_count, PLACE_HOLE);
	qsort(sweep->events, sweep->event_count, sizeof *sweep->events, compare_events);
	return PS_OK;
}

static void sweep_clear(struct place_sweep *sweep)
{
	ps__os_free(sweep->threads);
	ps__os_free(sweep->cores);
	ps__os_free(sweep->entries);
	ps__os_free(sweep->holes);
	ps__os_free(sweep->events);
}

static int compare_parts(const void *one, const void *other)
{
	const struct place_part *a = one, *b = other;

	if (a->ns != b->ns)
		return place_compare(b->ns, a->ns);
	if (a->component != b->component)
		return a->component->logical_id - b->component->logical_id;
	return place_compare(a->task, b->task);
}

static int add_part(struct place_part **parts, size_t *count, size_t *room, struct place_part part)
{
	if (!PS__VECTOR_GROW(parts, *count, room))
		return ps__fail_memory("the tasks that share a place");
	(*parts)[(*count)++] = part;
	return PS_OK;
}

/* Adds a finding for the spot of entry `entry`, the spot's first one, if the spot was shared. *next
 * gets the index of the next spot's first entry. */
static int add_finding(struct place_sums *sums, const struct place_sweep *sweep, size_t entry,
                       size_t *next)
{
	const struct place_spot *spot = sweep->entries[entry].spot;
	size_t first = sums->member_count;
	int result = PS_OK;

	for (; entry < sweep->entry_count && sweep->entries[entry].spot == spot; entry++) {
		const struct place_entry *member = &sweep->entries[entry];
		struct place_task *task = &sums->tasks[member->task];
		*(spot->is_core ? &task->shared_core_ns : &task->shared_thread_ns) += member->ns;
		struct place_part part = {.task = member->task, .ns = member->ns};
		if (member->ns && result == PS_OK)
			result =
			    add_part(&sums->members, &sums->member_count, &sums->member_room, part);
	}
	*next = entry;
	if (result != PS_OK || spot->clock_ns == 0)
		return result;
	if (!PS__VECTOR_GROW(&sums->findings, sums->finding_count, &sums->finding_room))
		return ps__fail_memory("the places that tasks share");
	sums->findings[sums->finding_count++] =
	    (struct place_finding){.component = spot->component,
	                           .ns = spot->clock_ns,
	                           .first_member = first,
	                           .member_count = sums->member_count - first};
	qsort(&sums->members[first], sums->member_count - first, sizeof *sums->members,
	      compare_parts);
	return PS_OK;
}

static int compare_findings(const void *one, const void *other)
{
	const struct place_finding *a = one, *b = other;

	if (a->ns != b->ns)
		return place_compare(b->ns, a->ns);
	if (a->component->type != b->component->type)
		return a->component->type < b->component->type ? -1 : 1;
	return a->component->logical_id - b->component->logical_id;
}

/* Sweeps once more, to find the spots that were idle while the finding's spot was shared. */
static int add_idles(struct place_sums *sums, struct place_sweep *sweep,
                     struct place_finding *finding)
{
	bool is_core = finding->component->type == PS_COMPONENT_CORE;
	struct place_spot *spots = is_core ? sweep->cores : sweep->threads;
	size_t count = is_core ? sweep->core_count : sweep->thread_count;
	const struct place_spot *watched = spots;
	int result = PS_OK;

	while (watched->component != finding->component)
		watched++;
	place_sweep_run(sweep, watched);
	finding->has_idle = true;
	finding->first_idle = sums->idle_count;
	for (size_t i = 0; result == PS_OK && i < count; i++) {
		struct place_part part = {.component = spots[i].component, .ns = spots[i].idle_ns};
		if (part.ns)
			result = add_part(&sums->idles, &sums->idle_count, &sums->idle_room, part);
	}
	finding->idle_count = sums->idle_count - finding->first_idle;
	if (finding->idle_count)
		qsort(&sums->idles[finding->first_idle], finding->idle_count, sizeof *sums->idles,
		      compare_parts);
	return result;
}

static int add_findings(struct place_sums *sums, struct place_sweep *sweep)
{
	int result = PS_OK;

	place_sweep_run(sweep, NULL);
	for (size_t entry = 0; result == PS_OK && entry < sweep->entry_count;)
		result = add_finding(sums, sweep, entry, &entry);
	if (sums->finding_count)
		qsort(sums->findings, sums->finding_count, sizeof *sums->findings,
		      compare_findings);
	for (size_t i = 0; result == PS_OK && i < sums->finding_count && i < PLACE_MOST_IDLE; i++)
		result = add_idles(sums, sweep, &sums->findings[i]);
	return result;
}

int place_sharing_find(struct place_sums *sums, const struct place_input *input,
                       struct place_segments *segments)
{
	struct place_sweep sweep = {0};
	int result = sweep_create(&sweep, input, segments);

	if (result == PS_OK)
		result = add_findings(sums, &sweep);
	sweep_clear(&sweep);
	return result;
}
