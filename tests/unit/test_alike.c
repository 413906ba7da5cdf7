/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The printed tree without counts, on machines of 2 to 512 hardware threads and screens of 60 to
 * 200 columns, against golden files topo_*.txt: components that are alike share a line, it fits on
 * a small terminal, no component is lost, and what is irregular stands alone.
 */
#include "support/fixture.h"
#include "support/golden.h"
#include "support/machines.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <stdlib.h>
#include <unistd.h>

#define SMALL_TERMINAL 22 /* lines, without those of the command and the prompt */

static const struct {
	const char *file, *description;
	int cpus;
} trees[] = {
    {"topo_2.txt", "pack:1 [numa] l2:2 l1d:1 core:1 pu:1", 2},
    {"topo_16.txt", "pack:1 [numa] l3:2 l2:4 l1d:1 core:1 pu:2", 16},
    {"topo_256.txt", "pack:2 [numa] l3:8 l2:8 l1d:1 core:1 pu:2", 256},
    {"topo_512.txt", "pack:2 [numa] l3:16 l2:8 l1d:1 core:1 pu:2", 512},
    {"topo_dies.txt", "pack:4 die:2 [numa] [numa] l3:2 l2:4 l1d:1 core:1 pu:4", 256},
    {"topo_nodes.txt", "pack:8 numa:4 l3:4 core:4 pu:1", 512},
    /* Linux numbers the first hardware threads of all cores first. */
    {"topo_siblings.txt", "pack:2 [numa] l3:2 l2:16 l1d:1 core:1 pu:2(indexes=2*64:1*2)", 128},
    {"topo_alternating.txt", "pack:2 [numa] l3:2 l2:16 l1d:1 core:1 pu:2(indexes=64*2:1*64)", 128},
};
#define TREES ((int)(sizeof trees / sizeof trees[0]))

static char *printed(struct ps_component *root, unsigned flags, size_t width)
{
	struct ps_print_options options = {
	    .size = sizeof options, .flags = flags | PS_PRINT_NO_LEGEND, .width = width};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_print_with(root, &options, stream));
	fclose(stream);
	return text;
}

/* The longest line; a character of a branch has three bytes and takes one column. */
static size_t columns_of(const char *text)
{
	size_t columns = 0, most = 0;

	for (; *text; text++) {
		columns = *text == '\n' ? 0 : columns + ((*text & 0xc0) != 0x80);
		most = columns > most ? columns : most;
	}
	return most;
}

static void add_printed(FILE *stream, unsigned flags, size_t width)
{
	char *text = printed(scene.root, flags, width);

	fprintf(stream, "%zu columns:\n%s\n", width, text);
	free(text);
}

START_TEST(a_machine_of_any_size_fits_on_a_small_terminal)
{
	if (trees[_i].cpus > ps_test_serial_size(512, 128))
		return;
	FILE *stream = golden_open();
	scene_use(fixture_synthetic(trees[_i].description));
	for (size_t i = 0; i < WIDTHS; i++) {
		char *text = printed(scene.root, PS_PRINT_UTF8, machine_widths[i]);
		ck_assert_uint_le(count_of(text, "\n"), SMALL_TERMINAL);
		ck_assert_uint_le(columns_of(text), machine_widths[i]);
		free(text);
		add_printed(stream, PS_PRINT_UTF8, machine_widths[i]);
	}
	golden_check_file(stream, trees[_i].file);
}
END_TEST

/* Adds the numbers of a list like "0-3,8,16-30:2" to a set. */
static void mark_list(const char *list, char *seen, int limit)
{
	char *at = (char *)(uintptr_t)list;

	do {
		long first = strtol(at, &at, 10), last = first, step = 1;
		if (*at == '-')
			last = strtol(at + 1, &at, 10);
		if (*at == ':')
			step = strtol(at + 1, &at, 10);
		ck_assert_int_ge(step, 1);
		for (long cpu = first; cpu <= last; cpu += step) {
			ck_assert_int_lt(cpu, limit);
			ck_assert_int_eq(seen[cpu]++, 0);
		}
	} while (*at++ == ',');
}

