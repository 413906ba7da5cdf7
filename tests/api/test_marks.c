/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks that a profile of this process hears: visits are exact by path, however a region's block
 * is left; in 8 threads, in a shared object that is loaded and unloaded, and by one profile after
 * the other.
 */
#include "here.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfsage/marks.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8

static struct ps_eventset *model;
static struct ps_profile *profile;
static int named; /* how often a name was asked for */

static void begin(void)
{
	check_ok(ps_eventset_create(&model));
	check_ok(ps_eventset_add(model, HERE_FAULTS));
	check_ok(ps_profile_create(&profile, model, here.root));
}

static void end(void)
{
	ps_profile_destroy(profile);
	ps_eventset_destroy(model);
	profile = NULL;
}

/* Of the path "outer", or "outer/inner"; 0 if there is none. */
static uint64_t visits_of(const char *outer, const char *inner)
{
	const char *names[] = {outer, inner};
	struct ps_visits visits = {.size = sizeof visits};
	struct ps_paths *paths = NULL;

	check_ok(ps_paths_create(&paths, profile));
	const struct ps_path *path =
	    ps_path_find(ps_paths_root(paths), names, inner != NULL ? 2 : 1);
	if (path)
		check_ok(ps_path_visits(path, &visits));
	ps_paths_destroy(paths);
	return visits.count;
}

static struct ps_mark_value value_of(const char *outer, const char *inner, const char *name)
{
	const char *names[] = {outer, inner};
	struct ps_mark_value value = {.size = sizeof value};
	struct ps_paths *paths = NULL;

	check_ok(ps_paths_create(&paths, profile));
	check_ok(ps_path_mark_value(ps_path_find(ps_paths_root(paths), names,
	                                         !outer          ? 0
	                                         : inner != NULL ? 2
	                                                         : 1),
	                            name, PS_SHARE_EXCLUSIVE, &value));
	ck_assert_uint_eq(value.flags, 0);
	ps_paths_destroy(paths);
	return value;
}

static struct ps_profile_faults faults_of(void)
{
	struct ps_profile_faults faults = {.size = sizeof faults};

	check_ok(ps_profile_faults(profile, &faults));
	return faults;
}

static void check_all_is_left(void)
{
	struct ps_profile_faults faults = faults_of();

	ck_assert_uint_eq(ps_region_level(profile), 0);
	ck_assert_uint_eq(faults.unmatched + faults.crossed + faults.left_open + faults.in_handler +
	                      faults.failed,
	                  0);
}

static const char *solver_name(void)
{
	named++;
	return "solve";
}

/* Each turn leaves its block in another way. */
static int leave_somehow(int turn)
{
	int rounds = 0;

	PS_REGION("outer")
	{
		for (int round = 0; round < 3; round++) {
			PS_REGION("inner")
			{
				rounds++;
				if (turn == 1)
					break;
				if (turn == 2)
					continue;
				if (turn == 3)
					return rounds;
				if (turn == 4)
					goto out;
			}
		}
		PS_MARK_VALUE("rounds", rounds);
	}
out:
	return rounds;
}

START_TEST(visits_are_exact_however_a_block_is_left)
{
	begin();
	ck_assert_int_eq(leave_somehow(0), 3);
	check_ok(ps_profile_listen(profile));
	check_ok(ps_profile_listen(profile));
	ck_assert_uint_eq(visits_of("outer", NULL), 0);
	ck_assert_int_eq(leave_somehow(0), 3);
	ck_assert_int_eq(leave_somehow(1), 3);
	ck_assert_int_eq(leave_somehow(2), 3);
	ck_assert_int_eq(leave_somehow(3), 1);
	ck_assert_int_eq(leave_somehow(4), 1);
	ck_assert_uint_eq(visits_of("outer", NULL), 5);
	ck_assert_uint_eq(visits_of("outer", "inner"), 11);
	struct ps_mark_value rounds = value_of("outer", NULL, "rounds");
	ck_assert_uint_eq(rounds.count, 3);
	ck_assert_int_eq(rounds.sum, 9);
	ck_assert_uint_eq(value_of("outer", "inner", "rounds").count, 0);
	check_all_is_left();
	end();
	ck_assert_int_eq(leave_somehow(1), 3);
}
END_TEST

