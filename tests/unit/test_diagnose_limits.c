/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of the diagnosis about descriptors, rings, CPUs, methods and tracepoints, in each state
 * that they can find. */
#include "test_diagnose.h"

#include "base/os.h"

#include <errno.h>

#define CPU     "/sys/devices/system/cpu/"
#define TRACING "/sys/kernel/tracing/events/"

static rlim_t hard_limit;

static int getrlimit_with_hard(int resource, struct rlimit *limit)
{
	(void)resource;
	*limit = (struct rlimit){.rlim_cur = 14, .rlim_max = hard_limit};
	return 0;
}

#define SIX_EVENTS "page-faults minor-faults major-faults task-clock cpu-clock context-switches"

START_TEST(descriptors_are_set_beside_what_the_events_need)
{
	check_ok(diagnose(SIX_EVENTS));
	check_found("descriptors", "", PS_FINDING_GOOD,
	            "is 1024, of which 0 are open. 6 events of one task need 6 file descriptors; "
	            "exact attribution needs 25 (4 CPUs)",
	            NULL);
	fake_set_nofile(16); /* enough for migration records alone */
	check_ok(diagnose(SIX_EVENTS));
	check_found("descriptors", "", PS_FINDING_GOOD, "By migration records it needs 8.", NULL);
	check_found("together", "", PS_FINDING_GOOD, "exact", NULL);
	fake_set_nofile(14); /* enough for neither instances nor migration records */
	check_ok(diagnose(SIX_EVENTS));
	check_found("descriptors", "", PS_FINDING_LIMITED, "last-cpu", "limits.conf");
	check_by("descriptors", PS_REMEDY_BY_ADMINISTRATOR);
	check_found("together", "", PS_FINDING_LIMITED,
	            "last-cpu, because exact attribution takes 24", NULL);
	hard_limit = 4096;
	ps__os.getrlimit = getrlimit_with_hard;
	check_ok(diagnose(SIX_EVENTS));
	check_found("descriptors", "", PS_FINDING_LIMITED, "The limit (RLIMIT_NOFILE) is 14",
	            "ulimit -n 50");
	check_by("descriptors", PS_REMEDY_BY_YOU);
}
END_TEST

START_TEST(a_limit_that_is_too_low_for_all_events_is_blocked)
{
	fake_set_nofile(8);
	ck_assert_int_eq(diagnose(SIX_EVENTS), PS_ECOUNT);
	check_found("event", "cpu-clock", PS_FINDING_GOOD, "hardware thread", NULL);
	check_found("together", "", PS_FINDING_BLOCKED, "file descriptors", NULL);
	ck_assert_int_eq(found("together", "")->code, PS_ECOUNT);
	fake_file("/proc/self/fd/0", "");
	fake_file("/proc/self/fd/1", "");
	fake_file("/proc/self/fd/2", "");
	fake_file("/proc/self/fd/3", "");
	ck_assert_int_eq(diagnose(SIX_EVENTS), PS_ECOUNT);
	check_found("descriptors", "", PS_FINDING_BLOCKED, "too low to count them at all",
	            "nofile 50");
	fake_fail_always(FAKE_GETRLIMIT, EINVAL);
	ck_assert_int_eq(diagnose(SIX_EVENTS), PS_ECOUNT);
	check_found("descriptors", "", PS_FINDING_UNKNOWN, "EINVAL", NULL);
}
END_TEST

START_TEST(a_ring_that_cannot_be_mapped_is_the_fault_of_locked_memory)
{
	check_ok(diagnose("page-faults"));
	check_found("rings", "", PS_FINDING_GOOD, "kernel.perf_event_mlock_kb is 516", NULL);
	fake_fail_always(FAKE_MMAP, EPERM);
	check_ok(diagnose("page-faults"));
	check_found("rings", "", PS_FINDING_LIMITED, "EPERM",
	            "sysctl kernel.perf_event_mlock_kb=2064");
	check_lasting("rings", "'kernel.perf_event_mlock_kb = 2064' > /etc/sysctl.d/");
	fake_fail_always(FAKE_MMAP, ENOMEM);
	check_ok(diagnose("page-faults"));
	check_found("rings", "", PS_FINDING_LIMITED, "ENOMEM", NULL);
	fake_fail_always(FAKE_MMAP, 0);
	fake_set_paranoid(3, false);
	ck_assert_int_eq(diagnose("page-faults"), PS_EPERM);
	check_found("rings", "", PS_FINDING_UNKNOWN, "No event opens here", NULL);
}
END_TEST

START_TEST(cpus_that_are_offline_are_named)
{
	setup_status("0", NO_CAPABILITY, "0-1,3");
	fake_file(CPU "online", "0-1,3\n");
	fake_file(CPU "possible", "0-7\n");
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_LIMITED,
	            "CPUs 0-1,3 are online, 0-3 are present, 0-7 are possible: 1 is offline",
	            "echo 1 > " CPU "cpu2/online");
	check_by("cpus", PS_REMEDY_BY_ADMINISTRATOR);
	fake_file(CPU "present", NULL);
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_UNKNOWN, "can't be read", NULL);
	check_found("descriptors", "", PS_FINDING_UNKNOWN, "present can't be read", NULL);
}
END_TEST

