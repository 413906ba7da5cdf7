/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A counter that never gets on the hardware says so; it doesn't print 0. One that is pinned goes
 * into its error state, which a reading reports.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COUNTERS 6
#define PINNED   8

static const char *const cpu_names[COUNTERS] = {"r8:D",    "r08:D",    "r008:D",
                                                "r0008:D", "r00008:D", "r000008:D"};
static const char *const pinned_names[PINNED] = {"r8:uD",       "r08:uD",      "r008:uD",
                                                 "r0008:uD",    "r00008:uD",   "r000008:uD",
                                                 "r0000008:uD", "r00000008:uD"};

/* Takes all programmable counters of a CPU. The cycle counter, which is one more, stays free. */
static struct ps_eventset *take_all_counters(int cpu)
{
	struct ps_eventset *set = lab_set(NULL);

	for (size_t i = 0; i < COUNTERS; i++)
		lab_ok(ps_eventset_add(set, cpu_names[i]));
	lab_ok(ps_eventset_attach_cpu(set, cpu));
	lab_ok(ps_start(set));
	return set;
}

static char *print_thread(struct ps_thread *thread)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	lab_ok(ps_thread_print(thread, stream));
	fclose(stream);
	return text;
}

START_TEST(an_event_without_a_counter_is_never_scheduled_which_is_not_0)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *all, *set = lab_set(LAB_INSTRUCTIONS, NULL);
	struct ps_thread *thread = NULL;
	struct ps_value value;
	char *text;

	lab_pin(1);
	all = take_all_counters(1);
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_stop(set, ps_topology_root(topology), NULL, &thread));
	value = lab_reading(thread, LAB_INSTRUCTIONS, 0);
	ck_assert_int_eq(value.status, PS_STATUS_NEVER_SCHEDULED);
	ck_assert_double_eq(ps_value_coverage(&value), 0.0);
	ck_assert_uint_gt(value.enabled_ns, 0);
	text = print_thread(thread);
	ck_assert_msg(strstr(text, "never "), "%s", text);
	free(text);
	ps_eventset_destroy(set);
	ps_eventset_destroy(all);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(one_unschedulable_event_of_a_set_says_so_and_is_counted_once_there_is_a_counter)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *all, *set = lab_set("page-faults:u", LAB_INSTRUCTIONS, NULL);
	struct ps_thread *thread = NULL;
	uint64_t before = 0, after = 0;

	lab_pin(1);
	all = take_all_counters(1);
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_read(set, root, &before, &thread));
	ck_assert_int_eq(lab_reading(thread, LAB_INSTRUCTIONS, before).status,
	                 PS_STATUS_NEVER_SCHEDULED);
	ps_eventset_destroy(all);
	lab_loop(100000000 >> lab_shift());
	lab_ok(ps_stop(set, root, &after, &thread));
	ck_assert_int_eq(lab_reading(thread, LAB_INSTRUCTIONS, after).status, PS_STATUS_SCALED);
	ck_assert_uint_ge(lab_reading(thread, LAB_INSTRUCTIONS, after).raw,
	                  100000000 >> lab_shift());
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(pinned_counters_beyond_the_hardware_are_reported_and_the_others_count)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = lab_set(NULL);
	struct ps_thread *thread = NULL;
	long long known = (long long)lab_iterations() * 2;
	int counted = 0, code;

	for (size_t i = 0; i < PINNED; i++)
		lab_ok(ps_eventset_add(set, pinned_names[i]));
	lab_pin(1);
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	code = ps_read(set, ps_topology_root(topology), NULL, &thread);
	ck_assert_msg(code == PS_PARTIAL, "%s: %s", ps_strerror(code), ps_error_detail());
	ck_assert_msg(strstr(ps_error_detail(), "8:uD"), "the detail names no event: %s",
	              ps_error_detail());
	for (size_t i = 0; i < PINNED; i++) {
		struct ps_value value = lab_reading(thread, pinned_names[i], 0);

		if (value.status == PS_STATUS_COUNTED) {
			ck_assert_int_ge(value.value, known);
			counted++;
		} else {
			ck_assert_int_eq(value.status, PS_STATUS_NEVER_SCHEDULED);
		}
	}
	ck_assert_int_eq(counted, COUNTERS);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(sleep_is_no_time_without_a_counter)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = lab_set(NULL);
	const struct timespec fifth = {.tv_nsec = 200000000};
	struct ps_thread *thread = NULL;
	uint64_t counted_ns = 0, never_ns = 0;
	int code;

	for (size_t i = 0; i < PINNED; i++)
		lab_ok(ps_eventset_add(set, pinned_names[i]));
	lab_pin(1);
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	nanosleep(&fifth, NULL);
	code = ps_read(set, ps_topology_root(topology), NULL, &thread);
	ck_assert_msg(code == PS_PARTIAL, "%s: %s", ps_strerror(code), ps_error_detail());
	for (size_t i = 0; i < PINNED; i++) {
		struct ps_value value = lab_reading(thread, pinned_names[i], 0);

		if (value.status == PS_STATUS_COUNTED)
			counted_ns = value.enabled_ns;
		else
			never_ns = value.enabled_ns;
	}
	ck_assert_uint_lt(counted_ns, 100000000);
	ck_assert_uint_ge(never_ns, counted_ns / 2);
	ck_assert_uint_le(never_ns, 2 * counted_ns);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_pinned_counter_that_loses_its_hardware_keeps_its_count_and_is_reported)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *all, *set = lab_set("r8:uD", NULL);
	struct ps_thread *thread = NULL;
	long long known = (long long)lab_iterations() * 2;
	struct ps_value value;
	int code;

	lab_pin(1);
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_read(set, root, NULL, &thread));
	ck_assert_int_ge(lab_reading(thread, "r8:uD", 0).value, known);
	all = take_all_counters(1);
	lab_loop(lab_iterations());
	code = ps_read(set, root, NULL, &thread);
	ck_assert_msg(code == PS_PARTIAL, "%s: %s", ps_strerror(code), ps_error_detail());
	value = lab_reading(thread, "r8:uD", 0);
	ck_assert_int_ge(value.value, known);
	ck_assert_uint_ne(value.flags & PS_VALUE_INTERRUPTED, 0);
	/* No other group tells how long the thread ran without the counter. */
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ps_eventset_destroy(all);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

