/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that come and go while a session is started are observed once or named; a session is
 * stopped by any thread; another process, and a forked child. */
#include "session_here.h"
#include "support/unmarked.h"

#include <dirent.h>

#define CHURN_PAGES 32768
#define CREATORS    3

/* Makes and ends threads until it is told to end; each touches a page that no other one does. */
struct churn {
	char *pages;
	_Atomic int is_over;
	_Atomic unsigned made;
	_Atomic char is_done[CHURN_PAGES];  /* the page's thread has ended */
	unsigned char touched[CHURN_PAGES]; /* by the samples: how often */
};

static void *churn_one(void *page)
{
	touch(page, 1);
	return NULL;
}

static void *churn_run(void *context)
{
	struct churn *churn = context;

	while (!churn->is_over) {
		pthread_t thread;
		unsigned page = churn->made++;
		if (page >= CHURN_PAGES)
			return NULL;
		if (pthread_create(&thread, NULL, churn_one,
		                   churn->pages + page * (size_t)sysconf(_SC_PAGESIZE)) != 0)
			ck_abort_msg("no thread for page %u", page);
		pthread_join(thread, NULL);
		churn->is_done[page] = 1;
	}
	return NULL;
}

static void hear_churn(void *context, const struct ps_session_record *record)
{
	struct churn *churn = context;
	uintptr_t offset = (uintptr_t)record->record->addr - (uintptr_t)churn->pages;
	size_t page = offset / (size_t)sysconf(_SC_PAGESIZE);

	if (page < CHURN_PAGES)
		churn->touched[page]++;
}

/* The kernel counts a fault before it writes the sample; and a CPU may be away in between. */
static struct ps_session_stats stats_with(struct ps_session *session, uint64_t count)
{
	struct ps_session_stats stats;

	for (int wait = 0; wait < 5000; wait++) {
		check_ok(ps_session_poll(session, 1));
		stats = stats_of(session);
		if (stats.samples + stats.lost >= count)
			return stats;
	}
	ck_abort_msg("%llu counted, %llu sampled, %llu lost", (unsigned long long)count,
	             (unsigned long long)stats.samples, (unsigned long long)stats.lost);
}

/* From page `first` on, threads were made by creators that were observed. Check writes a file for
 * each of its assertions, which takes longer than a look at a page. */
static void churn_check(struct ps_session *session, struct churn *churn, unsigned first)
{
	static char is_done[CHURN_PAGES];
	uint64_t count = 0;

	for (unsigned page = 0; page < CHURN_PAGES; page++)
		is_done[page] = churn->is_done[page];
	check_ok(ps_session_count(session, 0, &count));
	struct ps_session_stats stats = stats_with(session, count);
	ck_assert_uint_eq(stats.damaged, 0);
	for (unsigned page = 0; page < CHURN_PAGES; page++) {
		if (churn->touched[page] > 1)
			ck_abort_msg("page %u twice", page);
		if (!stats.lost && page >= first && is_done[page] && !churn->touched[page])
			ck_abort_msg("page %u, from %u, is missed", page, first);
	}
}

static void churn_round(struct churn *churn)
{
	struct ps_session_options options = options_of(0);
	struct ps_listener churn_listener = {
	    .size = sizeof churn_listener, .context = churn, .sample = hear_churn};
	options.listener = &churn_listener;
	memset(churn->touched, 0, sizeof churn->touched);
	struct ps_session *session = new_session(&options, 0, 1);
	int result = ps_session_start(session);
	ck_assert_msg(result == PS_OK || result == PS_PARTIAL, "%s", ps_error_detail());
	unsigned first = churn->made;
	for (int wait = 0; wait < 500 && churn->made < first + 100; wait++)
		check_ok(ps_session_poll(session, 1));
	churn_check(session, churn, first);
	ps_session_destroy(session);
}

static unsigned count_tasks(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned count = 0;

	ck_assert_ptr_nonnull(tasks);
	while (readdir(tasks))
		count++;
	closedir(tasks);
	return count;
}

/* While nobody touches pages, the records and what was lost are what was counted. A thread may
 * touch one between the moment when its event writes to the ring and the one from which it counts.
 */
