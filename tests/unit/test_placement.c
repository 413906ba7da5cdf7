/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place's intended places: OMP_PLACES, GOMP_CPU_AFFINITY and OMP_PROC_BIND on synthetic
 * trees, and masks of tasks. */
#include "support/fixture.h"
#include "tools/placement.h"

#include <errno.h>
#include <stdint.h>

/* 16 hardware threads: 2 packages of a NUMA node with 2 last-level caches, 2 cores of 2 each. */
#define SERVER "pack:2 [numa] l3:2 core:2 pu:2"

static struct tool_cpus cpus_of(int from, int to)
{
	struct tool_cpus cpus = {0};

	for (int cpu = from; cpu <= to; cpu++)
		check_ok(tool_cpus_add(&cpus, cpu));
	return cpus;
}

static void check_shown(struct tool_places *places, const char *wanted)
{
	struct ps__buffer out = {0};

	tool_places_show(places, 10000, &out);
	ck_assert_str_eq(ps__buffer_text(&out), wanted);
	ps__buffer_clear(&out);
	tool_places_clear(places);
}

/* On SERVER, whose CPUs from..to the program may use. */
static int parse_on(struct tool_places *out, const char *text, int from, int to)
{
	struct ps_topology *topology = fixture_synthetic(SERVER);
	struct tool_cpus allowed = cpus_of(from, to);
	int result = tool_places_parse(out, text, ps_topology_root(topology), &allowed);

	tool_cpus_clear(&allowed);
	ps_topology_destroy(topology);
	return result;
}

static const struct {
	const char *text, *wanted;
} lists[] = {
    {"{0}", "{0}"},
    {"{0,1},{2,3}", "{0-1} {2-3}"},
    {" { 0 , 1 } , { 5 , 4 } ", "{0-1} {4-5}"},
    {"{0:4}", "{0-3}"},
    {"{0:4:2}", "{0,2,4,6}"},
    {"{6:4:-2}", "{0,2,4,6}"},
    {"{0:4:+1}", "{0-3}"},
    {"{0:3:0}", "{0}"},
    {"{0:2,8:2}", "{0-1,8-9}"},
    {"{0:2}:4:4", "{0-1} {4-5} {8-9} {12-13}"},
    {"{0:4:2}:2:8", "{0,2,4,6} {8,10,12,14}"},
    {"{12:2}:3:-6", "{12-13} {6-7} {0-1}"},
    {"{0}:3", "{0} {1} {2}"},
    {"3,1", "{3} {1}"},
    {"0:4:2", "{0} {2} {4} {6}"},
    {"{0:4,!2}", "{0-1,3}"},
    {"{!2,0:4}", "{0-1,3}"},
    {"{0:2}:4:2,!{2,3}", "{0-1} {4-5} {6-7}"},
    {"!{0},{0},{1}", "{1}"},
    {"{0},{0}", "{0} {0}"},
};

START_TEST(a_list_of_places_is_what_the_grammar_says)
{
	struct tool_places places;

	check_ok(parse_on(&places, lists[_i].text, 0, 15));
	ck_assert_uint_eq(places.refused.count, 0);
	check_shown(&places, lists[_i].wanted);
}
END_TEST

static const struct {
	const char *text, *wanted;
} names[] = {
    {"threads(3)", "{0} {1} {2}"},
    {"cores", "{0-1} {2-3} {4-5} {6-7} {8-9} {10-11} {12-13} {14-15}"},
    {"CORES", "{0-1} {2-3} {4-5} {6-7} {8-9} {10-11} {12-13} {14-15}"},
    {" cores ( 2 ) ", "{0-1} {2-3}"},
    {"cores(100)", "{0-1} {2-3} {4-5} {6-7} {8-9} {10-11} {12-13} {14-15}"},
    {"ll_caches", "{0-3} {4-7} {8-11} {12-15}"},
    {"numa_domains", "{0-7} {8-15}"},
    {"sockets", "{0-7} {8-15}"},
    {"sockets(1)", "{0-7}"},
};

START_TEST(an_abstract_name_divides_the_tree)
{
	struct tool_places places;

	check_ok(parse_on(&places, names[_i].text, 0, 15));
	check_shown(&places, names[_i].wanted);
}
END_TEST

START_TEST(cpus_that_are_not_allowed_are_left_out)
{
	struct tool_places places;

	check_ok(parse_on(&places, "cores", 3, 6));
	check_shown(&places, "{3} {4-5} {6}");
	check_ok(parse_on(&places, "cores(2)", 3, 6));
	check_shown(&places, "{3} {4-5}");
	check_ok(parse_on(&places, "{0:4},{9},{5}", 3, 6));
	ck_assert_uint_eq(places.refused.count, 4);
	ck_assert(tool_cpus_contain(&places.refused, 9));
	ck_assert(!tool_cpus_contain(&places.refused, 3));
	check_shown(&places, "{3} {5}");
}
END_TEST

