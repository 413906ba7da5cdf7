/* SPDX-License-Identifier: BSD-3-Clause */
/* From one component to others: by type and number, up to ancestors, the walk, and how many there
 * are. */
#include "support/fixture.h"

#define HBM "hbm.xml"

static struct ps_topology *topology;
static struct ps_component *root;

static void setup(void)
{
	topology = fixture_synthetic("pack:2 [numa] l3:2 core:2 pu:2");
	root = ps_topology_root(topology);
}

static void teardown(void)
{
	ps_topology_destroy(topology);
}

static struct ps_component *thread_of(int cpu)
{
	return ps_thread_component(ps_topology_thread(topology, cpu));
}

START_TEST(a_component_is_found_by_its_number_of_the_operating_system)
{
	ck_assert_ptr_eq(ps_component_find(root, PS_COMPONENT_PACKAGE, 1),
	                 ps_component_child(root, 1));
	ck_assert_str_eq(ps_component_name(ps_component_find(root, PS_COMPONENT_NUMA, 1)),
	                 "NUMA node 1");
	ck_assert_str_eq(ps_component_name(ps_component_find(root, PS_COMPONENT_CORE, 7)),
	                 "Core 7");
	ck_assert_ptr_eq(ps_component_find(root, PS_COMPONENT_THREAD, 13), thread_of(13));
	ck_assert_ptr_eq(ps_component_find(root, PS_COMPONENT_MACHINE, 0), root);
	ck_assert_ptr_eq(ps_component_find(thread_of(3), PS_COMPONENT_THREAD, 3), thread_of(3));
}
END_TEST

START_TEST(what_is_not_below_is_not_found)
{
	struct ps_component *package = ps_component_child(root, 0);
	struct ps_component *unknown =
	    ps_thread_component(ps_topology_unknown_thread(ps_component_topology(root)));

	ck_assert_ptr_null(ps_component_find_logical(root, PS_COMPONENT_THREAD, 0, 16));
	ck_assert_ptr_null(ps_component_find_logical(unknown, PS_COMPONENT_THREAD, 0, 16));
	ck_assert_ptr_null(ps_component_find(root, PS_COMPONENT_THREAD, 16));
	ck_assert_ptr_null(ps_component_find(root, PS_COMPONENT_THREAD, -1));
	/* Caches without a number */
	ck_assert_ptr_null(ps_component_find(root, PS_COMPONENT_CACHE, -1));
	ck_assert_ptr_null(ps_component_find(root, PS_COMPONENT_DIE, 0));
	ck_assert_ptr_null(ps_component_find(package, PS_COMPONENT_THREAD, 8));
	ck_assert_ptr_null(ps_component_find(package, PS_COMPONENT_MACHINE, 0));
	ck_assert_ptr_null(ps_component_find(NULL, PS_COMPONENT_THREAD, 0));
	ck_assert_ptr_null(ps_component_find_logical(package, PS_COMPONENT_THREAD, 0, 8));
	ck_assert_ptr_null(ps_component_find_logical(root, PS_COMPONENT_CACHE, 2, 0));
	ck_assert_ptr_null(ps_component_find_logical(root, PS_COMPONENT_CACHE, 0, 0));
	ck_assert_ptr_null(ps_component_find_logical(root, PS_COMPONENT_CORE, 0, -1));
	ck_assert_ptr_null(ps_component_find_logical(NULL, PS_COMPONENT_CORE, 0, 0));
}
END_TEST

START_TEST(a_component_is_found_by_its_logical_number)
{
	struct ps_component *package = ps_component_child(root, 1);

	ck_assert_ptr_eq(ps_component_find_logical(root, PS_COMPONENT_PACKAGE, 0, 1), package);
	ck_assert_str_eq(
	    ps_component_name(ps_component_find_logical(package, PS_COMPONENT_CACHE, 3, 2)),
	    "L3 2");
	ck_assert_ptr_eq(ps_component_find_logical(package, PS_COMPONENT_THREAD, 0, 9),
	                 thread_of(9));
}
END_TEST

START_TEST(the_threads_of_a_NUMA_node_are_found_below_it)
{
	struct ps_component *node = ps_component_find(root, PS_COMPONENT_NUMA, 1);

	ck_assert_ptr_eq(ps_component_find(node, PS_COMPONENT_THREAD, 8), thread_of(8));
	ck_assert_ptr_null(ps_component_find(node, PS_COMPONENT_THREAD, 7));
	ck_assert_uint_eq(ps_component_count(node, PS_COMPONENT_THREAD), 8);
}
END_TEST

START_TEST(counts_are_of_all_below_and_itself)
{
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_MACHINE), 1);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_NUMA), 2);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_CACHE), 4);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_CORE), 8);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_THREAD), 16);
	ck_assert_uint_eq(ps_component_count(ps_component_child(root, 0), PS_COMPONENT_CORE), 4);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_GROUP), 0);
	ck_assert_uint_eq(ps_component_count(NULL, PS_COMPONENT_CORE), 0);
}
END_TEST

