/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots on the real kernel: known pages on known CPUs stand between any two of them, whatever
 * readings are made; also when signals leave the calls, in a child, and of another thread.
 */
#include "actor.h"
#include "storm.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOVES 400
#define JUMPS 150

struct walk {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	struct wander_work work;
	int cpus[2];
	long long touched[2];
	struct ps_snapshot *first, *last;
};

/* On one of the two CPUs; a task that wasn't there has no count. */
static long long count_between(const struct walk *walk, int place)
{
	const struct ps_component *thread =
	    ps_component_find(walk->root, PS_COMPONENT_THREAD, walk->cpus[place]);
	struct ps_value value = {0};
	int result = ps_snapshot_difference(walk->set, walk->first, walk->last, thread, &value, 1);

	ck_assert(result == PS_OK || result == PS_ENOEVST);
	ck_assert_int_eq((int)value.attribution, PS_ATTRIBUTION_EXACT);
	return value.value;
}

static void work_on(struct walk *walk, int place, size_t pages)
{
	wander_move(walk->cpus[place]);
	wander_touch(&walk->work, pages);
	walk->touched[place] += (long long)pages;
}

static void check_places(struct walk *walk)
{
	check_ok(ps_snapshot_take(walk->set, &walk->last));
	for (int place = 0; place < 2; place++)
		wander_check_count(count_between(walk, place), walk->touched[place],
		                   wander_strays(&walk->work));
}

static void read_somehow(struct walk *walk, unsigned kind)
{
	uint64_t timestamp = 0;

	if (kind == 0) {
		check_ok(ps_read(walk->set, walk->root, &timestamp, NULL));
	} else if (kind == 1) {
		check_ok(ps_accum(walk->set, walk->root, &timestamp, NULL));
	} else if (kind == 2) {
		check_ok(ps_reset(walk->set));
	} else {
		check_ok(ps_stop(walk->set, walk->root, &timestamp, NULL));
		check_ok(ps_start(walk->set));
	}
}

static void open_walk(struct walk *walk, size_t pages)
{
	*walk = (struct walk){.cpus = {wander_cpu(0), wander_cpu(1)}};
	check_ok(ps_topology_load(&walk->topology, NULL));
	walk->root = ps_topology_root(walk->topology);
	wander_create(&walk->work, pages + 16);
	walk->set = wander_set(PS_ATTRIBUTE_EXACT, 4 * MOVES);
	check_ok(ps_start(walk->set));
	/* All code and storage are in memory after it. */
	for (unsigned round = 0; round < 12; round++) {
		work_on(walk, (int)round % 2, 1);
		check_ok(ps_snapshot_take(walk->set, &walk->first));
		check_ok(ps_snapshot_take(walk->set, &walk->last));
		read_somehow(walk, round % 4);
		count_between(walk, (int)round % 2);
	}
	wander_settle(&walk->work);
	check_ok(ps_snapshot_take(walk->set, &walk->first));
	walk->touched[0] = walk->touched[1] = 0;
}

static void close_walk(struct walk *walk)
{
	ps_snapshot_destroy(walk->first);
	ps_snapshot_destroy(walk->last);
	ps_eventset_destroy(walk->set);
	wander_destroy(&walk->work);
	ps_topology_destroy(walk->topology);
}

START_TEST(moves_and_readings_leave_no_count_in_the_wrong_place)
{
	struct walk walk;
	unsigned seed = 20261124;

	if (!wander_is_possible())
		return;
	open_walk(&walk, MOVES * 20);
	for (int move = 0; move < MOVES; move++) {
		work_on(&walk, (int)wander_random(&seed, 2), wander_random(&seed, 20));
		if (wander_random(&seed, 3) == 0)
			read_somehow(&walk, wander_random(&seed, 4));
		if (wander_random(&seed, 2) == 0)
			check_places(&walk);
	}
	check_places(&walk);
	wander_check_residual(walk.set);
	close_walk(&walk);
}
END_TEST

