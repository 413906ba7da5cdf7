/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads pinned to different places: each count is on its hardware thread, and the roll-up is
 * right on each core, package and NUMA node. They work one after the other: the emulator's counters
 * go on in one another's turns.
 */
#include "lab.h"

#define OVERHEAD_MAX 200

struct place {
	struct ps_topology *topology;
	const struct ps_eventset *model;
	struct ps_eventset *set;
	struct ps_thread *thread;
	unsigned long iterations;
};

static void count_loop(void *context)
{
	struct place *place = context;
	struct ps_component *root = ps_topology_root(place->topology);
	int started, stopped;

	lab_ok(ps_eventset_clone(&place->set, place->model));
	for (int i = 0; i < 2; i++) { /* what happens once only isn't measured */
		lab_ok(ps_start(place->set));
		lab_ok(ps_stop(place->set, root, NULL, NULL));
	}
	/* Once more, if it counted too much (HACKING, "The PMU lab"): that must not happen
	 * twice. */
	for (int attempt = 0; attempt < 2; attempt++) {
		lab_after_tick();
		started = ps_start(place->set);
		lab_loop(place->iterations);
		stopped = ps_stop(place->set, root, NULL, &place->thread);
		/* Asserts are some 1000 instructions long, so none while counting */
		lab_ok(started);
		lab_ok(stopped);
		if (lab_reading(place->thread, LAB_INSTRUCTIONS, 0).value <
		    (long long)place->iterations * 2 + OVERHEAD_MAX)
			break;
	}
}

/* The loop on one CPU; its part must be on that CPU's Thread, known because it was pinned. */
static void count_on(struct place *place, int cpu)
{
	long long known = (long long)place->iterations * 2;
	struct ps_value value;

	lab_on_cpu(cpu, count_loop, place);
	ck_assert_int_eq(ps_thread_cpu(place->thread), cpu);
	value = lab_reading(place->thread, LAB_INSTRUCTIONS, 0);
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	ck_assert_int_eq(value.attribution, PS_ATTRIBUTION_PINNED);
	ck_assert_int_ge(value.value, known);
	ck_assert_int_lt(value.value, known + OVERHEAD_MAX);
}

static struct ps_component *above(struct place *place, enum ps_component_type type)
{
	struct ps_component *component =
	    ps_component_ancestor(ps_thread_component(place->thread), type, 1);

	ck_assert_msg(component, "CPU %d has no %s", ps_thread_cpu(place->thread),
	              ps_component_type_name(type));
	return component;
}

static long long part(struct place *place)
{
	return lab_reading(place->thread, LAB_INSTRUCTIONS, 0).value;
}

START_TEST(two_pinned_threads_add_up_on_their_own_nodes_and_packages)
{
	struct ps_topology *topology = lab_topology();
	struct ps_eventset *model = lab_set(LAB_INSTRUCTIONS, NULL);
	struct place first = {topology, model, NULL, NULL, 300000 >> lab_shift()};
	struct place last = {topology, model, NULL, NULL, 700000 >> lab_shift()};

	count_on(&first, 0);
	count_on(&last, (int)lab_cpus() - 1);
	ck_assert_ptr_ne(above(&first, PS_COMPONENT_PACKAGE), above(&last, PS_COMPONENT_PACKAGE));
	ck_assert_int_eq(lab_total(above(&first, PS_COMPONENT_PACKAGE), LAB_INSTRUCTIONS).value,
	                 part(&first));
	ck_assert_int_eq(lab_total(above(&last, PS_COMPONENT_PACKAGE), LAB_INSTRUCTIONS).value,
	                 part(&last));
	if (lab_nodes() > 1) {
		ck_assert_ptr_ne(above(&first, PS_COMPONENT_NUMA), above(&last, PS_COMPONENT_NUMA));
		ck_assert_int_eq(
		    lab_total(above(&first, PS_COMPONENT_NUMA), LAB_INSTRUCTIONS).value,
		    part(&first));
		ck_assert_int_eq(lab_total(above(&last, PS_COMPONENT_NUMA), LAB_INSTRUCTIONS).value,
		                 part(&last));
	}
	ck_assert_int_eq(lab_total(ps_topology_root(topology), LAB_INSTRUCTIONS).value,
	                 part(&first) + part(&last));
	ps_eventset_destroy(first.set);
	ps_eventset_destroy(last.set);
	ps_eventset_destroy(model);
	ps_topology_destroy(topology);
}
END_TEST

/* The sum over the Threads of a component, by the work that was done on each. */
static long long sum_of_parts(struct ps_component *component)
{
	long long sum = 0;

	for (size_t i = 0; i < ps_component_thread_count(component); i++)
		sum += lab_reading(ps_component_thread_at(component, i), LAB_INSTRUCTIONS, 0).value;
	return sum;
}

static int total_is_sum(struct ps_component *component, void *context)
{
	ck_assert_int_eq(lab_total(component, LAB_INSTRUCTIONS).value, sum_of_parts(component));
	++*(size_t *)context;
	return 0;
}

START_TEST(on_every_component_the_total_is_the_sum_of_its_threads)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);
	struct ps_eventset *model = lab_set(LAB_INSTRUCTIONS, NULL);
	size_t count = ps_component_thread_count(root), visited = 0;
	struct place places[LAB_CPUS_MAX] = {{0}};

	ck_assert_uint_le(count, LAB_CPUS_MAX);
	for (size_t i = 0; i < count; i++) {
		places[i].topology = topology;
		places[i].model = model;
		places[i].iterations = 1000 * (i + 1);
		count_on(&places[i], (int)i);
	}
	ck_assert_int_eq(ps_component_for_each(root, total_is_sum, &visited), 0);
	ck_assert_uint_gt(visited, count);
	for (size_t i = 0; i < count; i++)
		ps_eventset_destroy(places[i].set);
	ps_eventset_destroy(model);
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: threads in different places");
	TCase *places = tcase_create("places");

	tcase_add_test(places, two_pinned_threads_add_up_on_their_own_nodes_and_packages);
	tcase_add_test(places, on_every_component_the_total_is_the_sum_of_its_threads);
	suite_add_tcase(suite, places);
	return lab_run(suite);
}