START_TEST(each_CPU_is_in_one_line)
{
	char seen[512] = {0};

	scene_use(fixture_synthetic(trees[_i].description));
	char *text = printed(scene.root, 0, 0);
	for (const char *at = strchr(text, '\n'); (at = strstr(at, "CPU")); at++)
		mark_list(at + strcspn(at, "0123456789"), seen, trees[_i].cpus);
	for (int cpu = 0; cpu < trees[_i].cpus; cpu++)
		ck_assert_int_eq(seen[cpu], 1);
	free(text);
}
END_TEST

START_TEST(each_component_has_a_line_on_request)
{
	scene_use(fixture_synthetic(trees[2].description));
	char *text = printed(scene.root, PS_PRINT_EACH, 80);
	ck_assert_uint_eq(count_of(text, "\n"), 1 + 2 + 2 + 16 + 3 * 128 + 256);
	ck_assert_uint_eq(count_of(text, " + "), 0);
	ck_assert_uint_eq(count_of(text, "each"), 0);
	ck_assert_uint_eq(count_of(text, "CPU "), 256);
	free(text);
}
END_TEST

static void xml_open(FILE *xml, const char *type, int id, uint64_t cpus, const char *more)
{
	static int object;

	fprintf(xml,
	        "<object type=\"%s\" os_index=\"%d\" cpuset=\"0x%08x,0x%08x\" "
	        "complete_cpuset=\"0x%08x,0x%08x\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
	        "gp_index=\"%d\"%s>\n",
	        type, id, (unsigned)(cpus >> 32), (unsigned)cpus, (unsigned)(cpus >> 32),
	        (unsigned)cpus, ++object, more);
}

static void xml_open_cache(FILE *xml, int level, int id, uint64_t cpus, int size_kib)
{
	char type[16], more[128];

	snprintf(type, sizeof type, "L%dCache", level);
	snprintf(more, sizeof more,
	         " cache_size=\"%d\" depth=\"%d\" cache_linesize=\"64\" "
	         "cache_associativity=\"8\" cache_type=\"0\"",
	         size_kib * 1024, level);
	xml_open(xml, type, id, cpus, more);
}

/* Cores 4, 5 and 6: one hardware thread only. Core 9: half the L2. Core 20: not allowed. Cores 26
 * and 27 share an L2. */
static void xml_add_core(FILE *xml, int core)
{
	uint64_t cpus = UINT64_C(3) << 2 * core;
	bool is_single = core >= 4 && core <= 6;

	if (is_single)
		cpus &= cpus - 1;
	if (core != 27)
		xml_open_cache(xml, 2, core, core == 26 ? UINT64_C(0xf) << 52 : cpus,
		               core == 9 ? 512 : 1024);
	xml_open(xml, "Core", core, cpus, "");
	for (int cpu = 2 * core + is_single; cpu < 2 * core + 2; cpu++) {
		xml_open(xml, "PU", cpu, UINT64_C(1) << cpu, "");
		fputs("</object>\n", xml);
	}
	fputs(core == 26 ? "</object>\n" : "</object>\n</object>\n", xml);
}

static struct ps_topology *load_irregular(void)
{
	const uint64_t missing = UINT64_C(0x1500);
	char path[] = "/tmp/test_alike.XXXXXX";
	struct ps_topology *topology = NULL;
	int fd = mkstemp(path);
	FILE *xml = fdopen(fd, "w");

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">\n",
	      xml);
	xml_open(xml, "Machine", 0, ~missing,
	         " allowed_cpuset=\"0xfffffcff,0xffffeaff\" allowed_nodeset=\"0x1\"");
	xml_open(xml, "NUMANode", 0, ~missing, " local_memory=\"17179869184\"");
	fputs("</object>\n", xml);
	for (int core = 0; core < 32; core++) {
		if (core % 8 == 0)
			xml_open_cache(xml, 3, core / 8, (UINT64_C(0xffff) << 2 * core) & ~missing,
			               32768);
		xml_add_core(xml, core);
		if (core % 8 == 7)
			fputs("</object>\n", xml);
	}
	fputs("</object>\n</topology>\n", xml);
	ck_assert_int_eq(fclose(xml), 0);
	check_ok(ps_topology_load_xml(&topology, path));
	unlink(path);
	return topology;
}

