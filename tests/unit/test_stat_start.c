/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage stat counts several processes, each of which may be another case, or several CPUs, and
 * looks at their tasks while it waits. */
#include "base/os.h"
#include "eventset/parts.h"
#include "support/scene.h"
#include "tools/stat_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct ps_eventset *model;
static struct session session;
static struct run run;

/* 128 CPUs, two events: 256 copies. */
static void begin(void)
{
	scene_setup();
	fake_file("/sys/devices/system/cpu/possible", "0-127\n");
	fake_file("/sys/devices/system/cpu/present", "0-127\n");
	fake_set_nofile(10000);
	session = (struct session){.options.format = PS_FORMAT_JSON};
	run = (struct run){.session = &session};
	model = scene_set("page-faults", "minor-faults", NULL);
	check_ok(ps_eventset_set_attribution(model, PS_ATTRIBUTE_AUTO));
	run.count.model = model;
}

static void end(void)
{
	for (size_t index = 0; index < run.count.set_count; index++)
		ps_eventset_destroy(run.count.sets[index]);
	ps__os_free(run.count.sets);
	ps__os_free(run.count.online);
	ps_eventset_destroy(model);
	scene_teardown();
}

static void show_process(pid_t pid, const char *cpus)
{
	char path[64];

	fake_task(pid, "solver", 1);
	fake_task_affinity(pid, cpus);
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	fake_file(path, "500 (solver) R 1\n");
}

static int start(enum stat_method method)
{
	static pid_t pids[] = {500, 600};
	const struct stat_target target = {.pids = pids, .pid_count = 2, .method = method};

	return stat_start_processes(&run.count, &target);
}

static void check_method(enum stat_method method, const char *wanted)
{
	struct ps__buffer out = {0};

	ck_assert_int_eq((int)run.count.how.method, (int)method);
	stat_method_show(&run.count.how, &out);
	if (wanted)
		ck_assert_ptr_nonnull(strstr(ps__buffer_text(&out), wanted));
	else
		ck_assert_ptr_null(strstr(ps__buffer_text(&out), "processes"));
	ps__buffer_clear(&out);
}

START_TEST(one_process_of_several_is_enough_for_looks)
{
	show_process(500, "0-3");
	show_process(600, "0-63");
	ck_assert_int_eq(start(STAT_METHOD_AUTO), 0);
	ck_assert(!ps__set_has_looks(run.count.sets[0]));
	ck_assert(ps__set_has_looks(run.count.sets[1]));
	check_method(STAT_METHOD_LOOKS, "takes 7 copies of events and clocks, ");
	check_method(STAT_METHOD_LOOKS, "; of 2 processes 1 by looks, 1 by time-share");
	ck_assert_uint_eq(run.count.how.copies, 7); /* two events, a clock for each of 4 CPUs,
	                                             * and one for any other */
	stat_wait_set_clocks(&run);
	ck_assert_uint_gt(run.look_ns, 0);
	ck_assert_ptr_nonnull(session.watcher.before_end);
	stat_wait_forget(&run);
	ck_assert_ptr_null(session.watcher.before_end);
	ck_assert_ptr_null(session.watcher.context);
}
END_TEST

/* Four CPUs, and descriptors for one thread with per-CPU events. */
START_TEST(the_copies_are_those_of_the_process_with_most)
{
	fake_file("/sys/devices/system/cpu/possible", "0-3\n");
	fake_file("/sys/devices/system/cpu/present", "0-3\n");
	fake_set_nofile(40);
	show_process(500, "0-3");
	show_process(600, "0-3");
	fake_task(601, "solver", 1);
	fake_task_affinity(601, "0-3");
	fake_file("/proc/600/task/601/stat", "601 (solver) R 1\n");
	ck_assert_int_eq(start(STAT_METHOD_AUTO), 0);
	check_method(STAT_METHOD_LOOKS, "; of 2 processes 1 by looks, 1 neither");
	ck_assert_uint_eq(run.count.how.copies, 8); /* two events for each of 4 CPUs */
}
END_TEST

START_TEST(processes_that_are_alike_have_one_method)
{
	show_process(500, "0-3");
	show_process(600, "4-7");
	ck_assert_int_eq(start(STAT_METHOD_AUTO), 0);
	check_method(STAT_METHOD_TIME_SHARE, NULL);
	stat_wait_set_clocks(&run);
	ck_assert_uint_eq(run.look_ns, 0);
	ck_assert_ptr_null(session.watcher.before_end);
}
END_TEST

