/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage stat on screens of 60 to 200 columns, for machines of 2 to 512 hardware threads: what is
 * shown by default has a length that the machine does not decide, no line is wider than the screen,
 * and what is asked for is complete. Golden files screen_stat_*.txt.
 */
#include "base/os.h"
#include "support/golden.h"
#include "support/machines.h"
#include "support/regions.h"
#include "support/screen.h"
#include "tools/stat_show.h"
#include "tools/stat_tasks.h"

#include <stdlib.h>
#include <unistd.h>

#define COMMAND    500 /* its process */
#define MOST_WORDS 16
#define MOST_LINES 48

static char line[256], *words[MOST_WORDS];
static struct stat_options options;
static struct ps_eventset *model;
static struct stat_count count;

static void teardown(void)
{
	machine_forget();
	scene_teardown();
}

static void parse(const char *command)
{
	int argc = 0;
	char *rest = NULL;

	snprintf(line, sizeof line, "%s", command);
	for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		ck_assert_int_lt(argc, MOST_WORDS - 1);
		words[argc++] = word;
	}
	words[argc] = NULL;
	ck_assert_int_eq(stat_options_parse(&options, argc, words), TOOL_OPTIONS_END);
	ck_assert_int_eq(stat_metrics_resolve(&options), 0);
}

/* A CPU has counted for a second; those of a core differ. */
static void advance(pid_t pid, int cpu)
{
	uint64_t cycles = UINT64_C(20000000) * (uint64_t)(100 + cpu * 7 % 16);

	fake_advance_on(CYCLES, pid, cpu, cycles);
	fake_advance_on(INSTRUCTIONS, pid, cpu, cycles / (cpu % 2 ? 4 : 1));
	fake_advance_on(PAGE_FAULTS, pid, cpu, cpu == 1 ? 4711 : 0);
	fake_advance_on(TASK_CLOCK, pid, cpu, 1000000000);
}

/* As stat starts a command, but for the exec: the fake kernel has no such process. */
static void start_process(void)
{
	fake_set_means(FAKE_MEANS_PER_CPU);
	fake_task(COMMAND, "solver", 0);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	count.sets = ps__os_calloc(1, sizeof(struct ps_eventset *));
	count.set_count = 1;
	count.how.method = STAT_METHOD_PER_CPU;
	check_ok(ps_eventset_clone(&count.sets[0], model));
	check_ok(ps_eventset_attach_process(count.sets[0], COMMAND));
	check_ok(ps_start(count.sets[0]));
}

/* Counts on all CPUs; of a command, on one alone if the words say so. */
static void begin(const char *command, int cpus)
{
	bool is_on_one = strstr(command, " on-one") != NULL;

	parse(command);
	ck_assert_ptr_nonnull(model = stat_events_create(&options));
	ck_assert_int_eq(stat_count_create(&count, model, &options), 0);
	if (options.target.is_whole_machine) {
		ck_assert_int_eq(stat_start_cpus(&count, options.target.cpus), 0);
	} else {
		start_process();
	}
	for (int cpu = is_on_one ? cpus - 1 : 0; cpu < cpus; cpu++) {
		if (!options.target.is_whole_machine)
			fake_task(COMMAND, "solver", cpu);
		advance(options.target.is_whole_machine ? -1 : COMMAND, cpu);
	}
	if (options.target.is_whole_machine)
		fake_run(1000000000, 1000000000);
	stat_count_stop(&count, NULL);
}

static void end(void)
{
	stat_count_destroy(&count);
	ps_eventset_destroy(model);
	stat_options_clear(&options);
}

static char *shown(struct tool_screen screen)
{
	const struct stat_facts facts = {.elapsed_s = 1.0, .has_ended = true};
	struct stat_output output = {.options = &options, .screen = screen};
	char *text = NULL;
	size_t bytes;

	output.screen.is_terminal = true;
	output.stream = open_memstream(&text, &bytes);
	ck_assert_int_eq(stat_show(&output, &count, &facts), 0);
	fclose(output.stream);
	ps__buffer_clear(&output.left_out);
	/* The command's own CPU time is no count. */
	char *cost = strstr(text, "\ncost ");
	ck_assert_ptr_nonnull(cost);
	cost[1] = '\0';
	return text;
}

