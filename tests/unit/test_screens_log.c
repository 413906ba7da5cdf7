/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage log on terminals of 60 to 200 columns, of tasks that were on 2 to 512 hardware threads:
 * neither the machine nor the number of records decides how long it gets, each row has a number,
 * and what is left out is named. Golden files screen_log*.txt.
 */
#include "support/golden.h"
#include "support/machines.h"
#include "support/screen.h"
#include "support/skip.h"
#include "test_log.h"
#include "tools/command.h"

#include <math.h>

#define MOST_LINES 60

static const struct ps_log_options usual = {.size = sizeof usual};

/* Forty records of two phases, with a count for each event. */
static void write_phases(void)
{
	static const char *const phases[] = {"solve", "exchange of halos"};
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", "task-clock", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	for (unsigned i = 0; i < 40; i++) {
		fake_advance(TASK_CLOCK, 1000000 * (1 + i % 7));
		check_ok(ps_log_set_real(stream, 1, i / 8.0));
		check_ok(ps_log_set_text(stream, 2, phases[i % 2]));
		log_record(stream, 10 + i % 9);
	}
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
}

/* Both phases are on all hardware threads, which have counts of their own. */
static void write_cpus(int machine)
{
	int cpus = machines[machine].cpus;

	machine_load(machines[machine].tree, cpus);
	scene.mode = PS_ATTRIBUTE_EXACT;
	fake_set_means(FAKE_MEANS_PER_CPU);
	struct ps_eventset *set = scene_started(EVENT, "minor-faults", NULL);
	struct ps_log *log = log_of(&usual);
	struct ps_log_stream *stream = log_stream(log, set);
	for (unsigned i = 0; i < 2; i++) {
		check_ok(ps_log_take(stream, BEGIN));
		for (int cpu = 0; cpu < cpus; cpu++) {
			unsigned faults = 100 + (unsigned)cpu * 7 % 16 + i;
			fake_set_cpu(cpu);
			fake_switch_task(0);
			fake_advance_on(PAGE_FAULTS, gettid(), cpu, faults);
			fake_advance_on(MINOR_FAULTS, gettid(), cpu, faults / 2);
		}
		check_ok(ps_log_take(stream, END));
		check_ok(ps_log_set_text(stream, 2, i ? "solve" : "exchange"));
		check_ok(ps_log_write(stream));
	}
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
}

/* Without the lines of streams, as the numbers of the process are its own. */
static void put(const char *options, size_t width, size_t most_lines, FILE *golden)
{
	char line[256], action[32];
	int length;

	ck_assert_int_eq(sscanf(options, "%31s%n", action, &length), 1);
	snprintf(line, sizeof line, "log %s %s%s", action, log_path, options + length);
	char *text = screen_of(width, tool_log, line, 0);
	screen_check(text, width, most_lines);
	char *end = strstr(text, "stream 0");
	if (end)
		*end = '\0';
	fprintf(golden, "%zu columns, %s:\n%s\n", width, options, text);
	free(text);
}

START_TEST(records_and_intervals_fit)
{
	static const char *const all[] = {"show", "intervals --group phase --histogram",
	                                  "cost --work units,share --of page-faults --constant"};
	FILE *stream = golden_open();

	write_phases();
	for (size_t i = 0; i < WIDTHS; i++) {
		for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
			put(all[j], machine_widths[i], MOST_LINES, stream);
	}
	golden_check_file(stream, "screen_log.txt");
}
END_TEST

/* Three decimals would make 0 of a page fault for each 4096 units. */
START_TEST(a_small_cost_is_no_0)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	char line[256];

	for (unsigned pages = 1; pages <= 20; pages++) {
		check_ok(ps_log_take(stream, BEGIN));
		fake_advance(PAGE_FAULTS, pages);
		check_ok(ps_log_take(stream, END));
		check_ok(ps_log_set_integer(stream, 0, 4096 * pages));
		check_ok(ps_log_write(stream));
	}
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	snprintf(line, sizeof line, "log cost %s --work units --of page-faults", log_path);
	char *text = screen_of(80, tool_log, line, 0);
	ck_assert_ptr_nonnull(strstr(text, "\nunits  0.000244  0.000  0.000244  0.000244\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nnot explained     0.000\n"));
	free(text);
}
END_TEST

