/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps: the colours in the XML against the counts, on synthetic machines; and what is taken
 * over from the file that a topology came from. test_heat_drawn.c has what lstopo draws. */
#include "test_heat.h"

#include "eventset/eventset.h"
#include "support/golden.h"

/* The style of the object with this index among those of its type; NULL if it has none. */
static const char *style_in(const char *xml, const char *type, int index)
{
	static char style[PS__STYLE_BYTES];
	static const char head[] = "name=\"lstopoStyle\" value=\"";
	char what[32];
	const char *at = xml;

	snprintf(what, sizeof what, "<object type=\"%s\"", type);
	for (int i = 0; i <= index; i++) {
		at = strstr(i ? at + 1 : at, what);
		ck_assert_msg(at != NULL, "there is no %s %d", type, i);
	}
	const char *end = strstr(at + 1, "<object");
	at = strstr(at, head);
	if (!at || (end && at > end))
		return NULL;
	at += strlen(head);
	snprintf(style, sizeof style, "%.*s", (int)strcspn(at, "\""), at);
	return style;
}

static void check_style(const char *xml, const char *type, int index, double fraction)
{
	char style[PS__STYLE_BYTES];
	const char *written = style_in(xml, type, index);

	ps__colour_style(style, fraction);
	ck_assert_msg(written && !strcmp(style, written), "%s %d has the style %s, not %s", type,
	              index, written ? written : "of no count", style);
}

START_TEST(the_style_of_a_component_is_its_share_of_the_largest_of_its_kind)
{
	count_in_two_packages();
	char *xml = heat_xml("page-faults");
	check_style(xml, "PU", 0, 1);
	check_style(xml, "PU", 1, 0.25);
	check_style(xml, "PU", 2, 0);
	check_style(xml, "PU", 4, 0.625);
	check_style(xml, "Core", 1, 0.25);
	ck_assert_ptr_null(style_in(xml, "PU", 3));
	ck_assert_ptr_null(style_in(xml, "Core", 3));
	check_style(xml, "L3Cache", 0, 1);
	check_style(xml, "L3Cache", 1, 0.5);
	check_style(xml, "Package", 0, 1);
	check_style(xml, "Package", 1, 0.5);
	check_style(xml, "NUMANode", 1, 0.5);
	check_style(xml, "Machine", 0, 1);
	for (int quarter = 0; quarter <= 4; quarter++)
		check_style(xml, "Misc", quarter, quarter / 4.0);
	free(xml);
}
END_TEST

START_TEST(the_styles_of_a_metric_have_one_scale_for_all)
{
	count_instructions_and_cycles();
	char *xml = heat_xml("ipc");
	check_style(xml, "PU", 0, 1);
	check_style(xml, "PU", 1, 0.25);
	ck_assert_ptr_null(style_in(xml, "PU", 2));
	check_style(xml, "Package", 0, 0.625);
	check_style(xml, "Machine", 0, 0.625);
	free(xml);
}
END_TEST

/* Writes an XML text to a file and makes it the scene's topology. */
static void load_text(const char *text)
{
	char path[] = "/tmp/perfsage-heat-XXXXXX";
	struct ps_topology *topology = NULL;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	write_file(path, text);
	check_ok(ps_topology_load_xml(&topology, path));
	unlink(path);
	scene_use(topology);
}

