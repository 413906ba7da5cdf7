/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which components share a line of the printed tree, on machines of 2 to 512 hardware threads and
 * screens of 60 to 200 columns, against golden files: lines_THREADS_PATTERN_WIDTH.txt. Whatever is
 * folded, no hardware thread is lost.
 */
#include "support/fixture.h"
#include "support/golden.h"
#include "support/machines.h"
#include "support/unmarked.h"

#include <stdlib.h>

#define EVENTS 4

static struct ps_eventset *model;

static void use_tree(const char *tree, int cpus)
{
	machine_load(tree, cpus);
	model = scene_set("task-clock", "page-faults", "cycles", "instructions", NULL);
}

static void use_machine(int machine)
{
	use_tree(machines[machine].tree, machines[machine].cpus);
}

static void store(int cpu, const long long *counters)
{
	struct ps_eventset *set = NULL;
	uint64_t timestamp = 0;

	check_ok(ps_eventset_clone(&set, model));
	fake_set_cpu(cpu);
	check_ok(ps_store(set, counters, EVENTS, scene.root, &timestamp, NULL));
	ps_eventset_destroy(set);
}

/* Counts that differ by up to 15 % between CPUs, times a factor. */
static void store_about(int cpu, long long factor)
{
	long long part = 100 + cpu * 7 % 16;

	store(cpu, (const long long[]){factor * part * 10000, factor * part / 10,
	                               factor * part * 30000, factor * part * 40000});
}

static char *printed(unsigned flags, size_t width)
{
	struct ps_print_options options = {.size = sizeof options, .flags = flags, .width = width};
	static const char *const metrics[] = {"IPC"};
	size_t bytes;
	char *text = NULL;

	options.metrics = metrics;
	options.metric_count = 1;
	FILE *stream = open_memstream(&text, &bytes);
	check_ok(ps_print_with(scene.root, &options, stream));
	fclose(stream);
	return text;
}

/* How many hardware threads the lines have: "CPU 3", or "24 CPUs ..., each". */
static size_t cpus_of(const char *text)
{
	size_t cpus = count_of(text, "CPU ");

	for (const char *at = text; (at = strstr(at, " CPUs")); at++) {
		const char *digits = at;
		while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
			digits--;
		cpus += strtoul(digits, NULL, 10);
	}
	return cpus;
}

static void check_golden(int size, const char *pattern, size_t width)
{
	char file[64], *text = printed(PS_PRINT_UTF8, width);
	FILE *stream = golden_open();

	snprintf(file, sizeof file, "lines_%d_%s_%zu.txt", size, pattern, width);
	fputs(text, stream);
	golden_check_file(stream, file);
	free(text);
}

START_TEST(a_program_on_one_cpu_takes_few_lines_on_any_machine)
{
	use_machine(_i / WIDTHS);
	store_about(machines[_i / WIDTHS].cpus - 1, 1);
	char *text = printed(PS_PRINT_NO_LEGEND, machine_widths[_i % WIDTHS]);
	ck_assert_uint_le(count_of(text, "\n"), 10);
	ck_assert_uint_eq(cpus_of(text), 1);
	free(text);
	check_golden(machines[_i / WIDTHS].cpus, "one", machine_widths[_i % WIDTHS]);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(a_program_on_all_cpus_fits_on_two_screens)
{
	int size = machines[_i / WIDTHS].cpus;

	use_machine(_i / WIDTHS);
	for (int cpu = 0; cpu < size; cpu++)
		store_about(cpu, 1);
	char *text = printed(PS_PRINT_NO_LEGEND, machine_widths[_i % WIDTHS]);
	ck_assert_uint_le(count_of(text, "\n"), 48);
	ck_assert_int_eq((int)cpus_of(text), size);
	ck_assert_int_eq(strstr(text, "each") != NULL, size > 16);
	free(text);
	check_golden(size, "all", machine_widths[_i % WIDTHS]);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(what_is_unlike_stands_alone)
{
	use_machine(2);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++)
		store_about(cpu, cpu == 77 ? 10 : cpu == 200 ? 0 : 1);
	char *text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_ptr_nonnull(strstr(text, "CPU 77 "));
	ck_assert_ptr_nonnull(strstr(text, "CPU 200 "));
	ck_assert_uint_eq(count_of(text, "CPU "), 2);
	ck_assert_int_eq((int)cpus_of(text), machines[2].cpus);
	free(text);
	check_golden(machines[2].cpus, "unlike", 80);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(two_kinds_of_cpu_have_a_line_each)
{
	use_machine(2);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++)
		store_about(cpu, cpu % 2 ? 5 : 1);
	char *text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_uint_eq(count_of(text, ", each"), 4);
	ck_assert_int_eq((int)cpus_of(text), machines[2].cpus);
	free(text);
	check_golden(machines[2].cpus, "kinds", 80);
	ps_eventset_destroy(model);
}
END_TEST

/* Then the lines are true ranges, but wide ones. */
START_TEST(counts_of_all_sizes_still_fit)
{
	use_machine(3);
	for (int cpu = 0; cpu < machines[3].cpus; cpu++)
		store_about(cpu, 1 + (long long)cpu * cpu * 7919 % 100003);
	char *text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_uint_le(count_of(text, "\n"), 48);
	ck_assert_int_eq((int)cpus_of(text), machines[3].cpus);
	free(text);
	check_golden(machines[3].cpus, "wild", 100);
	ps_eventset_destroy(model);
}
END_TEST

/* Where the lines are still too many, all counts of a package share one. A CPU without cycles has
 * no ratio. */
START_TEST(a_shared_line_has_the_range_of_the_ratios_that_there_are)
{
	use_tree("pack:16 core:16 pu:1", 256);
	for (int cpu = 0; cpu < 256; cpu++) {
		long long pages = 1 + (long long)cpu * cpu * 7919 % 100003;
		long long cycles = cpu % 16 % 3 == 1 ? 0 : pages * 100;
		long long more = cpu % 16 == 0 ? 0 : cycles / 10;
		store(cpu, (const long long[]){1000, pages, cycles, cycles + more});
	}
	char *text = printed(PS_PRINT_NO_LEGEND, 100);
	ck_assert_uint_eq(count_of(text, "16 CPUs "), 16);
	ck_assert_uint_eq(count_of(text, " 1.00..1.10"), 16);
	free(text);
	ps_eventset_destroy(model);
}
END_TEST

/* An estimate's range is marked as one; a count shares no line with it. */
START_TEST(a_count_and_an_estimate_share_no_line)
{
	struct ps_eventset *set = NULL;

	use_machine(2);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++) {
		if (cpu % 2 == 0) {
			store_about(cpu, 1);
			continue;
		}
		check_ok(ps_eventset_clone(&set, model));
		fake_set_cpu(cpu);
		check_ok(ps_start(set));
		fake_advance(INSTRUCTIONS, 3000000);
		fake_run(3000, 1000);
		check_ok(ps_stop(set, scene.root, NULL, NULL));
		ps_eventset_destroy(set);
	}
	char *text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_int_eq((int)cpus_of(text), machines[2].cpus);
	ck_assert_ptr_nonnull(strstr(text, "~"));
	ck_assert_ptr_null(strstr(text, "..~"));
	free(text);
	ps_eventset_destroy(model);
}
END_TEST

