/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text outputs, compared with golden files: trees with and without counts, every status and
 * flag with its legend, one Thread's readings; and what happens without memory or without room on
 * the disk.
 */
#include "support/fixture.h"
#include "support/golden.h"

#include <errno.h>
#include <stdlib.h>

static void check_print(struct ps_component *root, const char *golden)
{
	const struct ps_print_options options = {.size = sizeof options, .flags = PS_PRINT_RAW};
	FILE *stream = golden_open();

	check_ok(ps_print_with(root, &options, stream));
	golden_check(stream, golden);
}

/* Stores on a CPU, by a task that may run nowhere else, or on all. */
static void store(struct ps_eventset *set, int cpu, const char *affinity, const long long *counters)
{
	fake_set_affinity(affinity);
	scene_store(set, cpu, counters);
}

START_TEST(a_tree_without_readings_is_printed_with_sizes)
{
	static const char *const names[] = {"two_packages", "hbm", "hybrid", "disallowed"};
	char file[64], golden[64];

	snprintf(file, sizeof file, "%s.xml", names[_i]);
	snprintf(golden, sizeof golden, "tree_%s", names[_i]);
	scene_use(fixture_load(file));
	check_print(scene.root, golden);
}
END_TEST

/* Counts in a task that may run on one CPU only. */
static struct ps_eventset *counted_pinned(int cpu, const char *affinity, uint64_t faults,
                                          uint64_t clock_ns)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	fake_set_affinity(affinity);
	fake_set_cpu(cpu);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, faults);
	fake_advance(TASK_CLOCK, clock_ns);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	return set;
}

START_TEST(counts_stand_on_their_threads_and_add_up_above)
{
	struct ps_eventset *first = counted_pinned(1, "1", 300, 1000000);
	struct ps_eventset *second = counted_pinned(2, "2", 700, 12345678);

	check_print(scene.root, "counts");
	check_print(ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 1), "counts_package");
	check_print(ps_component_find(scene.root, PS_COMPONENT_THREAD, 1), "counts_thread");
	check_print(ps_component_find(scene.root, PS_COMPONENT_THREAD, 0), "counts_none");
	ps_eventset_destroy(first);
	ps_eventset_destroy(second);
}
END_TEST

/* The residual is of all sets together, and of the whole tree. */
START_TEST(a_check_of_conservation_is_told_below_the_tree)
{
	struct ps_eventset *first = counted_pinned(1, "1", 300, 1000000);
	struct ps_eventset *second = counted_pinned(2, "2", 700, 12345678);
	long long residual[2];

	check_ok(ps_eventset_check(first, residual, 2));
	check_print(scene.root, "residual_of_one");
	check_ok(ps_eventset_check(second, residual, 2));
	check_print(scene.root, "residual_none");
	fake_set_count(PAGE_FAULTS, 705);
	check_ok(ps_eventset_check(second, residual, 2));
	ck_assert_int_eq(residual[0], 5);
	check_ok(ps_eventset_check(first, residual, 2));
	ck_assert_int_eq(residual[0], 405);
	check_print(scene.root, "residual");
	check_print(ps_component_find(scene.root, PS_COMPONENT_PACKAGE, 1), "counts_package");
	ps_eventset_destroy(first);
	ps_eventset_destroy(second);
}
END_TEST

START_TEST(NUMA_nodes_show_what_is_local_to_them)
{
	struct ps_eventset *first, *second = NULL;

	scene_use(fixture_load("hbm.xml"));
	first = scene_set("page-faults", NULL);
	check_ok(ps_eventset_clone(&second, first));
	store(first, 0, "0", (const long long[]){25});
	store(second, 3, "0-3", (const long long[]){17});
	check_print(scene.root, "numa");
	check_print(ps_component_find(scene.root, PS_COMPONENT_NUMA, 3), "numa_node");
	ps_eventset_destroy(first);
	ps_eventset_destroy(second);
}
END_TEST

