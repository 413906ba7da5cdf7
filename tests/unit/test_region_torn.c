/* SPDX-License-Identifier: BSD-3-Clause */
/* Paths that are read while their thread stands still inside a change: what is half changed is no
 * number. */
#include "base/os.h"
#include "eventset/take.h"
#include "region/paths.h"
#include "region/profile.h"
#include "support/regions.h"
#include "support/step.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>

static void (*at_yield)(void);

/* Replaces the C library's: a reader waits by it. */
int sched_yield(void)
{
	if (at_yield)
		at_yield();
	return 0;
}

static struct ps__node *node_below_root(void)
{
	return atomic_load_explicit(&ps__own.member->root->next, memory_order_acquire);
}

/* Returns the word of EVENT in the node's only cell. */
static _Atomic uint64_t *count_of_node(struct ps__node *node)
{
	struct ps__node_cell *cell = atomic_load_explicit(&node->cells, memory_order_acquire);

	return &cell->words[cell->history->recording->column[0].word];
}

/* A growth that is taken back, because a counter went backwards, may leave less than 0 for a
 * while. */
START_TEST(a_count_below_0_inside_a_change_is_not_shown)
{
	regions_begin(EVENT, NULL);
	visit_counting(region("work"), 3);
	struct ps__node *node = node_below_root();
	take_paths();
	ck_assert_int_eq(value_of("work", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_COUNTED);
	ps__node_begin(node);
	atomic_fetch_sub(count_of_node(node), 7);
	take_paths();
	struct ps_value value = value_of("work", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(value.value, 0);
	ck_assert_uint_eq(value.raw, 0);
	atomic_fetch_add(count_of_node(node), 7);
	ps__node_end(node);
	take_paths();
	ck_assert_int_eq(own("work", -1), 3);
	regions_end();
}
END_TEST

/* The change began after the visits were read. */
START_TEST(counts_read_inside_a_change_are_lower_bounds)
{
	regions_begin(EVENT, NULL);
	visit_counting(region("work"), 3);
	struct ps__node *node = node_below_root();
	struct ps_paths *paths = ps__paths_make(regions.profile, 1);
	ck_assert_ptr_nonnull(paths);
	node->path = ps__paths_get_path(paths, paths->root, node->region, node->rate);
	ck_assert_ptr_nonnull(node->path);
	ps__node_begin(node);
	ck_assert_int_eq(ps__paths_add_node(node, true), 0);
	ps__node_end(node);
	ck_assert_uint_eq(node->path->doubt & PS__LACKS, PS__LACKS);
	ps__paths_settle(paths);
	ck_assert_int_eq(node->path->parts->values[0].status, PS_STATUS_INCOMPLETE);
	ck_assert_int_eq(node->path->parts->values[0].value, 3);
	ps_paths_destroy(paths);
	regions_end();
}
END_TEST

static ssize_t (*read_of_fake)(int fd, void *buffer, size_t count);
static sem_t stands_still, may_go_on;
static _Thread_local bool stops_at_read;

static ssize_t stop_at_read(int fd, void *buffer, size_t count)
{
	if (stops_at_read) {
		stops_at_read = false;
		sem_post(&stands_still);
		sem_wait(&may_go_on);
	}
	return read_of_fake(fd, buffer, count);
}

static sem_t has_left;

static void *stop_in_a_boundary(void *unused)
{
	visit_counting(region("work"), 3);
	check_ok(ps_region_enter(region("work")));
	fake_advance(PAGE_FAULTS, 7);
	stops_at_read = true;
	check_ok(ps_region_leave(region("work")));
	sem_post(&has_left);
	return unused;
}

static void start_thread_that_stops(pthread_t *thread)
{
	sem_init(&stands_still, 0, 0);
	sem_init(&may_go_on, 0, 0);
	sem_init(&has_left, 0, 0);
	read_of_fake = ps__os.read;
	ps__os.read = stop_at_read;
	regions_begin(EVENT, NULL);
	ck_assert_int_eq(pthread_create(thread, NULL, stop_in_a_boundary, NULL), 0);
	sem_wait(&stands_still);
}

/* The thread has no processor, for example: its counts were there before the call. */
START_TEST(counts_of_a_thread_that_stands_still_in_a_boundary_are_a_lower_bound)
{
	pthread_t thread;

	start_thread_that_stops(&thread);
	take_paths();
	struct ps_value value = value_of("work", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.value, 3);
	ck_assert_int_eq(value.status, PS_STATUS_INCOMPLETE);
	sem_post(&may_go_on);
	pthread_join(thread, NULL);
	take_paths();
	value = value_of("work", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.value, 10);
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	regions_end();
}
END_TEST

static unsigned waits;

/* The thread gets its processor back while the reader sleeps. */
static int let_it_leave(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	(void)fds, (void)count, (void)timeout_ms;
	if (waits++ == 0) {
		sem_post(&may_go_on);
		sem_wait(&has_left);
	}
	return 0;
}

/* A scheduler's slice is longer than a thousand turns. */
START_TEST(a_thread_that_is_preempted_in_a_boundary_is_waited_for)
{
	pthread_t thread;

	start_thread_that_stops(&thread);
	ps__os.poll = let_it_leave;
	take_paths();
	ck_assert_uint_eq(waits, 1);
	struct ps_value value = value_of("work", -1, PS_SHARE_EXCLUSIVE);
	ck_assert_int_eq(value.value, 10);
	ck_assert_int_eq(value.status, PS_STATUS_COUNTED);
	pthread_join(thread, NULL);
	regions_end();
}
END_TEST

#ifdef STEP_IS_POSSIBLE

/* A thread that ends, step by step: it goes on until is_there is true, which the reader of its
 * paths sets. */
static struct {
	sem_t asked, there;
	bool (*is_there)(const struct ps__member *member);
	bool (*next[3])(const struct ps__member *member);
	unsigned turn;
	const struct ps__member *member;
	uint64_t sequence;
} ending;

static bool is_in_the_stop(const struct ps__member *member)
{
	return ps__set_is_busy(member->set);
}

static bool is_behind_the_stop(const struct ps__member *member)
{
	return !ps__set_is_busy(member->set) && !ps_eventset_is_running(member->set);
}

/* True when the boundary has changed the node. */
static bool is_in_the_last_boundary(const struct ps__member *member)
{
	return atomic_load_explicit(&member->root->sequence, memory_order_relaxed) >
	       ending.sequence + 1;
}

static void go_on(void)
{
	if (ending.turn == 3)
		return;
	ending.is_there = ending.next[ending.turn++];
	sem_post(&ending.asked);
	while (sem_wait(&ending.there) != 0 && errno == EINTR)
		;
}

static void stop_there(int number)
{
	(void)number;
	if (!ending.is_there || !ending.is_there(ending.member))
		return;
	ending.is_there = NULL;
	sem_post(&ending.there);
	while (sem_wait(&ending.asked) != 0 && errno == EINTR)
		;
}

static _Thread_local bool is_reader;

/* While the reader reads the counters, the thread goes on: into its stop, and later into its last
 * boundary. */
static ssize_t read_and_go_on(int fd, void *buffer, size_t count)
{
	ssize_t length = read_of_fake(fd, buffer, count);

	if (is_reader && ending.turn != 1)
		go_on();
	return length;
}

/* The reader waits for the end of the stop. */
static void yield_and_go_on(void)
{
	if (is_reader && ending.turn == 1)
		go_on();
}

static void *end_in_steps(void *unused)
{
	check_ok(ps_profile_join(regions.profile));
	fake_advance(PAGE_FAULTS, 7);
	ending.member = ps__own.member;
	ending.sequence =
	    atomic_load_explicit(&ending.member->root->sequence, memory_order_relaxed);
	sem_post(&ending.there);
	while (sem_wait(&ending.asked) != 0 && errno == EINTR)
		;
	step(true);
	int result = ps_profile_leave(regions.profile);
	step(false);
	check_ok(result);
	return unused;
}

/* The stop and the last boundary of a thread that ends are two changes during one copy. */
START_TEST(counts_of_a_thread_that_ends_during_the_copy_are_there)
{
	struct sigaction action = {.sa_handler = stop_there};
	pthread_t thread;

	if (!step_is_possible())
		return;
	sigaction(SIGTRAP, &action, NULL);
	sem_init(&ending.asked, 0, 0);
	sem_init(&ending.there, 0, 0);
	ending.next[0] = is_in_the_stop;
	ending.next[1] = is_behind_the_stop;
	ending.next[2] = is_in_the_last_boundary;
	read_of_fake = ps__os.read;
	regions_begin(EVENT, NULL);
	ps__os.read = read_and_go_on;
	at_yield = yield_and_go_on;
	ck_assert_int_eq(pthread_create(&thread, NULL, end_in_steps, NULL), 0);
	sem_wait(&ending.there);
	is_reader = true;
	take_paths();
	is_reader = false;
	at_yield = NULL;
	ck_assert_uint_eq(ending.turn, 3);
	ck_assert_int_eq(own("", -1), 7);
	ck_assert_int_eq(value_of("", -1, PS_SHARE_EXCLUSIVE).status, PS_STATUS_COUNTED);
	sem_post(&ending.asked);
	pthread_join(thread, NULL);
	regions_end();
}
END_TEST

static struct {
	sem_t asked, answered;
	bool has_ended;
	/* Numbers of readings: the sum before the call, the sum after it, another sum */
	unsigned before, after, others;
} reader;

static void read_sum(void)
{
	struct ps_paths *paths;
	struct ps_mark_value sum = {.size = sizeof sum};

	check_ok(ps_paths_create(&paths, regions.profile));
	check_ok(ps_path_mark_value(ps_paths_root(paths), "n", PS_SHARE_EXCLUSIVE, &sum));
	ps_paths_destroy(paths);
	if (sum.flags == 0 && sum.count == 1 && sum.sum == -3)
		reader.before++;
	else if (sum.flags == 0 && sum.count == 2 && sum.sum == 2)
		reader.after++;
	else
		reader.others++;
}

static void *read_when_asked(void *unused)
{
	while (sem_wait(&reader.asked) == 0 && !reader.has_ended) {
		read_sum();
		sem_post(&reader.answered);
	}
	return unused;
}

static void ask(int number)
{
	(void)number;
	sem_post(&reader.asked);
	while (sem_wait(&reader.answered) != 0 && errno == EINTR)
		;
}

/* The sum goes from below 0 to above: its upper half changes, too. */
START_TEST(a_sum_is_whole_at_each_instruction)
{
	struct sigaction action = {.sa_handler = ask};
	pthread_t thread;

	if (!step_is_possible())
		return;
	sigaction(SIGTRAP, &action, NULL);
	sem_init(&reader.asked, 0, 0);
	sem_init(&reader.answered, 0, 0);
	regions_begin(EVENT, NULL);
	struct ps_region *name = region("n");
	check_ok(ps_region_add_value(name, -3));
	ck_assert_int_eq(pthread_create(&thread, NULL, read_when_asked, NULL), 0);
	step(true);
	int result = ps_region_add_value(name, 5);
	step(false);
	check_ok(result);
	reader.has_ended = true;
	sem_post(&reader.asked);
	pthread_join(thread, NULL);
	ck_assert_uint_gt(reader.before, 20);
	ck_assert_uint_gt(reader.after, 3);
	ck_assert_msg(reader.others == 0, "of %u sums %u are neither old nor new",
	              reader.before + reader.after + reader.others, reader.others);
	regions_end();
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("region_torn");
	TCase *tests = scene_case(suite, "region_torn");

	tcase_add_test(tests, a_count_below_0_inside_a_change_is_not_shown);
	tcase_add_test(tests, counts_read_inside_a_change_are_lower_bounds);
	tcase_add_test(tests, counts_of_a_thread_that_stands_still_in_a_boundary_are_a_lower_bound);
	tcase_add_test(tests, a_thread_that_is_preempted_in_a_boundary_is_waited_for);
#ifdef STEP_IS_POSSIBLE
	tcase_add_test(tests, counts_of_a_thread_that_ends_during_the_copy_are_there);
	tcase_add_test(tests, a_sum_is_whole_at_each_instruction);
#endif
	return scene_run(suite);
}
