/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of this process with the real kernel: every record is heard or counted as lost, samples
 * times period is the count, and few descriptors do. Threads that come and go, and other processes:
 * test_session_threads.
 */
#include "session_here.h"

#include <fcntl.h>
#include <sys/resource.h>

#define THREADS 8

/* A thread that touches its share of the pages, now or when it is let go. */
struct worker {
	pthread_t thread;
	char *pages;
	pthread_barrier_t *go; /* NULL: at once */
};

static void *worker_run(void *context)
{
	struct worker *worker = context;

	if (worker->go) {
		pthread_barrier_wait(worker->go);
		pthread_barrier_wait(worker->go);
	}
	touch(worker->pages, PAGES);
	return NULL;
}

static void workers_start(struct worker *workers, char *pages, pthread_barrier_t *go)
{
	for (size_t i = 0; i < THREADS; i++) {
		workers[i].pages = pages + i * PAGES * (size_t)sysconf(_SC_PAGESIZE);
		workers[i].go = go;
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]),
		                 0);
	}
}

static void workers_join(struct worker *workers)
{
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

static void *session_run(void *session)
{
	ck_assert_int_eq(ps_session_run(session), PS_OK);
	return NULL;
}

/* Present and future threads touch pages while another thread runs the session; then it stops. */
static void run_workers(struct ps_session *session, bool are_there_before)
{
	struct worker workers[THREADS];
	pthread_barrier_t go;
	pthread_t reader;
	char *pages = map_pages(THREADS * PAGES);

	heard.pages = pages;
	heard.pages_end = pages + THREADS * PAGES * (size_t)sysconf(_SC_PAGESIZE);
	ck_assert_int_eq(pthread_barrier_init(&go, NULL, THREADS + 1), 0);
	if (are_there_before) {
		workers_start(workers, pages, &go);
		pthread_barrier_wait(&go);
	}
	check_ok(ps_session_start(session));
	ck_assert_uint_eq(ps_session_missed(session, NULL, 0), 0);
	ck_assert_int_eq(pthread_create(&reader, NULL, session_run, session), 0);
	if (are_there_before)
		pthread_barrier_wait(&go);
	else
		workers_start(workers, pages, NULL);
	workers_join(workers);
	check_ok(ps_session_stop(session));
	pthread_join(reader, NULL);
	pthread_barrier_destroy(&go);
	munmap(pages, (size_t)(heard.pages_end - heard.pages));
}

/* _i: are the threads there before the session? */
START_TEST(each_page_that_any_thread_touches_is_a_sample)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 1);
	struct ps_value value = {.value = 0};

	run_workers(session, _i);
	struct ps_session_stats stats = stats_of(session);
	ck_assert_uint_eq(stats.lost, 0);
	ck_assert_uint_eq(stats.damaged, 0);
	ck_assert_uint_eq(heard.in_pages, THREADS * PAGES);
	ck_assert_uint_eq(stats.samples, heard.samples);
	ck_assert_uint_eq(heard.threads, heard.samples);
	ck_assert_uint_eq(heard.stops, 1);
	ck_assert_uint_ge(stats.threads, _i ? THREADS + 1 : 1);
	if (!HAS_OWN_EVENTS)
		ck_assert_uint_eq(stats.threads, _i ? THREADS + 1 : 1);
	ck_assert_uint_eq(heard.exits >= THREADS, 1);
	check_ok(ps_session_sum(session, 0, NULL, &value));
	ck_assert_int_eq(value.value, (long long)heard.periods);
	ck_assert_uint_eq(value.raw, heard.samples);
	ck_assert_int_eq(value.status, PS_STATUS_SCALED);
	struct ps_value stored;
	check_ok(ps_topology_clear_readings(here.topology));
	check_ok(ps_session_store(session, NULL));
	check_ok(ps_component_total(here.root, "sampled page-faults:u", &stored));
	ck_assert_int_eq(stored.value, value.value);
	/* Where the caller may not observe the kernel, it also says so. */
	ck_assert_uint_eq(value.flags & ~(unsigned)PS_VALUE_USER_ONLY, PS_VALUE_SAMPLED);
	ps_session_destroy(session);
}
END_TEST

START_TEST(samples_times_period_is_the_count_within_a_period_for_each_task_and_cpu)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 7);
	uint64_t count = 0, cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);

	run_workers(session, true);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_count(session, 0, &count));
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(stats_of(session).lost, 0);
	ck_assert_uint_eq(heard.periods, 7 * heard.samples);
	ck_assert_uint_le(heard.periods, count + 7);
	ck_assert_uint_ge(heard.periods + 7 * (THREADS + 2) * cpus, count);
	ps_session_destroy(session);
}
END_TEST

