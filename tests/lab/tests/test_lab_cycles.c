/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles and instructions of one group have the ratio that the shape says: 2^shift cycles for each
 * instruction. */
#include "lab.h"

#include <stdio.h>

#define CYCLES "cycles:u"

static void measure(struct ps_eventset *set, struct ps_topology *topology, long long *cycles,
                    long long *instructions)
{
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;

	lab_after_tick();
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_stop(set, ps_topology_root(topology), &timestamp, &thread));
	*cycles = lab_reading(thread, CYCLES, timestamp).value;
	*instructions = lab_reading(thread, LAB_INSTRUCTIONS, timestamp).value;
}

START_TEST(cycles_are_instructions_times_2_to_the_shift)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = lab_set(CYCLES, LAB_INSTRUCTIONS, NULL);
	long long cycles, instructions;

	lab_pin(1);
	for (int run = 0; run < 4; run++) {
		measure(set, topology, &cycles, &instructions);
		ck_assert_int_eq(cycles, instructions << lab_shift());
	}
	printf("lab: shift %u: %lld cycles, %lld instructions, IPC %.3f\n", lab_shift(), cycles,
	       instructions, (double)instructions / (double)cycles);
	ck_assert_uint_eq(ps_eventset_group_count(set), 1);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(the_default_events_of_a_machine_with_counters_are_hardware_events)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *set = lab_set(NULL);
	struct ps_thread *thread = NULL;
	uint64_t timestamp = 0;

	lab_pin(2);
	lab_ok(ps_eventset_add_default(set));
	lab_ok(ps_start(set));
	lab_loop(lab_iterations());
	lab_ok(ps_stop(set, ps_topology_root(topology), &timestamp, &thread));
	ck_assert_int_ge(lab_reading(thread, "instructions", timestamp).value,
	                 (long long)lab_iterations() * 2);
	ck_assert_int_ge(lab_reading(thread, "cycles", timestamp).value,
	                 (long long)lab_iterations() * 2 << lab_shift());
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: cycles and instructions");
	TCase *ratio = tcase_create("ratio");

	tcase_add_test(ratio, cycles_are_instructions_times_2_to_the_shift);
	tcase_add_test(ratio, the_default_events_of_a_machine_with_counters_are_hardware_events);
	suite_add_tcase(suite, ratio);
	return lab_run(suite);
}
