/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact attribution: the kernel splits the counts by CPU, a ring tells where the task has been; and
 * what becomes of it when the ring overflows, can't be had, or descriptors are short.
 */
#include "eventset/eventset.h"
#include "eventset/method.h"
#include "support/scene.h"

#include <errno.h>

#define EVENT "page-faults"

static struct ps_eventset *started(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = scene_set(EVENT, "minor-faults", NULL);

	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_start(set));
	return set;
}

START_TEST(what_happened_on_a_cpu_is_counted_there_though_the_reading_is_made_elsewhere)
{
	struct ps_eventset *set = started(PS_ATTRIBUTE_AUTO);
	struct ps_thread *thread = NULL;
	const char *why = NULL;

	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(*why == '\0', scene.means == FAKE_MEANS_PER_CPU);
	scene_count_on(0, 1000);
	scene_count_on(1, 10);
	check_ok(ps_read(set, scene.root, NULL, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 1);
	ck_assert_int_eq(scene_count(0, EVENT, 0), 1000);
	ck_assert_int_eq(scene_count(1, EVENT, 0), 10);
	ck_assert_int_eq((int)scene_part(0, EVENT, 0).attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(scene_total(EVENT).value, 1010);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_that_stayed_costs_one_read_whatever_the_number_of_cpus)
{
	struct ps_eventset *set = started(PS_ATTRIBUTE_EXACT);

	scene_count_on(2, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_count_reset();
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 1);
	ck_assert_int_eq(scene_count(2, EVENT, 0), 10);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_overflowing_ring_loses_no_count)
{
	struct ps_eventset *set = started(PS_ATTRIBUTE_EXACT);
	long long expected[4] = {0};

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5000; i++) {
			int cpu = i * 7 % 4;

			scene_count_on(cpu, (uint64_t)i);
			expected[cpu] += i;
		}
		check_ok(ps_read(set, scene.root, NULL, NULL));
		for (int cpu = 0; cpu < 4; cpu++)
			ck_assert_int_eq(scene_count(cpu, EVENT, 0), expected[cpu]);
	}
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* How many moves fill the ring of the one set that there is: two records of 24 bytes each. */
static int moves_that_fill_the_ring(void)
{
	int fds[16];
	size_t count = fake_counter_fds(fds, 16);

	for (size_t i = 0; i < count && i < 16; i++) {
		const struct perf_event_mmap_page *page = fake_ring_of_fd(fds[i]);

		if (page)
			return (int)(page->data_size / 48);
	}
	ck_abort_msg("there is no ring");
}

START_TEST(a_ring_that_just_filled_up_loses_no_count)
{
	for (int spare = -6; spare <= 6; spare++) {
		struct ps_eventset *set = started(PS_ATTRIBUTE_EXACT);
		int moves = moves_that_fill_the_ring() + spare;

		for (int i = 0; i < moves; i++)
			scene_count_on(i % 2, 3);
		scene_count_on(2, 100); /* this visit may have found no room */
		scene_count_on(3, 50);
		check_ok(ps_accum(set, scene.root, NULL, NULL));
		ck_assert_int_eq(scene_count(2, EVENT, 0), 100);
		ck_assert_int_eq(scene_count(3, EVENT, 0), 50);
		ck_assert_int_eq(scene_sum(EVENT, scene_part(3, EVENT, 0).timestamp),
		                 3 * moves + 150);
		ps_eventset_destroy(set);
	}
}
END_TEST

START_TEST(without_a_ring_all_cpus_are_read_and_it_stays_exact)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_fail_always(FAKE_MMAP, EPERM); /* perf_event_mlock_kb is used up */
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	ck_assert_int_eq(ps_start(set), PS_OK);
	fake_fail_always(FAKE_MMAP, 0);
	scene_count_on(0, 1000);
	scene_count_on(3, 7);
	scene_count_on(1, 10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, 0), 1000);
	ck_assert_int_eq(scene_count(3, EVENT, 0), 7);
	ck_assert_int_eq(scene_count(1, EVENT, 0), 10);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(few_descriptors_mean_last_cpu_and_the_reason_is_told)
{
	struct ps_eventset *set;
	const char *why = NULL;

	fake_set_nofile(14); /* 2 events on 4 CPUs take more than half of it */
	set = started(PS_ATTRIBUTE_AUTO);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_ptr_nonnull(strstr(why, "ulimit -n"));
	scene_count_on(0, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(0, EVENT, 0).attribution, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
	fake_set_nofile(10);
	set = scene_set(EVENT, "minor-faults", NULL);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_EXACT));
	check_fails(ps_start(set), PS_ECOUNT);
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_budget_of_descriptors_is_given_back)
{
	fake_set_nofile(40);
	for (int i = 0; i < 50; i++) {
		struct ps_eventset *set = started(PS_ATTRIBUTE_AUTO);

		ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
		ps_eventset_destroy(set);
	}
}
END_TEST