START_TEST(a_cpuset_is_told_from_an_affinity_mask)
{
	setup_status("0", NO_CAPABILITY, "0-3");
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_GOOD, "may run on all of them", NULL);
	setup_status("0", NO_CAPABILITY, "1");
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_LIMITED,
	            "may run on 1 alone, by its affinity mask or by a cpuset", "taskset -pc 0-3");
	fake_file("/proc/self/cgroup", "3:cpuset:/old\n0::/job/step\n");
	fake_file("/sys/fs/cgroup/job/step/cpuset.cpus.effective", "1\n");
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_LIMITED, "its cgroup's cpuset is 1",
	            "--cpuset-cpus=0-3");
	check_by("cpus", PS_REMEDY_BY_CONTAINER_OWNER);
	fake_file("/sys/fs/cgroup/job/step/cpuset.cpus.effective", "0-3\n");
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_LIMITED, "its affinity mask limits it", "taskset");
	check_by("cpus", PS_REMEDY_BY_YOU);
	fake_file("/sys/fs/cgroup/job/step/cpuset.cpus.effective", NULL);
	fake_file("/sys/fs/cgroup/cpuset/old/cpuset.effective_cpus", "1,2\n");
	check_ok(diagnose("page-faults"));
	check_found("cpus", "", PS_FINDING_LIMITED, "its cgroup's cpuset is 1,2",
	            "--cpuset-cpus=0-3");
}
END_TEST

START_TEST(tracepoints_are_tried_by_opening_one)
{
	check_ok(diagnose("page-faults"));
	check_found("tracepoints", "", PS_FINDING_ABSENT, "not mounted", "mount -t tracefs");
	check_lasting("tracepoints", "mode=755 0 0' >> /etc/fstab");
	fake_fail_always(FAKE_LIST, EACCES);
	check_ok(diagnose("page-faults"));
	check_found("tracepoints", "", PS_FINDING_BLOCKED, "EACCES", "mode=755");
	fake_fail_always(FAKE_LIST, 0);
	fake_file(TRACING "x/y/id", "3\n");
	check_ok(diagnose("page-faults"));
	check_found("tracepoints", "", PS_FINDING_GOOD, "no sched:sched_switch", NULL);
	fake_file(TRACING "sched/sched_switch/id", "300\n");
	check_ok(diagnose("page-faults"));
	check_found("tracepoints", "", PS_FINDING_BLOCKED, "sched:sched_switch is refused (ENOENT)",
	            NULL);
	fake_add_event(PERF_TYPE_TRACEPOINT, 300);
	check_ok(diagnose("page-faults"));
	check_found("tracepoints", "", PS_FINDING_GOOD, "sched:sched_switch opens", NULL);
	fake_set_paranoid(2, false);
	check_ok(diagnose("page-faults"));
	check_found("tracepoints", "", PS_FINDING_BLOCKED, "is refused (EACCES)",
	            "perf_event_paranoid=1");
}
END_TEST

/* A hierarchy of control groups; the calling process is in /job. */
static void offer_cgroups(void)
{
	fake_file("/proc/self/mounts", "none /cg cgroup2 rw 0 0\n");
	fake_file("/proc/self/cgroup", "0::/job\n");
	fake_file("/cg/job/cgroup.procs", "1\n");
}

START_TEST(the_method_cgroup_is_tried_with_ones_own_group)
{
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_UNKNOWN, "--method cgroup can't be used: /proc", NULL);
	offer_cgroups();
	fake_file("/proc/self/mounts", "proc /proc proc rw 0 0\n");
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_ABSENT, "mount -t cgroup2 none", NULL);
	offer_cgroups();
	fake_set_paranoid(0, false);
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_GOOD, "group, /cg/job. Counts a control group: yes; m",
	            NULL);
	fake_file_error("/cg/job/cgroup.procs", EACCES);
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_BLOCKED,
	            "control group: yes; moves processes to one: no (EACCES)", "-p Delegate=yes");
	check_by("cgroup", PS_REMEDY_BY_YOU);
	fake_set_paranoid(2, false);
	check_ok(diagnose("page-faults"));
	check_found(
	    "cgroup", "", PS_FINDING_BLOCKED,
	    "to one: no (EACCES). To move processes you also need a control group of your own: "
	    "systemd-run --user --scope -p Delegate=yes COMMAND.",
	    "perf_event_paranoid=0");
	check_by("cgroup", PS_REMEDY_BY_ADMINISTRATOR);
	fake_set_paranoid(0, false);
	fake_file_error("/cg/job/cgroup.procs", EROFS);
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_BLOCKED, "to one: no (Read-only file system)", NULL);
	offer_cgroups();
	fake_set_paranoid(2, false);
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_BLOCKED, "Counts a control group: no (EACCES); m",
	            "perf_event_paranoid=0");
	check_by("cgroup", PS_REMEDY_BY_ADMINISTRATOR);
	check_lasting("cgroup", "'kernel.perf_event_paranoid = 0'");
	fake_set_paranoid(0, false);
	fake_remove_cgroup();
	check_ok(diagnose("page-faults"));
	check_found("cgroup", "", PS_FINDING_ABSENT, "control group: no (ENOENT); moves", NULL);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

