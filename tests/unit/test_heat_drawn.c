/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps: the colours that stock lstopo draws, read from its SVG, against the counts; on a
 * synthetic machine with two packages and on this one. */
#include "test_heat.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

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
	count_in_two_packages();
	char *svg = draw("page-faults");
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

START_TEST(lstopo_draws_a_metric_on_one_scale)
{
	count_instructions_and_cycles();
	char *svg = draw("ipc");
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
	scene_use(topology);
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

int main(void)
{
	Suite *suite = suite_create("heat_drawn");
	TCase *tests = scene_case(suite, "heat_drawn");

	tcase_add_test(tests, lstopo_draws_two_packages_in_the_colours_of_their_counts);
	tcase_add_test(tests, lstopo_draws_a_metric_on_one_scale);
	tcase_add_test(tests, lstopo_draws_this_machine_in_the_colours_of_its_counts);
	return scene_run(suite);
}
