/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that end: their event sets go to threads that come, what they counted stays, together or
 * by thread. */
#include "base/os.h"
#include "region/profile.h"
#include "support/regions.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

struct worker {
	int number;
	int visits;
	int cpu;
};

static void *work(void *argument)
{
	const struct worker *worker = argument;
	char name[16];

	snprintf(name, sizeof name, "part %d", worker->number % 3);
	fake_set_cpu(worker->cpu);
	struct ps_region *outer = region("outer"), *part = region(name);
	check_ok(ps_region_enter(outer));
	for (int visit = 0; visit < worker->visits; visit++) {
		check_ok(ps_region_enter(part));
		fake_advance(PAGE_FAULTS, 1);
		check_ok(ps_region_leave(part));
	}
	check_ok(ps_region_leave(outer));
	return NULL;
}

static void run_worker(struct worker worker)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, work, &worker), 0);
	pthread_join(thread, NULL);
}

START_TEST(threads_that_have_ended_are_in_the_paths)
{
	size_t before = 0;

	regions_begin(EVENT, "minor-faults", NULL);
	for (int number = 0; number < 30; number++) {
		run_worker((struct worker){number, 10, number % 4});
		if (number == 11)
			before = fake_allocated_bytes();
	}
	/* Those that came later went on in the readings of the first ones. */
	ck_assert_uint_eq(fake_allocated_bytes(), before);
	take_paths();
	for (int part = 0; part < 3; part++) {
		char name[32];
		snprintf(name, sizeof name, "outer/part %d", part);
		ck_assert_int_eq(own(name, -1), 100);
		ck_assert_uint_eq(visits_of(name).count, 100);
		for (int cpu = 0; cpu < 4; cpu++)
			ck_assert_int_ge(own(name, cpu), 20);
	}
	ck_assert_uint_eq(visits_of("outer").count, 30);
	ck_assert_int_eq(all("", -1), 300);
	ck_assert_int_eq(scene_total(EVENT).value, 300);
	regions_end();
}
END_TEST

/* What has other groups can't go on in the readings of the set; those stay. */
START_TEST(a_set_that_is_grouped_otherwise_keeps_its_readings)
{
	fake_add_core_pmu(4);
	regions_begin(EVENT, "instructions", "cycles", NULL);
	run_worker((struct worker){0, 10, 1});
	size_t before = fake_allocated_bytes();
	run_worker((struct worker){0, 10, 1});
	ck_assert_uint_eq(fake_allocated_bytes(), before);
	fake_add_core_pmu(1);
	run_worker((struct worker){0, 10, 1});
	run_worker((struct worker){0, 10, 1});
	ck_assert_uint_gt(fake_allocated_bytes(), before);
	take_paths();
	ck_assert_int_eq(own("outer/part 0", 1), 40);
	ck_assert_int_eq(scene_total(EVENT).value, 40);
	regions_end();
}
END_TEST

/* A thread that can't start the set of another one is told so, and the readings stay. */
START_TEST(a_set_that_can_not_be_started_again_keeps_its_readings)
{
	regions_begin(EVENT, "minor-faults", NULL);
	run_worker((struct worker){0, 10, 1});
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_region_enter(region("outer")), PS_OK);
	ck_assert_uint_eq(faults_of_profile().uncounted, 1);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	run_worker((struct worker){0, 10, 2});
	take_paths();
	ck_assert_int_eq(own("outer/part 0", -1), 20);
	ck_assert_int_eq(scene_total(EVENT).value, 20);
	regions_end();
}
END_TEST

static struct ps_paths *paths_of(pid_t tid)
{
	struct ps_paths *paths = NULL;

	check_ok(ps_paths_create_of_thread(&paths, regions.profile, tid));
	return paths;
}

