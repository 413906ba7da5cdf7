/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine with two kinds of cores: P cores on CPU 0 and 1, E cores on CPU 2 and 3. A generic name
 * counts on both, each Thread shows its own, and an event of one kind isn't supported on the other,
 * which is not 0.
 */
#include "test_hybrid.h"

#include <errno.h>

START_TEST(a_generic_name_counts_on_each_kind_of_cores)
{
	struct ps_eventset *set = scene_started("instructions", "page-faults", NULL);

	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	work(0, 1000);
	work(2, 300);
	work(3, 40);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(0, "instructions", 1000, PS_STATUS_COUNTED);
	check_part(2, "instructions", 300, PS_STATUS_COUNTED);
	check_part(3, "instructions", 40, PS_STATUS_COUNTED);
	ck_assert_int_eq(scene_total("instructions").value, 1340);
	ck_assert_int_eq((int)scene_total("instructions").status, PS_STATUS_COUNTED);
	ck_assert_int_eq(scene_total("page-faults").value, 3);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_of_one_kind_is_not_supported_on_the_other)
{
	struct ps_eventset *set = scene_started("instructions", ATOM_EVENT, NULL);
	struct ps_value total;

	work(0, 1000);
	work(2, 300);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(0, ATOM_EVENT, 0, PS_STATUS_NOT_SUPPORTED);
	check_part(0, "instructions", 1000, PS_STATUS_COUNTED);
	check_part(2, ATOM_EVENT, 30, PS_STATUS_COUNTED);
	/* A true zero is one. */
	fake_set_cpu(3);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(3, ATOM_EVENT, 0, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
	set = scene_set(ATOM_EVENT, NULL);
	fake_set_cpu(1);
	check_ok(ps_start(set));
	work(1, 5);
	work(2, 100);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	total = scene_total(ATOM_EVENT);
	ck_assert_int_eq(total.value, 10 + 0);
	ck_assert_int_eq((int)total.status, PS_STATUS_COUNTED);
	ck_assert_uint_eq(total.enabled_ns, total.running_ns);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(time_on_the_other_kind_of_cores_is_no_waiting)
{
	struct ps_eventset *set = scene_started(ATOM_EVENT, NULL);

	for (int i = 0; i < 50; i++) {
		work(0, 1000);
		work(2, 300);
		check_ok(ps_read(set, scene.root, NULL, NULL));
	}
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(2, ATOM_EVENT, 1500, PS_STATUS_COUNTED);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_a_split_the_kinds_add_up)
{
	struct ps_eventset *set = scene_started("instructions", ATOM_EVENT, "page-faults", NULL);

	work(0, 1000);
	work(2, 300);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	/* All went to the CPU seen. Nothing was multiplexed, but that can't be known of one kind.
	 */
	check_part(2, "instructions", 1300, PS_STATUS_COUNTED);
	check_part(2, ATOM_EVENT, 30, PS_STATUS_INCOMPLETE);
	work(1, 7);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(1, "instructions", 7, PS_STATUS_COUNTED);
	check_part(1, ATOM_EVENT, 0, PS_STATUS_NOT_SUPPORTED);
	ck_assert_int_eq(scene_total("instructions").value, 1307);
	ck_assert_int_eq(scene_total("page-faults").value, 3);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_was_counted_elsewhere_is_not_hidden)
{
	struct ps_eventset *set = scene_started(ATOM_EVENT, NULL);

	work(2, 300);
	fake_set_cpu(0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	/* It wasn't here; but the sum must be what the kernel counted. */
	check_part(0, ATOM_EVENT, 30, PS_STATUS_COUNTED);
	ck_assert_int_eq((int)scene_part(0, ATOM_EVENT, 0).attribution, PS_ATTRIBUTION_LAST_CPU);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_pinned_task_has_its_cpus_kind)
{
	for (int cpu = 1; cpu <= 2; cpu++) {
		struct ps_eventset *set = scene_set("instructions", ATOM_EVENT, NULL);
		fake_set_affinity(cpu == 1 ? "1" : "2");
		fake_set_cpu(cpu);
		check_ok(ps_start(set));
		work(cpu, 500);
		check_ok(ps_stop(set, scene.root, NULL, NULL));
		check_part(cpu, "instructions", 500, PS_STATUS_COUNTED);
		ck_assert_int_eq((int)scene_part(cpu, "instructions", 0).attribution,
		                 PS_ATTRIBUTION_PINNED);
		check_part(cpu, ATOM_EVENT, 50,
		           cpu == 1 ? PS_STATUS_NOT_SUPPORTED : PS_STATUS_COUNTED);
		ps_eventset_destroy(set);
	}
}
END_TEST

START_TEST(a_cpu_counts_with_its_own_pmu)
{
	for (int cpu = 1; cpu <= 2; cpu++) {
		struct ps_eventset *set = scene_set("instructions", ATOM_EVENT, NULL);
		check_ok(ps_eventset_attach_cpu(set, cpu));
		check_ok(ps_start(set));
		fake_run(1000, 1000);
		fake_advance(CORE(INSTRUCTIONS), 70);
		fake_advance(ATOM(INSTRUCTIONS), 7);
		fake_advance(ATOM_RAW, 3);
		check_ok(ps_stop(set, scene.root, NULL, NULL));
		check_part(cpu, "instructions", cpu == 1 ? 70 : 7, PS_STATUS_COUNTED);
		check_part(cpu, ATOM_EVENT, 3,
		           cpu == 1 ? PS_STATUS_NOT_SUPPORTED : PS_STATUS_COUNTED);
		ps_eventset_destroy(set);
	}
}
END_TEST

START_TEST(a_cpu_that_was_offline_counts_on_with_its_own_pmu)
{
	struct ps_eventset *set = scene_set("instructions", NULL);

	check_ok(ps_eventset_attach_cpu(set, 2));
	check_ok(ps_start(set));
	fake_advance(ATOM(INSTRUCTIONS), 7);
	fake_set_online(2, false);
	fake_set_clock(1000000000000, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_online(2, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_advance(ATOM(INSTRUCTIONS), 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(2, "instructions", 0), 12);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(multiplexing_shows_on_each_kind)
{
	struct ps_eventset *set = scene_set("instructions", NULL);
	struct ps_value part;

	fake_set_affinity("2");
	fake_set_cpu(2);
	check_ok(ps_start(set));
	fake_run(4000000, 1000000);
	fake_advance(ATOM(INSTRUCTIONS), 10);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	part = scene_part(2, "instructions", 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_int_eq(part.value, 40);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(waiting_belongs_to_the_kind_that_has_the_event)
{
	struct ps_eventset *set = scene_started(ATOM_EVENT, NULL);
	struct ps_value part;

	fake_set_cpu(0);
	fake_run(10000000, 10000000);
	fake_set_cpu(2);
	fake_run(4000000, 1000000);
	fake_advance(ATOM_RAW, 10);
	fake_set_cpu(1);
	fake_run(10000000, 10000000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	part = scene_part(2, ATOM_EVENT, 0);
	ck_assert_int_eq((int)part.status, PS_STATUS_SCALED);
	ck_assert_int_eq(part.value, 40);
	check_part(0, ATOM_EVENT, 0, PS_STATUS_NOT_SUPPORTED);
	check_part(1, ATOM_EVENT, 0, PS_STATUS_NOT_SUPPORTED);
	ck_assert_int_eq(scene_total(ATOM_EVENT).value, 40);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_that_never_gets_a_counter_is_no_zero)
{
	struct ps_eventset *set = scene_started(ATOM_EVENT, "page-faults", NULL);

	fake_set_cpu(2);
	fake_run(4000000, 0);
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_part(2, ATOM_EVENT, 0, PS_STATUS_NEVER_SCHEDULED);
	fake_run(4000000, 0);
	fake_set_cpu(0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(2, ATOM_EVENT, 0, PS_STATUS_NEVER_SCHEDULED);
	check_part(0, ATOM_EVENT, 0, PS_STATUS_NOT_SUPPORTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_kind_in_the_error_state_takes_nothing_from_the_sum)
{
	struct ps_eventset *set = scene_started("instructions", NULL);

	work(0, 1000);
	work(2, 300);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(CORE(INSTRUCTIONS), true);
	work(2, 40);
	ck_assert_int_eq(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	ck_assert_int_eq((long long)scene_total("instructions").raw, 1340);
	ck_assert_uint_eq(scene_total("instructions").flags & PS_VALUE_WENT_BACK, 0);
	ps_eventset_destroy(set);
}
END_TEST

/* _i: of both kinds. Then the software event's group tells how long the task ran; otherwise that of
 * the other kind. */
START_TEST(sleep_is_no_time_in_the_error_state_of_a_kind)
{
	fake_set_clock(1000000000, 0);
	struct ps_eventset *set = scene_started("instructions", _i ? "page-faults" : NULL, NULL);
	work(0, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_set_error_state(CORE(INSTRUCTIONS), true);
	fake_set_error_state(ATOM(INSTRUCTIONS), _i);
	fake_set_clock(2000000000, 0);
	work(0, 0);
	ck_assert_int_eq(ps_read(set, scene.root, NULL, NULL), PS_PARTIAL);
	struct ps_value value = scene_part(0, "instructions", 0);
	ck_assert_uint_eq(value.running_ns, 1000000);
	ck_assert_uint_eq(value.enabled_ns, 2000000);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(what_a_kind_counted_and_no_read_gave_is_not_of_the_next_run)
{
	struct ps_eventset *set = scene_started("instructions", NULL);

	work(0, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	work(0, 50);
	fake_set_error_state(CORE(INSTRUCTIONS), true);
	ck_assert_int_eq(ps_stop(set, scene.root, NULL, NULL), PS_PARTIAL);
	fake_set_error_state(CORE(INSTRUCTIONS), false);
	check_ok(ps_start(set));
	work(0, 7);
	work(2, 3);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	ck_assert_uint_eq(scene_total("instructions").raw, 10);
	ck_assert_uint_eq(scene_total("instructions").running_ns, 2000000);
	ck_assert_uint_eq(scene_total("instructions").enabled_ns, 2000000);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(stored_counts_are_shown_wherever_they_come_from)
{
	struct ps_eventset *set = scene_set(ATOM_EVENT, NULL);
	long long counter = 0;

	fake_set_cpu(0);
	check_ok(ps_store(set, &counter, 1, scene.root, NULL, NULL));
	check_part(0, ATOM_EVENT, 0, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(another_task_is_counted_on_both_kinds)
{
	struct ps_eventset *set = scene_set("instructions", ATOM_EVENT, NULL);

	fake_task(4711, "worker", 2);
	fake_task_affinity(4711, "0-3");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_run(1000, 1000);
	fake_advance(ATOM(INSTRUCTIONS), 5);
	fake_task(4711, "worker", 1);
	fake_run(1000, 1000);
	fake_advance(CORE(INSTRUCTIONS), 6);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	check_part(2, "instructions", 5, PS_STATUS_COUNTED);
	check_part(1, "instructions", 6, PS_STATUS_COUNTED);
	check_part(1, ATOM_EVENT, 0, PS_STATUS_NOT_SUPPORTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_goes_on_in_another_topology)
{
	struct ps_eventset *set = scene_started("instructions", ATOM_EVENT, NULL);
	struct ps_topology *next;
	struct ps_value value;

	work(0, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ps_topology_destroy(scene.topology);
	check_ok(ps_topology_load_synthetic(&next, "pack:1 core:4 pu:1"));
	work(0, 10);
	check_ok(ps_stop(set, ps_topology_root(next), NULL, NULL));
	check_ok(ps_thread_reading(ps_topology_thread(next, 0), "instructions", 0, &value));
	ck_assert_int_eq(value.value, 1010);
	check_ok(ps_thread_reading(ps_topology_thread(next, 0), ATOM_EVENT, 0, &value));
	ck_assert_int_eq((int)value.status, PS_STATUS_NOT_SUPPORTED);
	ps_eventset_destroy(set);
	ps_topology_destroy(next);
	check_ok(ps_topology_load_synthetic(&scene.topology, "pack:1 core:4 pu:1"));
}
END_TEST

/* Two kinds are two counters of one event. nth: the call that fails. True: it was refused. */
static bool pause_refused(struct ps_eventset *set, size_t event, bool pauses, enum fake_call call,
                          unsigned nth)
{
	fake_fail(call, nth, EIO);
	int result =
	    pauses ? ps_eventset_pause_event(set, event) : ps_eventset_resume_event(set, event);
	fake_fail(call, 0, 0);
	if (result != PS_OK)
		check_detail(call == FAKE_IOCTL ? "ioctl" : "read");
	return result != PS_OK;
}

static void work_on_both(void)
{
	work(0, 1000);
	fake_advance(CORE(CPU_CYCLES), 1000);
	work(2, 300);
	fake_advance(ATOM(CPU_CYCLES), 300);
}

/* _i: of the two events, and whether it is paused or resumed. */
START_TEST(a_refused_pause_leaves_all_kinds_as_they_were)
{
	static const char *const names[] = {"instructions", "cycles"};
	static const enum fake_call calls[] = {FAKE_READ, FAKE_IOCTL};
	size_t event = (size_t)_i % 2, refused = 0;
	bool pauses = _i < 2;

	for (unsigned nth = 1; nth < 4; nth++) {
		struct ps_eventset *set = scene_started(names[0], names[1], NULL);
		work_on_both();
		if (!pauses)
			check_ok(ps_eventset_pause_event(set, event));
		bool is_refused = pause_refused(set, event, pauses, calls[event], nth);
		refused += is_refused;
		bool is_paused = ps_eventset_event_is_paused(set, event);
		ck_assert_int_eq(is_paused, pauses != is_refused);
		work_on_both();
		uint64_t timestamp = 0;
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
		ck_assert_int_eq(scene_sum(names[event], timestamp), is_paused ? 1300 : 2600);
		ck_assert_int_eq(scene_sum(names[!event], timestamp), 2600);
		scene_check_residual(set);
		ps_eventset_destroy(set);
	}
	ck_assert_uint_ge(refused, 2);
}
END_TEST

/* The second call is refused, and the event stays paused. */
START_TEST(a_refused_second_pause_resumes_nothing)
{
	for (unsigned nth = 1; nth < 3; nth++) {
		struct ps_eventset *set = scene_started("instructions", "cycles", NULL);
		check_ok(ps_eventset_pause_event(set, 1));
		ck_assert(pause_refused(set, 1, true, FAKE_IOCTL, nth));
		work_on_both();
		check_ok(ps_read(set, scene.root, NULL, NULL));
		ck_assert_int_eq(scene_total("cycles").value, 0);
		ps_eventset_destroy(set);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("hybrid");
	TCase *split = tcase_create("split"), *unsplit = tcase_create("unsplit");

	tcase_set_timeout(split, 120);
	tcase_set_timeout(unsplit, 120);
	tcase_add_checked_fixture(split, setup, scene_teardown);
	tcase_add_checked_fixture(unsplit, setup_last_cpu, scene_teardown);
	tcase_add_test(split, a_generic_name_counts_on_each_kind_of_cores);
	tcase_add_test(split, an_event_of_one_kind_is_not_supported_on_the_other);
	tcase_add_test(split, time_on_the_other_kind_of_cores_is_no_waiting);
	tcase_add_test(split, a_pinned_task_has_its_cpus_kind);
	tcase_add_test(split, a_cpu_counts_with_its_own_pmu);
	tcase_add_test(split, a_cpu_that_was_offline_counts_on_with_its_own_pmu);
	tcase_add_test(split, multiplexing_shows_on_each_kind);
	tcase_add_test(split, waiting_belongs_to_the_kind_that_has_the_event);
	tcase_add_test(split, an_event_that_never_gets_a_counter_is_no_zero);
	tcase_add_test(split, stored_counts_are_shown_wherever_they_come_from);
	tcase_add_test(split, another_task_is_counted_on_both_kinds);
	tcase_add_test(split, a_set_goes_on_in_another_topology);
	tcase_add_test(unsplit, without_a_split_the_kinds_add_up);
	tcase_add_test(unsplit, what_was_counted_elsewhere_is_not_hidden);
	tcase_add_test(unsplit, a_kind_in_the_error_state_takes_nothing_from_the_sum);
	tcase_add_loop_test(unsplit, sleep_is_no_time_in_the_error_state_of_a_kind, 0, 2);
	tcase_add_test(unsplit, what_a_kind_counted_and_no_read_gave_is_not_of_the_next_run);
	tcase_add_loop_test(unsplit, a_refused_pause_leaves_all_kinds_as_they_were, 0, 4);
	tcase_add_test(unsplit, a_refused_second_pause_resumes_nothing);
	suite_add_tcase(suite, split);
	suite_add_tcase(suite, unsplit);
	return scene_run(suite);
}