/* The middle of what is long is left out of the golden file: what it holds is counted. */
static void put_short(const char *text, FILE *stream)
{
	size_t lines = count_of(text, "\n"), at = 0;

	for (size_t length; *text; text += length, at++) {
		length = strcspn(text, "\n") + 1;
		if (lines <= MOST_LINES || at < 12 || at + 16 > lines)
			fwrite(text, 1, length, stream);
		else if (at == 12)
			fprintf(stream, "... %zu lines ...\n", lines - 12 - 15);
	}
}

/* Each line at each width. rows: how many of them begin with `what`; 0: nobody asked for all. */
static void put(const char *command, int cpus, const char *what, size_t rows, FILE *stream)
{
	for (size_t i = 0; i < WIDTHS; i++) {
		begin(command, cpus);
		char *text = shown((struct tool_screen){.width = machine_widths[i]});
		screen_check(text, machine_widths[i], rows > 16 ? rows + 24 : MOST_LINES);
		if (rows)
			ck_assert_msg(count_of(text, what) == rows, "%s: %s", command, text);
		fprintf(stream, "%zu columns, %s:\n", machine_widths[i], command);
		put_short(text, stream);
		fputs("\n", stream);
		free(text);
		end();
	}
}

static void check(FILE *stream, const char *what, int machine)
{
	char file[64];

	snprintf(file, sizeof file, "screen_stat_%s_%d.txt", what, machines[machine].cpus);
	golden_check_file(stream, file);
}

START_TEST(all_cpus_fit)
{
	FILE *stream = golden_open();

	machine_believe(_i);
	put("stat -a --timeout 1000", machines[_i].cpus, NULL, 0, stream);
	put("stat -a --timeout 1000 -M IPC", machines[_i].cpus, NULL, 0, stream);
	put("stat -a --timeout 1000 -e page-faults --idle", machines[_i].cpus, NULL, 0, stream);
	check(stream, "all", _i);
}
END_TEST

START_TEST(components_of_a_type_that_was_asked_for_are_all_there)
{
	const struct machine *machine = &machines[_i];
	size_t packages = machine->cpus > 16 ? 2 : 1, nodes = machine->cpus > 2 ? packages : 1;
	FILE *stream = golden_open();

	machine_believe(_i);
	put("stat -a --timeout 1000 --by package", machine->cpus, "\nPackage ", packages, stream);
	put("stat -a --timeout 1000 --by node", machine->cpus, "\nNUMA node ", nodes, stream);
	put("stat -a --timeout 1000 --by core", machine->cpus, "\nCore ",
	    (size_t)machine->cpus / (machine->cpus > 2 ? 2 : 1), stream);
	put("stat -a --timeout 1000 --by cpu", machine->cpus, "\nCPU ", (size_t)machine->cpus,
	    stream);
	check(stream, "by", _i);
}
END_TEST

START_TEST(a_command_fits_wherever_it_ran)
{
	FILE *stream = golden_open();

	machine_believe(_i);
	put("stat --exact on-one", machines[_i].cpus, NULL, 0, stream);
	put("stat --exact --by node,cpu on-one", machines[_i].cpus, NULL, 0, stream);
	put("stat --exact on-all", machines[_i].cpus, NULL, 0, stream);
	put("stat --exact --by package on-all", machines[_i].cpus, NULL, 0, stream);
	check(stream, "command", _i);
}
END_TEST

/* The line above the table. */
START_TEST(a_long_command_is_folded)
{
	machine_believe(0);
	for (size_t i = 0; i < WIDTHS; i++) {
		begin(
		    "stat --exact solver on-one --grid 1024x1024 --tolerance 1e-9 --preconditioner "
		    "multigrid --output /scratch/run/solution.h5 --checkpoint-every 500 --quiet",
		    machines[0].cpus);
		char *text = shown((struct tool_screen){.width = machine_widths[i]});
		screen_check(text, machine_widths[i], MOST_LINES);
		ck_assert_msg(!strncmp(text, "\nCounts of solver on-one --grid", 31), "%s", text);
		ck_assert_ptr_nonnull(strstr(text, "--quiet\n\n"));
		free(text);
		end();
	}
}
END_TEST

