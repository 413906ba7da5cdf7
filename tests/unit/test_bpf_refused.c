/* SPDX-License-Identifier: BSD-3-Clause */
/* Attribution by BPF that can't be had, or not any more: in which words each refusal is told, and
 * that nothing is left. test_bpf.c has what is counted. */
#include "test_bpf.h"

#include "backend/bpf.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>

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
	/* Whatever the errno: a filter chooses it. */
	fake_file("/proc/self/status", "CapEff:\t000000c000000000\nSeccomp:\t2\n");
	check_refused(set, PS_EPERM, "a seccomp filter forbids perf_event_open");
	fake_file("/proc/self/uid_map", "0 100000 65536\n");
	check_refused(set, PS_EPERM, "capabilities in a user namespace don't count");
	fake_file("/proc/self/uid_map", NULL);
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

static int make_map(void)
{
	union bpf_attr attr = {
	    .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4096, .max_entries = 100};

	return ps__os.bpf(BPF_MAP_CREATE, &attr, sizeof attr);
}

/* The map of the program's own has larger values than what is read. The first number is that of the
 * map of events, which the kernel keeps for the program; no other may be missing. */
START_TEST(a_map_of_the_programs_under_a_number_is_left_alone)
{
	struct ps_eventset *set = started();
	int fds[OBJECTS];

	ck_assert_uint_eq(fake_bpf_fds(fds, OBJECTS), OBJECTS);
	int other = make_map(); /* where the map of processes was */
	ps__os.close(fds[_i]);
	ck_assert_int_eq(make_map(), fds[_i]);
	int result = ps_read(set, scene.root, NULL, NULL);
	ck_assert_int_eq(result, _i == 0 ? PS_OK : PS_ECLOST);
	if (_i > 0)
		check_detail("the program closed it");
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 2);
	ck_assert_int_eq(ps__os.close(fds[_i]) + ps__os.close(other), 0);
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

/* Maps, programs, their tracepoints, each with its number; the events, a look at each CPU, the
 * failures until then, the process. */
#define CALLS_OF_START (2 * (3 + 2 + 2) + 2 * 4 + 2 * 4 + 1 + 1)

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
			/* The bytes that could not be read are there for the next call. */
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
	Suite *suite = suite_create("bpf refused");
	TCase *tests = scene_case(suite, "bpf");

	tcase_add_test(tests, each_obstacle_is_told_before_anything_counts);
	tcase_add_test(tests, what_it_can_not_do_is_told);
	tcase_add_test(tests, what_is_under_the_numbers_of_maps_and_programs_is_left_alone);
	tcase_add_loop_test(tests, a_map_of_the_programs_under_a_number_is_left_alone, 0, OBJECTS);
	tcase_add_test(tests, what_may_be_the_programs_is_not_closed);
	tcase_add_loop_test(tests, each_call_that_is_refused_leaves_nothing, 0,
	                    sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_test(tests, whatever_fails_is_told_and_nothing_leaks);
	return scene_run(suite);
}
