/* SPDX-License-Identifier: BSD-3-Clause */
/* How a value says how it was come by: multiplexed, never scheduled, not supported, gone back,
 * interrupted; and that what fails on the way to storage loses nothing. */
#include "support/scene.h"

#include <errno.h>
#include <stdlib.h>

#define EVENT "page-faults"
#define MS    1000000u /* nanoseconds */

static struct ps_eventset *started(const char *event)
{
	fake_add_core_pmu(4);
	return scene_started(event, NULL);
}

static struct ps_value read_now(struct ps_eventset *set, const char *event)
{
	check_ok(ps_read(set, scene.root, NULL, NULL));
	return scene_part(0, event, 0);
}

START_TEST(counted_all_the_time_is_counted)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_advance(INSTRUCTIONS, 500);
	fake_run(1000 * MS, 1000 * MS);
	value = read_now(set, "instructions");
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.value, 500);
	ck_assert_uint_eq(value.raw, 500);
	ck_assert_uint_eq(value.enabled_ns, 1000 * MS);
	ck_assert_uint_eq(value.running_ns, 1000 * MS);
	ck_assert_double_eq(ps_value_coverage(&value), 1.0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(multiplexed_is_scaled_with_raw_enabled_and_running_beside)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_advance(INSTRUCTIONS, 500);
	fake_run(1000 * MS, 250 * MS);
	value = read_now(set, "instructions");
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 2000);
	ck_assert_uint_eq(value.raw, 500);
	ck_assert_uint_eq(value.enabled_ns, 1000 * MS);
	ck_assert_uint_eq(value.running_ns, 250 * MS);
	ck_assert_double_eq(ps_value_coverage(&value), 0.25);
	fake_run(1000 * MS, 1000 * MS);
	value = read_now(set, "instructions");
	ck_assert_int_eq((int)value.status, PS_STATUS_SCALED);
	ck_assert_int_eq(value.value, 800);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(scaling_does_not_overflow)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_advance(INSTRUCTIONS, UINT64_C(1) << 50);
	fake_run(UINT64_C(1) << 40, UINT64_C(1) << 38);
	value = read_now(set, "instructions");
	ck_assert_int_eq(value.value, 1LL << 52);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(times_count_from_the_start_too)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_advance(INSTRUCTIONS, 500);
	fake_run(1000 * MS, 250 * MS);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 60);
	fake_run(800 * MS, 800 * MS);
	value = read_now(set, "instructions");
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.value, 60);
	ck_assert_uint_eq(value.enabled_ns, 800 * MS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(enabled_but_never_running_is_never_scheduled_and_not_0)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_run(1000 * MS, 0);
	value = read_now(set, "instructions");
	ck_assert_int_eq((int)value.status, PS_STATUS_NEVER_SCHEDULED);
	ck_assert_uint_eq(value.enabled_ns, 1000 * MS);
	ck_assert_uint_eq(value.running_ns, 0);
	ck_assert_double_eq(ps_value_coverage(&value), 0.0);
	ck_assert_int_eq((int)scene_total("instructions").status, PS_STATUS_NEVER_SCHEDULED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stored_zero_is_counted_and_0)
{
	struct ps_eventset *set = started(EVENT);
	struct ps_value value;

	fake_run(1000 * MS, 1000 * MS);
	value = read_now(set, EVENT);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.value, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_optional_event_that_is_not_here_is_not_supported_beside_others)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_value value;

	check_ok(ps_eventset_add_optional(set, "instructions"));
	ck_assert_str_ne(ps_error_detail(), "");
	ck_assert_int_eq((int)ps_eventset_event_status(set, 0), PS_STATUS_COUNTED);
	ck_assert_int_eq((int)ps_eventset_event_status(set, 1), PS_STATUS_NOT_SUPPORTED);
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_event_group(set, 1), -1);
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_accum(set, scene.root, NULL, NULL));
	fake_advance(PAGE_FAULTS, 10);
	value = read_now(set, EVENT);
	ck_assert_int_eq(value.value, 20);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)scene_part(0, "instructions", 0).status, PS_STATUS_NOT_SUPPORTED);
	ck_assert_int_eq((int)scene_total("instructions").status, PS_STATUS_NOT_SUPPORTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_backward_step_is_flagged_and_counted_anew_from_there)
{
	struct ps_eventset *set = started(EVENT);
	struct ps_value value;

	fake_advance(PAGE_FAULTS, 100);
	value = read_now(set, EVENT);
	ck_assert_uint_eq(value.flags & PS_VALUE_WENT_BACK, 0);
	fake_set_count(PAGE_FAULTS, 40);
	value = read_now(set, EVENT);
	ck_assert_uint_ne(value.flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_int_eq(value.value, 140); /* 100, then 40 since it was reset behind our back */
	fake_advance(PAGE_FAULTS, 5);
	value = read_now(set, EVENT);
	ck_assert_uint_ne(value.flags & PS_VALUE_WENT_BACK, 0);
	ck_assert_int_eq(value.value, 145);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counts_beyond_63_bits_keep_their_differences)
{
	struct ps_eventset *set = started(EVENT);

	fake_set_count(PAGE_FAULTS, UINT64_MAX - 10);
	check_ok(ps_reset(set));
	fake_advance(PAGE_FAULTS, 7);
	ck_assert_int_eq(read_now(set, EVENT).value, 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_counter_in_the_error_state_gives_PARTIAL_and_goes_on_later)
{
	struct ps_eventset *set = started("instructions");
	uint64_t timestamp = 0, before;

	fake_advance(INSTRUCTIONS, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	before = timestamp;
	fake_set_error_state(INSTRUCTIONS, true);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_PARTIAL);
	check_detail("instructions");
	ck_assert_uint_gt(timestamp, before); /* it was stored */
	ck_assert_int_eq(scene_count(0, "instructions", timestamp), 10);
	check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_PARTIAL);
	fake_set_error_state(INSTRUCTIONS, false);
	fake_advance(INSTRUCTIONS, 5);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, "instructions", timestamp), 15);
	ck_assert_uint_ne(scene_part(0, "instructions", timestamp).flags & PS_VALUE_INTERRUPTED, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_that_was_in_the_error_state_counts_rightly_when_it_is_started_again)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_advance(INSTRUCTIONS, 10);
	fake_run(1000 * MS, 1000 * MS);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(INSTRUCTIONS, true);
	fake_set_clock(60000000000u, 1000); /* for a minute */
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	fake_set_error_state(INSTRUCTIONS, false); /* as PERF_EVENT_IOC_ENABLE does */
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 7);
	fake_run(500 * MS, 500 * MS);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	value = scene_part(0, "instructions", 0);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.value, 7);
	ck_assert_uint_eq(value.enabled_ns, 500 * MS);
	ck_assert_uint_eq(value.running_ns, 500 * MS);
	ck_assert_uint_eq(value.flags & PS_VALUE_WENT_BACK, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(time_in_the_error_state_counts_as_time_without_a_counter)
{
	struct ps_eventset *set = started("instructions");
	struct ps_value value;

	fake_advance(INSTRUCTIONS, 10);
	fake_run(1000 * MS, 1000 * MS);
	fake_set_error_state(INSTRUCTIONS, true);
	fake_set_clock(60000000000u, 1000); /* for a minute */
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	fake_set_error_state(INSTRUCTIONS, false);
	fake_advance(INSTRUCTIONS, 10);
	fake_run(1000 * MS, 1000 * MS);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	value = scene_part(0, "instructions", 0);
	ck_assert_uint_eq(value.raw, 20);
	ck_assert_uint_eq(value.running_ns, 2000 * MS);
	ck_assert_uint_gt(value.enabled_ns, 2000 * MS);
	ck_assert_uint_eq(value.flags & PS_VALUE_WENT_BACK, 0);
	/* How long the thread ran in the minute is not known. */
	ck_assert_int_eq((int)value.status, PS_STATUS_INCOMPLETE);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_group_in_the_error_state_does_not_disturb_the_others)
{
	struct ps_eventset *set;
	uint64_t timestamp = 0;

	fake_add_core_pmu(1);
	set = scene_started("instructions", "cycles", NULL);
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	fake_advance(INSTRUCTIONS, 10);
	fake_advance(CYCLES, 20);
	fake_set_error_state(INSTRUCTIONS, true);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_PARTIAL);
	ck_assert_int_eq(scene_count(0, "cycles", timestamp), 20);
	fake_set_error_state(INSTRUCTIONS, false);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, "instructions", timestamp), 10);
	ck_assert_int_eq(scene_count(0, "cycles", timestamp), 20);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_read_that_the_kernel_refuses_changes_nothing_and_loses_nothing)
{
	struct ps_eventset *set = started(EVENT);
	uint64_t timestamp = 0;
	struct ps_thread *thread = NULL;

	fake_advance(PAGE_FAULTS, 10);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_accum(set, scene.root, &timestamp, &thread), PS_ESYS);
	check_detail(strerror(EIO));
	ck_assert_uint_eq(timestamp, 0);
	ck_assert_ptr_null(thread);
	ck_assert_uint_eq(scene_rows(0, EVENT), 0);
	check_ok(ps_accum(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 10);
	ps_eventset_destroy(set);
}
END_TEST