START_TEST(what_is_irregular_stands_alone)
{
	FILE *stream = golden_open();

	scene_use(load_irregular());
	for (size_t i = 0; i < WIDTHS; i++)
		add_printed(stream, PS_PRINT_UTF8, machine_widths[i]);
	golden_check_file(stream, "topo_irregular.txt");
}
END_TEST

START_TEST(any_component_may_come_first)
{
	scene_use(fixture_synthetic(trees[3].description));
	char *text =
	    printed(ps_component_find_logical(scene.root, PS_COMPONENT_PACKAGE, 0, 1), 0, 80);
	ck_assert_ptr_eq(strstr(text, "Package 1: 1 NUMA node, 16 L3, 128 L2, 128 L1, 128 Cores, "),
	                 text);
	ck_assert_ptr_nonnull(strstr(text, "\n  NUMA node 1"));
	ck_assert_ptr_nonnull(strstr(text, "CPUs 256-511\n"));
	free(text);
	text = printed(ps_component_find(scene.root, PS_COMPONENT_THREAD, 7), 0, 80);
	ck_assert_str_eq(text, "CPU 7\n");
	free(text);
}
END_TEST

START_TEST(chosen_types_are_folded_too)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .flags = PS_PRINT_NO_LEGEND,
	                                   .types = PS_TYPE_BIT(PS_COMPONENT_CACHE) |
	                                            PS_TYPE_BIT(PS_COMPONENT_NUMA),
	                                   .cache_level = 3};
	FILE *stream = golden_open();

	scene_use(fixture_synthetic(trees[3].description));
	check_ok(ps_print_with(scene.root, &options, stream));
	golden_check(stream, "topo_types");
}
END_TEST

static void keep_digits(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text >= '0' && *text <= '9')
			*to++ = *text;
	}
	*to = '\0';
}

/* Package 1 has the CPUs in whose numbers an odd count of bits is set: no list of them is short. */
START_TEST(a_list_that_has_no_room_goes_on_below)
{
	char description[1024] = "pack:2 core:64 pu:1(indexes=", seen[128] = {0};
	size_t length = strlen(description), columns = 40;

	for (int i = 0; i < 256; i++) {
		if (__builtin_parity((unsigned)i % 128) != i / 128)
			continue;
		length += (size_t)snprintf(description + length, sizeof description - length,
		                           i ? ",%d" : "%d", i % 128);
	}
	strcat(description, ")");
	scene_use(fixture_synthetic(description));
	char *text = printed(scene.root, PS_PRINT_UTF8, columns);
	ck_assert_uint_le(columns_of(text), columns);
	for (const char *at = text; (at = strstr(at, " CPU")); at++)
		ck_assert_int_eq(at[4], 's');
	char *whole = printed(scene.root, 0, 0);
	for (const char *at = strchr(whole, '\n'); (at = strstr(at, "CPUs ")); at++)
		mark_list(at + 5, seen, 128);
	ck_assert_ptr_null(memchr(seen, 0, sizeof seen));
	keep_digits(whole);
	keep_digits(text);
	ck_assert_str_eq(text, whole);
	free(whole);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("alike");
	TCase *tests = scene_case_last_cpu(suite, "alike");

	tcase_add_loop_test(tests, a_machine_of_any_size_fits_on_a_small_terminal, 0, TREES);
	tcase_add_loop_test(tests, each_CPU_is_in_one_line, 0, TREES);
	tcase_add_test(tests, each_component_has_a_line_on_request);
	tcase_add_test(tests, what_is_irregular_stands_alone);
	tcase_add_test(tests, any_component_may_come_first);
	tcase_add_test(tests, chosen_types_are_folded_too);
	tcase_add_test(tests, a_list_that_has_no_room_goes_on_below);
	return scene_run(suite);
}
