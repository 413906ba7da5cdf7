/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets whose target or process is no longer what it was: a forked child, an ended task, a CPU that
 * was offline, another thread, a signal handler. */
#include "backend/perf.h"
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned calls_to_counters(void)
{
	return fake_count(FAKE_IOCTL) + fake_count(FAKE_READ) + fake_count(FAKE_PREAD) +
	       fake_count(FAKE_OPEN) + fake_count(FAKE_PERF_EVENT_OPEN) + fake_count(FAKE_CLOSE);
}

/* What a forked child finds; its number is the line that went wrong, 0 if none. */
static int in_child(struct ps_eventset *set)
{
	struct ps_eventset *clone = NULL;
	uint64_t timestamp = 0;

	fake_count_reset();
	if (ps_read(set, scene.root, &timestamp, NULL) != PS_ECLOST || !*ps_error_detail())
		return 1;
	if (ps_accum(set, scene.root, NULL, NULL) != PS_ECLOST || ps_reset(set) != PS_ECLOST)
		return 2;
	if (ps_stop(set, scene.root, NULL, NULL) != PS_ECLOST || ps_start(set) != PS_ECLOST)
		return 3;
	if (ps_store(set, (const long long[]){1}, 1, scene.root, NULL, NULL) != PS_ECLOST)
		return 4;
	if (ps_eventset_add(set, "minor-faults") != PS_ECLOST ||
	    ps_eventset_detach(set) != PS_ECLOST)
		return 5;
	if (calls_to_counters() != 0)
		return 6;
	ps_eventset_destroy(set);
	/* Its copies are closed; no ioctl is left that could have stopped a counter before. */
	if (fake_open_fds() != 0 || fake_count(FAKE_MUNMAP) != 0)
		return 7;
	if (fake_count(FAKE_IOCTL) != fake_count(FAKE_CLOSE))
		return 10;
	if (ps_eventset_create(&clone) != PS_OK || ps_eventset_add(clone, "page-faults") != PS_OK ||
	    ps_start(clone) != PS_OK)
		return 8;
	return ps_stop(clone, scene.root, NULL, NULL) == PS_OK ? 0 : 9;
}

START_TEST(a_forked_child_has_lost_the_set_and_touches_nothing)
{
	struct ps_eventset *set = scene_started("page-faults", NULL);
	int status = -1;
	pid_t child;

	fake_advance(PAGE_FAULTS, 5);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(in_child(set));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 5);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(an_ended_task_leaves_its_last_totals)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	uint64_t first = 0, second = 0;

	fake_task(4711, "solver", 2);
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	check_ok(ps_read(set, scene.root, &first, NULL));
	ck_assert_int_eq(ps_eventset_is_ended(set), 0);
	fake_advance(PAGE_FAULTS, 2);
	fake_task_end(4711);
	fake_task(4711, "another of that number", 1);
	check_ok(ps_read(set, scene.root, &second, NULL));
	ck_assert_int_ne(ps_eventset_is_ended(set), 0);
	ck_assert_int_eq(scene_sum("page-faults", second), 42);
	ck_assert_int_eq(scene_count(2, "page-faults", second), 42);
	ck_assert_uint_ne(scene_part(2, "page-faults", second).flags & PS_VALUE_ENDED, 0);
	ck_assert_uint_eq(scene_part(2, "page-faults", first).flags & PS_VALUE_ENDED, 0);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_count(2, "page-faults", second), 42);
	check_fails(ps_start(set), PS_ESYS);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_set_that_could_not_be_started_again_keeps_its_counts)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	uint64_t first = 0, second = 0;
	long long residual;

	fake_task(4711, "solver", 2);
	fake_task_affinity(4711, "2");
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	check_ok(ps_stop(set, scene.root, &first, NULL));
	/* It isn't pinned any more, so that the counters are opened anew: what was open is closed
	 * by then. */
	fake_task_affinity(4711, "0-3");
	fake_fail_always(FAKE_PERF_EVENT_OPEN, ESRCH);
	check_fails(ps_start(set), PS_ESYS);
	fake_fail_always(FAKE_PERF_EVENT_OPEN, 0);
	check_ok(ps_read(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_sum("page-faults", second), 40);
	check_ok(ps_accum(set, scene.root, &first, NULL));
	ps_eventset_check(set, &residual, 1);
	check_ok(ps_reset(set));
	check_ok(ps_read(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_sum("page-faults", second), 0);
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_stop(set, scene.root, &second, NULL));
	ck_assert_int_eq(scene_sum("page-faults", second), 2);
	ps_eventset_destroy(set);
}
END_TEST

