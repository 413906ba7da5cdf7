/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the parts of a reading go, how they are labelled, and that they always sum up to what the
 * kernel counted: with per-CPU counters, migration records, last-cpu and a task bound to one CPU.
 * test_exact.c has what must hold for any method that splits a thread's counts; each other method
 * has a suite of its own.
 */
#include "support/scene.h"
#include "support/unmarked.h"

#include <errno.h>

#define EVENT "page-faults"

/* What the parts of a task that may run anywhere are labelled with. */
static int free_label(void)
{
	return scene.mode == PS_ATTRIBUTE_LAST_CPU ? PS_ATTRIBUTION_LAST_CPU : PS_ATTRIBUTION_EXACT;
}

START_TEST(the_count_since_the_last_reading_goes_to_the_cpu_seen_and_earlier_parts_stay)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 0);
	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 20);
	check_ok(ps_read(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 1);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 1000);
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 20);
	ck_assert_int_eq(scene_total(EVENT).value, 1020);
	ck_assert_int_eq((int)scene_part(0, EVENT, timestamp).attribution, free_label());
	ck_assert_int_eq((int)scene_part(1, EVENT, timestamp).attribution, free_label());
	fake_set_cpu(0);
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 0);
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 1003);
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 20);
	ck_assert_uint_eq(scene_part(0, EVENT, 0).timestamp, scene_part(1, EVENT, 0).timestamp);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_new_reading_has_all_parts_since_the_start)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t times[3] = {0, 0, 0};

	for (int i = 0; i < 3; i++) {
		fake_set_cpu(i);
		fake_advance(PAGE_FAULTS, 10 * (uint64_t)(i + 1));
		check_ok(ps_read(set, scene.root, &times[i], NULL));
	}
	ck_assert_int_eq(scene_sum(EVENT, times[0]), 10);
	ck_assert_int_eq(scene_sum(EVENT, times[1]), 30);
	ck_assert_int_eq(scene_sum(EVENT, times[2]), 60);
	ck_assert_int_eq(scene_count(0, EVENT, times[2]), 10);
	ck_assert_int_eq(scene_count(1, EVENT, times[2]), 20);
	ck_assert_int_eq(scene_count(2, EVENT, times[2]), 30);
	fake_advance(PAGE_FAULTS, 4);
	check_ok(ps_read(set, scene.root, &times[0], NULL));
	ck_assert_int_eq(scene_sum(EVENT, times[0]), 64);
	ck_assert_int_eq(scene_count(2, EVENT, times[0]), 34);
	ck_assert_int_eq(scene_sum(EVENT, times[1]), 30);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(accum_moves_the_parts_of_all_cpus_into_the_base)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0, second = 0;

	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_accum(set, scene.root, &first, NULL));
	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 20);
	check_ok(ps_accum(set, scene.root, &first, NULL));
	fake_set_cpu(2);
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_accum(set, scene.root, &second, NULL));
	fake_set_cpu(0);
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, first), 101);
	ck_assert_int_eq(scene_count(1, EVENT, first), 20);
	ck_assert_int_eq(scene_sum(EVENT, first), 121);
	ck_assert_int_eq(scene_count(2, EVENT, second), 7);
	ck_assert_int_eq(scene_sum(EVENT, second), 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(whatever_the_sequence_of_calls_the_sums_are_what_was_counted)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	unsigned random = 12345;
	int away = scene.mode == PS_ATTRIBUTE_LAST_CPU
	               ? 40
	               : 0; /* CPUs that neither the kernel nor the tree has */
	long long since_start = 0, bases[20] = {0}, values[20] = {0};
	uint64_t times[20] = {0};

	for (int step = 0; step < 3000; step++) {
		random = random * 1103515245u + 12345u;
		size_t reading = random >> 8 & 15;
		uint64_t amount = random >> 16 & 63;

		if ((random >> 12 & 3) == 0)
			fake_set_cpu((int)(random >> 24 & 3) + (random >> 30 == 3 ? away : 0));
		fake_advance(PAGE_FAULTS, amount);
		since_start += (long long)amount;
		if (random >> 27 & 1) {
			check_ok(ps_accum(set, scene.root, &times[reading], NULL));
			bases[reading] += since_start;
			values[reading] = bases[reading];
			since_start = 0;
		} else {
			check_ok(ps_read(set, scene.root, &times[reading], NULL));
			values[reading] = bases[reading] + since_start;
		}
		for (size_t i = 0; i < 16; i++)
			if (times[i])
				ck_assert_msg(
				    scene_sum(EVENT, times[i]) == values[i],
				    "step %d, reading %zu: the parts sum up to %lld, not %lld",
				    step, i, scene_sum(EVENT, times[i]), values[i]);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_that_may_run_on_one_cpu_only_is_pinned)
{
	struct ps_eventset *set;

	fake_set_affinity("2");
	fake_set_cpu(2);
	set = scene_started(EVENT, NULL);
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(2, EVENT, 0).attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq(scene_count(2, EVENT, 0), 10);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_pinned_task_seen_elsewhere_is_not_called_pinned)
{
	struct ps_eventset *set;

	fake_set_affinity("2");
	fake_set_cpu(2);
	set = scene_started(EVENT, NULL);
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_affinity("0-3");
	fake_set_cpu(3);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_sum(EVENT, 0), 15);
	ck_assert_int_eq((int)scene_part(3, EVENT, 0).attribution, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_pinned_at_a_later_start_is_pinned_from_then_on)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t first = 0, second = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq((int)scene_part(0, EVENT, first).attribution, free_label());
	ck_assert_int_le((int)scene_part(1, EVENT, second).attribution, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_cpu_that_changes_inside_a_read_is_flagged)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	const int cpus[2] = {0, 1};
	struct ps_value value;
	uint64_t timestamp = 0;

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_eq(scene_part(0, EVENT, timestamp).flags & PS_VALUE_MOVED, 0);
	/* A reading of a task that stays looks at the CPU once, after the counters; the one after a
	 * reset looks twice. */
	check_ok(ps_reset(set));
	fake_script_cpus(cpus, 2);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
	value = scene_total(EVENT);
	ck_assert_uint_ne(value.flags & PS_VALUE_MOVED, 0);
	timestamp = 0;
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_reset(set));
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_uint_eq(scene_total(EVENT).flags & PS_VALUE_MOVED, 0);
	ps_eventset_destroy(set);
}
END_TEST

