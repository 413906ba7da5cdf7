/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is switched out, or moved, at each single instruction of ps_accum: the processor
 * stops after every one, and at the first, the second, and so on the handler sleeps, or touches a
 * page and goes to another CPU. What is said to be known of a CPU must be what was touched there.
 * Real page faults.
 */
#include "support/resident.h"
#include "support/small.h"
#include "support/step.h"
#include "wander.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>

/* More than the call takes. */
#define MOST_STEPS 20000
/* The first ones meet code and storage. */
#define REHEARSALS 12
#define MOST_TRIES 5
/* Each one takes minutes: PS_TEST_STRIDE=1. */
#define STRIDE ps_test_size(53, 97)
/* A trial's pages: before the call, within it, and behind it; and those of the preparation. */
#define PAGES 5

#ifdef STEP_IS_POSSIBLE

static struct {
	struct ps_topology *topology;
	struct ps_eventset *set;
	struct wander_work work;
	volatile long steps_left;
	bool is_moved; /* else it sleeps */
} trial;

static void at_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;
	struct timespec shortest = {.tv_nsec = 1};

	(void)number;
	(void)info;
	if (--trial.steps_left > 0)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)STEP_TRAP_FLAG;
	if (!trial.is_moved) {
		nanosleep(&shortest, NULL);
		return;
	}
	wander_touch(&trial.work, 1);
	wander_move(wander_cpu(0));
}

/* A new reading, after which the counts begin anew. */
static uint64_t take(void)
{
	uint64_t timestamp = 0;

	check_ok(ps_accum(trial.set, ps_topology_root(trial.topology), &timestamp, NULL));
	return timestamp;
}

static struct ps_value part(int index, uint64_t timestamp)
{
	struct ps_value value = {.attribution = PS_ATTRIBUTION_LAST_CPU};
	const struct ps_thread *thread = ps_topology_thread(trial.topology, wander_cpu(index));

	ps_thread_reading(thread, WANDER_EVENT, timestamp, &value);
	return value;
}

static bool is_certain(const struct ps_value *value)
{
	return value->attribution == PS_ATTRIBUTION_EXACT ||
	       value->attribution == PS_ATTRIBUTION_PINNED;
}

/* A count that is certain lies between the pages that were touched there for certain, and those
 * that may have been. */
static void check_part(const char *which, const struct ps_value *value, long long least,
                       long long most)
{
	ck_assert_msg(!is_certain(value) || (value->value >= least && value->value <= most),
	              "%s: %s: %lld page faults, not %lld to %lld", which,
	              ps_attribution_name(value->attribution), value->value, least, most);
}

/* All that is known of a trial, for a failure. */
static const char *describe(char text[256], long steps, const struct ps_value *first,
                            const struct ps_value *second, long long strays)
{
	const struct ps_value *values[] = {&first[0], &first[1], &second[0], &second[1]};
	int length = snprintf(text, 256, "step %ld, %lld strays;", steps, strays);

	for (int i = 0; i < 4; i++)
		length += snprintf(text + length, 256 - (size_t)length, " %s CPU: %lld %s,",
		                   i % 2 ? "second" : "first", values[i]->value,
		                   ps_attribution_name(values[i]->attribution));
	return text;
}

/* False: it isn't known where it was. */
static bool check_readings(long steps, const uint64_t *timestamps, long long strays)
{
	struct ps_value first[2], second[2];
	long long sum = 0;
	char text[256];

	for (int index = 0; index < 2; index++) {
		first[index] = part(index, timestamps[0]);
		second[index] = part(index, timestamps[1]);
		sum += first[index].value + second[index].value;
	}
	wander_check_count(sum, trial.is_moved ? 3 : 2, strays);
	describe(text, steps, first, second, strays);
	if (trial.is_moved) {
		check_part(text, &first[1], 1, 2 + strays);
		check_part(text, &first[0], 0, strays);
		check_part(text, &second[1], 0, 1 + strays);
		check_part(text, &second[0], 1, 1 + strays);
		return true;
	}
	check_part(text, &first[1], 1, 1 + strays);
	check_part(text, &second[1], 1, 1 + strays);
	return is_certain(&first[1]) && is_certain(&second[1]);
}

/* One call. Sets is_over if it was over before so many steps. Returns false if it isn't known where
 * the thread was. */
