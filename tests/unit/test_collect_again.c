/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that starts the collector again and again, while its threads live on. */
#define PERFSAGE_NO_MARKS
#include "collect/process.h"
#include "support/scene.h"

#include <perfsage/paths.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void setup(void)
{
	scene_setup();
	clearenv();
	setenv("HWLOC_SYNTHETIC", "pu:4", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	setenv("PERFSAGE_EVENTS", "page-faults", 1);
}

static struct collect_process begin(void)
{
	struct collect_process process = {.profile = NULL};

	check_ok(collect_process_begin(&process));
	return process;
}

static pthread_barrier_t both;

static long long faults_of_work(const struct collect_process *process)
{
	struct ps_paths *paths = NULL;
	struct ps_value value = {0};
	const char *name = "work";

	check_ok(ps_paths_create(&paths, process->profile));
	check_ok(ps_path_value(ps_path_find(ps_paths_root(paths), &name, 1),
	                       ps_topology_root(process->topology), "page-faults",
	                       PS_SHARE_EXCLUSIVE, &value));
	ps_paths_destroy(paths);
	return value.value;
}

/* As a start of the program's after the first one. */
static void begin_again(struct collect_process *process)
{
	ps_profile_leave(process->profile);
	collect_process_retire(process);
	check_ok(collect_process_begin(process));
}

static void visit_work(const struct collect_process *process, unsigned faults)
{
	struct ps_region *work;

	check_ok(ps_region_define(&work, process->profile, "work"));
	check_ok(ps_region_enter(work));
	fake_advance(PAGE_FAULTS, faults);
	check_ok(ps_region_leave(work));
}

#define STARTS 10

static void *live_through_starts(void *process)
{
	for (unsigned start = 1; start <= STARTS; start++) {
		pthread_barrier_wait(&both);
		visit_work(process, start);
		pthread_barrier_wait(&both);
	}
	pthread_barrier_wait(&both); /* its counters are there until then */
	return NULL;
}

/* A thread that lives on has one set of counters, and its counts are those of each start. Two
 * topologies are there at most: the thread leaves the last start's at its next mark. */
static void start_often(void)
{
	struct collect_process process = begin();
	size_t before = fake_allocated_bytes(), growth;
	struct ps_topology *topology = NULL;
	unsigned descriptors = 0;
	pthread_t thread;

	check_ok(ps_topology_load(&topology, NULL));
	const size_t topology_bytes = fake_allocated_bytes() - before;
	ps_topology_destroy(topology);
	pthread_barrier_init(&both, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, live_through_starts, &process), 0);
	for (unsigned start = 1; start <= STARTS; start++) {
		if (start > 1)
			begin_again(&process);
		pthread_barrier_wait(&both);
		pthread_barrier_wait(&both);
		ck_assert_int_eq(faults_of_work(&process), start);
		if (start <= 2)
			before = fake_allocated_bytes();
		descriptors = descriptors ? descriptors : fake_open_fds();
		ck_assert_uint_eq(fake_open_fds(), descriptors);
	}
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	growth = fake_allocated_bytes() - before;
	ck_assert_msg(growth < (STARTS - 2) * topology_bytes / 2, "%zu bytes, a topology %zu",
	              growth, topology_bytes);
}

static void check_in_child(void (*check)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		check();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

/* A child starts the collector, because a start leaves memory until the process ends. */
START_TEST(a_thread_that_lives_on_is_counted_once_in_each_start)
{
	check_in_child(start_often);
}
END_TEST

static void *join_too_late(void *region)
{
	check_fails(ps_region_enter(region), PS_ENOTRUN);
	return NULL;
}

/* The thread found its region just before the next start. */
static void pass_a_mark_of_an_earlier_start(void)
{
	struct collect_process process = begin();
	struct ps_region *work;
	pthread_t thread;

	check_ok(ps_region_define(&work, process.profile, "work"));
	begin_again(&process);
	ck_assert_int_eq(pthread_create(&thread, NULL, join_too_late, work), 0);
	pthread_join(thread, NULL);
	visit_work(&process, 3);
	ck_assert_int_eq(faults_of_work(&process), 3);
}

START_TEST(a_mark_of_an_earlier_start_counts_no_thread)
{
	check_in_child(pass_a_mark_of_an_earlier_start);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("collect_again");
	TCase *tests = tcase_create("collect_again");

	tcase_add_checked_fixture(tests, setup, scene_teardown);
	suite_add_tcase(suite, tests);
	tcase_add_test(tests, a_thread_that_lives_on_is_counted_once_in_each_start);
	tcase_add_test(tests, a_mark_of_an_earlier_start_counts_no_thread);
	return scene_run(suite);
}
