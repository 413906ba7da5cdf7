/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings of a PAPI event set allocate nothing, counted in the process itself: neither perfsage,
 * nor PAPI for it. */
#include "api/count_malloc.h"
#include "papi_here.h"

#include <sched.h>
#include <stdlib.h>

#define READINGS 20000

START_TEST(neither_ps_read_nor_ps_accum_of_a_papi_set_allocates)
{
	uint64_t timestamp = 0;
	int failed = 0;
	const char *why =
	    count_malloc() < 0 ? "valgrind or a sanitizer has its own malloc" : papi_here_start();

	if (!ps_test_may_run(why))
		return;
	here_pin();
	int papi =
	    papi_here_create(PAPI_HERE_FAULTS, "perf::MINOR-FAULTS", "perf::MAJOR-FAULTS", NULL);
	struct ps_eventset *set = papi_here_wrap(papi);
	check_ok(ps_eventset_reserve(set, 2 * READINGS + 10));
	check_ok(ps_start(set));
	long before = count_malloc();
	for (int i = 0; i < READINGS; i++) {
		failed |= ps_read(set, here.root, &timestamp, NULL);
		failed |= ps_accum(set, here.root, &timestamp, NULL);
		timestamp = i % 2 ? timestamp : 0;
	}
	long after = count_malloc();
	check_ok(failed);
	ck_assert_int_eq(after, before);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("allocations of PAPI readings");
	TCase *tests = here_case(suite, "allocations");

	tcase_add_test(tests, neither_ps_read_nor_ps_accum_of_a_papi_set_allocates);
	return here_run(suite);
}
