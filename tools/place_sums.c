/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up a program's spans by task and hardware thread. */
#include "tools/place_sums.h"

#include "base/error.h"
#include "base/os.h"
#include "topology/tree.h"

#include <stdlib.h>

static int compare_spans(const void *one, const void *other)
{
	const struct place_span *a = one, *b = other;

	return a->task != b->task ? place_compare(a->task, b->task)
	                          : place_compare(a->begin_ns, b->begin_ns);
}

static size_t thread_index(const struct place_input *input, int cpu)
{
	const struct ps_topology *topology = input->root->topology;

	return (size_t)(ps__topology_thread(topology, cpu) - topology->threads);
}

static const struct ps_component *node_of(const struct place_input *input, size_t thread)
{
	return ps_component_ancestor(input->root->topology->threads[thread].component,
	                             PS_COMPONENT_NUMA, 1);
}

/* Counts a migration between two consecutive stays of a task. */
static void note_move(const struct place_input *input, struct place_task *task,
                      const struct place_segment *from, const struct place_segment *to)
{
	size_t unknown = input->root->topology->thread_count;

	if (from->cpu == to->cpu)
		return;
	task->moves++;
	if (from->thread != unknown && to->thread != unknown &&
	    node_of(input, from->thread) != node_of(input, to->thread))
		task->leaves++;
}

/* Adds a stay, or extends the last one: a task that runs, waits and runs again on one hardware
 * thread stays there all the time. */
static void add_stay(struct place_segments *segments, const struct place_segment *stay)
{
	struct place_segment *last =
	    segments->stay_count ? &segments->stays[segments->stay_count - 1] : NULL;

	if (last && last->task == stay->task && last->thread == stay->thread &&
	    last->end_ns == stay->begin_ns)
		last->end_ns = stay->end_ns;
	else
		segments->stays[segments->stay_count++] = *stay;
}

/* spans: sorted by task, then by time. */
static void add_segments(struct place_sums *sums, const struct place_input *input,
                         const struct place_span *spans, struct place_segments *segments)
{
	for (size_t i = 0; i < input->span_count; i++) {
		const struct place_span *span = &spans[i];
		struct place_task *task = &sums->tasks[span->task];
		struct place_segment part = {.begin_ns = span->begin_ns,
		                             .end_ns = span->end_ns,
		                             .thread = thread_index(input, span->cpu),
		                             .cpu = span->cpu,
		                             .task = span->task};
		if (part.end_ns <= part.begin_ns)
			continue;
		add_stay(segments, &part);
		if (span->waits) {
			task->wait_ns += part.end_ns - part.begin_ns;
			continue;
		}
		const struct place_segment *before =
		    segments->run_count ? &segments->runs[segments->run_count - 1] : NULL;
		if (before && before->task == part.task)
			note_move(input, task, before, &part);
		task->run_ns += part.end_ns - part.begin_ns;
		segments->runs[segments->run_count++] = part;
	}
}

static int sums_compare_numbers(int one, int other)
{
	return (one > other) - (one < other);
}

static int compare_task_threads(const void *one, const void *other)
{
	const struct place_segment *a = one, *b = other;

	if (a->task != b->task)
		return place_compare(a->task, b->task);
	return a->thread != b->thread ? place_compare(a->thread, b->thread)
	                              : sums_compare_numbers(a->cpu, b->cpu);
}

static int compare_shares(const void *one, const void *other)
{
	const struct place_share *a = one, *b = other;

	if (a->run_ns != b->run_ns)
		return place_compare(b->run_ns, a->run_ns);
	return a->thread != b->thread ? (a->thread > b->thread ? 1 : -1)
	                              : sums_compare_numbers(a->cpu, b->cpu);
}

/* Adds up the run times. Sorts runs by task and hardware thread. */
static void add_shares(struct place_sums *sums, const struct place_input *input,
                       struct place_segments *segments)
{
	const struct place_segment *runs = segments->runs;

	if (segments->run_count)
		qsort(segments->runs, segments->run_count, sizeof *runs, compare_task_threads);
	for (size_t i = 0; i < segments->run_count; i++) {
		struct place_task *task = &sums->tasks[runs[i].task];
		if (i == 0 || compare_task_threads(&runs[i - 1], &runs[i]) != 0) {
			if (task->share_count++ == 0)
				task->first_share = sums->share_count;
			sums->shares[sums->share_count++] = (struct place_share){
			    .thread = &input->root->topology->threads[runs[i].thread],
			    .cpu = runs[i].cpu};
		}
		sums->shares[sums->share_count - 1].run_ns += runs[i].end_ns - runs[i].begin_ns;
	}
	for (size_t i = 0; i < sums->task_count; i++)
		qsort(&sums->shares[sums->tasks[i].first_share], sums->tasks[i].share_count,
		      sizeof *sums->shares, compare_shares);
}

static bool sums_make_room(struct place_sums *sums, const struct place_input *input,
                           struct place_segments *segments)
{
	sums->tasks = ps__os_calloc(input->task_count + 1, sizeof *sums->tasks);
	sums->shares = ps__os_calloc(input->span_count + 1, sizeof *sums->shares);
	segments->runs = ps__os_calloc(input->span_count + 1, sizeof *segments->runs);
	segments->stays = ps__os_calloc(input->span_count + 1, sizeof *segments->stays);
	return sums->tasks && sums->shares && segments->runs && segments->stays;
}

static int sums_fill(struct place_sums *sums, const struct place_input *input,
                     struct place_span *spans, struct place_segments *segments)
{
	if (!spans || !sums_make_room(sums, input, segments))
		return ps__fail_memory("the placement of tasks");
	for (size_t i = 0; i < input->span_count; i++)
		spans[i] = input->spans[i];
	qsort(spans, input->span_count, sizeof *spans, compare_spans);
	sums->task_count = input->task_count;
	add_segments(sums, input, spans, segments);
	add_shares(sums, input, segments);
	return place_sharing_find(sums, input, segments);
}

int place_sums_create(struct place_sums *out, const struct place_input *input)
{
	struct place_sums sums = {0};
	struct place_segments segments = {0};
	struct place_span *spans = ps__os_calloc(input->span_count + 1, sizeof *spans);

	int result = sums_fill(&sums, input, spans, &segments);
	ps__os_free(segments.runs);
	ps__os_free(segments.stays);
	ps__os_free(spans);
	if (result != PS_OK) {
		place_sums_clear(&sums);
		return result;
	}
	*out = sums;
	return PS_OK;
}

void place_sums_clear(struct place_sums *sums)
{
	ps__os_free(sums->tasks);
	ps__os_free(sums->shares);
	ps__os_free(sums->findings);
	ps__os_free(sums->members);
	ps__os_free(sums->idles);
	*sums = (struct place_sums){.tasks = NULL};
}
