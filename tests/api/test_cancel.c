/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that are cancelled while they are in calls of the library: no call is left half done.
 * Their counts are there for who joins them, no descriptor and no lock is left behind. Real events.
 */

#include "here.h"
#include "support/small.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Where a call takes long, fewer do. */
#define CANCELS        25
#define FEWEST_CANCELS 4
#define MOST_SECONDS   4.0
#define ROWS           100000

/* A thread that works until it is cancelled. */
struct victim {
	void (*work)(struct victim *victim);
	struct ps_eventset *set;
	_Atomic long done;
};

static void *run_victim(void *argument)
{
	struct victim *victim = argument;

	for (;;) {
		victim->work(victim);
		victim->done++;
		pthread_testcancel();
	}
	return NULL;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_enough(int round, double began_s)
{
	return round >= ps_test_size(CANCELS, FEWEST_CANCELS) ||
	       (round >= FEWEST_CANCELS && now_s() - began_s > MOST_SECONDS);
}

static void cancel_amid(struct victim *victim, int round)
{
	pthread_t thread;
	void *end = NULL;

	victim->done = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, run_victim, victim), 0);
	while (victim->done < 3)
		usleep(20);
	usleep((useconds_t)(round * 7 % 200));
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &end), 0);
	ck_assert_ptr_eq(end, PTHREAD_CANCELED);
}

static void read_and_accumulate(struct victim *victim)
{
	if (!ps_eventset_is_running(victim->set) && ps_start(victim->set) != PS_OK)
		abort();
	here_touch();
	if ((victim->done % 3 ? ps_read : ps_accum)(victim->set, here.root, NULL, NULL) != PS_OK)
		abort();
}

START_TEST(a_thread_that_is_cancelled_while_it_reads_leaves_its_counts)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	here_map_page();
	here_touch();
	size_t before = here_count_descriptors();
	double began_s = now_s();
	for (int round = 0; !is_enough(round, began_s); round++) {
		struct ps_value total = {0};
		struct victim victim = {.work = read_and_accumulate,
		                        .set = here_faults(here_modes[round % HERE_MODES], ROWS)};
		cancel_amid(&victim, round);
		check_ok(ps_stop(victim.set, here.root, NULL, NULL));
		here_check_residual(victim.set);
		check_ok(ps_component_total(here.root, HERE_FAULTS, &total));
		ck_assert_int_ge(total.value, victim.done);
		ps_eventset_destroy(victim.set);
	}
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

/* An event of x86, and libpfm4's name of one; where either isn't known, one that every kernel
 * has. */
static const char *timer_name = "msr/tsc/";
static const char *clock_name = "perf::CPU-CLOCK";

static void choose(struct ps_eventset *set, const char **name, const char *instead)
{
	if (ps_eventset_add_optional(set, *name) != PS_OK)
		*name = instead;
	else
		check_ok(ps_eventset_remove(set, *name));
}

static void add_events(struct victim *victim)
{
	struct ps_eventset *set = victim->set;

	if (ps_eventset_add(set, "page-faults") != PS_OK ||
	    ps_eventset_add_optional(set, timer_name) != PS_OK ||
	    ps_eventset_add_optional(set, clock_name) != PS_OK || ps_start(set) != PS_OK ||
	    ps_stop(set, here.root, NULL, NULL) != PS_OK ||
	    ps_eventset_remove(set, "page-faults") != PS_OK ||
	    ps_eventset_remove(set, timer_name) != PS_OK ||
	    ps_eventset_remove(set, clock_name) != PS_OK)
		abort();
}

START_TEST(a_thread_that_is_cancelled_while_it_adds_events_leaves_no_descriptor)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	struct victim warm = {.work = add_events};
	check_ok(ps_eventset_create(&warm.set));
	choose(warm.set, &timer_name, "task-clock");
	choose(warm.set, &clock_name, "cpu-clock");
	add_events(&warm);
	ps_eventset_destroy(warm.set);
	size_t before = here_count_descriptors();
	double began_s = now_s();
	for (int round = 0; !is_enough(round, began_s); round++) {
		struct victim victim = {.work = add_events};
		check_ok(ps_eventset_create(&victim.set));
		cancel_amid(&victim, round);
		ps_eventset_destroy(victim.set);
	}
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

/* Cancellation points in the midst of the list. At each event they would take long in an emulator,
 * where a sleep lasts until some later tick. */
#define EVENTS_PER_SLEEP 100

