/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each step of the diagnosis before the events, in each state that it can find: permission,
 * seccomp, container, kernel, PMUs and counters. test_diagnose_limits.c has limits, CPUs and
 * tracepoints, test_diagnose_events.c the events, the result and what fails.
 */
#include "test_diagnose.h"

#include "base/os.h"

#include <errno.h>
#include <sys/mman.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define WATCHDOG "/proc/sys/kernel/nmi_watchdog"

#define PERFMON   "0000004000000000"
#define SYS_ADMIN "0000000000200000"

START_TEST(a_kernel_with_perf_events_is_good_and_named)
{
	fake_file("/proc/sys/kernel/osrelease", "6.1.0-47\n");
	check_ok(diagnose("page-faults"));
	check_found("kernel", "", PS_FINDING_GOOD, "Linux 6.1.0-47 has perf_event_open", NULL);
}
END_TEST

START_TEST(a_kernel_without_perf_events_is_told_from_a_filter)
{
	setup_status("0", NO_CAPABILITY, "0-3");
	fake_file(PARANOID, NULL);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, ENOSYS);
	ck_assert_int_eq(diagnose("page-faults"), PS_ENOSUPP);
	check_found("kernel", "", PS_FINDING_ABSENT, "has no perf_event_open",
	            "CONFIG_PERF_EVENTS=y");
	check_by("kernel", PS_REMEDY_BY_ADMINISTRATOR);
	check_found("seccomp", "", PS_FINDING_GOOD, "No seccomp filter", NULL);
}
END_TEST

START_TEST(a_kernel_that_hides_its_settings_is_unknown)
{
	fake_file_error(PARANOID, EACCES);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EPERM);
	ck_assert_int_eq(diagnose("page-faults"), PS_EPERM);
	check_found("kernel", "", PS_FINDING_UNKNOWN, "EPERM", NULL);
	check_found("kernel", "", PS_FINDING_UNKNOWN, "EACCES", NULL);
}
END_TEST

START_TEST(a_filter_that_answers_eperm_or_enosys_is_named_whatever_the_level)
{
	static const int errors[] = {EPERM, ENOSYS, EACCES};
	static const char *const names[] = {"EPERM", "ENOSYS", "EACCES"};
	int level = _i % 2 ? 3 : -1;

	setup_status("2", PERFMON, "0-3");
	fake_set_paranoid(level, true);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, errors[_i / 2]);
	ck_assert_int_ne(diagnose("page-faults"), PS_OK);
	check_found("kernel", "", PS_FINDING_GOOD, "doesn't reach the kernel", NULL);
	check_found("seccomp", "", PS_FINDING_BLOCKED, names[_i / 2], "--cap-add PERFMON");
	check_found("seccomp", "", PS_FINDING_BLOCKED, "Seccomp: 2",
	            "SystemCallFilter=perf_event_open");
	check_by("seccomp", PS_REMEDY_BY_CONTAINER_OWNER);
	check_found("permission", "", PS_FINDING_UNKNOWN, "can't be told", NULL);
	check_found("pmu", "", PS_FINDING_UNKNOWN, names[_i / 2], NULL);
}
END_TEST

START_TEST(a_filter_that_lets_the_call_through_is_good)
{
	setup_status("2", NO_CAPABILITY, "0-3");
	check_ok(diagnose("page-faults"));
	check_found("seccomp", "", PS_FINDING_GOOD, "lets perf_event_open through", NULL);
	fake_file(STATUS, NULL);
	check_ok(diagnose("page-faults"));
	check_found("seccomp", "", PS_FINDING_GOOD, "doesn't say", NULL);
}
END_TEST

