/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Migration records: what they split, and what becomes of the counts where a record is missing.
 * test_exact.c has what must hold for any means that splits; test_attribution_records.c tells when
 * they are taken.
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>

#define EVENT "page-faults"
#define US    UINT64_C(1000)

START_TEST(an_overflowing_ring_loses_the_split_and_no_count)
{
	struct ps_eventset *set = scene_started_exact();

	scene_count_on(0, 1000);
	for (int i = 0; i < 2000; i++)
		scene_count_on(1 + i % 2, 3);
	scene_count_on(3, 7);
	check_ok(ps_accum(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total(EVENT).value, 7007);
	/* The first parts are known as far as they go; but more of them may be in the last one. */
	scene_check_part(0, EVENT, 1000, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_int_eq((int)scene_part(1, EVENT, 0).attribution, PS_ATTRIBUTION_LAST_CPU);
	ck_assert_int_eq((int)scene_part(3, EVENT, 0).attribution, PS_ATTRIBUTION_LAST_CPU);
	uint64_t timestamp = 0;
	scene_count_on(1, 20);
	scene_count_on(0, 1);
	/* The kernel's word of the lost ones comes only now, and is of the time before. */
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_check_part(1, EVENT, 20, PS_ATTRIBUTION_EXACT);
	scene_check_part(0, EVENT, 1, PS_ATTRIBUTION_EXACT);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

static void overflow(void)
{
	for (int i = 0; i < 2000; i++)
		scene_count_on(1 + i % 2, 3);
}

START_TEST(counts_on_another_cpu_after_lost_records_are_not_called_exact)
{
	struct ps_eventset *set = scene_started_exact();
	uint64_t timestamp = 0;

	overflow();
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_count_on(3, 20);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	/* Some of the counts before may be of this CPU, and are in the other parts. */
	scene_check_part(3, EVENT, 20, PS_ATTRIBUTION_LAST_CPU);
	check_ok(ps_reset(set));
	scene_count_on(3, 5);
	timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_check_part(3, EVENT, 5, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_base_that_lost_counts_are_added_to_is_not_called_exact)
{
	struct ps_eventset *set = scene_started_exact();
	uint64_t timestamp = 0;

	scene_count_on(3, 1000);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	scene_check_part(3, EVENT, 1000, PS_ATTRIBUTION_EXACT);
	overflow();
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	scene_check_part(3, EVENT, 1000, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_interval_in_which_records_were_lost_has_no_exact_part)
{
	struct ps_eventset *set = scene_started_exact();
	struct ps_snapshot *snapshot = NULL;
	struct ps_value values[2];

	overflow();
	check_ok(ps_snapshot_take(set, &snapshot));
	scene_count_on(3, 20);
	check_ok(ps_snapshot_take(set, &snapshot));
	check_ok(ps_snapshot_difference(set, NULL, snapshot,
	                                ps_thread_component(ps_topology_thread(scene.topology, 3)),
	                                values, 2));
	ck_assert_int_eq(values[0].value, 20);
	ck_assert_int_eq((int)values[0].attribution, PS_ATTRIBUTION_LAST_CPU);
	ps_snapshot_destroy(snapshot);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_loss_before_a_reset_says_nothing_of_an_interval_after_it)
{
	struct ps_eventset *set = scene_started_exact();
	struct ps_snapshot *from = NULL, *to = NULL;
	struct ps_value values[2];
	uint64_t timestamp = 0;

	overflow();
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_count_on(3, 20);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	check_ok(ps_reset(set));
	check_ok(ps_snapshot_take(set, &from));
	scene_count_on(3, 5);
	check_ok(ps_snapshot_take(set, &to));
	check_ok(ps_snapshot_difference(
	    set, from, to, ps_thread_component(ps_topology_thread(scene.topology, 3)), values, 2));
	ck_assert_int_eq(values[0].value, 5);
	ck_assert_int_eq((int)values[0].attribution, PS_ATTRIBUTION_EXACT);
	ps_snapshot_destroy(from);
	ps_snapshot_destroy(to);
	ps_eventset_destroy(set);
}
END_TEST

static int (*usage_of_fake)(int who, struct rusage *usage);

static int move_and_tell_usage(int who, struct rusage *usage)
{
	fake_set_cpu(2);
	return usage_of_fake(who, usage);
}

/* ps_start has looked where the thread is, and has not enabled the counters yet. */
START_TEST(a_move_before_the_counters_are_enabled_is_none_of_theirs)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t timestamp = 0;

	check_ok(ps_eventset_add(set, "minor-faults"));
	usage_of_fake = ps__os.getrusage;
	ps__os.getrusage = move_and_tell_usage;
	check_ok(ps_start(set));
	ps__os.getrusage = usage_of_fake;
	fake_advance(PAGE_FAULTS, 5);
	scene_count_on(1, 7);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_check_part(2, EVENT, 5, PS_ATTRIBUTION_EXACT);
	scene_check_part(1, EVENT, 7, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 12);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

/* Whatever the number of moves: every count is there, and what is called exact is. */
static void fill_ring(int moves)
{
	struct ps_eventset *set = scene_started_exact();
	long long expected[4] = {0, 0, 100, 50};
	uint64_t timestamp = 0;
	bool is_exact;

	for (int i = 0; i < moves; i++) {
		scene_count_on(i % 2, 3);
		expected[i % 2] += 3;
	}
	scene_count_on(2, 100);
	scene_count_on(3, 50);
	check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), expected[0] + expected[1] + 150);
	is_exact = scene_part(3, EVENT, timestamp).attribution == PS_ATTRIBUTION_EXACT;
	for (int cpu = 0; cpu < 4 && is_exact; cpu++) {
		ck_assert_int_eq(scene_count(cpu, EVENT, timestamp), expected[cpu]);
		ck_assert_int_eq((int)scene_part(cpu, EVENT, timestamp).attribution,
		                 PS_ATTRIBUTION_EXACT);
	}
	ck_assert_msg(moves < 300 ? moves > 100 || is_exact : !is_exact, "%d moves", moves);
	ps_eventset_destroy(set);
}

START_TEST(a_ring_that_just_filled_up_calls_nothing_exact_that_is_not)
{
	for (int moves = 60; moves < 360; moves += 3)
		fill_ring(moves);
}
END_TEST

START_TEST(a_group_that_was_off_the_hardware_at_a_migration_is_not_called_exact)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_started("instructions", NULL);
	fake_advance(INSTRUCTIONS, 100);
	fake_set_waiting(INSTRUCTIONS, true);
	fake_set_cpu(1);
	fake_set_waiting(INSTRUCTIONS, false);
	fake_advance(INSTRUCTIONS, 10);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total("instructions").value, 110);
	ck_assert_int_eq((int)scene_part(1, "instructions", 0).attribution,
	                 PS_ATTRIBUTION_LAST_CPU);
	check_ok(ps_reset(set));
	fake_advance(INSTRUCTIONS, 7);
	fake_set_cpu(2);
	fake_advance(INSTRUCTIONS, 8);
	uint64_t timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, "instructions", timestamp), 7);
	ck_assert_int_eq(scene_count(2, "instructions", timestamp), 8);
	ck_assert_int_eq((int)scene_part(1, "instructions", 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(residency_and_multiplexing_are_told_apart_on_each_cpu)
{
	struct ps_eventset *set;
	struct ps_value part;

	fake_add_core_pmu(4);
	set = scene_started("instructions", NULL);
	fake_run(1000 * US, 1000 * US);
	fake_advance(INSTRUCTIONS, 5000);
	fake_set_cpu(3);
	fake_run(1000 * US, 250 * US); /* elsewhere, and a quarter of the time on the hardware */
	fake_advance(INSTRUCTIONS, 100);
	fake_set_cpu(1);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	part = scene_part(0, "instructions", 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_COUNTED);
	ck_assert_uint_eq(part.enabled_ns, 1000 * US);
	part = scene_part(3, "instructions", 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_uint_eq(part.raw, 100);
	ck_assert_int_eq(part.value, 400);
	ck_assert_uint_eq(part.enabled_ns, 1000 * US);
	ck_assert_uint_eq(part.running_ns, 250 * US);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(software_events_beside_a_hardware_group_are_split_as_well)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_started("instructions", EVENT, "cycles", NULL);
	scene_count_on(0, 3);
	fake_advance(INSTRUCTIONS, 300);
	scene_count_on(1, 4);
	fake_advance(CYCLES, 400);
	scene_count_on(0, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	scene_check_part(0, EVENT, 8, PS_ATTRIBUTION_EXACT);
	scene_check_part(1, EVENT, 4, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(scene_count(0, "instructions", 0), 300);
	ck_assert_int_eq(scene_count(1, "instructions", 0), 0);
	ck_assert_int_eq(scene_count(1, "cycles", 0), 400);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(pinned_events_have_records_in_their_own_groups)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_started("instructions:D", EVENT, NULL);
	fake_advance(INSTRUCTIONS, 300);
	scene_count_on(0, 3);
	fake_set_cpu(2);
	fake_advance(INSTRUCTIONS, 40);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "instructions:D", 0), 300);
	ck_assert_int_eq(scene_count(2, "instructions:D", 0), 40);
	scene_check_part(0, EVENT, 3, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

/* The ring has room for so many migrations, however large the group is. */
START_TEST(a_large_group_has_a_larger_ring)
{
	struct ps_eventset *set;
	char name[32];

	fake_add_core_pmu(64);
	check_ok(ps_eventset_create(&set));
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "r%x", 0x100 + i);
		check_ok(ps_eventset_add(set, name));
	}
	check_ok(ps_start(set));
	for (int i = 0; i < 50; i++) {
		fake_set_cpu(i % 2);
		fake_advance(PERF_TYPE_RAW, 0x100 + 49, 2);
	}
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "r131", 0), 50);
	ck_assert_int_eq(scene_count(1, "r131", 0), 50);
	ck_assert_int_eq((int)scene_part(0, "r131", 0).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_watched_task_is_followed_to_its_end)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	struct ps_value part;

	fake_task(4711, "solver", 2);
	fake_task_affinity(4711, "0-3");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	fake_task(4711, "solver", 1);
	fake_advance(PAGE_FAULTS, 2);
	fake_task_end(4711);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	scene_check_part(2, EVENT, 40, PS_ATTRIBUTION_EXACT);
	part = scene_part(1, EVENT, 0);
	ck_assert_int_eq(part.value, 2);
	ck_assert_int_eq((int)part.attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_uint_ne(part.flags & PS_VALUE_ENDED, 0);
	ck_assert(ps_eventset_is_ended(set));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_task_that_moved_while_the_set_was_stopped_is_counted_where_it_is)
{
	struct ps_eventset *set = scene_started_exact();

	scene_count_on(0, 3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_set_cpu(2);
	fake_set_cpu(3);
	check_ok(ps_start(set));
	scene_count_on(3, 5);
	uint64_t timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	scene_check_part(3, EVENT, 5, PS_ATTRIBUTION_EXACT);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_store_leaves_the_records_to_the_next_reading)
{
	struct ps_eventset *set = scene_started_exact();
	const long long counters[2] = {1, 1};
	uint64_t timestamp = 0;

	scene_count_on(0, 100);
	fake_set_cpu(1);
	check_ok(ps_store(set, counters, 2, scene.root, &timestamp, NULL));
	timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(0, EVENT, timestamp), 100);
	ck_assert_int_eq((int)scene_part(0, EVENT, timestamp).attribution, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_thread_that_stays_costs_one_read)
{
	struct ps_eventset *set = scene_started_exact();

	scene_count_on(2, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_count_reset();
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 1);
	scene_count_on(1, 4); /* and so does one that moved */
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_uint_eq(fake_count(FAKE_READ), 2);
	scene_check_part(2, EVENT, 10, PS_ATTRIBUTION_EXACT);
	scene_check_part(1, EVENT, 4, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_failed_reading_does_not_make_the_set_forget_where_the_task_went)
{
	struct ps_eventset *set = scene_started_exact();
	uint64_t timestamp = 0;

	scene_count_on(0, 1);
	fake_set_cpu(3);
	fake_fail(FAKE_READ, 1, EIO);
	check_fails(ps_read(set, scene.root, &timestamp, NULL), PS_ESYS);
	fake_advance(PAGE_FAULTS, 20);
	timestamp = 0;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	scene_check_part(0, EVENT, 1, PS_ATTRIBUTION_EXACT);
	scene_check_part(3, EVENT, 20, PS_ATTRIBUTION_EXACT);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("records");
	TCase *tests = scene_case_records(suite, "records");

	tcase_add_test(tests, a_move_before_the_counters_are_enabled_is_none_of_theirs);
	tcase_add_test(tests, an_overflowing_ring_loses_the_split_and_no_count);
	tcase_add_test(tests, counts_on_another_cpu_after_lost_records_are_not_called_exact);
	tcase_add_test(tests, a_base_that_lost_counts_are_added_to_is_not_called_exact);
	tcase_add_test(tests, an_interval_in_which_records_were_lost_has_no_exact_part);
	tcase_add_test(tests, a_loss_before_a_reset_says_nothing_of_an_interval_after_it);
	tcase_add_test(tests, a_ring_that_just_filled_up_calls_nothing_exact_that_is_not);
	tcase_add_test(tests, a_group_that_was_off_the_hardware_at_a_migration_is_not_called_exact);
	tcase_add_test(tests, residency_and_multiplexing_are_told_apart_on_each_cpu);
	tcase_add_test(tests, software_events_beside_a_hardware_group_are_split_as_well);
	tcase_add_test(tests, pinned_events_have_records_in_their_own_groups);
	tcase_add_test(tests, a_large_group_has_a_larger_ring);
	tcase_add_test(tests, a_watched_task_is_followed_to_its_end);
	tcase_add_test(tests, a_task_that_moved_while_the_set_was_stopped_is_counted_where_it_is);
	tcase_add_test(tests, a_store_leaves_the_records_to_the_next_reading);
	tcase_add_test(tests, a_thread_that_stays_costs_one_read);
	tcase_add_test(tests, a_failed_reading_does_not_make_the_set_forget_where_the_task_went);
	return scene_run(suite);
}