/* The ring is too small for all of it: what is missing is counted. */
START_TEST(what_a_ring_has_no_room_for_is_counted)
{
	struct ps_session_options options = options_of(0);
	options.ring_bytes = 1;
	struct ps_session *session = new_session(&options, 0, 1);
	uint64_t count = 0;
	char *pages = map_pages(1000);

	check_ok(ps_session_start(session));
	touch(pages, 1000);
	check_ok(ps_session_poll(session, 0));
	check_ok(ps_session_count(session, 0, &count));
	check_ok(ps_session_poll(session, 0));
	struct ps_session_stats stats = stats_of(session);
	ck_assert_uint_gt(stats.lost, 800);
	ck_assert_uint_gt(stats.samples, 10);
	ck_assert_uint_ge(stats.samples + stats.lost, count);
	munmap(pages, 1000 * (size_t)sysconf(_SC_PAGESIZE));
	ps_session_destroy(session);
}
END_TEST

/* A pipe stands under the numbers of the session's events: nothing may be read from it. */
static void put_under_events(int fd)
{
	char path[64], name[64];

	for (int other = 0; other < 256; other++) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", other);
		ssize_t length = readlink(path, name, sizeof name - 1);
		if (length <= 0)
			continue;
		name[length] = '\0';
		if (strstr(name, "perf_event"))
			ck_assert_int_eq(dup2(fd, other), other);
	}
}

START_TEST(what_the_program_puts_under_a_closed_number_is_not_read)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 1);
	uint64_t count = 77;
	char bytes[32] = "the program's own, 24 b";
	int ends[2];

	check_ok(ps_session_start(session));
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], bytes, 24), 24);
	put_under_events(ends[0]);
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ECLOST);
	ck_assert_uint_eq(count, 77);
	ck_assert_uint_eq(stats_of(session).lost, 0);
	ck_assert_int_eq(read(ends[0], bytes, sizeof bytes), 24);
	ps_session_destroy(session);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

#define NUMBERS 512

/* A file of 8 bytes stands under each number that the session had. */
struct taken {
	int file; /* beyond the numbers */
	int numbers[NUMBERS];
	size_t count;
};

static bool has_numbers(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur > NUMBERS;
}

static void note_numbers(bool is_open[NUMBERS])
{
	for (int number = 0; number < NUMBERS; number++)
		is_open[number] = fcntl(number, F_GETFD) >= 0;
}

/* Closes what was opened since, as a daemon does, and opens the file instead. */
static void take_numbers(struct taken *taken, const bool was_open[NUMBERS])
{
	int file = memfd_create("program's", MFD_CLOEXEC);

	ck_assert_int_eq(write(file, "12345678", 8), 8);
	taken->file = fcntl(file, F_DUPFD_CLOEXEC, NUMBERS);
	close(file);
	taken->count = 0;
	for (int number = 0; number < NUMBERS; number++) {
		if (was_open[number] || fcntl(number, F_GETFD) < 0)
			continue;
		ck_assert_int_eq(dup2(taken->file, number), number);
		taken->numbers[taken->count++] = number;
	}
	lseek(taken->file, 0, SEEK_SET);
}

static void check_untouched(const struct taken *taken)
{
	char bytes[16];

	for (size_t i = 0; i < taken->count; i++)
		ck_assert_int_ge(fcntl(taken->numbers[i], F_GETFD), 0);
	ck_assert_int_eq(lseek(taken->file, 0, SEEK_CUR), 0);
	ck_assert_int_eq(read(taken->file, bytes, sizeof bytes), 8);
	ck_assert_int_eq(memcmp(bytes, "12345678", 8), 0);
	for (size_t i = 0; i < taken->count; i++)
		close(taken->numbers[i]);
	close(taken->file);
}

/* _i: is it started? */
START_TEST(the_programs_files_under_closed_numbers_are_left_alone)
{
	struct ps_session_options options = options_of(0);
	struct taken taken;
	bool was_open[NUMBERS];

	if (!has_numbers()) {
		ps_test_skip("this process may have few descriptors (ulimit -n)");
		return;
	}
	options.descriptors = NUMBERS / 2;
	options.ring_bytes = 32 << 10;
	options.shortage = PS_SESSION_CLOSE;
	note_numbers(was_open);
	struct ps_session *session = new_session(&options, 0, 1);
	if (_i && ps_session_start(session) != PS_OK) {
		ps_test_skip(ps_error_detail());
		ps_session_destroy(session);
		return;
	}
	take_numbers(&taken, was_open);
	ck_assert_uint_ge(taken.count, 2 + (size_t)_i);
	ck_assert_int_eq(ps_session_stop(session), PS_ECLOST);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "closed a descriptor"));
	ck_assert_int_eq(ps_session_run(session), _i ? PS_ECLOST : PS_ENOTRUN);
	if (_i)
		ck_assert_int_eq(ps_session_poll(session, -1), PS_ECLOST);
	ps_session_destroy(session);
	check_untouched(&taken);
}
END_TEST

