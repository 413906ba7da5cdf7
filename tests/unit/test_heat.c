/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat maps: the colours that stock lstopo draws, read from its SVG, against the counts; on a
 * synthetic machine with two packages and on this one. And what is taken over from the file that a
 * topology came from.
 */
#include "eventset/eventset.h"
#include "output/colour.h"
#include "support/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void use_topology(struct ps_topology *topology)
{
	ps_topology_destroy(scene.topology);
	scene.topology = topology;
	scene.root = ps_topology_root(topology);
}

static void store(const struct ps_eventset *model, int cpu, const long long *counters)
{
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;

	fake_set_cpu(cpu);
	check_ok(ps_eventset_clone(&set, model));
	check_ok(ps_store(set, counters, (int)ps_eventset_event_count(set), scene.root, &timestamp,
	                  NULL));
	ps_eventset_destroy(set);
}

static char *heat_xml(const char *heat_by)
{
	struct ps_export_options options = {.size = sizeof options, .heat_by = heat_by};
	size_t bytes;
	char *xml;
	FILE *stream = open_memstream(&xml, &bytes);

	check_ok(ps_export_with(scene.root, PS_FORMAT_XML, &options, stream));
	fclose(stream);
	return xml;
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_msg(file && fputs(text, file) >= 0 && fclose(file) == 0, "%s can't be written",
	              path);
}