/* However many lines it takes. */
START_TEST(counts_that_are_known_in_other_ways_share_no_line)
{
	struct ps_eventset *models[2];
	char list[16];

	use_machine(2);
	models[0] = model;
	scene.mode = PS_ATTRIBUTE_AUTO;
	models[1] = scene_set("task-clock", "page-faults", "cycles", "instructions", NULL);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++) {
		model = models[cpu % 2];
		snprintf(list, sizeof list, "%d", cpu);
		fake_set_affinity(list);
		store_about(cpu, 1 + (long long)cpu * cpu * 7919 % 100003);
	}
	char *text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_uint_ge(count_of(text, "  pinned\n"), 2);
	ck_assert_uint_ge(count_of(text, "  last-cpu\n"), 2);
	ck_assert_uint_eq(count_of(text, "+last-cpu"), 0);
	ck_assert_int_eq((int)cpus_of(text), machines[2].cpus);
	free(text);
	ps_eventset_destroy(models[0]);
	ps_eventset_destroy(models[1]);
}
END_TEST

START_TEST(each_one_is_shown_on_request)
{
	use_machine(2);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++)
		store_about(cpu, 1);
	char *text = printed(PS_PRINT_EACH | PS_PRINT_NO_LEGEND, 0);
	ck_assert_int_eq((int)count_of(text, "CPU "), machines[2].cpus);
	ck_assert_int_eq((int)count_of(text, "Core "), machines[2].cpus / 2);
	ck_assert_uint_eq(count_of(text, "each"), 0);
	ck_assert_uint_eq(count_of(text, " + "), 0);
	free(text);
	ps_eventset_destroy(model);
}
END_TEST

START_TEST(a_list_is_folded_too)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .types = PS_TYPE_BIT(PS_COMPONENT_THREAD),
	                                   .flags = PS_PRINT_FLAT,
	                                   .width = 80};
	FILE *stream = golden_open();

	use_machine(2);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++)
		store_about(cpu, cpu == 77 ? 10 : 1);
	check_ok(ps_print_with(scene.root, &options, stream));
	golden_check_file(stream, "lines_256_list_80.txt");
	ps_eventset_destroy(model);
}
END_TEST

static char *printed_types(unsigned types, unsigned flags)
{
	struct ps_print_options options = {
	    .size = sizeof options, .types = types, .flags = flags | PS_PRINT_NO_LEGEND};
	char *text = NULL;
	size_t size_bytes;
	FILE *stream = open_memstream(&text, &size_bytes);

	check_ok(ps_print_with(scene.root, &options, stream));
	fclose(stream);
	return text;
}

#define NUMA   PS_TYPE_BIT(PS_COMPONENT_NUMA)
#define THREAD PS_TYPE_BIT(PS_COMPONENT_THREAD)