static bool try_once(long steps, bool *is_over)
{
	bool is_known = true;
	uint64_t timestamps[2];
	long at = steps > REHEARSALS ? steps - REHEARSALS : steps * 100;

	wander_create(&trial.work, PAGES);
	wander_move(wander_cpu(1));
	take();
	take();
	wander_settle(&trial.work);
	wander_touch(&trial.work, 1);
	trial.steps_left = at;
	step(true);
	timestamps[0] = take();
	step(false);
	bool was_reached = trial.steps_left <= 0;
	if (trial.is_moved && !was_reached) {
		wander_touch(&trial.work, 1);
		wander_move(wander_cpu(0));
	}
	wander_touch(&trial.work, 1);
	timestamps[1] = take();
	long long strays = wander_strays(&trial.work);
	if (steps > REHEARSALS)
		is_known = check_readings(steps, timestamps, strays);
	wander_destroy(&trial.work);
	*is_over = !was_reached && steps > REHEARSALS;
	return is_known;
}

/* The switches by which other programs took the CPU from the thread. */
static long count_preemptions(void)
{
	struct rusage usage;

	ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nivcsw;
}

/* False: the call was over before so many steps. A call whose every instruction stops is so slow
 * that other programs may interrupt it at each look, and then there is a doubt. */
static bool try_step(long steps)
{
	bool is_known = false, is_preempted = true, is_over = false;

	for (int attempt = 0; attempt < MOST_TRIES && !is_known && is_preempted; attempt++) {
		long before = count_preemptions();
		is_known = try_once(steps, &is_over);
		is_preempted = count_preemptions() != before;
	}
	ck_assert_msg(is_known || is_preempted,
	              "step %ld: it was switched out and in on one CPU, and that is said to be a "
	              "doubt",
	              steps);
	return !is_over;
}

static void try_all(enum ps_attribution_mode mode, bool is_moved)
{
	struct sigaction action = {.sa_sigaction = at_step, .sa_flags = SA_SIGINFO};
	const char *given = getenv("PS_TEST_STRIDE");
	long steps = 1, stride = given ? atol(given) : STRIDE;

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	check_ok(ps_topology_load(&trial.topology, NULL));
	trial.is_moved = is_moved;
	trial.set = wander_set(mode, 64);
	wander_move(wander_cpu(0));
	check_ok(ps_start(trial.set));
	while (steps < MOST_STEPS && try_step(steps))
		steps += steps > REHEARSALS ? stride : 1;
	ck_assert_int_lt(steps, MOST_STEPS);
	printf("lab: %s at each of %ld instructions\n", is_moved ? "moved" : "switched",
	       steps - 1 - REHEARSALS);
	wander_check_residual(trial.set);
	ps_eventset_destroy(trial.set);
	ps_topology_destroy(trial.topology);
}

/* A set that was started on one CPU, whose thread left it since; and one that the kernel splits. */
static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_AUTO, PS_ATTRIBUTE_EXACT};

START_TEST(a_switch_leaves_no_doubt_of_the_cpu)
{
	if (!wander_is_possible())
		return;
	try_all(modes[_i], false);
}
END_TEST

START_TEST(a_move_leaves_no_count_on_the_wrong_cpu)
{
	if (!wander_is_possible())
		return;
	try_all(modes[_i], true);
}
END_TEST

static void add(TCase *tests)
{
	tcase_set_timeout(tests, STEP_LONGEST_S);
	tcase_add_loop_test(tests, a_switch_leaves_no_doubt_of_the_cpu, 0, 2);
	tcase_add_loop_test(tests, a_move_leaves_no_count_on_the_wrong_cpu, 0, 2);
}

static void add_with_records(TCase *tests)
{
	tcase_set_timeout(tests, STEP_LONGEST_S);
	tcase_add_loop_test(tests, a_switch_leaves_no_doubt_of_the_cpu, 1, 2);
	tcase_add_loop_test(tests, a_move_leaves_no_count_on_the_wrong_cpu, 1, 2);
}

static int run(void)
{
	return wander_run("step moves", add, add_with_records);
}

#else

static int run(void)
{
	return EXIT_SUCCESS;
}

#endif

int main(void)
{
	return step_is_possible() ? run() : EXIT_SUCCESS;
}
