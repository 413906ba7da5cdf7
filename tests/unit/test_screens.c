/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands on terminals of 60 to 200 columns, a few on narrower ones, for machines of 2 to 512
 * hardware threads: no line is wider than the terminal, and the machine does not decide how many
 * there are. Golden files screen_*.txt.
 */
#include "support/golden.h"
#include "support/machines.h"
#include "support/scene.h"
#include "support/screen.h"
#include "support/skip.h"
#include "tools/command.h"

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
 * a line that begins so. The number of lines that are put. */
static size_t put_without(const char *text, const char *names, const char *end, FILE *stream)
{
	bool is_left_out = false;
	size_t lines = 0;

	for (size_t length; *text && strncmp(text, end, strlen(end)) != 0; text += length) {
		char name[32] = "", word[34];
		length = strcspn(text, "\n") + 1;
		if (*text != ' ' && sscanf(text, "%*s %31s", name) == 1)
			is_left_out = snprintf(word, sizeof word, " %s ", name) > 0 &&
			              strstr(names, word) != NULL;
		if (is_left_out)
			continue;
		fwrite(text, 1, length, stream);
		lines++;
	}
	return lines;
}

/* At each width. */
static void check_doctor(int machine, const char *line, int status, const char *name)
{
	FILE *stream = golden_open();
	char file[64];

	for (size_t i = 0; i < WIDTHS; i++) {
		char *text = screen_of(machine_widths[i], tool_doctor, line, status);
		screen_check(text, machine_widths[i], SIZE_MAX);
		fprintf(stream, "%zu columns:\n", machine_widths[i]);
		size_t lines = put_without(text, " papi libpfm4 ", "If perfsage itself", stream);
		ck_assert_uint_le(lines, 10400 / machine_widths[i]);
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

/* Where text has no room beside a name, it stands below. */
START_TEST(narrow_terminals_have_no_longer_line)
{
	static const struct {
		int (*subcommand)(int argc, char **argv);
		const char *line;
		int status;
	} runs[] = {
	    {tool_doctor, "doctor -e cycles,page-faults", 0},
	    {tool_doctor, "doctor -e no-such-event", 1},
	    {tool_doctor, "doctor --help", 0},
	    {tool_list, "list [cLb]*-*s", 0},
	    {tool_list, "list --all [cLb]*-*s", 0},
	    {tool_list, "list --help", 0},
	    {tool_topo, "topo --help", 0},
	};
	static const size_t widths[] = {40, 45, 50, 59};

	use_machine(0);
	fake_lack_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES);
	for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
		char *text =
		    screen_of(widths[i], runs[_i].subcommand, runs[_i].line, runs[_i].status);
		screen_check(text, widths[i], 400);
		ck_assert_msg(!strstr(text, " \n"), "%zu columns: %s", widths[i], text);
		free(text);
	}
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
	tcase_add_loop_test(tests, doctor_fits, 0, machine_count());
	tcase_add_loop_test(tests, doctor_fits_where_much_is_wrong, 0, machine_count());
	tcase_add_loop_test(tests, list_fits_and_is_the_same_on_each_machine, 0, machine_count());
	tcase_add_loop_test(tests, narrow_terminals_have_no_longer_line, 0, 7);
	tcase_add_test(tests, stat_of_more_cpus_than_the_machine_has_names_cause_and_remedy);
	return scene_run(suite);
}
