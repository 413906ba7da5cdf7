/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are left in their midst by siglongjmp out of a handler that interrupted them, while a
 * timer goes: whatever the thread did is counted, and the set doesn't stay busy. Real events, real
 * signals.
 */
#include "here.h"
#include "storm.h"
#include "support/resident.h"
#include "support/small.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JUMPS 150
#define ROWS  100000

typedef int reading(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                    struct ps_thread **thread);

/* One call of which a signal may take the thread away. */
static void read_in_storm(reading *read, struct ps_eventset *set, uint64_t *timestamp)
{
	if (sigsetjmp(storm_back, 1) == 0) {
		storm_let_jump();
		int result = read(set, here.root, timestamp, NULL);
		storm_may_jump = 0;
		ck_assert_msg(result == PS_OK, "after %d jumps: %s", (int)storm_jumps,
		              ps_error_detail());
	}
}

/* What the set says must lie between what was done, and that with what jumps and signals may have
 * touched. */
static void check_faults(long long value, long long done, const char *what)
{
	ck_assert_msg(value >= done && (PS_TEST_HAS_SANITIZER || value <= done + 64),
	              "%s: %lld page faults of %lld, after %d jumps", what, value, done,
	              (int)storm_jumps);
}

/* _i: the mode; 3 and more: it is moved about besides. */
static void storm(int which, reading *read, bool makes_new)
{
	struct ps_eventset *set = here_faults(here_modes[which % HERE_MODES], ROWS);
	volatile long long done = 0;
	uint64_t first = 0, timestamp = 0;

	here_map_page();
	here_touch();
	check_ok(ps_start(set));
	check_ok(read(set, here.root, &first, NULL));
	timestamp = first;
	storm_begin();
	for (volatile unsigned step = 0; storm_jumps < JUMPS && step < 300 * JUMPS; step++) {
		here_touch();
		done++;
		if (which >= HERE_MODES && step % 16 == 0)
			here_move(step);
		if (makes_new)
			timestamp = 0;
		read_in_storm(read, set, &timestamp);
	}
	storm_end();
	printf("lab: %d jumps in %lld calls\n", (int)storm_jumps, done);
	if (makes_new)
		timestamp = 0;
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	if (!makes_new || read == ps_read)
		check_faults(here_sum(HERE_FAULTS, timestamp), done, "the last reading");
	here_check_residual(set);
	ps_eventset_destroy(set);
}

START_TEST(a_set_that_jumps_left_while_it_read_loses_nothing)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	storm(_i, ps_read, false);
}
END_TEST

START_TEST(a_set_that_jumps_left_while_it_accumulated_loses_nothing)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	storm(_i, ps_accum, false);
}
END_TEST

START_TEST(a_set_that_jumps_left_while_it_made_new_readings_loses_nothing)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	storm(_i, ps_read, true);
}
END_TEST

/* All readings of a history of ps_accum together are what was counted. Signals come so fast that
 * the call behind one that was left is often left, too. */
#define FAST_US 12
#define SLOW_US 200 /* where instructions are slow */

START_TEST(a_history_that_jumps_left_holds_all)
{
	struct ps_value values[4096];
	struct ps_eventset *set;
	long long sum = 0;
	size_t count = 0;
	volatile long long done = 0;

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(here_modes[_i % HERE_MODES], ROWS);
	here_map_page();
	here_touch();
	check_ok(ps_start(set));
	storm_begin();
	storm_set_timer(ps_test_size(FAST_US, SLOW_US));
	for (volatile unsigned step = 0; step < 2500; step++) {
		uint64_t timestamp = 0;
		here_touch();
		done++;
		if (step % 4 == 0)
			here_move(step / 4);
		read_in_storm(ps_accum, set, &timestamp);
	}
	storm_end();
	uint64_t timestamp = 0;
	check_ok(ps_stop(set, here.root, &timestamp, NULL));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const struct ps_thread *thread = ps_topology_thread(here.topology, cpu);
		if (!thread ||
		    ps_thread_readings(thread, HERE_FAULTS, values, 4096, &count) != PS_OK)
			continue;
		for (size_t i = 0; i < count; i++)
			sum += values[i].value;
	}
	check_faults(sum, done, "the history");
	ps_eventset_destroy(set);
}
END_TEST