static const struct {
	const char *text, *says;
} wrong[] = {
    {"", "at ''"},
    {",", "at ','"},
    {"core", "threads, cores, ll_caches"},
    {"cores(0)", "a number above 0 was expected at '0)'"},
    {"cores(-1)", "at '-1)'"},
    {"cores(2", "')' was expected"},
    {"cores,threads", "the end was expected at ',threads'"},
    {"{0", "',' or '}'"},
    {"{}", "a CPU was expected at '}'"},
    {"{0,}", "a CPU was expected at '}'"},
    {"{0},", "'{' or a CPU was expected at ''"},
    {"{0}{1}", "',' or the end was expected at '{1}'"},
    {"{0:0}", "a length above 0"},
    {"{0:x}", "at 'x}'"},
    {"{0:2:}", "a stride"},
    {"{0}:2:-1", "leads to -1"},
    {"{3:4:-2}", "leads to -1"},
    {"{99999999999}", "a CPU was expected at '99999999999}'"},
    {"{0:1000000}", "shorten"},
    {"{1000000:2:1000000}", "shorten"},
    {"{0:1000}:1000", "shorten"},
    {"!{0}:2", "',' or the end was expected at ':2'"},
    {"{!0:2}", "',' or '}' was expected at ':2}'"},
};

START_TEST(the_input_is_named_where_the_grammar_forbids_it)
{
	struct tool_places places = {.count = 77};

	check_fails(parse_on(&places, wrong[_i].text, 0, 15), PS_EINVAL);
	check_detail("OMP_PLACES='");
	check_detail(wrong[_i].text);
	check_detail(wrong[_i].says);
	ck_assert_uint_eq(places.count, 77);
}
END_TEST