static void churn_end(struct churn *churn, const pthread_t *creators, unsigned tasks)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 1);
	int result = ps_session_start(session);
	unsigned enough = churn->made + (unsigned)ps_test_size(2000, 100);
	uint64_t before = 0, after = 0;

	ck_assert_msg(result == PS_OK || result == PS_PARTIAL, "%s", ps_error_detail());
	for (int wait = 0; wait < 10000 && churn->made < enough; wait++)
		check_ok(ps_session_poll(session, 1));
	churn->is_over = 1;
	for (size_t i = 0; i < CREATORS; i++)
		pthread_join(creators[i], NULL);
	/* A thread that was joined may still be about to hand its count over. */
	while (!PS_TEST_HAS_THREAD_SANITIZER && count_tasks() > tasks)
		check_ok(ps_session_poll(session, 1));
	check_ok(ps_session_count(session, 0, &before));
	struct ps_session_stats stats = stats_with(session, before);
	check_ok(ps_session_count(session, 0, &after));
	if (!PS_TEST_HAS_THREAD_SANITIZER)
		ck_assert_uint_le(stats.samples + stats.lost,
		                  after + stats.threads * (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
	ps_session_destroy(session);
}

START_TEST(threads_that_come_and_go_while_it_starts_are_observed_once)
{
	static struct churn churn;
	pthread_t creators[CREATORS];
	int rounds = ps_test_size(20, 4);
	unsigned tasks = count_tasks();
	/* Each creator has a thread or two. */
	const char *why = ps_test_lack_on_all_cpus(2 * (1 + 3 * CREATORS));

	if (!ps_test_may_run(why))
		return;
	churn.pages = map_pages(CHURN_PAGES);
	for (size_t i = 0; i < CREATORS; i++)
		ck_assert_int_eq(pthread_create(&creators[i], NULL, churn_run, &churn), 0);
	for (int round = 0; round < rounds; round++)
		churn_round(&churn);
	churn_end(&churn, creators, tasks);
	ck_assert_uint_gt(churn.made, 100);
	munmap(churn.pages, CHURN_PAGES * (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(each_stop_ends_one_run_from_any_thread)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 1000000);
	int stops = ps_test_size(10000, 100);
	pthread_t reader;

	check_ok(ps_session_start(session));
	check_ok(ps_session_stop(session));
	check_ok(ps_session_run(session));
	for (int i = 0; i < stops; i++) {
		ck_assert_int_eq(pthread_create(&reader, NULL, session_run, session), 0);
		check_ok(ps_session_stop(session));
		pthread_join(reader, NULL);
	}
	ck_assert_uint_eq(heard.stops, (uint64_t)stops + 1);
	check_ok(ps_session_stop(session));
	ck_assert_int_eq(ps_session_poll(session, -1), PS_ENOTRUN);
	ps_session_destroy(session);
}
END_TEST

START_TEST(another_process_is_observed_until_it_ends)
{
	struct ps_session_options options = options_of(0);
	int go[2];
	ck_assert_int_eq(pipe(go), 0);
	char *pages = map_pages(PAGES);
	pid_t child = fork();

	if (child == 0) {
		char byte;
		if (read(go[0], &byte, 1) == 1)
			touch(pages, PAGES);
		_exit(0);
	}
	heard.pages = NULL;
	struct ps_session *session = new_session(&options, child, 1);
	heard.pages = pages;
	heard.pages_end = pages + PAGES * (size_t)sysconf(_SC_PAGESIZE);
	int result = ps_session_start(session);
	if (!PS_TEST_HAS_THREAD_SANITIZER || result != PS_PARTIAL)
		check_ok(result);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	check_ok(ps_session_run(session));
	ck_assert_uint_eq(heard.in_pages, PAGES);
	ck_assert_uint_ge(heard.exits, 1);
	ck_assert_uint_eq(heard.stops, 1);
	waitpid(child, NULL, 0);
	ps_session_destroy(session);
	close(go[0]);
	close(go[1]);
	munmap(pages, PAGES * (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

/* A process copies its memory, which takes a while, and its child ends when it is let go: those
 * that end during the start are not told. */
static void copy_process(const int go[2], const int told[2])
{
	size_t pages = (size_t)ps_test_size(16384, 1024);
	char *memory = map_pages(pages), byte;

	touch(memory, pages);
	if (write(told[1], "x", 1) != 1 || read(go[0], &byte, 1) != 1)
		_exit(1);
	pid_t copy = fork();
	if (copy == 0)
		_exit(read(go[0], &byte, 1) != 1);
	bool is_told = write(told[1], &copy, sizeof copy) == sizeof copy;
	waitpid(copy, NULL, 0);
	_exit(is_told ? 0 : 1);
}

static struct {
	pid_t forks[8], exits[8];
	size_t fork_count, exit_count;
} made;

static void keep_fork(void *context, const struct ps_session_record *record)
{
	(void)context;
	made.forks[made.fork_count++ % 8] = (pid_t)record->record->tid;
}

static void keep_exit(void *context, const struct ps_session_record *record)
{
	(void)context;
	made.exits[made.exit_count++ % 8] = (pid_t)record->record->tid;
}

static bool has(const pid_t tids[8], pid_t tid)
{
	for (size_t i = 0; i < 8; i++)
		if (tids[i] == tid)
			return true;
	return false;
}

/* Its creator is opened meanwhile, if it takes long enough. An heir's end is recorded. */
START_TEST(a_process_that_is_made_during_the_start_is_observed_or_told)
{
	static const struct ps_listener keeping = {
	    .size = sizeof keeping, .fork = keep_fork, .exit = keep_exit};
	struct ps_session_options options = {.size = sizeof options, .listener = &keeping};
	int go[2], told[2], status = 0;
	pid_t copy = 0, missed[8] = {0};
	struct timespec begun, made_by;
	char byte;

	ck_assert_int_eq(pipe(go), 0);
	ck_assert_int_eq(pipe(told), 0);
	memset(&made, 0, sizeof made);
	pid_t child = fork();
	if (child == 0)
		copy_process(go, told);
	ck_assert_int_eq(read(told[0], &byte, 1), 1);
	struct ps_session *session = new_session(&options, child, 1);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	usleep(500U * (unsigned)_i);
	int result = ps_session_start(session);
	ck_assert_msg(result == PS_OK || result == PS_PARTIAL, "%s", ps_error_detail());
	ck_assert_int_eq(read(told[0], &copy, sizeof copy), sizeof copy);
	clock_gettime(CLOCK_MONOTONIC, &made_by);
	ck_assert_int_eq(write(go[1], "x", 1), 1);
	check_ok(ps_session_run(session));
	ps_session_missed(session, missed, 8);
	/* A process that takes a second to make may be missed, as the manual says. */
	bool is_slow =
	    1000000000LL * (made_by.tv_sec - begun.tv_sec) + made_by.tv_nsec - begun.tv_nsec >
	    900000000;
	if (has(made.forks, copy) && stats_of(session).lost == 0 && !is_slow)
		ck_assert_msg(has(made.exits, copy) || has(missed, copy), "%d is missed silently",
		              (int)copy);
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	ps_session_destroy(session);
	for (size_t end = 0; end < 2; end++) {
		close(go[end]);
		close(told[end]);
	}
}
END_TEST

/* Linux may give both readers' samples the id of one. _i: 0: a sampler with another clock comes
 * before the session, 1: after it, 2: another session. */
START_TEST(a_session_beside_another_reader_hears_all_its_samples)
{
	struct ps_session_options options = options_of(0), silent = {.size = sizeof silent};
	options.ring_bytes = silent.ring_bytes = 256 << 10;
	struct ps_session *session = new_session(&options, 0, 1), *other = NULL;
	struct ps_sampler *sampler = NULL;
	struct ps_attr *attr = NULL;
	uint64_t count = 0;

	check_ok(ps_attr_create(&attr, "page-faults:u"));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_PERIOD, 1));
	check_ok(ps_attr_set(attr, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_TIME));
	check_ok(ps_attr_set(attr, PS_ATTR_DISABLED, 0));
	if (_i == 0)
		check_ok(ps_sampler_create(&sampler, attr, 0, -1, 65536));
	check_ok(ps_session_start(session));
	if (_i == 1)
		check_ok(ps_sampler_create(&sampler, attr, 0, -1, 65536));
	if (_i == 2) {
		other = new_session(&silent, 0, 1);
		check_ok(ps_session_start(other));
	}
	char *pages = map_pages(PAGES);
	heard.pages = NULL;
	touch(pages, PAGES);
	check_ok(ps_session_count(session, 0, &count));
	check_ok(ps_session_poll(session, 0));
	struct ps_session_stats stats = stats_of(session);
	ck_assert_uint_eq(stats.damaged, 0);
	ck_assert_uint_eq(stats.unassigned, 0);
	ck_assert_uint_ge(stats.samples + stats.lost, count);
	ck_assert_uint_ge(stats.samples, PAGES);
	ck_assert_uint_eq(heard.future, 0);
	ps_session_destroy(session);
	ps_session_destroy(other);
	ps_sampler_destroy(sampler);
	ps_attr_destroy(attr);
	munmap(pages, PAGES * (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

START_TEST(a_forked_child_is_refused_and_its_parent_goes_on)
{
	struct ps_session_options options = options_of(0);
	struct ps_session *session = new_session(&options, 0, 1);
	int status = 0;

	check_ok(ps_session_start(session));
	pid_t child = fork();
	if (child == 0) {
		bool is_refused = ps_session_poll(session, 0) == PS_ECLOST &&
		                  ps_session_stop(session) == PS_ECLOST;
		ps_session_destroy(session);
		_exit(is_refused ? 0 : 1);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	/* valgrind looks for leaks when the child ends, and touches all that is mapped there. */
	check_ok(ps_session_poll(session, 0));
	char *pages = map_pages(PAGES);
	heard.pages = pages;
	heard.pages_end = pages + PAGES * (size_t)sysconf(_SC_PAGESIZE);
	touch(pages, PAGES);
	check_ok(ps_session_poll(session, 0));
	ck_assert_uint_eq(heard.in_pages, PAGES);
	ps_session_destroy(session);
	munmap(pages, PAGES * (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

/* Threads that each make the next one, and end: none of them is there for long. */
static struct {
	_Atomic unsigned is_over, has_ended, legs;
	char *page;
} relay;

static void *run_leg(void *unused)
{
	pthread_t next;

	usleep(200);
	madvise(relay.page, (size_t)sysconf(_SC_PAGESIZE), MADV_DONTNEED);
	touch(relay.page, 1);
	relay.legs++;
	if (relay.is_over || pthread_create(&next, NULL, run_leg, unused) != 0)
		relay.has_ended = 1;
	else
		pthread_detach(next);
	return NULL;
}

START_TEST(threads_that_relay_are_observed_or_told)
{
	/* A session takes half of the descriptors, and two events; ten threads may live at once. */
	if (!ps_test_may_run(ps_test_lack_on_all_cpus(40)))
		return;
	relay.page = map_pages(1);
	run_leg(NULL);
	for (int round = 0; round < ps_test_size(20, 4); round++) {
		struct ps_session_options options = options_of(0);
		struct ps_session *session = new_session(&options, 0, 1);
		uint64_t before, after;
		int result = ps_session_start(session);
		unsigned legs = relay.legs;
		check_ok(ps_session_count(session, 0, &before));
		while (relay.legs < legs + 20)
			usleep(200);
		check_ok(ps_session_count(session, 0, &after));
		ck_assert_msg(result == PS_PARTIAL || (result == PS_OK && after >= before + 19),
		              "%d, and %llu faults", result, (unsigned long long)(after - before));
		ck_assert_int_eq(ps_session_missed(session, NULL, 0) > 0, result == PS_PARTIAL);
		ps_session_destroy(session);
	}
	for (relay.is_over = 1; !relay.has_ended; usleep(200))
		;
	munmap(relay.page, (size_t)sysconf(_SC_PAGESIZE));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session_threads");
	TCase *tests = here_case(suite, "session_threads");

	tcase_add_test(tests, threads_that_come_and_go_while_it_starts_are_observed_once);
	tcase_add_test(tests, each_stop_ends_one_run_from_any_thread);
	tcase_add_test(tests, another_process_is_observed_until_it_ends);
	tcase_add_loop_test(tests, a_process_that_is_made_during_the_start_is_observed_or_told, 0,
	                    6);
	tcase_add_loop_test(tests, a_session_beside_another_reader_hears_all_its_samples, 0, 3);
	tcase_add_test(tests, threads_that_relay_are_observed_or_told);
	tcase_add_test(tests, a_forked_child_is_refused_and_its_parent_goes_on);
	return here_run_if_counted(suite);
}
