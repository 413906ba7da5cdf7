/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of an event set: its states with PAPI's codes, its list of events, clones and
 * attachments. What the kernel is asked for when it starts is test_open.c's.
 */
#include "support/scene.h"

#include <errno.h>
#include <pthread.h>

START_TEST(a_set_without_events_starts_not)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	check_fails(ps_start(set), PS_EINVAL);
	check_fails(ps_eventset_reserve(set, 100), PS_EINVAL);
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	ck_assert_ptr_null(ps_eventset_event_name(set, 0));
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_that_was_never_started_has_nothing_to_give)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_stop(set, scene.root, NULL, NULL), PS_ENOTRUN);
	check_fails(ps_read(set, scene.root, NULL, NULL), PS_ENOTRUN);
	check_fails(ps_accum(set, scene.root, NULL, NULL), PS_ENOTRUN);
	check_fails(ps_reset(set), PS_ENOTRUN);
	ck_assert_uint_eq(ps_eventset_group_count(set), 0);
	ck_assert_int_eq(ps_eventset_event_group(set, 0), -1);
	ck_assert_uint_eq(scene_rows(0, "page-faults"), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_running_set_starts_not_again_and_cannot_be_changed)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);

	ck_assert_int_ne(ps_eventset_is_running(set), 0);
	check_fails(ps_start(set), PS_EISRUN);
	check_fails(ps_eventset_add(set, "minor-faults"), PS_EISRUN);
	check_fails(ps_eventset_add_optional(set, "minor-faults"), PS_EISRUN);
	check_fails(ps_eventset_add_default(set), PS_EISRUN);
	check_fails(ps_eventset_remove(set, "page-faults"), PS_EISRUN);
	check_fails(ps_eventset_attach_tid(set, 4711), PS_EISRUN);
	check_fails(ps_eventset_attach_cpu(set, 1), PS_EISRUN);
	check_fails(ps_eventset_detach(set), PS_EISRUN);
	check_fails(ps_eventset_set_history(set, 64), PS_EISRUN);
	check_ok(ps_eventset_reserve(set, 100));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 3);
	ck_assert_uint_eq(ps_eventset_event_count(set), 1);
	ck_assert_int_eq(ps_eventset_is_running(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stopped_set_stops_not_again_but_starts)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	uint64_t timestamp = 0;

	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	check_fails(ps_stop(set, scene.root, &timestamp, NULL), PS_ENOTRUN);
	check_ok(ps_reset(set));
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_running_set_may_be_destroyed)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);

	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	check_ok(ps_eventset_destroy(set));
	ck_assert_uint_eq(fake_open_fds(), 0);
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 3);
	check_ok(ps_eventset_destroy(NULL));
}
END_TEST

