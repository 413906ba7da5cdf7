/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a component says of itself, on fixtures of the kinds that machines come in: several
 * packages, HBM beside DDR, hybrid cores, sparse CPU numbers, CPUs that may not be used.
 */
#include "support/fixture.h"

#include <string.h>

START_TEST(each_type_has_its_name)
{
	static const char *const names[] = {"Machine", "Package", "Die",  "NUMA node",
	                                    "Cache",   "Group",   "Core", "Thread"};

	for (int type = PS_COMPONENT_MACHINE; type <= PS_COMPONENT_THREAD; type++)
		ck_assert_str_eq(ps_component_type_name((enum ps_component_type)type), names[type]);
	ck_assert_str_eq(ps_component_type_name((enum ps_component_type)99), "unknown");
	ck_assert_str_eq(ps_component_type_name((enum ps_component_type) - 1), "unknown");
}
END_TEST

START_TEST(two_packages_look_as_lstopo_shows_them)
{
	struct ps_topology *topology = fixture_load("two_packages.xml");

	fixture_check_outline(topology, "Machine\n"
	                                "  Package 0\n"
	                                "    NUMA node 0 1000000000\n"
	                                "    L3 0 32000000\n"
	                                "      L2 0 1000000\n"
	                                "        Core 0\n"
	                                "          Thread 0\n"
	                                "          Thread 1\n"
	                                "      L2 1 1000000\n"
	                                "        Core 1\n"
	                                "          Thread 2\n"
	                                "          Thread 3\n"
	                                "  Package 1\n"
	                                "    NUMA node 1 1000000000\n"
	                                "    L3 1 32000000\n"
	                                "      L2 2 1000000\n"
	                                "        Core 2\n"
	                                "          Thread 4\n"
	                                "          Thread 5\n"
	                                "      L2 3 1000000\n"
	                                "        Core 3\n"
	                                "          Thread 6\n"
	                                "          Thread 7\n");
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(hbm_stands_beside_ddr_and_is_told_by_its_subtype)
{
	struct ps_topology *topology = fixture_load("hbm.xml");
	struct ps_component *package = ps_component_child(ps_topology_root(topology), 1);
	struct ps_component *ddr = ps_component_child(package, 0),
			    *hbm = ps_component_child(package, 1);

	ck_assert_int_eq(ps_component_type(ddr), PS_COMPONENT_NUMA);
	ck_assert_int_eq(ps_component_type(hbm), PS_COMPONENT_NUMA);
	ck_assert_str_eq(ps_component_subtype(ddr), "");
	ck_assert_str_eq(ps_component_subtype(hbm), "HBM");
	ck_assert_int_eq(ps_component_os_id(hbm), 3);
	ck_assert_uint_eq(ps_component_size_bytes(hbm), UINT64_C(16) << 30);
	ck_assert_uint_eq(ps_component_child_count(hbm), 0);
	ck_assert_uint_eq(ps_component_thread_count(hbm), 2);
	ck_assert_int_eq(ps_thread_cpu(ps_component_thread_at(hbm, 0)), 2);
	ck_assert_int_eq(ps_component_type(ps_component_child(package, 2)), PS_COMPONENT_CORE);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_memory_side_cache_is_looked_through)
{
	struct ps_topology *topology = fixture_load("memory_cache.xml");

	fixture_check_outline(topology, "Machine\n"
	                                "  Package 0\n"
	                                "    NUMA node 0 137438953472\n"
	                                "    Core 0\n"
	                                "      Thread 0\n"
	                                "    Core 1\n"
	                                "      Thread 1\n");
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(cores_and_threads_of_a_hybrid_machine_know_their_kind)
{
	struct ps_topology *topology = fixture_load("hybrid.xml");
	struct ps_component *root = ps_topology_root(topology);
	static const enum ps_core_kind kinds[] = {
	    PS_CORE_KIND_PERFORMANCE, PS_CORE_KIND_PERFORMANCE, PS_CORE_KIND_PERFORMANCE,
	    PS_CORE_KIND_PERFORMANCE, PS_CORE_KIND_MIDDLE,      PS_CORE_KIND_MIDDLE,
	    PS_CORE_KIND_EFFICIENT};

	if (!fixture_has_core_kinds()) {
		ps_topology_destroy(topology);
		ps_test_skip("this hwloc is older than 2.4 and knows no kinds of cores");
		return;
	}
	for (int cpu = 0; cpu < 7; cpu++) {
		struct ps_component *thread = ps_component_find(root, PS_COMPONENT_THREAD, cpu);
		ck_assert_int_eq(ps_component_core_kind(thread), kinds[cpu]);
		ck_assert_int_eq(ps_component_core_kind(ps_component_parent(thread)), kinds[cpu]);
	}
	ck_assert_int_eq(ps_component_core_kind(root), PS_CORE_KIND_UNKNOWN);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(one_kind_of_cores_is_no_kind)
{
	struct ps_topology *topology = fixture_load("two_packages.xml");
	struct ps_component *root = ps_topology_root(topology);

	for (size_t i = 0; i < ps_component_thread_count(root); i++)
		ck_assert_int_eq(
		    ps_component_core_kind(ps_thread_component(ps_component_thread_at(root, i))),
		    PS_CORE_KIND_UNKNOWN);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(cpus_that_may_not_be_used_are_shown_and_flagged)
{
	struct ps_topology *topology = fixture_load("disallowed.xml");
	struct ps_component *root = ps_topology_root(topology);

	ck_assert_uint_eq(ps_component_thread_count(root), 4);
	for (int cpu = 0; cpu < 4; cpu++) {
		struct ps_component *thread = ps_component_find(root, PS_COMPONENT_THREAD, cpu);
		ck_assert_int_eq(ps_component_is_allowed(thread), cpu % 2 == 0);
		ck_assert_int_eq(ps_component_is_allowed(ps_component_parent(thread)),
		                 cpu % 2 == 0);
	}
	ck_assert_int_eq(ps_component_is_allowed(root), 1);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(attributes_are_those_of_hwloc)
{
	struct ps_topology *topology = fixture_load("two_packages.xml");
	struct ps_component *root = ps_topology_root(topology);

	ck_assert_str_eq(ps_component_attribute(root, "DMIProductName"), "Example 2U");
	ck_assert_str_eq(ps_component_attribute(ps_component_child(root, 1), "CPUModel"),
	                 "Example CPU 9000");
	ck_assert_ptr_null(ps_component_attribute(root, "CPUModel"));
	ck_assert_ptr_null(ps_component_attribute(root, NULL));
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(logical_ids_count_each_type_and_cache_level_in_tree_order)
{
	struct ps_topology *topology =
	    fixture_synthetic("pack:2 die:1 group:2 l3:2 l2:1 l1d:1 core:1 pu:2");
	struct ps_component *root = ps_topology_root(topology);
	struct ps_component *last = ps_thread_component(ps_topology_thread(topology, 15));

	ck_assert_int_eq(ps_component_logical_id(last), 15);
	ck_assert_str_eq(ps_component_name(last), "Thread 15");
	ck_assert_int_eq(ps_component_depth(last), 8);
	static const char *const names[] = {"Core 7",  "L1 7",  "L2 7",      "L3 7",
	                                    "Group 3", "Die 1", "Package 1", "Machine"};
	struct ps_component *up = last;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		up = ps_component_parent(up);
		ck_assert_str_eq(ps_component_name(up), names[i]);
		ck_assert_int_eq(ps_component_depth(up), 7 - (int)i);
	}
	ck_assert_ptr_eq(up, root);
	ck_assert_ptr_null(ps_component_parent(root));
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(caches_have_levels_and_other_types_none)
{
	struct ps_topology *topology =
	    fixture_synthetic("pack:1 l3:1 l2:1 l1d:1 l1i:1 core:1 pu:1");
	struct ps_component *root = ps_topology_root(topology);

	for (int level = 1; level <= 3; level++) {
		struct ps_component *cache =
		    ps_component_find_logical(root, PS_COMPONENT_CACHE, level, 0);
		ck_assert_ptr_nonnull(cache);
		ck_assert_int_eq(ps_component_cache_level(cache), level);
		ck_assert_uint_gt(ps_component_size_bytes(cache), 0);
	}
	/* No instruction cache */
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_CACHE), 3);
	ck_assert_int_eq(ps_component_cache_level(root), 0);
	ck_assert_uint_eq(ps_component_size_bytes(root), 0);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_thread_and_its_component_lead_to_each_other)
{
	struct ps_topology *topology = fixture_load("sparse.xml");
	struct ps_component *root = ps_topology_root(topology);

	for (size_t i = 0; i < ps_component_thread_count(root); i++) {
		struct ps_thread *thread = ps_component_thread_at(root, i);
		struct ps_component *component = ps_thread_component(thread);
		ck_assert_ptr_eq(ps_component_thread(component), thread);
		ck_assert_ptr_eq(ps_component_topology(component), topology);
		ck_assert_int_eq(ps_component_os_id(component), ps_thread_cpu(thread));
		ck_assert_ptr_eq(ps_component_thread_at(component, 0), thread);
		ck_assert_uint_eq(ps_component_thread_count(component), 1);
	}
	ck_assert_ptr_null(ps_component_thread(root));
	ck_assert_ptr_null(ps_component_thread_at(root, 4));
	ck_assert_ptr_null(ps_component_child(root, ps_component_child_count(root)));
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(NULL_gives_the_none_answer)
{
	ck_assert_int_eq(ps_component_type(NULL), PS_COMPONENT_MACHINE);
	ck_assert_int_eq(ps_component_os_id(NULL), -1);
	ck_assert_int_eq(ps_component_logical_id(NULL), -1);
	ck_assert_int_eq(ps_component_depth(NULL), -1);
	ck_assert_ptr_null(ps_component_name(NULL));
	ck_assert_ptr_null(ps_component_parent(NULL));
	ck_assert_ptr_null(ps_component_child(NULL, 0));
	ck_assert_uint_eq(ps_component_child_count(NULL), 0);
	ck_assert_uint_eq(ps_component_size_bytes(NULL), 0);
	ck_assert_int_eq(ps_component_cache_level(NULL), 0);
	ck_assert_str_eq(ps_component_subtype(NULL), "");
	ck_assert_int_eq(ps_component_core_kind(NULL), PS_CORE_KIND_UNKNOWN);
	ck_assert_ptr_null(ps_component_attribute(NULL, "x"));
	ck_assert_int_eq(ps_component_is_allowed(NULL), 0);
	ck_assert_ptr_null(ps_component_thread(NULL));
	ck_assert_ptr_null(ps_component_topology(NULL));
	ck_assert_uint_eq(ps_component_thread_count(NULL), 0);
	ck_assert_ptr_null(ps_component_thread_at(NULL, 0));
	ck_assert_int_eq(ps_thread_cpu(NULL), -1);
	ck_assert_ptr_null(ps_thread_component(NULL));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("component");
	TCase *tests = tcase_create("component");

	tcase_add_test(tests, each_type_has_its_name);
	tcase_add_test(tests, two_packages_look_as_lstopo_shows_them);
	tcase_add_test(tests, hbm_stands_beside_ddr_and_is_told_by_its_subtype);
	tcase_add_test(tests, a_memory_side_cache_is_looked_through);
	tcase_add_test(tests, cores_and_threads_of_a_hybrid_machine_know_their_kind);
	tcase_add_test(tests, one_kind_of_cores_is_no_kind);
	tcase_add_test(tests, cpus_that_may_not_be_used_are_shown_and_flagged);
	tcase_add_test(tests, attributes_are_those_of_hwloc);
	tcase_add_test(tests, logical_ids_count_each_type_and_cache_level_in_tree_order);
	tcase_add_test(tests, caches_have_levels_and_other_types_none);
	tcase_add_test(tests, a_thread_and_its_component_lead_to_each_other);
	tcase_add_test(tests, NULL_gives_the_none_answer);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}