#define BPF_ALONE "0000008000000000"
#define BOTH      "000000c000000000"

START_TEST(the_method_bpf_is_tried_and_its_obstacle_named)
{
	check_ok(diagnose("page-faults"));
	check_found("bpf", "", PS_FINDING_UNKNOWN, "ns/pid can't be read", NULL);
	fake_bpf_offer();
	fake_set_paranoid(0, false);
	check_ok(diagnose("page-faults"));
	check_found("bpf", "", PS_FINDING_GOOD, "can be used", NULL);
	/* Three maps, two programs, two tracepoints, a run: the last came with Linux 5.10. */
	fake_fail(FAKE_BPF, 8, 524);
	check_ok(diagnose("page-faults"));
	check_found("bpf", "", PS_FINDING_ABSENT, "Linux 5.10 or later", NULL);
	fake_set_paranoid(1, false);
	check_ok(diagnose("page-faults"));
	check_found("bpf", "", PS_FINDING_BLOCKED, "whole CPUs are refused (EACCES)", NULL);
	setup_status("0", BOTH, "0-3");
	fake_file("/sys/kernel/btf/vmlinux", NULL);
	check_ok(diagnose("page-faults"));
	check_found("bpf", "", PS_FINDING_ABSENT, "vmlinux can't be read (ENOENT)",
	            "CONFIG_DEBUG_INFO_BTF=y");
	check_by("bpf", PS_REMEDY_BY_ADMINISTRATOR);
	fake_file("/proc/self/ns/pid", "4026532000");
	check_ok(diagnose("page-faults"));
	check_found("bpf", "", PS_FINDING_BLOCKED, "in a PID namespace", "docker run --pid host");
	check_by("bpf", PS_REMEDY_BY_CONTAINER_OWNER);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

START_TEST(a_refusal_of_bpf_is_set_beside_the_capabilities)
{
	static const struct {
		const char *seccomp, *capabilities;
		int error;
		enum ps_finding_state state;
		const char *part, *remedy;
	} rows[] = {
	    {"0", NO_CAPABILITY, EPERM, PS_FINDING_BLOCKED,
	     "CAP_BPF is not held, CAP_PERFMON is not held. /sys/kernel/btf/vmlinux is there.",
	     "setcap cap_bpf,cap_perfmon+ep"},
	    {"0", BPF_ALONE, EPERM, PS_FINDING_BLOCKED, "CAP_BPF is held, CAP_PERFMON is not held",
	     "setcap cap_bpf,cap_perfmon+ep"},
	    {"0", BOTH, EPERM, PS_FINDING_BLOCKED, "a security module or the lockdown", NULL},
	    {"2", NO_CAPABILITY, EPERM, PS_FINDING_BLOCKED, "needs CAP_BPF and CAP_PERFMON",
	     "--cap-add BPF"},
	    {"0", BOTH, ENOSYS, PS_FINDING_ABSENT, "the kernel has no bpf(2)", NULL},
	    {"0", BOTH, EINVAL, PS_FINDING_ABSENT, "Linux 5.10 or later", NULL},
	    {"0", BOTH, EMFILE, PS_FINDING_BLOCKED, "ulimit -n", NULL},
	};

	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		fake_bpf_offer();
		setup_status(rows[row].seccomp, rows[row].capabilities, "0-3");
		fake_fail_always(FAKE_BPF, rows[row].error);
		check_ok(diagnose("page-faults"));
		check_found("bpf", "", rows[row].state, rows[row].part, rows[row].remedy);
		ck_assert_uint_eq(fake_open_fds(), 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diagnose_limits");
	TCase *tests = scene_case(suite, "limits");

	tcase_add_checked_fixture(tests, NULL, forget);
	tcase_add_test(tests, descriptors_are_set_beside_what_the_events_need);
	tcase_add_test(tests, a_limit_that_is_too_low_for_all_events_is_blocked);
	tcase_add_test(tests, a_ring_that_cannot_be_mapped_is_the_fault_of_locked_memory);
	tcase_add_test(tests, cpus_that_are_offline_are_named);
	tcase_add_test(tests, a_cpuset_is_told_from_an_affinity_mask);
	tcase_add_test(tests, tracepoints_are_tried_by_opening_one);
	tcase_add_test(tests, the_method_cgroup_is_tried_with_ones_own_group);
	tcase_add_test(tests, the_method_bpf_is_tried_and_its_obstacle_named);
	tcase_add_test(tests, a_refusal_of_bpf_is_set_beside_the_capabilities);
	return scene_run(suite);
}
