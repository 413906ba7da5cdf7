/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports by region of counts that are mixed: a component's share is an estimate, and all shares
 * together were counted. */
#include "eventset/parts.h"
#include "region/node.h"
#include "region/paths.h"
#include "test_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As if the counters told only the sum. */
static void mix_all(void)
{
	const struct ps_path *path = regions.paths->root;

	for (; path; path = path->next_made) {
		for (struct ps__part *part = path->parts; part; part = part->next) {
			for (size_t event = 0; event < regions.paths->events; event++)
				part->values[event].attribution = PS_ATTRIBUTION_MIXED;
		}
	}
}

static void begin_solve(void)
{
	now_ns = 1000000 * US;
	fake_set_clock(now_ns, 0);
	fake_set_affinity("0-3");
	fake_set_cpu(0);
	regions_begin(EVENT, "task-clock", NULL);
	check_ok(ps_profile_join(regions.profile));
	check_ok(ps_region_enter(region("solve")));
}

static void run_mixed(void)
{
	begin_solve();
	work(0, 300, 750);
	work(2, 100, 250);
	check_ok(ps_region_leave(region("solve")));
	take_paths();
	mix_all();
}

/* As if migration records were lost on CPU 0: the counts of the path below are somewhere. */
static void run_with_inner_somewhere(void)
{
	begin_solve();
	work(2, 100, 250);
	work(0, 100, 5);
	check_ok(ps_region_enter(region("inner")));
	work(0, 300, 750);
	check_ok(ps_region_leave(region("inner")));
	check_ok(ps_region_leave(region("solve")));
	take_paths();
	struct ps_path *inner = regions.paths->root->child->child;
	ck_assert_ptr_null(inner->parts->next);
	inner->doubt |= PS__HAS_UNSPLIT;
	for (struct ps__part *part = inner->parts; part; part = part->next)
		part->values[0].attribution = PS_ATTRIBUTION_LAST_CPU;
}

static char *export_by(enum ps_format format, unsigned types)
{
	struct ps_paths_options options = options_with(PS_PATHS_RAW | PS_PATHS_NO_LEGEND);
	size_t bytes;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &bytes);

	options.metric_count = 1;
	options.types = types;
	check_ok(ps_paths_export(regions.paths, format, &options, stream));
	fclose(stream);
	return text;
}

static char *report_by(unsigned types)
{
	return export_by(PS_FORMAT_TEXT, types);
}

/* The text from this line on. */
static char *line_of(char *text, const char *begin)
{
	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, begin, strlen(begin)) == 0)
			return text;
	}
	ck_abort_msg("no line begins with '%s'", begin);
}

/* The words of the line, one space apart. */
static void check_line(char *text, const char *begin, const char *expected)
{
	char line[200] = "", *word, *rest = NULL;
	char *copy = strndup(line_of(text, begin), strcspn(line_of(text, begin), "\n"));

	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		strcat(line, *line ? " " : "");
		strcat(line, word);
	}
	ck_assert_str_eq(line, expected);
	free(copy);
}

START_TEST(the_share_of_a_hardware_thread_is_an_estimate)
{
	run_mixed();
	char *text = report_by(PS_TYPE_BIT(PS_COMPONENT_THREAD));
	check_line(text, "solve", "solve ~750 ~250 mixed");
	check_line(text, "total", "total ~750 ~250");
	check_line(strstr(text, "page-fault-rate"), "solve", "solve ~2500000.00 ~2500000.00");
	free(text);
	regions_end();
}
END_TEST

START_TEST(the_share_of_a_package_is_an_estimate_if_there_are_two)
{
	run_mixed();
	char *text = report_by(PS_TYPE_BIT(PS_COMPONENT_PACKAGE));
	ck_assert_ptr_nonnull(strchr(line_of(text, "total"), '~'));
	free(text);
	text = report_by(PS_TYPE_BIT(PS_COMPONENT_MACHINE));
	check_line(text, "solve", "solve 1000 mixed");
	ck_assert_ptr_null(strchr(text, '~'));
	free(text);
	regions_end();
}
END_TEST

/* The whole count of a region was counted. */
START_TEST(the_sum_of_all_shares_is_none)
{
	run_mixed();
	char *text = report_by(0);
	ck_assert_ptr_null(strchr(text, '~'));
	free(text);
	regions_end();
}
END_TEST

/* The CSV's attribution of a sum is that of ps_path_value. */
static void check_label(const char *csv, const struct ps_path *path, enum ps_share share, int cpu)
{
	struct ps_component *component =
	    ps_thread_component(ps_topology_thread(scene.topology, cpu));
	char begin[100], expected[200];
	struct ps_value value;

	check_ok(ps_path_value(path, component, EVENT, share, &value));
	snprintf(begin, sizeof begin, ",%s,Thread,%d,%d,Thread %d," EVENT ",%lld,count,counted,",
	         share == PS_SHARE_EXCLUSIVE ? "exclusive" : "inclusive", cpu, cpu, cpu,
	         value.value);
	snprintf(expected, sizeof expected, "%s%s,", begin, ps_attribution_name(value.attribution));
	ck_assert_msg(strstr(csv, expected) != NULL, "there is no %s", expected);
}

START_TEST(a_path_below_that_is_somewhere_leaves_no_inclusive_share_exact)
{
	struct ps_value value;

	run_with_inner_somewhere();
	const struct ps_path *solve = ps_path_child(ps_paths_root(regions.paths));
	char *csv = export_by(PS_FORMAT_CSV, PS_TYPE_BIT(PS_COMPONENT_THREAD));
	/* The inner path has no part on CPU 2, and may have counts there. */
	check_ok(ps_path_value(solve, ps_thread_component(ps_topology_thread(scene.topology, 2)),
	                       EVENT, PS_SHARE_INCLUSIVE, &value));
	ck_assert_int_eq(value.value, 250);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_LAST_CPU);
	char *rows = strstr(csv, "\r\nsolve,");
	ck_assert_ptr_nonnull(rows);
	for (int cpu = 0; cpu <= 2; cpu += 2) {
		check_label(rows, solve, PS_SHARE_INCLUSIVE, cpu);
		check_label(rows, solve, PS_SHARE_EXCLUSIVE, cpu);
		check_label(csv, ps_paths_root(regions.paths), PS_SHARE_INCLUSIVE, cpu);
	}
	free(csv);
	regions_end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report of mixed counts");
	TCase *tests = scene_case_instances(suite, "once");

	tcase_add_test(tests, the_share_of_a_hardware_thread_is_an_estimate);
	tcase_add_test(tests, the_share_of_a_package_is_an_estimate_if_there_are_two);
	tcase_add_test(tests, the_sum_of_all_shares_is_none);
	tcase_add_test(tests, a_path_below_that_is_somewhere_leaves_no_inclusive_share_exact);
	return scene_run(suite);
}
