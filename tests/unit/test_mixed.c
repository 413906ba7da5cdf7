/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that can't be split: shared out by the time that the task was on each CPU, as its context
 * switches tell. The clock stands still but where a test moves it.
 */
#include "eventset/eventset.h"
#include "support/fixture.h"
#include "support/golden.h"
#include "support/scene.h"

#include <errno.h>

#define EVENT "page-faults"
#define US    UINT64_C(1000)

static struct ps_eventset *unsplittable(void)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	set->attribution.cannot_split = true;
	return set;
}

static struct ps_eventset *started(void)
{
	struct ps_eventset *set = unsplittable();

	scene_pass(0);
	check_ok(ps_start(set));
	return set;
}

#define take(set) scene_accum(set)
#define check_part(cpu, timestamp, count, attribution) \
	scene_check_part_at(cpu, EVENT, timestamp, count, attribution)

START_TEST(counts_are_shared_out_by_the_time_on_each_cpu)
{
	struct ps_eventset *set = started();
	const char *why = NULL;
	struct ps_value part;
	uint64_t timestamp;

	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ck_assert_ptr_nonnull(strstr(why, "can't be split"));
	scene_pass(300 * US);
	fake_set_cpu(2);
	scene_pass(600 * US);
	fake_set_cpu(1);
	scene_pass(100 * US);
	fake_advance(PAGE_FAULTS, 1000);
	timestamp = take(set);
	check_part(0, timestamp, 300, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 600, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, 100, PS_ATTRIBUTION_MIXED);
	part = scene_part(2, EVENT, timestamp);
	ck_assert_uint_eq(part.enabled_ns, 600 * US); /* the share of time on it */
	ck_assert_uint_eq(part.running_ns, 600 * US);
	ck_assert_int_eq((int)scene_total(EVENT).attribution, PS_ATTRIBUTION_MIXED);
	/* The next interval is on one CPU. */
	scene_pass(100 * US);
	fake_advance(PAGE_FAULTS, 7);
	timestamp = take(set);
	check_part(1, timestamp, 7, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(time_off_the_cpu_is_no_time_on_it)
{
	struct ps_eventset *set;
	uint64_t timestamp;

	fake_task(4711, "solver", 0);
	fake_task_affinity(4711, "0-3");
	set = unsplittable();
	check_ok(ps_eventset_attach_tid(set, 4711));
	scene_pass(0);
	check_ok(ps_start(set));
	scene_pass(100 * US);
	fake_switch_out(4711);
	scene_pass(5000 * US);
	fake_switch_in(4711, 3);
	scene_pass(300 * US);
	fake_advance(PAGE_FAULTS, 40);
	timestamp = take(set);
	check_part(0, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 30, PS_ATTRIBUTION_MIXED);
	fake_switch_out(4711);
	timestamp = take(set);
	scene_pass(900 * US); /* asleep over a reading */
	timestamp = take(set);
	fake_switch_in(4711, 1);
	scene_pass(10 * US);
	fake_advance(PAGE_FAULTS, 5);
	timestamp = take(set);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
	check_part(1, timestamp, 5, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* When it was started, the task slept: it was never on that CPU. */
START_TEST(a_task_that_slept_at_the_start_has_no_time_there)
{
	struct ps_eventset *set;
	uint64_t timestamp;

	fake_task(4711, "solver", 0);
	fake_task_affinity(4711, "0-3");
	fake_switch_out(4711);
	set = unsplittable();
	check_ok(ps_eventset_attach_tid(set, 4711));
	scene_pass(0);
	check_ok(ps_start(set));
	scene_pass(9000 * US);
	fake_switch_in(4711, 2);
	scene_pass(10 * US);
	fake_advance(PAGE_FAULTS, 8);
	timestamp = take(set);
	check_part(2, timestamp, 8, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 8);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(no_count_is_lost_by_rounding)
{
	struct ps_eventset *set = started();
	uint64_t seed = 12345;

	for (int round = 0; round < 200; round++) {
		uint64_t count, timestamp;

		for (int i = 0; i < 6; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			fake_set_cpu((int)(seed >> 40) & 3);
			scene_pass((seed >> 45) % 1000);
		}
		count = (seed >> 33) % 100;
		fake_advance(PAGE_FAULTS, count);
		timestamp = take(set);
		ck_assert_int_eq(scene_sum(EVENT, timestamp), (long long)count);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counts_of_the_largest_size_are_shared_out)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	scene_pass(UINT64_C(4000000000000));
	fake_set_cpu(1);
	scene_pass(UINT64_C(4000000000000));
	fake_advance(PAGE_FAULTS, INT64_MAX - 1);
	timestamp = take(set);
	check_part(0, timestamp, (INT64_MAX - 1) / 2, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, (INT64_MAX - 1) / 2, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* As a difference of two counts does in PAPI. */
START_TEST(a_total_that_falls_below_0_is_no_huge_count)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	set->counters.backend->may_fall = true;
	fake_advance(PAGE_FAULTS, 3);
	take(set);
	scene_pass(40 * US);
	fake_set_cpu(1);
	scene_pass(60 * US);
	fake_set_count(PAGE_FAULTS, (uint64_t)-5);
	timestamp = take(set);
	check_part(0, timestamp, 0, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, -8, PS_ATTRIBUTION_MIXED);
	/* From there it rises by 10, past 0. */
	scene_pass(50 * US);
	fake_set_cpu(0);
	scene_pass(50 * US);
	fake_set_count(PAGE_FAULTS, 5);
	timestamp = take(set);
	check_part(0, timestamp, 5, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, 5, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_overflowing_ring_means_last_cpu_for_that_interval)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	for (int i = 0; i < 2000; i++) {
		fake_set_cpu(i % 3);
		scene_pass(US);
	}
	fake_set_cpu(3);
	fake_advance(PAGE_FAULTS, 50);
	timestamp = take(set);
	check_part(3, timestamp, 50, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 50);
	take(set); /* the kernel's word of the lost ones may come late */
	fake_set_cpu(0);
	take(set);
	scene_pass(10 * US);
	fake_set_cpu(1);
	scene_pass(30 * US);
	fake_advance(PAGE_FAULTS, 40);
	timestamp = take(set);
	check_part(0, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, 30, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_bound_task_is_pinned_and_mixed_where_it_strayed)
{
	struct ps_eventset *set;
	uint64_t timestamp;

	fake_set_affinity("2");
	fake_set_cpu(2);
	set = started();
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	for (int i = 0; i < 5; i++) {
		scene_pass(10 * US);
		fake_switch_task(0);
		fake_advance(PAGE_FAULTS, 4);
		timestamp = take(set);
		check_part(2, timestamp, 4, PS_ATTRIBUTION_PINNED);
	}
	fake_set_cpu(3);
	scene_pass(30 * US);
	fake_set_cpu(2);
	scene_pass(10 * US);
	fake_advance(PAGE_FAULTS, 8);
	timestamp = take(set);
	check_part(3, timestamp, 6, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 2, PS_ATTRIBUTION_MIXED);
	scene_pass(10 * US);
	fake_advance(PAGE_FAULTS, 3);
	timestamp = take(set);
	check_part(2, timestamp, 3, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

/* Readings by the short way, of a task that stays, take their time with them. */
START_TEST(readings_on_one_cpu_take_no_time_from_later_ones)
{
	struct ps_eventset *set = started();
	uint64_t timestamp = take(set);

	for (int i = 0; i < 10; i++) {
		scene_pass(1000 * US);
		fake_advance(PAGE_FAULTS, 100);
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	}
	check_part(0, timestamp, 1000, PS_ATTRIBUTION_MIXED);
	scene_pass(100 * US);
	fake_set_cpu(1);
	scene_pass(300 * US);
	fake_advance(PAGE_FAULTS, 40);
	timestamp = take(set);
	check_part(0, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, 30, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_was_asked_for_is_kept_and_exact_is_refused)
{
	struct ps_eventset *set = unsplittable();

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_fails(ps_start(set), PS_ENOSUPP);
	check_detail("can't be split");
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 2);
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_LAST_CPU);
	scene_pass(100 * US);
	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 5);
	check_part(1, take(set), 5, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_a_ring_it_is_last_cpu_and_says_why)
{
	struct ps_eventset *set = unsplittable();
	const char *why = NULL;

	fake_fail(FAKE_MMAP, 1, EPERM);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "perf_event_mlock_kb"));
	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 5);
	check_part(1, take(set), 5, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stop_and_a_store_keep_the_times)
{
	struct ps_eventset *set = started();
	const long long counters[2] = {1, 1};
	uint64_t timestamp = 0;

	scene_pass(100 * US);
	fake_set_cpu(1);
	check_ok(ps_store(set, counters, 2, scene.root, &timestamp, NULL));
	scene_pass(100 * US);
	fake_advance(PAGE_FAULTS, 20);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	check_part(0, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(1, timestamp, 10, PS_ATTRIBUTION_MIXED);
	fake_set_cpu(2); /* while it is stopped */
	scene_pass(5000 * US);
	check_ok(ps_start(set));
	scene_pass(10 * US);
	fake_advance(PAGE_FAULTS, 6);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	check_part(2, timestamp, 6, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 6);
	ps_eventset_destroy(set);
}
END_TEST

static void check_printed(struct ps_component *root, const char *golden)
{
	static const char *const metrics[] = {"page-fault-rate"};
	struct ps_print_options options = {
	    .size = sizeof options, .flags = PS_PRINT_RAW, .metrics = metrics, .metric_count = 1};
	FILE *stream = golden_open();

	check_ok(ps_print_with(root, &options, stream));
	golden_check(stream, golden);
}

/* No text shows them as if counted: neither the parts, nor sums of some, nor what is made of
 * them. The total of all was counted. */
START_TEST(parts_and_sums_of_some_are_marked_as_estimates_and_the_total_is_not)
{
	struct ps_eventset *set = scene_set(EVENT, "task-clock", NULL);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	set->attribution.cannot_split = true;
	scene_pass(0);
	check_ok(ps_start(set));
	scene_pass(300 * US);
	fake_set_cpu(2);
	scene_pass(600 * US);
	fake_set_cpu(1);
	scene_pass(100 * US);
	fake_advance(PAGE_FAULTS, 1000);
	fake_advance(TASK_CLOCK, 1000 * US);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_printed(scene.root, "mixed");
	check_printed(ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 0), "mixed_package");
	check_ok(ps_thread_print(ps_topology_thread(scene.topology, 2), stream));
	fclose(stream);
	ck_assert_ptr_nonnull(strstr(text, " ~600   mixed\n"));
	free(text);
	ps_eventset_destroy(set);
}
END_TEST

/* Then the package has all hardware threads of the tree. */
START_TEST(the_only_package_has_the_total_unless_some_was_elsewhere)
{
	struct ps_eventset *set;

	ps_topology_destroy(scene.topology);
	scene.topology = fixture_synthetic("pack:1 [numa] core:2 pu:2");
	scene.root = ps_topology_root(scene.topology);
	set = started();
	scene_pass(300 * US);
	fake_set_cpu(2);
	scene_pass(700 * US);
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_printed(scene.root, "mixed_only_package");
	check_ok(ps_start(set));
	scene_pass(300 * US);
	fake_set_cpu(77);
	scene_pass(700 * US);
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_printed(scene.root, "mixed_unknown");
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mixed");
	TCase *tests = scene_case(suite, "mixed");

	tcase_add_test(tests, counts_are_shared_out_by_the_time_on_each_cpu);
	tcase_add_test(tests, time_off_the_cpu_is_no_time_on_it);
	tcase_add_test(tests, a_task_that_slept_at_the_start_has_no_time_there);
	tcase_add_test(tests, no_count_is_lost_by_rounding);
	tcase_add_test(tests, counts_of_the_largest_size_are_shared_out);
	tcase_add_test(tests, a_total_that_falls_below_0_is_no_huge_count);
	tcase_add_test(tests, an_overflowing_ring_means_last_cpu_for_that_interval);
	tcase_add_test(tests, a_bound_task_is_pinned_and_mixed_where_it_strayed);
	tcase_add_test(tests, readings_on_one_cpu_take_no_time_from_later_ones);
	tcase_add_test(tests, what_was_asked_for_is_kept_and_exact_is_refused);
	tcase_add_test(tests, without_a_ring_it_is_last_cpu_and_says_why);
	tcase_add_test(tests, a_stop_and_a_store_keep_the_times);
	tcase_add_test(tests, parts_and_sums_of_some_are_marked_as_estimates_and_the_total_is_not);
	tcase_add_test(tests, the_only_package_has_the_total_unless_some_was_elsewhere);
	return scene_run(suite);
}