struct handover {
	struct ps_eventset *set;
	pthread_barrier_t started, tried;
};

static void *own(void *argument)
{
	struct handover *handover = argument;
	int result = ps_start(handover->set);

	fake_advance(PAGE_FAULTS, 6);
	pthread_barrier_wait(&handover->started);
	pthread_barrier_wait(&handover->tried);
	return result == PS_OK ? handover : NULL;
}

START_TEST(only_the_owner_may_read_until_it_has_ended)
{
	struct handover handover = {.set = scene_set("page-faults", NULL)};
	uint64_t timestamp = 0;
	pthread_t owner;
	void *good = NULL;

	pthread_barrier_init(&handover.started, NULL, 2);
	pthread_barrier_init(&handover.tried, NULL, 2);
	ck_assert_int_eq(pthread_create(&owner, NULL, own, &handover), 0);
	pthread_barrier_wait(&handover.started);
	check_fails(ps_read(handover.set, scene.root, &timestamp, NULL), PS_EINVAL);
	check_fails(ps_stop(handover.set, scene.root, &timestamp, NULL), PS_EINVAL);
	pthread_barrier_wait(&handover.tried);
	pthread_join(owner, &good);
	ck_assert_ptr_nonnull(good);
	check_ok(ps_read(handover.set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum("page-faults", timestamp), 6);
	ck_assert_uint_ne(scene_total("page-faults").flags & PS_VALUE_ENDED, 0);
	ck_assert_int_ne(ps_eventset_is_ended(handover.set), 0);
	ps_eventset_destroy(handover.set);
	pthread_barrier_destroy(&handover.started);
	pthread_barrier_destroy(&handover.tried);
}
END_TEST

/* pthread_t is given anew as soon as a thread was joined; the number of a dead owner must not pass
 * for the owner. */
static void *count_in_a_new_thread(void *argument)
{
	struct ps_eventset *set = argument;
	uint64_t timestamp = 0;
	bool good;

	fake_set_cpu(2);
	good = ps_start(set) == PS_OK;
	fake_advance(PAGE_FAULTS, 9);
	good = good && ps_stop(set, scene.root, &timestamp, NULL) == PS_OK;
	return good && scene_sum("page-faults", timestamp) == 9 ? set : NULL;
}

START_TEST(a_set_passes_on_to_a_thread_that_starts_it_after_its_owner_ended)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	for (int i = 0; i < 5; i++) {
		pthread_t thread;
		void *good = NULL;

		ck_assert_int_eq(pthread_create(&thread, NULL, count_in_a_new_thread, set), 0);
		pthread_join(thread, &good);
		ck_assert_msg(good != NULL, "thread %d: %lld page faults", i,
		              scene_total("page-faults").value);
	}
	ps_eventset_destroy(set);
}
END_TEST

static void *start_only(void *argument)
{
	int result = ps_start(argument);

	fake_advance(PAGE_FAULTS, 9);
	return result == PS_OK ? argument : NULL;
}

static void *read_only(void *argument)
{
	fake_set_cpu(3);
	return ps_read(argument, scene.root, NULL, NULL) == PS_OK ? argument : NULL;
}

START_TEST(a_thread_that_looks_like_the_ended_owner_gets_its_final_counts)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	pthread_t first, second;
	void *good = NULL;

	ck_assert_int_eq(pthread_create(&first, NULL, start_only, set), 0);
	pthread_join(first, &good);
	ck_assert_ptr_nonnull(good);
	ck_assert_int_eq(pthread_create(&second, NULL, read_only, set), 0);
	pthread_join(second, &good);
	ck_assert_ptr_nonnull(good);
	/* Where the owner was, not where the reader is */
	ck_assert_int_eq(scene_count(0, "page-faults", 0), 9);
	ck_assert_uint_ne(scene_total("page-faults").flags & PS_VALUE_ENDED, 0);
	ck_assert_int_ne(ps_eventset_is_ended(set), 0);
	ps_eventset_destroy(set);
}
END_TEST