static int (*open_event)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                         unsigned long flags);
static pid_t first_pid;
static int first_cpu;

/* While the events of other targets are opened, those of the first one count. */
static int open_while_counting(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                               unsigned long flags)
{
	if (pid != first_pid || cpu != first_cpu)
		fake_advance_on(PAGE_FAULTS, first_pid, first_cpu, 1000);
	return open_event(attr, pid, cpu, group_fd, flags);
}

static void begin_counting(pid_t pid, int cpu)
{
	fake_file("/sys/devices/system/cpu/possible", "0-3\n");
	fake_file("/sys/devices/system/cpu/present", "0-3\n");
	first_pid = pid;
	first_cpu = cpu;
	open_event = ps__os.perf_event_open;
	ps__os.perf_event_open = open_while_counting;
	run.count.topology = scene.topology;
	run.count.root = scene.root;
}

/* Counts 5 more page faults of the first target. */
static void check_first(void)
{
	ps__os.perf_event_open = open_event;
	fake_advance_on(PAGE_FAULTS, first_pid, first_cpu, 5);
	stat_count_stop(&run.count, NULL);
	ck_assert_int_eq(scene_total("page-faults").value, 5);
}

START_TEST(the_first_process_begins_to_count_when_the_last_one_does)
{
	show_process(500, "0-3");
	show_process(600, "0-3");
	begin_counting(500, 1);
	ck_assert_int_eq(start(STAT_METHOD_AUTO), 0);
	ck_assert_uint_eq(run.count.set_count, 2);
	check_first();
}
END_TEST

static uint64_t first_open_ns;

static int open_at_time(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                        unsigned long flags)
{
	if (!first_open_ns)
		first_open_ns = ps__os_now_ns();
	return open_event(attr, pid, cpu, group_fd, flags);
}

/* The counts of --tasks can't be dropped. */
START_TEST(no_count_of_tasks_is_before_the_elapsed_time)
{
	show_process(500, "0-3");
	show_process(600, "0-3");
	begin_counting(500, 1);
	ps__os.perf_event_open = open_at_time;
	first_open_ns = 0;
	run.count.tells_tasks = true;
	ck_assert_int_eq(start(STAT_METHOD_AUTO), 0);
	uint64_t opened_ns = ps__os_now_ns();
	run.session->options.limits.timeout_ms = 1;
	stat_wait_set_clocks(&run);
	run.session->options.limits.timeout_ms = 0;
	ck_assert_uint_lt(run.started_ns, first_open_ns);
	/* The limit is not spent on the opening. */
	ck_assert_uint_ge(run.limit_ns, opened_ns + 1000000);
	check_ok(stat_count_restart(&run.count)); /* as after --delay */
	stat_wait_set_clocks(&run);
	ck_assert_uint_gt(run.started_ns, first_open_ns);
	ps__os.perf_event_open = open_event;
}
END_TEST

START_TEST(the_first_cpu_begins_to_count_when_the_last_one_does)
{
	begin_counting(-1, 0);
	ck_assert_int_eq(stat_start_cpus(&run.count, NULL), 0);
	ck_assert_uint_eq(run.count.set_count, 4);
	check_first();
}
END_TEST

