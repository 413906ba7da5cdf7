/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage stat -p: children that a process creates while its events are opened. The process and
 * its children are real, because their list comes from /proc. The events are the fake kernel's. */
#include "base/os.h"
#include "eventset/parts.h"
#include "support/scene.h"
#include "tools/processes.h"
#include "tools/stat_run.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct stat_count count;
static struct ps_eventset *model;
static pid_t parent;
static int orders[2], answers[2];
static int births; /* children that are still to be created, one whenever an event is opened */
static int (*open_event)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                         unsigned long flags);

/* Creates a child for each byte, and answers with its number. The children end with it. */
static void parent_run(void)
{
	char order;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(orders[0], &order, 1) == 1) {
		pid_t child = fork();
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		if (write(answers[1], &child, sizeof child) != sizeof child)
			break;
	}
	_exit(0);
}

static void show_process(pid_t pid)
{
	char path[64], text[64];

	fake_task(pid, "worker", 1);
	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)pid);
	snprintf(text, sizeof text, "%d (worker) S 1\n", (int)pid);
	fake_file(path, text);
}

static void create_child(void)
{
	pid_t child = -1;

	ck_assert_int_eq(write(orders[1], "", 1), 1);
	ck_assert_int_eq(read(answers[0], &child, sizeof child), sizeof child);
	ck_assert_int_gt(child, 0);
	show_process(child);
}

static int open_with_birth(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                           unsigned long flags)
{
	int fd = open_event(attr, pid, cpu, group_fd, flags);

	if (pid == parent && births > 0) {
		births--;
		create_child();
	}
	return fd;
}

static void begin(void)
{
	scene_setup_last_cpu();
	ck_assert_int_eq(pipe(orders), 0);
	ck_assert_int_eq(pipe(answers), 0);
	parent = fork();
	if (parent == 0)
		parent_run();
	show_process(parent);
	count = (struct stat_count){0};
	model = scene_set("page-faults", NULL);
	count.model = model;
	births = 0;
	open_event = ps__os.perf_event_open;
	ps__os.perf_event_open = open_with_birth;
}

static void end(void)
{
	ps__os.perf_event_open = open_event;
	for (size_t index = 0; index < count.set_count; index++)
		ps_eventset_destroy(count.sets[index]);
	ps__os_free(count.sets);
	ps_eventset_destroy(model);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	scene_teardown();
}

static void start(bool has_children)
{
	const struct stat_target target = {.pids = &parent,
	                                   .pid_count = 1,
	                                   .has_children = has_children,
	                                   .method = STAT_METHOD_WHOLE};

	ck_assert_int_eq(stat_start_processes(&count, &target), 0);
}

static void check_shown(const char *wanted)
{
	struct ps__buffer out = {0};

	stat_uncounted_show(&count.uncounted, &out);
	ck_assert_msg(strstr(ps__buffer_text(&out), wanted) != NULL, "%s", ps__buffer_text(&out));
	ps__buffer_clear(&out);
}

START_TEST(what_begins_at_each_start_is_told_below_the_counts)
{
	births = 1000;
	start(true);
	ck_assert_uint_eq(count.set_count, 1 + 7); /* the children of the seven starts before */
	ck_assert_uint_eq(count.uncounted.children, 1);
	check_shown("1 child process that ran already when counting began; 1 of them began just "
	            "then, and may be counted\n");
}
END_TEST

START_TEST(what_began_at_the_first_start_is_counted_by_the_second)
{
	births = 1;
	start(true);
	ck_assert_uint_eq(count.set_count, 2);
	check_shown("");
	ck_assert_uint_eq(count.uncounted.children, 0);
}
END_TEST

START_TEST(without_children_what_ran_before_is_told_from_what_began)
{
	create_child();
	create_child();
	births = 1;
	start(false);
	ck_assert_uint_eq(count.set_count, 1);
	ck_assert_uint_eq(count.uncounted.children, 3);
	check_shown("3 child processes that ran already when counting began; 1 of them began just "
	            "then, and may be counted\n");
}
END_TEST

START_TEST(what_ran_before_is_not_counted)
{
	create_child();
	start(false);
	check_shown("1 child process that ran already when counting began\n");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stat_children");
	TCase *tests = scene_case_of(suite, "stat_children", begin, end);

	tcase_add_test(tests, what_begins_at_each_start_is_told_below_the_counts);
	tcase_add_test(tests, what_began_at_the_first_start_is_counted_by_the_second);
	tcase_add_test(tests, without_children_what_ran_before_is_told_from_what_began);
	tcase_add_test(tests, what_ran_before_is_not_counted);
	return scene_run(suite);
}
