/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set whose owner has ended: its final counts can be fetched once, nothing is lost, and every
 * other use tells that the set counts nobody any more.
 */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#define EVENT "page-faults"

/* What the owner does before it ends; _i of the tests is one of these. */
enum life {
	LIFE_STARTED, /* it has never read the set */
	LIFE_READ,
	LIFE_STOPPED,
	LIVES
};

struct owner {
	struct ps_eventset *set;
	enum life life;
	pid_t tid;
	pthread_barrier_t counted, looked_at;
};

static void *live(void *argument)
{
	struct owner *owner = argument;

	fake_set_cpu(2);
	check_ok(ps_start(owner->set));
	fake_advance(PAGE_FAULTS, 40);
	if (owner->life == LIFE_READ)
		check_ok(ps_read(owner->set, scene.root, NULL, NULL));
	fake_advance(PAGE_FAULTS, 2);
	if (owner->life == LIFE_STOPPED)
		check_ok(ps_stop(owner->set, scene.root, NULL, NULL));
	owner->tid = ps_hooks_default()->gettid();
	if (owner->life == LIVES) {
		pthread_barrier_wait(&owner->counted);
		pthread_barrier_wait(&owner->looked_at);
	}
	return NULL;
}

static struct owner left_by_its_owner(enum life life)
{
	struct owner owner = {.set = scene_set(EVENT, NULL), .life = life};
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, live, &owner), 0);
	pthread_join(thread, NULL);
	fake_set_cpu(1);
	return owner;
}

static void check_sentence(const struct owner *owner, const char *counts)
{
	char name[32];

	snprintf(name, sizeof name, "thread %d", (int)owner->tid);
	check_detail(name);
	check_detail("has ended");
	check_detail(counts);
	check_detail("ps_eventset_clone");
	check_detail("ps_start");
}

static void check_nothing_more_is_to_be_had(struct owner *owner)
{
	uint64_t timestamp = 0;

	ck_assert_int_eq(ps_eventset_is_running(owner->set), 0);
	check_fails(ps_read(owner->set, scene.root, &timestamp, NULL), PS_EINVAL);
	check_sentence(owner, "its final counts are in the tree");
	check_fails(ps_stop(owner->set, scene.root, &timestamp, NULL), PS_EINVAL);
	check_sentence(owner, "its final counts are in the tree");
	check_fails(ps_accum(owner->set, scene.root, &timestamp, NULL), PS_EINVAL);
	check_fails(ps_reset(owner->set), PS_EINVAL);
	check_sentence(owner, "its final counts are in the tree");
	ck_assert_uint_eq(timestamp, 0);
	ck_assert_int_eq(scene_total(EVENT).value, 42);
}

START_TEST(the_final_counts_are_read_once)
{
	struct owner owner = left_by_its_owner((enum life)_i);
	uint64_t timestamp = 0;

	check_ok(ps_read(owner.set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 42);
	ck_assert_uint_ne(scene_part(2, EVENT, timestamp).flags & PS_VALUE_ENDED, 0);
	check_nothing_more_is_to_be_had(&owner);
	ps_eventset_destroy(owner.set);
}
END_TEST

START_TEST(the_final_counts_are_stopped_once)
{
	struct owner owner = left_by_its_owner((enum life)_i);
	uint64_t timestamp = 0;

	if (_i == LIFE_STOPPED) {
		check_fails(ps_stop(owner.set, scene.root, &timestamp, NULL), PS_ENOTRUN);
		check_ok(ps_read(owner.set, scene.root, &timestamp, NULL));
	} else {
		check_ok(ps_stop(owner.set, scene.root, &timestamp, NULL));
	}
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 42);
	check_nothing_more_is_to_be_had(&owner);
	ps_eventset_destroy(owner.set);
}
END_TEST

/* The next ones would count for whoever calls, as if the set counted him. */
START_TEST(a_foreign_thread_neither_accumulates_nor_resets)
{
	struct owner owner = left_by_its_owner((enum life)_i);
	uint64_t timestamp = 0;

	check_fails(ps_accum(owner.set, scene.root, &timestamp, NULL), PS_EINVAL);
	check_sentence(&owner,
	               _i == LIFE_STOPPED ? "are in the tree" : "ps_stop gives its final counts");
	check_fails(ps_reset(owner.set), PS_EINVAL);
	check_fails(ps_accum(owner.set, scene.root, NULL, NULL), PS_EINVAL);
	check_ok(ps_read(owner.set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(2, EVENT, timestamp), 42);
	check_nothing_more_is_to_be_had(&owner);
	ps_eventset_destroy(owner.set);
}
END_TEST

START_TEST(what_could_not_be_stored_can_be_fetched_again)
{
	struct owner owner = left_by_its_owner(LIFE_STARTED);
	uint64_t timestamp = 0;

	check_fails(ps_read(owner.set, NULL, &timestamp, NULL), PS_EINVAL);
	check_fails(ps_stop(owner.set, NULL, &timestamp, NULL), PS_EINVAL);
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	ps_read(owner.set, scene.root, &timestamp, NULL);
	fake_fail(FAKE_ALLOCATE, 0, 0);
	if (timestamp == 0)
		check_ok(ps_read(owner.set, scene.root, &timestamp, NULL));
	check_nothing_more_is_to_be_had(&owner);
	ps_eventset_destroy(owner.set);
}
END_TEST

/* The counts of one that never stopped must be fetched before the set is another thread's. */
START_TEST(a_start_takes_the_set_over_and_loses_nothing)
{
	struct owner owner = left_by_its_owner((enum life)_i);
	uint64_t last = 0, timestamp = 0;

	if (_i != LIFE_STOPPED) {
		check_fails(ps_start(owner.set), PS_EISRUN);
		check_detail("ps_stop gives its final counts");
		check_ok((_i == LIFE_READ ? ps_read : ps_stop)(owner.set, scene.root, &last, NULL));
	} else {
		check_ok(ps_read(owner.set, scene.root, &last, NULL));
	}
	check_ok(ps_start(owner.set));
	fake_advance(PAGE_FAULTS, 5);
	check_ok(ps_accum(owner.set, scene.root, &timestamp, NULL));
	fake_advance(PAGE_FAULTS, 2);
	check_ok(ps_accum(owner.set, scene.root, &timestamp, NULL));
	check_ok(ps_reset(owner.set));
	check_ok(ps_stop(owner.set, scene.root, &timestamp, NULL));
	check_ok(ps_read(owner.set, scene.root, &timestamp, NULL));
	check_ok(ps_read(owner.set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, last), 42);
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 7);
	ck_assert_uint_eq(scene_part(1, EVENT, timestamp).flags & PS_VALUE_ENDED, 0);
	ps_eventset_destroy(owner.set);
}
END_TEST

