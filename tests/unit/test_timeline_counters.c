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
	timeline.counters->cpus[1].from_ns = 0;
	timeline.counters->cpus[1].until_ns = UINT64_MAX;
}

/* A task leaves CPU 1 when its counter has this value, after these times. */
static void switches_after(uint64_t time, uint32_t tid, uint64_t enabled, uint64_t running,
                           uint64_t value)
{
	const uint64_t words[] = {(uint64_t)tid << 32 | tid, time, 2, enabled, running, 1, value};
	int fd = ps_sampler_fd(timeline.counters->cpus[1].sampler);

	ck_assert(fake_put_record(fd, PERF_RECORD_SAMPLE, 0, words, 7));
}

static void switches(uint64_t time, uint32_t tid, uint64_t value)
{
	switches_after(time, tid, 0, 0, value);
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

static bool is_known(uint64_t begin_ns)
{
	const struct tool_span span = {
	    .kind = TOOL_SPAN_ON, .cpu = 1, .begin_ns = begin_ns, .end_ns = begin_ns + 100};

	return timeline_knows(&timeline, &events[0], &span);
}

/* The group is on the hardware at 0-150 and 250-400, so the switch at 200 writes no sample. */
START_TEST(what_is_counted_while_the_group_waits_is_of_no_task)
{
	begin();
	in(100, 11, 1);
	waits(200, 11, 1);
	in(200, 12, 1);
	waits(300, 12, 1);
	in(300, 11, 1);
	waits(400, 11, 1);
	switches_after(99, 0, 99, 99, 99);
	switches_after(299, 12, 299, 199, 199);
	switches_after(399, 11, 399, 299, 299);
	timeline_counters_read(&timeline);
	ck_assert(is_known(0) && !is_known(100) && !is_known(200) && is_known(300));
	end("11 off 0-100; 11 on1 100-200; 12 off 0-200; 12 on1 200-300; 11 waits 200-300; "
	    "11 on1+100 300-400; 11 waits 400-1000; 12 waits 300-1000; ");
}
END_TEST

/* Also of a task that was there before the counters were started. */
START_TEST(the_first_wait_reaches_back_to_the_begin)
{
	begin();
	switches_after(timeline.counters->cpus[1].time_ns + 100, 11, 100, 50, 50);
	timeline_counters_read(&timeline);
	ck_assert(!is_known(0) && !is_known(timeline.counters->cpus[1].time_ns - 1));
	ck_assert(is_known(timeline.counters->cpus[1].time_ns));
	end("");
}
END_TEST

START_TEST(a_damaged_sample_hides_the_counts_up_to_the_next_one)
{
	const uint64_t word = 0;

	begin();
	switches_after(99, 0, 99, 99, 99);
	ck_assert(fake_put_record(ps_sampler_fd(timeline.counters->cpus[1].sampler),
	                          PERF_RECORD_SAMPLE, 0, &word, 1));
	switches_after(299, 12, 299, 299, 299);
	timeline_counters_read(&timeline);
	ck_assert(is_known(0) && !is_known(100) && !is_known(200) && is_known(300));
	timeline_counters_close(&timeline);
	ck_assert_uint_eq(timeline.losses.damaged, 1);
	timeline_counters_clear(&timeline);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timeline_counters");
	TCase *tests = scene_case_of(suite, "timeline_counters", setup, teardown);

	tcase_add_test(tests, an_ended_task_has_its_tail);
	tcase_add_test(tests, an_ended_task_that_counted_nothing_has_no_other_tasks_count);
	tcase_add_test(tests, what_is_counted_while_the_group_waits_is_of_no_task);
	tcase_add_test(tests, the_first_wait_reaches_back_to_the_begin);
	tcase_add_test(tests, a_damaged_sample_hides_the_counts_up_to_the_next_one);
	return scene_run(suite);
}
