/* SPDX-License-Identifier: BSD-3-Clause */
/* How a process begins to be counted: what it reads of its environment, and what that costs. */
#define PERFSAGE_NO_MARKS
#include "collect/exchange.h"
#include "collect/files.h"
#include "collect/process.h"
#include "collect/threads.h"
#include "region/profile.h"
#include "support/scene.h"

#include <dirent.h>
#include <errno.h>
#include <perfsage/region.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* As the preloaded library has them. */
static _Atomic uint64_t threads_made;

uint64_t ps_preload_threads(void)
{
	return threads_made;
}

static void setup(void)
{
	threads_made = 0;
	scene_setup();
	clearenv();
	setenv("HWLOC_SYNTHETIC", "pu:4", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	setenv("PERFSAGE_EVENTS", "page-faults", 1);
}

static struct collect_process begin(const struct collect_settings *parents)
{
	struct collect_process process = {.settings =
	                                      parents ? *parents : (struct collect_settings){0}};

	check_ok(collect_process_begin(&process));
	return process;
}

static void end(struct collect_process *process)
{
	collect_files_give_up();
	ps_profile_destroy(process->profile);
	ps_topology_destroy(process->topology);
	process->profile = NULL;
	process->topology = NULL;
}

static void check_settings(const struct collect_settings *settings, const char *folder)
{
	char output[4200], host[256];

	gethostname(host, sizeof host);
	snprintf(output, sizeof output, "%s/r%%77-100%%-%s-%d", folder, host, (int)getpid());
	ck_assert_str_eq(settings->output, output);
	ck_assert_str_eq(settings->group, "level");
	ck_assert_str_eq(settings->rank, "7");
	ck_assert_uint_eq(settings->one_in, 10);
	ck_assert_uint_eq(ps_eventset_event_count(settings->model), 1);
}

/* As a child that was forked after the program went elsewhere, and cleared its environment. */
START_TEST(settings_are_read_once)
{
	char folder[4096];

	ck_assert_ptr_nonnull(getcwd(folder, sizeof folder));
	setenv("PMI_RANK", "7", 1);
	setenv("RANK", "%7", 1);
	setenv("PERFSAGE_OUTPUT", "r%q{RANK}%r-100%%-%h-%p", 1);
	setenv("PERFSAGE_GROUP", "level", 1);
	setenv("PERFSAGE_ONE_IN", "10", 1);
	struct collect_process parent = begin(NULL);
	check_settings(&parent.settings, folder);
	end(&parent);
	pid_t child = fork();
	if (child == 0) {
		clearenv();
		struct collect_process own = begin(chdir("/") == 0 ? &parent.settings : NULL);
		check_settings(&own.settings, folder);
		end(&own);
		_exit(0);
	}
	int status = -1;
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	collect_settings_clear(&parent.settings);
}
END_TEST

/* The child's own children have them. */
START_TEST(a_child_that_is_not_counted_keeps_its_settings)
{
	struct collect_process parent = begin(NULL);
	struct collect_process child = {.settings = parent.settings};

	end(&parent);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, EMFILE);
	ck_assert_int_ne(collect_process_begin(&child), PS_OK);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	ck_assert_ptr_null(child.profile);
	child = begin(&child.settings);
	end(&child);
	collect_settings_clear(&child.settings);
}
END_TEST

/* The program's other threads go on meanwhile: their time is not the collector's. */
START_TEST(beginning_costs_the_time_of_its_thread)
{
	fake_set_clock(1000000000, 1000000000);
	struct collect_process process = begin(NULL);
	ck_assert_uint_eq(process.begin_cpu_ns, 0);
	end(&process);
	collect_settings_clear(&process.settings);
}
END_TEST

/* The number of files, all of which end so. */
static int count_files(const char *folder, const char *end)
{
	DIR *stream = opendir(folder);
	int count = 0;

	ck_assert_ptr_nonnull(stream);
	for (struct dirent *entry; (entry = readdir(stream));) {
		if (*entry->d_name == '.')
			continue;
		ck_assert_ptr_nonnull(strstr(entry->d_name, end));
		ck_assert_int_eq(unlinkat(dirfd(stream), entry->d_name, 0), 0);
		count++;
	}
	closedir(stream);
	return count;
}

START_TEST(a_flush_without_memory_leaves_no_file)
{
	char folder[] = "/tmp/perfsage-XXXXXX", output[sizeof folder + 8];
	bool has_failed = true;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(output, sizeof output, "%s/report", folder);
	setenv("PERFSAGE_OUTPUT", output, 1);
	struct collect_process process = begin(NULL);
	for (unsigned nth = 1; has_failed; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		collect_process_flush(&process);
		has_failed = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(count_files(folder, ".part"), has_failed ? 0 : 1);
	}
	end(&process);
	collect_settings_clear(&process.settings);
	rmdir(folder);
}
END_TEST

#define MANY 64

/* No test is forked under valgrind: Check's own descriptors stay open, and the limit is raised
 * again. */
static void take_all_descriptors(bool taken[MANY])
{
	int descriptor;

	while ((descriptor = dup(STDERR_FILENO)) >= 0) {
		ck_assert_int_lt(descriptor, MANY);
		taken[descriptor] = true;
	}
	ck_assert_int_eq(errno, EMFILE);
}

