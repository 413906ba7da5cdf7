/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact attribution on the real kernel: a thread is moved about and touches known numbers of fresh
 * pages, and every CPU's count must be right, wherever the readings are made. Sees the installed
 * header and the shared library alone.
 */
#include "wander.h"

#include <time.h>

#define MOVES 500

/* A thread that counts itself. */
struct walk {
	struct ps_topology *topology;
	struct ps_component *root;
	struct ps_eventset *set;
	struct wander_work work;
	int cpus[2];
	long long expected[2];
};

static void take_reading(struct walk *walk, uint64_t *timestamp)
{
	*timestamp = 0;
	check_ok(ps_accum(walk->set, walk->root, timestamp, NULL));
}

/* All code and storage are in memory after it. */
static void rehearse(struct walk *walk)
{
	uint64_t timestamp;

	for (int i = 0; i < 8; i++) {
		wander_move(walk->cpus[i % 2]);
		wander_touch(&walk->work, 1);
		timestamp = 0;
		check_ok(ps_read(walk->set, walk->root, &timestamp, NULL));
		take_reading(walk, &timestamp);
		wander_part(walk->topology, walk->cpus[0], timestamp, PS_ATTRIBUTION_EXACT);
		wander_check_residual(walk->set);
		timestamp = 0;
		check_ok(ps_stop(walk->set, walk->root, &timestamp, NULL));
		check_ok(ps_start(walk->set));
	}
	wander_settle(&walk->work);
	check_ok(ps_reset(walk->set));
}

static void open_walk(struct walk *walk, enum ps_attribution_mode mode, size_t pages)
{
	*walk = (struct walk){.cpus = {wander_cpu(0), wander_cpu(1)}};
	check_ok(ps_topology_load(&walk->topology, NULL));
	walk->root = ps_topology_root(walk->topology);
	wander_create(&walk->work, pages + 16);
	walk->set = wander_set(mode, 4 * MOVES);
	check_ok(ps_start(walk->set));
	rehearse(walk);
}

static void close_walk(struct walk *walk)
{
	ps_eventset_destroy(walk->set);
	wander_destroy(&walk->work);
	ps_topology_destroy(walk->topology);
}

static void work_on(struct walk *walk, int place, size_t pages)
{
	wander_move(walk->cpus[place]);
	wander_touch(&walk->work, pages);
	walk->expected[place] += (long long)pages;
}

static void check_parts(struct walk *walk, uint64_t timestamp)
{
	for (int place = 0; place < 2; place++)
		wander_check_count(
		    wander_part(walk->topology, walk->cpus[place], timestamp, PS_ATTRIBUTION_EXACT),
		    walk->expected[place], wander_strays(&walk->work));
}

static void forget_expected(struct walk *walk)
{
	walk->expected[0] = 0;
	walk->expected[1] = 0;
}

