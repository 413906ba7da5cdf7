/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots and takes of a task that was bound to one CPU when its set was started, or whose counts
 * can't be split at all, and that moves: the CPUs' shares are by the time since the last snapshot
 * or take, and what one of them gave to a CPU stays there. The clock stands still but where a test
 * moves it. test_bound.c has the readings.
 */
#include "eventset/eventset.h"
#include "eventset/fast_take.h"
#include "support/scene.h"
#include "test_snapshot.h"

#define US UINT64_C(1000)

static void count(uint64_t faults)
{
	fake_advance(PAGE_FAULTS, faults);
}

/* A set that is started on CPU 0, and a thread that may leave it. is_mixed: the counts can't be
 * split from the start on; otherwise the thread was bound. */
static struct ps_eventset *started(bool is_mixed)
{
	struct ps_eventset *set = scene_set(EVENT, NULL);

	set->attribution.cannot_split = is_mixed;
	fake_set_affinity(is_mixed ? "0-3" : "0");
	scene_pass(0);
	check_ok(ps_start(set));
	fake_set_affinity("0-3");
	return set;
}

/* Checks what CPU 0 and CPU 2 got since a snapshot, and destroys it. */
static void check_shares(struct ps_eventset *set, struct ps_snapshot *before, long long home,
                         long long away)
{
	struct ps_snapshot *after = taken(set);

	ck_assert_int_eq(count_between(set, before, after, 0), home);
	ck_assert_int_eq(count_between(set, before, after, 2), away);
	ps_snapshot_destroy(before);
	ps_snapshot_destroy(after);
}

/* Takes a snapshot into one that was taken before, and checks that the fast path did it. */
static void check_on_fast_path(struct ps_eventset *set, struct ps_snapshot *snapshot)
{
	uint64_t openings = set->openings;

	check_ok(ps_snapshot_take(set, &snapshot));
	ck_assert_uint_eq(set->openings, openings);
	ck_assert_ptr_nonnull(set->fast_path.root);
}

/* Between two snapshots, as between two readings: the time before the first one isn't shared out
 * again, however long it was. _i: the counts can't be split from the start on. */
START_TEST(a_move_between_snapshots_is_shared_out_by_the_time_between_them)
{
	struct ps_eventset *set = started(_i);
	struct ps_snapshot *before;

	scene_pass(900000 * US);
	count(10);
	before = taken(set);
	scene_pass(600 * US);
	fake_set_cpu(2);
	scene_pass(200 * US);
	count(800);
	check_shares(set, before, 600, 200);
	ps_eventset_destroy(set);
}
END_TEST

/* A snapshot on the fast path, as one on the slow path: what was counted until then stays where it
 * was, however long the path had been open. _i: the counts can't be split from the start on. */
START_TEST(a_move_after_a_reused_snapshot_is_shared_out_by_the_time_from_there)
{
	struct ps_eventset *set = started(_i);
	struct ps_snapshot *before;

	scene_pass(1000 * US);
	count(10);
	before = taken(set);
	scene_pass(900000 * US);
	count(100000);
	check_on_fast_path(set, before);
	scene_pass(600 * US);
	fake_set_cpu(2);
	scene_pass(200 * US);
	count(800);
	check_shares(set, before, 600, 200);
	ps_eventset_destroy(set);
}
END_TEST

/* The time since the move is the longer one: no share of it is taken from the first CPU's counts
 * before the snapshot. */
START_TEST(no_count_of_a_reused_snapshot_falls_when_the_task_has_moved)
{
	struct ps_eventset *set = started(_i);
	struct ps_snapshot *before;

	scene_pass(1000000 * US);
	count(10);
	before = taken(set);
	scene_pass(1000 * US);
	count(100000);
	check_on_fast_path(set, before);
	fake_set_cpu(2);
	scene_pass(10000 * US);
	count(1000);
	check_shares(set, before, 0, 1000);
	ps_eventset_destroy(set);
}
END_TEST

/* Readings and ps_accum on the fast path, between and after snapshots there: each has all counts,
 * and the shares are by the time from the last of them on. _i: bit 0, a reading after the first
 * snapshot; bit 1, ps_accum before it; bit 2, another snapshot after the reading. */
START_TEST(readings_and_snapshots_on_the_fast_path_lose_nothing_by_a_move)
{
	struct ps_eventset *set = started(false);
	uint64_t timestamp = scene_accum(set);
	struct ps_snapshot *before;

	before = taken(set);
	scene_pass(100 * US);
	count(50);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	if (_i & 2)
		check_ok(ps_accum(set, scene.root, &timestamp, NULL));
	scene_pass(1000 * US);
	count(70);
	check_on_fast_path(set, before);
	scene_pass(1000 * US);
	if (_i & 1)
		check_ok(ps_read(set, scene.root, &timestamp, NULL));
	if (_i & 4)
		check_on_fast_path(set, before);
	uint64_t since_ns = _i & 5 ? 0 : 1000 * US;
	scene_pass(3000 * US - since_ns);
	fake_set_cpu(2);
	scene_pass(1000 * US);
	count(40);
	check_shares(set, before, 30, 10);
	check_ok(ps_read(set, scene.root, &timestamp, NULL));
	ck_assert_int_eq(scene_sum(EVENT, timestamp), 160);
	scene_check_residual(set);
	ps_eventset_destroy(set);
}
END_TEST

struct sums {
	const struct ps_eventset *set;
	uint64_t of_cpu[4];
};

static int add_up(void *context, const struct ps__taken *taken)
{
	struct sums *sums = context;

	for (size_t index = 0; index < sums->set->recorder.met_count; index++) {
		const struct ps__slot *slot = sums->set->recorder.met[index];
		if (slot->history == taken->history)
			sums->of_cpu[slot->cpu] += taken->counts[taken->width - 1];
	}
	return PS_OK;
}

/* A take on the fast path, as a region's boundary makes it. */
START_TEST(a_move_after_a_take_is_shared_out_by_the_time_from_the_take)
{
	struct ps_eventset *set = started(_i);
	struct sums before = {.set = set}, after = {.set = set};
	uint64_t taken_ns;

	scene_accum(set);
	check_ok(ps__set_take(set, add_up, &before, &taken_ns));
	scene_pass(900000 * US);
	count(100000);
	check_ok(ps__fast_take_begin(&set->fast_path, &taken_ns));
	ps__fast_take_end(&set->fast_path, taken_ns);
	scene_pass(600 * US);
	fake_set_cpu(2);
	scene_pass(200 * US);
	count(800);
	check_ok(ps__set_take(set, add_up, &after, &taken_ns));
	ck_assert_uint_eq(after.of_cpu[0], 600);
	ck_assert_uint_eq(after.of_cpu[2], 200);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bound_snapshots");
	TCase *tests = scene_case(suite, "strayed");

	tcase_add_loop_test(tests, a_move_between_snapshots_is_shared_out_by_the_time_between_them,
	                    0, 2);
	tcase_add_loop_test(
	    tests, a_move_after_a_reused_snapshot_is_shared_out_by_the_time_from_there, 0, 2);
	tcase_add_loop_test(tests, no_count_of_a_reused_snapshot_falls_when_the_task_has_moved, 0,
	                    2);
	tcase_add_loop_test(tests, readings_and_snapshots_on_the_fast_path_lose_nothing_by_a_move,
	                    0, 8);
	tcase_add_loop_test(tests, a_move_after_a_take_is_shared_out_by_the_time_from_the_take, 0,
	                    2);
	return scene_run(suite);
}