static long long faults_in(const struct ps_paths *paths, const char *part)
{
	const char *const names[] = {"outer", part};
	const struct ps_path *path = ps_path_find(ps_paths_root(paths), names, 2);
	struct ps_value value;

	if (!path)
		return -1;
	check_ok(ps_path_value(path, scene.root, EVENT, PS_SHARE_EXCLUSIVE, &value));
	return value.value;
}

/* Each thread has its own visits and counts; together they are all. */
START_TEST(threads_are_told_apart)
{
	pid_t tids[8];
	size_t count = 0;
	long long sum = 0;

	regions_begin(EVENT, "minor-faults", NULL);
	run_worker((struct worker){0, 7, 1});
	check_ok(ps_profile_threads(regions.profile, NULL, 0, &count));
	ck_assert_uint_eq(count, 0);
	check_ok(ps_profile_keep_threads(regions.profile));
	for (int number = 0; number < 3; number++)
		run_worker((struct worker){number, 10 * (number + 1), number});
	check_ok(ps_region_enter(region("main")));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_profile_threads(regions.profile, tids, 8, &count));
	ck_assert_uint_eq(count, 4);
	for (size_t index = 0; index < count; index++) {
		struct ps_paths *paths = paths_of(tids[index]);
		struct ps_value value;
		check_ok(ps_path_value(ps_paths_root(paths), scene.root, EVENT, PS_SHARE_INCLUSIVE,
		                       &value));
		sum += value.value;
		/* One part each, 10, 20 and 30 visits; the main thread has none. */
		for (int part = 0; part < 3; part++) {
			char name[16];
			snprintf(name, sizeof name, "part %d", part);
			long long faults = faults_in(paths, name);
			ck_assert(faults == -1 || faults == 10 * (part + 1));
		}
		ps_paths_destroy(paths);
	}
	ck_assert_int_eq(sum, 65);
	take_paths();
	ck_assert_int_eq(all("", -1), 72);
	check_ok(ps_region_leave(region("main")));
	regions_end();
}
END_TEST

/* The kernel gives a number again: here every thread has the same one. */
START_TEST(threads_with_the_same_number_are_added_up)
{
	pid_t tids[2];
	size_t count = 0;

	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_profile_keep_threads(regions.profile));
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 3);
	check_ok(ps_region_leave(region("outer")));
	check_ok(ps_profile_leave(regions.profile));
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 4);
	check_ok(ps_region_leave(region("outer")));
	check_ok(ps_profile_threads(regions.profile, tids, 2, &count));
	ck_assert_uint_eq(count, 1);
	regions.paths = paths_of(tids[0]);
	ck_assert_int_eq(own("outer", -1), 7);
	ck_assert_uint_eq(visits_of("outer").count, 2);
	regions_end();
}
END_TEST

START_TEST(a_thread_that_is_not_there_is_refused)
{
	struct ps_paths *paths = NULL;
	size_t count;

	regions_begin(EVENT, "minor-faults", NULL);
	check_fails(ps_paths_create_of_thread(&paths, regions.profile, 12345), PS_ENOEVST);
	check_fails(ps_paths_create_of_thread(&paths, regions.profile, 0), PS_EINVAL);
	check_fails(ps_paths_create_of_thread(&paths, NULL, 1), PS_EINVAL);
	check_fails(ps_paths_create_of_thread(NULL, regions.profile, 1), PS_EINVAL);
	check_fails(ps_profile_keep_threads(NULL), PS_EINVAL);
	check_fails(ps_profile_threads(NULL, NULL, 0, &count), PS_EINVAL);
	check_fails(ps_profile_threads(regions.profile, NULL, 1, &count), PS_EINVAL);
	check_fails(ps_profile_threads(regions.profile, NULL, 0, NULL), PS_EINVAL);
	regions_end();
}
END_TEST

