/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Storage that was reserved is enough: 100,000 readings with a new timestamp each, and not one
 * allocation, counted in the process itself. Sees the installed header and the shared library
 * alone.
 */
#include "api/count_malloc.h"
#include "here.h"

#include <sched.h>
#include <stdlib.h>

#define READINGS 100000

static struct ps_eventset *set;

/* False where it can't be counted: the reason was printed. */
static bool prepare(const char *name)
{
	static const char *const events[] = {"page-faults:u", "task-clock:u", "minor-faults:u",
	                                     "major-faults:u"};

	if (count_malloc() < 0) {
		ps__test_skip(name, "valgrind or a sanitizer has its own malloc");
		return false;
	}
	here_pin(); /* a reading then has one part */
	check_ok(ps_eventset_create(&set));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int result = ps_eventset_add(set, events[i]);

		if (result == PS_EPERM || result == PS_ENOSUPP) {
			ps__test_skip(name, ps_error_detail());
			return false;
		}
		ck_assert_msg(result == PS_OK, "%s", ps_error_detail());
	}
	return true;
}

static void clean_up(void)
{
	ps_eventset_destroy(set);
	set = NULL;
}

START_TEST(the_count_of_allocations_sees_the_librarys)
{
	long before = count_malloc();
	struct ps_eventset *other = NULL;

	if (!prepare(__func__))
		return;
	before = count_malloc();
	check_ok(ps_eventset_clone(&other, set));
	ck_assert_int_gt(count_malloc(), before);
	ps_eventset_destroy(other);
	clean_up();
}
END_TEST

static long allocations_of(int (*call)(struct ps_eventset *, struct ps_component *, uint64_t *,
                                       struct ps_thread **))
{
	struct ps_component *root = here.root;
	long before = count_malloc();
	uint64_t last = 0;

	for (int i = 0; i < READINGS; i++) {
		uint64_t timestamp = 0;
		int result = call(set, root, &timestamp, NULL);

		if (result != PS_OK || timestamp <= last)
			ck_abort_msg("reading %d: %d %s", i, result, ps_error_detail());
		last = timestamp;
	}
	return count_malloc() - before;
}

START_TEST(after_reserve_100000_readings_allocate_nothing)
{
	struct ps_value value;
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;
	int results[4];
	long before;

	if (!prepare(__func__))
		return;
	check_ok(ps_eventset_reserve(set, READINGS));
	check_ok(ps_start(set));
	ck_assert_int_eq(allocations_of(ps_read), 0);
	check_ok(ps_eventset_reserve(set, READINGS + 10));
	ck_assert_int_eq(allocations_of(ps_accum), 0);
	before = count_malloc();
	results[0] = ps_read(set, here.root, &timestamp, &thread);
	results[1] = ps_thread_reading(thread, "page-faults:u", timestamp, &value);
	results[2] = ps_component_total(here.root, "task-clock:u", &value);
	results[3] = ps_stop(set, here.root, &timestamp, NULL);
	before = count_malloc() - before; /* before Check's own come */
	ck_assert_int_eq(before, 0);
	for (size_t i = 0; i < 4; i++)
		ck_assert_int_eq(results[i], PS_OK);
	clean_up();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("malloc");
	TCase *tests = here_case(suite, "malloc");

	tcase_add_test(tests, the_count_of_allocations_sees_the_librarys);
	tcase_add_test(tests, after_reserve_100000_readings_allocate_nothing);
	return here_run(suite);
}
