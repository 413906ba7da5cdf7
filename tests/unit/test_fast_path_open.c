/* SPDX-License-Identifier: BSD-3-Clause */
/* Older readings that are updated on the fast path: phases of a program that come again and again,
 * in turn or in any order. */
#include "eventset/eventset.h"
#include "support/scene.h"
#include "support/unmarked.h"

#define PHASES 200
#define ROUNDS 20

/* A set that is read on CPU 0, and what each of its readings must show. */
static struct ps_eventset *set;
static uint64_t timestamps[PHASES];
static long long expected[PHASES];
static unsigned seed;

static unsigned pick(unsigned limit)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 16) % limit;
}

typedef int call(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                 struct ps_thread **thread);

/* The counter goes on by `count`, which the phase's reading then has. */
static void do_phase(call *read, size_t phase, unsigned count)
{
	fake_advance(PAGE_FAULTS, count);
	fake_run(1000, 1000);
	check_ok(read(set, scene.root, &timestamps[phase], NULL));
}

static void begin_phases(call *read)
{
	long long counted = 0;

	fake_set_affinity("0");
	set = scene_set("page-faults", NULL);
	check_ok(ps_start(set));
	for (size_t phase = 0; phase < PHASES; phase++) {
		timestamps[phase] = 0;
		do_phase(read, phase, 7);
		counted += 7;
		expected[phase] = read == ps_accum ? 7 : counted;
	}
}

static void check_phases(void)
{
	for (size_t phase = 0; phase < PHASES; phase++)
		ck_assert_int_eq(scene_count(0, "page-faults", timestamps[phase]), expected[phase]);
	ck_assert_uint_eq(scene_rows(0, "page-faults"), PHASES);
	ck_assert_uint_eq(ps_thread_dropped(ps_topology_thread(scene.topology, 0), "page-faults"),
	                  0);
}

/* The slow path writes down what it has found. */
#define NEVER_SOUGHT ((ptrdiff_t)-7)

/* _i: in turn, or in any order. */
START_TEST(phases_that_are_accumulated_have_their_own_counts)
{
	begin_phases(ps_accum);
	set->recorder.slots[0]->found = NEVER_SOUGHT;
	for (int index = 0; index < ROUNDS * PHASES; index++) {
		size_t phase = _i ? pick(PHASES) : (size_t)index % PHASES;
		unsigned count = pick(50);
		do_phase(ps_accum, phase, count);
		expected[phase] += count;
		if (index % 97 == 0)
			check_phases();
	}
	check_phases();
	ck_assert_int_eq(set->recorder.slots[0]->found, NEVER_SOUGHT);
	ps_eventset_destroy(set);
	check_phases();
}
END_TEST

START_TEST(phases_that_are_read_have_the_count_since_the_start)
{
	long long counted = 7LL * PHASES;

	begin_phases(ps_read);
	set->recorder.slots[0]->found = NEVER_SOUGHT;
	for (int index = 0; index < ROUNDS * PHASES; index++) {
		size_t phase = _i ? pick(PHASES) : (size_t)index % PHASES;
		unsigned count = pick(50);
		do_phase(ps_read, phase, count);
		counted += count;
		expected[phase] = counted;
	}
	check_phases();
	ck_assert_int_eq(set->recorder.slots[0]->found, NEVER_SOUGHT);
	ps_eventset_destroy(set);
}
END_TEST

/* What was accumulated since the last phase began isn't lost when the set stops, nor when another
 * call closes the fast path. */
START_TEST(what_is_counted_after_a_phase_comes_to_the_reading_that_is_last)
{
	begin_phases(ps_accum);
	do_phase(ps_accum, 3, 5);
	do_phase(ps_accum, 90, 6);
	check_ok(ps_eventset_reserve(set, 1));
	fake_advance(PAGE_FAULTS, 11);
	check_ok(ps_read(set, scene.root, &timestamps[90], NULL));
	ck_assert_int_eq(scene_count(0, "page-faults", timestamps[90]), 7 + 6 + 11);
	check_ok(ps_accum(set, scene.root, &timestamps[90], NULL));
	do_phase(ps_accum, 3, 2);
	fake_advance(PAGE_FAULTS, 100);
	check_ok(ps_stop(set, scene.root, &timestamps[3], NULL));
	expected[3] = 7 + 5 + 2 + 100;
	expected[90] = 7 + 6 + 11;
	check_phases();
	ps_eventset_destroy(set);
}
END_TEST

