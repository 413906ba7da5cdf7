/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of what a set is attached to: final counts are marked, and a start is refused, whether it
 * was waited for or not. And a process whose threads are created while it is attached. */
#include "base/os.h"
#include "support/scene.h"

#include <stdio.h>

#define EVENT   "page-faults"
#define PROCESS 500
#define OTHER   501

static struct ps_eventset *attached(bool is_process)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	fake_task(PROCESS, "solver", 2);
	fake_task_affinity(PROCESS, "0-3");
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	check_ok(is_process ? ps_eventset_attach_process(set, PROCESS)
	                    : ps_eventset_attach_tid(set, PROCESS));
	check_ok(ps_start(set));
	return set;
}

static bool is_marked(int cpu, uint64_t timestamp)
{
	return scene_part(cpu, EVENT, timestamp).flags & PS_VALUE_ENDED;
}

static void end(bool is_waited_for)
{
	if (is_waited_for)
		fake_task_end(PROCESS);
	else
		fake_task_zombie(PROCESS, 1);
	if (is_waited_for)
		fake_file("/proc/500/task/500/stat", NULL);
}

/* _i: bit 0 a process, bit 1 it was waited for, bit 2 the first look is that of ps_stop. */
START_TEST(all_parts_of_the_final_counts_are_marked_and_a_start_is_refused)
{
	struct ps_eventset *set = attached(_i & 1);
	uint64_t before = 0, last = 0, again = 0;

	fake_advance(PAGE_FAULTS, 40);
	check_ok(ps_read(set, scene.root, &before, NULL));
	ck_assert(!is_marked(2, before));
	fake_task(PROCESS, "solver", 1);
	fake_advance(PAGE_FAULTS, 2);
	fake_switch_out(PROCESS);
	fake_switch_in(PROCESS, 1);
	end(_i & 2);
	check_ok(_i & 4 ? ps_stop(set, scene.root, &last, NULL)
	                : ps_read(set, scene.root, &last, NULL));
	ck_assert_int_eq(ps_eventset_is_ended(set), 1);
	ck_assert_int_eq(scene_sum(EVENT, last), 42);
	ck_assert_uint_ne(scene_total(EVENT).flags & PS_VALUE_ENDED, 0);
	ck_assert(scene.mode == PS_ATTRIBUTE_LAST_CPU ||
	          (is_marked(1, last) && is_marked(2, last)));
	ck_assert(!is_marked(2, before));
	if (!(_i & 4))
		check_ok(ps_stop(set, scene.root, &last, NULL));
	check_ok(ps_read(set, scene.root, &again, NULL));
	ck_assert_int_eq(scene_sum(EVENT, again), 42);
	ck_assert_uint_ne(scene_total(EVENT).flags & PS_VALUE_ENDED, 0);
	check_fails(ps_start(set), PS_ESYS);
	check_detail("500 has ended");
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_process_lives_until_its_last_thread_has_ended)
{
	struct ps_eventset *set = attached(true);
	uint64_t timestamp = 0;
	int fds[8];

	fake_task(OTHER, "worker", 1);
	fake_file("/proc/500/task/501/stat", "501 (worker) R 1\n");
	fake_task_zombie(PROCESS, 2);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(ps_eventset_is_ended(set), 0);
	ck_assert_uint_eq(scene_total(EVENT).flags & PS_VALUE_ENDED, 0);
	ps_eventset_destroy(set);

	set = scene_set(EVENT, NULL);
	check_ok(ps_eventset_attach_process(set, PROCESS));
	check_ok(ps_start(set));
	size_t count = fake_counter_fds(fds, 8);
	for (size_t i = 0; i < count && i < 8; i++) {
		pid_t tid;
		int cpu;
		fake_target_of_fd(fds[i], &tid, &cpu);
		ck_assert_int_eq(tid, OTHER);
	}
	fake_advance(PAGE_FAULTS, 7);
	timestamp = 0;
	check_ok(ps_stop(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 7);
	ps_eventset_destroy(set);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_loop_test(tests, all_parts_of_the_final_counts_are_marked_and_a_start_is_refused,
	                    0, 8);
	tcase_add_test(tests, a_process_lives_until_its_last_thread_has_ended);
}

/* Each list of the process's threads has one more than the one before, so many times. */
static int (*list_of_fake)(const char *path, int (*visit)(const char *name, void *context),
                           void *context);
static int births;

static int list_one_more(const char *path, int (*visit)(const char *name, void *context),
                         void *context)
{
	char file[64];

	if (births > 0 && strstr(path, "/task")) {
		fake_task(600 + births, "newborn", 0);
		snprintf(file, sizeof file, "%s/%d/stat", path, 600 + births);
		fake_file(file, "");
		births--;
	}
	return list_of_fake(path, visit, context);
}

static const enum ps_attribution_mode modes[] = {PS_ATTRIBUTE_AUTO, PS_ATTRIBUTE_TIME_SHARE,
                                                 PS_ATTRIBUTE_LOOKS, PS_ATTRIBUTE_LAST_CPU};
#define MODES ((int)(sizeof modes / sizeof *modes))

/* _i: the mode. */
START_TEST(a_process_that_creates_threads_all_the_time_is_counted_and_that_is_told)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);
	const char *why = NULL;

	fake_task(500, "parent", 1);
	fake_file("/proc/500/task/500/stat", "");
	check_ok(ps_eventset_set_attribution(set, modes[_i]));
	check_ok(ps_eventset_attach_process(set, 500));
	list_of_fake = ps__os.list;
	ps__os.list = list_one_more;
	births = 1000;
	fake_set_nofile(10000);
	check_fails(ps_start(set), PS_PARTIAL);
	check_detail("threads were created all the time");
	ck_assert_int_lt(births, 1000 - 8);
	ck_assert(ps_eventset_is_running(set));
	ps_eventset_attribution(set, &why);
	ck_assert_ptr_nonnull(strstr(why, "counted twice or not"));
	fake_advance_on(PAGE_FAULTS, 500, modes[_i] == PS_ATTRIBUTE_AUTO ? 1 : -1, 5);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_total(EVENT).value, 5);
	ck_assert_int_eq((int)scene_total(EVENT).status, PS_STATUS_INCOMPLETE);
	births = 3; /* the second attempt finds the same threads before and after */
	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps__os.list = list_of_fake;
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ended");

	add_tests(scene_case(suite, "ended"));
	add_tests(scene_case_instances(suite, "ended-per-CPU"));
	add_tests(scene_case_last_cpu(suite, "ended-last-cpu"));
	tcase_add_loop_test(scene_case(suite, "created"),
	                    a_process_that_creates_threads_all_the_time_is_counted_and_that_is_told,
	                    0, MODES);
	return scene_run(suite);
}