/* _i: read by read(2); otherwise in user space, where all that it counted can be read. */
START_TEST(what_a_pinned_counter_counted_unread_is_not_of_the_next_run)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *all, *set = lab_set("r8:uD", NULL);
	struct ps_thread *thread = NULL;
	long long known = (long long)lab_iterations() * 2;
	uint64_t before = 0, after = 0;
	struct ps_value first, value;
	int code;

	lab_pin(1);
	if (_i)
		lab_ok(ps_eventset_attach_tid(set, gettid()));
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_read(set, root, &before, &thread));
	first = lab_reading(thread, "r8:uD", before);
	lab_loop(lab_iterations());
	all = take_all_counters(1);
	code = ps_stop(set, root, &before, &thread);
	ck_assert_msg(code == PS_PARTIAL, "%s: %s", ps_strerror(code), ps_error_detail());
	value = lab_reading(thread, "r8:uD", before);
	if (!_i) {
		ck_assert_uint_ge(value.raw, 2 * (uint64_t)known);
		ck_assert_uint_gt(value.running_ns, first.running_ns * 3 / 2);
	}
	ps_eventset_destroy(all);
	lab_ok(ps_start(set));
	lab_ok(ps_stop(set, root, &after, &thread));
	value = lab_reading(thread, "r8:uD", after);
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ck_assert_int_lt(value.value, known / 2);
	ck_assert_uint_eq(value.enabled_ns, value.running_ns);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: events that can't be scheduled");
	TCase *counters = tcase_create("counters");

	tcase_add_test(counters, an_event_without_a_counter_is_never_scheduled_which_is_not_0);
	tcase_add_test(
	    counters,
	    one_unschedulable_event_of_a_set_says_so_and_is_counted_once_there_is_a_counter);
	tcase_add_test(counters,
	               pinned_counters_beyond_the_hardware_are_reported_and_the_others_count);
	tcase_add_test(counters, sleep_is_no_time_without_a_counter);
	tcase_add_test(counters,
	               a_pinned_counter_that_loses_its_hardware_keeps_its_count_and_is_reported);
	tcase_add_loop_test(counters, what_a_pinned_counter_counted_unread_is_not_of_the_next_run,
	                    0, 2);
	suite_add_tcase(suite, counters);
	return lab_run(suite);
}