static void add_cpus(void)
{
	fake_file("/sys/devices/system/cpu/possible", "0-99\n");
	fake_file("/sys/devices/system/cpu/present", "0-99\n");
	fake_file("/sys/devices/system/cpu/online", "0-99\n");
	fake_set_affinity("0-99");
}

START_TEST(a_cpu_that_the_tree_has_not_goes_to_the_unknown_thread)
{
	struct ps_thread *unknown = ps_topology_unknown_thread(scene.topology), *thread = NULL;
	struct ps_value value;
	struct ps_eventset *set;

	add_cpus();
	set = scene_started(EVENT, NULL);
	fake_set_cpu(77);
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(set, scene.root, NULL, &thread));
	ck_assert_ptr_eq(thread, unknown);
	ck_assert_int_eq(ps_thread_cpu(thread), -1);
	check_ok(ps_thread_reading(unknown, EVENT, 0, &value));
	ck_assert_int_eq(value.value, 10);
	ck_assert_int_eq(scene_total(EVENT).value, 10);
	fake_set_cpu(78); /* another one that it has not */
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, &thread));
	ck_assert_int_eq(scene_total(EVENT).value, 15);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_unanswered_getcpu_loses_nothing)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	uint64_t timestamp = 0;
	int result;

	fake_advance(PAGE_FAULTS, 10);
	fake_fail(FAKE_GETCPU, 1, ENOSYS);
	result = ps_read(set, scene.root, &timestamp, NULL);
	ck_assert(fake_fail_happened() ||
	          scene.means == FAKE_MEANS_RECORDS); /* which know it otherwise */
	fake_fail(FAKE_GETCPU, 0, 0);
	if (result == PS_OK)
		ck_assert_int_eq(scene_sum(EVENT, timestamp), 10);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 15);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_on_a_cpu_is_attached_wherever_the_caller_runs)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_thread *thread = NULL;

	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	fake_advance_on(PAGE_FAULTS, -1, 3, 40);
	check_ok(ps_read(set, scene.root, NULL, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 3);
	ck_assert_int_eq(scene_count(3, EVENT, 0), 40);
	ck_assert_int_eq((int)scene_part(3, EVENT, 0).attribution, PS_ATTRIBUTION_ATTACHED);
	ck_assert_uint_eq(scene_rows(0, EVENT), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_on_a_task_goes_to_the_cpu_where_the_task_was_last)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_thread *thread = NULL;

	fake_task(4711, ") R 1 (\n", 2);
	fake_task_affinity(4711, "0-3");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	check_ok(ps_read(set, scene.root, NULL, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 2);
	ck_assert_int_eq(scene_count(2, EVENT, 0), 40);
	ck_assert_int_eq((int)scene_part(2, EVENT, 0).attribution, free_label());
	fake_task(4711, "a b) (c", 1);
	fake_advance(PAGE_FAULTS, 5);
	fake_count_reset();
	check_ok(ps_read(set, scene.root, NULL, &thread));
	ck_assert_uint_eq(fake_count(FAKE_OPEN), 0); /* by the descriptor that it kept */
	ck_assert_int_eq(scene_count(2, EVENT, 0), 40);
	ck_assert_int_eq(scene_count(1, EVENT, 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_pinned_task_that_is_watched_is_pinned)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_task(4711, "solver", 2);
	fake_task_affinity(4711, "2");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(2, EVENT, 0).attribution, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(two_sets_on_one_thread_add_up)
{
	struct ps_eventset *one = scene_started(EVENT, NULL), *two = scene_started(EVENT, NULL);

	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_stop(one, scene.root, NULL, NULL));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(two, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total(EVENT).value, 25);
	ps_eventset_destroy(one);
	ps_eventset_destroy(two);
	ck_assert_int_eq(scene_total(EVENT).value, 25);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(
	    tests, the_count_since_the_last_reading_goes_to_the_cpu_seen_and_earlier_parts_stay);
	tcase_add_test(tests, a_new_reading_has_all_parts_since_the_start);
	tcase_add_test(tests, accum_moves_the_parts_of_all_cpus_into_the_base);
	tcase_add_test(tests, whatever_the_sequence_of_calls_the_sums_are_what_was_counted);
	tcase_add_test(tests, two_sets_on_one_thread_add_up);
	tcase_add_test(tests, a_cpu_that_the_tree_has_not_goes_to_the_unknown_thread);
	tcase_add_test(tests, an_unanswered_getcpu_loses_nothing);
	tcase_add_test(tests, a_set_on_a_cpu_is_attached_wherever_the_caller_runs);
	tcase_add_test(tests, a_set_on_a_task_goes_to_the_cpu_where_the_task_was_last);
}

int main(void)
{
	Suite *suite = suite_create("parts");
	TCase *tests;

	add_tests(scene_case_instances(suite, "exact, per-CPU"));
	add_tests(scene_case_records(suite, "exact, records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	tests = scene_case(suite, "pinned");
	tcase_add_test(tests, a_task_that_may_run_on_one_cpu_only_is_pinned);
	tcase_add_test(tests, a_pinned_task_seen_elsewhere_is_not_called_pinned);
	tcase_add_test(tests, a_task_pinned_at_a_later_start_is_pinned_from_then_on);
	tcase_add_test(tests, a_pinned_task_that_is_watched_is_pinned);
	tests = scene_case_last_cpu(suite, "moved");
	tcase_add_test(tests, a_cpu_that_changes_inside_a_read_is_flagged);
	return scene_run(suite);
}