START_TEST(ancestors_are_counted_from_the_nearest)
{
	struct ps_component *thread = thread_of(5);

	ck_assert_str_eq(ps_component_name(ps_component_ancestor(thread, PS_COMPONENT_CORE, 1)),
	                 "Core 2");
	ck_assert_str_eq(ps_component_name(ps_component_ancestor(thread, PS_COMPONENT_CACHE, 1)),
	                 "L3 1");
	ck_assert_ptr_null(ps_component_ancestor(thread, PS_COMPONENT_CACHE, 2));
	ck_assert_ptr_null(ps_component_ancestor(thread, PS_COMPONENT_CACHE, 0));
	ck_assert_ptr_null(ps_component_ancestor(thread, PS_COMPONENT_THREAD, 1));
	ck_assert_ptr_eq(ps_component_ancestor(thread, PS_COMPONENT_MACHINE, 1), root);
	ck_assert_ptr_null(ps_component_ancestor(root, PS_COMPONENT_MACHINE, 1));
	ck_assert_ptr_null(ps_component_ancestor(NULL, PS_COMPONENT_MACHINE, 1));
}
END_TEST

START_TEST(the_nth_cache_above_is_the_nth_level)
{
	struct ps_topology *deep = fixture_synthetic("l3:1 l2:2 l1d:1 core:1 pu:1");
	struct ps_component *thread = ps_thread_component(ps_topology_thread(deep, 1));

	for (unsigned level = 1; level <= 3; level++)
		ck_assert_int_eq(ps_component_cache_level(
				     ps_component_ancestor(thread, PS_COMPONENT_CACHE, level)),
		                 (int)level);
	ps_topology_destroy(deep);
}
END_TEST

START_TEST(NUMA_nodes_local_to_a_component_are_its_ancestors)
{
	struct ps_topology *hbm = fixture_load(HBM);
	struct ps_component *thread = ps_thread_component(ps_topology_thread(hbm, 3));
	struct ps_component *first = ps_component_ancestor(thread, PS_COMPONENT_NUMA, 1);
	struct ps_component *second = ps_component_ancestor(thread, PS_COMPONENT_NUMA, 2);

	ck_assert_int_eq(ps_component_os_id(first), 1);
	ck_assert_int_eq(ps_component_os_id(second), 3);
	ck_assert_ptr_null(ps_component_ancestor(thread, PS_COMPONENT_NUMA, 3));
	ck_assert_ptr_eq(ps_component_ancestor(ps_component_parent(first), PS_COMPONENT_NUMA, 1),
	                 first);
	ck_assert_ptr_eq(ps_component_ancestor(first, PS_COMPONENT_NUMA, 1), second);
	ck_assert_ptr_null(ps_component_ancestor(ps_topology_root(hbm), PS_COMPONENT_NUMA, 1));
	ps_topology_destroy(hbm);
}
END_TEST

struct walk {
	struct ps_component *seen[64];
	size_t count;
	size_t stop_at;
};

static int note(struct ps_component *component, void *context)
{
	struct walk *walk = context;

	walk->seen[walk->count++] = component;
	return walk->count == walk->stop_at ? 42 : 0;
}

START_TEST(the_walk_meets_each_component_once_and_parents_first)
{
	struct walk walk = {.count = 0};

	ck_assert_int_eq(ps_component_for_each(root, note, &walk), 0);
	ck_assert_uint_eq(walk.count, 1 + 2 + 2 + 4 + 8 + 16);
	for (size_t i = 0; i < walk.count; i++) {
		size_t parent = 0;
		for (size_t k = 0; k < i; k++) {
			ck_assert_ptr_ne(walk.seen[k], walk.seen[i]);
			parent += walk.seen[k] == ps_component_parent(walk.seen[i]);
		}
		ck_assert_uint_eq(parent, i > 0);
	}
	ck_assert_int_eq(ps_component_type(walk.seen[2]), PS_COMPONENT_NUMA);
}
END_TEST

START_TEST(the_walk_ends_when_told_and_says_with_what)
{
	struct walk walk = {.stop_at = 5};

	ck_assert_int_eq(ps_component_for_each(root, note, &walk), 42);
	ck_assert_uint_eq(walk.count, 5);
	check_fails(ps_component_for_each(NULL, note, &walk), PS_EINVAL);
	check_fails(ps_component_for_each(root, NULL, &walk), PS_EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("find");
	TCase *tests = tcase_create("find");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, a_component_is_found_by_its_number_of_the_operating_system);
	tcase_add_test(tests, what_is_not_below_is_not_found);
	tcase_add_test(tests, a_component_is_found_by_its_logical_number);
	tcase_add_test(tests, the_threads_of_a_NUMA_node_are_found_below_it);
	tcase_add_test(tests, counts_are_of_all_below_and_itself);
	tcase_add_test(tests, ancestors_are_counted_from_the_nearest);
	tcase_add_test(tests, the_nth_cache_above_is_the_nth_level);
	tcase_add_test(tests, NUMA_nodes_local_to_a_component_are_its_ancestors);
	tcase_add_test(tests, the_walk_meets_each_component_once_and_parents_first);
	tcase_add_test(tests, the_walk_ends_when_told_and_says_with_what);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}
