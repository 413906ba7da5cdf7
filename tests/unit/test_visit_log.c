/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that take long are records of a log: what was counted in them, and between them. */
#include "test_log.h"

#include "base/os.h"
#include "support/regions.h"
#include "support/small.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#define MILLISECOND UINT64_C(1000000)
#define BLOCK       65536

enum {
	ENTERED,
	LEFT
};
enum {
	REGION,
	PATH,
	THREAD,
	WALL_NS,
	ONE_IN
};

static struct ps_log *visits;
static uint64_t now_ns;

static void pass(uint64_t ns)
{
	now_ns += ns;
	fake_set_clock(now_ns, 0);
}

static void log_visits(const char *name, uint64_t limit_ns)
{
	check_ok(ps_region_log_slower_than(region(name), limit_ns, visits));
}

static void begin(const char *name, uint64_t limit_ns)
{
	pass(1000 * MILLISECOND);
	regions_begin(EVENT, "minor-faults", NULL);
	visits = log_of(NULL);
	log_visits(name, limit_ns);
}

static int visit(const char *name, uint64_t ns, uint64_t faults)
{
	int entered = ps_region_enter(region(name));

	fake_advance(PAGE_FAULTS, faults);
	pass(ns);
	int left = ps_region_leave(region(name));
	return entered == PS_OK ? left : entered;
}

/* The profile ends before the log is read. */
static struct ps_log_reader *end(void)
{
	regions_end();
	ps_log_destroy(visits);
	return log_reader();
}

static void check_text(const struct ps_log_reader *reader, unsigned field, const char *text)
{
	struct ps_log_value value;

	check_ok(ps_log_value(reader, field, &value));
	ck_assert_str_eq(value.text, text);
}

static long long integer(const struct ps_log_reader *reader, unsigned field)
{
	struct ps_log_value value;

	check_ok(ps_log_value(reader, field, &value));
	return value.integer;
}

/* -1: nothing was counted there. */
static long long count_on(struct ps_log_reader *reader, int cpu)
{
	struct ps_value values[2];
	const struct ps_component *thread =
	    ps_component_find(ps_log_root(reader), PS_COMPONENT_THREAD, cpu);
	int result = ps_log_interval(reader, ENTERED, LEFT, thread, values, 2);

	return result == PS_OK ? values[0].value : -1;
}

START_TEST(a_visit_that_takes_longer_is_a_record)
{
	begin("solve", 10 * MILLISECOND);
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(visit("solve", 10 * MILLISECOND, 5));
	check_ok(visit("solve", 11 * MILLISECOND, 7));
	check_ok(visit("other", 12 * MILLISECOND, 30));
	check_ok(visit("solve", 9 * MILLISECOND, 100));
	check_ok(ps_region_enter(region("main")));
	fake_advance(PAGE_FAULTS, 4);
	check_ok(visit("solve", 20 * MILLISECOND, 8));
	check_ok(ps_region_leave(region("main")));
	struct ps_log_reader *reader = end();
	ck_assert(log_next(reader, 0));
	ck_assert_str_eq(log_info(reader, 0).type, "visit");
	check_text(reader, REGION, "solve");
	check_text(reader, PATH, "solve");
	ck_assert_int_eq(integer(reader, THREAD), ps__os.gettid());
	ck_assert_int_eq(integer(reader, WALL_NS), 11 * (long long)MILLISECOND);
	ck_assert_int_eq(integer(reader, ONE_IN), 1);
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 7);
	ck_assert_uint_eq(ps_log_time(reader, LEFT) - ps_log_time(reader, ENTERED),
	                  11 * MILLISECOND);
	ck_assert(log_next(reader, 1));
	check_text(reader, PATH, "main/solve");
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 8);
	/* Some was counted between them. */
	ck_assert_int_eq(log_count(reader, LEFT | PS_LOG_PREVIOUS, ENTERED), 134);
	ck_assert(!log_next(reader, 2));
	ps_log_close(reader);
}
END_TEST

