/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over intervals and runs in perfsage stat: they follow the rule by which the library adds up
 * parts. */
#include "test_hybrid.h"
#include "tools/stat.h"

/* Counts one interval on a CPU, and adds it. */
static void aggregate_interval(struct stat_aggregate *aggregate, struct stat_count *count, int cpu,
                               uint64_t instructions)
{
	fake_set_cpu(cpu);
	check_ok(ps_start(count->sets[0]));
	work(cpu, instructions);
	check_ok(ps_stop(count->sets[0], scene.root, NULL, NULL));
	ck_assert_int_eq(stat_aggregate_add(aggregate, count, false), 0);
}

START_TEST(what_was_counted_stays_counted_beside_what_is_not_supported)
{
	struct stat_options options = {.format = PS_FORMAT_JSON, .interval_ms = 1};
	struct stat_output output = {.options = &options};
	struct ps_eventset *set = scene_set(ATOM_EVENT, NULL);
	struct stat_count count = {.topology = scene.topology,
	                           .root = scene.root,
	                           .model = set,
	                           .sets = &set,
	                           .set_count = 1};
	struct stat_aggregate aggregate;

	ck_assert_int_eq(stat_aggregate_create(&aggregate, &output, &count), 0);
	aggregate_interval(&aggregate, &count, 0, 1000);
	ck_assert_int_eq((int)stat_aggregate_total(&aggregate, 0, 0).status,
	                 PS_STATUS_NOT_SUPPORTED);
	aggregate_interval(&aggregate, &count, 2, 300);
	ck_assert_int_eq((int)stat_aggregate_total(&aggregate, 0, 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(stat_aggregate_total(&aggregate, 0, 0).value, 30);
	aggregate_interval(&aggregate, &count, 1, 1000);
	ck_assert_int_eq((int)stat_aggregate_total(&aggregate, 0, 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(stat_aggregate_total(&aggregate, 0, 0).value, 30);
	stat_aggregate_destroy(&aggregate);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_aggregate");
	TCase *hybrid = tcase_create("hybrid");

	tcase_add_checked_fixture(hybrid, setup, scene_teardown);
	tcase_add_test(hybrid, what_was_counted_stays_counted_beside_what_is_not_supported);
	suite_add_tcase(suite, hybrid);
	return scene_run(suite);
}