/* Its squares have a sum beyond all doubles: it isn't 0, nor in proportion to other work. */
START_TEST(work_that_is_too_large_is_said)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	char line[256];

	for (unsigned pages = 1; pages <= 20; pages++) {
		check_ok(ps_log_set_real(stream, 1, pages % 2 ? 1e308 : 1.7e308));
		log_record(stream, pages);
	}
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	snprintf(line, sizeof line, "log cost %s --work units,share --of page-faults", log_path);
	char *text = screen_of(2000, tool_log, line, 125);
	ck_assert_msg(strstr(text, "--work units,share of '/tmp/perfsage-test-log-"), "%s", text);
	ck_assert_msg(strstr(text, "the work of column 1 is too large"), "%s", text);
	free(text);
	/* One such record can be solved for. */
	snprintf(line, sizeof line, "log cost %s --work share --of page-faults --where units=2",
	         log_path);
	text = screen_of(80, tool_log, line, 0);
	ck_assert_ptr_null(strstr(text, "told apart"));
	free(text);
}
END_TEST

START_TEST(the_size_of_the_machine_does_not_decide_the_length)
{
	static const char *const all[] = {"show", "intervals", "intervals --by cpu",
	                                  "intervals --by package",
	                                  "intervals --by cpu --group phase"};
	FILE *stream = golden_open();
	char file[32];

	write_cpus(_i);
	for (size_t i = 0; i < WIDTHS; i++) {
		for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
			put(all[j], machine_widths[i], MOST_LINES, stream);
	}
	snprintf(file, sizeof file, "screen_log_%d.txt", machines[_i].cpus);
	golden_check_file(stream, file);
}
END_TEST

static char *shown(const char *options)
{
	char line[256];

	snprintf(line, sizeof line, "log intervals %s %s", log_path, options);
	return screen_of(80, tool_log, line, 0);
}

START_TEST(rows_shows_all_hardware_threads)
{
	write_cpus(2);
	char *text = shown("--by cpu --rows 1000");
	for (int cpu = 0; cpu < 256; cpu++) {
		char name[32];
		snprintf(name, sizeof name, "\nCPU %d  page-faults", cpu);
		ck_assert_msg(count_of(text, name) == 1, "%s", name);
	}
	ck_assert_uint_eq(count_of(text, " more "), 0);
	free(text);
}
END_TEST

/* CPU 9, 25, ...: those whose number times 7 leaves 15 of 16. */
START_TEST(the_largest_are_shown_and_the_others_counted)
{
	write_cpus(2);
	char *text = shown("--by cpu --rows 6 --of page-faults");
	ck_assert_uint_eq(count_of(text, "\nCPU "), 5);
	ck_assert_uint_eq(count_of(text, " 231 "), 5);
	ck_assert_ptr_nonnull(strstr(text, "\nCPU 9 "));
	ck_assert_ptr_nonnull(strstr(text, "\nCPU 73 "));
	ck_assert_ptr_nonnull(strstr(
	    text, "and 251 more CPUs, none with a larger known sum of page-faults: --rows "));
	free(text);
}
END_TEST

START_TEST(groups_without_room_are_counted)
{
	write_phases();
	char *text = shown("--group units --rows 8");
	ck_assert_uint_eq(count_of(text, "\nunits="), 2);
	ck_assert_ptr_nonnull(strstr(text, "and 7 more values of units: --rows shows more, "));
	free(text);
	text = shown("--group units --rows 1");
	ck_assert_uint_eq(count_of(text, "\nunits="), 1);
	ck_assert_uint_eq(count_of(text, "\n  page-faults "), 1);
	free(text);
}
END_TEST