/* A handler that comes back must find the set as before: refused, and the interrupted call is
 * right. */
static struct ps_eventset *shared;
static _Atomic int refusals, readings;

static void read_in_handler(int number)
{
	(void)number;
	int result = ps_read(shared, here.root, NULL, NULL);
	if (result == PS_ECNFLCT)
		refusals++;
	else if (result == PS_OK)
		readings++;
	else
		abort();
}

static void interrupt(bool on_other_stack)
{
	struct sigaction action = {.sa_handler = read_in_handler,
	                           .sa_flags = on_other_stack ? SA_ONSTACK : 0};
	long long done = 0;

	sigemptyset(&action.sa_mask);
	refusals = 0;
	readings = 0;
	shared = here_faults(PS_ATTRIBUTE_AUTO, ROWS);
	here_map_page();
	here_touch();
	check_ok(ps_start(shared));
	check_ok(ps_read(shared, here.root, NULL, NULL));
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	storm_set_timer(100);
	for (unsigned step = 0; refusals < 20 && step < 400000; step++) {
		here_touch();
		done++;
		check_ok((step % 4 ? ps_read : ps_accum)(shared, here.root, NULL, NULL));
	}
	storm_end();
	check_ok(ps_stop(shared, here.root, NULL, NULL));
	struct ps_value total = {0};
	check_ok(ps_component_total(here.root, HERE_FAULTS, &total));
	check_faults(total.value, done,
	             on_other_stack ? "handlers on a stack of their own" : "handlers");
	here_check_residual(shared);
	ps_eventset_destroy(shared);
}

START_TEST(a_handler_that_returns_is_refused_as_before)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	interrupt(false);
}
END_TEST

START_TEST(a_handler_on_a_stack_of_its_own_is_refused_as_before)
{
	static char memory[1 << 17];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};

	if (!here_may_count(HERE_FAULTS))
		return;
	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	interrupt(true);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}
END_TEST

static void interrupt_disarmed(void)
{
	interrupt(true);
	ck_assert_int_gt(refusals, 0);
}

START_TEST(a_handler_on_a_stack_with_ss_autodisarm_is_refused_as_before)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	storm_run_disarmed(interrupt_disarmed);
}
END_TEST

static void jump_disarmed(void)
{
	storm(0, ps_read, false);
}

/* The handler is on the thread's own stack. */
START_TEST(a_thread_with_a_stack_for_other_signals_loses_nothing)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	storm_run_disarmed(jump_disarmed);
}
END_TEST

int main(void)
{
	if (ps_test_is_in_valgrind()) {
		ps_test_skip("valgrind delays signals, and has page faults of its own in the "
		             "counted thread");
		return EXIT_SUCCESS;
	}
	Suite *suite = suite_create("jump");
	TCase *tests = here_case(suite, "jump");

	tcase_add_loop_test(tests, a_set_that_jumps_left_while_it_read_loses_nothing, 0,
	                    2 * HERE_MODES);
	tcase_add_loop_test(tests, a_set_that_jumps_left_while_it_accumulated_loses_nothing, 0,
	                    2 * HERE_MODES);
	tcase_add_loop_test(tests, a_set_that_jumps_left_while_it_made_new_readings_loses_nothing,
	                    0, 2 * HERE_MODES);
	tcase_add_loop_test(tests, a_history_that_jumps_left_holds_all, 0, HERE_MODES);
	tcase_add_test(tests, a_handler_that_returns_is_refused_as_before);
	tcase_add_test(tests, a_handler_on_a_stack_of_its_own_is_refused_as_before);
	tcase_add_test(tests, a_handler_on_a_stack_with_ss_autodisarm_is_refused_as_before);
	tcase_add_test(tests, a_thread_with_a_stack_for_other_signals_loses_nothing);
	return here_run(suite);
}