/* Whatever finds no memory, the sum of all threads has everything. */
START_TEST(without_memory_a_thread_is_not_kept)
{
	unsigned kept = 0, lost = 0;

	for (unsigned nth = 1; nth < 40; nth++) {
		pid_t tid = 0;
		size_t count = 0;
		regions_begin(EVENT, "minor-faults", NULL);
		check_ok(ps_profile_keep_threads(regions.profile));
		check_ok(ps_region_enter(region("outer")));
		fake_advance(PAGE_FAULTS, 3);
		check_ok(ps_region_leave(region("outer")));
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		ps_profile_leave(regions.profile);
		fake_fail(FAKE_ALLOCATE, 0, 0);
		check_ok(ps_profile_threads(regions.profile, &tid, 1, &count));
		if (count) {
			struct ps_value value;
			struct ps_paths *paths = paths_of(tid);
			check_ok(ps_path_value(ps_paths_root(paths), scene.root, EVENT,
			                       PS_SHARE_INCLUSIVE, &value));
			ck_assert_int_eq(value.value, 3);
			ps_paths_destroy(paths);
			kept++;
		} else {
			ck_assert_uint_gt(faults_of_profile().failed, 0);
			lost++;
		}
		take_paths();
		ck_assert_int_eq(all("", -1), 3);
		regions_end();
	}
	ck_assert_uint_gt(kept, 10);
	ck_assert_uint_gt(lost, 2);
}
END_TEST

static ssize_t (*read_of_fake)(int fd, void *buffer, size_t count);
static int reads;

/* At a boundary, to attribute what came since, and to compare: before the last time something is
 * counted. */
static ssize_t count_before_last_read(int fd, void *buffer, size_t count)
{
	if (fake_attr_of_fd(fd) && ++reads == 3)
		fake_advance(PAGE_FAULTS, 9);
	return read_of_fake(fd, buffer, count);
}

START_TEST(what_no_path_has_is_in_the_residual)
{
	long long residual[2] = {-1, -1};

	regions_begin(EVENT, "minor-faults", NULL);
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 5);
	read_of_fake = ps__os.read;
	ps__os.read = count_before_last_read;
	reads = 0;
	check_ok(ps_profile_check(regions.profile, residual, 2));
	ck_assert_int_eq(residual[0], 9);
	ck_assert_int_eq(residual[1], 0);
	regions_end();
}
END_TEST

START_TEST(nothing_is_in_no_path)
{
	long long residual[2] = {-1, -1};

	regions_begin(EVENT, "minor-faults", NULL);
	run_worker((struct worker){0, 10, 1});
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_profile_check(regions.profile, residual, 2));
	ck_assert_int_eq(residual[0], 0);
	ck_assert_int_eq(residual[1], 0);
	take_paths();
	ck_assert_int_eq(all("", -1), 15);
	check_fails(ps_profile_check(NULL, residual, 2), PS_EINVAL);
	check_fails(ps_profile_check(regions.profile, NULL, 2), PS_EINVAL);
	check_fails(ps_profile_check(regions.profile, residual, 1), PS_EINVAL);
	regions_end();
}
END_TEST

static pthread_barrier_t barrier;

/* It stands still twice: with counts since its last boundary, and after that boundary. */
static void *work_with_pauses(void *unused)
{
	fake_set_cpu(1);
	check_ok(ps_region_enter(region("outer")));
	fake_advance(PAGE_FAULTS, 7);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	check_ok(ps_region_leave(region("outer")));
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

/* _i: 0: it was on the hardware all the time; 1: it waited, where is not known. */
START_TEST(what_a_running_thread_counted_is_there_if_it_is_known_where)
{
	pthread_t thread;

	fake_add_core_pmu(6);
	regions_begin(EVENT, "instructions", NULL);
	ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, work_with_pauses, NULL), 0);
	pthread_barrier_wait(&barrier);
	fake_run(2000000, _i ? 1000000 : 2000000);
	take_paths();
	ck_assert_int_eq(own("outer", -1), _i ? 0 : 7);
	ck_assert_int_eq(own("outer", 1), _i ? 0 : 7);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	take_paths();
	ck_assert_uint_eq(value_of("outer", -1, PS_SHARE_EXCLUSIVE).raw, 7);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	take_paths();
	ck_assert_uint_eq(value_of("outer", -1, PS_SHARE_EXCLUSIVE).raw, 7);
	pthread_barrier_destroy(&barrier);
	regions_end();
}
END_TEST

