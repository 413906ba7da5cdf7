/* SPDX-License-Identifier: BSD-3-Clause */
/* Attribution by BPF on the real kernel, while the process runs: what it did until a reading, and
 * its context switches. test_bpf.c has known work by CPU. */
#include "bpf_here.h"

/* The task that runs as a reading is made has all that it did until then. */
START_TEST(a_reading_has_what_a_running_task_did)
{
	struct ps_eventset *set;

	if (!bpf_is_possible())
		return;
	pid_t pid = start_toucher();
	set = attach(PS_ATTRIBUTE_BPF, pid);
	long long before = atomic_load(touched);
	check_ok(ps_start(set));
	long long after = atomic_load(touched);
	for (int i = 0; i < 200; i++) {
		uint64_t timestamp = 0;
		long long least = atomic_load(touched) - after - 1;
		check_ok(ps_read(set, here.root, &timestamp, NULL));
		long long counted = here_sum(WANDER_EVENT, timestamp);
		/* A few more than it counts itself: of the list of its memory. */
		long long most = atomic_load(touched) - before + 1;
		ck_assert_int_ge(counted, least);
		ck_assert_int_le(counted, most + most / 100 + 20);
	}
	kill_and_wait(pid);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

/* The process left a CPU so often: because it waits, or is stopped; or for another one. */
struct switches {
	long long voluntary, forced;
};

static struct switches count_switches(pid_t pid)
{
	struct switches switches = {-1, -1};
	char path[64], line[256];

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	FILE *status = fopen(path, "re");
	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof line, status)) {
		sscanf(line, "voluntary_ctxt_switches: %lld", &switches.voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %lld", &switches.forced);
	}
	fclose(status);
	ck_assert(switches.voluntary >= 0 && switches.forced >= 0);
	return switches;
}

static long long count_all_switches(pid_t pid)
{
	struct switches switches = count_switches(pid);

	return switches.voluntary + switches.forced;
}

/* The parent hears of the stop before the process has left the CPU. */
static void stop_and_wait(pid_t pid)
{
	long long before = count_switches(pid).voluntary;

	kill(pid, SIGSTOP);
	ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
	while (count_switches(pid).voluntary == before)
		sched_yield();
}

/* The process is stopped at the start and busy at the reading. Does the reading have the switches
 * that the kernel tells? */
static bool has_own_switches(struct ps_eventset *set, pid_t pid)
{
	uint64_t timestamp = 0;

	stop_and_wait(pid);
	check_ok(ps_start(set));
	long long before = count_all_switches(pid), touches = atomic_load(touched);
	kill(pid, SIGCONT);
	while (atomic_load(touched) < touches + 256)
		sched_yield();
	long long least = count_all_switches(pid) - before;
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	long long most = count_all_switches(pid) - before;
	long long counted = here_sum("context-switches", timestamp);
	return counted >= least && counted <= most;
}

/* The kernel counts a context switch after the program has run. If the program took it for the next
 * task's, a busy task would have one too many. In a few of 1000 switches Linux 6.18 runs no program
 * of the tracepoint, so a few readings may differ. */
START_TEST(a_context_switch_belongs_to_the_task_that_left)
{
	int rounds = 40, right = 0;

	if (!bpf_is_possible())
		return;
	wander_move(wander_cpu(1)); /* the process inherits that, and runs while this one reads */
	pid_t pid = start_toucher();
	wander_move(wander_cpu(0));
	struct ps_eventset *set = attach(PS_ATTRIBUTE_BPF, pid);
	check_ok(ps_eventset_add(set, "context-switches"));
	for (int round = 0; round < rounds; round++)
		right += has_own_switches(set, pid);
	printf("%d of %d readings have the switches of the process\n", right, rounds);
	ck_assert_int_ge(right, rounds - rounds / 10);
	kill_and_wait(pid);
	ps_eventset_destroy(set);
}
END_TEST

static void add(TCase *tests)
{
	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_test(tests, a_reading_has_what_a_running_task_did);
	tcase_add_test(tests, a_context_switch_belongs_to_the_task_that_left);
}

int main(void)
{
	return wander_run("attribution by BPF of a busy process", add, NULL);
}
