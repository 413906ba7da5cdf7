/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs on the real kernel: known pages stand in each interval, in a file that several threads
 * write. */
#include "log_here.h"
#include "support/unmarked.h"

#include <pthread.h>

#define WORKERS 3
#define WORKS   300

struct worker {
	struct ps_log *log;
	pthread_t thread;
	unsigned index;
	int cpu;
	long long strays;
};

/* Work N of worker W touches (N + W) % 5 pages. */
static void *run_worker(void *context)
{
	struct worker *worker = context;
	struct wander_work work;

	wander_create(&work, WORKS * 5 + 100);
	if (worker->cpu >= 0)
		wander_move(worker->cpu);
	struct ps_eventset *set = new_set();
	struct ps_log_stream *stream = new_stream(worker->log, set);
	for (unsigned round = 0; round < 8; round++) {
		ps_log_take(stream, round % 2);
		wander_touch(&work, 1);
	}
	wander_settle(&work);
	for (unsigned number = 0; number < WORKS; number++) {
		check_ok(ps_log_take(stream, BEGIN));
		wander_touch(&work, (number + worker->index) % 5);
		check_ok(ps_log_take(stream, END));
		check_ok(write_number(stream, number));
	}
	worker->strays = wander_strays(&work);
	ps_log_stream_destroy(stream);
	ps_eventset_destroy(set);
	wander_destroy(&work);
	return NULL;
}

/* The streams are in the order in which they began, not in that of the workers. */
static void check_work(struct ps_log_reader *reader, const struct worker *workers)
{
	struct ps_log_record record = {.size = sizeof record};
	long long counted[WORKERS] = {0}, expected = 0, sum = 0, strays = 0;
	unsigned records = 0;
	struct ps_value value;

	for (; ps_log_next(reader, &record) == PS_OK; records++) {
		ck_assert(is_whole(reader, &record));
		check_ok(ps_log_interval(reader, BEGIN, END, NULL, &value, 1));
		counted[record.stream] += value.value;
	}
	ck_assert_uint_eq(records, WORKERS * WORKS);
	for (unsigned worker = 0; worker < WORKERS; worker++) {
		sum += counted[worker];
		strays += workers[worker].strays;
		for (unsigned number = 0; number < WORKS; number++)
			expected += (number + worker) % 5;
	}
	wander_check_count(sum, expected, strays);
}

START_TEST(threads_of_a_file_have_their_own_pages)
{
	struct worker workers[WORKERS];
	struct ps_log_reader *reader = NULL;

	if (!wander_is_possible())
		return;
	struct ps_log *log = new_log(NULL);
	for (unsigned index = 0; index < WORKERS; index++) {
		workers[index] =
		    (struct worker){.log = log, .index = index, .cpu = wander_cpu((int)index % 2)};
		ck_assert_int_eq(
		    pthread_create(&workers[index].thread, NULL, run_worker, &workers[index]), 0);
	}
	for (unsigned index = 0; index < WORKERS; index++)
		pthread_join(workers[index].thread, NULL);
	ps_log_destroy(log);
	check_ok(ps_log_open(&reader, path));
	ck_assert_uint_eq(ps_log_stream_count(reader), WORKERS);
	check_work(reader, workers);
	ps_log_close(reader);
}
END_TEST

/* From the end of a record to the beginning of the next one stands what the log itself costs: the
 * change to another block is no page fault. */
START_TEST(writing_is_no_page_fault)
{
	struct ps_log_reader *reader = NULL;
	struct ps_value value;
	long long faults = 0;
	unsigned records = 0;

	if (!wander_is_possible())
		return;
	struct ps_eventset *set = new_set();
	struct ps_log *log = new_log(NULL);
	struct ps_log_stream *stream = new_stream(log, set);
	for (long long number = 0; number < 10000; number++) {
		check_ok(ps_log_take(stream, BEGIN));
		check_ok(ps_log_take(stream, END));
		check_ok(write_number(stream, number));
	}
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	check_ok(ps_log_open(&reader, path));
	for (; ps_log_next(reader, NULL) == PS_OK; records++) {
		if (records < 100 ||
		    ps_log_interval(reader, END | PS_LOG_PREVIOUS, BEGIN, NULL, &value, 1) != PS_OK)
			continue;
		faults += value.value;
	}
	ps_log_close(reader);
	ck_assert_uint_eq(records, 10000);
	/* 10 blocks of 16 pages; the kernel may take some away to write them. */
	ck_assert(PS_TEST_HAS_SANITIZER || faults < 80);
	ps_eventset_destroy(set);
}
END_TEST

static void add_all(TCase *tests)
{
	tcase_add_checked_fixture(tests, log_setup, log_teardown);
	tcase_add_test(tests, threads_of_a_file_have_their_own_pages);
	tcase_add_test(tests, writing_is_no_page_fault);
}

int main(void)
{
	return wander_run("log", add_all, NULL);
}
