/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at tasks that a set knows already, or should: after a pause or another start, and tasks
 * that a look missed. test_looks.c has the rest.
 */
#include "base/os.h"
#include "support/small.h"
#include "support/step.h"
#include "test_looks.h"

#include <setjmp.h>
#include <signal.h>

static void show_child(pid_t pid, pid_t parent, int cpu, uint64_t ran_ns)
{
	show((struct shown){
	    .pid = pid, .tid = pid, .parent = parent, .start = 9, .cpu = cpu, .ran_ns = ran_ns});
}

static void stop(struct ps_eventset *set)
{
	uint64_t timestamp = 0;

	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
}

/* Its counters go on: the kernel counts the children that came before. */
static struct ps_eventset *started_with_child(void)
{
	struct ps_eventset *set = started();

	show_child(400, 1, 1, 5 * MS); /* foreign */
	show_child(600, 500, 2, 5 * MS);
	take(set);
	return set;
}

static void check_child_alone(struct ps_eventset *set)
{
	show_child(400, 1, 1, 50 * MS);
	show_child(600, 500, 2, 9 * MS);
	show_child(700, 600, 3, 4 * MS);
	fake_advance(PAGE_FAULTS, 16);
	uint64_t timestamp = take(set);
	check_part(2, timestamp, 8, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 8, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}

START_TEST(a_resumed_set_knows_its_children)
{
	struct ps_eventset *set = started_with_child();

	check_ok(ps_pause(set));
	show_root(1, 1300 * MS); /* that is not counted */
	show_child(600, 500, 1, 5 * MS);
	check_ok(ps_resume(set));
	check_child_alone(set);
}
END_TEST

START_TEST(a_set_that_is_started_again_knows_its_children)
{
	struct ps_eventset *set = started_with_child();

	stop(set);
	show_root(1, 1300 * MS);
	show_child(600, 500, 1, 5 * MS);
	check_ok(ps_start(set));
	check_child_alone(set);
}
END_TEST

static int (*list)(const char *path, int (*visit)(const char *name, void *context), void *context);

/* The counters of a process count when they are opened; the first look comes after that. */
static int list_later(const char *path, int (*visit)(const char *name, void *context),
                      void *context)
{
	ps__os.list = list;
	fake_run(9 * MS, 9 * MS);
	fake_advance(PAGE_FAULTS, 9);
	return list(path, visit, context);
}

START_TEST(what_came_before_the_start_says_nothing_of_the_attribution)
{
	struct ps_eventset *set = by_looks("0-3");

	check_ok(ps_store(set, (const long long[]){0, 0}, 2, scene.root, NULL, NULL)); /* opens */
	list = ps__os.list;
	ps__os.list = list_later;
	check_ok(ps_start(set));
	ck_assert(ps__os.list == list);
	show_root(0, 1001 * MS);
	fake_advance(PAGE_FAULTS, 4);
	check_part(0, take(set), 4, PS_ATTRIBUTION_MIXED);
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_child_that_came_in_a_pause_is_known)
{
	struct ps_eventset *set = started();

	check_ok(ps_pause(set));
	show_child(600, 500, 1, 5 * MS);
	check_ok(ps_resume(set));
	check_child_alone(set);
}
END_TEST

START_TEST(a_reset_forgets_the_time_until_then)
{
	struct ps_eventset *set = started_with_child();

	show_root(1, 1300 * MS);
	check_ok(ps_reset(set));
	check_child_alone(set);
}
END_TEST

/* The first look after a resume must be whole: the times before are not counted. */
START_TEST(a_resume_whose_look_fails_credits_no_old_time)
{
	struct ps_eventset *set = started_with_child();

	check_ok(ps_pause(set));
	show_root(1, 1300 * MS);
	fake_fail_always(FAKE_LIST, EMFILE);
	check_ok(ps_resume(set));
	fake_fail_always(FAKE_LIST, 0);
	ps__set_look(set);
	check_child_alone(set);
}
END_TEST

/* A list of threads may leave some out while others end. */
START_TEST(a_thread_that_a_look_missed_is_not_credited_its_whole_life)
{
	struct ps_eventset *set = started();

	show_thread(501, 3, 800 * MS);
	ps__set_look(set);
	take(set);
	hide(500, 501);
	fake_set_clock(20000 * MS, 1000);
	ps__set_look(set);
	show_thread(501, 3, 801 * MS);
	show_root(0, 1002 * MS);
	fake_advance(PAGE_FAULTS, 10);
	check_part(0, take(set), 10, PS_ATTRIBUTION_MIXED);
	show_thread(501, 3, 804 * MS); /* from then on it is known */
	show_root(0, 1003 * MS);
	fake_advance(PAGE_FAULTS, 8);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 2, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 6, PS_ATTRIBUTION_MIXED);
	ps_eventset_destroy(set);
}
END_TEST

/* Another thread that calls execve has the first one's number from then on, and the time of its
 * own life. */