START_TEST(what_answers_for_the_kernel_without_a_filter_is_not_called_one)
{
	fake_file(STATUS, "TracerPid:\t77\nSeccomp:\t0\n");
	fake_fail_always(FAKE_PERF_EVENT_OPEN, ENODEV);
	ck_assert_int_ne(diagnose("page-faults"), PS_OK);
	check_found("seccomp", "", PS_FINDING_BLOCKED, "process 77 traces this one", "outside");
	check_found("seccomp", "", PS_FINDING_BLOCKED, "ENODEV", "outside");
}
END_TEST

START_TEST(a_container_is_known_by_its_files_and_a_user_namespace_by_its_map)
{
	check_ok(diagnose("page-faults"));
	check_found("container", "", PS_FINDING_GOOD, "No sign", NULL);
	fake_file("/proc/self/uid_map", "         0          0 4294967295\n");
	fake_file("/run/.containerenv", "");
	check_ok(diagnose("page-faults"));
	check_found("container", "", PS_FINDING_GOOD, "/run/.containerenv is there", NULL);
	fake_file("/proc/self/uid_map",
	          "         0       1000          1\n         1     100000      65536\n");
	check_ok(diagnose("page-faults"));
	check_found("container", "", PS_FINDING_LIMITED, "user namespace", "--userns=host");
	check_by("container", PS_REMEDY_BY_CONTAINER_OWNER);
	fake_set_paranoid(2, false);
	fake_file("/proc/self/status", "CapEff:\t0000004000000000\n");
	check_ok(diagnose("page-faults:u"));
	check_found("permission", "", PS_FINDING_LIMITED,
	            "CAP_PERFMON is held, but doesn't count in a user namespace",
	            "perf_event_paranoid=0  (as root of the host)");
}
END_TEST

START_TEST(each_paranoid_level_permits_what_was_tried)
{
	static const struct {
		int level;
		enum ps_finding_state state;
		const char *part, *remedy;
	} rows[] = {
	    {-1, PS_FINDING_GOOD, "the kernel, too: yes; all tasks of a CPU: yes", NULL},
	    {0, PS_FINDING_GOOD, "perf_event_paranoid is 0", NULL},
	    {1, PS_FINDING_LIMITED, "the kernel, too: yes; all tasks of a CPU: no (EACCES)",
	     "paranoid=0"},
	    {2, PS_FINDING_LIMITED, "tasks: yes; the kernel, too: no (EACCES); all", "paranoid=0"},
	    {3, PS_FINDING_BLOCKED, "one's own tasks: no (EACCES); the kernel, too: no",
	     "paranoid=2"},
	    {4, PS_FINDING_BLOCKED, "perf_event_paranoid is 4, CAP_PERFMON is not held",
	     "setcap cap_perfmon+ep"},
	};
	int code = rows[_i].level >= 3 ? PS_EPERM : PS_OK;

	setup_status("0", NO_CAPABILITY, "0-3");
	fake_set_paranoid(rows[_i].level, false);
	ck_assert_int_eq(diagnose("page-faults"), code);
	check_found("permission", "", rows[_i].state, rows[_i].part, rows[_i].remedy);
	if (rows[_i].remedy) {
		check_by("permission", PS_REMEDY_BY_ADMINISTRATOR);
		check_lasting("permission", rows[_i].level >= 3
		                                ? "echo 'kernel.perf_event_paranoid = 2' > "
		                                  "/etc/sysctl.d/99-perf_event_paranoid.conf"
		                                : "'kernel.perf_event_paranoid = 0'");
		ck_assert_ptr_nonnull(
		    strstr(found("permission", NULL)->gain, "ignores LD_LIBRARY_PATH"));
	}
	check_found("seccomp", "", PS_FINDING_GOOD, "No seccomp filter", NULL);
}
END_TEST

