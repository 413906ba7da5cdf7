/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place's sweep for what is shared, beside a look at each microsecond; on up to 512
 * hardware threads. */
#include "support/small.h"
#include "test_place.h"

#include <stdlib.h>

/*
 * 512 hardware threads, random slices: each sum again by looking at each microsecond. Tasks take
 * turns on few CPUs, so that there is much to be found.
 */
#define TASKS 24
#define CPUS  512
#define STEPS 400

struct model {
	int runs[TASKS], waits[TASKS]; /* the CPU; -1: none */
};

static size_t count_on(const int *places, int cpu)
{
	size_t count = 0;

	for (size_t i = 0; i < TASKS; i++)
		count += places[i] == cpu;
	return count;
}

/* Fills slices of whole microseconds, one after the other for each task, and what each task does
 * in each of them. */
static size_t make_slices(struct slice *slices, struct model *model, int cpus)
{
	size_t count = 0;

	for (uint32_t task = 0; task < TASKS; task++) {
		unsigned at = (unsigned)rand() % 10;
		int waits_on = -1;
		while (at < STEPS) {
			unsigned end = at + 1 + (unsigned)rand() % 30;
			unsigned next = end + (unsigned)rand() % 20;
			int cpu = rand() % cpus, why = rand() % 3;
			slices[count++] = (struct slice){.tid = FIRST_TID + task,
			                                 .cpu = cpu,
			                                 .end = (enum end)why,
			                                 .begin_ns = at * 1000u,
			                                 .end_ns = end * 1000u};
			waits_on = why == END_PREEMPTED ? cpu : -1;
			for (unsigned us = at; us < end; us++)
				model[us].runs[task] = cpu;
			/* A last wait ends nowhere: it isn't known to be one. */
			for (unsigned us = end; next < STEPS && us < next; us++)
				model[us].waits[task] = waits_on;
			at = next;
		}
	}
	return count;
}

static bool is_idle(const struct model *model, int cpu)
{
	return !count_on(model->runs, cpu) && !count_on(model->waits, cpu);
}

/* Tells for how long a hardware thread was shared while `other` was idle; -1: while any was. */
static uint64_t model_thread(const struct model *model, int cpu, int other, int cpus)
{
	uint64_t us = 0;

	for (unsigned at = 0; at < STEPS + 60; at++) {
		bool is_any = false;
		for (int i = other < 0 ? 0 : other; i <= (other < 0 ? cpus - 1 : other); i++)
			is_any |= is_idle(&model[at], i);
		us += is_any && count_on(model[at].runs, cpu) + count_on(model[at].waits, cpu) >= 2;
	}
	return us;
}

/* The same of cores. */
static uint64_t model_core(const struct model *model, int core, int other, int cores)
{
	uint64_t us = 0;

	for (unsigned at = 0; at < STEPS + 60; at++) {
		bool is_any = false;
		for (int i = other < 0 ? 0 : other; i <= (other < 0 ? cores - 1 : other); i++)
			is_any |= is_idle(&model[at], 2 * i) && is_idle(&model[at], 2 * i + 1);
		us += is_any && count_on(model[at].runs, 2 * core) &&
		      count_on(model[at].runs, 2 * core + 1);
	}
	return us;
}

static void check_idles(const struct model *model, const struct place_finding *finding)
{
	int id = ps_component_logical_id(finding->component);

	for (size_t i = 0; i < finding->idle_count; i++) {
		const struct place_part *part = &sums.idles[finding->first_idle + i];
		int other = ps_component_logical_id(part->component);
		bool is_core = ps_component_type(finding->component) == PS_COMPONENT_CORE;
		ck_assert_uint_eq(part->ns, 1000 * (is_core ? model_core(model, id, other, 0)
		                                            : model_thread(model, id, other, 0)));
	}
	ck_assert(finding->idle_count > 0 || !finding->has_idle);
}

static void check_random(const char *tree, int cpus, int used)
{
	struct model *model = calloc(STEPS + 60, sizeof *model);
	struct slice *slices = calloc((size_t)TASKS * STEPS, sizeof *slices);

	ck_assert(model && slices);
	for (size_t at = 0; at < STEPS + 60; at++) {
		for (size_t task = 0; task < TASKS; task++)
			model[at].runs[task] = model[at].waits[task] = -1;
	}
	sum_up(tree, slices, make_slices(slices, model, used));
	for (int cpu = 0; cpu < used; cpu++) {
		const struct place_finding *thread = finding_of(PS_COMPONENT_THREAD, cpu);
		const struct place_finding *core = finding_of(PS_COMPONENT_CORE, cpu / 2);
		ck_assert_uint_eq(thread ? thread->ns : 0,
		                  model_thread(model, cpu, -1, cpus) * 1000);
		ck_assert_uint_eq(core ? core->ns : 0,
		                  model_core(model, cpu / 2, -1, cpus / 2) * 1000);
	}
	for (size_t i = 0; i < sums.finding_count; i++)
		check_idles(model, &sums.findings[i]);
	clear();
	free(model);
	free(slices);
}

START_TEST(a_sweep_finds_what_a_look_at_each_microsecond_finds)
{
	srand(1);
	check_random("core:1 pu:2", 2, 2);
	check_random("pack:2 [numa] core:2 pu:2", 8, 8);
	check_random("pack:4 [numa] core:4 pu:2", 32, 32);
	if (ps_test_serial_size(1, 0))
		check_random("pack:4 [numa] l3:4 core:16 pu:2", CPUS, 16);
}
END_TEST

START_TEST(the_parts_of_a_finding_are_within_it)
{
	struct slice slices[64];

	/* 32 tasks in pairs on 16 CPUs of 512: more findings than tell what was idle. */
	for (uint32_t i = 0; i < 64; i++)
		slices[i] = (struct slice){.tid = FIRST_TID + i / 2,
		                           .cpu = (int)(i / 4) * 2,
		                           .end = i % 2 ? END_EXITED : END_PREEMPTED,
		                           .begin_ns = i % 2 * 200 + i / 2 % 2 * 100,
		                           .end_ns = i % 2 * 200 + i / 2 % 2 * 100 + 100};
	slices[63].cpu = 40; /* its task goes elsewhere after a wait */
	sum_up("pack:4 [numa] l3:4 core:16 pu:2", slices, 64);
	ck_assert_uint_eq(sums.finding_count, 16);
	for (size_t i = 0; i < sums.finding_count; i++) {
		const struct place_finding *finding = &sums.findings[i];
		ck_assert_int_eq(finding->has_idle, i < PLACE_MOST_IDLE);
		ck_assert(i == 0 || finding->ns <= sums.findings[i - 1].ns);
		ck_assert_uint_eq(finding->ns, 200);
		ck_assert_uint_eq(finding->member_count, 2);
		ck_assert_uint_eq(finding->idle_count, finding->has_idle ? CPUS - 16 : 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("place_sweep");
	TCase *tests = scene_case_of(suite, "place_sweep", setup, teardown);

	tcase_add_test(tests, a_sweep_finds_what_a_look_at_each_microsecond_finds);
	tcase_add_test(tests, the_parts_of_a_finding_are_within_it);
	return scene_run(suite);
}
