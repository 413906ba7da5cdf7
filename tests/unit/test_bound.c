/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A task that had one CPU when its set was started, and was bound otherwise afterwards, or to none:
 * what is known is called so, what is shared out by time is called an estimate, and nothing is
 * lost. The clock stands still but where a test moves it. tests/api/test_rebound.c has the real
 * kernel.
 */
#include "support/regions.h"

#include <errno.h>

#define US    UINT64_C(1000)
#define OTHER 4711

static long long counted;

static void count(uint64_t faults)
{
	fake_advance(PAGE_FAULTS, faults);
	counted += (long long)faults;
}

/* A set that is started on CPU 0, to which its thread is bound; then it is unbound. */
static struct ps_eventset *started(void)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	counted = 0;
	scene_pass(0);
	fake_set_affinity("0");
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	fake_set_affinity("0-3");
	return set;
}

#define check_part(cpu, timestamp, count, attribution) \
	scene_check_part_at(cpu, EVENT, timestamp, count, attribution)

/* A new reading, after which the counts begin anew. */
static uint64_t take(struct ps_eventset *set)
{
	uint64_t timestamp = scene_accum(set);

	scene_check_residual(set);
	return timestamp;
}

START_TEST(the_interval_of_a_move_is_shared_out_and_later_ones_are_known)
{
	struct ps_eventset *set = started();
	const char *why;
	uint64_t timestamp;

	scene_pass(300 * US);
	count(10);
	timestamp = take(set);
	check_part(0, timestamp, 10, PS_ATTRIBUTION_PINNED);
	scene_pass(600 * US);
	fake_set_cpu(2);
	scene_pass(200 * US);
	count(800);
	timestamp = take(set);
	check_part(0, timestamp, 600, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 200, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_MIXED);
	ck_assert_ptr_nonnull(strstr(why, "ps_start"));
	/* It stays on its new CPU, switched out and in there, or not. */
	for (int i = 0; i < 4; i++) {
		scene_pass(100 * US);
		if (i % 2)
			fake_switch_task(0);
		count(7);
		timestamp = take(set);
		check_part(2, timestamp, 7, PS_ATTRIBUTION_EXACT);
		ck_assert_int_eq(scene_sum(EVENT, timestamp), 7);
	}
	/* The next start splits. */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_thread_that_is_home_again_is_pinned_again)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	fake_set_cpu(3);
	scene_pass(100 * US);
	fake_set_cpu(0);
	fake_set_affinity("0");
	scene_pass(300 * US);
	count(40);
	timestamp = take(set);
	check_part(3, timestamp, 10, PS_ATTRIBUTION_MIXED);
	check_part(0, timestamp, 30, PS_ATTRIBUTION_MIXED);
	scene_pass(100 * US);
	count(5);
	timestamp = take(set);
	check_part(0, timestamp, 5, PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

/* Calls that assign the counts but write no reading, and one that does the reverse. */
enum call {
	RESET,
	RESET_EVENT,
	CHECK,
	STORE,
	CALLS
};

static void call_at_home(struct ps_eventset *set, enum call call)
{
	if (call == RESET)
		check_ok(ps_reset(set));
	if (call == RESET_EVENT)
		check_ok(ps_eventset_reset_event(set, 0));
	if (call == CHECK)
		scene_check_residual(set);
	if (call == STORE)
		check_ok(ps_store(set, (long long[]){1}, 1, scene.root, &(uint64_t){0}, NULL));
}

/* _i: the call (enum call). */
START_TEST(a_move_is_shared_out_by_the_time_since_the_counts_were_last_assigned)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	take(set);
	if (_i != STORE) {
		scene_pass(900000 * US);
		call_at_home(set, (enum call)_i);
	}
	scene_pass(600 * US);
	if (_i == STORE)
		call_at_home(set, STORE);
	fake_set_cpu(2);
	scene_pass(200 * US);
	count(800);
	timestamp = take(set);
	check_part(0, timestamp, 600, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 200, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* Readings by the fast path, before and after it left. */
START_TEST(all_readings_add_up_whatever_their_path)
{
	struct ps_eventset *set = started();
	long long sum = 0;

	for (int i = 0; i < 40; i++) {
		if (i % 7 == 6)
			fake_set_cpu(i % 4);
		for (int reading = 0; reading < 3; reading++) {
			uint64_t timestamp = 0;
			scene_pass(10 * US);
			count(3);
			check_ok(ps_read(set, scene.root, &timestamp, NULL));
			ck_assert_int_eq(scene_sum(EVENT, timestamp), 3 * (reading + 1));
		}
		sum += 9;
		check_ok(ps_reset(set));
	}
	ck_assert_int_eq(sum, counted);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* Numbers of the caller's are stored between the move and the reading: the interval is the same. */
START_TEST(a_store_does_not_end_the_interval_of_a_move)
{
	struct ps_eventset *set = started();
	long long own[1] = {0};
	uint64_t timestamp = 0;

	fake_set_cpu(2);
	scene_pass(100 * US);
	take(set);
	scene_pass(600 * US);
	fake_set_cpu(0);
	fake_set_affinity("0");
	check_ok(ps_store(set, own, 1, scene.root, &timestamp, NULL));
	scene_pass(400 * US);
	count(10);
	timestamp = take(set);
	check_part(2, timestamp, 6, PS_ATTRIBUTION_MIXED);
	check_part(0, timestamp, 4, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* Of so many moves the ring does not hold the records. */
START_TEST(what_is_lost_is_assigned_to_the_last_cpu_and_the_next_interval_is_known)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	for (int i = 0; i < 2000; i++)
		fake_set_cpu(i % 4);
	count(60);
	scene_pass(10 * US);
	timestamp = take(set);
	check_part(3, timestamp, 60, PS_ATTRIBUTION_LAST_CPU);
	count(6);
	scene_pass(10 * US);
	timestamp = take(set);
	check_part(3, timestamp, 6, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

/* A part that has only what a fast path left there: that it is 0 is not known. */
START_TEST(a_cpu_that_lacks_what_is_lost_is_not_known)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	fake_set_cpu(2);
	for (int i = 0; i < 4; i++) {
		scene_pass(10 * US);
		count(7);
		timestamp = take(set);
	}
	check_part(2, timestamp, 7, PS_ATTRIBUTION_EXACT);
	count(60);
	for (int i = 0; i < 2000; i++)
		fake_set_cpu(i % 4);
	scene_pass(10 * US);
	timestamp = take(set);
	check_part(3, timestamp, 60, PS_ATTRIBUTION_LAST_CPU);
	check_part(2, timestamp, 0, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_attached_thread_that_leaves_is_followed_too)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t timestamp;

	scene_pass(0);
	fake_task(OTHER, "solver", 1);
	fake_task_affinity(OTHER, "1");
	check_ok(ps_eventset_attach_tid(set, OTHER));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	fake_switch_out(OTHER);
	fake_switch_in(OTHER, 1);
	scene_pass(100 * US);
	count(10);
	timestamp = take(set);
	check_part(1, timestamp, 10, PS_ATTRIBUTION_PINNED);
	scene_pass(300 * US);
	fake_task(OTHER, "solver", 2);
	scene_pass(100 * US);
	count(40);
	timestamp = take(set);
	check_part(1, timestamp, 30, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 10, PS_ATTRIBUTION_MIXED);
	count(4);
	timestamp = take(set);
	check_part(2, timestamp, 4, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

/* What the thread did between two runs is no stray. */
START_TEST(a_run_begins_without_the_moves_of_the_time_before)
{
	struct ps_eventset *set = started();
	uint64_t timestamp;

	scene_pass(100 * US);
	count(3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_set_cpu(2);
	scene_pass(500 * US);
	fake_set_cpu(0);
	fake_set_affinity("0");
	check_ok(ps_start(set));
	scene_pass(100 * US);
	fake_switch_task(0);
	count(8);
	timestamp = take(set);
	check_part(0, timestamp, 8, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(no_memory_for_a_cpu_that_it_met_loses_nothing)
{
	struct ps_eventset *set = started();
	uint64_t timestamp = 0;

	scene_pass(100 * US);
	fake_set_cpu(2);
	scene_pass(100 * US);
	count(50);
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	int result = ps_read(set, scene.root, &timestamp, NULL);
	ck_assert(result == PS_OK || result == PS_ENOMEM);
	ck_assert(fake_fail_happened());
	timestamp = 0;
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 50);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* A thread that counts regions is bound to CPU 0, is moved to CPU 2 for a while, and comes back. */
static void move_between_regions(void)
{
	scene_pass(0);
	fake_set_affinity("0");
	regions_begin(EVENT, NULL);
	visit_counting(region("before"), 3);
	scene_pass(100 * US);
	fake_set_affinity("0-3");
	fake_set_cpu(2);
	scene_pass(100 * US);
	fake_set_cpu(0);
	fake_set_affinity("0");
	fake_advance(PAGE_FAULTS, 40);
}

static void check_regions(enum ps_attribution of_the_move)
{
	for (int visit = 0; visit < 4; visit++) {
		scene_pass(10 * US);
		visit_counting(region("after"), 5);
	}
	take_paths();
	ck_assert_int_eq(value_of("before", -1, PS_SHARE_EXCLUSIVE).attribution,
	                 PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq(value_of("", -1, PS_SHARE_EXCLUSIVE).attribution, of_the_move);
	struct ps_value after = value_of("after", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(after.value, 20);
	ck_assert_int_eq(after.attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq(all("", -1), 63);
	regions_end();
}

START_TEST(regions_after_a_move_are_pinned_again)
{
	move_between_regions();
	check_regions(PS_ATTRIBUTION_MIXED);
}
END_TEST

/* The ring tells that CPU 2 was met, and lost the records that follow. */
START_TEST(regions_after_lost_records_are_pinned_again)
{
	move_between_regions();
	for (int i = 0; i < 2000; i++)
		fake_switch_task(0);
	check_regions(PS_ATTRIBUTION_LAST_CPU);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bound");
	TCase *tests = scene_case(suite, "strayed");

	tcase_add_test(tests, the_interval_of_a_move_is_shared_out_and_later_ones_are_known);
	tcase_add_test(tests, a_thread_that_is_home_again_is_pinned_again);
	tcase_add_test(tests, a_store_does_not_end_the_interval_of_a_move);
	tcase_add_test(tests, regions_after_a_move_are_pinned_again);
	tcase_add_test(tests, regions_after_lost_records_are_pinned_again);
	tcase_add_loop_test(
	    tests, a_move_is_shared_out_by_the_time_since_the_counts_were_last_assigned, 0, CALLS);
	tcase_add_test(tests, all_readings_add_up_whatever_their_path);
	tcase_add_test(tests,
	               what_is_lost_is_assigned_to_the_last_cpu_and_the_next_interval_is_known);
	tcase_add_test(tests, a_cpu_that_lacks_what_is_lost_is_not_known);
	tcase_add_test(tests, an_attached_thread_that_leaves_is_followed_too);
	tcase_add_test(tests, a_run_begins_without_the_moves_of_the_time_before);
	tcase_add_test(tests, no_memory_for_a_cpu_that_it_met_loses_nothing);
	return scene_run(suite);
}