START_TEST(it_has_the_counts_of_each_hardware_thread)
{
	begin("solve", 0);
	fake_advance(PAGE_FAULTS, 1000);
	check_ok(ps_region_enter(region("solve")));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_region_enter(region("inner")));
	scene_count_on(1, 50);
	check_ok(ps_region_leave(region("inner")));
	pass(MILLISECOND);
	check_ok(ps_region_leave(region("solve")));
	check_ok(visit("solve", MILLISECOND, 6));
	struct ps_log_reader *reader = end();
	ck_assert(log_next(reader, 0));
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 53);
	if (count_on(reader, 0) >= 0) {
		ck_assert_int_eq(count_on(reader, 0), 3);
		ck_assert_int_eq(count_on(reader, 1), 50);
	}
	ck_assert(log_next(reader, 1));
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 6);
	ps_log_close(reader);
}
END_TEST

START_TEST(inner_visits_come_first)
{
	struct ps_value values[2];

	begin("solve", 0);
	log_visits("inner", 0);
	check_ok(ps_region_enter(region("solve")));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(visit("inner", MILLISECOND, 10));
	fake_advance(PAGE_FAULTS, 4);
	check_ok(ps_region_leave(region("solve")));
	struct ps_log_reader *reader = end();
	ck_assert(log_next(reader, 0));
	check_text(reader, PATH, "solve/inner");
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 10);
	ck_assert(log_next(reader, 1));
	check_text(reader, PATH, "solve");
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 17);
	ck_assert_int_eq(log_count(reader, LEFT | PS_LOG_PREVIOUS, LEFT), 4);
	check_fails(ps_log_interval(reader, LEFT | PS_LOG_PREVIOUS, ENTERED, NULL, values, 2),
	            PS_ENOEVST);
	ps_log_close(reader);
}
END_TEST

START_TEST(sampled_visits_say_for_how_many_they_stand)
{
	uint64_t counted;

	begin("solve", 0);
	check_ok(ps_profile_set_seed(regions.profile, 7));
	check_ok(ps_region_set_one_in(region("solve"), 4));
	for (int i = 0; i < 400; i++)
		check_ok(visit("solve", MILLISECOND, 3));
	take_paths();
	counted = visits_of("solve").counted;
	struct ps_log_reader *reader = end();
	for (uint64_t number = 0; number < counted; number++) {
		ck_assert(log_next(reader, number));
		ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 3);
		ck_assert_int_eq(integer(reader, ONE_IN), 4);
	}
	ck_assert(!log_next(reader, counted));
	ck_assert_uint_gt(counted, 60);
	ps_log_close(reader);
}
END_TEST

/* Counts that come late belong to no visit. */
START_TEST(a_visit_that_could_not_be_read_is_lost)
{
	begin("solve", 0);
	check_ok(visit("solve", MILLISECOND, 3));
	fake_fail_always(FAKE_READ, EIO);
	ck_assert_int_ne(visit("solve", MILLISECOND, 50), PS_OK);
	fake_fail_always(FAKE_READ, 0);
	ck_assert_uint_eq(ps_log_lost(visits), 1);
	check_ok(visit("solve", MILLISECOND, 7));
	ck_assert_uint_gt(faults_of_profile().failed, 0);
	struct ps_log_reader *reader = end();
	ck_assert(log_next(reader, 0));
	ck_assert(log_next(reader, 2));
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 7);
	ck_assert_int_eq(log_count(reader, PS_LOG_START, LEFT), 60);
	ck_assert(!log_next(reader, 3));
	ck_assert_uint_eq(log_info(reader, 0).missing, 1);
	ps_log_close(reader);
}
END_TEST

START_TEST(a_full_disk_loses_visits_and_says_how_many)
{
	unsigned number = 0;

	begin("solve", 0);
	limit_files((rlim_t)log_size());
	check_ok(visit("solve", MILLISECOND, 1));
	ck_assert_uint_eq(ps_log_lost(visits), 1);
	limit_files((rlim_t)log_size() + BLOCK);
	while (ps_log_lost(visits) == 1 && number++ < 5000)
		check_ok(visit("solve", MILLISECOND, number % 50));
	check_ok(visit("solve", MILLISECOND, 1));
	ck_assert_uint_eq(ps_log_lost(visits), 3);
	ck_assert_uint_eq(faults_of_profile().failed, 3);
	limit_files(RLIM_INFINITY);
	check_ok(visit("solve", MILLISECOND, 20));
	take_paths();
	ck_assert_uint_eq(visits_of("solve").counted, number + 3);
	struct ps_log_reader *reader = end();
	for (unsigned next = 1; next < number; next++) {
		ck_assert(log_next(reader, next));
		ck_assert_int_eq(log_count(reader, ENTERED, LEFT), next % 50);
	}
	ck_assert(log_next(reader, number + 2));
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 20);
	ck_assert_uint_eq(log_info(reader, 0).missing, 3);
	ps_log_close(reader);
}
END_TEST

