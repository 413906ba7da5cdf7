/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process counted by BPF: what is opened, what a reading has, what shows that counts are missing,
 * and in which words each refusal is told. tests/api/test_bpf.c has the real kernel.
 */
#include "support/scene.h"

#include "backend/bpf.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>

#define EVENT   "page-faults"
#define PROCESS 500

/* Two maps, two programs, and what keeps them running; the map of processes is closed again. */
#define OBJECTS 6

static struct ps_eventset *attached(void)
{
	struct ps_eventset *set = scene_set(EVENT, "context-switches", NULL);

	fake_bpf_offer();
	fake_task(PROCESS, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) S");
	fake_file("/proc/500/task/501/stat", "501 (solver) S");
	check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_BPF));
	check_ok(ps_eventset_attach_process(set, PROCESS));
	return set;
}

static struct ps_eventset *started(void)
{
	struct ps_eventset *set = attached();

	check_ok(ps_start(set));
	return set;
}

START_TEST(counts_are_split_by_cpu)
{
	struct ps_eventset *set = started();
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
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 1000);
	ck_assert_int_eq(scene_count(3, EVENT, timestamp), 10);
	ck_assert_int_eq(scene_count(3, "context-switches", timestamp), 2);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 1010);
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

static void check_refused(struct ps_eventset *set, int code, const char *words)
{
	check_fails(ps_start(set), code);
	check_detail(words);
	ck_assert_uint_eq(fake_open_fds(), 1); /* the process's file */
}