/* True if it could be started and ended with 0. */
static bool run_lstopo(const char *program, const char *xml, const char *svg)
{
	/* Its own SVG writer: Cairo's, which some lstopo take for .svg, gives no box a name. */
	const char *const arguments[] = {program, "--if",      "xml", "-i", xml, "--no-factorize",
	                                 "--of",  "nativesvg", "-f",  svg,  NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	int error = posix_spawnp(&pid, program, &actions, NULL, (char *const *)(uintptr_t)arguments,
	                         environ);
	posix_spawn_file_actions_destroy(&actions);
	while (error == 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return error == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The heat map as lstopo draws it; NULL, and a skip said, if there is no lstopo. */
static char *draw(const char *heat_by)
{
	char folder[] = "/tmp/perfsage-heat-XXXXXX", xml_path[64], svg_path[64];
	char *xml = heat_xml(heat_by), *svg = NULL;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(xml_path, sizeof xml_path, "%s/heat.xml", folder);
	snprintf(svg_path, sizeof svg_path, "%s/heat.svg", folder);
	write_file(xml_path, xml);
	if (run_lstopo("lstopo", xml_path, svg_path) ||
	    run_lstopo("lstopo-no-graphics", xml_path, svg_path))
		svg = fixture_read(svg_path, NULL);
	unlink(xml_path);
	unlink(svg_path);
	rmdir(folder);
	free(xml);
	return svg;
}

/* lstopo's name of a kind of box; NULL for those that are not looked at. */
static const char *class_of(const struct ps_component *component)
{
	static const char *const caches[] = {NULL, "L1d", "L2", "L3", "L4", "L5"};

	switch (ps_component_type(component)) {
	case PS_COMPONENT_MACHINE:
		return "Machine";
	case PS_COMPONENT_PACKAGE:
		return "Package";
	case PS_COMPONENT_NUMA:
		return "NUMANode";
	case PS_COMPONENT_CACHE:
		return caches[ps_component_cache_level(component)];
	case PS_COMPONENT_CORE:
		return "Core";
	case PS_COMPONENT_THREAD:
		return "PU";
	default:
		return NULL;
	}
}

/* The colour of a box or its text in the SVG: "#rrggbb". */
static const char *fill_of(const char *svg, const char *class, int index, const char *what)
{
	static char colour[8];
	char id[64];
	unsigned red, green, blue;

	snprintf(id, sizeof id, "id='%s_%d_%s'", class, index, what);
	const char *at = strstr(svg, id);
	ck_assert_msg(at != NULL, "%s was not drawn", id);
	at = strstr(at, "fill='rgb(");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(sscanf(at, "fill='rgb(%u,%u,%u)'", &red, &green, &blue), 3);
	snprintf(colour, sizeof colour, "#%02x%02x%02x", red & 255, green & 255, blue & 255);
	return colour;
}

static void check_colour(const char *svg, const char *class, int index, double fraction)
{
	char style[PS__STYLE_BYTES], drawn[PS__STYLE_BYTES];

	ps__colour_style(style, fraction);
	snprintf(drawn, sizeof drawn, "Background=%s;", fill_of(svg, class, index, "rect"));
	strcat(strcat(drawn, "Text="), fill_of(svg, class, index, "text"));
	ck_assert_msg(!strcmp(style, drawn), "%s %d is %s, not %s", class, index, drawn, style);
}

static void check_plain(const char *svg, const char *class, int index)
{
	ck_assert_str_eq(fill_of(svg, class, index, "text"), "#000000");
	ck_assert_msg(!strcmp(fill_of(svg, class, index, "rect"), "#ffffff") ||
	                  !strcmp(fill_of(svg, class, index, "rect"), "#bebebe") ||
	                  !strcmp(fill_of(svg, class, index, "rect"), "#d2e7a4"),
	              "%s %d has a colour: %s", class, index, fill_of(svg, class, index, "rect"));
}

START_TEST(lstopo_draws_two_packages_in_the_colours_of_their_counts)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	use_topology(fixture_synthetic("pack:2 [numa] l3:1 core:4 pu:1"));
	store(set, 0, (const long long[]){1000});
	store(set, 1, (const long long[]){250});
	store(set, 2, (const long long[]){0});
	store(set, 4, (const long long[]){625});
	char *svg = draw("page-faults");
	ps_eventset_destroy(set);
	if (!svg) {
		ps_test_skip("there is no lstopo here");
		return;
	}
	check_colour(svg, "PU", 0, 1);
	check_colour(svg, "PU", 1, 0.25);
	check_colour(svg, "PU", 2, 0);
	check_colour(svg, "Core", 1, 0.25);
	check_colour(svg, "PU", 4, 0.625);
	check_plain(svg, "PU", 3);
	check_plain(svg, "Core", 3);
	check_plain(svg, "PU", 7);
	check_colour(svg, "L3", 0, 1);
	check_colour(svg, "L3", 1, 0.5);
	check_colour(svg, "Package", 0, 1);
	check_colour(svg, "Package", 1, 0.5);
	check_colour(svg, "NUMANode", 1, 0.5);
	check_colour(svg, "Machine", 0, 1);
	for (int quarter = 0; quarter <= 4; quarter++)
		check_colour(svg, "Misc", quarter, quarter / 4.0);
	ck_assert_ptr_nonnull(
	    strstr(svg, "perfsage: page-faults: violet is 0, yellow the largest of its kind"));
	ck_assert_ptr_nonnull(strstr(
	    svg, "Machine 1875  Package 1250  NUMA node 1250  L3 1250  Core 1000  Thread 1000"));
	free(svg);
}
END_TEST

START_TEST(a_metric_has_one_scale_for_all)
{
	struct ps_eventset *set;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "cycles", NULL);
	store(set, 0, (const long long[]){400, 200});
	store(set, 1, (const long long[]){100, 200});
	store(set, 2, (const long long[]){0, 0});
	char *svg = draw("ipc");
	ps_eventset_destroy(set);
	if (!svg) {
		ps_test_skip("there is no lstopo here");
		return;
	}
	check_colour(svg, "PU", 0, 1);
	check_colour(svg, "PU", 1, 0.25);
	check_plain(svg, "PU", 2);
	check_colour(svg, "Package", 0, 0.625);
	check_colour(svg, "Machine", 0, 0.625);
	ck_assert_ptr_nonnull(
	    strstr(svg, "perfsage: IPC: violet is 0, yellow the largest; without"));
	ck_assert_ptr_nonnull(strstr(svg, "largest 2 instructions/cycle"));
	free(svg);
}
END_TEST

struct check {
	const char *svg;
	long long largest[PS_COMPONENT_THREAD + 1][6];
};

static int find_largest(struct ps_component *component, void *context)
{
	struct check *check = context;
	long long *largest =
	    &check->largest[ps_component_type(component)][ps_component_cache_level(component)];
	struct ps_value value;

	if (ps_component_total(component, "page-faults", &value) == PS_OK && value.value > *largest)
		*largest = value.value;
	return 0;
}

static int check_component(struct ps_component *component, void *context)
{
	struct check *check = context;
	const char *class = class_of(component);
	struct ps_value value;

	if (!class || ps_component_total(component, "page-faults", &value) != PS_OK)
		return 0;
	check_colour(check->svg, class, ps_component_logical_id(component),
	             (double)value.value / (double)check->largest[ps_component_type(
					       component)][ps_component_cache_level(component)]);
	return 0;
}

START_TEST(lstopo_draws_this_machine_in_the_colours_of_its_counts)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	struct check check = {0};
	struct ps_topology *topology = NULL;

	check_ok(ps_topology_load(&topology, NULL));
	use_topology(topology);
	for (size_t i = 0; i < ps_component_thread_count(scene.root); i++)
		store(set, ps_thread_cpu(ps_component_thread_at(scene.root, i)),
		      (const long long[]){(long long)(100 * i + 70)});
	char *svg = draw(NULL);
	ps_eventset_destroy(set);
	if (!svg) {
		ps_test_skip("there is no lstopo here");
		return;
	}
	check.svg = svg;
	ps_component_for_each(scene.root, find_largest, &check);
	ck_assert_int_gt(check.largest[PS_COMPONENT_THREAD][0], 0);
	ps_component_for_each(scene.root, check_component, &check);
	free(svg);
}
END_TEST

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		count++;
	return count;
}

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
	use_topology(topology);
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

int main(void)
{
	Suite *suite = suite_create("heat");
	TCase *tests = scene_case(suite, "heat");

	tcase_add_test(tests, lstopo_draws_two_packages_in_the_colours_of_their_counts);
	tcase_add_test(tests, a_metric_has_one_scale_for_all);
	tcase_add_test(tests, lstopo_draws_this_machine_in_the_colours_of_its_counts);
	tcase_add_test(tests, an_earlier_heat_map_leaves_nothing_behind);
	tcase_add_test(tests, the_users_own_style_stays_where_nothing_was_counted);
	tcase_add_test(tests, without_counts_nothing_has_a_colour);
	tcase_add_test(tests, what_is_not_known_has_a_remark_and_no_colour);
	tcase_add_test(tests, estimates_of_parts_have_their_sign_and_the_total_has_none);
	tcase_add_test(tests, part_of_the_machine_and_unknown_cpus);
	return scene_run(suite);
}
