/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that starts the collector itself, and again: each report has the marks of its time. */
#include "here.h"

#include <perfsage/marks.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "/tmp/perfsage-XXXXXX" /* for mkdtemp */

static char folder[] = FOLDER;
static char output[sizeof folder + 16];

/* A test may share the process with others. */
static void make_folder(void)
{
	strcpy(folder, FOLDER);
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void work(int visits)
{
	for (int visit = 0; visit < visits; visit++) {
		PS_REGION("work")
		{
		}
	}
}

static void start(const char *name)
{
	snprintf(output, sizeof output, "%s/%s", folder, name);
	setenv("PERFSAGE_OUTPUT", output, 1);
	check_ok(ps_collect_start());
}

/* The report's first table has it; -1: it does not. */
static long visits_of(const char *region)
{
	char line[512];
	long visits = -1;
	size_t length = strlen(region);
	FILE *report = fopen(output, "r");

	ck_assert_ptr_nonnull(report);
	while (fgets(line, sizeof line, report)) {
		if (visits < 0 && !strncmp(line, region, length) && line[length] == ' ')
			visits = strtol(line + length, NULL, 10);
	}
	fclose(report);
	ck_assert_int_eq(unlink(output), 0);
	return visits;
}

/* One call site is met in both, and one that is new in the second. */
START_TEST(marks_are_heard_again_after_a_second_start)
{
	if (ps_test_is_in_valgrind()) {
		ps_test_skip("what stays for threads passes for leaked there");
		return;
	}
	make_folder();
	setenv("PERFSAGE_EVENTS", HERE_FAULTS, 1);
	work(2);
	start("first");
	work(5);
	check_ok(ps_collect_end());
	ck_assert_int_eq(visits_of("work"), 5);
	work(3);
	start("second");
	work(7);
	PS_REGION("new")
	{
	}
	check_ok(ps_collect_end());
	ck_assert_int_eq(visits_of("work"), 7);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(a_start_that_fails_keeps_no_descriptor)
{
	setenv("PERFSAGE_EVENTS", "no-such-event", 1);
	int before = dup(STDERR_FILENO);

	close(before);
	ck_assert_int_lt(ps_collect_start(), 0);
	int behind = dup(STDERR_FILENO);
	ck_assert_int_eq(behind, before);
	close(behind);
}
END_TEST

#define STARTS 5

static pthread_barrier_t both;

static void *work_in_each_start(void *unused)
{
	(void)unused;
	here_map_page();
	for (int start = 1; start <= STARTS; start++) {
		pthread_barrier_wait(&both);
		PS_REGION("of worker")
		{
			here_touch();
		}
		pthread_barrier_wait(&both);
	}
	pthread_barrier_wait(&both); /* its counters are there until then */
	return NULL;
}

/* Takes all keys but a few. */
static void take_keys(void)
{
	pthread_key_t keys[4];
	size_t left = 0;

	while (pthread_key_create(&keys[left % 4], NULL) == 0)
		left++;
	for (size_t key = 0; key < 4; key++)
		pthread_key_delete(keys[key]);
}

/* As a program that counts each of its phases, with threads of OpenMP, which live on. */
START_TEST(threads_that_live_on_take_no_more_at_each_start)
{
	char name[16];
	size_t descriptors = 0;
	pthread_t thread;

	if (ps_test_is_in_valgrind()) {
		ps_test_skip("what stays for threads passes for leaked there");
		return;
	}
	make_folder();
	setenv("PERFSAGE_EVENTS", HERE_FAULTS, 1);
	take_keys();
	pthread_barrier_init(&both, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, work_in_each_start, NULL), 0);
	for (int turn = 1; turn <= STARTS; turn++) {
		snprintf(name, sizeof name, "start %d", turn);
		start(name);
		pthread_barrier_wait(&both);
		pthread_barrier_wait(&both);
		descriptors = descriptors ? descriptors : here_count_descriptors();
		ck_assert_uint_eq(here_count_descriptors(), descriptors);
		check_ok(ps_collect_end());
		ck_assert_int_eq(visits_of("of worker"), 1);
	}
	pthread_barrier_wait(&both);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(a_start_before_the_end_is_told_to_end_first)
{
	if (ps_test_is_in_valgrind()) {
		ps_test_skip("what stays for threads passes for leaked there");
		return;
	}
	make_folder();
	setenv("PERFSAGE_EVENTS", HERE_FAULTS, 1);
	start("only");
	ck_assert_int_eq(ps_collect_start(), PS_ECNFLCT);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "call ps_collect_end first"));
	work(2);
	check_ok(ps_collect_end());
	ck_assert_int_eq(visits_of("work"), 2);
	ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("collect start");
	TCase *starts = here_case(suite, "starts");

	tcase_add_test(starts, marks_are_heard_again_after_a_second_start);
	tcase_add_test(starts, a_start_before_the_end_is_told_to_end_first);
	tcase_add_test(starts, a_start_that_fails_keeps_no_descriptor);
	/* Last: it takes the process's keys. */
	tcase_add_test(starts, threads_that_live_on_take_no_more_at_each_start);
	return here_run_if_counted(suite);
}