/* Whatever is written is right; what isn't is counted. */
START_TEST(without_memory_a_visit_is_not_written)
{
	unsigned unwritten = 0, step = (unsigned)ps_test_serial_size(1, 3);

	for (unsigned nth = 1; nth < 40; nth += step) {
		begin("solve", 0);
		check_ok(visit("warm", 0, 1));
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		(void)visit("solve", MILLISECOND, 2);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		bool has_failed = faults_of_profile().failed > 0;
		/* The next one is written in any case. */
		ck_assert_uint_eq(ps_region_level(regions.profile), 0);
		check_ok(visit("solve", MILLISECOND, 3));
		struct ps_log_reader *reader = end();
		struct ps_log_record record = {.size = sizeof record};
		unsigned records = 0;
		for (; ps_log_next(reader, &record) == PS_OK; records++) {
			long long count = log_count(reader, ENTERED, LEFT);
			ck_assert(count == 2 || count == 3);
		}
		ck_assert_uint_ge(records, 1);
		ck_assert(records == 2 || has_failed);
		unwritten += records == 1;
		ps_log_close(reader);
		unlink(log_path);
	}
	ck_assert_uint_gt(unwritten, 6 / step);
}
END_TEST

START_TEST(threads_have_their_own_streams)
{
	pthread_t threads[4];

	begin("solve", 0);
	fake_set_clock(1000 * MILLISECOND, 1000);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, visit_often, region("solve")),
		                 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	struct ps_log_reader *reader = end();
	ck_assert_uint_eq(ps_log_stream_count(reader), 4);
	for (unsigned number = 0; number < 400; number++)
		ck_assert(log_next(reader, number % 100));
	ck_assert(!log_next(reader, 0));
	ps_log_close(reader);
}
END_TEST

/* A thread that comes later takes over the event set, but not the counts. */
START_TEST(a_later_thread_begins_with_nothing)
{
	begin("solve", 0);
	check_ok(visit("solve", MILLISECOND, 5));
	check_ok(ps_profile_leave(regions.profile));
	check_ok(ps_profile_join(regions.profile));
	check_ok(visit("solve", MILLISECOND, 6));
	struct ps_log_reader *reader = end();
	ck_assert_uint_eq(ps_log_stream_count(reader), 2);
	ck_assert(log_next(reader, 0));
	ck_assert_int_eq(log_count(reader, PS_LOG_START, LEFT), 5);
	ck_assert(log_next(reader, 0));
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 6);
	ck_assert_int_eq(log_count(reader, PS_LOG_START, LEFT), 6);
	ps_log_close(reader);
}
END_TEST

#define TEN "0123456789"
#define X59 TEN TEN TEN TEN TEN "012345678"