START_TEST(each_obstacle_is_told_before_anything_counts)
{
	struct ps_eventset *set = attached();

	fake_file("/proc/self/ns/pid", "4026532000");
	check_refused(set, PS_ENOSUPP, "in a PID namespace");
	fake_file("/proc/self/ns/pid", NULL);
	check_refused(set, PS_ESYS, "/proc/self/ns/pid can't be read");
	fake_fail(FAKE_OPEN, 1, EMFILE);
	check_fails(ps__bpf_check_namespace(), PS_ECOUNT);
	check_detail("ulimit -n");
	fake_bpf_offer();
	fake_file("/sys/kernel/btf/vmlinux", NULL);
	check_refused(set, PS_ENOSUPP, "CONFIG_DEBUG_INFO_BTF");
	fake_bpf_put_btf("task_struct", "comm");
	check_refused(set, PS_ENOSUPP, "no member 'pid'");
	fake_bpf_offer();
	fake_set_paranoid(2, false);
	check_refused(set, PS_EPERM, "needs CAP_BPF and CAP_PERFMON");
	fake_file("/proc/self/status", "Name:\tx\nSeccomp:\t2\n");
	check_refused(set, PS_EPERM, "needs CAP_BPF and CAP_PERFMON");
	fake_file("/proc/self/status", "CapEff:\t000000c000000000\n");
	check_refused(set, PS_EPERM, "although the process has CAP_PERFMON");
	fake_file("/proc/self/status", NULL);
	fake_set_paranoid(2, true);
	check_ok(ps_start(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_it_can_not_do_is_told)
{
	struct ps_eventset *set = attached();

	check_ok(ps_eventset_set_tasks(set, 1));
	check_refused(set, PS_ENOSUPP, "doesn't tell the tasks of a process apart");
	check_ok(ps_eventset_set_tasks(set, 0));
	check_ok(ps_eventset_set_enable_on_exec(set, 1));
	check_refused(set, PS_ENOSUPP, "can't begin with an exec");
	check_ok(ps_eventset_set_enable_on_exec(set, 0));
	check_ok(ps_eventset_pause_event(set, 1));
	check_refused(set, PS_ENOSUPP, "'context-switches' is paused");
	check_ok(ps_eventset_resume_event(set, 1));
	check_ok(ps_start(set));
	check_fails(ps_eventset_pause_event(set, 1), PS_ENOSUPP);
	check_detail("can't leave an event out");
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_task_end(PROCESS);
	fake_file("/proc/500/task/500/stat", NULL);
	check_fails(ps_start(set), PS_ESYS);
	check_detail("has ended");
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

START_TEST(what_is_under_the_numbers_of_maps_and_programs_is_left_alone)
{
	struct ps_eventset *set = started();
	int fds[OBJECTS];

	ck_assert_uint_eq(fake_bpf_fds(fds, OBJECTS), OBJECTS);
	fake_file("/tmp/own", "a program's own");
	int other = ps__os.open("/tmp/own", O_RDONLY | O_CLOEXEC); /* where the map was */
	for (int i = 0; i < OBJECTS; i++) {
		ps__os.close(fds[i]);
		ck_assert_int_eq(ps__os.open("/tmp/own", O_RDONLY | O_CLOEXEC), fds[i]);
	}
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ECLOST);
	check_detail("the program closed it");
	ps_eventset_destroy(set);
	ck_assert_int_eq(ps__os.close(other), 0);
	for (int i = 0; i < OBJECTS; i++)
		ck_assert_int_eq(ps__os.close(fds[i]), 0);
}
END_TEST

/* Before Linux 5.19 a process without rights isn't told what a number is. */
START_TEST(what_may_be_the_programs_is_not_closed)
{
	struct ps_eventset *set = started();
	int fds[OBJECTS];

	ck_assert_uint_eq(fake_bpf_fds(fds, OBJECTS), OBJECTS);
	fake_fail_always(FAKE_BPF, EPERM);
	ps_eventset_destroy(set);
	fake_fail_always(FAKE_BPF, 0);
	for (int i = 0; i < OBJECTS; i++)
		ck_assert_int_eq(ps__os.close(fds[i]), 0);
}
END_TEST

static const struct {
	int error, code;
	const char *status; /* /proc/self/status */
	const char *words;
} refusals[] = {
    {EPERM, PS_EPERM, "Name:\tx\n", "needs CAP_BPF and CAP_PERFMON"},
    {EACCES, PS_EPERM, "CapEff:\t0000004000000000\n", "setcap cap_bpf,cap_perfmon+ep"},
    {EPERM, PS_EPERM, "CapEff:\t000000c000000000\n", "ulimit -l"},
    {EPERM, PS_EPERM, "CapEff:\t0000000000200000\n", "security module or the lockdown"},
    {EPERM, PS_EPERM, "Seccomp:\t2\n", "needs CAP_BPF and CAP_PERFMON"},
    {EPERM, PS_EPERM, "CapEff:\t000000c000000000\nSeccomp:\t2\n",
     "seccomp filter may forbid bpf(2)"},
    {ENOSYS, PS_ENOSUPP, "Name:\tx\n", "the kernel has no bpf(2)"},
    {EINVAL, PS_ENOSUPP, "Name:\tx\n", "Linux 5.10 or later"},
    {EMFILE, PS_ECOUNT, "Name:\tx\n", "ulimit -n"},
    {ENOMEM, PS_ENOMEM, "Name:\tx\n", "no memory"},
    {EBADF, PS_ECLOST, "Name:\tx\n", "is closed"},
};

/* Maps, programs, their tracepoints, the events, a look at each CPU, the process. */
#define CALLS_OF_START (3 + 2 + 2 + 2 * 4 + 2 * 4 + 1)

/* The kernel may refuse at any point: nothing is left, and nothing else is tried instead. */
START_TEST(each_call_that_is_refused_leaves_nothing)
{
	struct ps_eventset *set = attached();

	fake_file("/proc/self/status", refusals[_i].status);
	for (unsigned nth = 1; nth <= CALLS_OF_START; nth++) {
		fake_fail(FAKE_BPF, nth, refusals[_i].error);
		check_fails(ps_start(set), refusals[_i].code);
		check_detail(refusals[_i].words);
		ck_assert_uint_eq(fake_open_fds(), 1); /* the process's file */
	}
	fake_count_reset();
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_count(FAKE_BPF), CALLS_OF_START + 1); /* what closes a map */
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

/* Each other call fails once, at every place where it can, and a reading's, too. */
START_TEST(whatever_fails_is_told_and_nothing_leaks)
{
	static const enum fake_call calls[] = {FAKE_OPEN,  FAKE_READ,     FAKE_PERF_EVENT_OPEN,
	                                       FAKE_IOCTL, FAKE_ALLOCATE, FAKE_CLOSE,
	                                       FAKE_FSTAT, FAKE_BPF,      FAKE_MMAP};

	for (size_t call = 0; call < sizeof(calls) / sizeof(calls[0]); call++) {
		bool happened = true;

		for (unsigned nth = 1; happened && nth < 500; nth++) {
			struct ps_eventset *set = attached();
			uint64_t timestamp = 0;
			int left;

			fake_fail(calls[call], nth, calls[call] == FAKE_ALLOCATE ? ENOMEM : EMFILE);
			int result = ps_start(set);
			bool is_started = result == PS_OK;
			if (is_started) {
				fake_bpf_credit(1, 0, 5);
				result = ps_stop(set, scene.root, &timestamp, NULL);
			}
			happened = fake_fail_happened();
			fake_fail(calls[call], 0, 0);
			ck_assert_msg(result == PS_OK || *ps_error_detail(), "call %d, use %u",
			              (int)calls[call], nth);
			/* What could not be read is there for the next call. */
			if (is_started && result != PS_OK)
				check_ok(ps_read(set, scene.root, &timestamp, NULL));
			if (is_started)
				ck_assert_int_eq(scene_sum(EVENT, timestamp), 5);
			ps_eventset_destroy(set);
			/* It stays open if the kernel doesn't tell that it is perfsage's. */
			if (calls[call] == FAKE_BPF && fake_bpf_fds(&left, 1) == 1)
				ps__os.close(left);
			ck_assert_uint_eq(fake_open_fds(), 0);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bpf");
	TCase *tests = scene_case(suite, "bpf");

	tcase_add_test(tests, counts_are_split_by_cpu);
	tcase_add_test(tests, a_threads_number_stands_for_its_process);
	tcase_add_test(tests, multiplexing_shows_on_the_cpu_where_it_was);
	tcase_add_test(tests, an_event_that_is_not_supported_is_left_out);
	tcase_add_test(tests, each_event_has_a_descriptor_on_each_kind_of_cores);
	tcase_add_test(tests, counts_that_could_not_be_read_are_told);
	tcase_add_test(tests, a_cpu_that_was_offline_is_told_also_when_it_is_back);
	tcase_add_test(tests, a_cpu_that_came_online_is_told);
	tcase_add_test(tests, each_obstacle_is_told_before_anything_counts);
	tcase_add_test(tests, what_it_can_not_do_is_told);
	tcase_add_test(tests, no_program_is_left_out);
	tcase_add_test(tests, other_targets_count_as_with_auto);
	tcase_add_test(tests, what_is_under_the_numbers_of_maps_and_programs_is_left_alone);
	tcase_add_test(tests, what_may_be_the_programs_is_not_closed);
	tcase_add_loop_test(tests, each_call_that_is_refused_leaves_nothing, 0,
	                    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tests, whatever_fails_is_told_and_nothing_leaks);
	return scene_run(suite);
}
