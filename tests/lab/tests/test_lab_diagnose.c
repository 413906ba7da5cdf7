/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The diagnosis of a machine with a real PMU, whose settings are changed around it: paranoid level
 * 3, counters that another user holds, user-space reads, a CPU that is offline.
 */
#include "lab.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define ACCESS   "/proc/sys/kernel/perf_user_access"

/* Cortex-A57 as QEMU has it: six programmable counters, and one for cycles. */
#define COUNTERS 7

struct wanted {
	const char *name, *fact, *remedy; /* parts; remedy NULL: there is none */
	enum ps_finding_state state;
	bool is_found;
};

static int look(const struct ps_finding *finding, void *context)
{
	struct wanted *wanted = context;

	if (strcmp(finding->name, wanted->name) != 0)
		return 0;
	printf("%s: %s: %s\n", finding->name, ps_finding_state_name(finding->state), finding->fact);
	wanted->is_found =
	    finding->state == wanted->state && strstr(finding->fact, wanted->fact) &&
	    (wanted->remedy ? strstr(finding->remedy, wanted->remedy) != NULL : !*finding->remedy);
	return 0;
}

/* Is this what is found? *code: of the whole diagnosis, of instructions:u. */
static bool is_found(struct wanted wanted, int *code)
{
	static const char *const events[] = {LAB_INSTRUCTIONS};
	struct ps_diagnose_options options = {
	    .size = sizeof options, .events = events, .event_count = 1};

	*code = ps_diagnose(&options, look, &wanted);
	fflush(stdout);
	return wanted.is_found;
}

static void check(struct wanted wanted)
{
	int code;

	ck_assert_msg(is_found(wanted, &code), "%s is not as it should be", wanted.name);
	lab_ok(code);
}

/* In a process of an unprivileged user, with the level: what is found, and does the event count? */
static void check_as_user(const char *level, struct wanted wanted, int wanted_code)
{
	int status, code;

	lab_write(PARANOID, level);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(3);
		bool found = is_found(wanted, &code);
		_exit(!found ? 1 : code != wanted_code ? 2 : 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	lab_write(PARANOID, "0");
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "level %s: status %x", level,
	              status);
}

START_TEST(level_3_is_named_as_what_forbids_all)
{
	check_as_user("3",
	              (struct wanted){"permission", "perf_event_paranoid is 3", "paranoid=2",
	                              PS_FINDING_BLOCKED},
	              PS_EPERM);
	check_as_user("3", (struct wanted){"seccomp", "No seccomp filter", NULL, PS_FINDING_GOOD},
	              PS_EPERM);
	check_as_user("3", (struct wanted){"kernel", "has perf_event_open.", NULL, PS_FINDING_GOOD},
	              PS_EPERM);
	check_as_user("3", (struct wanted){"pmu", "is refused (EACCES)", NULL, PS_FINDING_BLOCKED},
	              PS_EPERM);
}
END_TEST

START_TEST(the_lower_levels_permit_what_was_tried)
{
	check_as_user("2",
	              (struct wanted){"permission", "tasks: yes; the kernel, too: no (EACCES)",
	                              "paranoid=0", PS_FINDING_LIMITED},
	              PS_OK);
	check_as_user("1",
	              (struct wanted){"permission",
	                              "the kernel, too: yes; all tasks of a CPU: no (EACCES)",
	                              "paranoid=0", PS_FINDING_LIMITED},
	              PS_OK);
	check_as_user(
	    "0", (struct wanted){"permission", "all tasks of a CPU: yes", NULL, PS_FINDING_GOOD},
	    PS_OK);
}
END_TEST

static int hold_counter(int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
	                               .config = PERF_COUNT_HW_INSTRUCTIONS,
	                               .size = sizeof attr,
	                               .pinned = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(counters_that_others_hold_are_missed)
{
	char some[64];
	int held[2];

	lab_pin(0);
	check((struct wanted){"counters", "7 counters: one group takes that many", NULL,
	                      PS_FINDING_GOOD});
	for (int i = 0; i < 2; i++)
		held[i] = hold_counter(0);
	snprintf(some, sizeof some, "takes %d events of the cores, but of these only %d", COUNTERS,
	         COUNTERS - 2);
	check((struct wanted){"counters", some, "fdinfo", PS_FINDING_LIMITED});
	for (int i = 0; i < 2; i++)
		close(held[i]);
	check((struct wanted){"counters", "7 counters", NULL, PS_FINDING_GOOD});
}
END_TEST

START_TEST(an_event_for_which_no_counter_is_free_does_not_count)
{
	struct wanted wanted = {"event", "was never on the hardware", NULL, PS_FINDING_BLOCKED};
	int held[COUNTERS - 1], code;

	lab_pin(0);
	for (int i = 0; i < COUNTERS - 1; i++)
		held[i] = hold_counter(0);
	bool found = is_found(wanted, &code);
	for (int i = 0; i < COUNTERS - 1; i++)
		close(held[i]);
	ck_assert(found);
	ck_assert_int_eq(code, PS_ENOCNTR);
}
END_TEST

START_TEST(user_space_reads_follow_their_switch)
{
	check((struct wanted){"user-reads", "without a system call. kernel.perf_user_access is 1",
	                      NULL, PS_FINDING_GOOD});
	lab_write(ACCESS, "0");
	check((struct wanted){"user-reads", "kernel.perf_user_access is 0",
	                      "sysctl kernel.perf_user_access=1", PS_FINDING_LIMITED});
	lab_write(ACCESS, "1");
}
END_TEST

START_TEST(a_cpu_that_is_offline_is_named)
{
	check((struct wanted){"cpus", "may run on all of them", NULL, PS_FINDING_GOOD});
	lab_cpu_online(3, false);
	check((struct wanted){"cpus", "1 is offline", "cpu3/online", PS_FINDING_LIMITED});
	lab_cpu_online(3, true);
	check((struct wanted){"hybrid", "One kind of cores", NULL, PS_FINDING_GOOD});
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab_diagnose");
	TCase *tests = tcase_create("lab");

	tcase_add_test(tests, level_3_is_named_as_what_forbids_all);
	tcase_add_test(tests, the_lower_levels_permit_what_was_tried);
	tcase_add_test(tests, counters_that_others_hold_are_missed);
	tcase_add_test(tests, an_event_for_which_no_counter_is_free_does_not_count);
	tcase_add_test(tests, user_space_reads_follow_their_switch);
	tcase_add_test(tests, a_cpu_that_is_offline_is_named);
	suite_add_tcase(suite, tests);
	return lab_run(suite);
}