/* A thread for each CPU, in processes of eight; it was on the next CPU, too. */
static void add_tasks(struct matrix *matrix, int cpus)
{
	matrix->rows = ps__os_calloc(2 * (size_t)cpus, sizeof *matrix->rows);
	for (int i = 0; i < 2 * cpus; i++) {
		int task = i / 2, cpu = (task + i % 2) % cpus;
		struct ps_thread *thread = ps_topology_thread(scene.topology, cpu);
		struct task_row *row = &matrix->rows[matrix->count];
		*row = (struct task_row){.pid = 1000 + task / 8 * 8,
		                         .tid = 1000 + task,
		                         .task = (size_t)task + 1,
		                         .process = (size_t)task / 8 * 8 + 1,
		                         .cpu = cpu,
		                         .where = ps_thread_component(thread),
		                         .place = matrix->count++,
		                         .counts = ps__os_calloc(2, sizeof *row->counts)};
		snprintf(row->name, sizeof row->name, "%s", task % 8 ? "worker" : "solver");
		row->counts[0] = (100 + task * 7 % 16) / (1 + i % 2);
		row->counts[1] = row->counts[0] * 1000000;
	}
}

static void put_tasks(const char *command, size_t width, int cpus, FILE *golden)
{
	struct ps_value totals[3] = {{.status = PS_STATUS_COUNTED}, {.status = PS_STATUS_COUNTED}};
	struct matrix matrix = {.model = model, .topology = scene.topology};
	struct matrix sums;
	struct stat_output output = {.options = &options,
	                             .screen = {.is_terminal = true, .width = width}};
	char *text = NULL;
	size_t bytes;

	parse(command);
	matrix.totals = memcpy(ps__os_calloc(1, sizeof totals), totals, sizeof totals);
	add_tasks(&matrix, cpus);
	if (options.shows_processes)
		stat_matrix_sum_processes(&matrix);
	if (options.layout == STAT_LAYOUT_BY) {
		ck_assert_int_eq(stat_matrix_sum_components(&sums, &matrix, &options.by), 0);
		stat_matrix_clear(&matrix);
		matrix = sums;
	}
	size_t rows = matrix.count;
	output.stream = open_memstream(&text, &bytes);
	stat_matrix_show(&output, &matrix);
	fclose(output.stream);
	bool shows_each = options.look.flags & PS_PRINT_EACH;
	screen_check(text, width, shows_each ? rows + 8 : MOST_LINES);
	if (rows <= 40 || shows_each)
		ck_assert_uint_eq(count_of(text, "er   "), rows);
	else
		ck_assert_ptr_nonnull(strstr(text, ", none with more page-faults: --each"));
	fprintf(golden, "%zu columns, %s:\n", width, command);
	put_short(text, golden);
	free(text);
	stat_matrix_clear(&matrix);
	stat_options_clear(&options);
}

START_TEST(tasks_and_processes_fit)
{
	static const char *const all[] = {"stat --tasks true", "stat --tasks --by package true",
	                                  "stat --processes true", "stat --tasks --each true"};
	FILE *stream = golden_open();

	machine_load(machines[_i].tree, machines[_i].cpus);
	model = scene_set("page-faults", "task-clock", NULL);
	for (size_t i = 0; i < WIDTHS; i++) {
		for (size_t j = 0; j < sizeof all / sizeof all[0]; j++)
			put_tasks(all[j], machine_widths[i], machines[_i].cpus, stream);
	}
	ps_eventset_destroy(model);
	check(stream, "tasks", _i);
}
END_TEST

/* On each CPU. */
static void visit(const char *name, int cpu)
{
	check_ok(ps_region_enter(region(name)));
	fake_set_cpu(cpu);
	fake_advance(PAGE_FAULTS, 100 + (unsigned)cpu * 7 % 16);
	fake_advance(CYCLES, 3000000);
	fake_advance(INSTRUCTIONS, 4000000);
	check_ok(ps_region_leave(region(name)));
}

static void put_report(unsigned types, size_t width, FILE *golden)
{
	static const char *const metrics[] = {"IPC"};
	struct ps_paths_options how = {.size = sizeof how,
	                               .types = types,
	                               .width = width,
	                               .metrics = metrics,
	                               .metric_count = 1};
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	check_ok(ps_paths_export(regions.paths, PS_FORMAT_TEXT, &how, stream));
	fclose(stream);
	screen_check(text, width, 2 * MOST_LINES);
	fprintf(golden, "%zu columns, types 0x%x:\n%s\n", width, types, text);
	free(text);
}