START_TEST(what_happened_on_an_unknown_cpu_is_shown_at_the_end)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	store(set, 77, "0-99", (const long long[]){5});
	check_print(scene.root, "unknown");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(each_status_is_told_and_explained)
{
	struct ps_eventset *set, *other = NULL;

	fake_add_core_pmu(4);
	set = scene_set("instructions", "page-faults", NULL);
	check_ok(ps_eventset_add_optional(set, "context-switches:u"));
	ck_assert_int_eq((int)ps_eventset_event_status(set, 2), PS_STATUS_NOT_SUPPORTED);
	check_ok(ps_eventset_clone(&other, set));
	fake_set_affinity("0");
	check_ok(ps_start(set));
	fake_advance(INSTRUCTIONS, 500);
	fake_run(3000, 1000);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	fake_set_affinity("3");
	fake_set_cpu(3);
	check_ok(ps_start(other));
	fake_run(1000, 0);
	check_ok(ps_stop(other, scene.root, NULL, NULL));
	check_print(scene.root, "status");
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

START_TEST(counts_of_user_space_alone_are_marked)
{
	struct ps_eventset *set;

	fake_set_paranoid(2, false);
	set = scene_set("page-faults", "task-clock:u", NULL);
	ck_assert_int_eq(ps_eventset_event_is_user_only(set, 0), 1);
	store(set, 0, "0-3", (const long long[]){1000, 5});
	check_print(scene.root, "user_only");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_mark_of_user_space_stands_apart_and_not_at_a_clock)
{
	struct ps_print_options options = {.size = sizeof options, .flags = 0};
	struct ps_eventset *set;
	FILE *stream = golden_open();

	fake_set_paranoid(2, false);
	set = scene_set("page-faults", "task-clock", NULL);
	store(set, 0, "0-3", (const long long[]){1000, 45720});
	check_ok(ps_print_with(scene.root, &options, stream));
	golden_check(stream, "user_only_units");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_event_of_a_package_stands_there_and_above_and_not_below)
{
	struct ps_eventset *energy[2], *faults = scene_set("page-faults", NULL);

	fake_add_package_pmu();
	for (int i = 0; i < 2; i++) {
		energy[i] = scene_set("power/energy-pkg/", NULL);
		ck_assert_int_eq((int)ps_eventset_event_scope(energy[i], 0), PS_SCOPE_PACKAGE);
		check_ok(ps_eventset_attach_cpu(energy[i], 2 * i));
		store(energy[i], 1, "0-3", (const long long[]){100 + i});
	}
	store(faults, 1, "0-3", (const long long[]){7});
	check_print(scene.root, "package_scope");
	for (int i = 0; i < 2; i++)
		ps_eventset_destroy(energy[i]);
	ps_eventset_destroy(faults);
}
END_TEST

START_TEST(a_threads_readings_are_printed_oldest_first)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);
	struct ps_thread *thread = ps_topology_thread(scene.topology, 1);
	FILE *stream = golden_open();

	for (int i = 0; i < 3; i++) {
		fake_set_clock(UINT64_C(5000000000) * (uint64_t)(i + 1), 0);
		store(set, 1, i ? "0-3" : "1", (const long long[]){10 * i, 1000 + i});
	}
	check_ok(ps_thread_print(thread, stream));
	golden_check(stream, "thread");
	stream = golden_open();
	check_ok(ps_thread_print(ps_topology_thread(scene.topology, 0), stream));
	golden_check(stream, "thread_none");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(dropped_readings_are_told)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	FILE *stream;

	check_ok(ps_eventset_set_history(set, 64));
	fake_set_clock(1000, 0);
	for (int i = 0; i < 200; i++)
		store(set, 1, "1", (const long long[]){i});
	uint64_t dropped = ps_thread_dropped(ps_topology_thread(scene.topology, 1), "page-faults");
	ck_assert_uint_gt(dropped, 0);
	char *text = NULL, expected[64];
	size_t size_bytes;
	stream = open_memstream(&text, &size_bytes);
	check_ok(ps_thread_print(ps_topology_thread(scene.topology, 1), stream));
	fclose(stream);
	snprintf(expected, sizeof expected, "%llu older readings were dropped.",
	         (unsigned long long)dropped);
	ck_assert_ptr_nonnull(strstr(text, expected));
	free(text);
	ps_eventset_destroy(set);
}
END_TEST

static size_t count_lines(const char *expected)
{
	char *text = scene_text(PS_FORMAT_TEXT);
	size_t lines = 0;

	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	ck_assert_ptr_nonnull(strstr(text, expected));
	free(text);
	return lines;
}

START_TEST(a_tree_of_4096_threads_is_printed)
{
	struct ps_eventset *model, *set = NULL;

	fake_file("/sys/devices/system/cpu/possible", "0-4095\n");
	fake_file("/sys/devices/system/cpu/online", "0-4095\n");
	scene_use(fixture_synthetic("pack:2 [numa] l3:8 l2:128 l1d:1 core:1 pu:2"));
	ck_assert_uint_eq(count_lines("2 in each: CPUs 2048-4095\n"), 1 + 2 * 4 + 2);
	model = scene_set("page-faults", NULL);
	for (int cpu = 0; cpu < 4096; cpu += 64) {
		check_ok(ps_eventset_clone(&set, model));
		store(set, cpu, "0-3", (const long long[]){2});
		ps_eventset_destroy(set);
	}
	ps_eventset_destroy(model);
	/* 32 hardware threads of each package share a line. */
	ck_assert_uint_eq(count_lines("\nMachine                               128\n"),
	                  1 + 2 * 2 + 1 + 4);
}
END_TEST