START_TEST(a_watched_task_is_exact_too)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_task(4711, "solver", 2);
	fake_task_affinity(4711, "0-3");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	fake_task(4711, "solver", 1);
	fake_advance(PAGE_FAULTS, 2);
	fake_task(4711, "solver", 3);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, 0), 40);
	ck_assert_int_eq(scene_count(1, EVENT, 0), 2);
	ck_assert_int_eq((int)scene_part(1, EVENT, 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_mode_that_does_not_exist_is_refused)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	long long residual[2];

	check_fails(ps_eventset_set_attribution(NULL, PS_ATTRIBUTE_AUTO), PS_EINVAL);
	check_fails(ps_eventset_set_attribution(set, (enum ps_attribution_mode)77), PS_EINVAL);
	ck_assert_int_eq((int)ps_eventset_attribution(NULL, NULL), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_LAST_CPU);
	check_fails(ps_eventset_check(set, residual, 1), PS_ENOTRUN);
	check_ok(ps_start(set));
	check_fails(ps_eventset_set_attribution(set, PS_ATTRIBUTE_AUTO), PS_EISRUN);
	check_fails(ps_eventset_check(set, residual, 2), PS_EINVAL);
	check_fails(ps_eventset_check(set, NULL, 1), PS_EINVAL);
	ps_eventset_destroy(set);
}
END_TEST

static const struct ps__method *const estimates[] = {
    &ps__method_last_cpu, &ps__method_bound,      &ps__method_mixed,
    &ps__method_places,   &ps__method_time_share, &ps__method_looks,
};

/* A new method is among them until its table says is_exact, however it splits. */
START_TEST(a_set_is_exact_only_by_a_method_that_says_so)
{
	struct ps_eventset *set = started(PS_ATTRIBUTE_EXACT);
	const struct ps__method *chosen = set->attribution.method;

	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	for (size_t index = 0; index < sizeof estimates / sizeof *estimates; index++) {
		set->attribution.method = estimates[index];
		ck_assert_int_ne((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	}
	for (int split = PS__SPLIT_NOT; split <= PS__SPLIT_PLACES + 1; split++) {
		struct ps__method method = {.split = (enum ps__split)split};

		set->attribution.method = &method;
		ck_assert_int_ne((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	}
	set->attribution.method = chosen;
	ps_eventset_destroy(set);
}
END_TEST

static void add_for_any_means(TCase *tests)
{
	tcase_add_test(
	    tests, what_happened_on_a_cpu_is_counted_there_though_the_reading_is_made_elsewhere);
	tcase_add_test(tests, a_task_that_stayed_costs_one_read_whatever_the_number_of_cpus);
	tcase_add_test(tests, the_budget_of_descriptors_is_given_back);
	tcase_add_test(tests, a_watched_task_is_exact_too);
	tcase_add_test(tests, a_mode_that_does_not_exist_is_refused);
	tcase_add_test(tests, a_set_is_exact_only_by_a_method_that_says_so);
}

int main(void)
{
	Suite *suite = suite_create("exact");
	TCase *instances = scene_case_instances(suite, "per-CPU");

	add_for_any_means(instances);
	add_for_any_means(scene_case_records(suite, "records"));
	tcase_add_test(instances, an_overflowing_ring_loses_no_count);
	tcase_add_test(instances, a_ring_that_just_filled_up_loses_no_count);
	tcase_add_test(instances, without_a_ring_all_cpus_are_read_and_it_stays_exact);
	tcase_add_test(instances, few_descriptors_mean_last_cpu_and_the_reason_is_told);
	return scene_run(suite);
}