START_TEST(a_name_is_asked_for_at_each_visit_that_is_heard)
{
	begin();
	named = 0;
	for (int turn = 0; turn < 10; turn++) {
		if (turn == 5) {
			ck_assert_int_eq(named, 0);
			check_ok(ps_profile_listen(profile));
		}
		errno = 77;
		PS_REGION(solver_name())
		{
			ck_assert_int_eq(errno, 77);
		}
		ck_assert_int_eq(errno, 77);
	}
	ck_assert_int_eq(named, 5);
	ck_assert_uint_eq(visits_of("solve", NULL), 5);
	check_all_is_left();
	end();
}
END_TEST

/* As programs wrap the marks in their own timers: one call site, whose name changes. */
static void timer_begin(const char *name)
{
	PS_REGION_BEGIN(name);
}

static void timer_end(const char *name)
{
	PS_REGION_END(name);
}

static void *time_steps(void *unused)
{
	char name[16];

	for (int turn = 0; turn < 300; turn++) {
		snprintf(name, sizeof name, "step %d", turn % 3);
		timer_begin(name);
		timer_begin("solve");
		timer_end("solve");
		timer_end(name);
	}
	return unused;
}

START_TEST(a_function_around_a_mark_has_a_region_for_each_name)
{
	pthread_t threads[THREADS];

	begin();
	check_ok(ps_profile_listen(profile));
	for (int thread = 0; thread < THREADS; thread++)
		ck_assert_int_eq(pthread_create(&threads[thread], NULL, time_steps, NULL), 0);
	for (int thread = 0; thread < THREADS; thread++)
		pthread_join(threads[thread], NULL);
	ck_assert_uint_eq(visits_of("step 0", NULL), THREADS * 100);
	ck_assert_uint_eq(visits_of("step 1", "solve"), THREADS * 100);
	ck_assert_uint_eq(visits_of("step 2", NULL), THREADS * 100);
	ck_assert_uint_eq(visits_of("solve", NULL), 0);
	check_all_is_left();
	end();
}
END_TEST

START_TEST(begin_and_end_are_a_region_and_an_end_alone_is_a_fault)
{
	begin();
	check_ok(ps_profile_listen(profile));
	PS_REGION_BEGIN("begun");
	ck_assert_uint_eq(ps_region_level(profile), 1);
	PS_REGION_END("begun");
	check_all_is_left();
	ck_assert_uint_eq(visits_of("begun", NULL), 1);
	PS_REGION_END("never begun");
	ck_assert_uint_eq(faults_of().unmatched, 1);
	PS_REGION("")
	{
		ck_assert_uint_eq(ps_region_level(profile), 0);
	}
	ck_assert_uint_eq(faults_of().failed, 1);
	end();
}
END_TEST

static void one_site(void)
{
	PS_REGION("site")
	{
		here_touch();
	}
}

/* A call site that has its region from the first profile is heard by the second. */
START_TEST(one_profile_listens_at_a_time)
{
	struct ps_profile *first, *second;

	here_map_page();
	begin();
	first = profile;
	check_ok(ps_profile_create(&second, model, here.root));
	ck_assert_int_eq(ps_profile_listen(NULL), PS_EINVAL);
	check_ok(ps_profile_listen(first));
	ck_assert_int_eq(ps_profile_listen(second), PS_ECNFLCT);
	one_site();
	ck_assert_uint_eq(visits_of("site", NULL), 1);
	PS_REGION("around")
	{
		ps_profile_destroy(first);
		one_site();
	}
	profile = second;
	check_ok(ps_profile_listen(second));
	one_site();
	one_site();
	ck_assert_uint_eq(visits_of("site", NULL), 2);
	ck_assert_uint_eq(visits_of("around", NULL), 0);
	check_all_is_left();
	end();
	one_site();
}
END_TEST

static int numbers; /* how often one was asked for */

static int64_t next_number(void)
{
	return ++numbers;
}

static void tell_next(void)
{
	errno = 77;
	PS_MARK_VALUE("number", next_number());
	ck_assert_int_eq(errno, 77);
}

START_TEST(a_number_is_heard_outside_of_regions_and_only_while_somebody_listens)
{
	numbers = 0;
	for (int turn = 0; turn < 2; turn++) {
		tell_next();
		ck_assert_int_eq(numbers, 2 * turn);
		begin();
		check_ok(ps_profile_listen(profile));
		tell_next();
		tell_next();
		ck_assert_int_eq(value_of(NULL, NULL, "number").sum, turn == 0 ? 3 : 7);
		ck_assert_uint_eq(value_of(NULL, NULL, "number").count, 2);
		check_all_is_left();
		end();
	}
}
END_TEST