static void *read_stopped(void *argument)
{
	uint64_t timestamp = 0;
	struct ps_eventset *set = argument;

	return ps_read(set, scene.root, &timestamp, NULL) == PS_EINVAL &&
	               ps_accum(set, scene.root, &timestamp, NULL) == PS_EINVAL &&
	               ps_reset(set) == PS_EINVAL
	           ? set
	           : NULL;
}

START_TEST(a_stopped_set_is_its_living_owners_too)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);
	pthread_t other;
	void *good = NULL;

	check_ok(ps_start(set));
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(pthread_create(&other, NULL, read_stopped, set), 0);
	pthread_join(other, &good);
	ck_assert_ptr_nonnull(good);
	ck_assert_uint_eq(scene_rows(0, "page-faults"), 1);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_stat_file_that_fails_once_is_no_end_of_the_task)
{
	struct ps_eventset *set = scene_set("page-faults", NULL);

	fake_task(4711, "solver", 2);
	check_ok(ps_eventset_attach_tid(set, 4711));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 40);
	fake_fail(FAKE_PREAD, 1, EIO);
	ps_read(set, scene.root, NULL, NULL);
	ck_assert_int_eq(ps_eventset_is_ended(set), 0);
	fake_task(4711, "solver", 1);
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(1, "page-faults", 0), 2);
	ck_assert_int_eq(scene_total("page-faults").value, 42);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_cpu_that_was_offline_keeps_its_counts_and_goes_on)
{
	struct ps_eventset *set = scene_set("page-faults", "minor-faults", NULL);

	check_ok(ps_eventset_attach_cpu(set, 3));
	check_ok(ps_start(set));
	fake_advance(PAGE_FAULTS, 10);
	fake_run(1000, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_advance(PAGE_FAULTS, 1);
	fake_run(1000, 1000);
	fake_set_online(3, false);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(3, "page-faults", 0), 11);
	fake_advance(PAGE_FAULTS, 500); /* nobody is there */
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(3, "page-faults", 0), 11);
	fake_set_online(3, true);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	fake_advance(PAGE_FAULTS, 5);
	fake_advance(MINOR_FAULTS, 6);
	fake_run(1000, 1000);
	check_ok(ps_read(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(3, "page-faults", 0), 16);
	ck_assert_int_eq(scene_count(3, "minor-faults", 0), 6);
	ck_assert_uint_ne(scene_part(3, "page-faults", 0).flags & PS_VALUE_INTERRUPTED, 0);
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ps_eventset_destroy(set);
	ck_assert_uint_eq(fake_open_fds(), 0);
}
END_TEST

static struct ps_eventset *interrupted, *in_handler;
static ssize_t (*read_before)(int fd, void *buffer, size_t size_bytes);
static int result_inside;

/* A signal that comes while the kernel is asked, and whose handler reads the same set. */
static ssize_t read_with_signal(int fd, void *buffer, size_t size_bytes)
{
	ssize_t length = read_before(fd, buffer, size_bytes);

	if (interrupted) {
		in_handler = interrupted;
		interrupted = NULL;
		raise(SIGUSR1);
	}
	return length;
}

static void read_in_handler(int number)
{
	(void)number;
	result_inside = ps_read(in_handler, scene.root, NULL, NULL);
}

static uint64_t read_ns;
static int (*ioctl_before)(int fd, unsigned long request, unsigned long argument);

/* A kernel whose events count the time of the clock, which is looked at in each call. */
static void let_time_pass(void)
{
	uint64_t now = ps__os_now_ns();

	fake_run(now - read_ns, now - read_ns);
	read_ns = now;
}

static ssize_t read_with_time(int fd, void *buffer, size_t size_bytes)
{
	let_time_pass();
	return read_before(fd, buffer, size_bytes);
}

