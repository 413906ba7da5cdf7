/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a group counted before it was found in the error state can't be read then. When the group
 * can be read again, at a later start, this is no count of that run.
 */
#include "base/os.h"
#include "test_error_state.h"

#include <errno.h>
#include <perfsage/counter.h>

/* The target counts 50 instructions in 3 ms. Then it loses its counter: no read tells of that. */
static void count_unread(enum target target)
{
	count(target, 50);
	run_ms(3);
	fake_set_error_state(INSTRUCTIONS, true);
	sleep_ms(20);
}

/* Starts the set as in a kernel where the counter is free again, and counts 7 in 5 ms. */
static void count_in_next_run(struct ps_eventset *set, enum target target)
{
	fake_set_error_state(INSTRUCTIONS, false); /* as PERF_EVENT_IOC_ENABLE does */
	check_ok(ps_start(set));
	count(target, 7);
	run_ms(5);
}

/* _i: the target. */
START_TEST(counts_that_could_not_be_read_are_not_of_the_next_run)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);
	attach(set, (enum target)_i);
	count_for_10_ms(set, (enum target)_i);
	count_unread((enum target)_i);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	ck_assert_uint_eq(scene_part(0, "instructions", 0).raw, 1000);
	count_in_next_run(set, (enum target)_i);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	scene_check_residual(set);
	/* The next start has nothing to drop. */
	count_in_next_run(set, (enum target)_i);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	ps_eventset_destroy(set);
}
END_TEST

/* The group of cycles has no counter in any run. */
START_TEST(a_group_that_is_read_again_tells_the_time_of_this_run)
{
	struct ps_eventset *set = set_of_two();

	count_for_10_ms(set, SELF);
	fake_set_error_state(CYCLES, true);
	count_unread(SELF);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	count_in_next_run(set, SELF);
	read_in_part(set);
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	check_value("cycles", PS_STATUS_NEVER_SCHEDULED, 0, 0, 5);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: of a CPU; otherwise of a thread, whose second group tells the time. */
START_TEST(a_group_that_is_off_again_lacks_the_time_of_this_run)
{
	enum target target = _i ? A_CPU : SELF;
	struct ps_eventset *set = set_of_two();

	attach(set, target);
	count_for_10_ms(set, target);
	count_unread(target);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	count_in_next_run(set, target);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(INSTRUCTIONS, true);
	run_ms(15);
	read_in_part(set);
	check_value("instructions", PS_STATUS_SCALED, 28, 5, 20);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(counts_that_could_not_be_read_are_dropped_when_they_can_be_read)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);

	count_for_10_ms(set, SELF);
	count_unread(SELF);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	check_ok(ps_start(set)); /* there still is no counter */
	run_ms(10);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	ck_assert_int_eq((int)scene_part(0, "instructions", 0).status, PS_STATUS_NEVER_SCHEDULED);
	count_in_next_run(set, SELF);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_start_that_can_not_drop_the_counts_fails_and_can_be_repeated)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);
	int fd;

	count_for_10_ms(set, SELF);
	count_unread(SELF);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	fake_set_error_state(INSTRUCTIONS, false);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_start(set), PS_ESYS);
	ck_assert_uint_eq(fake_counter_fds(&fd, 1), 1);
	ck_assert(!fake_enabled_of_fd(fd));
	count_in_next_run(set, SELF);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	ps_eventset_destroy(set);
}
END_TEST

/* The counts are from before ps_reset. */
START_TEST(counts_that_could_not_be_read_are_dropped_by_a_resume)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);

	count_for_10_ms(set, SELF);
	count_unread(SELF);
	check_ok(ps_pause(set));
	check_ok(ps_reset(set));
	fake_set_error_state(INSTRUCTIONS, false);
	check_ok(ps_resume(set));
	fake_advance(INSTRUCTIONS, 7);
	run_ms(5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	ps_eventset_destroy(set);
}
END_TEST

/* The leader's counter goes on while it is paused. */
START_TEST(counts_of_a_paused_event_that_could_not_be_read_are_dropped)
{
	begin();
	struct ps_eventset *set = scene_set("instructions", NULL);

	count_for_10_ms(set, SELF);
	check_ok(ps_eventset_pause_event(set, 0));
	fake_advance(INSTRUCTIONS, 500);
	count_unread(SELF);
	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	count_in_next_run(set, SELF);
	check_ok(ps_eventset_resume_event(set, 0));
	fake_advance(INSTRUCTIONS, 11);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(scene_part(0, "instructions", 0).raw, 11);
	ps_eventset_destroy(set);
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);

static ssize_t lose_counter(int fd, void *buffer, size_t size_bytes)
{
	(void)fd;
	(void)buffer;
	(void)size_bytes;
	fake_set_count(INSTRUCTIONS, 50);
	ps__os.read = real_read;
	return 0;
}

/* The first group is read, and is in the error state, when it was tried which events fit. */
START_TEST(counts_of_planning_that_could_not_be_read_are_of_no_run)
{
	struct ps_eventset *set = set_of_two();

	real_read = ps__os.read;
	ps__os.read = lose_counter;
	check_ok(ps_start(set));
	ck_assert_ptr_eq(ps__os.read, real_read);
	fake_advance(INSTRUCTIONS, 7);
	run_ms(5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_value("instructions", PS_STATUS_COUNTED, 7, 5, 5);
	check_value("cycles", PS_STATUS_COUNTED, 0, 5, 5);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("restart after the error state");
	TCase *tests = scene_case_last_cpu(suite, "one count for all CPUs");

	tcase_add_loop_test(tests, counts_that_could_not_be_read_are_not_of_the_next_run, 0,
	                    A_CPU + 1);
	tcase_add_test(tests, a_group_that_is_read_again_tells_the_time_of_this_run);
	tcase_add_loop_test(tests, a_group_that_is_off_again_lacks_the_time_of_this_run, 0, 2);
	tcase_add_test(tests, counts_that_could_not_be_read_are_dropped_when_they_can_be_read);
	tcase_add_test(tests, a_start_that_can_not_drop_the_counts_fails_and_can_be_repeated);
	tcase_add_test(tests, counts_that_could_not_be_read_are_dropped_by_a_resume);
	tcase_add_test(tests, counts_of_a_paused_event_that_could_not_be_read_are_dropped);
	tcase_add_test(tests, counts_of_planning_that_could_not_be_read_are_of_no_run);
	tests = scene_case_instances(suite, "per-CPU counters");
	tcase_add_loop_test(tests, counts_that_could_not_be_read_are_not_of_the_next_run, 0,
	                    TARGETS);
	tests = scene_case(suite, "migration records");
	tcase_add_loop_test(tests, counts_that_could_not_be_read_are_not_of_the_next_run, 0, 2);
	return scene_run(suite);
}
