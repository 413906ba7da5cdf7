/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage stat's ways to count a command: the choice by cost, the lines of the footer, the place
 * of a control group, and the CPU time that a process spent out of it. */
#include "locate/locate.h"
#include "support/scene.h"
#include "tools/stat_count.h"

#include <errno.h>
#include <math.h>

/* A virtual machine with 8 CPUs for later and 3 that it has, one of which is offline. */
static void show_cpus(void)
{
	fake_file("/sys/devices/system/cpu/possible", "0-10\n");
	fake_file("/sys/devices/system/cpu/present", "0-2\n");
	fake_file("/sys/devices/system/cpu/online", "0-1\n");
}

START_TEST(copies_are_events_by_cpus_and_many_of_them_want_a_control_group)
{
	size_t many = 3; /* the least number of events with 8 copies */

	show_cpus();
	ck_assert_uint_eq(stat_method_copies(STAT_METHOD_PER_CPU, 5), 15);
	ck_assert_uint_eq(stat_method_copies(STAT_METHOD_WHOLE, 5), 5);
	ck_assert_uint_eq(stat_method_copies(STAT_METHOD_CGROUP, 5), 0);
	ck_assert_uint_eq(stat_method_copies(STAT_METHOD_BPF, 5), 0);
	ck_assert_int_eq((int)stat_method_choose(many, false), STAT_METHOD_CGROUP);
	ck_assert_int_eq((int)stat_method_choose(many - 1, false), STAT_METHOD_PER_CPU);
	ck_assert_int_eq((int)stat_method_choose(1, true), STAT_METHOD_CGROUP);
	fake_file("/sys/devices/system/cpu/present", NULL);
	ck_assert_uint_eq(stat_method_copies(STAT_METHOD_PER_CPU, 5), 5);
}
END_TEST

#define GROUP "/sys/fs/cgroup/own"

