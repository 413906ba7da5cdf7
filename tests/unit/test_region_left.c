/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A handler leaves ps_region_enter or ps_region_leave by siglongjmp, at each instruction from where
 * the levels change. The thread can then end, or destroy the profile; slow visits are reported as
 * what they are, or the loss is told. api/test_region_jump leaves visits at any time.
 */
#include "base/os.h"
#include "region/profile.h"
#include "support/regions.h"
#include "support/small.h"
#include "support/step.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

static unsigned long yields;

/* Replaces the C library's: a reader waits by it. */
int sched_yield(void)
{
	yields++;
	return 0;
}

/* A jump during a change leaves the sequence odd. The thread may then work on for long. */
START_TEST(a_reader_does_not_wait_long_for_a_change_that_was_left)
{
	regions_begin(EVENT, NULL);
	visit_counting(region("work"), 3);
	struct ps__node *node = ps__own.member->root;
	ps__node_begin(node);
	yields = 0;
	take_paths();
	ck_assert_uint_gt(yields, 0);
	ck_assert_uint_le(yields, 20000);
	ps__node_end(node);
	ck_assert_int_eq(own("work", -1), 3);
	regions_end();
}
END_TEST

static ssize_t (*real_read)(int fd, void *buffer, size_t size_bytes);
static sigjmp_buf before_the_read;
static pthread_barrier_t both;

static ssize_t leave_the_read(int fd, void *buffer, size_t size_bytes)
{
	(void)fd;
	(void)buffer;
	(void)size_bytes;
	ps__os.read = real_read;
	siglongjmp(before_the_read, 1);
}

struct survivor {
	struct ps_region *outer, *inner, *later;
	bool jumps;
};

/* Enters a region of a profile that is destroyed then, and visits a region of another one. */
static void *outlive_a_profile(void *argument)
{
	const struct survivor *survivor = argument;

	check_ok(ps_region_enter(survivor->outer));
	real_read = ps__os.read;
	if (survivor->jumps && sigsetjmp(before_the_read, 1) == 0) {
		ps__os.read = leave_the_read;
		ps_region_enter(survivor->inner);
		ck_abort_msg("entering a region reads no counter");
	}
	pthread_barrier_wait(&both);
	pthread_barrier_wait(&both);
	visit_counting(survivor->later, 3);
	return NULL;
}

/* _i: the thread has left a call of the first profile by a jump, 1, or not, 0. AddressSanitizer
 * sees a use of what the first profile had of the thread. */
START_TEST(a_thread_outlives_a_profile)
{
	struct survivor survivor = {.jumps = _i};
	struct ps_profile *first;
	pthread_t thread;

	if (PS_TEST_HAS_THREAD_SANITIZER) {
		ps_test_skip("ThreadSanitizer hides that a call was left");
		return;
	}
	regions_begin(EVENT, NULL);
	first = regions.profile;
	survivor.outer = region("outer");
	survivor.inner = region("inner");
	check_ok(ps_profile_create(&regions.profile, regions.model, scene.root));
	survivor.later = region("later");
	pthread_barrier_init(&both, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, outlive_a_profile, &survivor), 0);
	pthread_barrier_wait(&both);
	ps_profile_destroy(first);
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	pthread_barrier_destroy(&both);
	take_paths();
	ck_assert_int_eq(own("later", -1), 3);
	regions_end();
}
END_TEST

#ifdef STEP_IS_POSSIBLE

#define STRIDE ps_test_size(7, 31)

static struct {
	sigjmp_buf back;
	struct ps_region *a, *b, *w;
	volatile long steps_left;
	bool was_held; /* signals were blocked at the step before */
	bool ends;     /* the call is of ps_region_leave */
	bool destroys;
	/* Reports of visits: of A, of W, and of others */
	unsigned of_a, of_w, of_others;
} trial;

static void jump_back(int number)
{
	(void)number;
	siglongjmp(trial.back, 1);
}

/* True if the call has changed the levels. At first A is open, and W in a call that leaves it. */
static bool has_changed(const struct ps__member *member)
{
	return ps__own.is_inside && (trial.ends ? member->depth < 2 : member->seen > 1);
}

/* Where signals are blocked, the signal is delivered later, so only the first step there is
 * counted. A callback must return. */
static void count_step(int number, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	bool is_held = sigismember(&at->uc_sigmask, SIGUSR1);

	(void)number;
	(void)info;
	bool may_jump = is_held ? !trial.was_held : ps__stack_noted != UINTPTR_MAX;
	trial.was_held = is_held;
	if (trial.steps_left > 0 && has_changed(ps__own.member) && may_jump &&
	    --trial.steps_left == 0)
		raise(SIGUSR1);
}