/* _i: the mode. */
START_TEST(snapshots_that_jumps_left_lose_nothing)
{
	struct ps_eventset *set;
	struct ps_snapshot *first = NULL, *volatile last = NULL;
	volatile long long done = 0;
	struct ps_value values[2];

	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(here_modes[_i], 100);
	here_map_page();
	here_touch();
	check_ok(ps_start(set));
	check_ok(ps_snapshot_take(set, &first));
	check_ok(ps_snapshot_take(set, (struct ps_snapshot **)&last));
	storm_begin();
	for (volatile unsigned step = 0; storm_jumps < JUMPS && step < 300 * JUMPS; step++) {
		here_touch();
		done++;
		if (sigsetjmp(storm_back, 1) != 0)
			continue;
		storm_let_jump();
		int result = ps_snapshot_take(set, (struct ps_snapshot **)&last);
		storm_may_jump = 0;
		ck_assert_msg(result == PS_OK, "%s", ps_error_detail());
	}
	storm_end();
	check_ok(ps_snapshot_take(set, (struct ps_snapshot **)&last));
	check_ok(ps_snapshot_difference(set, first, last, NULL, values, 2));
	ck_assert_int_ge(values[0].value, done);
	/* Jumps and signals touch pages, too. */
	ck_assert(PS_TEST_HAS_SANITIZER || ps_test_is_in_valgrind() ||
	          values[0].value <= done + 64);
	check_ok(ps_stop(set, here.root, NULL, NULL));
	here_check_residual(set);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_child_keeps_what_it_inherited_and_takes_no_more)
{
	struct ps_eventset *set;
	struct ps_snapshot *first = NULL, *last = NULL;
	struct ps_value values[2];
	int status = -1;

	if (!wander_is_possible())
		return;
	if (!here_may_count(HERE_FAULTS))
		return;
	set = here_faults(PS_ATTRIBUTE_AUTO, 10);
	here_map_page();
	check_ok(ps_start(set));
	check_ok(ps_snapshot_take(set, &first));
	here_touch();
	check_ok(ps_snapshot_take(set, &last));
	pid_t child = fork();
	if (child == 0) {
		bool is_right =
		    ps_snapshot_take(set, &last) == PS_ECLOST &&
		    ps_snapshot_difference(set, first, last, NULL, values, 2) == PS_OK &&
		    values[0].value >= 1;
		_exit(is_right ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	here_touch();
	check_ok(ps_snapshot_take(set, &last));
	check_ok(ps_snapshot_difference(set, first, last, NULL, values, 2));
	ck_assert_int_ge(values[0].value, 2);
	ps_snapshot_destroy(first);
	ps_snapshot_destroy(last);
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(the_snapshots_of_another_thread_are_of_its_work)
{
	struct worker worker;
	struct ps_snapshot *snapshots[4] = {NULL};
	struct ps_eventset *set = NULL;
	struct ps_value value;

	if (!here_may_count(HERE_FAULTS))
		return;
	worker_start(&worker);
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, HERE_FAULTS));
	check_ok(ps_eventset_attach_tid(set, worker.tid));
	check_ok(ps_start(set));
	check_ok(ps_snapshot_take(set, &snapshots[0]));
	for (int round = 1; round < 4; round++) {
		worker_do_round(&worker);
		check_ok(ps_snapshot_take(set, &snapshots[round]));
	}
	check_ok(ps_snapshot_difference(set, snapshots[0], snapshots[3], NULL, &value, 1));
	ck_assert_int_ge(value.value, 300);
	/* Its own first touches come in between. */
	check_ok(ps_snapshot_difference(set, snapshots[1], snapshots[2], NULL, &value, 1));
	ck_assert_int_ge(value.value, 100);
	ck_assert(PS_TEST_HAS_SANITIZER || value.value <= 100 + worker.strays + 16);
	for (int round = 0; round < 4; round++)
		ps_snapshot_destroy(snapshots[round]);
	ps_eventset_destroy(set);
	worker_end(&worker);
}
END_TEST

static void add_walks(TCase *tests)
{
	tcase_add_test(tests, moves_and_readings_leave_no_count_in_the_wrong_place);
}

static void add_all(TCase *tests)
{
	add_walks(tests);
	tcase_add_checked_fixture(tests, here_setup, here_teardown);
	tcase_add_loop_test(tests, snapshots_that_jumps_left_lose_nothing, 0, HERE_MODES);
	tcase_add_test(tests, a_child_keeps_what_it_inherited_and_takes_no_more);
	tcase_add_test(tests, the_snapshots_of_another_thread_are_of_its_work);
}

int main(void)
{
	return wander_run("snapshot", add_all, add_walks);
}