START_TEST(NULL_is_refused_everywhere)
{
	struct ps_eventset *set = scene_set(NULL, NULL), *clone = NULL;

	check_fails(ps_eventset_add(NULL, "page-faults"), PS_EINVAL);
	check_fails(ps_eventset_add(set, NULL), PS_EINVAL);
	check_fails(ps_eventset_add_optional(NULL, "page-faults"), PS_EINVAL);
	check_fails(ps_eventset_add_default(NULL), PS_EINVAL);
	check_fails(ps_eventset_remove(NULL, "page-faults"), PS_EINVAL);
	check_fails(ps_eventset_remove(set, NULL), PS_EINVAL);
	check_fails(ps_eventset_clone(NULL, set), PS_EINVAL);
	check_fails(ps_eventset_clone(&clone, NULL), PS_EINVAL);
	ck_assert_ptr_null(clone);
	check_fails(ps_eventset_attach_tid(NULL, 1), PS_EINVAL);
	check_fails(ps_eventset_attach_cpu(NULL, 0), PS_EINVAL);
	check_fails(ps_eventset_detach(NULL), PS_EINVAL);
	check_fails(ps_eventset_reserve(NULL, 1), PS_EINVAL);
	check_fails(ps_eventset_set_history(NULL, 1), PS_EINVAL);
	check_fails(ps_start(NULL), PS_EINVAL);
	check_fails(ps_reset(NULL), PS_EINVAL);
	check_fails(ps_stop(NULL, scene.root, NULL, NULL), PS_EINVAL);
	ck_assert_int_eq(ps_eventset_create(NULL), PS_EINVAL);
	ck_assert_str_ne(ps_error_detail(), "");
	ck_assert_uint_eq(ps_eventset_event_count(NULL), 0);
	ck_assert_ptr_null(ps_eventset_event_name(NULL, 0));
	ck_assert_int_eq((int)ps_eventset_event_scope(set, 7), PS_SCOPE_THREAD);
	ck_assert_str_eq(ps_eventset_event_unit(set, 7), "");
	ck_assert(ps_eventset_event_scale(set, 7) == 1);
	ck_assert_int_eq(ps_eventset_is_running(NULL), 0);
	ck_assert_int_eq(ps_eventset_is_ended(NULL), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(events_are_listed_as_they_were_added_and_removed)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("page-faults:u", "minor-faults", "r1a8", NULL);
	ck_assert_uint_eq(ps_eventset_event_count(set), 3);
	ck_assert_str_eq(ps_eventset_event_name(set, 0), "page-faults:u");
	ck_assert_str_eq(ps_eventset_event_name(set, 2), "r1a8");
	check_fails(ps_eventset_add(set, "minor-faults"), PS_ECNFLCT);
	check_detail("minor-faults");
	check_fails(ps_eventset_remove(set, "page-faults"), PS_ENOEVNT);
	check_detail("page-faults");
	check_ok(ps_eventset_remove(set, "minor-faults"));
	ck_assert_uint_eq(ps_eventset_event_count(set), 2);
	ck_assert_str_eq(ps_eventset_event_name(set, 1), "r1a8");
	ck_assert_ptr_null(ps_eventset_event_name(set, 2));
	check_ok(ps_eventset_add(set, "minor-faults"));
	ck_assert_str_eq(ps_eventset_event_name(set, 2), "minor-faults");
	ck_assert_uint_eq(fake_open_fds(), 0);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_unit_and_a_scale_are_told_for_each_event)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	ck_assert_str_eq(ps_eventset_event_unit(set, 0), "");
	ck_assert_str_eq(ps_eventset_event_unit(set, 1), "ns");
	ck_assert(ps_eventset_event_scale(set, 1) == 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_name_that_the_term_name_gives_is_unique_and_either_name_removes_the_event)
{
	static const char added[] = "cpu/config=2,name=calls/";
	struct ps_eventset *set, *clone;

	fake_add_core_pmu(4);
	set = scene_set("page-faults", added, NULL);
	ck_assert_str_eq(ps_eventset_event_name(set, 1), "calls");
	check_fails(ps_eventset_add(set, added), PS_ECNFLCT);
	check_fails(ps_eventset_add(set, "cpu/config=3,name=calls/"), PS_ECNFLCT);
	check_detail("'calls'");
	check_fails(ps_eventset_add_optional(set, "cpu/config=3,name=page-faults/"), PS_ECNFLCT);
	ck_assert_uint_eq(ps_eventset_event_count(set), 2);
	check_fails(ps_eventset_remove(set, "cpu/config=3,name=calls/"), PS_ENOEVNT);
	check_ok(ps_eventset_clone(&clone, set));
	check_ok(ps_eventset_remove(clone, added));
	ck_assert_uint_eq(ps_eventset_event_count(clone), 1);
	check_ok(ps_eventset_add(clone, added));
	check_ok(ps_eventset_remove(clone, "calls"));
	ck_assert_uint_eq(ps_eventset_event_count(clone), 1);
	ps_eventset_destroy(clone);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_refused_name_leaves_the_set_as_it_was_and_says_why)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_eventset_add(set, "page-fualts"), PS_ENOEVNT);
	check_detail("page-faults");
	check_fails(ps_eventset_add(set, ""), PS_EINVAL);
	check_fails(ps_eventset_add(set, "page-faults:z"), PS_EATTR);
	check_detail("z");
	check_fails(ps_eventset_add(set, "instructions"), PS_ENOSUPP); /* no PMU here */
	check_detail("instructions");
	check_fails(ps_eventset_add_optional(set, "page-fualts"), PS_ENOEVNT);
	ck_assert_uint_eq(ps_eventset_event_count(set), 1);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_known_name_without_an_encoding_here_may_be_optional)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_file_error("/sys/kernel/tracing/events/sched/sched_switch/id", EACCES);
	check_fails(ps_eventset_add(set, "sched:sched_switch"), PS_EPERM);
	check_ok(ps_eventset_add_optional(set, "sched:sched_switch"));
	check_detail("/sys/kernel/tracing");
	ck_assert_str_eq(ps_eventset_event_name(set, 1), "sched:sched_switch");
	ck_assert_int_eq(ps_eventset_event_status(set, 1), PS_STATUS_NOT_SUPPORTED);
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_part(0, "sched:sched_switch", 0).status, PS_STATUS_NOT_SUPPORTED);
	ck_assert_int_eq(scene_part(0, "page-faults", 0).status, PS_STATUS_COUNTED);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_changed_set_counts_its_new_events_and_its_old_readings_stay)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	uint64_t first = 0, second = 0;

	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	check_ok(ps_eventset_add(set, "minor-faults"));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	fake_advance(MINOR_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_uint_gt(second, first);
	ck_assert_int_eq(scene_count(0, "page-faults", second), 5);
	ck_assert_int_eq(scene_count(0, "minor-faults", second), 7);
	ck_assert_int_eq(scene_count(0, "page-faults", first), 3);
	check_ok(ps_eventset_remove(set, "page-faults"));
	check_ok(ps_start(set));
	fake_advance(MINOR_FAULTS, 2);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(0, "minor-faults", second), 2);
	ck_assert_int_eq(scene_count(0, "page-faults", first), 3);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_clone_has_the_events_and_nothing_else)
{
	struct ps_eventset *model = scene_set("page-faults", "minor-faults:u", NULL), *clone = NULL;

	check_ok(ps_eventset_attach_cpu(model, 3));
	check_ok(ps_start(model));
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_read(model, scene.root, NULL, NULL));
	check_ok(ps_eventset_clone(&clone, model)); /* of a running one */
	ck_assert_uint_eq(ps_eventset_event_count(clone), 2);
	ck_assert_str_eq(ps_eventset_event_name(clone, 1), "minor-faults:u");
	ck_assert_int_eq(ps_eventset_is_running(clone), 0);
	check_fails(ps_read(clone, scene.root, NULL, NULL), PS_ENOTRUN);
	check_ok(ps_start(clone));
	fake_advance(PAGE_FAULTS, 4);
	check_ok(ps_stop(clone, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 4); /* the caller's, not CPU 3's */
	ck_assert_int_eq(scene_count(3, "page-faults", 0), 10);
	check_ok(ps_eventset_destroy(model));
	check_ok(ps_start(clone));
	check_ok(ps_stop(clone, scene.root, NULL, NULL));
	ps_eventset_destroy(clone);
}
END_TEST

