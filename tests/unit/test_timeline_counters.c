/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage timeline reads counters at each switch of a CPU: whose count is that? */
#include "test_slices.h"

#include "sample/session.h"
#include "tools/timeline_counters.h"

#define NO_TASK UINT32_MAX /* the kernel has taken the number of the task that leaves */

static int cpu_numbers[] = {0, 1};
static struct ps_session session = {.lists = {.cpus = cpu_numbers, .cpu_count = 2}};
static struct timeline_event events[1];
static struct timeline timeline;

static void begin(void)
{
	struct ps_attr *attr = NULL;

	check_ok(ps_attr_create(&attr, "cpu-clock"));
	events[0] = (struct timeline_event){.name = "cpu-clock", .counter = attr};
	timeline = (struct timeline){.options = {.ring_kib = 16},
	                             .session = &session,
	                             .slices = slices,
	                             .events = events,
	                             .event_count = 1};
	ck_assert_int_eq(timeline_counters_open(&timeline), 0);
	ck_assert_int_eq(timeline_counters_start(&timeline), 0);
	ck_assert(events[0].is_counted && events[0].is_counter);
}

/* A task leaves CPU 1 when its counter has this value. */
static void switches(uint64_t time, uint32_t tid, uint64_t value)
{
	const uint64_t words[] = {(uint64_t)tid << 32 | tid, time, 2, 0, 0, 1, value};
	int fd = ps_sampler_fd(timeline.counters->cpus[1].sampler);

	ck_assert(fake_put_record(fd, PERF_RECORD_SAMPLE, 0, words, 7));
}

static void end(const char *expected)
{
	timeline_counters_read(&timeline);
	ck_assert_uint_eq(ps_sampler_damaged(timeline.counters->cpus[1].sampler), 0);
	check_spans(expected);
	timeline_counters_clear(&timeline);
}

START_TEST(an_ended_task_has_its_tail)
{
	begin();
	in(100, 11, 1);
	exits(200, 11, 1);
	switches(90, 0, 30);
	switches(203, NO_TASK, 37);
	switches(300, 0, 937);
	end("11 off 0-100; 11 on1+7 100-200.; ");
}
END_TEST

/* Else the first count behind its end would be another's. */
START_TEST(an_ended_task_that_counted_nothing_has_no_other_tasks_count)
{
	begin();
	in(100, 11, 1);
	exits(200, 11, 1);
	switches(90, 0, 30);
	switches(203, NO_TASK, 30);
	switches(300, 0, 930);
	end("11 off 0-100; 11 on1 100-200.; ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timeline_counters");
	TCase *tests = scene_case_of(suite, "timeline_counters", setup, teardown);

	tcase_add_test(tests, an_ended_task_has_its_tail);
	tcase_add_test(tests, an_ended_task_that_counted_nothing_has_no_other_tasks_count);
	return scene_run(suite);
}
