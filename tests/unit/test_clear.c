/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree that is emptied of the readings of destroyed event sets. */
#include "support/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT "page-faults"

/* A set of one reading; its timestamp. */
static uint64_t count_and_go(int cpu, long long number)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	uint64_t timestamp = 0;

	fake_set_cpu(cpu);
	check_ok(ps_store(set, &number, 1, scene.root, &timestamp, NULL));
	ps_eventset_destroy(set);
	return timestamp;
}

START_TEST(the_next_phase_counts_from_nothing)
{
	uint64_t first = count_and_go(0, 1000);
	const struct ps_thread *thread = ps_topology_thread(scene.topology, 0);
	struct ps_value value;

	count_and_go(0, 12);
	ck_assert_int_eq(scene_total(EVENT).value, 1012);
	check_ok(ps_topology_clear_readings(scene.topology));
	check_fails(ps_component_total(scene.root, EVENT, &value), PS_ENOEVNT);
	check_fails(ps_thread_reading(thread, EVENT, 0, &value), PS_ENOEVNT);
	check_fails(ps_component_reading(scene.root, EVENT, first, &value), PS_ENOEVNT);
	ck_assert_uint_eq(ps_thread_event_count(thread), 0);
	count_and_go(0, 12);
	ck_assert_int_eq(scene_total(EVENT).value, 12);
	ck_assert_uint_eq(scene_rows(0, EVENT), 1);
	char *text = scene_text(PS_FORMAT_CSV);
	ck_assert_ptr_null(strstr(text, "1012"));
	free(text);
	check_ok(ps_topology_clear_readings(scene.topology));
	check_ok(ps_topology_clear_readings(scene.topology));
}
END_TEST

START_TEST(sets_that_live_keep_their_readings_and_go_on)
{
	struct ps_eventset *before = scene_started(EVENT, NULL), *after;
	uint64_t first = 0, second = 0;

	fake_set_cpu(1);
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_read(before, scene.root, &first, NULL));
	count_and_go(1, 1000);
	count_and_go(2, 300);
	after = scene_started(EVENT, NULL);
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_read(after, scene.root, NULL, NULL));
	check_ok(ps_read(before, scene.root, &second, NULL));
	ck_assert_int_eq(scene_total(EVENT).value, 1309);
	check_ok(ps_topology_clear_readings(scene.topology));
	ck_assert_int_eq(scene_total(EVENT).value, 9);
	ck_assert_int_eq(scene_sum(EVENT, first), 5);
	ck_assert_int_eq(scene_sum(EVENT, second), 7);
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(before, scene.root, NULL, NULL));
	check_ok(ps_read(after, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total(EVENT).value, 11);
	ps_eventset_destroy(before);
	ps_eventset_destroy(after);
	ck_assert_int_eq(scene_total(EVENT).value, 11);
	check_ok(ps_topology_clear_readings(scene.topology));
	count_and_go(3, 4);
	ck_assert_int_eq(scene_total(EVENT).value, 4);
}
END_TEST

/* Its readings are in several recordings, which no aggregate has. */
START_TEST(a_set_whose_events_changed_goes_as_a_whole)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_value value;

	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_remove(set, EVENT));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_ok(ps_topology_clear_readings(scene.topology));
	ck_assert_int_eq(scene_total(EVENT).value, 5);
	ps_eventset_destroy(set);
	ck_assert_int_eq(scene_total(EVENT).value, 5);
	check_ok(ps_topology_clear_readings(scene.topology));
	check_fails(ps_component_total(scene.root, EVENT, &value), PS_ENOEVNT);
	check_fails(ps_component_total(scene.root, "minor-faults", &value), PS_ENOEVNT);
}
END_TEST

START_TEST(what_was_counted_on_a_cpu_that_the_tree_lacks_goes_as_well)
{
	struct ps_value value;

	fake_set_affinity("0-9");
	count_and_go(9, 40);
	ck_assert_int_eq(scene_total(EVENT).value, 40);
	check_ok(ps_topology_clear_readings(scene.topology));
	check_fails(ps_thread_reading(ps_topology_unknown_thread(scene.topology), EVENT, 0, &value),
	            PS_ENOEVNT);
}
END_TEST

START_TEST(a_program_of_many_phases_does_not_grow)
{
	count_and_go(0, 1);
	check_ok(ps_topology_clear_readings(scene.topology));
	size_t before = fake_allocated_bytes(), mapped = fake_mapped_bytes();
	for (int phase = 0; phase < 100; phase++) {
		count_and_go(phase % 4, 1);
		check_ok(ps_topology_clear_readings(scene.topology));
	}
	ck_assert_uint_eq(fake_allocated_bytes(), before);
	ck_assert_uint_eq(fake_mapped_bytes(), mapped);
}
END_TEST

START_TEST(a_forked_child_leaves_the_readings_alone)
{
	int status = -1;

	count_and_go(0, 12);
	pid_t child = fork();
	if (child == 0)
		_exit(ps_topology_clear_readings(scene.topology) == PS_ECLOST ? 0 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(scene_total(EVENT).value, 12);
}
END_TEST

START_TEST(no_topology_is_an_error)
{
	check_fails(ps_topology_clear_readings(NULL), PS_EINVAL);
	check_ok(ps_topology_clear_readings(scene.topology));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clear");
	TCase *tests = scene_case_last_cpu(suite, "an emptied tree");

	tcase_add_test(tests, the_next_phase_counts_from_nothing);
	tcase_add_test(tests, sets_that_live_keep_their_readings_and_go_on);
	tcase_add_test(tests, a_set_whose_events_changed_goes_as_a_whole);
	tcase_add_test(tests, what_was_counted_on_a_cpu_that_the_tree_lacks_goes_as_well);
	tcase_add_test(tests, a_program_of_many_phases_does_not_grow);
	tcase_add_test(tests, a_forked_child_leaves_the_readings_alone);
	tcase_add_test(tests, no_topology_is_an_error);
	return scene_run(suite);
}