START_TEST(capabilities_are_read_and_what_counts_is_what_was_tried)
{
	setup_status("0", PERFMON, "0-3");
	fake_set_paranoid(3, true);
	check_ok(diagnose("page-faults"));
	check_found("permission", "", PS_FINDING_GOOD, "CAP_PERFMON is held", NULL);
	setup_status("0", SYS_ADMIN, "0-3");
	check_ok(diagnose("page-faults"));
	check_found("permission", "", PS_FINDING_GOOD, "CAP_SYS_ADMIN is held", NULL);
	/* As root of a user namespace: held, and yet refused. */
	fake_set_paranoid(2, false);
	check_ok(diagnose("page-faults"));
	check_found("permission", "", PS_FINDING_LIMITED, "CAP_SYS_ADMIN is held. Counts",
	            "paranoid=0");
	fake_file_error(STATUS, EACCES);
	check_ok(diagnose("page-faults"));
	check_found("permission", "", PS_FINDING_LIMITED, "the capabilities can't be read",
	            "paranoid=0");
}
END_TEST

START_TEST(a_refusal_that_the_level_would_permit_is_not_blamed_on_it)
{
	fake_set_paranoid(3, false);
	fake_file(PARANOID, "-1\n");
	fake_file("/sys/kernel/security/lsm", "lockdown,capability,selinux\n");
	ck_assert_int_eq(diagnose("page-faults"), PS_EPERM);
	check_found("permission", "", PS_FINDING_BLOCKED, "lockdown,capability,selinux",
	            "journalctl");
	fake_file(PARANOID, "2\n");
	ck_assert_int_eq(diagnose("page-faults"), PS_EPERM);
	check_found("permission", "", PS_FINDING_BLOCKED, "The level would permit it",
	            "journalctl");
}
END_TEST

START_TEST(no_pmu_is_absent_and_a_virtual_machine_is_named_if_it_shows)
{
	check_ok(diagnose("page-faults"));
	check_found("pmu", "", PS_FINDING_ABSENT, "instructions:u is refused (ENOENT)", "dmesg");
	check_by("pmu", PS_REMEDY_BY_ADMINISTRATOR);
	fake_file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme nohypervisor\n");
	check_ok(diagnose("page-faults"));
	check_found("pmu", "", PS_FINDING_ABSENT, "breakpoint, software, tracepoint", "dmesg");
	fake_file("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu vme hypervisor lahf_lm\n");
	check_ok(diagnose("page-faults"));
	check_found("pmu", "", PS_FINDING_ABSENT, "virtual machine", "host,pmu=on");
	check_by("pmu", PS_REMEDY_BY_HOST_OWNER);
	check_found("hybrid", "", PS_FINDING_ABSENT, "no PMU of the cores", NULL);
	check_found("counters", "", PS_FINDING_ABSENT, "see pmu", NULL);
	check_found("user-reads", "", PS_FINDING_ABSENT, "see pmu", NULL);
}
END_TEST

START_TEST(a_pmu_is_good_if_a_hardware_event_opens_and_blocked_if_it_is_refused)
{
	fake_add_core_pmu(6);
	check_ok(diagnose("instructions"));
	check_found("pmu", "", PS_FINDING_GOOD, "breakpoint, cpu, software, tracepoint", NULL);
	check_found("hybrid", "", PS_FINDING_GOOD, "whose PMU is cpu", NULL);
	fake_set_paranoid(3, false);
	ck_assert_int_eq(diagnose("instructions"), PS_EPERM);
	check_found("pmu", "", PS_FINDING_BLOCKED,
	            "PMU of the cores, cpu, but instructions:u is refused (EACCES)", NULL);
}
END_TEST

START_TEST(kinds_of_cores_are_shown_with_their_cpus)
{
	fake_add_pmu(PERF_TYPE_HARDWARE, 4);
	fake_file(DEVICES "cpu_core/type", "4\n");
	fake_file(DEVICES "cpu_core/cpus", "0-1\n");
	fake_file(DEVICES "cpu_atom/type", "10\n");
	fake_file(DEVICES "cpu_atom/cpus", "2-3\n");
	check_ok(diagnose("page-faults"));
	check_found("hybrid", "", PS_FINDING_GOOD,
	            "2 kinds of cores, each with a PMU whose events count on its cores alone. "
	            "cpu_atom: CPUs 2-3. cpu_core: CPUs 0-1.",
	            NULL);
}
END_TEST