/* Version 1 has a cpu.stat without the CPU time, or none. */
START_TEST(a_group_whose_time_is_unknown_is_taken_only_if_it_is_asked_for)
{
	char folder[] = GROUP;
	const struct tool_cgroup group = {.folder = folder};
	struct ps_eventset *set = scene_set("page-faults", NULL);

	ck_assert(isnan(tool_cgroup_cpu_s(&group)));
	fake_file(GROUP "/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
	double unknown_s = tool_cgroup_cpu_s(&group);
	ck_assert(isnan(unknown_s));
	ck_assert(stat_method_is_blind(STAT_METHOD_AUTO, set, unknown_s));
	ck_assert(!stat_method_is_blind(STAT_METHOD_CGROUP, set, unknown_s));
	fake_file(GROUP "/cpu.stat", "usage_usec 1500000\nuser_usec 0\nsystem_usec 0\n");
	ck_assert_double_eq(tool_cgroup_cpu_s(&group), 1.5);
	ck_assert(!stat_method_is_blind(STAT_METHOD_AUTO, set, tool_cgroup_cpu_s(&group)));
	ps_eventset_destroy(set);
}
END_TEST

static void check_suggestion(enum stat_method method, size_t limit, const char *wanted)
{
	struct ps__buffer out = {0};

	fake_set_nofile((unsigned)limit);
	stat_method_suggest(method, 5, 500, &out);
	ck_assert_str_eq(ps__buffer_text(&out), wanted);
	ps__buffer_clear(&out);
}

START_TEST(a_method_that_takes_few_enough_descriptors_is_named)
{
	size_t by_bpf = 5 * 2 + 7;
	char takes[200], wanted[512];

	show_cpus();
	fake_bpf_offer();
	for (int tid = 500; tid < 700; tid++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/500/task/%d/stat", tid);
		fake_file(path, "x");
	}
	snprintf(takes, sizeof takes, "%zu file descriptors, however many threads there are",
	         by_bpf);
	snprintf(wanted, sizeof wanted, "--method bpf takes %s", takes);
	check_suggestion(STAT_METHOD_AUTO, by_bpf, wanted);
	snprintf(wanted, sizeof wanted,
	         "--method bpf takes %s; --method looks takes 1000, with an estimated split",
	         takes);
	check_suggestion(STAT_METHOD_PER_CPU, by_bpf + 1000, wanted);
	check_suggestion(STAT_METHOD_AUTO, by_bpf - 1, "");
	check_suggestion(STAT_METHOD_BPF, by_bpf, "");
	fake_file("/proc/self/ns/pid", "4026532000");
	snprintf(wanted, sizeof wanted,
	         "--method bpf would take %s; it isn't possible: attribution by BPF: this process "
	         "is in a PID namespace, as of a container, where processes don't have the "
	         "kernel's own numbers: run outside of it (docker: --pid host)",
	         takes);
	check_suggestion(STAT_METHOD_WHOLE, by_bpf, wanted);
	/* Three are open; the fourth is that of the folder. */
	for (int fd = 0; fd < 4; fd++) {
		char path[64];
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		fake_file(path, "x");
	}
	check_suggestion(STAT_METHOD_WHOLE, by_bpf + 2, "");
	check_suggestion(STAT_METHOD_WHOLE, by_bpf + 3, wanted);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

static void check_line(struct stat_how how, const char *wanted)
{
	struct ps__buffer out = {0};

	stat_method_show(&how, &out);
	ck_assert_str_eq(ps__buffer_text(&out), wanted);
	ps__buffer_clear(&out);
}

START_TEST(a_costly_method_is_named_with_its_cost_and_the_remedy)
{
	check_line((struct stat_how){.method = STAT_METHOD_AUTO}, "");
	check_line((struct stat_how){.method = STAT_METHOD_PER_CPU, .copies = 255}, "");
	check_line((struct stat_how){.method = STAT_METHOD_PER_CPU, .copies = 320},
	           "method      per-cpu: a thread that is created takes 320 copies of events, "
	           "320.0 us or more and 364.8kB; --method looks is cheaper, with an "
	           "estimated split\n");
	check_line((struct stat_how){.method = STAT_METHOD_PER_CPU, .copies = 256, .why = "no"},
	           "method      per-cpu: a thread that is created takes 256 copies of events, "
	           "256.0 us or more and 291.8kB; --method looks is cheaper, with an "
	           "estimated split; --method cgroup isn't possible: no\n");
	check_line(
	    (struct stat_how){
		.method = STAT_METHOD_TIME_SHARE, .copies = 69, .exact_copies = 320, .why = "no"},
	    "method      time-share: a thread that is created takes 69 copies of events and "
	    "clocks; --method per-cpu takes 320, and splits exactly; --method cgroup isn't "
	    "possible: no\n");
	check_line(
	    (struct stat_how){
		.method = STAT_METHOD_LOOKS, .copies = 5, .exact_copies = 320, .why = "no"},
	    "method      looks: a thread that is created takes 5 copies of events, and the "
	    "split is estimated by looks at where tasks run; --method per-cpu takes 320, and "
	    "splits exactly; --method cgroup isn't possible: no\n");
	check_line(
	    (struct stat_how){
		.method = STAT_METHOD_LOOKS, .copies = 3, .has_clocks = true, .exact_copies = 2},
	    "method      looks: a thread that is created takes 3 copies of events and clocks, and "
	    "the split is estimated by looks at where tasks run; --method per-cpu takes 2, and "
	    "splits exactly\n");
	check_line(
	    (struct stat_how){.method = STAT_METHOD_BPF},
	    "method      bpf: a program in the kernel reads each CPU's events at its context "
	    "switches, which all tasks of the machine pay for\n");
	check_line((struct stat_how){.method = STAT_METHOD_CGROUP, .left_s = 1.5},
	           "method      cgroup: a control group for the command, which its tasks don't "
	           "pay for\n"
	           "uncounted   about 1.500 s of CPU time: processes were moved out of the "
	           "control group\n");
	check_line((struct stat_how){.method = STAT_METHOD_CGROUP, .left_s = (double)NAN},
	           "method      cgroup: a control group for the command, which its tasks don't "
	           "pay for\n"
	           "uncounted   not known: the CPU time of the control group can't be read, which "
	           "shows whether processes were moved out of the control group\n");
	check_line((struct stat_how){.method = STAT_METHOD_CGROUP,
	                             .before_s = (double)NAN,
	                             .left_s = (double)NAN},
	           "method      cgroup: a control group for the command, which its tasks don't "
	           "pay for\n"
	           "uncounted   not known: the CPU time of the command before it came to its group "
	           "can't be read, which shows whether processes were moved out of the control "
	           "group\n");
}
END_TEST

START_TEST(whoever_asks_for_an_estimate_is_not_told_to_ask_for_exact_counts)
{
	struct stat_how how = {.method = STAT_METHOD_LOOKS};

	ck_assert_ptr_null(stat_method_why(&how, PS_ATTRIBUTION_MIXED));
	ck_assert_ptr_null(stat_method_why(&how, PS_ATTRIBUTION_LAST_CPU));
	how.is_asked = true;
	ck_assert_str_eq(
	    stat_method_why(&how, PS_ATTRIBUTION_MIXED),
	    "--method looks: the counts are shared out by looks at the CPUs of the tasks");
	ck_assert_str_eq(
	    stat_method_why(&how, PS_ATTRIBUTION_LAST_CPU),
	    "no task was seen running, so there is no time to share the counts out by");
	how.method = STAT_METHOD_TIME_SHARE;
	ck_assert_str_eq(stat_method_why(&how, PS_ATTRIBUTION_MIXED),
	                 "--method time-share: the counts are shared out by the time on each CPU");
	ck_assert_ptr_null(stat_method_why(&how, PS_ATTRIBUTION_PINNED));
	check_line(
	    (struct stat_how){
		.method = STAT_METHOD_LOOKS, .copies = 1, .exact_copies = 2, .is_asked = true},
	    "method      looks: a thread that is created takes 1 copy of events, and the split is "
	    "estimated by looks at where tasks run\n");
	check_line(
	    (struct stat_how){
		.method = STAT_METHOD_TIME_SHARE, .copies = 3, .exact_copies = 2, .is_asked = true},
	    "method      time-share: a thread that is created takes 3 copies of events and "
	    "clocks\n");
}
END_TEST

START_TEST(time_out_of_the_group_is_unknown_until_it_is_found)
{
	struct stat_how how = {.method = STAT_METHOD_CGROUP};

	ck_assert(isnan(stat_method_found_left_s(&how)));
	how.has_left = true;
	ck_assert_double_eq(stat_method_found_left_s(&how), 0);
	how.left_s = (double)NAN;
	ck_assert(isnan(stat_method_found_left_s(&how)));
}
END_TEST

/* 1 s in user space and 0.5 s in the kernel. */
START_TEST(time_out_of_the_group_is_what_the_group_does_not_explain)
{
	struct rusage usage = {.ru_utime = {.tv_sec = 1}, .ru_stime = {.tv_usec = 500000}};

	ck_assert_double_eq(stat_method_left_s(&usage, 1.5), 0);
	ck_assert_double_eq(stat_method_left_s(&usage, 2.5), 0); /* what goes on is in there, too */
	ck_assert_double_eq(stat_method_left_s(&usage, 1.49999), 0);
	ck_assert_double_eq_tol(stat_method_left_s(&usage, 1.4999), 1e-4, 1e-9);
	ck_assert_double_eq_tol(stat_method_left_s(&usage, 0.5), 1.0, 1e-9);
	ck_assert(isnan(stat_method_left_s(&usage, (double)NAN)));
}
END_TEST

static void check_own(const char *mounts, const char *own, const char *wanted)
{
	char folder[64] = "";

	fake_file("/proc/self/mounts", mounts);
	fake_file("/proc/self/cgroup", own);
	check_ok(ps__cgroup_own(folder, sizeof folder));
	ck_assert_str_eq(folder, wanted);
}

#define V2 "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
#define V1 "cgroup /sys/fs/perf cgroup rw,perf_event 0 0\n"

START_TEST(the_own_group_is_that_of_the_hierarchy_which_perf_knows)
{
	check_own(V2, "0::/user.slice/job\n", "/sys/fs/cgroup/user.slice/job");
	check_own(V2, "0::/\n", "/sys/fs/cgroup");
	check_own(V2, "3:cpu:/x\n0::/job:1\n", "/sys/fs/cgroup/job:1");
	check_own(V2 V1, "4:cpu,perf_event:/step\n0::/job\n", "/sys/fs/perf/step");
}
END_TEST

START_TEST(the_root_of_control_groups_is_where_that_hierarchy_is_mounted)
{
	char folder[64], small[10];

	check_fails(ps__cgroup_root(folder, sizeof folder), PS_ESYS);
	fake_file("/proc/self/mounts", "proc /proc proc rw 0 0\n");
	check_fails(ps__cgroup_root(folder, sizeof folder), PS_ESYS);
	check_detail("mount -t cgroup2 none");
	fake_file("/proc/self/mounts", V2);
	check_ok(ps__cgroup_root(folder, sizeof folder));
	ck_assert_str_eq(folder, "/sys/fs/cgroup");
	check_fails(ps__cgroup_root(small, sizeof small), PS_ESYS);
	fake_file("/proc/self/mounts", V2 V1);
	check_ok(ps__cgroup_root(folder, sizeof folder));
	ck_assert_str_eq(folder, "/sys/fs/perf");
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	check_fails(ps__cgroup_root(folder, sizeof folder), PS_ENOMEM);
}
END_TEST

START_TEST(a_group_that_cannot_be_seen_is_no_place_for_another)
{
	char folder[64], small[20];

	check_fails(ps__cgroup_own(folder, sizeof folder), PS_ESYS);
	check_detail("/proc/self/mounts");
	fake_file("/proc/self/mounts", V2);
	check_fails(ps__cgroup_own(folder, sizeof folder), PS_ESYS);
	check_detail("isn't below /sys/fs/cgroup");
	fake_file("/proc/self/cgroup", "0::/../outside\n");
	check_fails(ps__cgroup_own(folder, sizeof folder), PS_ESYS);
	fake_file("/proc/self/cgroup", "nonsense\n1:cpu\n");
	check_fails(ps__cgroup_own(folder, sizeof folder), PS_ESYS);
	fake_file("/proc/self/cgroup", "0::/user.slice\n");
	check_fails(ps__cgroup_own(small, sizeof small), PS_ESYS);
	check_detail("more than 19 bytes");
	check_ok(ps__cgroup_own(folder, sizeof folder));
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	check_fails(ps__cgroup_own(folder, sizeof folder), PS_ENOMEM);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_method");
	TCase *tests = scene_case(suite, "method");

	tcase_add_test(tests, copies_are_events_by_cpus_and_many_of_them_want_a_control_group);
	tcase_add_test(tests, a_group_whose_time_is_unknown_is_taken_only_if_it_is_asked_for);
	tcase_add_test(tests, a_method_that_takes_few_enough_descriptors_is_named);
	tcase_add_test(tests, a_costly_method_is_named_with_its_cost_and_the_remedy);
	tcase_add_test(tests, time_out_of_the_group_is_what_the_group_does_not_explain);
	tcase_add_test(tests, whoever_asks_for_an_estimate_is_not_told_to_ask_for_exact_counts);
	tcase_add_test(tests, time_out_of_the_group_is_unknown_until_it_is_found);
	tcase_add_test(tests, the_own_group_is_that_of_the_hierarchy_which_perf_knows);
	tcase_add_test(tests, the_root_of_control_groups_is_where_that_hierarchy_is_mounted);
	tcase_add_test(tests, a_group_that_cannot_be_seen_is_no_place_for_another);
	return scene_run(suite);
}