START_TEST(the_thread_that_executed_a_program_is_not_credited_its_whole_life)
{
	struct ps_eventset *set = started();

	check_ok(ps_pause(set));
	show_thread(501, 3, 3600000 * MS);
	check_ok(ps_resume(set));
	show_thread(501, 3, 3600006 * MS);
	ps__set_look(set);
	hide(500, 501);
	show_root(2, 3600008 * MS);
	fake_advance(PAGE_FAULTS, 8);
	uint64_t timestamp = take(set);
	check_part(3, timestamp, 6, PS_ATTRIBUTION_MIXED);
	check_part(2, timestamp, 2, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

static sigjmp_buf back;
static int (*open_one)(const char *path, int flags);

static void leave(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static int open_interrupted(const char *path, int flags)
{
	if (strstr(path, "/501/schedstat")) {
		ps__os.open = open_one;
		raise(SIGUSR1);
	}
	return open_one(path, flags);
}

/* Half a look would be credited once more by the next one. */
START_TEST(a_jump_out_of_a_look_comes_when_it_is_whole)
{
	struct ps_eventset *set = started();

	show_thread(501, 3, 3 * MS);
	open_one = ps__os.open;
	signal(SIGUSR1, leave);
	if (sigsetjmp(back, 1) == 0) {
		ps__os.open = open_interrupted;
		ps_read(set, scene.root, NULL, NULL);
		ck_abort_msg("nothing left the reading");
	}
	fake_advance(PAGE_FAULTS, 400);
	uint64_t timestamp = take(set);
	check_part(0, timestamp, 100, PS_ATTRIBUTION_MIXED);
	check_part(3, timestamp, 300, PS_ATTRIBUTION_MIXED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

#ifdef STEP_IS_POSSIBLE

/* The processor stops after each instruction, from the end of the look on. */
static volatile long steps_left;

static void count_step(int number)
{
	(void)number;
	if (--steps_left == 0)
		raise(SIGUSR1);
}

static int (*list_one)(const char *path, int (*visit)(const char *name, void *context),
                       void *context);

static int list_and_step(const char *path, int (*visit)(const char *name, void *context),
                         void *context)
{
	int result = list_one(path, visit, context);

	if (strcmp(path, "/proc") == 0)
		step(true);
	return result;
}

/* The counts are shared out. The fake's functions must not be left. */
static int (*clock_one)(clockid_t clock, struct timespec *now);

/* Instructions from one jump to the next; a sanitizer makes four times as many of them. */
#if PS_TEST_HAS_SANITIZER
#define STRIDE 181
#else
#define STRIDE ps_test_size(23, 61)
#endif

static int clock_and_go(clockid_t clock, struct timespec *now)
{
	step(false);
	return clock_one(clock, now);
}

/* False: the reading was over before. */
static bool leave_after(struct ps_eventset *set, long steps)
{
	volatile bool was_left = true;

	steps_left = steps;
	if (sigsetjmp(back, 1) == 0) {
		ps__os.list = list_and_step;
		ps__os.clock_gettime = clock_and_go;
		ps_read(set, scene.root, NULL, NULL);
		was_left = false;
	}
	ps__os.list = list_one;
	ps__os.clock_gettime = clock_one;
	return was_left;
}

START_TEST(a_jump_out_of_a_reading_leaves_no_shares_behind)
{
	uint64_t timestamp = 0;
	long long total = 0, steps;

	if (!step_is_possible())
		return;
	struct ps_eventset *set = started();
	check_ok(ps_eventset_reserve(set, 20000));
	list_one = ps__os.list;
	clock_one = ps__os.clock_gettime;
	signal(SIGUSR1, leave);
	signal(SIGTRAP, count_step);
	for (steps = 1;; steps += STRIDE) {
		show_root(0, 1001 * MS + (uint64_t)steps * 100000);
		show_thread(501, 3, (uint64_t)steps * 100000);
		fake_advance(PAGE_FAULTS, 24);
		total += 24;
		if (!leave_after(set, steps))
			break;
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
		ck_assert_msg(scene_sum(EVENT, timestamp) == total,
		              "after step %lld: %lld, not %lld", steps, scene_sum(EVENT, timestamp),
		              total);
	}
	ck_assert_int_gt(steps, 500);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("looks_again");
	TCase *tests = scene_case(suite, "looks_again");

	tcase_add_test(tests, a_resumed_set_knows_its_children);
	tcase_add_test(tests, a_set_that_is_started_again_knows_its_children);
	tcase_add_test(tests, what_came_before_the_start_says_nothing_of_the_attribution);
	tcase_add_test(tests, a_child_that_came_in_a_pause_is_known);
	tcase_add_test(tests, a_reset_forgets_the_time_until_then);
	tcase_add_test(tests, a_resume_whose_look_fails_credits_no_old_time);
	tcase_add_test(tests, a_thread_that_a_look_missed_is_not_credited_its_whole_life);
	tcase_add_test(tests, the_thread_that_executed_a_program_is_not_credited_its_whole_life);
	tcase_add_test(tests, a_jump_out_of_a_look_comes_when_it_is_whole);
#ifdef STEP_IS_POSSIBLE
	tcase_add_test(tests, a_jump_out_of_a_reading_leaves_no_shares_behind);
#endif
	return scene_run(suite);
}
