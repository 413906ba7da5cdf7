/* SPDX-License-Identifier: BSD-3-Clause */
/* The events that perfsage stat chooses by itself, what it says of those that it leaves out, and
 * what it tells per second. */
#include "base/os.h"
#include "support/scene.h"
#include "tools/stat_footer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RUNTIME_ID "/sys/kernel/tracing/events/sched/sched_stat_runtime/id"

static char complaints[4096]; /* the latest ones */

/* Makes the model, and keeps what went to stderr. */
static struct ps_eventset *model_of(const struct stat_options *options)
{
	FILE *file = tmpfile();
	int old = dup(STDERR_FILENO);

	ck_assert_ptr_nonnull(file);
	fflush(stderr);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	struct ps_eventset *model = stat_events_create(options);
	fflush(stderr);
	ck_assert_int_ge(dup2(old, STDERR_FILENO), 0);
	close(old);
	rewind(file);
	complaints[fread(complaints, 1, sizeof complaints - 1, file)] = '\0';
	fclose(file);
	return model;
}

static struct ps_eventset *events_of(bool is_whole_machine)
{
	return model_of(&(struct stat_options){.target.is_whole_machine = is_whole_machine});
}

/* Destroys the model. */
static void check_events(struct ps_eventset *model, const char *wanted)
{
	char names[512] = "";

	ck_assert_ptr_nonnull(model);
	for (size_t index = 0; index < ps_eventset_event_count(model); index++)
		strcat(strcat(names, index ? " " : ""), ps_eventset_event_name(model, index));
	ck_assert_str_eq(names, wanted);
	ps_eventset_destroy(model);
}

START_TEST(a_command_is_counted_by_what_the_machine_has)
{
	fake_add_msr();
	check_events(events_of(false), "task-clock page-faults context-switches cpu-migrations");
	ck_assert_str_eq(complaints, "");
	fake_add_core_pmu(6);
	check_events(events_of(false),
	             "task-clock cycles instructions cache-references cache-misses branch-misses");
	ck_assert_str_eq(complaints, "");
}
END_TEST

START_TEST(whole_cpus_are_counted_by_what_stands_still_when_they_are_idle)
{
	check_events(events_of(true), "context-switches cpu-migrations page-faults");
	ck_assert_str_eq(complaints, "");
	fake_file(RUNTIME_ID, "363\n");
	fake_add_event(PERF_TYPE_TRACEPOINT, 363);
	check_events(events_of(true),
	             "sched:sched_stat_runtime context-switches cpu-migrations page-faults");
	fake_add_core_pmu(6);
	check_events(events_of(true),
	             "cycles instructions context-switches cpu-migrations page-faults");
	ck_assert_str_eq(complaints, "");
}
END_TEST

/* The one line that there is must have both parts. */
static void check_complaint(const char *left_out, const char *remedy)
{
	ck_assert_msg(strstr(complaints, left_out) && strstr(complaints, remedy), "%s", complaints);
	ck_assert_ptr_eq(strchr(complaints, '\n'), complaints + strlen(complaints) - 1);
}

START_TEST(what_may_not_be_counted_is_said_in_one_line)
{
	fake_set_paranoid(2, false);
	check_events(events_of(false), "task-clock page-faults");
	check_complaint("left out: context-switches, cpu-migrations: counting the kernel",
	                "as root: sysctl kernel.perf_event_paranoid=1");
	/* A PMU's events are counted in user space: nothing is left out. */
	fake_add_core_pmu(6);
	ps_eventset_destroy(events_of(false));
	ck_assert_str_eq(complaints, "");
	fake_set_paranoid(3, false);
	ck_assert_ptr_null(events_of(false));
	check_complaint("is not permitted", "sysctl kernel.perf_event_paranoid=");
}
END_TEST

START_TEST(a_tracepoint_that_may_not_be_read_is_said_to_be_left_out)
{
	fake_file(RUNTIME_ID, "363\n");
	fake_file_error(RUNTIME_ID, EACCES);
	check_events(events_of(true), "context-switches cpu-migrations page-faults");
	check_complaint("left out: sched:sched_stat_runtime: ", "mount -o remount,mode=755");
}
END_TEST

/* What is told per second of 3 s of CPU time and 30 page faults, in 2 s. Destroys the set. */
static void check_rates(struct ps_eventset *set, enum ps_status status,
                        enum ps_attribution attribution, const char *wanted)
{
	struct stat_quality quality;
	struct ps__buffer out = {0};

