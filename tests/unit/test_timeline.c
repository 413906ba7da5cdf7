/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of perfsage timeline: by hardware thread and task, migrations, and the longest waits. */
#include "support/scene.h"
#include "tools/timeline.h"

#include <errno.h>

#define WAITS 3

static struct timeline_sums sums;
static struct tool_task tasks[2] = {{.index = 0}, {.index = 1}};

static void setup(void)
{
	scene_setup();
	check_ok(timeline_sums_create(&sums, WAITS));
}

static void teardown(void)
{
	timeline_sums_clear(&sums);
	scene_teardown();
}

static int on(size_t task, int cpu, int from_cpu, uint64_t begin_ns, uint64_t end_ns)
{
	const struct tool_span span = {.task = &tasks[task],
	                               .kind = TOOL_SPAN_ON,
	                               .begin_ns = begin_ns,
	                               .end_ns = end_ns,
	                               .cpu = cpu,
	                               .from_cpu = from_cpu};

	return timeline_sums_add(&sums, &span);
}

static int off(size_t task, enum tool_span_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
	const struct tool_span span = {.task = &tasks[task],
	                               .kind = kind,
	                               .begin_ns = begin_ns,
	                               .end_ns = end_ns,
	                               .cpu = -1,
	                               .from_cpu = -1};

	return timeline_sums_add(&sums, &span);
}

START_TEST(hardware_threads_have_the_times_of_their_tasks)
{
	const struct tool_hole hole = {.cpu = 1, .begin_ns = 50, .end_ns = 57};

	check_ok(on(0, 3, -1, 0, 10));
	check_ok(on(1, 1, -1, 0, 20));
	check_ok(on(0, 1, 3, 30, 35));
	check_ok(on(0, 1, -1, 40, 41));
	check_ok(timeline_sums_add_hole(&sums, &hole));
	ck_assert_uint_eq(sums.cpu_count, 2);
	ck_assert_int_eq(sums.cpus[0].cpu, 1);
	ck_assert_uint_eq(sums.cpus[0].on_ns, 26);
	ck_assert_uint_eq(sums.cpus[0].tasks, 2);
	ck_assert_uint_eq(sums.cpus[0].slices, 3);
	ck_assert_uint_eq(sums.cpus[0].unknown_ns, 7);
	ck_assert_uint_eq(sums.cpus[1].on_ns, 10);
	ck_assert_uint_eq(sums.slices, 4);
	ck_assert_uint_eq(sums.tasks[0].part_count, 2);
	ck_assert_uint_eq(sums.tasks[0].parts[1].on_ns, 6);
}
END_TEST

START_TEST(migrations_are_counted_by_pair_and_the_most_frequent_come_first)
{
	for (unsigned round = 0; round < 5; round++)
		check_ok(on(0, (int)(round % 3), (int)(round + 2) % 3, round, round + 1));
	check_ok(on(0, 1, 7, 8, 9));
	timeline_sums_close(&sums);
	ck_assert_uint_eq(sums.move_count, 4);
	ck_assert(sums.moves[0].from == 0 && sums.moves[0].to == 1 && sums.moves[0].count == 2);
	ck_assert(sums.moves[1].from == 2 && sums.moves[1].to == 0 && sums.moves[1].count == 2);
	ck_assert(sums.moves[2].from == 1 && sums.moves[2].count == 1);
	ck_assert_int_eq(sums.moves[3].from, 7);
}
END_TEST

static void check_wait(size_t at, size_t task, enum tool_span_kind kind, uint64_t begin_ns,
                       uint64_t end_ns, int from_cpu, int to_cpu)
{
	const struct timeline_wait *wait = &sums.waits[at];

	ck_assert_uint_eq(wait->task, task);
	ck_assert_int_eq(wait->kind, kind);
	ck_assert_uint_eq(wait->begin_ns, begin_ns);
	ck_assert_uint_eq(wait->end_ns, end_ns);
	ck_assert_int_eq(wait->from_cpu, from_cpu);
	ck_assert_int_eq(wait->to_cpu, to_cpu);
}