START_TEST(a_tree_without_such_components_is_told)
{
	struct ps_topology *topology = fixture_synthetic("pu:4");
	struct tool_cpus allowed = cpus_of(0, 3);
	struct tool_places places;

	check_fails(tool_places_parse(&places, "ll_caches", ps_topology_root(topology), &allowed),
	            PS_ENOSUPP);
	check_detail("this machine's tree has no ll_caches");
	check_ok(tool_places_parse(&places, "threads", ps_topology_root(topology), &allowed));
	check_shown(&places, "{0} {1} {2} {3}");
	tool_cpus_clear(&allowed);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(many_hardware_threads_are_places_too)
{
	struct ps_topology *topology = fixture_synthetic("pack:4 [numa] l3:4 core:16 pu:2");
	struct tool_cpus allowed = cpus_of(0, 511);
	struct ps__buffer out = {0};
	struct tool_places places;

	check_ok(tool_places_parse(&places, "cores", ps_topology_root(topology), &allowed));
	ck_assert_uint_eq(places.count, 256);
	tool_places_show(&places, 40, &out);
	ck_assert_str_eq(ps__buffer_text(&out), "{0-1} {2-3} {4-5} {6-7} ... {510-511}");
	ps__buffer_clear(&out);
	tool_places_clear(&places);
	tool_cpus_clear(&allowed);
	ps_topology_destroy(topology);
}
END_TEST

static int parse_gomp(struct tool_places *out, const char *text)
{
	struct tool_cpus allowed = cpus_of(0, 15);
	int result = tool_places_parse_gomp(out, text, &allowed);

	tool_cpus_clear(&allowed);
	return result;
}

START_TEST(GOMP_CPU_AFFINITY_is_a_place_for_each_CPU)
{
	struct tool_places places;

	check_ok(parse_gomp(&places, "0 3 1-2 4-15:4"));
	check_shown(&places, "{0} {3} {1} {2} {4} {8} {12}");
	check_ok(parse_gomp(&places, "0,3 , 2-2"));
	check_shown(&places, "{0} {3} {2}");
	check_ok(parse_gomp(&places, " 14-17 "));
	ck_assert_uint_eq(places.refused.count, 2);
	check_shown(&places, "{14} {15}");
}
END_TEST

static const char *const wrong_gomp[] = {"",      " ",    "x",   "0-",     "3-1",
                                         "0-3:0", "0-3:", "0:2", "0,,1",   "0,",
                                         "-1",    "0x1",  "0;1", "0-3:1x", "99999999"};

START_TEST(a_wrong_GOMP_CPU_AFFINITY_is_named)
{
	struct tool_places places = {.count = 77};

	check_fails(parse_gomp(&places, wrong_gomp[_i]), PS_EINVAL);
	check_detail("GOMP_CPU_AFFINITY='");
	check_detail(wrong_gomp[_i]);
	ck_assert_uint_eq(places.count, 77);
}
END_TEST

START_TEST(too_many_CPUs_of_GOMP_CPU_AFFINITY_are_a_slip)
{
	struct tool_places places;

	check_fails(parse_gomp(&places, "0-1000000"), PS_EINVAL);
	check_detail("shorten");
}
END_TEST

static const struct {
	const char *text;
	int wanted; /* -1: PS_EINVAL */
} binds[] = {
    {"true", TOOL_BIND_TRUE},
    {"FALSE", TOOL_BIND_FALSE},
    {" close ", TOOL_BIND_CLOSE},
    {"master", TOOL_BIND_PRIMARY},
    {"primary,close", TOOL_BIND_PRIMARY},
    {"spread, close ,close", TOOL_BIND_SPREAD},
    {"", -1},
    {"yes", -1},
    {"true,close", -1},
    {"close,true", -1},
    {"close,", -1},
    {",close", -1},
    {"close spread", -1},
    {"clos", -1},
};

START_TEST(OMP_PROC_BIND_is_a_word_or_a_list)
{
	enum tool_bind bind = TOOL_BIND_CLOSE;

	if (binds[_i].wanted >= 0) {
		check_ok(tool_bind_parse(&bind, binds[_i].text));
		ck_assert_int_eq((int)bind, binds[_i].wanted);
		return;
	}
	check_fails(tool_bind_parse(&bind, binds[_i].text), PS_EINVAL);
	check_detail("OMP_PROC_BIND='");
	ck_assert_int_eq((int)bind, TOOL_BIND_CLOSE);
}
END_TEST

START_TEST(a_mask_is_read_and_compared_with_places)
{
	struct tool_cpus mask = {0};
	struct ps__buffer out = {0};
	struct tool_places places;

	fake_set_affinity("2-3,7");
	check_ok(tool_cpus_of_task(&mask, 0));
	tool_cpus_show(&mask, &out);
	ck_assert_str_eq(ps__buffer_text(&out), "2-3,7");
	check_ok(parse_on(&places, "{0},{7,3,2},{2}", 0, 15));
	ck_assert_uint_eq(tool_places_find(&places, &mask), 1);
	tool_cpus_remove(&mask, 3);
	tool_cpus_remove(&mask, 99);
	ck_assert_uint_eq(tool_places_find(&places, &mask), SIZE_MAX);
	tool_cpus_remove(&mask, 2);
	tool_cpus_remove(&mask, 7);
	ps__buffer_restart(&out);
	tool_cpus_show(&mask, &out);
	ck_assert_str_eq(ps__buffer_text(&out), "none");
	tool_places_clear(&places);
	tool_cpus_clear(&mask);
	ps__buffer_clear(&out);
}
END_TEST

START_TEST(the_mask_of_a_task_that_is_gone_is_not_known)
{
	struct tool_cpus mask = cpus_of(1, 1);

	fake_fail(FAKE_GETAFFINITY, 1, ESRCH);
	check_fails(tool_cpus_of_task(&mask, 4711), PS_ESYS);
	ck_assert(tool_cpus_contain(&mask, 1));
	tool_cpus_clear(&mask);
}
END_TEST

START_TEST(without_memory_nothing_is_left)
{
	struct ps_topology *topology = fixture_synthetic(SERVER);
	static const char *const texts[] = {"cores", "{0:4,!2}:3:4,!{4},5", "{0},{99}"};
	struct tool_cpus allowed = cpus_of(0, 15);

	for (size_t text = 0; text < sizeof texts / sizeof texts[0]; text++) {
		for (unsigned nth = 1;; nth++) {
			struct tool_places places;
			fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
			int result = tool_places_parse(&places, texts[text],
			                               ps_topology_root(topology), &allowed);
			bool happened = fake_fail_happened();
			fake_fail(FAKE_ALLOCATE, 0, 0);
			ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
			if (result == PS_OK)
				tool_places_clear(&places);
			if (!happened)
				break;
			ck_assert_uint_lt(nth, 100);
		}
	}
	tool_cpus_clear(&allowed);
	ps_topology_destroy(topology);
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

int main(void)
{
	Suite *suite = suite_create("placement");
	TCase *tests = scene_case(suite, "placement");

	tcase_add_loop_test(tests, a_list_of_places_is_what_the_grammar_says, 0, COUNT(lists));
	tcase_add_loop_test(tests, an_abstract_name_divides_the_tree, 0, COUNT(names));
	tcase_add_test(tests, cpus_that_are_not_allowed_are_left_out);
	tcase_add_loop_test(tests, the_input_is_named_where_the_grammar_forbids_it, 0,
	                    COUNT(wrong));
	tcase_add_test(tests, a_tree_without_such_components_is_told);
	tcase_add_test(tests, many_hardware_threads_are_places_too);
	tcase_add_test(tests, GOMP_CPU_AFFINITY_is_a_place_for_each_CPU);
	tcase_add_loop_test(tests, a_wrong_GOMP_CPU_AFFINITY_is_named, 0, COUNT(wrong_gomp));
	tcase_add_test(tests, too_many_CPUs_of_GOMP_CPU_AFFINITY_are_a_slip);
	tcase_add_loop_test(tests, OMP_PROC_BIND_is_a_word_or_a_list, 0, COUNT(binds));
	tcase_add_test(tests, a_mask_is_read_and_compared_with_places);
	tcase_add_test(tests, the_mask_of_a_task_that_is_gone_is_not_known);
	tcase_add_test(tests, without_memory_nothing_is_left);
	return scene_run(suite);
}
