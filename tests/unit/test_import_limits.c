/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hwloc is not asked to build: synthetic descriptions that are too large, by their number of
 * Threads or otherwise; and the environment variables that put another tree in the place of this
 * machine's.
 */
#include "support/fixture.h"
#include "topology/tree.h"

#include <perfsage/print.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As hwloc reads numbers: with blanks, a sign, or 0x. None of these would end in a minute. */
START_TEST(a_description_that_is_too_large_is_refused_with_its_number)
{
	static const struct {
		const char *description, *says;
	} rows[] = {
	    {"pack:1024 core:1024 pu:2", "has 2097152 hardware threads: hwloc can build 32768"},
	    {"pu:+50000000", "has 50000000 hardware threads"},
	    {"pu:\t50000000", "has 50000000 hardware threads"},
	    {"pu: 0x1000000", "has 16777216 hardware threads"},
	    {"pack:+30000 core:+30000 pu:2", "has 1800000000 hardware threads"},
	    {"pack:1024\npu:1024", "has 1048576 hardware threads"},
	    {"1024 1024", "has 1048576 hardware threads"},
	};
	struct ps_topology *topology = NULL;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		check_fails(ps_topology_load_synthetic(&topology, rows[i].description), PS_EINVAL);
		check_detail(rows[i].says);
	}
	ck_assert_ptr_null(topology);
}
END_TEST

/* A bitmap with that bit has half a gigabyte, and each of its components several of them. */
START_TEST(a_description_that_asks_for_too_much_otherwise_is_stopped)
{
	struct ps_topology *topology = NULL;
	int code = ps_topology_load_synthetic(&topology, "pack:2 pu:2(indexes=4294967294,1,2,3)");

	ck_assert(code == PS_EINVAL || code == PS_ENOMEM);
	check_detail("indexes=4294967294");
	ck_assert_ptr_null(topology);
}
END_TEST

START_TEST(what_is_tried_in_a_child_process_gives_the_same_tree)
{
	struct ps_topology *topology = fixture_synthetic("pack:+2 pu:\t2(indexes=3,1,2,0)");

	ck_assert_ptr_eq(ps_component_parent(ps_thread_component(ps_topology_thread(topology, 3))),
	                 ps_component_parent(ps_thread_component(ps_topology_thread(topology, 1))));
	ck_assert_str_eq(ps_topology_origin(topology), "pack:+2 pu:\t2(indexes=3,1,2,0)");
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_tree_that_is_not_this_machine_s_tells_what_it_was_made_from)
{
	struct ps_topology *topology = fixture_synthetic("pu:2");

	ck_assert_str_eq(ps_topology_origin(topology), "pu:2");
	ps_topology_destroy(topology);
	topology = fixture_load("sparse.xml");
	ck_assert_str_eq(ps_topology_origin(topology),
	                 fixture_path("fixtures/topology", "sparse.xml"));
	ps_topology_destroy(topology);
	check_ok(ps_topology_load(&topology, NULL));
	ck_assert_ptr_null(ps_topology_origin(topology));
	ps_topology_destroy(topology);
	ck_assert_ptr_null(ps_topology_origin(NULL));
}
END_TEST

START_TEST(a_variable_of_hwloc_s_that_replaces_this_machine_is_told)
{
	struct ps_topology *topology = NULL;

	setenv("HWLOC_SYNTHETIC", "pack:3 pu:5", 1);
	check_ok(ps_topology_load(&topology, NULL));
	ck_assert_uint_eq(ps_component_thread_count(ps_topology_root(topology)), 15);
	ck_assert_str_eq(ps_topology_origin(topology), "HWLOC_SYNTHETIC=pack:3 pu:5");
	ck_assert(topology->is_stand_in);
	ps_topology_destroy(topology);
	/* Who says that it is this machine's is believed. */
	setenv("HWLOC_THISSYSTEM", "1", 1);
	check_ok(ps_topology_load(&topology, NULL));
	ck_assert_ptr_null(ps_topology_origin(topology));
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_description_in_a_variable_of_hwloc_s_has_the_same_limit)
{
	struct ps_topology *topology = NULL;

	setenv("HWLOC_SYNTHETIC", "pu:+50000000", 1);
	check_fails(ps_topology_load(&topology, NULL), PS_EINVAL);
	check_detail("has 50000000 hardware threads");
	ck_assert_ptr_null(topology);
}
END_TEST