START_TEST(a_thousand_on_one_cpu_and_ten_on_another_are_told_apart_by_one_read)
{
	struct walk walk;
	struct ps_thread *thread = NULL;
	struct ps_value total;
	uint64_t timestamp = 0;
	const char *why = NULL;

	if (!wander_is_possible())
		return;
	open_walk(&walk, PS_ATTRIBUTE_AUTO, 1010);
	work_on(&walk, 0, 1000);
	work_on(&walk, 1, 10);
	check_ok(ps_read(walk.set, walk.root, &timestamp, &thread));
	ck_assert_int_eq(ps_thread_cpu(thread), walk.cpus[1]);
	check_parts(&walk, timestamp);
	check_ok(ps_component_total(walk.root, WANDER_EVENT, &total));
	wander_check_count(total.value, 1010, wander_strays(&walk.work));
	ck_assert_int_eq((int)total.attribution, PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq((int)ps_eventset_attribution(walk.set, &why), PS_ATTRIBUTION_EXACT);
	ck_assert_int_eq(*why == '\0', wander_means() == WANDER_PER_CPU);
	wander_check_residual(walk.set);
	close_walk(&walk);
}
END_TEST

/* A reading of a random kind; the counts start over after most of them. */
static void read_somehow(struct walk *walk, unsigned kind)
{
	uint64_t timestamp = 0;

	if (kind == 0) {
		check_ok(ps_read(walk->set, walk->root, &timestamp, NULL));
	} else if (kind == 1) {
		check_ok(ps_accum(walk->set, walk->root, &timestamp, NULL));
	} else {
		check_ok(ps_stop(walk->set, walk->root, &timestamp, NULL));
		check_ok(ps_start(walk->set));
	}
	check_parts(walk, timestamp);
	if (kind != 0)
		forget_expected(walk);
}

START_TEST(five_hundred_moves_with_readings_in_between_leave_no_count_in_the_wrong_place)
{
	struct walk walk;
	unsigned seed = 20261121;

	if (!wander_is_possible())
		return;
	open_walk(&walk, PS_ATTRIBUTE_EXACT, MOVES * 20);
	for (int move = 0; move < MOVES; move++) {
		work_on(&walk, (int)wander_random(&seed, 2), wander_random(&seed, 20));
		if (wander_random(&seed, 4) == 0)
			read_somehow(&walk, wander_random(&seed, 3));
		if (wander_random(&seed, 8) == 0)
			wander_check_residual(walk.set);
	}
	read_somehow(&walk, 0);
	wander_check_residual(walk.set);
	close_walk(&walk);
}
END_TEST

START_TEST(more_moves_than_the_ring_holds_lose_nothing)
{
	struct walk walk;
	uint64_t timestamp;
	unsigned seed = 7;

	if (!wander_is_possible())
		return;
	open_walk(&walk, PS_ATTRIBUTE_EXACT, 3 * 3 * 450 + 100);
	for (int round = 0; round < 3; round++) {
		for (int move = 0; move < 450; move++)
			work_on(&walk, move % 2, wander_random(&seed, 3));
		take_reading(&walk, &timestamp);
		check_parts(&walk, timestamp);
		forget_expected(&walk);
		/* What comes after the overflow is split as well. */
		work_on(&walk, round % 2, 5);
		take_reading(&walk, &timestamp);
		check_parts(&walk, timestamp);
		forget_expected(&walk);
	}
	wander_check_residual(walk.set);
	close_walk(&walk);
}
END_TEST

START_TEST(a_store_between_two_readings_takes_nothing_from_them)
{
	struct walk walk;
	uint64_t stored = 0, timestamp;
	long long counter = 5;

	if (!wander_is_possible())
		return;
	open_walk(&walk, PS_ATTRIBUTE_EXACT, 200);
	check_ok(ps_store(walk.set, &counter, 1, walk.root, &stored, NULL));
	check_ok(ps_reset(walk.set));
	work_on(&walk, 0, 100);
	wander_move(walk.cpus[1]);
	stored = 0;
	check_ok(ps_store(walk.set, &counter, 1, walk.root, &stored, NULL));
	work_on(&walk, 1, 10);
	take_reading(&walk, &timestamp);
	check_parts(&walk, timestamp);
	wander_check_residual(walk.set);
	close_walk(&walk);
}
END_TEST

START_TEST(last_cpu_mode_beside_shows_all_where_it_looked_and_says_so)
{
	struct walk walk;
	struct ps_topology *beside = NULL;
	struct ps_eventset *last = NULL;
	uint64_t timestamp = 0;
	const char *why = "";

	if (!wander_is_possible())
		return;
	open_walk(&walk, PS_ATTRIBUTE_EXACT, 1020);
	check_ok(ps_topology_load(&beside, NULL));
	last = wander_set(PS_ATTRIBUTE_LAST_CPU, 64);
	check_ok(ps_start(last));
	for (int i = 0; i < 4; i++) {
		wander_move(walk.cpus[i % 2]);
		check_ok(ps_accum(last, ps_topology_root(beside), NULL, NULL));
		check_ok(ps_reset(walk.set));
	}
	check_ok(ps_reset(last));
	wander_settle(&walk.work);
	work_on(&walk, 0, 1000);
	work_on(&walk, 1, 10);
	check_ok(ps_read(last, ps_topology_root(beside), &timestamp, NULL));
	ck_assert_int_eq(wander_part(beside, walk.cpus[0], timestamp, PS_ATTRIBUTION_LAST_CPU), 0);
	wander_check_count(wander_part(beside, walk.cpus[1], timestamp, PS_ATTRIBUTION_LAST_CPU),
	                   1010, wander_strays(&walk.work));
	ck_assert_int_eq((int)ps_eventset_attribution(last, &why), PS_ATTRIBUTION_LAST_CPU);
	ck_assert_str_ne(why, "");
	timestamp = 0;
	check_ok(ps_read(walk.set, walk.root, &timestamp, NULL));
	check_parts(&walk, timestamp);
	ps_eventset_destroy(last);
	ps_topology_destroy(beside);
	close_walk(&walk);
}
END_TEST

static enum ps_attribution label_now(struct ps_eventset *set, struct ps_topology *topology, int cpu)
{
	struct ps_value value;
	uint64_t timestamp = 0;

	check_ok(ps_accum(set, ps_topology_root(topology), &timestamp, NULL));
	check_ok(
	    ps_thread_reading(ps_topology_thread(topology, cpu), WANDER_EVENT, timestamp, &value));
	return value.attribution;
}

/* The thread sleeps so often, then leaves its CPU and comes back; all between two readings. */
static void stray(int sleeps, enum ps_attribution label)
{
	/* So long that the thread is really switched away, on slow machines, too. */
	const struct timespec moment = {.tv_nsec = 100000};
	struct ps_topology *topology = NULL;
	struct ps_eventset *set = wander_set(PS_ATTRIBUTE_AUTO, 16);
	int home = wander_cpu(0), away = wander_cpu(1);

	check_ok(ps_topology_load(&topology, NULL));
	wander_move(home);
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_PINNED);
	ck_assert_int_eq((int)label_now(set, topology, home), PS_ATTRIBUTION_PINNED);
	for (int i = 0; i < sleeps; i++)
		nanosleep(&moment, NULL);
	wander_unpin();
	wander_move(away);
	wander_unpin();
	wander_move(home);
	ck_assert_int_eq((int)label_now(set, topology, home), (int)label);
	ck_assert_int_eq((int)label_now(set, topology, home), PS_ATTRIBUTION_PINNED);
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}