static int ignore_event(const struct ps_event_info *info, void *context)
{
	unsigned *seen = context;

	if (++*seen % EVENTS_PER_SLEEP == 0)
		usleep(1);
	return info->name[0] == 'z';
}

static FILE *nowhere;

static void load_and_show(struct victim *victim)
{
	struct ps_topology *loaded = NULL;
	unsigned seen = 0;
	int before;

	if (ps_topology_load(&loaded, NULL) != PS_OK)
		abort();
	/* What is loaded must not be lost: from here on the test's own. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	ps_topology_destroy(loaded);
	pthread_setcancelstate(before, NULL);
	if (victim->done % 2 && (ps_print(here.root, nowhere) != PS_OK ||
	                         ps_export(here.root, PS_FORMAT_XML, nowhere) != PS_OK ||
	                         ps_event_for_each(ignore_event, &seen) < 0))
		abort();
}

START_TEST(a_thread_that_is_cancelled_while_it_loads_leaves_no_lock)
{
	nowhere = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(nowhere);
	size_t before = here_count_descriptors();

	double began_s = now_s();
	for (int round = 0; !is_enough(round, began_s); round++) {
		struct ps_topology *loaded = NULL;
		struct victim victim = {.work = load_and_show};
		cancel_amid(&victim, round * 100);
		check_ok(ps_topology_load(&loaded, NULL));
		ps_topology_destroy(loaded);
	}
	ck_assert_uint_eq(here_count_descriptors(), before);
	fclose(nowhere);
}
END_TEST

static char log_path[64], other_path[70];

static int record_count(void)
{
	return ps_test_size(5000, 1000);
}

static void write_log(void)
{
	static const char *const points[] = {"point"};
	static const struct ps_log_type type = {
	    .size = sizeof type, .name = "work", .points = points, .point_count = 1};
	struct ps_eventset *set = here_faults(here_modes[0], 1);
	struct ps_log *log;
	struct ps_log_stream *stream;

	check_ok(ps_start(set));
	check_ok(ps_log_create(&log, log_path, here.root, NULL));
	check_ok(ps_log_stream_create(&stream, log, set, &type));
	for (int record = 0; record < record_count(); record++) {
		check_ok(ps_log_take(stream, 0));
		check_ok(ps_log_write(stream));
	}
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
}

/* If one of these calls ended the thread, descriptors would stay. */
static void read_a_log_and_make_one(struct victim *victim)
{
	(void)victim;
	const struct ps_log_options options = {.size = sizeof options, .flags = PS_LOG_REPLACE};
	struct ps_log_reader *reader;
	struct ps_log *log;
	int records = 0;

	if (ps_log_open(&reader, log_path) != PS_OK)
		abort();
	while (ps_log_next(reader, NULL) == PS_OK)
		records++;
	ps_log_close(reader);
	if (records != record_count() ||
	    ps_log_create(&log, other_path, here.root, &options) != PS_OK)
		abort();
	ps_log_destroy(log);
}

START_TEST(a_thread_that_is_cancelled_amid_logs_leaves_no_descriptor)
{
	if (!here_may_count(HERE_FAULTS))
		return;
	strcpy(log_path, "/tmp/perfsage-cancel-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(log_path));
	strcat(log_path, "/log");
	sprintf(other_path, "%s2", log_path);
	write_log();
	size_t before = here_count_descriptors();
	double began_s = now_s();
	for (int round = 0; !is_enough(round, began_s); round++) {
		struct victim victim = {.work = read_a_log_and_make_one};
		cancel_amid(&victim, round * 30);
	}
	ck_assert_uint_eq(here_count_descriptors(), before);
	unlink(other_path);
	unlink(log_path);
	*strrchr(log_path, '/') = '\0';
	rmdir(log_path);
}
END_TEST

int main(void)
{
	if (ps_test_is_in_valgrind()) {
		ps_test_skip("valgrind delays cancellation");
		return EXIT_SUCCESS;
	}
	Suite *suite = suite_create("cancel");
	TCase *tests = here_case(suite, "cancel");

	tcase_add_test(tests, a_thread_that_is_cancelled_while_it_reads_leaves_its_counts);
	tcase_add_test(tests, a_thread_that_is_cancelled_while_it_adds_events_leaves_no_descriptor);
	tcase_add_test(tests, a_thread_that_is_cancelled_while_it_loads_leaves_no_lock);
	tcase_add_test(tests, a_thread_that_is_cancelled_amid_logs_leaves_no_descriptor);
	return here_run(suite);
}
