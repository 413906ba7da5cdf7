/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More events than the six counters of the hardware take turns; each says how long it counted, and
 * its estimate is near the truth. All count retired instructions, so the truth is known; the zeros
 * make the names differ.
 */
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTERS 6
#define EVENTS   12
#define RUNS     3
#define TRUTH    200000000.0 /* instructions */
/* Of the middle one of three runs. */
#define ERROR_MAX 0.01
/* Instructions by which events of one group, which start and end together, may differ. */
#define TOGETHER 100

static const char *const names[EVENTS] = {"r8:u",          "r08:u",          "r008:u",
                                          "r0008:u",       "r00008:u",       "r000008:u",
                                          "r0000008:u",    "r00000008:u",    "r000000008:u",
                                          "r0000000008:u", "r00000000008:u", "r000000000008:u"};

static struct ps_eventset *instruction_events(size_t count)
{
	struct ps_eventset *set = lab_set(NULL);

	for (size_t i = 0; i < count; i++)
		lab_ok(ps_eventset_add(set, names[i]));
	return set;
}

/* Counts a long loop; gives the Thread where the reading is. */
static struct ps_thread *count_loop(struct ps_eventset *set, struct ps_topology *topology)
{
	struct ps_thread *thread = NULL;

	lab_pin(1);
	lab_ok(ps_start(set));
	lab_loop((unsigned long)(TRUTH / 2));
	lab_ok(ps_stop(set, ps_topology_root(topology), NULL, &thread));
	return thread;
}

/* Gives the number of groups. Three times, as the emulator's other CPUs may work for some
 * milliseconds of one. */
static size_t count_loops(size_t count, struct ps_value values[RUNS][EVENTS])
{
	size_t groups = 0;

	for (int run = 0; run < RUNS; run++) {
		struct ps_topology *topology = lab_topology();
		struct ps_eventset *set = instruction_events(count);
		struct ps_thread *thread = count_loop(set, topology);

		groups = ps_eventset_group_count(set);
		for (size_t i = 0; i < count; i++)
			values[run][i] = lab_reading(thread, names[i], 0);
		ps_eventset_destroy(set);
		ps_topology_destroy(topology);
	}
	return groups;
}

/* Of an event's three counts, how far the middle one is from the truth. */
static double error_of(struct ps_value values[RUNS][EVENTS], size_t event)
{
	long long middle =
	    lab_median(values[0][event].value, values[1][event].value, values[2][event].value);
	double error = fabs((double)middle / TRUTH - 1.0);

	ck_assert_msg(error <= ERROR_MAX, "%s: %lld of %.0f", names[event], middle, TRUTH);
	return error;
}

START_TEST(as_many_events_as_counters_are_one_group_and_count_all_the_time)
{
	struct ps_value values[RUNS][EVENTS];

	ck_assert_uint_eq(count_loops(COUNTERS, values), 1);
	for (size_t i = 0; i < COUNTERS; i++) {
		for (int run = 0; run < RUNS; run++) {
			ck_assert_int_eq(values[run][i].status, PS_STATUS_COUNTED);
			ck_assert_double_eq(ps_value_coverage(&values[run][i]), 1.0);
			/* They counted side by side, whatever disturbed them. */
			ck_assert_int_le(llabs(values[run][i].value - values[run][0].value),
			                 TOGETHER);
		}
		error_of(values, i);
	}
}
END_TEST

START_TEST(twelve_events_take_turns_and_their_estimates_are_within_1_percent)
{
	struct ps_value values[RUNS][EVENTS];
	double worst = 0;

	ck_assert_uint_ge(count_loops(EVENTS, values), 2);
	for (size_t i = 0; i < EVENTS; i++) {
		for (int run = 0; run < RUNS; run++) {
			const struct ps_value *value = &values[run][i];

			ck_assert_int_eq(value->status, PS_STATUS_SCALED);
			ck_assert_uint_lt(value->running_ns, value->enabled_ns);
			ck_assert_double_ge(ps_value_coverage(value), 0.2);
			ck_assert_double_le(ps_value_coverage(value), 0.8);
			ck_assert_double_le((double)value->raw, TRUTH * 0.8);
		}
		worst = fmax(worst, error_of(values, i));
	}
	printf("lab: 12 events on 6 counters: worst error %.3f %%\n", worst * 100);
}
END_TEST

START_TEST(a_multiplexed_value_is_printed_with_its_coverage)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = instruction_events(EVENTS);
	struct ps_thread *thread = count_loop(set, topology);
	char text[8192] = "";
	FILE *stream = fmemopen(text, sizeof(text), "w");

	lab_ok(ps_thread_print(thread, stream));
	fclose(stream);
	ck_assert_msg(strstr(text, "%"), "there is no coverage in:\n%s", text);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: multiplexing");
	TCase *turns = tcase_create("turns");

	tcase_add_test(turns, as_many_events_as_counters_are_one_group_and_count_all_the_time);
	tcase_add_test(turns, twelve_events_take_turns_and_their_estimates_are_within_1_percent);
	tcase_add_test(turns, a_multiplexed_value_is_printed_with_its_coverage);
	suite_add_tcase(suite, turns);
	return lab_run(suite);
}