static void *visit_in_thread(void *data)
{
	for (int turn = 0; turn < 1000; turn++) {
		PS_REGION("outer")
		{
			PS_REGION("inner")
			{
				++*(int *)data;
				PS_MARK_VALUE("turn", turn);
			}
		}
	}
	return NULL;
}

START_TEST(eight_threads_are_heard)
{
	pthread_t threads[THREADS];
	int turns[THREADS] = {0};

	begin();
	check_ok(ps_profile_listen(profile));
	for (int thread = 0; thread < THREADS; thread++)
		ck_assert_int_eq(
		    pthread_create(&threads[thread], NULL, visit_in_thread, &turns[thread]), 0);
	for (int thread = 0; thread < THREADS; thread++)
		pthread_join(threads[thread], NULL);
	ck_assert_uint_eq(visits_of("outer", NULL), THREADS * 1000);
	ck_assert_uint_eq(visits_of("outer", "inner"), THREADS * 1000);
	ck_assert_uint_eq(value_of("outer", "inner", "turn").count, THREADS * 1000);
	ck_assert_int_eq(value_of("outer", "inner", "turn").sum, THREADS * 1000 * 999 / 2);
	check_all_is_left();
	end();
}
END_TEST

static void *load(int (**work)(int rounds))
{
	char path[4096];
	const char *build = getenv("top_builddir");

	snprintf(path, sizeof path, "%s/tests/api/.libs/loaded_marks.so", build ? build : ".");
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ck_assert_msg(object != NULL, "%s", dlerror());
	*(void **)work = dlsym(object, "loaded_work");
	ck_assert_ptr_nonnull(*(void **)work);
	return object;
}

START_TEST(a_shared_object_is_heard_whenever_it_is_loaded)
{
	int (*work)(int rounds);

	begin();
	void *object = load(&work);
	ck_assert_int_eq(work(4), 6);
	check_ok(ps_profile_listen(profile));
	ck_assert_int_eq(work(4), 6);
	ck_assert_uint_eq(visits_of("loaded", NULL), 4);
	for (int turn = 0; turn < 10; turn++) {
		ck_assert_int_eq(dlclose(object), 0);
		object = load(&work);
		ck_assert_int_eq(work(4), 6);
	}
	ck_assert_uint_eq(visits_of("loaded", NULL), 44);
	check_all_is_left();
	end();
	ck_assert_int_eq(work(4), 6);
	dlclose(object);
}
END_TEST

/* The child's marks are refused, and a profile of its own may listen. */
static int in_child(void)
{
	struct ps_profile *inherited = profile;

	one_site();
	if (ps_profile_listen(inherited) != PS_ECLOST)
		return 1;
	if (ps_profile_create(&profile, model, here.root) != PS_OK ||
	    ps_profile_listen(profile) != PS_OK)
		return 2;
	one_site();
	ps_profile_destroy(inherited);
	one_site();
	if (visits_of("site", NULL) != 2)
		return 3;
	end();
	one_site();
	/* Nothing is left for valgrind to find in the child. */
	ps_topology_destroy(here.topology);
	return 0;
}

START_TEST(a_forked_child_listens_for_itself)
{
	int status;

	here_map_page();
	begin();
	check_ok(ps_profile_listen(profile));
	one_site();
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(in_child());
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", status);
	one_site();
	ck_assert_uint_eq(visits_of("site", NULL), 2);
	check_all_is_left();
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("marks");
	TCase *tests = here_case(suite, "marks");

	tcase_add_test(tests, visits_are_exact_however_a_block_is_left);
	tcase_add_test(tests, a_name_is_asked_for_at_each_visit_that_is_heard);
	tcase_add_test(tests, a_function_around_a_mark_has_a_region_for_each_name);
	tcase_add_test(tests, begin_and_end_are_a_region_and_an_end_alone_is_a_fault);
	tcase_add_test(tests, one_profile_listens_at_a_time);
	tcase_add_test(tests, a_number_is_heard_outside_of_regions_and_only_while_somebody_listens);
	tcase_add_test(tests, eight_threads_are_heard);
	tcase_add_test(tests, a_shared_object_is_heard_whenever_it_is_loaded);
	tcase_add_test(tests, a_forked_child_listens_for_itself);
	return here_run_if_counted(suite);
}
