/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that is moved at each single instruction of ps_region_enter and ps_region_leave: the
 * handler touches a page and goes to another CPU. That page belongs to the region before the
 * boundary or to the one behind it, on the CPU where it was touched, and to nothing else. Real page
 * faults.
 */
#include "support/resident.h"
#include "support/small.h"
#include "support/step.h"
#include "wander.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

/* More than the calls take. */
#define MOST_STEPS 20000
/* The first ones meet code and storage. */
#define REHEARSALS 12
#define STRIDE     ps_test_size(3, 13)
/* A trial's pages: before the boundary, at it, and behind it. */
#define PAGES 3

#ifdef STEP_IS_POSSIBLE

/* The index of a path's counts. */
enum path {
	OUTER,
	INNER
};

static struct {
	struct ps_eventset *model;
	struct ps_profile *profile;
	struct ps_region *outer;
	struct ps_region *inner;
	struct wander_work work;
	volatile long steps_left;
	long long known[2][2]; /* of path and CPU, before the trial */
} trial;

static void at_step(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)number;
	(void)info;
	if (--trial.steps_left > 0)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)STEP_TRAP_FLAG;
	wander_touch(&trial.work, 1);
	wander_move(wander_cpu(0));
}

static long long count_of(const struct ps_paths *paths, enum path which, int cpu)
{
	static const char *const names[] = {"outer", "inner"};
	const struct ps_path *path =
	    ps_path_find(ps_paths_root(paths), (const char **)names, which == INNER ? 2 : 1);
	const struct ps_thread *thread = ps_topology_thread(here.topology, wander_cpu(cpu));
	struct ps_value value = {.value = 0};

	ck_assert_ptr_nonnull(path);
	int result = ps_path_value(path, ps_thread_component(thread), WANDER_EVENT,
	                           PS_SHARE_EXCLUSIVE, &value);
	if (result != PS_OK)
		return 0;
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_EXACT);
	return value.value;
}

/* The new counts of each path on each CPU since the last call. */
static void take_counts(long long counts[2][2])
{
	struct ps_paths *paths = NULL;

	check_ok(ps_paths_create(&paths, trial.profile));
	for (int path = OUTER; path <= INNER; path++) {
		for (int cpu = 0; cpu < 2; cpu++) {
			long long count = count_of(paths, (enum path)path, cpu);
			counts[path][cpu] = count - trial.known[path][cpu];
			trial.known[path][cpu] = count;
		}
	}
	ps_paths_destroy(paths);
}

static void check_counts(long steps, enum path before, long long strays)
{
	enum path behind = before == OUTER ? INNER : OUTER;
	long long counts[2][2];

	take_counts(counts);
	if (steps <= REHEARSALS)
		return;
	long long sum = counts[0][0] + counts[0][1] + counts[1][0] + counts[1][1];
	bool is_right = counts[before][1] >= 1 && counts[before][1] <= 2 + strays &&
	                counts[before][0] <= strays && counts[behind][1] <= 1 + strays &&
	                counts[behind][0] >= 1 && counts[behind][0] <= 1 + strays && sum >= PAGES &&
	                sum <= PAGES + strays;
	ck_assert_msg(is_right,
	              "step %ld: before the boundary %lld and %lld, behind it %lld and %lld", steps,
	              counts[before][1], counts[before][0], counts[behind][1], counts[behind][0]);
}

/* False: the call was over before so many steps. */
static bool try_step(long steps, enum path before)
{
	wander_create(&trial.work, PAGES);
	wander_move(wander_cpu(1));
	check_ok(ps_region_enter(trial.outer));
	if (before == INNER)
		check_ok(ps_region_enter(trial.inner));
	wander_settle(&trial.work);
	wander_touch(&trial.work, 1);
	trial.steps_left = steps > REHEARSALS ? steps - REHEARSALS : steps * 100;
	step(true);
	int result = before == OUTER ? ps_region_enter(trial.inner) : ps_region_leave(trial.inner);
	step(false);
	check_ok(result);
	bool was_reached = trial.steps_left <= 0;
	if (!was_reached) {
		wander_touch(&trial.work, 1);
		wander_move(wander_cpu(0));
	}
	wander_touch(&trial.work, 1);
	if (before == OUTER)
		check_ok(ps_region_leave(trial.inner));
	check_ok(ps_region_leave(trial.outer));
	long long strays = wander_strays(&trial.work);
	/* The page that was to be touched at the boundary was touched behind it. */
	if (was_reached || steps <= REHEARSALS)
		check_counts(steps, before, strays);
	wander_destroy(&trial.work);
	return was_reached || steps <= REHEARSALS;
}

/* _i: which boundary. */
START_TEST(a_move_at_a_boundary_leaves_each_count_in_its_region_and_on_its_cpu)
{
	struct sigaction action = {.sa_sigaction = at_step, .sa_flags = SA_SIGINFO};
	const char *given = getenv("PS_TEST_STRIDE");
	long steps = 1, stride = given ? atol(given) : STRIDE;
	long long residual[1];

	if (!wander_is_possible())
		return;
	sigemptyset(&action.sa_mask);
	ck_assert_int_eq(sigaction(SIGTRAP, &action, NULL), 0);
	trial.model = wander_set(PS_ATTRIBUTE_EXACT, 64);
	check_ok(ps_profile_create(&trial.profile, trial.model, here.root));
	check_ok(ps_region_define(&trial.outer, trial.profile, "outer"));
	check_ok(ps_region_define(&trial.inner, trial.profile, "inner"));
	check_ok(ps_profile_join(trial.profile));
	while (steps < MOST_STEPS && try_step(steps, (enum path)_i))
		steps += steps > REHEARSALS ? stride : 1;
	ck_assert_int_lt(steps, MOST_STEPS);
	printf("lab: moved at each of %ld instructions\n", steps - 1 - REHEARSALS);
	check_ok(ps_profile_leave(trial.profile));
	check_ok(ps_profile_check(trial.profile, residual, 1));
	ck_assert_int_eq(residual[0], 0);
	ps_profile_destroy(trial.profile);
	ps_eventset_destroy(trial.model);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_set_timeout(tests, STEP_LONGEST_S);
	tcase_add_loop_test(
	    tests, a_move_at_a_boundary_leaves_each_count_in_its_region_and_on_its_cpu, 0, 2);
}

static int run(void)
{
	return wander_run("step regions", add, add);
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