/* hwloc's two readers of XML differ in what they do then. */
START_TEST(a_variable_of_hwloc_s_that_has_no_effect_is_an_error)
{
	static const char *const variables[][2] = {{"HWLOC_XMLFILE", "/nonexistent/server.xml"},
	                                           {"HWLOC_XMLFILE", "/dev/null"},
	                                           {"HWLOC_SYNTHETIC", "socket:many"}};
	struct ps_topology *topology = NULL;

	for (size_t i = 0; i < 2 * (sizeof variables / sizeof *variables); i++) {
		const char *const *variable = variables[i / 2];
		setenv(variable[0], variable[1], 1);
		if (i % 2)
			setenv("HWLOC_THISSYSTEM", "1", 1);
		check_fails(ps_topology_load(&topology, NULL), PS_EINVAL);
		check_detail(variable[1]);
		check_detail("or unset them");
		unsetenv(variable[0]);
		unsetenv("HWLOC_THISSYSTEM");
	}
	setenv("HWLOC_XMLFILE", "", 1);
	check_ok(ps_topology_load(&topology, NULL));
	ck_assert_ptr_null(ps_topology_origin(topology));
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(what_is_printed_tells_that_the_tree_is_not_this_machine_s)
{
	struct ps_topology *topology = NULL;
	struct ps_print_options bare = {.size = sizeof bare, .flags = PS_PRINT_NO_LEGEND};
	char text[4096] = "";

	setenv("HWLOC_SYNTHETIC", "pack:1 pu:2", 1);
	check_ok(ps_topology_load(&topology, NULL));
	FILE *stream = fmemopen(text, sizeof text, "w");
	check_ok(ps_print(ps_topology_root(topology), stream));
	fclose(stream);
	ck_assert_ptr_nonnull(
	    strstr(text, "The tree is not this machine's: HWLOC_SYNTHETIC=pack:1 pu:2"));
	stream = fmemopen(text, sizeof text, "w");
	check_ok(ps_print_with(ps_topology_root(topology), &bare, stream));
	fclose(stream);
	ck_assert_ptr_null(strstr(text, "not this machine's"));
	ps_topology_destroy(topology);
}
END_TEST

/* Where all tests run in one process. */
static void forget_variables(void)
{
	unsetenv("HWLOC_XMLFILE");
	unsetenv("HWLOC_SYNTHETIC");
	unsetenv("HWLOC_THISSYSTEM");
}

int main(void)
{
	Suite *suite = suite_create("import_limits");
	TCase *tests = tcase_create("limits");

	tcase_set_timeout(tests, 300);
	tcase_add_checked_fixture(tests, forget_variables, forget_variables);
	tcase_add_test(tests, a_description_that_is_too_large_is_refused_with_its_number);
	tcase_add_test(tests, a_description_that_asks_for_too_much_otherwise_is_stopped);
	tcase_add_test(tests, what_is_tried_in_a_child_process_gives_the_same_tree);
	tcase_add_test(tests, a_tree_that_is_not_this_machine_s_tells_what_it_was_made_from);
	tcase_add_test(tests, a_variable_of_hwloc_s_that_replaces_this_machine_is_told);
	tcase_add_test(tests, a_description_in_a_variable_of_hwloc_s_has_the_same_limit);
	tcase_add_test(tests, a_variable_of_hwloc_s_that_has_no_effect_is_an_error);
	tcase_add_test(tests, what_is_printed_tells_that_the_tree_is_not_this_machine_s);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}
