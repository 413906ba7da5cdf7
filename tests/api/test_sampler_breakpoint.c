/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of breakpoints, and signals at the very access. */
#include "sampler_here.h"

#include <signal.h>
#include <sys/prctl.h>

static bool is_refused(int result)
{
	return result == PS_EPERM || result == PS_ENOSUPP || result == PS_ENOCNTR;
}

static volatile long watched;

static struct ps_attr *watch(long amount)
{
	char name[64];

	snprintf(name, sizeof name, "mem:%p/%zu:w:u", (void *)(uintptr_t)&watched, sizeof watched);
	return new_attr(name, (uint64_t)amount, ALL_IDS | PERF_SAMPLE_ADDR);
}

/* Skips where all registers are taken, or there are none. */
static struct ps_sampler *open_watch(struct ps_attr *attr)
{
	struct ps_sampler *sampler = NULL;
	int result = ps_sampler_create(&sampler, attr, 0, -1, 0);

	ps_attr_destroy(attr);
	ck_assert_msg(result == PS_OK || is_refused(result), "%s", ps_error_detail());
	return sampler;
}

START_TEST(a_breakpoint_is_sampled)
{
	struct ps_sampler *sampler = open_watch(watch(1));
	struct ps_record record;
	unsigned samples = 0;

	if (!sampler) {
		ps_test_skip(ps_error_detail());
		return;
	}
	check_ok(ps_sampler_start(sampler));
	for (int i = 0; i < 7; i++)
		watched = i;
	check_ok(ps_sampler_stop(sampler));
	watched = 9;
	uint64_t value = read_count(sampler).value;
	while (ps_sampler_next(sampler, &record) == PS_OK) {
		if (record.type != PS_RECORD_SAMPLE)
			continue;
		samples++;
		ck_assert_uint_eq(record.addr, (uintptr_t)&watched);
	}
	ps_sampler_destroy(sampler);
	/* Emulators and some hypervisors have the registers, and no breaks. */
	if (value == 0) {
		ps_test_skip("this machine takes breakpoints, and never breaks");
		return;
	}
	ck_assert_uint_eq(value, 7);
	ck_assert_uint_eq(samples, 7);
}
END_TEST

#define MOST_TRAPS 100

static volatile sig_atomic_t traps;
static volatile unsigned long trap_data;

/* The kernel puts sig_data behind the address; glibc's headers don't name it yet. */
#define SIG_DATA_OFFSET (offsetof(siginfo_t, si_addr) + sizeof(void *))

static void note_trap(int number, siginfo_t *info, void *context)
{
	unsigned long data;

	(void)number;
	(void)context;
	memcpy(&data, (const char *)info + SIG_DATA_OFFSET, sizeof data);
	trap_data = data;
	/* Or a machine that repeats the access after the signal would send signals for ever. */
	if (++traps == MOST_TRAPS)
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
}

/* A signal at the very access, with no privilege. */
START_TEST(an_access_sends_a_signal)
{
	struct ps_attr *attr = watch(1);
	enum ps_attr_field refused;
	struct sigaction action = {.sa_sigaction = note_trap, .sa_flags = SA_SIGINFO};

	if (ps_test_is_in_valgrind()) {
		ps_test_skip("valgrind takes the signal for its own");
		ps_attr_destroy(attr);
		return;
	}
	check_ok(ps_attr_set(attr, PS_ATTR_SIGTRAP, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_REMOVE_ON_EXEC, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SIG_DATA, 77));
	int result = ps_attr_check(attr, &refused);
	struct ps_sampler *sampler = result == PS_OK ? open_watch(attr) : NULL;
	if (!sampler) {
		ck_assert(is_refused(result) || result == PS_OK);
		ps_test_skip(ps_error_detail());
		return;
	}
	sigaction(SIGTRAP, &action, NULL);
	check_ok(ps_sampler_start(sampler));
	watched = 1;
	bool is_repeated = traps > 1;
	watched = 2;
	check_ok(ps_sampler_stop(sampler));
	watched = 3;
	uint64_t value = read_count(sampler).value;
	ps_sampler_destroy(sampler);
#ifdef __x86_64__
	ck_assert(!is_repeated);
#endif
	/* Where the processor breaks before the access (arm64). */
	if (is_repeated) {
		prctl(PR_TASK_PERF_EVENTS_ENABLE);
		ps_test_skip("this machine breaks before the access, and again after the signal");
		return;
	}
	if (value == 0) {
		ps_test_skip("this machine takes breakpoints, and never breaks");
		return;
	}
	ck_assert_int_eq(traps, 2);
	ck_assert_uint_eq(trap_data, 77);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sampler_breakpoint");
	TCase *tests = here_case(suite, "sampler_breakpoint");

	tcase_add_test(tests, a_breakpoint_is_sampled);
	tcase_add_test(tests, an_access_sends_a_signal);
	return here_run(suite);
}