/* The kernel gives a new pipe the numbers of the old one. */
START_TEST(a_session_leaves_the_one_that_was_made_under_its_numbers_alone)
{
	struct ps_session_options options = options_of(0);
	bool was_open[NUMBERS];
	uint64_t count = 0;

	if (!has_numbers()) {
		ps_test_skip("this process may have few descriptors (ulimit -n)");
		return;
	}
	options.descriptors = NUMBERS / 2;
	options.ring_bytes = 32 << 10;
	note_numbers(was_open);
	struct ps_session *session = new_session(&options, 0, 1);
	if (ps_session_start(session) != PS_OK) {
		ps_test_skip(ps_error_detail());
		ps_session_destroy(session);
		return;
	}
	for (int number = 0; number < NUMBERS; number++)
		if (!was_open[number])
			close(number);
	struct ps_session *next = new_session(&options, 0, 1);
	check_ok(ps_session_start(next));
	ck_assert_int_eq(ps_session_stop(session), PS_ECLOST);
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ECLOST);
	ps_session_destroy(session);
	check_ok(ps_session_poll(next, 0));
	check_ok(ps_session_count(next, 0, &count));
	check_ok(ps_session_stop(next));
	check_ok(ps_session_run(next));
	ps_session_destroy(next);
}
END_TEST

static size_t descriptors_of_budget(struct ps_session_options *options, size_t descriptors)
{
	options->descriptors = descriptors;
	options->ring_bytes = 32 << 10;
	return here_count_descriptors();
}

START_TEST(too_few_descriptors_are_refused_with_nothing_left_open)
{
	struct ps_session_options options = options_of(0);
	size_t before = descriptors_of_budget(&options, 3);
	struct ps_session *session = new_session(&options, 0, 1);

	ck_assert_int_eq(ps_session_start(session), PS_ECOUNT);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "PS_SESSION_CLOSE"));
	ck_assert_uint_eq(here_count_descriptors(), before + 2);
	ps_session_destroy(session);
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

START_TEST(closed_descriptors_keep_their_events_and_the_inheritance)
{
	struct ps_session_options options = options_of(0);
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_CONF);
	size_t before = descriptors_of_budget(&options, cpus + 4);
	options.shortage = PS_SESSION_CLOSE;
	struct ps_session *session = new_session(&options, 0, 1);
	uint64_t count;

	run_workers(session, true);
	ck_assert_uint_le(stats_of(session).descriptors, cpus + 4);
	ck_assert_uint_le(here_count_descriptors(), before + cpus + 4);
	/* Small rings can't take the sanitizer's page faults. */
	if (!HAS_OWN_EVENTS) {
		/* A slow machine's reader comes late: what it lost is counted. */
		ck_assert_uint_le(heard.in_pages, THREADS * PAGES);
		ck_assert_uint_ge(heard.in_pages + stats_of(session).lost, THREADS * PAGES);
	}
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ENOSUPP);
	ps_session_destroy(session);
	ck_assert_uint_eq(here_count_descriptors(), before);
}
END_TEST

START_TEST(tasks_names_and_switches_are_heard_without_any_event)
{
	struct ps_session_options options = options_of(PS_SESSION_SWITCHES | PS_SESSION_MAPPINGS);
	struct ps_session *session = NULL;
	struct worker worker = {.pages = map_pages(PAGES)};
	uint64_t count;

	check_ok(ps_session_create(&session, 0, &options));
	check_ok(ps_session_start(session));
	ck_assert_int_eq(pthread_create(&worker.thread, NULL, worker_run, &worker), 0);
	pthread_setname_np(worker.thread, "session's");
	pthread_join(worker.thread, NULL);
	usleep(1000);
	check_ok(ps_session_poll(session, 1000));
	ck_assert_uint_eq(heard.samples, 0);
	ck_assert_uint_ge(heard.forks, 1);
	ck_assert_uint_le(heard.forks, 1 + HAS_OWN_EVENTS);
	ck_assert_uint_ge(heard.switches, 2);
	ck_assert_int_eq(ps_session_count(session, 0, &count), PS_ENOEVNT);
	munmap(worker.pages, PAGES * (size_t)sysconf(_SC_PAGESIZE));
	ps_session_destroy(session);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tests = here_case(suite, "session");

	tcase_add_loop_test(tests, each_page_that_any_thread_touches_is_a_sample, 0, 2);
	tcase_add_test(tests,
	               samples_times_period_is_the_count_within_a_period_for_each_task_and_cpu);
	tcase_add_test(tests, what_a_ring_has_no_room_for_is_counted);
	tcase_add_test(tests, what_the_program_puts_under_a_closed_number_is_not_read);
	tcase_add_loop_test(tests, the_programs_files_under_closed_numbers_are_left_alone, 0, 2);
	tcase_add_test(tests, a_session_leaves_the_one_that_was_made_under_its_numbers_alone);
	tcase_add_test(tests, too_few_descriptors_are_refused_with_nothing_left_open);
	tcase_add_test(tests, closed_descriptors_keep_their_events_and_the_inheritance);
	tcase_add_test(tests, tasks_names_and_switches_are_heard_without_any_event);
	return here_run(suite);
}