static int (*open_of_fake)(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                           unsigned long flags);

/* While the second software event is opened, the first one counts: it is planned. */
static int count_while_opening(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                               unsigned long flags)
{
	if (attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN)
		fake_advance(PAGE_FAULTS, 5000);
	return open_of_fake(attr, pid, cpu, group_fd, flags);
}

START_TEST(what_was_counted_while_the_events_were_opened_is_in_no_region)
{
	pthread_t thread;

	fake_add_core_pmu(6);
	regions_begin(EVENT, "minor-faults", "instructions", NULL);
	open_of_fake = ps__os.perf_event_open;
	ps__os.perf_event_open = count_while_opening;
	ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 2), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, work_with_pauses, NULL), 0);
	for (int look = 0; look < 2; look++) {
		pthread_barrier_wait(&barrier);
		take_paths();
		ck_assert_uint_eq(value_of("outer", -1, PS_SHARE_EXCLUSIVE).raw, 7);
		pthread_barrier_wait(&barrier);
	}
	pthread_join(thread, NULL);
	ps__os.perf_event_open = open_of_fake;
	pthread_barrier_destroy(&barrier);
	regions_end();
}
END_TEST

/* Its first try may have failed. */
START_TEST(a_thread_that_comes_again_is_one_thread)
{
	regions_begin(EVENT, "minor-faults", NULL);
	ck_assert_uint_eq(ps__profile_threads(regions.profile), 0);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(ps_profile_join(regions.profile), PS_OK);
	ck_assert_int_ne(ps_profile_join(regions.profile), PS_OK);
	ck_assert_uint_eq(ps__profile_threads(regions.profile), 1);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	for (int visit = 0; visit < 3; visit++) {
		check_ok(ps_profile_join(regions.profile));
		check_ok(ps_profile_leave(regions.profile));
	}
	ck_assert_uint_eq(ps__profile_threads(regions.profile), 1);
	for (int number = 0; number < 2; number++)
		run_worker((struct worker){number, 1, 0});
	ck_assert_uint_eq(ps__profile_threads(regions.profile), 3);
	regions_end();
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, nothing_is_in_no_path);
	tcase_add_test(tests, threads_are_told_apart);
	tcase_add_test(tests, a_thread_that_comes_again_is_one_thread);
	tcase_add_test(tests, threads_with_the_same_number_are_added_up);
	tcase_add_test(tests, a_thread_that_is_not_there_is_refused);
	tcase_add_test(tests, without_memory_a_thread_is_not_kept);
	tcase_add_test(tests, threads_that_have_ended_are_in_the_paths);
	tcase_add_test(tests, a_set_that_is_grouped_otherwise_keeps_its_readings);
	tcase_add_test(tests, a_set_that_can_not_be_started_again_keeps_its_readings);
}

int main(void)
{
	Suite *suite = suite_create("threads of regions");

	TCase *automatic = scene_case(suite, "automatic");

	add_tests(automatic);
	tcase_add_test(automatic, what_no_path_has_is_in_the_residual);
	tcase_add_loop_test(automatic, what_a_running_thread_counted_is_there_if_it_is_known_where,
	                    0, 1);
	tcase_add_test(automatic, what_was_counted_while_the_events_were_opened_is_in_no_region);
	TCase *instances = scene_case_instances(suite, "per-CPU");
	add_tests(instances);
	tcase_add_loop_test(instances, what_a_running_thread_counted_is_there_if_it_is_known_where,
	                    0, 2);
	tcase_add_test(instances, what_was_counted_while_the_events_were_opened_is_in_no_region);
	add_tests(scene_case_records(suite, "records"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}
