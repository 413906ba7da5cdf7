/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits in a log on the real kernel: known pages are in the visits of several threads, and what
 * was written is there after a kill. */
#include "log_here.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WORKERS 3
#define VISITS  200

enum {
	ENTERED,
	LEFT
};

struct worker {
	struct ps_region *solve;
	pthread_t thread;
	unsigned index;
	long long strays;
};

/* A profile that writes each visit of "solve". */
static struct ps_profile *new_profile(struct ps_log *log, struct ps_region **solve)
{
	struct ps_profile *profile = NULL;
	struct ps_eventset *model = NULL;

	check_ok(ps_eventset_create(&model));
	check_ok(ps_eventset_add(model, HERE_FAULTS));
	check_ok(ps_profile_create(&profile, model, here.root));
	ps_eventset_destroy(model);
	check_ok(ps_region_define(solve, profile, "solve"));
	check_ok(ps_region_log_slower_than(*solve, 0, log));
	return profile;
}

/* Visit N of worker W touches (N + W) % 5 pages, and twice as many are touched after it. */
static void *run_worker(void *context)
{
	struct worker *worker = context;
	struct wander_work work;

	wander_create(&work, VISITS * 15 + 100);
	for (unsigned round = 0; round < 8; round++) {
		check_ok(ps_region_enter(worker->solve));
		check_ok(ps_region_leave(worker->solve));
		wander_touch(&work, 1);
	}
	wander_settle(&work);
	for (unsigned number = 0; number < VISITS; number++) {
		check_ok(ps_region_enter(worker->solve));
		wander_touch(&work, (number + worker->index) % 5);
		check_ok(ps_region_leave(worker->solve));
		wander_touch(&work, 2 * ((number + worker->index) % 5));
	}
	worker->strays = wander_strays(&work);
	wander_destroy(&work);
	return NULL;
}

/* Adds what stands in the visits behind the first 8, and between them. */
static unsigned add_visits(struct ps_log_reader *reader, long long *inside, long long *between)
{
	struct ps_log_record record = {.size = sizeof record};
	struct ps_value value;
	unsigned records = 0;

	for (; ps_log_next(reader, &record) == PS_OK; records++) {
		if (record.number < 8)
			continue;
		check_ok(ps_log_interval(reader, ENTERED, LEFT, NULL, &value, 1));
		*inside += value.value;
		if (record.number == 8)
			continue;
		check_ok(ps_log_interval(reader, LEFT | PS_LOG_PREVIOUS, ENTERED, NULL, &value, 1));
		*between += value.value;
	}
	return records;
}

START_TEST(known_pages_are_in_the_visits_of_all_threads)
{
	struct worker workers[WORKERS];
	struct ps_log_reader *reader = NULL;
	struct ps_region *solve = NULL;
	long long inside = 0, between = 0, expected = 0, after = 0, strays = 0;

	if (!wander_is_possible())
		return;
	struct ps_log *log = new_log(NULL);
	struct ps_profile *profile = new_profile(log, &solve);
	for (unsigned index = 0; index < WORKERS; index++) {
		workers[index] = (struct worker){.solve = solve, .index = index};
		ck_assert_int_eq(
		    pthread_create(&workers[index].thread, NULL, run_worker, &workers[index]), 0);
	}
	for (unsigned index = 0; index < WORKERS; index++) {
		pthread_join(workers[index].thread, NULL);
		strays += workers[index].strays;
		for (unsigned number = 0; number < VISITS; number++) {
			expected += (number + index) % 5;
			after += number + 1 < VISITS ? 2 * ((number + index) % 5) : 0;
		}
	}
	ck_assert_uint_eq(ps_log_lost(log), 0);
	ps_profile_destroy(profile);
	ps_log_destroy(log);
	check_ok(ps_log_open(&reader, path));
	ck_assert_uint_eq(ps_log_stream_count(reader), WORKERS);
	ck_assert_uint_eq(add_visits(reader, &inside, &between), WORKERS * (VISITS + 8));
	ps_log_close(reader);
	wander_check_count(inside, expected, strays);
	wander_check_count(between, after, strays);
}
END_TEST

/* Makes visits until it is killed, and tells how many have ended. */
static void visit_for_ever(_Atomic uint64_t *ended)
{
	struct ps_region *solve = NULL;

	new_profile(new_log(NULL), &solve);
	for (uint64_t number = 1;; number++) {
		if (ps_region_enter(solve) != PS_OK || ps_region_leave(solve) != PS_OK)
			_exit(1);
		*ended = number;
	}
}

START_TEST(a_kill_loses_no_visit_that_has_ended)
{
	struct ps_log_reader *reader = NULL;
	struct ps_value value;
	uint64_t records = 0;
	int status;
	_Atomic uint64_t *ended =
	    mmap(NULL, sizeof *ended, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!here_may_count(HERE_FAULTS))
		return;
	ck_assert(ended != MAP_FAILED);
	pid_t child = fork();
	if (child == 0)
		visit_for_ever(ended);
	while (*ended < 1000 && waitpid(child, &status, WNOHANG) == 0)
		usleep(100);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	check_ok(ps_log_open(&reader, path));
	for (; ps_log_next(reader, NULL) == PS_OK; records++)
		check_ok(ps_log_interval(reader, ENTERED, LEFT, NULL, &value, 1));
	ps_log_close(reader);
	ck_assert_uint_ge(*ended, 1000);
	/* One more may have been written, and not told. */
	ck_assert(records == *ended || records == *ended + 1);
	munmap(ended, sizeof *ended);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_checked_fixture(tests, log_setup, log_teardown);
	tcase_add_test(tests, known_pages_are_in_the_visits_of_all_threads);
	tcase_add_test(tests, a_kill_loses_no_visit_that_has_ended);
}

int main(void)
{
	return wander_run("log of visits", add_all, NULL);
}
