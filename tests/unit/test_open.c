/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a set asks of the kernel: groups, domains, permissions, and limits. What becomes of a set
 * whose target changes is test_targets.c's.
 */
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>

START_TEST(a_group_has_one_disabled_leader_and_one_read_format)
{
	struct ps_eventset *set = scene_started("page-faults", "minor-faults", "task-clock", NULL);
	const uint64_t format =
	    PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	int fds[8];

	ck_assert_uint_eq(fake_counter_fds(fds, 8), 3);
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(fake_leader_of_fd(fds[i]), fds[0]);
		ck_assert_uint_eq(fake_attr_of_fd(fds[i])->read_format, format);
		ck_assert_int_eq(fake_attr_of_fd(fds[i])->inherit, 0);
		ck_assert(fake_enabled_of_fd(fds[i]));
		ck_assert_int_eq(ps_eventset_event_group(set, i), 0);
	}
	ck_assert_int_eq(fake_attr_of_fd(fds[0])->disabled, 1);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert(!fake_enabled_of_fd(fds[0]) && !fake_enabled_of_fd(fds[2]));
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* 5 events for 2 counters are 3 groups, and software events stay out of groups that take turns. */
START_TEST(what_does_not_fit_in_one_group_is_split_and_says_so)
{
	static const char *const names[] = {"cycles",           "page-faults",  "instructions",
	                                    "cache-references", "cache-misses", "branch-misses",
	                                    "task-clock"};
	static const struct {
		uint32_t type;
		uint64_t config;
	} codes[] = {{CYCLES},
	             {PAGE_FAULTS},
	             {INSTRUCTIONS},
	             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	             {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	             {TASK_CLOCK}};
	struct ps_eventset *set = scene_set(NULL, NULL);
	size_t groups;

	fake_add_core_pmu(2);
	for (size_t i = 0; i < 7; i++)
		check_ok(ps_eventset_add(set, names[i]));
	check_ok(ps_start(set));
	groups = ps_eventset_group_count(set);
	ck_assert_uint_eq(groups, 4);
	for (size_t i = 0; i < 7; i++) {
		ck_assert_int_ge(ps_eventset_event_group(set, i), 0);
		ck_assert_int_lt(ps_eventset_event_group(set, i), (int)groups);
		fake_advance(codes[i].type, codes[i].config, 100 + i);
	}
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_count_reset();
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), groups);
	for (size_t i = 0; i < 7; i++)
		ck_assert_int_eq(scene_count(0, names[i], 0), 100 + (long long)i);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_group_is_scaled_by_its_own_times)
{
	struct ps_eventset *set;
	struct ps_value value;

	fake_add_core_pmu(1);
	set = scene_started("cycles", "instructions", NULL);
	fake_set_error_state(CYCLES, true); /* the time of the other group passes */
	fake_run(1000, 500);
	fake_set_error_state(CYCLES, false);
	fake_run(1000, 1000);
	fake_advance(CYCLES, 30);
	fake_advance(INSTRUCTIONS, 30);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	value = scene_part(0, "cycles", 0);
	ck_assert_uint_eq(value.enabled_ns, 1000);
	ck_assert_int_eq(value.value, 30);
	value = scene_part(0, "instructions", 0);
	ck_assert_uint_eq(value.enabled_ns, 2000);
	ck_assert_uint_eq(value.running_ns, 1500);
	ck_assert_int_eq(value.value, 40);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(more_events_than_a_group_of_the_kernel_takes_are_counted)
{
	struct ps_eventset *set = scene_set(NULL, NULL);
	char name[16];

	fake_add_core_pmu(100000);
	fake_set_nofile(4096);
	for (unsigned i = 0; i < 2100; i++) {
		snprintf(name, sizeof(name), "r%x", i);
		check_ok(ps_eventset_add(set, name));
	}
	check_ok(ps_start(set));
	ck_assert_uint_eq(ps_eventset_group_count(set), 2);
	fake_advance(PERF_TYPE_RAW, 0, 7);
	fake_advance(PERF_TYPE_RAW, 2099, 9);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "r0", 0), 7);
	ck_assert_int_eq(scene_count(0, "r833", 0), 9);
	ck_assert_int_eq(scene_count(0, "r832", 0), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(too_few_descriptors_open_none_and_the_need_and_the_limit_are_told)
{
	struct ps_eventset *set =
	    scene_set("page-faults", "minor-faults", "task-clock", "major-faults", NULL);

	fake_set_nofile(6); /* 3 beside the standard ones */
	check_fails(ps_start(set), PS_ECOUNT);
	check_detail("4");
	check_detail("6");
	ck_assert_uint_eq(fake_open_fds(), 0);
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	fake_set_nofile(1024);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_permission_for_the_kernel_clocks_count_it_and_are_not_flagged)
{
	struct ps_eventset *set;
	int fds[2];

	fake_set_paranoid(2, false);
	set = scene_started("task-clock", "cpu-clock", NULL);
	ck_assert_uint_ge(fake_counter_fds(fds, 2), 1);
	ck_assert_int_eq(fake_attr_of_fd(fds[0])->exclude_kernel, 1);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	for (size_t index = 0; index < 2; index++) {
		ck_assert_int_eq(ps_eventset_event_is_user_only(set, index), 0);
		ck_assert_uint_eq(
		    scene_total(ps_eventset_event_name(set, index)).flags & PS_VALUE_USER_ONLY, 0);
	}
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_permission_for_the_kernel_user_space_is_counted_and_flagged)
{
	struct ps_eventset *set;
	int fd;

	fake_set_paranoid(2, false);
	set = scene_set("page-faults", "minor-faults:u", NULL);
	ck_assert_int_ne(ps_eventset_event_is_user_only(set, 0), 0);
	ck_assert_int_eq(ps_eventset_event_is_user_only(set, 1), 0); /* asked for */
	check_ok(ps_start(set));
	fake_counter_fds(&fd, 1);
	ck_assert_int_eq(fake_attr_of_fd(fd)->exclude_kernel, 1);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 5);
	ck_assert_uint_ne(scene_part(0, "page-faults", 0).flags & PS_VALUE_USER_ONLY, 0);
	ck_assert_uint_ne(scene_total("page-faults").flags & PS_VALUE_USER_ONLY, 0);
	ck_assert_uint_eq(scene_part(0, "minor-faults:u", 0).flags & PS_VALUE_USER_ONLY, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* The events are opened again, because the thread was bound elsewhere meanwhile. */
START_TEST(counts_after_the_permission_is_gone_are_flagged)
{
	struct ps_eventset *set;
	uint64_t before = 0;

	fake_set_affinity("0");
	set = scene_started("page-faults", NULL);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, &before, NULL));
	fake_set_paranoid(2, false);
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	ck_assert_int_ne(ps_eventset_event_is_user_only(set, 0), 0);
	ck_assert_int_eq(scene_count(1, "page-faults", 0), 3);
	ck_assert_uint_ne(scene_part(1, "page-faults", 0).flags & PS_VALUE_USER_ONLY, 0);
	/* The earlier reading stays as it was. */
	ck_assert_int_eq(scene_count(0, "page-faults", before), 5);
	ck_assert_uint_eq(scene_part(0, "page-faults", before).flags & PS_VALUE_USER_ONLY, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_only_the_kernel_can_count_is_refused_without_permission)
{
	static const char *const names[] = {"context-switches", "cpu-migrations", "page-faults:k",
	                                    "page-faults:uk", "msr/tsc/"};
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_add_msr();
	fake_set_paranoid(2, false);
	for (size_t i = 0; i < 5; i++) {
		check_fails(ps_eventset_add(set, names[i]), PS_EPERM);
		check_detail("perf_event_paranoid");
		check_detail(names[i]);
		check_ok(ps_eventset_add_optional(set, names[i]));
		ck_assert_int_eq((int)ps_eventset_event_status(set, i), PS_STATUS_NOT_SUPPORTED);
	}
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Other kernels take level 3 for 2: whoever may count himself isn't kept from another's task by the
 * level. */
START_TEST(at_any_level_the_task_is_named_if_the_caller_may_count_himself)
{
	struct ps_eventset *set = scene_set("page-faults:u", NULL);

	fake_task(4711, "others", 2);
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
	check_ok(ps_eventset_attach_tid(set, 4711));
	fake_file("/proc/sys/kernel/perf_event_paranoid", "3\n");
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EACCES);
	check_fails(ps_start(set), PS_EPERM);
	check_detail("may not count task 4711: it belongs to another user");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(debian_level_3_refuses_all_and_the_sentence_says_so)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_set_paranoid(3, false);
	check_fails(ps_eventset_add(set, "page-faults"), PS_EPERM);
	check_detail("perf_event_paranoid");
	check_detail("3");
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_container_that_forbids_the_call_is_told_apart_from_the_paranoid_level)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_set_paranoid(2, false);
	fake_file("/proc/self/status", "Name:\ttest\nNoNewPrivs:\t0\nSeccomp:\t2\n");
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EPERM);
	check_fails(ps_eventset_add(set, "page-faults"), PS_EPERM);
	check_detail("seccomp");
	fake_fail_always(FAKE_PERF_EVENT_OPEN, ENOSYS);
	/* The kernel has it: the file is there */
	check_fails(ps_eventset_add(set, "page-faults"), PS_EPERM);
	check_detail("seccomp");
	fake_file("/proc/sys/kernel/perf_event_paranoid", NULL);
	check_fails(ps_eventset_add(set, "page-faults"), PS_ENOSUPP);
	check_detail("CONFIG_PERF_EVENTS");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_that_can_not_be_limited_says_so)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_add_msr();
	check_ok(ps_eventset_add(set, "msr/tsc/"));
	check_fails(ps_eventset_add(set, "msr/tsc/u"), PS_EINVAL_DOM);
	check_detail("msr/tsc/u");
	check_ok(ps_eventset_add(set, "page-faults"));
	check_ok(ps_start(set));
	fake_advance(9, 0, 12345);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "msr/tsc/", 0), 12345);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_cpu_of_its_own_needs_permission)
{
	struct ps_eventset *set;

	fake_set_paranoid(1, false);
	set = scene_set("page-faults", NULL);
	check_ok(ps_eventset_attach_cpu(set, 1));
	check_fails(ps_start(set), PS_EPERM);
	check_detail("perf_event_paranoid");
	fake_set_paranoid(0, false);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_failing_start_of_the_counters_leaves_the_set_stopped)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	fake_fail_always(FAKE_IOCTL, EIO);
	ck_assert_int_lt(ps_start(set), 0);
	ck_assert_str_ne(ps_error_detail(), "");
	fake_fail_always(FAKE_IOCTL, 0);
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 2);
	ps_eventset_destroy(set);
}
END_TEST

