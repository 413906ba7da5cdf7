/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A jump out of each single instruction of ps_read and ps_accum: the processor stops after every
 * one (the trap flag), and the handler leaves the call at the first, the second, and so on until
 * the call's end. After each of them the set must tell all that was counted, under the timestamp
 * that the caller has. x86-64 alone; real page faults.
 */
#include "here.h"
#include "support/resident.h"
#include "support/small.h"
#include "support/step.h"

#include <linux/perf_event.h>
#include <perfsage/hooks.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* More than any of the calls takes. */
#define MOST_STEPS 20000
#define REHEARSALS 12
/* Each one takes a minute: PS_TEST_STRIDE=1. */
#define STRIDE ps_test_size(29, 61)
/* So many calls in full after each jump; and the storage that it takes. */
#define ROWS 60000

#ifdef STEP_IS_POSSIBLE

static sigjmp_buf back;
static volatile long steps_left;

static void count_step(int number)
{
	(void)number;
	if (--steps_left == 0)
		siglongjmp(back, 1);
}

typedef int reading(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                    struct ps_thread **thread);

/* What is tried: a call in some state of the set. */
struct trial {
	struct ps_eventset *set;
	reading *call;
	bool is_slow;       /* it doesn't go the fast path */
	bool is_twice;      /* the call after the one that was left is left, too */
	bool is_new;        /* it makes a new reading */
	bool is_moved;      /* the thread is elsewhere when the next call is made */
	bool accumulated;   /* the reading has a base, by ps_accum just before */
	uint64_t timestamp; /* of the one reading that has everything; with is_new, of the latest */
	long long done;
	long long
	    others; /* the thread's faults that weren't done here, less those before the trial */
};

static void touch(struct trial *trial)
{
	here_touch();
	trial->done++;
}

static long long value_of_history(void)
{
	static struct ps_value *values;
	long long sum = 0;
	size_t count = 0;

	/* All of it now: its pages would be counted else. */
	if (!values)
		values = mmap(NULL, ROWS * sizeof *values, PROT_READ | PROT_WRITE,
		              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ck_assert_ptr_ne(values, MAP_FAILED);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const struct ps_thread *thread = ps_topology_thread(here.topology, cpu);
		if (!thread ||
		    ps_thread_readings(thread, HERE_FAULTS, values, ROWS, &count) != PS_OK)
			continue;
		for (size_t i = 0; i < count; i++)
			sum += values[i].value;
	}
	return sum;
}

static void prepare(struct trial *trial)
{
	reading *call = trial->accumulated ? ps_accum : trial->call;

	/* Twice: the first one opens the fast path. */
	for (int i = 0; i < 2; i++) {
		uint64_t none = 0;
		touch(trial);
		check_ok(
		    call(trial->set, here.root, trial->is_new ? &none : &trial->timestamp, NULL));
	}
	if (trial->is_slow)
		check_ok(ps_eventset_reserve(trial->set, 1));
}

/* True: the call was left after so many steps. False: it was done before. */
static bool leave_after(struct trial *trial, long steps)
{
	uint64_t none = 0;
	volatile int result = PS_OK;

	steps_left = steps;
	if (sigsetjmp(back, 1) != 0)
		return true;
	step(true);
	result =
	    trial->call(trial->set, here.root, trial->is_new ? &none : &trial->timestamp, NULL);
	step(false);
	ck_assert_int_eq(result, PS_OK);
	return false;
}

/* By an event of the test's own. getrusage doesn't count a fault that a signal interrupts, and that
 * happens once more. */
static long long count_faults(void)
{
	static int fd = -1;
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_PAGE_FAULTS,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1};
	uint64_t count = 0;

	if (fd < 0)
		fd = ps_hooks_default()->perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, &count, sizeof count), (ssize_t)sizeof count);
	return (long long)count;
}

static void check_values(struct trial *trial, long steps)
{
	uint64_t none = 0, *timestamp = trial->is_new ? &none : &trial->timestamp;
	long long residual[2];
	long long value;

	touch(trial);
	int result = trial->call(trial->set, here.root, timestamp, NULL);
	ck_assert_msg(result == PS_OK, "after step %ld: %s", steps, ps_error_detail());
	if (trial->is_new && trial->call == ps_accum)
		value = value_of_history();
	else
		value = here_sum(HERE_FAULTS, *timestamp);
	/* What the first calls met of the program is counted besides. */
	if (steps <= REHEARSALS) {
		trial->done = value;
		trial->others = count_faults() - value;
	}
	check_ok(ps_eventset_check(trial->set, residual, 2));
	/* The kernel may have taken a page away meanwhile; then the test has counted the fault,
	 * too. */
	long long most = count_faults() - trial->others;
	ck_assert_msg(value >= trial->done && value <= most,
	              "after step %ld: %lld page faults, not %lld to %lld; residual %lld", steps,
	              value, trial->done, most, residual[0]);
	trial->done = value;
	ck_assert_msg(residual[0] == 0 && residual[1] == 0, "after step %ld: residual %lld", steps,
	              residual[0]);
}

