/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that are cancelled while they are in calls of the library: no call is left half done. Their counts are there for who
 * joins them, no descriptor and no lock is left behind. Real events.
 */
#include "support/skip.h"

#include <check.h>
#include <dirent.h>
#include <perfsage.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EVENT   "page-faults:u"
#define CANCELS 25

#define check_ok(call) ck_assert_msg((call) == PS_OK, "%s: %s", #call, ps_error_detail())

static struct ps_topology *topology;
static struct ps_component *root;

static void setup(void)
{
	check_ok(ps_topology_load(&topology, NULL));
	root = ps_topology_root(topology);
}

static void teardown(void)
{
	ps_topology_destroy(topology);
}

static struct ps_eventset *make_set(enum ps_attribution_mode mode)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_eventset_add(set, EVENT));
	check_ok(ps_eventset_add(set, "minor-faults:u"));
	check_ok(ps_eventset_reserve(set, 100000));
	return set;
}

static bool may_count(void)
{
	struct ps_eventset *set = NULL;
	bool may =
	    ps_eventset_create(&set) == PS_OK && ps_eventset_add(set, EVENT) == PS_OK && ps_start(set) == PS_OK;

	ps_eventset_destroy(set);
	return may;
}

#define SKIP_UNLESS_COUNTED                      \
	if (!may_count()) {                      \
		ps_test_skip(ps_error_detail()); \
		return;                          \
	}

static volatile unsigned char *page;

/* One fault: the page is given back first. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) static void touch(void)
{
	madvise((void *)page, (size_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
	*page = 1;
}

static void map_page(void)
{
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)page, MAP_FAILED);
}

static void check_residual(struct ps_eventset *set)
{
	long long residual[2] = {1, 1};

	check_ok(ps_eventset_check(set, residual, 2));
	ck_assert_int_eq(residual[0], 0);
	ck_assert_int_eq(residual[1], 0);
}

static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_AUTO, PS_ATTRIBUTE_EXACT, PS_ATTRIBUTE_LAST_CPU};
#define MODES 3

static size_t count_descriptors(void)
{
	size_t count = 0;
	DIR *folder = opendir("/proc/self/fd");

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

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

static void cancel_amid(struct victim *victim, unsigned round)
{
	pthread_t thread;
	void *end = NULL;

	victim->done = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, run_victim, victim), 0);
	while (victim->done < 3)
		sched_yield();
	usleep(round * 7 % 200);
	ck_assert_int_eq(pthread_cancel(thread), 0);
	ck_assert_int_eq(pthread_join(thread, &end), 0);
	ck_assert_ptr_eq(end, PTHREAD_CANCELED);
}

static void read_and_accumulate(struct victim *victim)
{
	if (!ps_eventset_is_running(victim->set) && ps_start(victim->set) != PS_OK)
		abort();
	touch();
	if ((victim->done % 3 ? ps_read : ps_accum)(victim->set, root, NULL, NULL) != PS_OK)
		abort();
}

START_TEST(a_thread_that_is_cancelled_while_it_reads_leaves_its_counts)
{
	SKIP_UNLESS_COUNTED
	map_page();
	touch();
	size_t before = count_descriptors();
	for (unsigned round = 0; round < CANCELS; round++) {
		struct ps_value total = {0};
		struct victim victim = {.work = read_and_accumulate, .set = make_set(modes[round % MODES])};
		cancel_amid(&victim, round);
		check_ok(ps_stop(victim.set, root, NULL, NULL));
		check_residual(victim.set);
		check_ok(ps_component_total(root, EVENT, &total));
		ck_assert_int_ge(total.value, victim.done);
		ps_eventset_destroy(victim.set);
	}
	ck_assert_uint_eq(count_descriptors(), before);
}
END_TEST

static void add_events(struct victim *victim)
{
	struct ps_eventset *set = victim->set;

	if (ps_eventset_add(set, "page-faults") != PS_OK || ps_eventset_add_optional(set, "msr/tsc/") != PS_OK ||
	    ps_eventset_add_optional(set, "perf::CPU-CLOCK") != PS_OK || ps_start(set) != PS_OK ||
	    ps_stop(set, root, NULL, NULL) != PS_OK || ps_eventset_remove(set, "page-faults") != PS_OK ||
	    ps_eventset_remove(set, "msr/tsc/") != PS_OK || ps_eventset_remove(set, "perf::CPU-CLOCK") != PS_OK)
		abort();
}

START_TEST(a_thread_that_is_cancelled_while_it_adds_events_leaves_no_descriptor)
{
	SKIP_UNLESS_COUNTED
	struct victim warm = {.work = add_events};
	check_ok(ps_eventset_create(&warm.set));
	add_events(&warm);
	ps_eventset_destroy(warm.set);
	size_t before = count_descriptors();
	for (unsigned round = 0; round < CANCELS; round++) {
		struct victim victim = {.work = add_events};
		check_ok(ps_eventset_create(&victim.set));
		cancel_amid(&victim, round);
		ps_eventset_destroy(victim.set);
	}
	ck_assert_uint_eq(count_descriptors(), before);
}
END_TEST

static int ignore_event(const struct ps_event_info *info, void *context)
{
	(void)context;
	usleep(info->name[0] == 'p' ? 1 : 0); /* a cancellation point in the midst of the list */
	return info->name[0] == 'z';
}

static FILE *nowhere;

static void load_and_show(struct victim *victim)
{
	struct ps_topology *loaded = NULL;
	int before;

	if (ps_topology_load(&loaded, NULL) != PS_OK)
		abort();
	/* What is loaded must not be lost: from here on the test's own. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	ps_topology_destroy(loaded);
	pthread_setcancelstate(before, NULL);
	if (victim->done % 2 &&
	    (ps_print(root, nowhere) != PS_OK || ps_export(root, PS_FORMAT_XML, nowhere) != PS_OK ||
	     ps_event_for_each(ignore_event, NULL) < 0))
		abort();
}

START_TEST(a_thread_that_is_cancelled_while_it_loads_leaves_no_lock)
{
	nowhere = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(nowhere);
	size_t before = count_descriptors();

	for (unsigned round = 0; round < CANCELS; round++) {
		struct ps_topology *loaded = NULL;
		struct victim victim = {.work = load_and_show};
		cancel_amid(&victim, round * 100);
		check_ok(ps_topology_load(&loaded, NULL));
		ps_topology_destroy(loaded);
	}
	ck_assert_uint_eq(count_descriptors(), before);
	fclose(nowhere);
}
END_TEST

int main(void)
{
	if (ps_test_is_in_valgrind()) {
		ps_test_skip("valgrind delays cancellation");
		return EXIT_SUCCESS;
	}
	Suite *suite = suite_create("cancel");
	TCase *tests = tcase_create("cancel");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_thread_that_is_cancelled_while_it_reads_leaves_its_counts);
	tcase_add_test(tests, a_thread_that_is_cancelled_while_it_adds_events_leaves_no_descriptor);
	tcase_add_test(tests, a_thread_that_is_cancelled_while_it_loads_leaves_no_lock);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
