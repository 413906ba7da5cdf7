/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the diagnosis: each asked event, all together, what ps_diagnose returns, bad
 * arguments, calls that fail. */
#include "test_diagnose.h"

#include "base/os.h"
#include "support/golden.h"

#include <errno.h>

#define UNCORE DEVICES "uncore_box/"

START_TEST(each_event_says_for_itself_whether_it_counts)
{
	ck_assert_int_eq(diagnose("page-faults cycles no-such-event page-faults:z task-clock"),
	                 PS_ENOSUPP);
	check_detail("'cycles' is not available on this machine");
	check_found("event", "page-faults", PS_FINDING_GOOD, "Counts for a hardware thread.", NULL);
	check_found("event", "cycles", PS_FINDING_ABSENT, "'cycles' is not available", NULL);
	check_found("event", "no-such-event", PS_FINDING_ABSENT, "no-such-event", NULL);
	check_found("event", "page-faults:z", PS_FINDING_ABSENT, "page-faults:z", NULL);
	check_found("event", "task-clock", PS_FINDING_GOOD, "Counts", NULL);
	ck_assert_int_eq(found("event", "page-faults")->code, PS_OK);
	ck_assert_int_eq(found("event", "cycles")->code, PS_ENOSUPP);
	ck_assert_int_eq(found("event", "no-such-event")->code, PS_ENOEVNT);
	ck_assert_int_eq(found("event", "page-faults:z")->code, PS_EATTR);
	check_found("together", "", PS_FINDING_BLOCKED, "Not tried", NULL);
}
END_TEST

START_TEST(what_is_counted_in_user_space_alone_is_limited)
{
	fake_set_paranoid(2, false);
	check_ok(diagnose("page-faults"));
	check_found("event", "page-faults", PS_FINDING_LIMITED, "In user space alone", NULL);
	ck_assert_int_eq(diagnose("page-faults context-switches"), PS_EPERM);
	check_detail("context-switches");
	check_found("event", "context-switches", PS_FINDING_BLOCKED, "not permitted", NULL);
}
END_TEST

START_TEST(without_events_the_default_ones_are_diagnosed)
{
	check_ok(diagnose(NULL));
	check_found("event", "task-clock", PS_FINDING_GOOD, "Counts", NULL);
	check_found("event", "page-faults", PS_FINDING_GOOD, "Counts", NULL);
	check_found("together", "", PS_FINDING_GOOD, "Attribution to hardware threads: exact.",
	            NULL);
	ck_assert_int_eq(
	    ps_diagnose(&(struct ps_diagnose_options){.size = sizeof(struct ps_diagnose_options)},
	                keep, NULL),
	    PS_OK);
	fake_set_paranoid(2, false);
	check_ok(diagnose(NULL));
	check_found("together", "", PS_FINDING_LIMITED,
	            "exact. Left out of the default events: context-switches, cpu-migrations: "
	            "counting the kernel is not permitted, see permission.",
	            NULL);
	fake_set_paranoid(3, false);
	ck_assert_int_eq(diagnose(NULL), PS_EPERM);
	check_found("event", "default events", PS_FINDING_BLOCKED, "perf_event_paranoid", NULL);
	check_detail("perf_event_paranoid");
	fake_add_core_pmu(4);
	ck_assert_int_eq(diagnose(NULL), PS_EPERM);
	check_found("counters", "", PS_FINDING_UNKNOWN, "EACCES", NULL);
	check_found("user-reads", "", PS_FINDING_UNKNOWN, "EACCES", NULL);
}
END_TEST

static ssize_t (*fake_read)(int fd, void *buffer, size_t size_bytes);
static uint64_t running_ns;

static ssize_t read_as_time_passes(int fd, void *buffer, size_t size_bytes)
{
	fake_run(1000000, running_ns);
	return fake_read(fd, buffer, size_bytes);
}