/* Readings on ever new CPUs without memory until one fails; the CPU where it did. */
static int exhaust(struct ps_eventset *set,
                   int (*call)(struct ps_eventset *, struct ps_component *, uint64_t *,
                               struct ps_thread **),
                   long long *stored)
{
	fake_fail_always(FAKE_MMAP, ENOMEM);
	fake_fail_always(FAKE_ALLOCATE, ENOMEM);
	for (int i = 0; i < 100000; i++) {
		uint64_t timestamp = 0;
		struct ps_thread *thread = NULL;
		int result;

		fake_set_cpu(i % 4);
		fake_advance(PAGE_FAULTS, 3);
		result = call(set, scene.root, &timestamp, &thread);
		if (result == PS_OK) {
			*stored += scene_sum(EVENT, timestamp);
			continue;
		}
		ck_assert_int_eq(result, PS_ENOMEM);
		ck_assert_str_ne(ps_error_detail(), "");
		ck_assert_uint_eq(timestamp, 0);
		ck_assert_ptr_null(thread);
		return i;
	}
	ck_abort_msg("100000 readings needed no memory");
}

START_TEST(a_failing_store_loses_no_count)
{
	struct ps_eventset *set = started(EVENT);
	uint64_t timestamp = 0;
	long long stored = 0;
	int last = exhaust(set, ps_accum, &stored);

	ck_assert_int_eq(stored, 3 * last);
	check_fails(ps_accum(set, scene.root, &timestamp, NULL), PS_ENOMEM);
	fake_advance(PAGE_FAULTS, 4);
	fake_fail_always(FAKE_MMAP, 0);
	fake_fail_always(FAKE_ALLOCATE, 0);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_failing_store_in_stop_stops_and_read_gives_the_counts)
{
	struct ps_eventset *set = started(EVENT);
	uint64_t timestamp = 0;
	long long stored = 0;
	int last = exhaust(set, ps_read, &stored);

	fake_advance(PAGE_FAULTS, 4);
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ENOMEM);
	ck_assert(!ps_eventset_is_running(set));
	ck_assert_uint_eq(timestamp, 0);
	fake_advance(PAGE_FAULTS, 1000);
	fake_fail_always(FAKE_MMAP, 0);
	fake_fail_always(FAKE_ALLOCATE, 0);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 3 * (last + 1) + 4);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_wrong_root_is_refused_and_changes_nothing)
{
	struct ps_eventset *set = started(EVENT);
	struct ps_topology *other = NULL;
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	void *stranger = calloc(1, 4096);

	check_ok(ps_topology_load_synthetic(&other, "core:4 pu:1"));
	fake_advance(PAGE_FAULTS, 10);
	check_fails(ps_read(NULL, scene.root, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_read(set, NULL, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_read(set, stranger, &timestamp, &thread), PS_EINVAL);
	check_fails(ps_accum(set, ps_component_child(scene.root, 0), &timestamp, &thread),
	            PS_EINVAL);
	check_fails(ps_read(set, ps_thread_component(ps_topology_thread(scene.topology, 1)),
	                    &timestamp, &thread),
	            PS_EINVAL);
	ck_assert_uint_eq(timestamp, 0);
	ck_assert_ptr_null(thread);
	check_ok(ps_accum(set, scene.root, &timestamp, &thread));
	check_fails(ps_read(set, ps_topology_root(other), &timestamp, &thread), PS_EINVAL);
	check_fails(ps_accum(set, ps_topology_root(other), &timestamp, &thread), PS_EINVAL);
	check_fails(
	    ps_store(set, (const long long[]){1}, 1, ps_topology_root(other), &timestamp, &thread),
	    PS_EINVAL);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 15);
	ck_assert_uint_eq(scene_rows(0, EVENT), 1);
	ps_eventset_destroy(set);
	ps_topology_destroy(other);
	free(stranger);
}
END_TEST

START_TEST(a_topology_may_go_before_its_sets)
{
	struct ps_eventset *set = started(EVENT);
	struct ps_topology *next = NULL;
	uint64_t timestamp = 0;

	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_ok(ps_topology_load_synthetic(&next, "core:4 pu:1"));
	ps_topology_destroy(scene.topology);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_EINVAL);
	ck_assert(ps_eventset_is_running(set));
	scene.topology = next;
	scene.root = ps_topology_root(next);
	fake_advance(PAGE_FAULTS, 5);
	timestamp = 0;
	/* Bound until that topology was destroyed */
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 5);
	ps_eventset_destroy(set);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, counted_all_the_time_is_counted);
	tcase_add_test(tests, multiplexed_is_scaled_with_raw_enabled_and_running_beside);
	tcase_add_test(tests, scaling_does_not_overflow);
	tcase_add_test(tests, times_count_from_the_start_too);
	tcase_add_test(tests, enabled_but_never_running_is_never_scheduled_and_not_0);
	tcase_add_test(tests, a_stored_zero_is_counted_and_0);
	tcase_add_test(tests, an_optional_event_that_is_not_here_is_not_supported_beside_others);
	tcase_add_test(tests, a_backward_step_is_flagged_and_counted_anew_from_there);
	tcase_add_test(tests, counts_beyond_63_bits_keep_their_differences);
	tcase_add_test(tests, a_counter_in_the_error_state_gives_PARTIAL_and_goes_on_later);
	tcase_add_test(tests,
	               a_set_that_was_in_the_error_state_counts_rightly_when_it_is_started_again);
	tcase_add_test(tests, time_in_the_error_state_counts_as_time_without_a_counter);
	tcase_add_test(tests, a_group_in_the_error_state_does_not_disturb_the_others);
	tcase_add_test(tests, a_read_that_the_kernel_refuses_changes_nothing_and_loses_nothing);
	tcase_add_test(tests, a_failing_store_loses_no_count);
	tcase_add_test(tests, a_failing_store_in_stop_stops_and_read_gives_the_counts);
	tcase_add_test(tests, a_wrong_root_is_refused_and_changes_nothing);
	tcase_add_test(tests, a_topology_may_go_before_its_sets);
}

int main(void)
{
	Suite *suite = suite_create("status");

	add_tests(scene_case(suite, "exact"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}