static void try_all(enum ps_attribution_mode mode, struct trial trial)
{
	struct sigaction action = {.sa_handler = count_step};
	const char *given = getenv("PS_TEST_STRIDE");
	long steps, stride = given ? atol(given) : STRIDE;

	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	trial.set = here_faults(mode, ROWS);
	here_map_page();
	check_ok(ps_start(trial.set));
	for (steps = 1; steps<MOST_STEPS; steps += steps> REHEARSALS ? stride : 1) {
		prepare(&trial);
		touch(&trial);
		/* The first ones are rehearsals, and go far. */
		if (!leave_after(&trial, steps > REHEARSALS ? steps - REHEARSALS : steps * 100) &&
		    steps > REHEARSALS)
			break;
		/* The next call finishes the one that was left; and is left itself, as far from its
		 * own beginning. */
		if (trial.is_twice && steps > REHEARSALS) {
			touch(&trial);
			leave_after(&trial, steps - REHEARSALS);
		}
		if (trial.is_moved)
			here_move((unsigned)steps);
		check_values(&trial, steps);
	}
	ck_assert_int_lt(steps, MOST_STEPS);
	printf("lab: a jump out of each of %ld instructions\n", steps - 1 - REHEARSALS);
	ps_eventset_destroy(trial.set);
}

static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_EXACT, PS_ATTRIBUTE_LAST_CPU};

#define STEP_TEST(name, ...)                                             \
	START_TEST(name)                                                 \
	{                                                                \
		if (here_may_count(HERE_FAULTS))                         \
			try_all(modes[_i], (struct trial){__VA_ARGS__}); \
	}                                                                \
	END_TEST

STEP_TEST(a_reading_that_is_updated, .call = ps_read)
STEP_TEST(a_reading_that_is_accumulated, .call = ps_accum)
STEP_TEST(a_reading_after_it_was_accumulated, .call = ps_read, .accumulated = true)
STEP_TEST(a_new_reading, .call = ps_read, .is_new = true)
STEP_TEST(a_new_reading_that_is_accumulated, .call = ps_accum, .is_new = true)
STEP_TEST(a_reading_that_is_updated_on_the_slow_path, .call = ps_read, .is_slow = true)
STEP_TEST(a_reading_whose_thread_moves, .call = ps_read, .is_slow = true, .is_moved = true)
STEP_TEST(a_reading_that_is_left_twice, .call = ps_read, .is_twice = true)
STEP_TEST(a_reading_that_is_left_twice_on_the_slow_path, .call = ps_accum, .is_slow = true,
          .is_twice = true)
STEP_TEST(a_reading_that_is_accumulated_on_the_slow_path, .call = ps_accum, .is_slow = true)
STEP_TEST(a_new_reading_on_the_slow_path, .call = ps_read, .is_new = true, .is_slow = true)

/* A case of its own for each, so that it can be run alone (CK_RUN_CASE). */
#define ADD(name, modes)                                    \
	do {                                                \
		TCase *tests = here_case(suite, #name);     \
		tcase_set_timeout(tests, STEP_LONGEST_S);   \
		tcase_add_loop_test(tests, name, 0, modes); \
	} while (0)

static void add_tests(Suite *suite)
{
	ADD(a_reading_that_is_updated, 2);
	ADD(a_reading_that_is_accumulated, 1);
	ADD(a_reading_after_it_was_accumulated, 1);
	ADD(a_new_reading, 1);
	ADD(a_new_reading_that_is_accumulated, 1);
	ADD(a_reading_that_is_updated_on_the_slow_path, 2);
	ADD(a_reading_whose_thread_moves, 2);
	ADD(a_reading_that_is_left_twice, 1);
	ADD(a_reading_that_is_left_twice_on_the_slow_path, 1);
	ADD(a_reading_that_is_accumulated_on_the_slow_path, 2);
	ADD(a_new_reading_on_the_slow_path, 1);
}

static int run(void)
{
	Suite *suite = suite_create("step");

	add_tests(suite);
	return here_run(suite);
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