START_TEST(an_event_that_never_gets_onto_the_hardware_is_blocked)
{
	fake_add_core_pmu(4);
	running_ns = 0;
	fake_read = ps__os.read;
	ps__os.read = read_as_time_passes;
	ck_assert_int_eq(diagnose("page-faults instructions"), PS_ENOCNTR);
	check_found("event", "instructions", PS_FINDING_BLOCKED,
	            "'instructions' opens, but was never on the hardware", NULL);
	check_found("event", "page-faults", PS_FINDING_GOOD, "Counts", NULL);
	running_ns = 1000;
	check_ok(diagnose("page-faults instructions"));
	check_found("event", "instructions", PS_FINDING_GOOD, "Counts", NULL);
}
END_TEST

/* On a core of the other kind it counts nothing, though no counter is taken. */
START_TEST(an_event_of_one_kind_of_cores_is_not_tried_on_the_hardware)
{
	fake_add_hybrid(4, "0-1", 4, "2-3");
	running_ns = 0;
	fake_read = ps__os.read;
	ps__os.read = read_as_time_passes;
	check_ok(diagnose("page-faults instructions"));
	check_found("event", "instructions", PS_FINDING_GOOD, "Counts", NULL);
}
END_TEST

static ssize_t read_nothing(int fd, void *buffer, size_t size_bytes)
{
	return fake_attr_of_fd(fd) ? 0 : fake_read(fd, buffer, size_bytes);
}

START_TEST(a_pinned_event_in_the_error_state_is_blocked)
{
	fake_add_core_pmu(4);
	fake_read = ps__os.read;
	ps__os.read = read_nothing;
	ck_assert_int_eq(diagnose("page-faults instructions:D"), PS_ENOCNTR);
	check_found("event", "instructions:D", PS_FINDING_BLOCKED, "never on the hardware", NULL);
}
END_TEST

START_TEST(hardware_events_that_take_turns_are_limited)
{
	fake_add_core_pmu(1);
	check_ok(diagnose("cycles instructions"));
	check_found("together", "", PS_FINDING_LIMITED, "2 groups of hardware events", "fewer");
	ck_assert_int_eq(found("together", "")->by, PS_REMEDY_BY_YOU);
	check_ok(diagnose("cycles"));
	check_found("together", "", PS_FINDING_GOOD, "exact", NULL);
}
END_TEST

START_TEST(an_event_of_a_package_is_opened_on_a_cpu)
{
	fake_add_pmu(12, 4);
	fake_set_pmu_flags(12, FAKE_PMU_CPU_ONLY);
	fake_file(UNCORE "type", "12\n");
	fake_file(UNCORE "cpumask", "0\n");
	fake_file(UNCORE "format/event", "config:0-7\n");
	fake_file("/sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0-3\n");
	check_ok(diagnose("uncore_box/event=1/ page-faults"));
	check_found("event", "uncore_box/event=1/", PS_FINDING_GOOD, "Counts for a whole package.",
	            NULL);
	check_found("together", "", PS_FINDING_LIMITED, "1 of them belong to a CPU", NULL);
	fake_set_paranoid(1, false);
	ck_assert_int_eq(diagnose("uncore_box/event=1/"), PS_EPERM);
}
END_TEST

START_TEST(the_same_event_twice_is_no_failure)
{
	check_ok(diagnose("page-faults page-faults"));
	check_found("together", "", PS_FINDING_GOOD, "start together", NULL);
}
END_TEST

static int stop_at(const struct ps_finding *finding, void *context)
{
	return strcmp(finding->name, context) ? 0 : 4711;
}