START_TEST(counts_that_are_given_are_the_callers)
{
	struct owner owner = left_by_its_owner(LIFE_STOPPED);
	uint64_t timestamp = 0;

	check_ok(ps_read(owner.set, scene.root, NULL, NULL));
	check_ok(ps_store(owner.set, (const long long[]){7}, 1, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_count(1, EVENT, timestamp), 7);
	ck_assert_uint_eq(scene_part(1, EVENT, timestamp).flags & PS_VALUE_ENDED, 0);
	ps_eventset_destroy(owner.set);
}
END_TEST

/* pthread_join returns before the kernel is done with the thread. */
START_TEST(an_owner_that_is_ending_is_waited_for)
{
	struct owner owner = {.set = scene_set(EVENT, NULL), .life = LIVES};
	pthread_t thread;

	pthread_barrier_init(&owner.counted, NULL, 2);
	pthread_barrier_init(&owner.looked_at, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, live, &owner), 0);
	pthread_barrier_wait(&owner.counted);
	check_fails(ps_stop(owner.set, scene.root, NULL, NULL), PS_EINVAL);
	check_detail(
	    "its owner, which still runs: give each thread a set of its own (ps_eventset_clone)");
	fake_task_leave(owner.tid, 3);
	check_ok(ps_stop(owner.set, scene.root, NULL, NULL));
	check_nothing_more_is_to_be_had(&owner);
	pthread_barrier_wait(&owner.looked_at);
	pthread_join(thread, NULL);
	ps_eventset_destroy(owner.set);
}
END_TEST

static struct ps_eventset *busy_set;
static ssize_t (*fake_read)(int fd, void *buffer, size_t bytes);

static void *read_the_busy_set(void *unused)
{
	check_fails(ps_read(busy_set, scene.root, NULL, NULL), PS_ECNFLCT);
	check_detail("another thread is in the middle of a call");
	return unused;
}

/* During the first call of the owner. */
static ssize_t read_meanwhile(int fd, void *buffer, size_t bytes)
{
	pthread_t thread;

	ps__os.read = fake_read;
	ck_assert_int_eq(pthread_create(&thread, NULL, read_the_busy_set, NULL), 0);
	pthread_join(thread, NULL);
	return fake_read(fd, buffer, bytes);
}

START_TEST(a_call_of_another_thread_is_no_signal)
{
	busy_set = scene_set(EVENT, NULL);
	check_ok(ps_start(busy_set));
	fake_read = ps__os.read;
	ps__os.read = read_meanwhile;
	check_ok(ps_read(busy_set, scene.root, NULL, NULL));
	ck_assert_ptr_eq(ps__os.read, fake_read);
	ps_eventset_destroy(busy_set);
}
END_TEST

static void add_tests(TCase *tests)
{
	tcase_add_loop_test(tests, the_final_counts_are_read_once, 0, LIVES);
	tcase_add_loop_test(tests, the_final_counts_are_stopped_once, 0, LIVES);
	tcase_add_loop_test(tests, a_foreign_thread_neither_accumulates_nor_resets, 0, LIVES);
	tcase_add_test(tests, what_could_not_be_stored_can_be_fetched_again);
	tcase_add_loop_test(tests, a_start_takes_the_set_over_and_loses_nothing, 0, LIVES);
	tcase_add_test(tests, counts_that_are_given_are_the_callers);
	tcase_add_test(tests, an_owner_that_is_ending_is_waited_for);
	tcase_add_test(tests, a_call_of_another_thread_is_no_signal);
}

int main(void)
{
	Suite *suite = suite_create("owner");

	add_tests(scene_case(suite, "owner"));
	add_tests(scene_case_instances(suite, "owner-per-CPU"));
	add_tests(scene_case_last_cpu(suite, "owner-last-cpu"));
	return scene_run(suite);
}
