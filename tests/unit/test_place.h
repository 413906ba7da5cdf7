/* SPDX-License-Identifier: BSD-3-Clause */
/* For the suites of perfsage place's sums: times of tasks by hand, on synthetic trees. */
#ifndef PS_TESTS_TEST_PLACE_H
#define PS_TESTS_TEST_PLACE_H

#include "support/fixture.h"
#include "tools/place_sums.h"

/* A tree and its sums. */
static struct ps_topology *topology;
static struct tool_cpus allowed;
static struct place_sums sums;

static inline void setup(void)
{
	scene_setup();
}

static inline void clear(void)
{
	place_sums_clear(&sums);
	tool_cpus_clear(&allowed);
	ps_topology_destroy(topology);
	topology = NULL;
}

static inline void teardown(void)
{
	clear();
	scene_teardown();
}

/* A task's time on a CPU ends in one of these ways. */
enum end {
	END_UNKNOWN,
	END_PREEMPTED, /* it waits for its turn until it runs again */
	END_WAITS,
	END_EXITED
};

struct slice {
	uint32_t tid; /* 11 is the first task, and so on */
	int cpu;
	enum end end;
	uint64_t begin_ns, end_ns;
};

#define FIRST_TID  11u
#define MOST_SPANS 20000

static struct place_span spans[MOST_SPANS];

/* When the task runs next; 0: never. */
static inline uint64_t next_ns(const struct slice *slices, size_t count, const struct slice *slice)
{
	uint64_t next = 0;

	for (size_t i = 0; i < count; i++) {
		if (slices[i].tid == slice->tid && slices[i].begin_ns >= slice->end_ns &&
		    (!next || slices[i].begin_ns < next))
			next = slices[i].begin_ns;
	}
	return next;
}

static inline struct place_input input_of(const char *tree, const struct slice *slices,
                                          size_t count)
{
	topology = fixture_synthetic(tree);
	struct ps_component *root = ps_topology_root(topology);
	struct place_input input = {.root = root, .spans = spans, .allowed = &allowed};

	for (size_t i = 0; i < ps_component_thread_count(root); i++)
		check_ok(tool_cpus_add(&allowed, ps_thread_cpu(ps_component_thread_at(root, i))));
	for (size_t i = 0; i < count; i++) {
		struct place_span span = {.task = slices[i].tid - FIRST_TID,
		                          .cpu = slices[i].cpu,
		                          .begin_ns = slices[i].begin_ns,
		                          .end_ns = slices[i].end_ns};
		uint64_t next = next_ns(slices, count, &slices[i]);
		ck_assert_uint_lt(input.span_count + 2, MOST_SPANS);
		spans[input.span_count++] = span;
		if (span.task >= input.task_count)
			input.task_count = span.task + 1;
		if (slices[i].end != END_PREEMPTED || !next)
			continue;
		span.waits = true;
		span.begin_ns = span.end_ns;
		span.end_ns = next;
		spans[input.span_count++] = span;
	}
	return input;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static inline void sum_up(const char *tree, const struct slice *slices, size_t count)
{
	struct place_input input = input_of(tree, slices, count);

	check_ok(place_sums_create(&sums, &input));
}

/* Times of these slices are in microseconds, for the eye. */
#define SLICE(task, on, why, from, to)                                                  \
	{                                                                               \
		.tid = (task), .cpu = (on), .end = END_##why, .begin_ns = (from)*1000u, \
		.end_ns = (to)*1000u                                                    \
	}

static inline void check_share(const struct place_task *task, size_t index, int cpu, uint64_t us)
{
	const struct place_share *share = &sums.shares[task->first_share + index];

	ck_assert_uint_lt(index, task->share_count);
	ck_assert_int_eq(ps_thread_cpu(share->thread), cpu);
	ck_assert_uint_eq(share->run_ns, us * 1000);
}

static inline const struct place_finding *finding_of(enum ps_component_type type, int logical_id)
{
	for (size_t i = 0; i < sums.finding_count; i++) {
		const struct ps_component *component = sums.findings[i].component;
		if (ps_component_type(component) == type &&
		    ps_component_logical_id(component) == logical_id)
			return &sums.findings[i];
	}
	return NULL;
}

static inline void check_member(const struct place_finding *finding, size_t index, uint32_t tid,
                                uint64_t us)
{
	ck_assert_uint_lt(index, finding->member_count);
	const struct place_part *part = &sums.members[finding->first_member + index];
	ck_assert_uint_eq(part->task + FIRST_TID, tid);
	ck_assert_uint_eq(part->ns, us * 1000);
}

static inline void check_idle(const struct place_finding *finding, size_t index, int logical_id,
                              uint64_t us)
{
	ck_assert(finding->has_idle);
	ck_assert_uint_lt(index, finding->idle_count);
	const struct place_part *part = &sums.idles[finding->first_idle + index];
	ck_assert_int_eq(ps_component_logical_id(part->component), logical_id);
	ck_assert_int_eq((int)ps_component_type(part->component),
	                 (int)ps_component_type(finding->component));
	ck_assert_uint_eq(part->ns, us * 1000);
}

#endif
