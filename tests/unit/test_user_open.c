/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is read in user space: whoever can't be is read by read(2), with a sentence that says why,
 * and nothing stays mapped.
 */
#include "test_user.h"

#include <sys/wait.h>

#define RDPMC "/sys/bus/event_source/devices/cpu/format/rdpmc"

/* Why it isn't read in user space. */
static void check_refusal(struct ps_eventset *set, const char *part_of_why)
{
	check_ok(ps_start(set));
	check_path(set, PS_READ_PATH_SYSCALL, part_of_why);
	fake_advance(INSTRUCTIONS, 30);
	fake_count_reset();
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_ge(fake_count(FAKE_READ), 1);
	ck_assert_uint_eq(machine.reads, 0);
	ps_eventset_destroy(set);
}

START_TEST(the_reason_is_told)
{
	struct ps_eventset *set;
	static const char *const reasons[] = {
	    SETTING " is 0; an administrator permits it by echo 1 > " SETTING,
	    SETTING ": No such file",
	    "2 kinds of cores",
	    "valgrind",
	    "its page can't be mapped: Operation not permitted: raise kernel.perf_event_mlock_kb",
	    "'instructions': the kernel doesn't permit it for this event (cap_user_rdpmc is 0)",
	    "cap_user_time is 0",
	    "a counter of 0 bits",
	    "2 pages would be mapped, beside 0 that are",
	    "a counter of 65 bits",
	};

	switch (_i) {
	case 0:
		fake_file(SETTING, "0\n");
		break;
	case 1:
		fake_file(SETTING, NULL);
		break;
	case 2:
		fake_file("/sys/bus/event_source/devices/cpu_atom/type", "10\n");
		break;
	case 3:
		fake_arch.is_valgrind = true;
		break;
	case 4:
		fake_fail(FAKE_MMAP, 1, EPERM);
		break;
	case 5:
		machine.model.cap_user_rdpmc = 0;
		break;
	case 6:
		machine.model.cap_user_time = 0;
		break;
	case 7:
		machine.model.pmc_width = 0;
		break;
	case 8:
		fake_file("/proc/sys/kernel/perf_event_mlock_kb", "1\n");
		break;
	default:
		machine.model.pmc_width = 65;
	}
	set = scene_set("instructions", "cycles", NULL);
	check_refusal(set, reasons[_i]);
}
END_TEST

START_TEST(other_than_the_threads_own_hardware_events_are_read_by_read_2)
{
	struct ps_eventset *set = NULL;
	static const char *const reasons[] = {
	    "'page-faults' is counted by the kernel's software, and shares its group",
	    "'page-faults' is counted by the kernel's software",
	    "attached to CPU 1",
	    "attached to thread",
	    "attached to process",
	    "attached to a control group"};

	if (_i == 0)
		set = scene_set("instructions", "page-faults", NULL);
	else if (_i == 1)
		set = scene_set("page-faults", "minor-faults", NULL);
	else
		set = scene_set("instructions", NULL);
	if (_i == 2)
		check_ok(ps_eventset_attach_cpu(set, 1));
	if (_i == 3)
		check_ok(ps_eventset_attach_tid(set, ps__os.gettid()));
	if (_i == 4)
		fake_task(4000, "job", 1);
	if (_i == 4) {
		fake_file("/proc/4000/task/4000/stat", "4000 (job) R 1\n");
		check_ok(ps_eventset_attach_process(set, 4000));
	}
	if (_i == 5) {
		fake_file("/sys/fs/cgroup/job/cgroup.procs", "");
		check_ok(ps_eventset_attach_cgroup(set, "/sys/fs/cgroup/job"));
	}
	check_refusal(set, reasons[_i]);
	ck_assert_uint_eq(machine.count, 0);
}
END_TEST