/* A NUMA node's count may be that of the Machine, or of components that are not shown. */
static void check_nodes_are_seen(unsigned types, unsigned flags, size_t nodes)
{
	char *text = printed_types(types, flags);

	ck_assert_msg(count_of(text, "NUMA node ") == nodes, "types 0x%x, flags 0x%x:\n%s", types,
	              flags, text);
	free(text);
}

START_TEST(a_type_that_was_asked_for_is_always_seen)
{
	static const struct {
		const char *machine;
		int size;
		size_t nodes;
	} all[] = {{"pack:1 [numa] core:2 pu:1", 2, 1},
	           {"core:2 pu:1", 2, 1}, /* memory beside the Machine */
	           {"pack:2 [numa] l3:8 l2:8 l1d:1 core:1 pu:2", 256, 2}};
	static const unsigned flags[] = {0, PS_PRINT_FLAT, PS_PRINT_EACH, PS_PRINT_RAW};

	use_tree(all[_i].machine, all[_i].size);
	for (int cpu = 0; cpu < all[_i].size; cpu++)
		store_about(cpu, 1);
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		check_nodes_are_seen(NUMA, flags[i], all[_i].nodes);
		check_nodes_are_seen(NUMA | THREAD, flags[i], all[_i].nodes);
		check_nodes_are_seen(NUMA | PS_TYPE_BIT(PS_COMPONENT_MACHINE), flags[i],
		                     all[_i].nodes);
		check_nodes_are_seen(NUMA | PS_TYPE_BIT(PS_COMPONENT_PACKAGE) | THREAD, flags[i],
		                     all[_i].nodes);
	}
	ps_eventset_destroy(model);
}
END_TEST

/* However long the label of the chain is. */
START_TEST(a_chain_of_chosen_types_has_all_their_names)
{
	use_machine(2);
	store_about(200, 1);
	char *text = printed_types(NUMA | PS_TYPE_BIT(PS_COMPONENT_PACKAGE) |
	                               PS_TYPE_BIT(PS_COMPONENT_CACHE) |
	                               PS_TYPE_BIT(PS_COMPONENT_CORE) | THREAD,
	                           0);
	ck_assert_ptr_nonnull(strstr(text, "NUMA node 1 "));
	ck_assert_ptr_nonnull(strstr(text, "L3 12 + L2 100 + L1 100 + Core 100 + CPU 200 "));
	free(text);
	ps_eventset_destroy(model);
}
END_TEST

/* The width leaves out the middle of a chain, and long lists of numbers. */
START_TEST(without_a_width_all_names_and_numbers_are_shown)
{
	use_machine(2);
	store_about(200, 1);
	char *narrow = printed(PS_PRINT_NO_LEGEND, 80), *text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_ptr_nonnull(strstr(narrow, " + .. + CPU 200 "));
	ck_assert_ptr_nonnull(strstr(text, " + L3 12 + L2 100 + L1 100 + Core 100 + CPU 200 "));
	free(narrow);
	free(text);
	for (int cpu = 0; cpu < machines[2].cpus; cpu++)
		store_about(cpu, cpu * cpu % 11 < 4 ? 1 : 1000);
	narrow = printed(PS_PRINT_NO_LEGEND, 80);
	text = printed(PS_PRINT_NO_LEGEND, 0);
	ck_assert_ptr_nonnull(strstr(narrow, " CPUs, each "));
	ck_assert_ptr_null(strstr(text, " CPUs, each "));
	ck_assert_ptr_nonnull(strstr(text, ", each "));
	ck_assert_int_eq((int)cpus_of(text), machines[2].cpus);
	free(narrow);
	free(text);
	ps_eventset_destroy(model);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lines");
	TCase *tests = scene_case_last_cpu(suite, "lines");

	tcase_add_loop_test(tests, a_program_on_one_cpu_takes_few_lines_on_any_machine, 0,
	                    machine_count() * WIDTHS);
	tcase_add_loop_test(tests, a_program_on_all_cpus_fits_on_two_screens, 0,
	                    machine_count() * WIDTHS);
	tcase_add_test(tests, what_is_unlike_stands_alone);
	tcase_add_test(tests, two_kinds_of_cpu_have_a_line_each);
	tcase_add_test(tests, counts_of_all_sizes_still_fit);
	tcase_add_test(tests, a_shared_line_has_the_range_of_the_ratios_that_there_are);
	tcase_add_test(tests, a_count_and_an_estimate_share_no_line);
	tcase_add_test(tests, counts_that_are_known_in_other_ways_share_no_line);
	tcase_add_test(tests, each_one_is_shown_on_request);
	tcase_add_test(tests, a_list_is_folded_too);
	tcase_add_loop_test(tests, a_type_that_was_asked_for_is_always_seen, 0, 3);
	tcase_add_test(tests, a_chain_of_chosen_types_has_all_their_names);
	tcase_add_test(tests, without_a_width_all_names_and_numbers_are_shown);
	return scene_run(suite);
}