static void note(void *context, const struct ps_path *visit, uint64_t entered_ns, uint64_t left_ns)
{
	const char *name = ps_path_name(visit);

	(void)context;
	(void)entered_ns;
	(void)left_ns;
	trial.of_a += strcmp(name, "A") == 0;
	trial.of_w += strcmp(name, "W") == 0;
	trial.of_others += strcmp(name, "A") != 0 && strcmp(name, "W") != 0;
}

static void begin(bool ends)
{
	struct sigaction action = {.sa_sigaction = count_step, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	signal(SIGUSR1, jump_back);
	fake_set_clock(UINT64_C(1000000000), 1000);
	regions_begin(EVENT, NULL);
	trial.a = region("A");
	trial.b = region("B");
	trial.w = region("W");
	trial.ends = ends;
	trial.of_a = trial.of_w = trial.of_others = 0;
	check_ok(ps_region_set_slower_than(trial.a, 0, note, NULL));
	check_ok(ps_region_set_slower_than(trial.w, 0, note, NULL));
}

/* Enters A, and enters or leaves W in it, until so many steps are made. False: it was over
 * before. */
static bool leave_call(long steps)
{
	trial.steps_left = steps;
	check_ok(ps_region_enter(trial.a));
	fake_advance(PAGE_FAULTS, 5);
	if (trial.ends)
		check_ok(ps_region_enter(trial.w));
	if (sigsetjmp(trial.back, 1) == 0) {
		step(true);
		int result = trial.ends ? ps_region_leave(trial.w) : ps_region_enter(trial.w);
		step(false);
		check_ok(result);
		return false;
	}
	return true;
}

static bool leave_and_go_on(long steps)
{
	bool was_left = leave_call(steps);

	check_ok(ps_region_close(regions.profile, 1));
	check_ok(ps_region_enter(trial.b));
	fake_advance(PAGE_FAULTS, 4);
	check_ok(ps_region_leave(trial.b));
	ck_assert_msg(trial.of_a == 0 && trial.of_others == 0, "step %ld", steps);
	check_ok(ps_region_leave(trial.a));
	uint64_t failed = faults_of_profile().failed;
	ck_assert_msg(trial.of_a == 1 && trial.of_others == 0, "step %ld: A %u times, others %u",
	              steps, trial.of_a, trial.of_others);
	/* If entering W was left, W was not open, or its end was at ps_region_close. */
	ck_assert_msg(trial.of_w <= 1 && (trial.of_w || failed || !trial.ends),
	              "step %ld: W %u times, %llu failed", steps, trial.of_w,
	              (unsigned long long)failed);
	take_paths();
	ck_assert_int_eq(own("A/B", -1), 4);
	ck_assert_int_eq(all("", -1), 9);
	regions_end();
	return was_left;
}

/* _i: W is left, 1, or entered, 0. Memory that is lost shows at the end of the profile. */
START_TEST(a_slow_visit_that_is_left_is_no_other_visit)
{
	long steps = 1;

	if (!step_is_possible())
		return;
	for (bool was_left = true; was_left; steps += STRIDE) {
		begin(_i);
		was_left = leave_and_go_on(steps);
	}
	ck_assert_int_gt(steps, 30 + STRIDE);
}
END_TEST

static bool was_left_in_thread;

static void *leave_and_end(void *steps)
{
	was_left_in_thread = leave_call(*(const long *)steps);
	fake_advance(PAGE_FAULTS, 10);
	if (trial.destroys) {
		ps_profile_destroy(regions.profile);
		regions.profile = NULL;
	}
	return NULL;
}

/* _i & 1: the thread destroys the profile, and goes on; otherwise it ends. _i & 2: W is left. */
START_TEST(a_thread_whose_call_was_left_can_end)
{
	long steps = 1;

	if (!step_is_possible())
		return;
	for (was_left_in_thread = true; was_left_in_thread; steps += STRIDE) {
		pthread_t thread;
		begin(_i & 2);
		trial.destroys = _i & 1;
		ck_assert_int_eq(pthread_create(&thread, NULL, leave_and_end, &steps), 0);
		pthread_join(thread, NULL);
		if (!trial.destroys) {
			take_paths();
			ck_assert_int_eq(all("", -1), 15);
		}
		regions_end();
	}
	ck_assert_int_gt(steps, 30 + STRIDE);
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("region_left");
	TCase *tests = scene_case(suite, "region_left");

	tcase_add_test(tests, a_reader_does_not_wait_long_for_a_change_that_was_left);
	tcase_add_loop_test(tests, a_thread_outlives_a_profile, 0, 2);
#ifdef STEP_IS_POSSIBLE
	tcase_add_loop_test(tests, a_slow_visit_that_is_left_is_no_other_visit, 0, 2);
	tcase_add_loop_test(tests, a_thread_whose_call_was_left_can_end, 0, 4);
#endif
	return scene_run(suite);
}