START_TEST(an_earlier_heat_map_leaves_nothing_behind)
{
	struct ps_eventset *set = scene_set("page-faults", NULL),
			   *other = scene_set("minor-faults", NULL);

	store(set, 0, (const long long[]){77});
	char *first = heat_xml(NULL);
	load_text(first);
	store(other, 3, (const long long[]){5});
	char *second = heat_xml(NULL);
	ck_assert_uint_eq(count_of(first, "perfsage:page-faults"), 5);
	ck_assert_uint_eq(count_of(second, "perfsage:page-faults"), 0);
	ck_assert_uint_eq(count_of(second, "perfsage:minor-faults"), 5);
	ck_assert_uint_eq(count_of(second, "lstopoStyle"), count_of(first, "lstopoStyle"));
	ck_assert_uint_eq(count_of(second, "lstopoLegend"), count_of(first, "lstopoLegend"));
	ck_assert_uint_eq(count_of(second, "type=\"Misc\""), 5);
	free(first);
	free(second);
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

/* In place, as both have the same length. */
static void rename_all(char *text, const char *from, const char *to)
{
	for (char *at = text; (at = strstr(at, from));)
		memcpy(at, to, strlen(to));
}

START_TEST(the_users_own_style_stays_where_nothing_was_counted)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	store(set, 0, (const long long[]){77});
	char *first = heat_xml(NULL);
	rename_all(first, "perfsage:", "usersown:");
	load_text(first);
	store(set, 3, (const long long[]){5});
	char *second = heat_xml(NULL);
	/* Machine and NUMA node are drawn over; Package 0, Core 0 and Thread 0 stay; three are new;
	 * five in the key. */
	ck_assert_uint_eq(count_of(second, "\"lstopoStyle\""), 2 + 3 + 3 + 5);
	ck_assert_uint_eq(count_of(second, "usersown:page-faults"), 5);
	free(first);
	free(second);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(without_counts_nothing_has_a_colour)
{
	char *xml = heat_xml(NULL);

	ck_assert_uint_eq(count_of(xml, "lstopoStyle"), 0);
	ck_assert_ptr_nonnull(strstr(xml, "perfsage: nothing has been counted here"));
	ck_assert_ptr_nonnull(strstr(xml, "<topology"));
	free(xml);
}
END_TEST

START_TEST(what_is_not_known_has_a_remark_and_no_colour)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", NULL);
	fake_set_affinity("1");
	fake_set_cpu(1);
	check_ok(ps_start(set));
	fake_run(1000, 0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	char *xml = heat_xml("instructions");
	ck_assert_uint_eq(count_of(xml, "never scheduled (pinned)"), 5);
	ck_assert_uint_eq(count_of(xml, "lstopoStyle"), 0);
	ck_assert_ptr_nonnull(strstr(xml, "perfsage: instructions is not known anywhere"));
	free(xml);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(estimates_of_parts_have_their_sign_and_the_total_has_none)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	set->attribution.cannot_split = true;
	fake_set_clock(1000000000, 0);
	check_ok(ps_start(set));
	fake_set_clock(1000000300, 0);
	fake_set_cpu(2);
	fake_set_clock(1000001000, 0);
	fake_advance(PAGE_FAULTS, 10);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	char *xml = heat_xml(NULL);
	ck_assert_uint_eq(count_of(xml, "\"~3 (mixed)"), 3);
	ck_assert_uint_eq(count_of(xml, "\"~7 (mixed)"), 3);
	ck_assert_uint_eq(count_of(xml, "\"10 (mixed)"), 2); /* Machine, and its memory */
	free(xml);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(part_of_the_machine_and_unknown_cpus)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct ps_component *whole = scene.root;

	store(set, 0, (const long long[]){10});
	store(set, 3, (const long long[]){20});
	store(set, 77, (const long long[]){40});
	char *xml = heat_xml(NULL);
	ck_assert_ptr_nonnull(strstr(xml, "on CPUs that the tree does not know 40"));
	ck_assert_ptr_nonnull(
	    strstr(xml, "Machine 70  Package 20  NUMA node 30  Core 20  Thread 20"));
	free(xml);
	scene.root = ps_component_find(whole, PS_COMPONENT_PACKAGE, 0);
	xml = heat_xml(NULL);
	ck_assert_uint_eq(count_of(xml, "perfsage:page-faults"), 3);
	ck_assert_ptr_null(strstr(xml, "\"20 ("));
	free(xml);
	scene.root = whole;
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(last_cpu_counts_colour_only_the_machine)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct ps_component *whole = scene.root;

	store_as(set, 1, (const long long[]){10}, false);
	char *xml = heat_xml(NULL);
	check_style(xml, "Machine", 0, 1);
	ck_assert_ptr_null(style_in(xml, "Package", 0));
	ck_assert_ptr_null(style_in(xml, "PU", 1));
	ck_assert_ptr_nonnull(strstr(xml, "\"10 (last-cpu)"));
	ck_assert_ptr_nonnull(strstr(xml, "not counted, or last-cpu (the task may have moved)"));
	ck_assert_ptr_nonnull(strstr(xml, "perfsage: Machine 10\""));
	free(xml);
	scene.root = ps_component_find(whole, PS_COMPONENT_PACKAGE, 0);
	xml = heat_xml(NULL);
	ck_assert_uint_eq(count_of(xml, "lstopoStyle"), 0);
	ck_assert_ptr_nonnull(strstr(xml, "page-faults is last-cpu (the task may have moved), so"));
	free(xml);
	scene.root = whole;
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_metric_of_last_cpu_counts_colours_only_the_machine)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cycles", NULL);
	store_as(set, 0, (const long long[]){400, 200}, false);
	char *xml = heat_xml("ipc");
	check_style(xml, "Machine", 0, 1);
	ck_assert_ptr_null(style_in(xml, "PU", 0));
	free(xml);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("heat");
	TCase *tests = scene_case(suite, "heat");

	tcase_add_test(tests, the_style_of_a_component_is_its_share_of_the_largest_of_its_kind);
	tcase_add_test(tests, the_styles_of_a_metric_have_one_scale_for_all);
	tcase_add_test(tests, an_earlier_heat_map_leaves_nothing_behind);
	tcase_add_test(tests, the_users_own_style_stays_where_nothing_was_counted);
	tcase_add_test(tests, without_counts_nothing_has_a_colour);
	tcase_add_test(tests, what_is_not_known_has_a_remark_and_no_colour);
	tcase_add_test(tests, estimates_of_parts_have_their_sign_and_the_total_has_none);
	tcase_add_test(tests, part_of_the_machine_and_unknown_cpus);
	tcase_add_test(tests, last_cpu_counts_colour_only_the_machine);
	tcase_add_test(tests, a_metric_of_last_cpu_counts_colours_only_the_machine);
	return scene_run(suite);
}
