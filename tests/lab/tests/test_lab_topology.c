/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree is the machine's: packages, cores, threads and NUMA nodes as the shape has them. */
#include "lab.h"

START_TEST(the_tree_has_the_packages_cores_threads_and_nodes_of_the_shape)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);
	size_t packages = lab_smp("sockets", 1), cores = lab_smp("cores", 1),
	       threads = lab_smp("threads", 1);

	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_PACKAGE), packages);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_CORE), packages * cores);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_THREAD),
	                  packages * cores * threads);
	ck_assert_uint_eq(ps_component_count(root, PS_COMPONENT_NUMA), lab_nodes());
	ck_assert_uint_eq(lab_cpus(), packages * cores * threads);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(every_cpu_has_its_thread_in_a_core_a_package_and_a_node)
{
	struct ps_topology *topology = lab_topology();

	for (int cpu = 0; cpu < (int)lab_cpus(); cpu++) {
		struct ps_thread *thread = ps_topology_thread(topology, cpu);
		struct ps_component *component = ps_thread_component(thread);

		ck_assert_int_eq(ps_thread_cpu(thread), cpu);
		ck_assert_ptr_nonnull(ps_component_ancestor(component, PS_COMPONENT_CORE, 1));
		ck_assert_ptr_nonnull(ps_component_ancestor(component, PS_COMPONENT_PACKAGE, 1));
		ck_assert_ptr_nonnull(ps_component_ancestor(component, PS_COMPONENT_NUMA, 1));
	}
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(the_cores_of_a_package_are_on_one_node)
{
	struct ps_topology *topology = lab_topology();
	struct ps_component *root = ps_topology_root(topology);

	for (int package = 0; package < (int)lab_smp("sockets", 1); package++) {
		struct ps_component *component =
		    ps_component_find_logical(root, PS_COMPONENT_PACKAGE, 0, package);
		struct ps_component *node = NULL;

		ck_assert_ptr_nonnull(component);
		for (size_t i = 0; i < ps_component_thread_count(component); i++) {
			struct ps_thread *thread = ps_component_thread_at(component, i);
			struct ps_component *other = ps_component_ancestor(
			    ps_thread_component(thread), PS_COMPONENT_NUMA, 1);

			node = node ? node : other;
			ck_assert_ptr_eq(other, node);
		}
	}
	ps_topology_destroy(topology);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lab: topology");
	TCase *tree = tcase_create("tree");

	tcase_add_test(tree, the_tree_has_the_packages_cores_threads_and_nodes_of_the_shape);
	tcase_add_test(tree, every_cpu_has_its_thread_in_a_core_a_package_and_a_node);
	tcase_add_test(tree, the_cores_of_a_package_are_on_one_node);
	suite_add_tcase(suite, tree);
	return lab_run(suite);
}