static int ioctl_with_time(int fd, unsigned long request, unsigned long argument)
{
	let_time_pass();
	return ioctl_before(fd, request, argument);
}

/* The reader waits for a CPU of his own for 40 ms, between any look at the clock and what
 * follows. */
START_TEST(a_reader_who_had_to_wait_takes_no_cpu_for_one_that_was_offline)
{
	static const char *const second[] = {NULL, "minor-faults"};
	struct ps_eventset *set = scene_set("page-faults", second[_i], NULL);

	check_ok(ps_eventset_attach_cpu(set, 3));
	fake_set_clock(1000000000, 40000000);
	read_ns = ps__os_now_ns();
	ioctl_before = ps__os.ioctl;
	read_before = ps__os.read;
	ps__os.ioctl = ioctl_with_time;
	ps__os.read = read_with_time;
	check_ok(ps_start(set));
	for (int round = 1; round <= 4; round++) {
		fake_advance(PAGE_FAULTS, 10);
		check_ok(ps_read(set, scene.root, NULL, NULL));
		ck_assert_int_eq(scene_count(3, "page-faults", 0), 10 * round);
	}
	check_ok(ps_stop(set, scene.root, NULL, NULL));
	ck_assert_int_eq(scene_count(3, "page-faults", 0), 40);
	ck_assert_uint_eq(scene_part(3, "page-faults", 0).flags & PS_VALUE_INTERRUPTED, 0);
	if (second[_i])
		ck_assert_int_eq(scene_count(3, "minor-faults", 0), 0);
	ps__os.read = read_before;
	ps__os.ioctl = ioctl_before;
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_signal_handler_that_interrupts_a_call_is_refused_and_harms_nothing)
{
	struct ps_eventset *set = scene_set("page-faults", NULL),
			   *other = scene_set("minor-faults", NULL);
	uint64_t timestamp = 0;

	check_ok(ps_start(set));
	check_ok(ps_start(other));
	/* Its first reading allocates, which no handler may do. */
	check_ok(ps_read(other, scene.root, NULL, NULL));
	read_before = ps__os.read;
	ps__os.read = read_with_signal;
	fake_advance(PAGE_FAULTS, 5);
	signal(SIGUSR1, read_in_handler);
	interrupted = set;
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(result_inside, PS_ECNFLCT);
	ck_assert_int_eq(scene_count(0, "page-faults", timestamp), 5);
	ck_assert_uint_eq(scene_rows(0, "page-faults"), 1);
	interrupted = other; /* another set is none of its business */
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(result_inside, PS_OK);
	ck_assert_uint_eq(scene_rows(0, "minor-faults"), 1);
	ps__os.read = read_before;
	ps_eventset_destroy(set);
	ps_eventset_destroy(other);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_test(tests, a_forked_child_has_lost_the_set_and_touches_nothing);
	tcase_add_test(tests, an_ended_task_leaves_its_last_totals);
	tcase_add_test(tests, a_set_that_could_not_be_started_again_keeps_its_counts);
	tcase_add_test(tests, only_the_owner_may_read_until_it_has_ended);
	tcase_add_test(tests, a_set_passes_on_to_a_thread_that_starts_it_after_its_owner_ended);
	tcase_add_test(tests, a_thread_that_looks_like_the_ended_owner_gets_its_final_counts);
	tcase_add_test(tests, a_stopped_set_is_its_living_owners_too);
	tcase_add_test(tests, a_stat_file_that_fails_once_is_no_end_of_the_task);
	tcase_add_test(tests, a_cpu_that_was_offline_keeps_its_counts_and_goes_on);
	tcase_add_loop_test(tests, a_reader_who_had_to_wait_takes_no_cpu_for_one_that_was_offline,
	                    0, 2);
	tcase_add_test(tests, a_signal_handler_that_interrupts_a_call_is_refused_and_harms_nothing);
}

int main(void)
{
	Suite *suite = suite_create("targets");

	add_tests(scene_case(suite, "exact"));
	add_tests(scene_case_last_cpu(suite, "last-cpu"));
	return scene_run(suite);
}