START_TEST(nothing_is_known_before_the_first_start)
{
	struct ps_eventset *set = scene_set("instructions", NULL);
	const char *why = NULL;

	check_path(set, PS_READ_PATH_SYSCALL, "ps_start");
	ck_assert_int_eq((int)ps_eventset_read_path(NULL, &why), PS_READ_PATH_SYSCALL);
	ck_assert_str_eq(why, "");
	ck_assert_int_eq((int)ps_eventset_read_path(set, NULL), PS_READ_PATH_SYSCALL);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_asks_for_it_where_the_pmu_wants_to_be_asked)
{
	int fds[4];

	fake_file(RDPMC, "config1:1\n");
	struct ps_eventset *set = started();
	ck_assert_uint_ge(fake_counter_fds(fds, 4), 2);
	ck_assert_uint_eq(fake_attr_of_fd(fds[0])->config1, 2);
	ck_assert_uint_eq(fake_attr_of_fd(fds[1])->config1, 2);
	check_path(set, PS_READ_PATH_USER, "");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(it_is_not_asked_for_without_permission_or_for_others)
{
	int fds[4];

	fake_file(RDPMC, "config1:1\n");
	if (_i == 0)
		fake_file(SETTING, "0\n");
	struct ps_eventset *set = scene_set("instructions", NULL);
	if (_i == 1)
		check_ok(ps_eventset_attach_cpu(set, 0));
	check_ok(ps_start(set));
	ck_assert_uint_ge(fake_counter_fds(fds, 4), 1);
	ck_assert_uint_eq(fake_attr_of_fd(fds[0])->config1, 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_that_refuses_to_be_asked_is_opened_without)
{
	int fds[4];

	fake_file(RDPMC, "config1:1\n");
	struct ps_eventset *set = scene_set("instructions", "cycles", NULL);
	fake_fail(FAKE_PERF_EVENT_OPEN, 1, EOPNOTSUPP);
	check_ok(ps_start(set));
	ck_assert(fake_fail_happened());
	ck_assert_uint_ge(fake_counter_fds(fds, 4), 2);
	ck_assert_uint_eq(fake_attr_of_fd(fds[0])->config1, 0);
	ck_assert_uint_eq(fake_attr_of_fd(fds[1])->config1, 2);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_failed_mapping_leaves_nothing_mapped)
{
	struct ps_eventset *set = scene_set("instructions", "cycles", "branches", NULL);

	fake_fail(FAKE_MMAP, (unsigned)_i + 1, ENOMEM);
	check_ok(ps_start(set));
	ck_assert(fake_fail_happened());
	check_path(set, PS_READ_PATH_SYSCALL, "can't be mapped: Cannot allocate memory");
	ck_assert_uint_eq(fake_mapped_bytes(), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_budget_is_given_back)
{
	/* Of four CPUs: 16 pages, half of them for rings */
	fake_file("/proc/sys/kernel/perf_event_mlock_kb", "16\n");
	struct ps_eventset *sets[5];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 5; i++) {
			machine.count = 0;
			sets[i] = started();
			ck_assert_int_eq((int)ps_eventset_read_path(sets[i], NULL),
			                 i < 4 ? PS_READ_PATH_USER : PS_READ_PATH_SYSCALL);
		}
		check_path(sets[4], PS_READ_PATH_SYSCALL,
		           "2 pages would be mapped, beside 8 that are");
		for (int i = 0; i < 5; i++)
			ps_eventset_destroy(sets[i]);
	}
}
END_TEST

START_TEST(a_forked_child_does_not_unmap_what_it_has_not)
{
	int status = 0;

	struct ps_eventset *set = started();
	pid_t pid = fork();
	if (pid == 0) {
		fake_count_reset();
		ps_eventset_destroy(set);
		_exit(fake_count(FAKE_MUNMAP) == 0 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_mapped_bytes(), 0);
}
END_TEST

START_TEST(paths_have_names)
{
	ck_assert_str_eq(ps_read_path_name(PS_READ_PATH_SYSCALL), "syscall");
	ck_assert_str_eq(ps_read_path_name(PS_READ_PATH_USER), "user");
	ck_assert_str_eq(ps_read_path_name(PS_READ_PATH_PAPI), "papi");
	ck_assert_str_eq(ps_read_path_name((enum ps_read_path)99), "unknown");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("opening for user space");
	TCase *opening = scene_case_last_cpu(suite, "opening");

	tcase_add_checked_fixture(opening, arrange, NULL);
	tcase_add_loop_test(opening, the_reason_is_told, 0, 10);
	tcase_add_loop_test(opening, other_than_the_threads_own_hardware_events_are_read_by_read_2,
	                    0, 6);
	tcase_add_test(opening, nothing_is_known_before_the_first_start);
	tcase_add_test(opening, an_event_asks_for_it_where_the_pmu_wants_to_be_asked);
	tcase_add_loop_test(opening, it_is_not_asked_for_without_permission_or_for_others, 0, 2);
	tcase_add_test(opening, an_event_that_refuses_to_be_asked_is_opened_without);
	tcase_add_loop_test(opening, a_failed_mapping_leaves_nothing_mapped, 0, 3);
	tcase_add_test(opening, the_budget_is_given_back);
	tcase_add_test(opening, a_forked_child_does_not_unmap_what_it_has_not);
	tcase_add_test(opening, paths_have_names);
	return scene_run(suite);
}