/* _i: the last reading finds the CPU, or one before does. */
START_TEST(without_a_cpu_that_came_online_the_counts_are_lower_bounds)
{
	begin_counting(-1, 0);
	fake_file("/sys/devices/system/cpu/online", "0-3\n");
	ck_assert_int_eq(stat_start_cpus(&run.count, NULL), 0);
	ps__os.perf_event_open = open_event;
	stat_count_take(&run.count);
	ck_assert_int_eq((int)scene_total("page-faults").status, PS_STATUS_COUNTED);
	fake_file("/sys/devices/system/cpu/online", "0-4\n");
	if (_i == 1) {
		stat_count_take(&run.count);
		ck_assert_int_eq((int)scene_total("page-faults").status, PS_STATUS_INCOMPLETE);
		fake_file("/sys/devices/system/cpu/online", "0-3\n");
	}
	fake_advance_on(PAGE_FAULTS, -1, 0, 5);
	stat_count_stop(&run.count, NULL);
	ck_assert_int_eq((int)scene_total("page-faults").status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(scene_total("page-faults").value, 5);
}
END_TEST

/* _i: with --children, or without */
START_TEST(without_proc_the_number_of_children_is_unknown)
{
	static pid_t pids[] = {500};
	const struct stat_target target = {
	    .pids = pids, .pid_count = 1, .has_children = _i == 1, .method = STAT_METHOD_WHOLE};

	check_ok(ps_eventset_set_attribution(model, PS_ATTRIBUTE_LAST_CPU));
	fake_task(500, "solver", 1);
	fake_unmount_proc();
	ck_assert_int_eq(stat_start_processes(&run.count, &target), 0);
	ck_assert(isnan(stat_uncounted_children(&run.count.uncounted)));
}
END_TEST

static int (*open_one)(const char *path, int flags);
static int states; /* that were asked for, of the second process */

/* Its state can't be read when looks are prepared: they are not taken. */
static int open_hidden(const char *path, int flags)
{
	if (strcmp(path, "/proc/600/task/600/stat") == 0 && states++ > 0) {
		errno = ENOENT;
		return -1;
	}
	return open_one(path, flags);
}

START_TEST(a_demanded_method_must_be_that_of_all_processes)
{
	show_process(500, "0-3");
	show_process(600, "0-3");
	check_ok(ps_eventset_set_attribution(model, PS_ATTRIBUTE_LOOKS));
	open_one = ps__os.open;
	ps__os.open = open_hidden;
	ck_assert_int_eq(start(STAT_METHOD_LOOKS), -1);
	ck_assert(ps__set_has_looks(run.count.sets[0]));
	ck_assert(!ps__set_has_looks(run.count.sets[1]));
}
END_TEST

/* -C; the tree has CPU 0 alone, as hwloc leaves out what is offline. */
static void check_cpu_refused(const char *cpu, const char *wanted)
{
	char text[256];
	FILE *file = tmpfile();
	int old = dup(STDERR_FILENO);

	ck_assert_ptr_nonnull(file);
	fflush(stderr);
	ck_assert_int_ge(dup2(fileno(file), STDERR_FILENO), 0);
	int result = stat_start_cpus(&run.count, cpu);
	fflush(stderr);
	ck_assert_int_ge(dup2(old, STDERR_FILENO), 0);
	close(old);
	rewind(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	ck_assert_int_eq(result, -1);
	ck_assert_msg(strstr(text, wanted) != NULL, "%s", text);
}

START_TEST(an_offline_cpu_is_no_cpu_that_the_machine_lacks)
{
	check_ok(ps_topology_load_synthetic(&run.count.topology, "core:1 pu:1"));
	run.count.root = ps_topology_root(run.count.topology);
	fake_file("/sys/devices/system/cpu/cpu1/online", "0\n");
	check_cpu_refused("1", "-C: CPU 1 is offline: as root, 'echo 1 > ");
	check_cpu_refused("200", "-C: this machine has no CPU 200\n");
	check_cpu_refused("2", "-C: the tree has no CPU 2\n");
	ps_topology_destroy(run.count.topology);
	run.count.topology = NULL;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_start");
	TCase *tests = scene_case_of(suite, "stat_start", begin, end);

	tcase_add_test(tests, one_process_of_several_is_enough_for_looks);
	tcase_add_test(tests, the_copies_are_those_of_the_process_with_most);
	tcase_add_test(tests, processes_that_are_alike_have_one_method);
	tcase_add_test(tests, the_first_process_begins_to_count_when_the_last_one_does);
	tcase_add_test(tests, no_count_of_tasks_is_before_the_elapsed_time);
	tcase_add_test(tests, the_first_cpu_begins_to_count_when_the_last_one_does);
	tcase_add_loop_test(tests, without_a_cpu_that_came_online_the_counts_are_lower_bounds, 0,
	                    2);
	tcase_add_loop_test(tests, without_proc_the_number_of_children_is_unknown, 0, 2);
	tcase_add_test(tests, a_demanded_method_must_be_that_of_all_processes);
	tcase_add_test(tests, an_offline_cpu_is_no_cpu_that_the_machine_lacks);
	return scene_run(suite);
}