START_TEST(regions_fit)
{
	static const unsigned types[] = {0, PS_TYPE_BIT(PS_COMPONENT_PACKAGE),
	                                 PS_TYPE_BIT(PS_COMPONENT_NUMA),
	                                 PS_TYPE_BIT(PS_COMPONENT_THREAD)};
	FILE *stream = golden_open();

	scene.mode = PS_ATTRIBUTE_LAST_CPU;
	machine_load(machines[_i].tree, machines[_i].cpus);
	regions_begin(EVENT, "cycles", "instructions", NULL);
	check_ok(ps_profile_join(regions.profile));
	check_ok(ps_region_enter(region("solve")));
	for (int cpu = 0; cpu < machines[_i].cpus; cpu++)
		visit(cpu % 2 ? "assemble" : "exchange of halos", cpu);
	check_ok(ps_region_leave(region("solve")));
	take_paths();
	for (size_t i = 0; i < WIDTHS; i++) {
		for (size_t j = 0; j < sizeof types / sizeof types[0]; j++)
			put_report(types[j], machine_widths[i], stream);
	}
	regions_end();
	check(stream, "regions", _i);
}
END_TEST

/* Some of the other golden files are UTF-8, none has colours. */
START_TEST(the_locale_and_the_terminal_decide_branches_and_colours)
{
	char file[64];
	FILE *stream = golden_open();

	machine_believe(_i);
	for (size_t i = 0; i < 4; i++) {
		begin("stat -a --timeout 1000", machines[_i].cpus);
		const struct tool_screen screen = {
		    .width = 80, .has_utf8 = i & 1, .has_colour = i & 2};
		char *text = shown(screen);
		ck_assert_int_eq(strstr(text, "\033[") != NULL, screen.has_colour);
		ck_assert_int_eq(strstr(text, "\xe2\x94\x94") != NULL, screen.has_utf8);
		fprintf(stream, "%zu columns, %s, %s:\n%s\n", screen.width,
		        screen.has_utf8 ? "UTF-8" : "ASCII",
		        screen.has_colour ? "colours" : "no colours", text);
		free(text);
		end();
	}
	snprintf(file, sizeof file, "screen_stat_style_%d.txt", machines[_i].cpus);
	golden_check_file(stream, file);
}
END_TEST

/* _i: CPU 1 comes online after the start; or it goes, and comes back. */
START_TEST(counts_that_a_cpu_lacks_are_told)
{
	machine_believe(0);
	if (_i == 0)
		fake_set_online(1, false);
	parse("stat -a --timeout 1000 -e page-faults,task-clock");
	ck_assert_ptr_nonnull(model = stat_events_create(&options));
	ck_assert_int_eq(stat_count_create(&count, model, &options), 0);
	ck_assert_int_eq(stat_start_cpus(&count, options.target.cpus), 0);
	if (_i == 1) {
		fake_set_online(1, false);
		stat_count_take(&count);
	}
	fake_set_online(1, true);
	advance(-1, 0);
	fake_run(1000000000, 1000000000);
	stat_count_stop(&count, NULL);
	char *text = shown((struct tool_screen){.width = 100});
	ck_assert_msg(!strstr(text, "nothing lost"), "%s", text);
	ck_assert_msg(!strstr(text, "all that the kernel counted"), "%s", text);
	const char *told =
	    _i == 0 ? "\nuncounted   CPU 1 came online" : "\nmissed      some counts";
	ck_assert_msg(strstr(text, told) != NULL, "%s", text);
	free(text);
	end();
}
END_TEST

int main(void)
{
	/* The large ones open thousands of events. */
	int largest = machine_count();
	Suite *suite = suite_create("screens_stat");
	TCase *tests = scene_case_of(suite, "screens_stat", scene_setup, teardown);

	tcase_add_loop_test(tests, all_cpus_fit, 0, largest);
	tcase_add_loop_test(tests, components_of_a_type_that_was_asked_for_are_all_there, 0,
	                    largest);
	tcase_add_test(tests, a_long_command_is_folded);
	tcase_add_loop_test(tests, a_command_fits_wherever_it_ran, 0, largest);
	tcase_add_loop_test(tests, tasks_and_processes_fit, 0, largest);
	tcase_add_loop_test(tests, regions_fit, 0, largest);
	tcase_add_loop_test(tests, counts_that_a_cpu_lacks_are_told, 0, 2);
	tcase_add_loop_test(tests, the_locale_and_the_terminal_decide_branches_and_colours, 0,
	                    largest);
	return scene_run(suite);
}