/* The machine's clock goes on at each reading of a counter. Of the counters that exist, so many are
 * free. */
static unsigned counters_free;
static ssize_t (*fake_read)(int fd, void *buffer, size_t size_bytes);

static ssize_t read_as_time_passes(int fd, void *buffer, size_t size_bytes)
{
	int fds[64];
	size_t count = fake_counter_fds(fds, 64);

	fake_run(1000000, count <= counters_free ? 1000000 : 0);
	return fake_read(fd, buffer, size_bytes);
}

static void let_time_pass(unsigned free_counters)
{
	counters_free = free_counters;
	fake_read = ps__os.read;
	ps__os.read = read_as_time_passes;
}

START_TEST(counters_are_counted_by_what_fits_and_by_what_is_on_the_hardware)
{
	fake_add_core_pmu(6);
	check_ok(diagnose("page-faults"));
	check_found("counters", "", PS_FINDING_UNKNOWN, "takes 6 events", NULL);
	let_time_pass(6);
	check_ok(diagnose("page-faults"));
	check_found("counters", "", PS_FINDING_GOOD, "6 counters", NULL);
	counters_free = 5;
	check_ok(diagnose("page-faults"));
	check_found("counters", "", PS_FINDING_LIMITED,
	            "takes 6 events of the cores, but of these only 5", "fdinfo");
	counters_free = 0;
	check_ok(diagnose("page-faults"));
	check_found("counters", "", PS_FINDING_BLOCKED, "only 0 get", "fdinfo");
	/* Nothing runs on a core of the other kind, and nobody holds a counter. */
	fake_file(DEVICES "cpu_core/cpus", "0-1\n");
	fake_file(DEVICES "cpu_core/type", "4\n");
	fake_file(DEVICES "cpu_atom/cpus", "2-3\n");
	fake_file(DEVICES "cpu_atom/type", "10\n");
	check_ok(diagnose("page-faults"));
	check_found("counters", "", PS_FINDING_UNKNOWN, "takes 6 events", NULL);
}
END_TEST

START_TEST(the_watchdog_is_blamed_only_where_it_can_hold_a_counter)
{
	fake_file(WATCHDOG, "1\n");
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_GOOD, "no counter that it could take", NULL);
	fake_add_core_pmu(6);
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_LIMITED, "kernel.nmi_watchdog is 1",
	            "nmi_watchdog=0");
	let_time_pass(5);
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_LIMITED, "of 6 counters 5 were free",
	            "sysctl kernel.nmi_watchdog=0");
	check_lasting("nmi-watchdog", "'kernel.nmi_watchdog = 0' > /etc/sysctl.d/");
	check_by("nmi-watchdog", PS_REMEDY_BY_ADMINISTRATOR);
	counters_free = 6;
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_GOOD, "yet all 6 counters were free", NULL);
	fake_file(WATCHDOG, "0\n");
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_GOOD, "Off", NULL);
	fake_file_error(WATCHDOG, EACCES);
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_UNKNOWN, "EACCES", NULL);
	fake_file(WATCHDOG, NULL);
	check_ok(diagnose("page-faults"));
	check_found("nmi-watchdog", "", PS_FINDING_GOOD, "has none", NULL);
}
END_TEST

static void *(*fake_mmap)(void *address, size_t length_bytes, int protection, int flags, int fd,
                          off_t offset);

static void *mmap_with_user_reads(void *address, size_t length_bytes, int protection, int flags,
                                  int fd, off_t offset)
{
	struct perf_event_mmap_page *page =
	    fake_mmap(address, length_bytes, protection, flags, fd, offset);

	if (page != MAP_FAILED && !(flags & MAP_ANONYMOUS))
		page->cap_user_rdpmc = 1;
	return page;
}