START_TEST(a_pinned_thread_that_strays_loses_the_label_though_it_is_back_at_the_reading)
{
	if (!wander_is_possible())
		return;
	stray(0, PS_ATTRIBUTION_MIXED);
}
END_TEST

START_TEST(a_pinned_thread_that_sleeps_often_keeps_the_label)
{
	const struct timespec moment = {.tv_nsec = 1000};
	struct ps_topology *topology = NULL;

	if (!wander_is_possible())
		return;
	struct ps_eventset *set = wander_set(PS_ATTRIBUTE_AUTO, 16);
	check_ok(ps_topology_load(&topology, NULL));
	wander_move(wander_cpu(0));
	check_ok(ps_start(set));
	for (int i = 0; i < 900; i++) {
		nanosleep(&moment, NULL);
		if (i % 450 == 449)
			ck_assert_int_eq((int)label_now(set, topology, wander_cpu(0)),
			                 PS_ATTRIBUTION_PINNED);
	}
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
}
END_TEST

START_TEST(a_stray_for_which_the_ring_had_no_room_left_costs_the_label_too)
{
	if (!wander_is_possible())
		return;
	stray(450, PS_ATTRIBUTION_LAST_CPU);
}
END_TEST

static void add_for_any_means(TCase *tests)
{
	tcase_add_test(tests, a_thousand_on_one_cpu_and_ten_on_another_are_told_apart_by_one_read);
	tcase_add_test(
	    tests, five_hundred_moves_with_readings_in_between_leave_no_count_in_the_wrong_place);
	tcase_add_test(tests, a_store_between_two_readings_takes_nothing_from_them);
	tcase_add_test(tests, last_cpu_mode_beside_shows_all_where_it_looked_and_says_so);
}

static void add(TCase *tests)
{
	add_for_any_means(tests);
	tcase_add_test(tests, more_moves_than_the_ring_holds_lose_nothing);
	tcase_add_test(
	    tests, a_pinned_thread_that_strays_loses_the_label_though_it_is_back_at_the_reading);
	tcase_add_test(tests, a_pinned_thread_that_sleeps_often_keeps_the_label);
	tcase_add_test(tests, a_stray_for_which_the_ring_had_no_room_left_costs_the_label_too);
}

/* More moves than the ring holds: nothing is lost, and nothing is called exact that may not be. */
START_TEST(more_moves_than_records_are_not_called_exact)
{
	struct walk walk;
	struct ps_value total;
	uint64_t timestamp = 0;

	if (!wander_is_possible())
		return;
	open_walk(&walk, PS_ATTRIBUTE_EXACT, 600);
	for (int move = 0; move < 450; move++)
		work_on(&walk, move % 2, 1);
	check_ok(ps_accum(walk.set, walk.root, &timestamp, NULL));
	check_ok(ps_component_total(walk.root, WANDER_EVENT, &total));
	wander_check_count(total.value, 450, wander_strays(&walk.work));
	ck_assert_int_eq((int)total.attribution, PS_ATTRIBUTION_LAST_CPU);
	for (int place = 0; place < 2; place++)
		wander_part(walk.topology, walk.cpus[place], timestamp, PS_ATTRIBUTION_LAST_CPU);
	wander_check_residual(walk.set);
	wander_move(walk.cpus[0]);
	take_reading(&walk, &timestamp); /* the kernel's word of the lost ones comes first */
	forget_expected(&walk);
	work_on(&walk, 1, 20);
	work_on(&walk, 0, 5);
	take_reading(&walk, &timestamp);
	check_parts(&walk, timestamp);
	close_walk(&walk);
}
END_TEST

/* What was reserved, and what is mapped, is in memory by then: a reading's own faults would be
 * counted. */
START_TEST(the_first_reading_behind_a_move_takes_no_page_fault)
{
	struct ps_topology *topology = NULL;
	struct wander_work work;

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	wander_create(&work, 8);
	for (int round = 0; round < 2; round++) {
		struct ps_eventset *set = wander_set(PS_ATTRIBUTE_AUTO, 16);
		wander_move(wander_cpu(0));
		wander_unpin();
		check_ok(ps_start(set));
		wander_move(wander_cpu(1));
		wander_settle(&work);
		int result = ps_read(set, ps_topology_root(topology), NULL, NULL);
		long long faults = wander_strays(&work);
		check_ok(result);
		/* The first one meets the code, which may not be locked in memory here. */
		ck_assert_msg(round == 0 || faults == 0, "%lld", faults);
		ps_eventset_destroy(set);
	}
	wander_destroy(&work);
	ps_topology_destroy(topology);
}
END_TEST

static void add_with_records(TCase *tests)
{
	add_for_any_means(tests);
	tcase_add_test(tests, the_first_reading_behind_a_move_takes_no_page_fault);
	tcase_add_test(tests, more_moves_than_records_are_not_called_exact);
}

int main(void)
{
	return wander_run("exact, of the calling thread", add, add_with_records);
}
