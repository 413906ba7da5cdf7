/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Topologies as objects: this machine, synthetic descriptions; CPU number to Thread; no memory at
 * any allocation. test_import_file.c has XML files, test_import_limits.c what is too large.
 */
#include "support/fixture.h"
#include "support/small.h"
#include "topology/tree.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

START_TEST(this_machine_has_the_cpus_that_this_process_may_use)
{
	struct ps_topology *topology = NULL;
	cpu_set_t mask;

	check_ok(ps_topology_load(&topology, NULL));
	fixture_check_tree(topology);
	ck_assert_int_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct ps_thread *thread = ps_topology_thread(topology, cpu);
		if (!CPU_ISSET((size_t)cpu, &mask))
			continue;
		ck_assert_int_eq(ps_thread_cpu(thread), cpu);
		ck_assert_int_eq(ps_component_is_allowed(ps_thread_component(thread)), 1);
	}
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(the_whole_machine_has_at_least_as_many_cpus)
{
	struct ps_topology_options options = {.size = sizeof options,
	                                      .flags = PS_TOPOLOGY_WHOLE_MACHINE};
	struct ps_topology *part = NULL, *whole = NULL;

	check_ok(ps_topology_load(&part, NULL));
	check_ok(ps_topology_load(&whole, &options));
	fixture_check_tree(whole);
	ck_assert_uint_ge(ps_component_thread_count(ps_topology_root(whole)),
	                  ps_component_thread_count(ps_topology_root(part)));
	ps_topology_destroy(part);
	ps_topology_destroy(whole);
}
END_TEST

START_TEST(wrong_options_are_refused)
{
	struct ps_topology_options options = {.size = sizeof options - 1};
	struct ps_topology *topology = NULL;

	check_fails(ps_topology_load(NULL, NULL), PS_EINVAL);
	check_fails(ps_topology_load(&topology, &options), PS_EINVAL);
	check_detail("size");
	options = (struct ps_topology_options){.size = sizeof options, .flags = 1u << 7};
	check_fails(ps_topology_load(&topology, &options), PS_EINVAL);
	check_detail("0x80");
	ck_assert_ptr_null(topology);
}
END_TEST

START_TEST(a_cpu_number_leads_to_its_thread_and_an_unknown_one_to_the_unknown)
{
	struct ps_topology *topology = fixture_load("sparse.xml");
	struct ps_thread *unknown = ps_topology_unknown_thread(topology);
	static const bool known[] = {true,  false, true, false, false, false,
	                             false, false, true, false, true,  false};

	for (int cpu = 0; cpu < 12; cpu++) {
		struct ps_thread *thread = ps_topology_thread(topology, cpu);
		ck_assert_int_eq(thread != unknown, known[cpu]);
		ck_assert_int_eq(ps_thread_cpu(thread), known[cpu] ? cpu : -1);
	}
	ck_assert_ptr_eq(ps_topology_thread(topology, -1), unknown);
	ck_assert_ptr_eq(ps_topology_thread(topology, 1 << 30), unknown);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(the_unknown_thread_is_beside_the_tree)
{
	struct ps_topology *topology = fixture_load("sparse.xml");
	struct ps_thread *unknown = ps_topology_unknown_thread(topology);
	struct ps_component *component = ps_thread_component(unknown),
			    *root = ps_topology_root(topology);

	ck_assert_str_eq(ps_component_name(component), "unknown Thread");
	ck_assert_int_eq(ps_component_type(component), PS_COMPONENT_THREAD);
	ck_assert_int_eq(ps_component_os_id(component), -1);
	ck_assert_int_eq(ps_component_logical_id(component), -1);
	ck_assert_int_eq(ps_component_is_allowed(component), 0);
	ck_assert_ptr_eq(ps_component_thread(component), unknown);
	ck_assert_ptr_eq(ps_component_parent(component), root);
	ck_assert_ptr_eq(ps_component_topology(component), topology);
	ck_assert_ptr_eq(ps_component_thread_at(component, 0), unknown);
	for (size_t i = 0; i < ps_component_child_count(root); i++)
		ck_assert_ptr_ne(ps_component_child(root, i), component);
	ck_assert_uint_eq(ps_component_thread_count(root), 4);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_tree_of_4096_threads_loads)
{
	int cores = ps_test_serial_size(128, 16), threads = 2 * 8 * cores * 2;
	char tree[64];

	snprintf(tree, sizeof tree, "pack:2 l3:8 l2:%d l1d:1 core:1 pu:2", cores);
	struct ps_topology *topology = fixture_synthetic(tree);
	ck_assert_uint_eq(ps_component_thread_count(ps_topology_root(topology)), (size_t)threads);
	ck_assert_int_eq(ps_thread_cpu(ps_topology_thread(topology, threads - 1)), threads - 1);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(synthetic_descriptions_give_what_they_say)
{
	static const struct {
		const char *description;
		size_t packages, nodes, caches, cores, threads;
	} rows[] = {
	    {"pack:2 l3:2 core:8 pu:2", 2, 1, 4, 32, 64},
	    {"pack:2 [numa] l3:2 core:2 pu:1", 2, 2, 4, 8, 8},
	    {"pack:2 [numa] [numa] core:2 pu:1", 2, 4, 0, 4, 4},
	    {"numa:2 pack:1 die:2 core:2 pu:4", 2, 2, 0, 8, 32},
	    {"2 3 4", 0, 1, 0, 0, 24},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct ps_topology *topology = fixture_synthetic(rows[i].description);
		struct ps_component *root = ps_topology_root(topology);
		if (rows[i].packages) {
			ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_PACKAGE),
			                  rows[i].packages);
			ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_NUMA),
			                  rows[i].nodes);
			ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_CACHE),
			                  rows[i].caches);
			ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_CORE),
			                  rows[i].cores);
		}
		ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_THREAD), rows[i].threads);
		ps_topology_destroy(topology);
	}
}
END_TEST