/* The reading is what it was, and the slow path sorts out the counter. */
START_TEST(a_counter_that_goes_back_takes_nothing_from_an_older_reading)
{
	begin_phases(ps_accum);
	do_phase(ps_accum, 1, 0);
	fake_set_count(PAGE_FAULTS, 3);
	do_phase(ps_accum, 50, 0);
	do_phase(ps_accum, 51, 4);
	expected[51] += 4;
	ck_assert_int_ge(scene_count(0, "page-faults", timestamps[50]), 7);
	ck_assert(scene_part(0, "page-faults", timestamps[50]).flags & PS_VALUE_WENT_BACK);
	expected[50] = scene_count(0, "page-faults", timestamps[50]);
	check_phases();
	ps_eventset_destroy(set);
}
END_TEST

START_TEST(a_phase_with_parts_on_two_hardware_threads_keeps_both)
{
	begin_phases(ps_accum);
	ps_eventset_destroy(set);
	fake_set_affinity("0-1");
	fake_set_cpu(0);
	set = scene_set("page-faults", NULL);
	check_ok(ps_start(set));
	uint64_t phases[2] = {0, 0};
	for (int round = 0; round < 10; round++) {
		fake_set_cpu(round % 2);
		fake_advance(PAGE_FAULTS, 3);
		check_ok(ps_accum(set, scene.root, &phases[0], NULL));
		fake_advance(PAGE_FAULTS, 5);
		check_ok(ps_accum(set, scene.root, &phases[1], NULL));
	}
	ck_assert_int_eq(scene_sum("page-faults", phases[0]), 30);
	ck_assert_int_eq(scene_sum("page-faults", phases[1]), 50);
	ck_assert_int_eq(scene_count(0, "page-faults", phases[0]), 15);
	ck_assert_int_eq(scene_count(1, "page-faults", phases[1]), 25);
	ps_eventset_destroy(set);
}
END_TEST

/* Rows that are left behind are used again. */
START_TEST(readings_that_are_updated_over_and_over_need_no_more_memory)
{
	begin_phases(ps_read);
	for (int index = 0; index < 100 * PHASES; index++)
		do_phase(ps_read, _i ? pick(PHASES) : (size_t)index % PHASES, 1);
	const struct ps__history *log = set->recorder.slots[0]->history;
	ck_assert_uint_le(atomic_load(&log->count) - atomic_load(&log->first),
	                  2 * PHASES + 2 * PS__CHUNK_ROWS);
	size_t bytes = 0;
	for (const struct ps__directory *directory = atomic_load(&log->directory); directory;
	     directory = directory->older)
		bytes += directory->capacity;
	ck_assert_uint_le(bytes, 2 * 16);
	ps_eventset_destroy(set);
}
END_TEST

/* The snapshot assigns the counts before it to the slot, and no ps_accum has moved them. _i: so
 * many more snapshots, on the fast path. */
START_TEST(an_older_reading_gets_what_was_counted_before_a_snapshot)
{
	struct ps_snapshot *snapshot = NULL;

	begin_phases(ps_accum);
	long long older = scene_sum("page-faults", timestamps[0]);
	long long latest = scene_sum("page-faults", timestamps[PHASES - 1]);
	uint64_t name = timestamps[PHASES - 1];
	for (int index = 0; index <= _i; index++) {
		fake_advance(PAGE_FAULTS, 7);
		fake_run(1000, 1000);
		check_ok(ps_snapshot_take(set, &snapshot));
	}
	do_phase(ps_accum, 0, 100);
	ck_assert_int_eq(scene_sum("page-faults", timestamps[0]), older + 7 * (_i + 1) + 100);
	ck_assert_int_eq(scene_sum("page-faults", name), latest);
	do_phase(ps_accum, 1, 5);
	scene_check_residual(set);
	ps_snapshot_destroy(snapshot);
	ps_eventset_destroy(set);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fast path, opened and closed");
	TCase *test_case = scene_case(suite, "older readings");

	seed = 1;
	tcase_add_loop_test(test_case, phases_that_are_accumulated_have_their_own_counts, 0, 2);
	tcase_add_loop_test(test_case, phases_that_are_read_have_the_count_since_the_start, 0, 2);
	tcase_add_test(test_case, what_is_counted_after_a_phase_comes_to_the_reading_that_is_last);
	tcase_add_test(test_case, a_counter_that_goes_back_takes_nothing_from_an_older_reading);
	tcase_add_test(test_case, a_phase_with_parts_on_two_hardware_threads_keeps_both);
	tcase_add_loop_test(test_case, readings_that_are_updated_over_and_over_need_no_more_memory,
	                    0, 2);
	tcase_add_loop_test(test_case, an_older_reading_gets_what_was_counted_before_a_snapshot, 0,
	                    3);
	return scene_run(suite);
}
