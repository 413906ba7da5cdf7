/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over intervals and runs in perfsage stat: they follow the rule by which the library adds up parts. */
#include "test_hybrid.h"
#include "tools/stat.h"

/* Counts one interval on a CPU, and adds it. */
static void tally_interval(struct stat_tally *tally, struct stat_count *count, int cpu, uint64_t instructions)
{
	fake_set_cpu(cpu);
	check_ok(ps_start(count->sets[0]));
	work(cpu, instructions);
	check_ok(ps_stop(count->sets[0], scene.root, NULL, NULL));
	ck_assert_int_eq(stat_tally_add(tally, count, false), 0);
}

START_TEST(what_was_counted_stays_counted_beside_what_is_not_supported)
{
	struct stat_options options = {.format = PS_FORMAT_JSON, .interval_ms = 1};
	struct stat_output output = {.options = &options};
	struct ps_eventset *set = scene_set(ATOM_EVENT, NULL);
	struct stat_count count = {
	    .topology = scene.topology, .root = scene.root, .model = set, .sets = &set, .set_count = 1};
	struct stat_tally tally;

	ck_assert_int_eq(stat_tally_create(&tally, &output, &count), 0);
	tally_interval(&tally, &count, 0, 1000);
	ck_assert_int_eq((int)stat_tally_total(&tally, 0, 0).status, PS_STATUS_NOT_SUPPORTED);
	tally_interval(&tally, &count, 2, 300);
	ck_assert_int_eq((int)stat_tally_total(&tally, 0, 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(stat_tally_total(&tally, 0, 0).value, 30);
	tally_interval(&tally, &count, 1, 1000);
	ck_assert_int_eq((int)stat_tally_total(&tally, 0, 0).status, PS_STATUS_COUNTED);
	ck_assert_int_eq(stat_tally_total(&tally, 0, 0).value, 30);
	stat_tally_destroy(&tally);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_tally");
	TCase *hybrid = tcase_create("hybrid");

	tcase_add_checked_fixture(hybrid, setup, scene_teardown);
	tcase_add_test(hybrid, what_was_counted_stays_counted_beside_what_is_not_supported);
	suite_add_tcase(suite, hybrid);
	return scene_run(suite);
}
