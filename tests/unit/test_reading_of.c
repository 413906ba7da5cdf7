/* SPDX-License-Identifier: BSD-3-Clause */
/* A reading of one event set, or of a component, where the tree has readings of several sets with
 * the same timestamp. */
#include "support/scene.h"

/* Two sets of one event; the clock stands still, so that their readings have one timestamp. */
static struct ps_eventset *one, *other;
static uint64_t both, now_ns;

static void read_both(void)
{
	uint64_t second = 0;

	now_ns += 1000000;
	fake_set_clock(now_ns, 0);
	both = 0;
	check_ok(ps_read(one, scene.root, &both, NULL));
	check_ok(ps_read(other, scene.root, &second, NULL));
	ck_assert_uint_eq(both, second);
}

static void setup(void)
{
	scene_setup_instances();
	now_ns = UINT64_C(5000000000);
	fake_set_affinity("0-3");
	fake_set_cpu(0);
	one = scene_set("page-faults", NULL);
	other = scene_set("page-faults", NULL);
	check_ok(ps_start(one));
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_start(other));
	fake_advance(PAGE_FAULTS, 7);
	fake_set_cpu(2);
	fake_advance(PAGE_FAULTS, 5);
	read_both();
}

static void teardown(void)
{
	ps_eventset_destroy(one);
	ps_eventset_destroy(other);
	scene_teardown();
}

static long long count_of(const struct ps_eventset *set, const struct ps_component *component,
                          uint64_t timestamp)
{
	struct ps_value value;

	check_ok(ps_eventset_reading(set, component, "page-faults", timestamp, &value));
	ck_assert_uint_eq(value.timestamp, timestamp ? timestamp : both);
	ck_assert_int_eq((int)value.status, PS_STATUS_COUNTED);
	return value.value;
}

static const struct ps_component *cpu(int number)
{
	return ps_thread_component(ps_topology_thread(scene.topology, number));
}

START_TEST(the_set_tells_readings_of_one_timestamp_apart)
{
	ck_assert_int_eq(scene_count(0, "page-faults", both), 114);
	ck_assert_int_eq(count_of(one, cpu(0), both), 107);
	ck_assert_int_eq(count_of(other, cpu(0), both), 7);
	ck_assert_int_eq(count_of(one, cpu(2), both), 5);
	ck_assert_int_eq(count_of(other, cpu(2), both), 5);
}
END_TEST

START_TEST(the_parts_below_a_component_are_added_up)
{
	const struct ps_component *package = ps_component_ancestor(cpu(0), PS_COMPONENT_PACKAGE, 1);

	ck_assert_int_eq(count_of(one, scene.root, both), 112);
	ck_assert_int_eq(count_of(other, scene.root, both), 12);
	ck_assert_int_eq(count_of(one, package, both), 107);
}
END_TEST

START_TEST(zero_is_the_latest_reading_and_older_ones_are_found)
{
	uint64_t before = both;

	fake_advance(PAGE_FAULTS, 1000);
	read_both();
	ck_assert_uint_ne(both, before);
	ck_assert_int_eq(count_of(one, scene.root, 0), 1112);
	ck_assert_int_eq(count_of(one, scene.root, before), 112);
	ck_assert_int_eq(count_of(other, scene.root, before), 12);
}
END_TEST

START_TEST(readings_from_before_the_events_changed_are_found)
{
	uint64_t before = both;
	struct ps_value value;

	check_ok(ps_stop(one, scene.root, &both, NULL));
	uint64_t stopped = both;
	check_ok(ps_eventset_add(one, "minor-faults"));
	ck_assert_int_eq(count_of(one, scene.root, stopped), 112);
	check_ok(ps_start(one));
	fake_advance(PAGE_FAULTS, 3);
	fake_advance(MINOR_FAULTS, 2);
	both = 0;
	check_ok(ps_read(one, scene.root, &both, NULL));
	ck_assert_int_eq(count_of(one, scene.root, 0), 3);
	ck_assert_int_eq(count_of(one, scene.root, stopped), 112);
	check_ok(ps_eventset_reading(one, scene.root, "minor-faults", 0, &value));
	ck_assert_int_eq(value.value, 2);
	check_fails(ps_eventset_reading(one, scene.root, "minor-faults", stopped, &value),
	            PS_ENOEVST);
	ck_assert_int_eq(count_of(other, scene.root, before), 12);
}
END_TEST