/* The one that is kept for it is there again after each interim report. */
START_TEST(a_program_that_has_taken_all_descriptors_leaves_its_reports)
{
	struct rlimit before, few;
	bool taken[MANY] = {false};
	char folder[] = "/tmp/perfsage-XXXXXX", output[sizeof folder + 8];

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){.rlim_cur = MANY, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(output, sizeof output, "%s/report", folder);
	setenv("PERFSAGE_OUTPUT", output, 1);
	struct collect_process process = begin(NULL);
	take_all_descriptors(taken);
	for (int turn = 0; turn < 2; turn++) {
		collect_process_flush(&process);
		/* Nothing else may take it meanwhile. */
		take_all_descriptors(taken);
	}
	check_ok(collect_process_report(&process, true));
	ck_assert_int_eq(access(output, R_OK), 0);
	for (int descriptor = 0; descriptor < MANY; descriptor++)
		if (taken[descriptor])
			close(descriptor);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_int_eq(count_files(folder, "report"), 1);
	end(&process);
	collect_settings_clear(&process.settings);
	rmdir(folder);
}
END_TEST

/* stderr and a device have no file beside them. */
START_TEST(a_report_without_a_file_is_not_made_before_the_end)
{
	static const char *const outputs[] = {NULL, "/dev/null"};

	if (outputs[_i])
		setenv("PERFSAGE_OUTPUT", outputs[_i], 1);
	struct collect_process process = begin(NULL);
	fake_count_reset();
	collect_process_flush(&process);
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 0);
	end(&process);
	collect_settings_clear(&process.settings);
}
END_TEST

static void *visit(void *profile)
{
	struct ps_region *region;

	check_ok(ps_region_define(&region, profile, "work"));
	check_ok(ps_region_enter(region));
	check_ok(ps_region_leave(region));
	return NULL;
}

/* A thread of the program that passes marks, and one of the collector's own. */
static void count_two_threads(struct collect_process *process)
{
	pthread_t thread;

	process->own_threads = 1;
	threads_made += 2;
	visit(process->profile);
	ck_assert_int_eq(pthread_create(&thread, NULL, visit, process->profile), 0);
	pthread_join(thread, NULL);
}

static char *read_file(const char *name, size_t *length)
{
	char *text = calloc(1, 65536);
	FILE *file = fopen(name, "r");

	ck_assert_ptr_nonnull(file);
	*length = fread(text, 1, 65535, file);
	fclose(file);
	ck_assert_int_eq(unlink(name), 0);
	return text;
}

/* Checks the number of processes, of their threads, and of those without a mark. */
static void check_sum(const struct collect_process *process, struct ps__words *text, int reports,
                      double threads, double unmarked)
{
	struct ps__words report;
	struct collect_sum sum;
	struct ps_paths *paths = ps__paths_make(process->profile, 1);

	ck_assert_ptr_nonnull(paths);
	collect_sum_create(&sum, paths, &process->settings);
	for (int index = 0; index < reports; index++) {
		ck_assert(collect_exchange_next(text, &report));
		check_ok(collect_sum_add(&sum, report));
	}
	ck_assert_uint_eq(sum.source.processes, 1);
	ck_assert_double_eq(sum.report.threads, threads);
	ck_assert_double_eq(sum.report.unmarked_threads, unmarked);
	collect_sum_destroy(&sum);
	ps_paths_destroy(paths);
}

/* It had a thread without marks before, and has a second one then. */
START_TEST(a_process_that_starts_again_is_one_with_each_thread_once)
{
	char folder[] = "/tmp/perfsage-XXXXXX", output[sizeof folder + 8],
	     journal[sizeof folder + 9];
	size_t length;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(output, sizeof output, "%s/report", folder);
	snprintf(journal, sizeof journal, "%s/journal", folder);
	fclose(fopen(output, "w"));
	fclose(fopen(journal, "w"));
	setenv("PERFSAGE_OUTPUT", output, 1);
	setenv("PERFSAGE_JOURNAL", journal, 1);
	struct collect_process process = begin(NULL);
	threads_made++;
	count_two_threads(&process);
	check_ok(collect_process_report(&process, false));
	struct collect_process again = {.past = process.past};
	check_ok(collect_process_begin(&again));
	ck_assert_uint_ge(again.begin_cpu_ns, process.past.ended_cpu_ns);
	threads_made++;
	count_two_threads(&again);
	check_ok(collect_process_report(&again, false));
	char *text = read_file(output, &length);
	struct ps__words words = {.at = text, .end = text + length}, both = words;
	check_sum(&again, &words, 1, 3, 1);
	check_sum(&again, &words, 1, 5, 2);
	check_sum(&again, &both, 2, 5, 2);
	free(text);
	text = read_file(journal, &length);
	ck_assert_ptr_nonnull(strstr(text, " 0\n"));
	ck_assert_msg(length > 3 && strcmp(text + length - 3, " 1\n") == 0, "%s", text);
	free(text);
	end(&process);
	end(&again);
	collect_settings_clear(&process.settings);
	collect_settings_clear(&again.settings);
	rmdir(folder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("collect");
	TCase *tests = tcase_create("collect");

	tcase_add_checked_fixture(tests, setup, scene_teardown);
	suite_add_tcase(suite, tests);
	tcase_add_test(tests, settings_are_read_once);
	tcase_add_test(tests, a_child_that_is_not_counted_keeps_its_settings);
	tcase_add_test(tests, beginning_costs_the_time_of_its_thread);
	tcase_add_test(tests, a_flush_without_memory_leaves_no_file);
	tcase_add_test(tests, a_program_that_has_taken_all_descriptors_leaves_its_reports);
	tcase_add_test(tests, a_process_that_starts_again_is_one_with_each_thread_once);
	tcase_add_loop_test(tests, a_report_without_a_file_is_not_made_before_the_end, 0, 2);
	return scene_run(suite);
}