START_TEST(names_are_cut_visibly_and_their_slashes_escaped)
{
	static const char *const names[] = {"outermost", "a", X59, X59 "9abcd",
	                                    TEN TEN TEN TEN TEN "012345678\xc3\xa4zzzz"};
	static const char *const paths[] = {"outermost", "outermost/a", ".../" X59,
	                                    ".../" TEN TEN TEN TEN TEN "012345...",
	                                    ".../" TEN TEN TEN TEN TEN "012345..."};

	begin("outermost", 0);
	for (int i = 0; i < 5; i++) {
		log_visits(names[i], 0);
		check_ok(ps_region_enter(region(names[i])));
	}
	pass(1);
	check_ok(ps_region_close(regions.profile, 0));
	check_ok(visit(names[3], 1, 1));
	log_visits("a/b\\c", 0);
	check_ok(visit("a/b\\c", 1, 1));
	log_visits(X59 "///", 0);
	check_ok(visit(X59 "///", 1, 1));
	struct ps_log_reader *reader = end();
	for (int i = 5; i-- > 0;) {
		ck_assert(ps_log_next(reader, NULL) == PS_OK);
		check_text(reader, PATH, paths[i]);
		check_text(reader, REGION,
		           i == 4   ? TEN TEN TEN TEN TEN "012345678..."
		           : i == 3 ? X59 "9..."
		                    : names[i]);
	}
	ck_assert(ps_log_next(reader, NULL) == PS_OK);
	check_text(reader, PATH, X59 "9...");
	ck_assert(ps_log_next(reader, NULL) == PS_OK);
	check_text(reader, PATH, "a\\/b\\\\c");
	ck_assert(ps_log_next(reader, NULL) == PS_OK);
	check_text(reader, PATH, X59 "...");
	check_text(reader, REGION, X59 "///");
	ps_log_close(reader);
}
END_TEST

START_TEST(it_ends_with_a_limit_or_with_the_profile)
{
	begin("solve", 0);
	ps_log_destroy(visits);
	check_ok(visit("solve", MILLISECOND, 1));
	check_ok(ps_region_log_slower_than(region("solve"), 0, NULL));
	check_ok(visit("solve", MILLISECOND, 2));
	check_fails(ps_region_log_slower_than(NULL, 0, visits), PS_EINVAL);
	regions_end();
	struct ps_log_reader *reader = log_reader();
	ck_assert(log_next(reader, 0));
	ck_assert_int_eq(log_count(reader, ENTERED, LEFT), 1);
	ck_assert(!log_next(reader, 1));
	ps_log_close(reader);
}
END_TEST

START_TEST(a_child_writes_nothing)
{
	int status;

	begin("solve", 0);
	struct ps_region *solve = region("solve");
	check_ok(visit("solve", MILLISECOND, 1));
	pid_t child = fork();
	if (child == 0) {
		struct ps_profile *own = NULL;
		struct ps_region *mine = NULL;
		int refused = ps_region_log_slower_than(solve, 0, visits);
		_exit(refused == PS_OK || ps_region_enter(solve) == PS_OK ||
		      ps_profile_create(&own, regions.model, scene.root) != PS_OK ||
		      ps_region_define(&mine, own, "mine") != PS_OK ||
		      ps_region_log_slower_than(mine, 0, visits) != PS_ESYS);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	struct ps_log_reader *reader = end();
	ck_assert(log_next(reader, 0));
	ck_assert(!log_next(reader, 1));
	ps_log_close(reader);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_visit_that_takes_longer_is_a_record);
	tcase_add_test(tests, it_has_the_counts_of_each_hardware_thread);
	tcase_add_test(tests, inner_visits_come_first);
	tcase_add_test(tests, sampled_visits_say_for_how_many_they_stand);
	tcase_add_test(tests, a_visit_that_could_not_be_read_is_lost);
	tcase_add_test(tests, a_full_disk_loses_visits_and_says_how_many);
	tcase_add_test(tests, without_memory_a_visit_is_not_written);
	tcase_add_test(tests, threads_have_their_own_streams);
	tcase_add_test(tests, a_later_thread_begins_with_nothing);
	tcase_add_test(tests, names_are_cut_visibly_and_their_slashes_escaped);
	tcase_add_test(tests, it_ends_with_a_limit_or_with_the_profile);
	tcase_add_test(tests, a_child_writes_nothing);
}

static void setup_last_cpu(void)
{
	log_setup();
	scene_teardown();
	scene_setup_last_cpu();
}

static void setup_instances(void)
{
	log_setup();
	scene_teardown();
	scene_setup_instances();
}

int main(void)
{
	Suite *suite = suite_create("log of visits");

	add_tests(scene_case_of(suite, "automatic", log_setup, log_teardown));
	add_tests(scene_case_of(suite, "per-CPU", setup_instances, log_teardown));
	add_tests(scene_case_of(suite, "last-cpu", setup_last_cpu, log_teardown));
	return scene_run(suite);
}