START_TEST(a_wrong_description_is_repeated_with_the_reason)
{
	static const char *const wrong[] = {
	    "", "pack:2 foo:2", "pack:2 core", "pack:0 pu:1", "numa:2 core:1", "pu:2]"};
	struct ps_topology *topology = NULL;

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		check_fails(ps_topology_load_synthetic(&topology, wrong[i]), PS_EINVAL);
		check_detail(wrong[i]);
	}
	check_fails(ps_topology_load_synthetic(&topology, "pack:2 foo:2"), PS_EINVAL);
	check_detail("unknown object type");
	check_fails(ps_topology_load_synthetic(&topology, NULL), PS_EINVAL);
	check_fails(ps_topology_load_synthetic(NULL, "pu:2"), PS_EINVAL);
	ck_assert_ptr_null(topology);
}
END_TEST

static int load_machine(struct ps_topology **out)
{
	return ps_topology_load(out, NULL);
}

static int load_synthetic(struct ps_topology **out)
{
	return ps_topology_load_synthetic(out, "pack:2 [numa] l3:8 l2:16 l1d:1 core:1 pu:2");
}

static int load_fixture(struct ps_topology **out)
{
	return ps_topology_load_xml(out, fixture_path("fixtures/topology", "two_packages.xml"));
}

START_TEST(no_memory_at_any_allocation_is_an_error_and_leaks_nothing)
{
	static int (*const loaders[])(struct ps_topology **) = {load_machine, load_synthetic,
	                                                        load_fixture};
	unsigned nth = 0;
	int code;

	do {
		struct ps_topology *topology = NULL;
		fake_install();
		fake_fail(FAKE_ALLOCATE, ++nth, ENOMEM);
		code = loaders[_i](&topology);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		if (code != PS_OK) {
			ck_assert_int_eq(code, PS_ENOMEM);
			ck_assert_ptr_null(topology);
			ck_assert_str_ne(ps_error_detail(), "");
		}
		ps_topology_destroy(topology);
		fake_remove();
	} while (code != PS_OK);
	ck_assert_uint_gt(nth, 2);
}
END_TEST

START_TEST(a_destroyed_topology_lives_on_while_a_set_holds_it)
{
	struct ps_topology *topology = fixture_synthetic("pu:2");
	struct ps_component *root = ps_topology_root(topology);

	ck_assert(ps__topology_hold(topology));
	ck_assert_uint_eq(root->magic, PS__COMPONENT_MAGIC);
	ps_topology_destroy(topology);
	ck_assert(ps__topology_is_destroyed(topology));
	ck_assert(!ps__topology_hold(topology));
	ck_assert_uint_ne(root->magic, PS__COMPONENT_MAGIC);
	ps__topology_release(topology);
}
END_TEST

START_TEST(NULL_gives_the_none_answer)
{
	ps_topology_destroy(NULL);
	ck_assert_ptr_null(ps_topology_root(NULL));
	ck_assert_ptr_null(ps_topology_thread(NULL, 0));
	ck_assert_ptr_null(ps_topology_unknown_thread(NULL));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("topology");
	TCase *tests = tcase_create("load");

	tcase_add_test(tests, this_machine_has_the_cpus_that_this_process_may_use);
	tcase_add_test(tests, the_whole_machine_has_at_least_as_many_cpus);
	tcase_add_test(tests, wrong_options_are_refused);
	tcase_add_test(tests, a_cpu_number_leads_to_its_thread_and_an_unknown_one_to_the_unknown);
	tcase_add_test(tests, the_unknown_thread_is_beside_the_tree);
	tcase_add_test(tests, a_tree_of_4096_threads_loads);
	tcase_add_test(tests, synthetic_descriptions_give_what_they_say);
	tcase_add_test(tests, a_wrong_description_is_repeated_with_the_reason);
	tcase_add_loop_test(tests, no_memory_at_any_allocation_is_an_error_and_leaks_nothing, 0, 3);
	tcase_add_test(tests, a_destroyed_topology_lives_on_while_a_set_holds_it);
	tcase_add_test(tests, NULL_gives_the_none_answer);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}