START_TEST(the_longest_waits_are_kept)
{
	check_ok(on(0, 0, -1, 0, 10));
	check_ok(off(0, TOOL_SPAN_WAITING, 10, 15));
	check_ok(on(0, 1, 0, 15, 20));
	check_ok(off(1, TOOL_SPAN_RUNNABLE, 0, 3));
	check_ok(on(1, 0, -1, 3, 10));
	check_ok(off(1, TOOL_SPAN_WAITING, 10, 20)); /* with the next one it is one wait */
	check_ok(off(1, TOOL_SPAN_OFF, 20, 30));
	check_ok(off(1, TOOL_SPAN_UNKNOWN, 30, 90)); /* that is none, and ends one */
	check_ok(on(1, 0, -1, 90, 91));
	check_ok(off(1, TOOL_SPAN_WAITING, 91, 92));
	check_ok(on(1, 0, -1, 92, 93));
	check_ok(off(0, TOOL_SPAN_WAITING, 20, 27)); /* goes on at the end */
	timeline_sums_close(&sums);
	ck_assert_uint_eq(sums.wait_count, WAITS);
	check_wait(0, 1, TOOL_SPAN_OFF, 10, 30, 0, -1);
	check_wait(1, 0, TOOL_SPAN_WAITING, 20, 27, 1, -1);
	check_wait(2, 0, TOOL_SPAN_WAITING, 10, 15, 0, 1);
	ck_assert_uint_eq(sums.tasks[1].longest.end_ns, 30);
}
END_TEST

/* Far more than are kept, in an order in which the longest come anywhere. */
START_TEST(the_longest_of_many_waits_are_kept)
{
	uint64_t now = 0;

	for (uint64_t i = 0; i < 101; i++) {
		uint64_t length = 1 + 37 * i % 101;
		check_ok(on(0, 0, -1, now, now + 1));
		check_ok(off(0, TOOL_SPAN_WAITING, now + 1, now + 1 + length));
		now += 1 + length;
	}
	timeline_sums_close(&sums);
	ck_assert_uint_eq(sums.wait_count, WAITS);
	for (uint64_t i = 0; i < WAITS; i++)
		ck_assert_uint_eq(sums.waits[i].end_ns - sums.waits[i].begin_ns, 101 - i);
}
END_TEST

static int add_all(void)
{
	const struct tool_hole hole = {.cpu = 9, .end_ns = 1};
	int result = PS_OK;

	for (int cpu = 0; result == PS_OK && cpu < 6; cpu++)
		result = on(1, cpu, cpu ? cpu - 1 : -1, (uint64_t)cpu, (uint64_t)cpu + 1);
	return result == PS_OK ? timeline_sums_add_hole(&sums, &hole) : result;
}

START_TEST(a_lack_of_memory_is_told)
{
	int result = PS_ENOMEM;
	unsigned nth = 1;

	for (; result != PS_OK; nth++) {
		timeline_sums_clear(&sums);
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		result = timeline_sums_create(&sums, WAITS);
		if (result == PS_OK)
			result = add_all();
		ck_assert(result == PS_OK || result == PS_ENOMEM);
		ck_assert_uint_lt(nth, 100);
	}
	ck_assert_uint_gt(nth, 5);
	fake_fail(FAKE_ALLOCATE, 0, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("timeline");
	TCase *tests = scene_case_of(suite, "sums", setup, teardown);

	tcase_add_test(tests, hardware_threads_have_the_times_of_their_tasks);
	tcase_add_test(tests, migrations_are_counted_by_pair_and_the_most_frequent_come_first);
	tcase_add_test(tests, the_longest_waits_are_kept);
	tcase_add_test(tests, the_longest_of_many_waits_are_kept);
	tcase_add_test(tests, a_lack_of_memory_is_told);
	return scene_run(suite);
}