static void *clone_and_count(void *model)
{
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;
	bool good = ps_eventset_clone(&set, model) == PS_OK && ps_start(set) == PS_OK &&
	            ps_stop(set, scene.root, &timestamp, NULL) == PS_OK;

	ps_eventset_destroy(set);
	return good ? model : NULL;
}

START_TEST(threads_may_clone_one_model_at_the_same_time)
{
	struct ps_eventset *model = scene_set("page-faults", "minor-faults", NULL);
	pthread_t threads[8];

	for (size_t i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, clone_and_count, model), 0);
	for (size_t i = 0; i < 8; i++) {
		void *good = NULL;

		pthread_join(threads[i], &good);
		ck_assert_ptr_eq(good, model);
	}
	ck_assert_uint_eq(scene_rows(0, "page-faults"), 8);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(attaching_refuses_what_does_not_exist)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	check_fails(ps_eventset_attach_tid(set, 0), PS_EINVAL);
	check_fails(ps_eventset_attach_tid(set, -5), PS_EINVAL);
	check_fails(ps_eventset_attach_tid(set, 999999), PS_ESYS);
	check_detail("999999");
	check_fails(ps_eventset_attach_cpu(set, -1), PS_EINVAL);
	check_fails(ps_eventset_attach_cpu(set, 99), PS_EINVAL);
	check_detail("99");
	check_ok(ps_start(set)); /* still the caller's */
	fake_advance(PAGE_FAULTS, 1);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(attachment_can_change_between_runs)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_task(4711, "solver", 2);
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(2, "page-faults", 0), 5);
	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	fake_advance_on(PAGE_FAULTS, -1, 3, 6);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	ck_assert_int_eq(scene_count(3, "page-faults", 0), 6);
	check_ok(ps_eventset_detach(set));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_stop(set, scene.root, &(uint64_t){0}, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 7);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_default_events_are_what_the_machine_has)
{
	static const char *const without[] = {"task-clock", "page-faults", "context-switches",
	                                      "cpu-migrations"};
	static const char *const with[] = {"cycles", "instructions", "cache-references",
	                                   "cache-misses", "branch-misses"};
	struct ps_eventset *set = scene_set(NULL, NULL), *other = scene_set(NULL, NULL);

	fake_add_msr();
	check_ok(ps_eventset_add_default(set));
	ck_assert_uint_eq(ps_eventset_event_count(set), 4);
	for (size_t i = 0; i < 4; i++)
		ck_assert_str_eq(ps_eventset_event_name(set, i), without[i]);
	fake_add_core_pmu(6);
	check_ok(ps_eventset_add_default(other));
	ck_assert_uint_eq(ps_eventset_event_count(other), 5);
	for (size_t i = 0; i < 5; i++)
		ck_assert_str_eq(ps_eventset_event_name(other, i), with[i]);
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

START_TEST(the_default_events_leave_out_what_may_not_be_counted)
{
	struct ps_eventset *set = scene_set(NULL, NULL);

	fake_set_paranoid(2, false);
	check_ok(ps_eventset_add_default(set));
	ck_assert_uint_eq(ps_eventset_event_count(set), 2);
	ck_assert_str_eq(ps_eventset_event_name(set, 0), "task-clock");
	ck_assert_str_eq(ps_eventset_event_name(set, 1), "page-faults");
	ps_eventset_destroy(set);
	set = scene_set(NULL, NULL);
	fake_set_paranoid(3, false);
	check_fails(ps_eventset_add_default(set), PS_EPERM);
	ck_assert_uint_eq(ps_eventset_event_count(set), 0);
	check_detail("'task-clock'");
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("eventset");
	TCase *tests = scene_case(suite, "states");

	tcase_add_test(tests, a_set_without_events_starts_not);
	tcase_add_test(tests, a_set_that_was_never_started_has_nothing_to_give);
	tcase_add_test(tests, a_running_set_starts_not_again_and_cannot_be_changed);
	tcase_add_test(tests, a_stopped_set_stops_not_again_but_starts);
	tcase_add_test(tests, a_running_set_may_be_destroyed);
	tcase_add_test(tests, NULL_is_refused_everywhere);
	tests = scene_case(suite, "events");
	tcase_add_test(tests, events_are_listed_as_they_were_added_and_removed);
	tcase_add_test(tests, a_unit_and_a_scale_are_told_for_each_event);
	tcase_add_test(tests,
	               a_name_that_the_term_name_gives_is_unique_and_either_name_removes_the_event);
	tcase_add_test(tests, a_refused_name_leaves_the_set_as_it_was_and_says_why);
	tcase_add_test(tests, a_known_name_without_an_encoding_here_may_be_optional);
	tcase_add_test(tests, a_changed_set_counts_its_new_events_and_its_old_readings_stay);
	tcase_add_test(tests, the_default_events_are_what_the_machine_has);
	tcase_add_test(tests, the_default_events_leave_out_what_may_not_be_counted);
	tests = scene_case(suite, "clones and attachments");
	tcase_add_test(tests, a_clone_has_the_events_and_nothing_else);
	tcase_add_test(tests, threads_may_clone_one_model_at_the_same_time);
	tcase_add_test(tests, attaching_refuses_what_does_not_exist);
	tcase_add_test(tests, attachment_can_change_between_runs);
	return scene_run(suite);
}