/* The words and lines are those of the golden file "status". */
START_TEST(a_callers_own_table_says_how_values_are_known_in_the_same_words)
{
	const struct ps_value values[] = {
	    {.raw = 500,
	     .enabled_ns = 3000,
	     .running_ns = 1000,
	     .status = PS_STATUS_SCALED,
	     .attribution = 1},
	    {.status = PS_STATUS_NOT_SUPPORTED, .attribution = PS_ATTRIBUTION_PINNED}};
	char *text = NULL;
	size_t size_bytes;
	FILE *stream = open_memstream(&text, &size_bytes);

	check_ok(ps_print_known(values, 2, stream));
	fputc('\n', stream);
	check_ok(ps_print_legend(values, 2, 61, stream));
	fclose(stream);
	ck_assert_str_eq(text, "pinned, scaled, coverage 33%\n"
	                       "~            an estimate: coverage is the part of the time,\n"
	                       "             or of the visits, that was counted\n"
	                       "n/s          not supported by this machine, core or\n"
	                       "             permission: unknown, not 0\n"
	                       "pinned       the task could run on this hardware thread only\n");
	free(text);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	const struct ps_value value = {.timestamp = 1};

	check_fails(ps_print_known(NULL, 1, stdout), PS_EINVAL);
	check_fails(ps_print_known(&value, 1, NULL), PS_EINVAL);
	check_fails(ps_print_legend(NULL, 1, 0, stdout), PS_EINVAL);
	check_fails(ps_print_legend(&value, 1, 0, NULL), PS_EINVAL);
	check_fails(ps_print(NULL, stdout), PS_EINVAL);
	check_fails(ps_print(scene.root, NULL), PS_EINVAL);
	check_fails(ps_thread_print(NULL, stdout), PS_EINVAL);
	check_fails(ps_thread_print(ps_topology_thread(scene.topology, 0), NULL), PS_EINVAL);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	FILE *full = fopen("/dev/full", "w");

	if (!full) {
		ps_test_skip("there is no /dev/full here");
		return;
	}
	check_fails(ps_print(scene.root, full), PS_ESYS);
	check_detail(strerror(ENOSPC));
	check_fails(ps_thread_print(ps_topology_thread(scene.topology, 0), full), PS_ESYS);
	fclose(full);
}
END_TEST

START_TEST(no_memory_at_any_allocation_is_an_error_and_prints_nothing)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);
	struct ps_thread *thread = ps_topology_thread(scene.topology, 1);
	unsigned nth = 0;
	int code;

	store(set, 1, "1", (const long long[]){300, 1000000});
	do {
		char *text = NULL;
		size_t size_bytes;
		FILE *stream = open_memstream(&text, &size_bytes);
		fake_fail(FAKE_ALLOCATE, ++nth, ENOMEM);
		code = _i ? ps_thread_print(thread, stream) : ps_print(scene.root, stream);
		fclose(stream);
		ck_assert_int_eq(fake_fail_happened(), code != PS_OK);
		ck_assert_int_eq(size_bytes == 0, code != PS_OK);
		if (code != PS_OK)
			ck_assert_int_eq(code, PS_ENOMEM);
		free(text);
	} while (code != PS_OK);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	ck_assert_uint_gt(nth, 3);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = scene_case(suite, "golden");

	tcase_add_loop_test(tests, a_tree_without_readings_is_printed_with_sizes, 0, 4);
	tcase_add_test(tests, counts_stand_on_their_threads_and_add_up_above);
	tcase_add_test(tests, a_check_of_conservation_is_told_below_the_tree);
	tcase_add_test(tests, NUMA_nodes_show_what_is_local_to_them);
	tcase_add_test(tests, what_happened_on_an_unknown_cpu_is_shown_at_the_end);
	tcase_add_test(tests, each_status_is_told_and_explained);
	tcase_add_test(tests, counts_of_user_space_alone_are_marked);
	tcase_add_test(tests, the_mark_of_user_space_stands_apart_and_not_at_a_clock);
	tcase_add_test(tests, an_event_of_a_package_stands_there_and_above_and_not_below);
	tcase_add_test(tests, a_threads_readings_are_printed_oldest_first);
	tests = scene_case(suite, "others");
	tcase_add_test(tests, dropped_readings_are_told);
	tcase_add_test(tests, a_tree_of_4096_threads_is_printed);
	tcase_add_test(tests, a_callers_own_table_says_how_values_are_known_in_the_same_words);
	tcase_add_test(tests, wrong_arguments_are_refused);
	tcase_add_test(tests, a_full_disk_is_told);
	tcase_add_loop_test(tests, no_memory_at_any_allocation_is_an_error_and_prints_nothing, 0,
	                    2);
	return scene_run(suite);
}
