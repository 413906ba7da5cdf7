/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process counted by BPF: what is opened, what a reading has, and what shows that counts are
 * missing. tests/api/test_bpf.c has the real kernel.
 */
#include "test_bpf.h"

#include <errno.h>

START_TEST(counts_are_split_by_cpu)
{
	struct ps_eventset *set = started();
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	const char *why = NULL;

	/* Whatever the number of threads; and the process's own file. */
	ck_assert_uint_eq(fake_open_fds(), 1 + 2 * 4 + OBJECTS);
	ck_assert_uint_eq(fake_bpf_events(), 2 * 4);
	ck_assert_int_eq(fake_bpf_process(), PROCESS);
	ck_assert_int_eq((int)ps_eventset_attribution(set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_str_eq(why, "");
	fake_bpf_credit(1, 0, 1000);
	fake_bpf_credit(3, 0, 10);
	fake_bpf_credit(3, 1, 2);
	fake_set_cpu(2);
	check_ok(ps_read(set, scene.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), 1); /* the first thread's, whoever reads */
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 1000);
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 10);
	ck_assert_int_eq(scene_count(3, "context-switches", timestamp), 2);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 1010);
	ck_assert_int_eq((int)scene_part(1, EVENT, timestamp).attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq((int)scene_part(3, EVENT, timestamp).attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_uint_eq(scene_rows(0, EVENT), 0);
	scene_check_residual(set);
	fake_bpf_credit(0, 0, 5);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	fake_bpf_credit(0, 0, 2);
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 7);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 1017);
	/* What is stopped is not opened anew, and starts from 0. */
	check_ok(ps_start(set));
	fake_bpf_credit(2, 0, 4);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 4);
	ck_assert_uint_eq(fake_bpf_events(), 2 * 4);
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* The program knows processes by the number of their first thread. */
START_TEST(a_threads_number_stands_for_its_process)
{
	struct ps_eventset *set = attached();

	fake_task(501, "solver", 1);
	fake_file("/proc/501/status", "Name:\tsolver\nTgid:\t500\nPid:\t501\n");
	check_ok(ps_eventset_attach_process(set, 501));
	check_ok(ps_start(set));
	ck_assert_int_eq(fake_bpf_process(), PROCESS);
	ps_eventset_destroy(set);
}
END_TEST

/* Enabled is the time of the process's tasks on the CPU, so a task off the CPU is no
 * multiplexing. */
START_TEST(multiplexing_shows_on_the_cpu_where_it_was)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = attached();
	check_ok(ps_eventset_add(set, "instructions"));
	check_ok(ps_start(set));
	fake_bpf_run(2, 1000, 500);
	fake_bpf_credit(2, 2, 100);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq((int)scene_part(2, "instructions", 0).status, PS_STATUS_SCALED);
	ck_assert_int_eq(scene_part(2, "instructions", 0).value, 200);
	ps_eventset_destroy(set);
}
END_TEST

/* A switch on the CPU while its words are read belongs to the next reading, with its count and its
 * times. */
START_TEST(a_reading_takes_no_half_of_a_switch)
{
	struct ps_eventset *set = started();
	uint64_t timestamp = 0;

	fake_bpf_tear(1);
	fake_bpf_credit(1, 0, 5);
	fake_bpf_run(1, 1000, 1000);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 5);
	ck_assert_int_eq((int)scene_part(1, EVENT, timestamp).status, PS_STATUS_COUNTED);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 6);
	ps_eventset_destroy(set);
}
END_TEST

/* An event that isn't supported has no counter, and the others are told apart all the same. */
START_TEST(an_event_that_is_not_supported_is_left_out)
{
	struct ps_eventset *set = attached();

	check_ok(ps_eventset_add_optional(set, "cycles"));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_bpf_events(), 3 * 4);
	fake_bpf_credit(1, 2, 9);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(1, "minor-faults", 0), 9);
	ck_assert_int_eq((int)scene_part(1, "cycles", 0).status, PS_STATUS_NOT_SUPPORTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_an_event_that_is_supported_there_is_nothing_to_count)
{
	struct ps_eventset *set;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add_optional(attached_with(set), "cycles"));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_open_fds(), 1); /* the process's file */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

/* A CPU whose kind of cores lacks a group has one dummy in its place: it stands for all events, as
 * the program reads each. */
START_TEST(each_event_has_a_descriptor_on_each_kind_of_cores)
{
	struct ps_eventset *set;

	fake_add_hybrid(4, "0-1", 3, "2-3");
	set = attached();
	check_ok(ps_eventset_add(set, "cpu_atom/event=0x21/"));
	check_ok(ps_eventset_add(set, "cpu_atom/event=0x22/"));
	check_ok(ps_start(set));
	ck_assert_int_eq(ps_eventset_event_group(set, 2), ps_eventset_event_group(set, 3));
	ck_assert_uint_eq(fake_bpf_events(), 4 * 4);
	ps_eventset_destroy(set);
}
END_TEST