START_TEST(a_sum_that_is_not_known_is_said)
{
	fake_add_core_pmu(1);
	struct ps_eventset *set = scene_started("instructions", NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	fake_set_waiting(INSTRUCTIONS, true);
	check_ok(ps_log_take(stream, BEGIN));
	fake_run(1000, 1000);
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_write(stream));
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	char *text = shown("--rows 100");
	ck_assert_msg(strstr(text, "\ninstructions  not known "), "%s", text);
	free(text);
}
END_TEST

/* Two points in another order than the type's, then one alone, then none. */
static void write_kept(void)
{
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);

	check_ok(ps_log_take(stream, END));
	fake_advance(PAGE_FAULTS, 7);
	check_ok(ps_log_take(stream, BEGIN));
	check_ok(ps_log_set_integer(stream, 0, 5));
	check_ok(ps_log_write(stream));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_log_take(stream, END));
	check_ok(ps_log_set_text(stream, 2, "last"));
	check_ok(ps_log_write(stream));
	check_ok(ps_log_write(stream));
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
}

START_TEST(what_a_record_keeps_is_not_its_own)
{
	char line[256];

	write_kept();
	snprintf(line, sizeof line, "log show %s", log_path);
	char *text = screen_of(200, tool_log, line, 0);
	ck_assert_msg(strstr(text, "0:0  units=5  share=-  phase=-  begin +"), "%s", text);
	ck_assert_msg(strstr(text, "ns: 7 page-faults  end +0ns\n"), "%s", text);
	ck_assert_msg(strstr(text, "0:1  units=5 (kept)  share=-  phase=last  end +0ns\n"), "%s",
	              text);
	ck_assert_msg(strstr(text, "0:2  units=5 (kept)  share=-  phase=last (kept)\n"), "%s",
	              text);
	free(text);
	snprintf(line, sizeof line, "log show %s --json", log_path);
	text = screen_of(200, tool_log, line, 0);
	/* Both points of the first record, and the one of the second. */
	ck_assert_uint_eq(count_of(text, "\"page-faults\""), 3);
	ck_assert_uint_eq(count_of(text, "\"taken\": false"), 3);
	free(text);
}
END_TEST

START_TEST(what_is_no_finite_number_is_not_taken_for_unset)
{
	static const double reals[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1.5};
	struct ps_eventset *set = scene_started(EVENT, NULL);
	struct ps_log *log = log_of(NULL);
	struct ps_log_stream *stream = log_stream(log, set);
	char line[256];

	for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
		check_ok(ps_log_take(stream, END));
		check_ok(ps_log_set_real(stream, 1, reals[i]));
		check_ok(ps_log_write(stream));
	}
	ps_log_destroy(log);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	snprintf(line, sizeof line, "log show %s --json", log_path);
	char *text = screen_of(200, tool_log, line, 0);
	static const char *const shown[] = {"\"nan\"", "\"inf\"", "\"-inf\"", "1.5"};
	for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
		snprintf(line, sizeof line, "\"share\": %s", shown[i]);
		ck_assert_msg(count_of(text, line) == 1, "%s is not once in %s", line, text);
	}
	/* The point that was never taken. */
	ck_assert_uint_eq(count_of(text, "\"timestamp\": null"), 4);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("screens_log");
	TCase *tests = scene_case_of(suite, "screens_log", log_setup, log_teardown);

	if (!screen_is_possible()) {
		printf("SKIP: screens_log: there is no terminal here\n");
		return EXIT_SUCCESS;
	}
	tcase_add_test(tests, records_and_intervals_fit);
	tcase_add_test(tests, a_small_cost_is_no_0);
	tcase_add_test(tests, work_that_is_too_large_is_said);
	tcase_add_loop_test(tests, the_size_of_the_machine_does_not_decide_the_length, 0,
	                    machine_count());
	tcase_add_test(tests, rows_shows_all_hardware_threads);
	tcase_add_test(tests, the_largest_are_shown_and_the_others_counted);
	tcase_add_test(tests, groups_without_room_are_counted);
	tcase_add_test(tests, a_sum_that_is_not_known_is_said);
	tcase_add_test(tests, what_a_record_keeps_is_not_its_own);
	tcase_add_test(tests, what_is_no_finite_number_is_not_taken_for_unset);
	return scene_run(suite);
}