START_TEST(visit_may_end_the_diagnosis_at_any_finding)
{
	static char names[][12] = {"kernel", "pmu", "libpfm4", "event", "together"};

	ck_assert_int_eq(ps_diagnose(NULL, stop_at, names[_i]), 4711);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	const char *const names[] = {"page-faults", NULL};
	struct ps_diagnose_options options = {
	    .size = sizeof options, .events = names, .event_count = 2};

	check_fails(ps_diagnose(NULL, NULL, NULL), PS_EINVAL);
	check_fails(ps_diagnose(&options, keep, NULL), PS_EINVAL);
	check_detail("event 1 is NULL");
	options.events = NULL;
	check_fails(ps_diagnose(&options, keep, NULL), PS_EINVAL);
	options.size = 3;
	check_fails(ps_diagnose(&options, keep, NULL), PS_EINVAL);
	check_detail("size is 3");
	ck_assert_uint_eq(kept_count, 0);
}
END_TEST

START_TEST(names_of_states_and_persons_are_never_null)
{
	ck_assert_str_eq(ps_finding_state_name(PS_FINDING_GOOD), "good");
	ck_assert_str_eq(ps_finding_state_name(PS_FINDING_UNKNOWN), "unknown");
	ck_assert_str_eq(ps_finding_state_name((enum ps_finding_state)77), "unknown");
	ck_assert_str_eq(ps_finding_state_name((enum ps_finding_state) - 1), "unknown");
	ck_assert_str_eq(ps_remedy_by_name(PS_REMEDY_BY_HOST_OWNER), "host owner");
	ck_assert_str_eq(ps_remedy_by_name((enum ps_remedy_by)99), "nobody");
}
END_TEST

/* Whichever call fails, the diagnosis ends, says so or goes on, and leaves nothing open: the scene
 * looks. */
START_TEST(the_nth_call_may_fail)
{
	static const struct {
		enum fake_call call;
		int error;
	} rows[] = {{FAKE_PERF_EVENT_OPEN, EMFILE},
	            {FAKE_PERF_EVENT_OPEN, EINTR},
	            {FAKE_OPEN, EMFILE},
	            {FAKE_READ, EIO},
	            {FAKE_IOCTL, EIO},
	            {FAKE_MMAP, ENOMEM},
	            {FAKE_LIST, EACCES},
	            {FAKE_ALLOCATE, ENOMEM},
	            {FAKE_GETRLIMIT, EINVAL},
	            {FAKE_CLOCK_GETTIME, EINVAL},
	            {FAKE_CLOSE, EIO}};
	unsigned nth = 1;

	fake_add_core_pmu(4);
	for (;; nth++) {
		fake_fail(rows[_i].call, nth, rows[_i].error);
		int code = diagnose("page-faults instructions");
		ck_assert_msg(code <= 0, "call %u: %d", nth, code);
		if (code != PS_OK)
			ck_assert_msg(*ps_error_detail(), "call %u: no sentence", nth);
		if (rows[_i].call == FAKE_ALLOCATE && fake_fail_happened())
			ck_assert_msg(code == PS_ENOMEM || code == PS_OK, "call %u: %d %s", nth,
			              code, ps_error_detail());
		if (!fake_fail_happened())
			break;
	}
	fake_fail(rows[_i].call, 0, 0);
	ck_assert_uint_gt(nth, 1);
	check_ok(diagnose("page-faults instructions"));
}
END_TEST

static void print_kept(FILE *stream)
{
	for (size_t i = 0; i < kept_count; i++) {
		/* What the library was built with is another thing in each build. */
		if (!strcmp(kept[i].name, "papi") || !strcmp(kept[i].name, "libpfm4"))
			continue;
		fprintf(stream, "%s%s%s: %s", kept[i].name, *kept[i].subject ? " " : "",
		        kept[i].subject, ps_finding_state_name(kept[i].state));
		if (kept[i].code != PS_OK)
			fprintf(stream, " (%s)", ps_strerror(kept[i].code));
		fprintf(stream, "\n    %s\n", kept[i].fact);
		if (*kept[i].remedy)
			fprintf(stream, "    -> %s: %s\n       %s\n", ps_remedy_by_name(kept[i].by),
			        kept[i].remedy, kept[i].gain);
		if (*kept[i].lasting)
			fprintf(stream, "       to keep it: %s\n", kept[i].lasting);
	}
}

