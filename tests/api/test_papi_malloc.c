/* SPDX-License-Identifier: BSD-3-Clause */
/* Readings of a PAPI event set allocate nothing, counted in the process itself: neither perfsage, nor PAPI for it. */
#include "api/count_malloc.h"
#include "papi_here.h"
#include "support/skip.h"

#include <sched.h>
#include <stdlib.h>

#define READINGS 20000

START_TEST(neither_ps_read_nor_ps_accum_of_a_papi_set_allocates)
{
	struct ps_topology *topology;
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;
	int failed = 0;
	cpu_set_t mask;
	const char *why = count_malloc() < 0 ? "valgrind or a sanitizer has its own malloc" : papi_here_start();

	if (why) {
		ps_test_skip(why);
		return;
	}
	CPU_ZERO(&mask);
	CPU_SET((size_t)sched_getcpu(), &mask);
	ck_assert_int_eq(sched_setaffinity(0, sizeof mask, &mask), 0);
	int papi = papi_here_create(PAPI_HERE_FAULTS, "perf::MINOR-FAULTS", "perf::MAJOR-FAULTS", NULL);
	check_ok(ps_topology_load(&topology, NULL));
	check_ok(ps_eventset_from_papi(&set, papi));
	check_ok(ps_eventset_reserve(set, 2 * READINGS + 10));
	check_ok(ps_start(set));
	long before = count_malloc();
	for (int i = 0; i < READINGS; i++) {
		failed |= ps_read(set, ps_topology_root(topology), &timestamp, NULL);
		failed |= ps_accum(set, ps_topology_root(topology), &timestamp, NULL);
		timestamp = i % 2 ? timestamp : 0;
	}
	long after = count_malloc();
	check_ok(failed);
	ck_assert_int_eq(after, before);
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	ps_eventset_destroy(set);
	papi_here_destroy(papi);
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("allocations of PAPI readings");
	TCase *tests = tcase_create("allocations");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, neither_ps_read_nor_ps_accum_of_a_papi_set_allocates);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
