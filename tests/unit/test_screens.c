/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands on terminals of 60 to 200 columns, for machines of 2 to 512 hardware threads: no line
 * is wider than the terminal, and the machine does not decide how many there are. Golden files
 * screen_*.txt.
 */
#include "support/golden.h"
#include "support/machines.h"
#include "support/scene.h"
#include "support/screen.h"
#include "support/skip.h"
#include "tools/command.h"
#include "tools/stat.h"

static void use_machine(int machine)
{
	char status[256];

	machine_believe(machine);
	fake_file("/proc/sys/kernel/osrelease", "6.1.0-47-amd64\n");
	fake_file("/proc/self/uid_map", "0 0 4294967295\n");
	snprintf(
	    status, sizeof status,
	    "TracerPid:\t0\nCapEff:\t0000000000000000\nSeccomp:\t0\nCpus_allowed_list:\t0-%d\n",
	    machines[machine].cpus - 1);
	fake_file("/proc/self/status", status);
}

static void teardown(void)
{
	machine_forget();
	scene_teardown();
}

/* What another build or machine has in other words is left out: findings of these names, and from
 * a line that begins so. */
static void put_without(const char *text, const char *names, const char *end, FILE *stream)
{
	bool is_left_out = false;

	for (size_t length; *text && strncmp(text, end, strlen(end)) != 0; text += length) {
		char name[32] = "";
		length = strcspn(text, "\n") + 1;
		if (*text != ' ' && sscanf(text, "%*s %31s", name) == 1)
			is_left_out = strstr(names, name) != NULL;
		if (!is_left_out)
			fwrite(text, 1, length, stream);
	}
}

/* At each width. */
static void check_doctor(int machine, const char *line, int status, const char *name)
{
	FILE *stream = golden_open();
	char file[64];

	for (size_t i = 0; i < WIDTHS; i++) {
		char *text = screen_of(machine_widths[i], tool_doctor, line, status);
		screen_check(text, machine_widths[i], 11000 / machine_widths[i]);
		fprintf(stream, "%zu columns:\n", machine_widths[i]);
		put_without(text, "papi libpfm4", "If perfsage itself", stream);
		free(text);
	}
	snprintf(file, sizeof file, "%s_%d.txt", name, machines[machine].cpus);
	golden_check_file(stream, file);
}

START_TEST(doctor_fits)
{
	use_machine(_i);
	check_doctor(_i, "doctor -e cycles,page-faults", 0, "screen_doctor");
}
END_TEST

/* Long remedies: for containers, permissions and descriptors. */
START_TEST(doctor_fits_where_much_is_wrong)
{
	use_machine(_i);
	fake_file("/proc/sys/kernel/nmi_watchdog", "1\n");
	fake_file("/proc/self/uid_map", "0 100000 65536\n");
	fake_file("/.dockerenv", "");
	fake_set_paranoid(3, false);
	fake_set_nofile(14);
	check_doctor(_i, "doctor -e cycles,instructions,page-faults,no-such-event", 1,
	             "screen_doctor_blocked");
}
END_TEST

/* Without the names that libpfm4 has for the CPU that the test runs on. */
START_TEST(list_fits_and_is_the_same_on_each_machine)
{
	static const char *const lines[] = {"list [cLb]*-*s", "list --all [cLb]*-*s",
	                                    "list no-such-word"};
	FILE *stream = golden_open();

	use_machine(_i);
	fake_lack_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES);
	for (size_t i = 0; i < WIDTHS * 3; i++) {
		size_t width = machine_widths[i / 3];
		char *text = screen_of(width, tool_list, lines[i % 3], i % 3 == 2 ? 125 : 0);
		screen_check(text, width, 100);
		fprintf(stream, "%zu columns, %s:\n%s\n", width, lines[i % 3], text);
		free(text);
	}
	golden_check_file(stream, "screen_list.txt");
}
END_TEST

static struct ps_eventset *model;
static struct stat_count count;

/* Each CPU has counted for a second; those of a core differ. */
static void count_cpus(const struct stat_options *options, int cpus)
{
	ck_assert_ptr_nonnull(model = stat_events_create(options));
	ck_assert_int_eq(stat_count_create(&count, model, options), 0);
	ck_assert_int_eq(stat_start_cpus(&count, options->target.cpus), 0);
	for (int cpu = 0; cpu < cpus; cpu++) {
		uint64_t cycles = UINT64_C(20000000) * (uint64_t)(100 + cpu * 7 % 16);
		fake_advance_on(CYCLES, -1, cpu, cycles);
		fake_advance_on(INSTRUCTIONS, -1, cpu, cycles / (cpu % 2 ? 4 : 1));
		fake_advance_on(PAGE_FAULTS, -1, cpu, cpu == 1 ? 4711 : 0);
	}
	fake_run(1000000000, 1000000000);
	stat_count_stop(&count, NULL);
}

/* Without the line of the command's own CPU time, which is no count. */
static void put_stat(const struct stat_options *options, size_t width, size_t most_lines,
                     FILE *golden)
{
	const struct stat_facts facts = {.elapsed_s = 1.0, .has_ended = true};
	struct stat_output output = {.options = options,
	                             .screen = {.is_terminal = true, .width = width}};
	char *text = NULL;
	size_t bytes;

	output.stream = open_memstream(&text, &bytes);
	ck_assert_int_eq(stat_show(&output, &count, &facts), 0);
	fclose(output.stream);
	screen_check(text, width, most_lines);
	fprintf(golden, "%zu columns:\n", width);
	put_without(text, "", "cost ", golden);
	free(text);
}

START_TEST(stat_of_all_cpus_fits)
{
	const struct stat_options options = {.target.is_whole_machine = true};
	FILE *stream = golden_open();
	char file[32];

	use_machine(_i);
	for (size_t i = 0; i < WIDTHS; i++) {
		count_cpus(&options, machines[_i].cpus);
		put_stat(&options, machine_widths[i], 48, stream);
		stat_count_destroy(&count);
		ps_eventset_destroy(model);
	}
	snprintf(file, sizeof file, "screen_stat_%d.txt", machines[_i].cpus);
	golden_check_file(stream, file);
}
END_TEST

START_TEST(stat_of_more_cpus_than_the_machine_has_names_cause_and_remedy)
{
	char line[] = "stat -a true";

	use_machine(3);
	fake_file("/sys/devices/system/cpu/possible", "0-1\n");
	for (size_t i = 0; i < WIDTHS; i++) {
		char *text = screen_of(machine_widths[i], tool_stat, line, 125);
		screen_check(text, machine_widths[i], 6);
		ck_assert_msg(strstr(text, "HWLOC_SYNTHETIC=pack:2") &&
		                  strstr(text, "'unset HWLOC_SYNTHETIC HWLOC_THISSYSTEM'"),
		              "%s", text);
		free(text);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("screens");
	TCase *tests = scene_case_of(suite, "screens", scene_setup, teardown);

	if (!screen_is_possible()) {
		printf("SKIP: screens: there is no terminal here\n");
		return EXIT_SUCCESS;
	}
	tcase_add_loop_test(tests, doctor_fits, 0, MACHINES);
	tcase_add_loop_test(tests, doctor_fits_where_much_is_wrong, 0, MACHINES);
	tcase_add_loop_test(tests, list_fits_and_is_the_same_on_each_machine, 0, MACHINES);
	tcase_add_loop_test(tests, stat_of_all_cpus_fits, 0, MACHINES);
	tcase_add_test(tests, stat_of_more_cpus_than_the_machine_has_names_cause_and_remedy);
	return scene_run(suite);
}