/* Every value of the reading is the least that there can have been, until the next start. */
static void check_lacking(struct ps_eventset *set, bool is_lacking)
{
	uint64_t timestamp = 0;

	fake_bpf_credit(1, 0, 3);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 3);
	ck_assert_int_eq(scene_part(1, EVENT, timestamp).status == PS_STATUS_INCOMPLETE,
	                 is_lacking);
}

START_TEST(counts_that_could_not_be_read_are_told)
{
	struct ps_eventset *set = started();

	check_lacking(set, false);
	check_ok(ps_reset(set));
	fake_bpf_fail_reading(3); /* the last one that a reading asks */
	check_lacking(set, true);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set)); /* by a new program */
	ck_assert_uint_eq(fake_bpf_events(), 2 * 2 * 4);
	check_lacking(set, false);
	ps_eventset_destroy(set);
}
END_TEST

/* Until then each switch fails on a CPU whose events aren't in the map yet. */
START_TEST(what_failed_before_the_process_was_counted_is_no_loss)
{
	fake_bpf_fail_reading(0);
	struct ps_eventset *set = started();

	check_lacking(set, false);
	ps_eventset_destroy(set);
}
END_TEST

/* A task's counts are the next one's then, or a child is not counted. */
START_TEST(a_program_that_was_left_out_is_told)
{
	struct ps_eventset *set = started();

	check_lacking(set, false);
	check_ok(ps_reset(set));
	fake_bpf_miss(_i == 1);
	check_lacking(set, true);
	check_ok(ps_reset(set));
	check_lacking(set, true); /* whose counts were credited wrongly isn't known */
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set)); /* with new programs */
	check_lacking(set, false);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_cpu_that_was_offline_is_told_also_when_it_is_back)
{
	struct ps_eventset *set = started();

	check_lacking(set, false);
	check_ok(ps_reset(set));
	fake_set_online(2, false);
	check_lacking(set, true);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_bpf_events(), 2 * 4 + 2 * 3);
	check_lacking(set, false);
	ps_eventset_destroy(set);
}
END_TEST

/* A task that is busy there has no context switch that would tell. */
START_TEST(a_cpu_that_came_online_is_told)
{
	struct ps_eventset *set = attached();

	fake_set_online(3, false);
	check_ok(ps_start(set));
	check_lacking(set, false);
	check_ok(ps_reset(set));
	fake_set_online(3, true);
	check_lacking(set, true);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_bpf_events(), 2 * 3 + 2 * 4);
	check_lacking(set, false);
	ps_eventset_destroy(set);
}
END_TEST

/* Programs that Linux doesn't count otherwise, as set-user-ID ones, are counted by number. */
START_TEST(no_program_is_left_out)
{
	struct ps_eventset *set = started();
	struct ps_uncounted uncounted = {.programs = 7};

	check_ok(ps_eventset_uncounted(set, &uncounted));
	ck_assert_uint_eq(uncounted.programs, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(other_targets_count_as_with_auto)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_BPF));
	fake_fail_always(FAKE_BPF, EPERM);
	fake_set_affinity("2");
	fake_set_cpu(2);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	fake_fail_always(FAKE_BPF, 0);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf");
	TCase *tests = scene_case(suite, "bpf");

	tcase_add_test(tests, counts_are_split_by_cpu);
	tcase_add_test(tests, a_threads_number_stands_for_its_process);
	tcase_add_test(tests, multiplexing_shows_on_the_cpu_where_it_was);
	tcase_add_test(tests, a_reading_takes_no_half_of_a_switch);
	tcase_add_test(tests, an_event_that_is_not_supported_is_left_out);
	tcase_add_test(tests, without_an_event_that_is_supported_there_is_nothing_to_count);
	tcase_add_test(tests, each_event_has_a_descriptor_on_each_kind_of_cores);
	tcase_add_test(tests, counts_that_could_not_be_read_are_told);
	tcase_add_test(tests, what_failed_before_the_process_was_counted_is_no_loss);
	tcase_add_loop_test(tests, a_program_that_was_left_out_is_told, 0, 2);
	tcase_add_test(tests, a_cpu_that_was_offline_is_told_also_when_it_is_back);
	tcase_add_test(tests, a_cpu_that_came_online_is_told);
	tcase_add_test(tests, no_program_is_left_out);
	tcase_add_test(tests, other_targets_count_as_with_auto);
	return scene_run(suite);
}