	ck_assert_int_eq(stat_quality_create(&quality, set), 0);
	quality.sums = ps__os_calloc(quality.event_count, sizeof *quality.sums);
	quality.attribution = attribution;
	for (size_t event = 0; event < quality.event_count; event++)
		quality.sums[event] = (struct ps_value){
		    .status = status,
		    .value = strcmp(ps_eventset_event_name(set, event), "page-faults") == 0
		                 ? 30
		                 : 3000000000};
	stat_rates_show(&quality, 2.0, &out);
	ck_assert_str_eq(ps__buffer_text(&out), wanted);
	ps__buffer_clear(&out);
	stat_quality_destroy(&quality);
	ps_eventset_destroy(set);
}

START_TEST(rates_and_cpus_are_told_where_the_cpu_time_is_known)
{
	check_rates(scene_set("page-faults", "task-clock:u", NULL), PS_STATUS_COUNTED,
	            PS_ATTRIBUTION_EXACT,
	            "utilized    1.50 CPUs: the CPU time per elapsed time\n"
	            "rates       10 page faults per CPU second\n");
	check_rates(scene_set("cpu-clock", NULL), PS_STATUS_COUNTED, PS_ATTRIBUTION_LAST_CPU,
	            "utilized    1.50 CPUs: the CPU time per elapsed time\n");
	check_rates(scene_set("page-faults", "task-clock", NULL), PS_STATUS_INCOMPLETE,
	            PS_ATTRIBUTION_EXACT,
	            "utilized    >= 1.50 CPUs: the CPU time per elapsed time\n");
	check_rates(scene_set("page-faults", "task-clock", NULL), PS_STATUS_COUNTED,
	            PS_ATTRIBUTION_ATTACHED, "");
	check_rates(scene_set("page-faults", "task-clock", NULL), PS_STATUS_NOT_SUPPORTED,
	            PS_ATTRIBUTION_EXACT, "");
	check_rates(scene_set("page-faults", NULL), PS_STATUS_COUNTED, PS_ATTRIBUTION_EXACT, "");
}
END_TEST

START_TEST(an_event_of_a_package_is_refused_but_for_whole_cpus)
{
	struct stat_options options = {.target.is_whole_machine = false};
	struct ps_eventset *model;

	fake_add_event(20, 2);
	fake_set_pmu_flags(20, FAKE_PMU_CPU_ONLY | FAKE_PMU_NO_EXCLUDE);
	fake_file("/sys/bus/event_source/devices/power/type", "20\n");
	fake_file("/sys/bus/event_source/devices/power/cpumask", "0,2\n");
	fake_file("/sys/bus/event_source/devices/power/format/event", "config:0-7\n");
	for (int cpu = 0; cpu < 4; cpu++) {
		char path[80];

		snprintf(path, sizeof path,
		         "/sys/devices/system/cpu/cpu%d/topology/package_cpus_list", cpu);
		fake_file(path, cpu < 2 ? "0-1\n" : "2-3\n");
	}
	ck_assert_int_eq(tool_names_append(&options.events, "power/event=2/"), 0);
	ck_assert_ptr_null(model_of(&options));
	ck_assert_msg(strstr(complaints, "counts for a package, not for a command") != NULL, "%s",
	              complaints);
	options.target.is_whole_machine = true;
	model = model_of(&options);
	ck_assert_msg(model != NULL, "%s", complaints);
	ps_eventset_destroy(model);
	tool_names_clear(&options.events);
}
END_TEST

START_TEST(the_speed_is_told_where_cycles_and_instructions_are_counted)
{
	fake_add_core_pmu(6);
	check_rates(scene_set("cycles", "instructions", "task-clock", NULL), PS_STATUS_COUNTED,
	            PS_ATTRIBUTION_EXACT,
	            "utilized    1.50 CPUs: the CPU time per elapsed time\n"
	            "speed       1 instructions per cycle, 1 GHz\n");
	check_rates(scene_set("cycles", "task-clock", NULL), PS_STATUS_COUNTED,
	            PS_ATTRIBUTION_EXACT,
	            "utilized    1.50 CPUs: the CPU time per elapsed time\n"
	            "speed       1 GHz\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_defaults");
	TCase *tests = scene_case(suite, "defaults");

	tcase_add_test(tests, a_command_is_counted_by_what_the_machine_has);
	tcase_add_test(tests, whole_cpus_are_counted_by_what_stands_still_when_they_are_idle);
	tcase_add_test(tests, what_may_not_be_counted_is_said_in_one_line);
	tcase_add_test(tests, a_tracepoint_that_may_not_be_read_is_said_to_be_left_out);
	tcase_add_test(tests, an_event_of_a_package_is_refused_but_for_whole_cpus);
	tcase_add_test(tests, rates_and_cpus_are_told_where_the_cpu_time_is_known);
	tcase_add_test(tests, the_speed_is_told_where_cycles_and_instructions_are_counted);
	return scene_run(suite);
}