static long long sum_below(const struct ps_component *component, uint64_t timestamp)
{
	struct ps_value value;

	check_ok(ps_component_reading(component, "page-faults", timestamp, &value));
	ck_assert_uint_eq(value.timestamp, timestamp);
	return value.value;
}

START_TEST(a_components_reading_sums_up_all_sets_of_the_timestamp)
{
	const struct ps_component *package = ps_component_ancestor(cpu(0), PS_COMPONENT_PACKAGE, 1);
	uint64_t before = both;

	fake_advance(PAGE_FAULTS, 1000);
	read_both();
	ck_assert_int_eq(sum_below(scene.root, before), 124);
	ck_assert_int_eq(sum_below(package, before), 114);
	ck_assert_int_eq(sum_below(cpu(2), before), 10);
	ck_assert_int_eq(sum_below(scene.root, both), 2124);
	ps_eventset_destroy(other);
	other = NULL;
	ck_assert_int_eq(sum_below(scene.root, before), 124);
	check_ok(ps_stop(one, scene.root, NULL, NULL));
	check_ok(ps_eventset_add(one, "minor-faults"));
	check_ok(ps_start(one));
	check_ok(ps_stop(one, scene.root, NULL, NULL));
	ck_assert_int_eq(sum_below(scene.root, before), 124);
}
END_TEST

START_TEST(a_components_reading_that_is_not_there_is_an_error)
{
	struct ps_value value = {.value = 4711};

	check_fails(ps_component_reading(cpu(1), "page-faults", both, &value), PS_ENOEVST);
	check_detail("below");
	check_fails(ps_component_reading(scene.root, "page-faults", both + 1, &value), PS_ENOEVST);
	check_fails(ps_component_reading(scene.root, "cycles", both, &value), PS_ENOEVNT);
	check_detail("'cycles'");
	check_fails(ps_component_reading(scene.root, "page-faults", 0, &value), PS_EINVAL);
	check_detail("ps_component_total");
	check_fails(ps_component_reading(NULL, "page-faults", both, &value), PS_EINVAL);
	check_fails(ps_component_reading(scene.root, NULL, both, &value), PS_EINVAL);
	check_fails(ps_component_reading(scene.root, "page-faults", both, NULL), PS_EINVAL);
	ck_assert_int_eq(value.value, 4711);
}
END_TEST

START_TEST(what_is_not_there_is_an_error_and_never_a_zero)
{
	struct ps_eventset *unread = scene_set("page-faults", NULL);
	struct ps_topology *elsewhere;
	struct ps_value value = {.value = 4711};

	check_fails(ps_eventset_reading(one, cpu(1), "page-faults", both, &value), PS_ENOEVST);
	check_detail("below");
	check_fails(ps_eventset_reading(one, scene.root, "page-faults", both + 1, &value),
	            PS_ENOEVST);
	check_fails(ps_eventset_reading(one, scene.root, "cycles", both, &value), PS_ENOEVNT);
	check_detail("'cycles'");
	check_fails(ps_eventset_reading(unread, scene.root, "page-faults", 0, &value), PS_EINVAL);
	check_ok(ps_topology_load_synthetic(&elsewhere, "pack:1 pu:2"));
	check_fails(ps_eventset_reading(one, ps_topology_root(elsewhere), "page-faults", 0, &value),
	            PS_EINVAL);
	check_detail("topology");
	check_fails(ps_eventset_reading(NULL, scene.root, "page-faults", 0, &value), PS_EINVAL);
	check_fails(ps_eventset_reading(one, NULL, "page-faults", 0, &value), PS_EINVAL);
	check_fails(ps_eventset_reading(one, scene.root, NULL, 0, &value), PS_EINVAL);
	check_fails(ps_eventset_reading(one, scene.root, "page-faults", 0, NULL), PS_EINVAL);
	ck_assert_int_eq(value.value, 4711);
	ps_topology_destroy(elsewhere);
	ps_eventset_destroy(unread);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reading_of");
	TCase *tests = tcase_create("one set's reading");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, the_set_tells_readings_of_one_timestamp_apart);
	tcase_add_test(tests, the_parts_below_a_component_are_added_up);
	tcase_add_test(tests, zero_is_the_latest_reading_and_older_ones_are_found);
	tcase_add_test(tests, readings_from_before_the_events_changed_are_found);
	tcase_add_test(tests, a_components_reading_sums_up_all_sets_of_the_timestamp);
	tcase_add_test(tests, a_components_reading_that_is_not_there_is_an_error);
	tcase_add_test(tests, what_is_not_there_is_an_error_and_never_a_zero);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}