static void check_golden(const char *events, const char *name)
{
	FILE *stream = golden_open();
	int code = diagnose(events);

	print_kept(stream);
	fprintf(stream, "\n%s\n%s\n", ps_strerror(code), code ? ps_error_detail() : "");
	golden_check(stream, name);
}

static void setup_machine(const char *status)
{
	fake_file("/proc/sys/kernel/osrelease", "6.1.0-47-amd64\n");
	fake_file("/proc/self/uid_map", "0 0 4294967295\n");
	fake_file("/proc/self/fd/0", "");
	fake_file("/proc/self/fd/1", "");
	fake_file("/proc/self/fd/2", "");
	fake_file("/proc/self/fd/3", "");
	fake_file(STATUS, status);
}

#define STATUS_OF(seccomp)                                                                        \
	"TracerPid:\t0\nCapEff:\t0000000000000000\nSeccomp:\t" seccomp "\nCpus_allowed_list:\t0-" \
	"3\n"

START_TEST(the_diagnosis_of_a_server_for_its_user)
{
	setup_machine(STATUS_OF("0"));
	fake_set_paranoid(2, false);
	fake_add_core_pmu(6);
	fake_file(DEVICES "cpu/rdpmc", "1\n");
	fake_file("/proc/sys/kernel/nmi_watchdog", "1\n");
	check_golden("cycles instructions page-faults", "diagnose_server");
}
END_TEST

START_TEST(the_diagnosis_where_the_level_forbids_all)
{
	setup_machine(STATUS_OF("0"));
	fake_set_paranoid(3, false);
	fake_add_core_pmu(6);
	check_golden(NULL, "diagnose_level_3");
}
END_TEST

START_TEST(the_diagnosis_in_a_container)
{
	setup_machine(STATUS_OF("2"));
	fake_file("/.dockerenv", "");
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EPERM);
	check_golden("page-faults", "diagnose_container");
}
END_TEST

START_TEST(the_diagnosis_in_a_virtual_machine)
{
	setup_machine(STATUS_OF("0"));
	fake_file("/proc/cpuinfo", "flags : fpu hypervisor\n");
	check_golden("cycles page-faults", "diagnose_virtual");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diagnose_events");
	TCase *tests = scene_case(suite, "events");

	tcase_add_checked_fixture(tests, NULL, forget);
	tcase_add_test(tests, each_event_says_for_itself_whether_it_counts);
	tcase_add_test(tests, what_is_counted_in_user_space_alone_is_limited);
	tcase_add_test(tests, without_events_the_default_ones_are_diagnosed);
	tcase_add_test(tests, an_event_that_never_gets_onto_the_hardware_is_blocked);
	tcase_add_test(tests, an_event_of_one_kind_of_cores_is_not_tried_on_the_hardware);
	tcase_add_test(tests, a_pinned_event_in_the_error_state_is_blocked);
	tcase_add_test(tests, hardware_events_that_take_turns_are_limited);
	tcase_add_test(tests, an_event_of_a_package_is_opened_on_a_cpu);
	tcase_add_test(tests, the_same_event_twice_is_no_failure);
	tcase_add_loop_test(tests, visit_may_end_the_diagnosis_at_any_finding, 0, 5);
	tcase_add_test(tests, wrong_arguments_are_refused);
	tcase_add_test(tests, names_of_states_and_persons_are_never_null);
	tcase_add_loop_test(tests, the_nth_call_may_fail, 0, 11);
	tcase_add_test(tests, the_diagnosis_of_a_server_for_its_user);
	tcase_add_test(tests, the_diagnosis_where_the_level_forbids_all);
	tcase_add_test(tests, the_diagnosis_in_a_container);
	tcase_add_test(tests, the_diagnosis_in_a_virtual_machine);
	return scene_run(suite);
}