START_TEST(user_space_reads_are_what_the_page_of_an_event_says)
{
	fake_add_core_pmu(4);
	check_ok(diagnose("page-faults"));
	check_found("user-reads", "", PS_FINDING_LIMITED, "each reading is a system call", NULL);
	fake_file("/proc/sys/kernel/perf_user_access", "0\n");
	check_ok(diagnose("page-faults"));
	check_found("user-reads", "", PS_FINDING_LIMITED, "perf_user_access is 0",
	            "sysctl kernel.perf_user_access=1");
	check_lasting("user-reads", "'kernel.perf_user_access = 1' > /etc/sysctl.d/");
	fake_file(DEVICES "cpu/rdpmc", "0\n");
	check_ok(diagnose("page-faults"));
	check_found("user-reads", "", PS_FINDING_LIMITED, "rdpmc is 0",
	            "echo 1 > " DEVICES "cpu/rdpmc");
	check_lasting("user-reads", "'w " DEVICES "cpu/rdpmc - - - - 1' > /etc/tmpfiles.d/");
	fake_file(DEVICES "cpu/rdpmc", "1\n");
	fake_mmap = ps__os.mmap;
	ps__os.mmap = mmap_with_user_reads;
	check_ok(diagnose("page-faults"));
	check_found("user-reads", "", PS_FINDING_GOOD,
	            "in user space, without a system call. " DEVICES "cpu/rdpmc is 1", NULL);
	/* Arm's page says yes in any case. */
	fake_file(DEVICES "cpu/rdpmc", NULL);
	check_ok(diagnose("page-faults"));
	check_found("user-reads", "", PS_FINDING_LIMITED, "perf_user_access is 0",
	            "sysctl kernel.perf_user_access=1");
	ps__os.mmap = fake_mmap;
	fake_file("/proc/sys/kernel/perf_user_access", "1\n");
	fake_fail_always(FAKE_MMAP, EPERM);
	check_ok(diagnose("page-faults"));
	check_found("user-reads", "", PS_FINDING_UNKNOWN, "can't be mapped (EPERM)", NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diagnose");
	TCase *tests = scene_case(suite, "steps");

	tcase_add_checked_fixture(tests, NULL, forget);
	tcase_add_test(tests, a_kernel_with_perf_events_is_good_and_named);
	tcase_add_test(tests, a_kernel_without_perf_events_is_told_from_a_filter);
	tcase_add_test(tests, a_kernel_that_hides_its_settings_is_unknown);
	tcase_add_loop_test(
	    tests, a_filter_that_answers_eperm_or_enosys_is_named_whatever_the_level, 0, 6);
	tcase_add_test(tests, a_filter_that_lets_the_call_through_is_good);
	tcase_add_test(tests, what_answers_for_the_kernel_without_a_filter_is_not_called_one);
	tcase_add_test(tests, a_container_is_known_by_its_files_and_a_user_namespace_by_its_map);
	tcase_add_loop_test(tests, each_paranoid_level_permits_what_was_tried, 0, 6);
	tcase_add_test(tests, capabilities_are_read_and_what_counts_is_what_was_tried);
	tcase_add_test(tests, a_refusal_that_the_level_would_permit_is_not_blamed_on_it);
	tcase_add_test(tests, no_pmu_is_absent_and_a_virtual_machine_is_named_if_it_shows);
	tcase_add_test(tests, a_pmu_is_good_if_a_hardware_event_opens_and_blocked_if_it_is_refused);
	tcase_add_test(tests, kinds_of_cores_are_shown_with_their_cpus);
	tcase_add_test(tests, counters_are_counted_by_what_fits_and_by_what_is_on_the_hardware);
	tcase_add_test(tests, the_watchdog_is_blamed_only_where_it_can_hold_a_counter);
	tcase_add_test(tests, user_space_reads_are_what_the_page_of_an_event_says);
	return scene_run(suite);
}