/* Ten threads, two events. */
START_TEST(more_descriptors_than_there_can_be_are_refused_before_any_is_opened)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);
	char path[64];

	for (int tid = 500; tid < 510; tid++) {
		snprintf(path, sizeof path, "/proc/500/task/%d/stat", tid);
		fake_file(path, "500 (solver) R 1\n");
		fake_task(tid, "solver", 1);
	}
	check_ok(ps_eventset_attach_process(set, 500));
	fake_set_nofile(19);
	fake_count_reset();
	check_fails(ps_start(set), PS_ECOUNT);
	check_detail("needs 20 file descriptors for the 10 threads of process 500");
	check_detail("may have 19: raise the limit with ulimit -n");
	check_detail("its control group, or whole CPUs");
	ck_assert_uint_eq(fake_count(FAKE_PERF_EVENT_OPEN), 0);
	fake_set_nofile(1024);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("open");
	TCase *tests = scene_case_last_cpu(suite, "groups");

	tcase_add_test(tests, a_group_has_one_disabled_leader_and_one_read_format);
	tcase_add_test(tests, what_does_not_fit_in_one_group_is_split_and_says_so);
	tcase_add_test(tests, each_group_is_scaled_by_its_own_times);
	tcase_add_test(tests, more_events_than_a_group_of_the_kernel_takes_are_counted);
	tcase_add_test(tests, too_few_descriptors_open_none_and_the_need_and_the_limit_are_told);
	tcase_add_test(tests, more_descriptors_than_there_can_be_are_refused_before_any_is_opened);
	tcase_add_test(tests, a_failing_start_of_the_counters_leaves_the_set_stopped);
	tests = scene_case(suite, "permission");
	tcase_add_test(tests, without_permission_for_the_kernel_user_space_is_counted_and_flagged);
	tcase_add_test(tests,
	               without_permission_for_the_kernel_clocks_count_it_and_are_not_flagged);
	tcase_add_test(tests, counts_after_the_permission_is_gone_are_flagged);
	tcase_add_test(tests, what_only_the_kernel_can_count_is_refused_without_permission);
	tcase_add_test(tests, at_any_level_the_task_is_named_if_the_caller_may_count_himself);
	tcase_add_test(tests, debian_level_3_refuses_all_and_the_sentence_says_so);
	tcase_add_test(tests,
	               a_container_that_forbids_the_call_is_told_apart_from_the_paranoid_level);
	tcase_add_test(tests, an_event_that_can_not_be_limited_says_so);
	tcase_add_test(tests, a_cpu_of_its_own_needs_permission);
	return scene_run(suite);
}
