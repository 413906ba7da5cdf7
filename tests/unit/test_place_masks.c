/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage place's looks at affinity masks: at the first sight of a task, and ever more rarely. */
#include "support/scene.h"
#include "tools/place.h"

#include <errno.h>

#define MS UINT64_C(1000000)
#define S  (1000 * MS)

static struct place_masks masks;

static void setup(void)
{
	scene_setup();
	fake_set_clock(S, 0);
	fake_set_tid(21);
	fake_set_affinity("0-3");
}

static void teardown(void)
{
	place_masks_clear(&masks);
	scene_teardown();
}

static int hear(uint32_t type, uint32_t tid, uint64_t ns)
{
	struct ps_record record = {.type = type, .tid = tid, .time = ns};

	return place_masks_hear(&masks, &record);
}

static void look_at(uint64_t ns, unsigned wanted_reads)
{
	unsigned before = fake_count(FAKE_GETAFFINITY);

	check_ok(place_masks_look(&masks, ns));
	ck_assert_uint_eq(fake_count(FAKE_GETAFFINITY) - before, wanted_reads);
}

static void check_mask(const struct tool_cpus *mask, int from, int to)
{
	ck_assert_uint_eq(mask->count, (size_t)(to - from + 1));
	ck_assert_int_eq(mask->numbers[0], from);
	ck_assert_int_eq(mask->numbers[mask->count - 1], to);
}

START_TEST(a_mask_that_changes_was_bound_later)
{
	check_ok(hear(PS_RECORD_FORK, 21, S));
	const struct place_mask *mask = place_masks_find(&masks, 21, 2 * S);
	ck_assert(mask->is_known && !mask->has_changed);
	check_mask(&mask->first, 0, 3);
	fake_set_affinity("2");
	look_at(S + 10 * MS, 1);
	ck_assert(mask->has_changed);
	check_mask(&mask->first, 0, 3);
	check_mask(&mask->last, 2, 2);
	/* It had another one meanwhile. */
	fake_set_affinity("0-3");
	look_at(S + 100 * MS, 1);
	ck_assert(mask->has_changed);
	check_mask(&mask->last, 0, 3);
}
END_TEST

START_TEST(what_a_task_binds_itself_to_at_once_is_its_first_mask)
{
	check_ok(hear(PS_RECORD_FORK, 21, S));
	fake_set_affinity("2");
	look_at(S + 2 * MS, 1);
	const struct place_mask *mask = place_masks_find(&masks, 21, 2 * S);
	ck_assert(!mask->has_changed);
	check_mask(&mask->first, 2, 2);
	check_mask(&mask->last, 2, 2);
}
END_TEST

START_TEST(looks_get_rarer_and_end_with_the_task)
{
	check_ok(hear(PS_RECORD_FORK, 21, S));
	look_at(S, 0);
	look_at(S + 1 * MS, 1);
	look_at(S + 100 * MS, 1);
	look_at(S + 124 * MS, 0);
	look_at(S + 125 * MS, 1);
	look_at(100 * S, 1);
	look_at(100 * S + 999 * MS, 0);
	look_at(101 * S, 1);
	check_ok(hear(PS_RECORD_EXIT, 21, 102 * S));
	look_at(200 * S, 0);
}
END_TEST

START_TEST(a_mask_that_cannot_be_read_is_not_known)
{
	fake_fail(FAKE_GETAFFINITY, 1, ESRCH);
	check_ok(hear(PS_RECORD_FORK, 21, S));
	ck_assert(!place_masks_find(&masks, 21, 2 * S)->is_known);
	look_at(S + 50 * MS, 1);
	const struct place_mask *mask = place_masks_find(&masks, 21, 2 * S);
	ck_assert(mask->is_known && !mask->has_changed);
	check_mask(&mask->first, 0, 3);
	/* One that can't be read any more is the last that was. */
	fake_fail(FAKE_GETAFFINITY, 1, ESRCH);
	look_at(10 * S, 1);
	ck_assert(mask->is_known && !mask->has_changed);
}
END_TEST

START_TEST(a_number_that_is_used_again_is_another_task)
{
	check_ok(hear(PS_RECORD_FORK, 22, 5 * S));
	check_ok(hear(PS_RECORD_FORK, 21, 4 * S));
	check_ok(hear(PS_RECORD_EXIT, 21, 5 * S));
	check_ok(hear(PS_RECORD_FORK, 21, 6 * S));
	/* CPUs come in any order: this one is older. */
	check_ok(hear(PS_RECORD_FORK, 21, 2 * S));
	check_ok(hear(PS_RECORD_EXIT, 99, 6 * S));
	ck_assert_ptr_null(place_masks_find(&masks, 21, S));
	ck_assert_ptr_null(place_masks_find(&masks, 20, 9 * S));
	ck_assert_ptr_null(place_masks_find(&masks, 23, 9 * S));
	ck_assert_uint_eq(place_masks_find(&masks, 21, 3 * S)->begin_ns, 2 * S);
	ck_assert_uint_eq(place_masks_find(&masks, 21, 4 * S)->begin_ns, 4 * S);
	ck_assert(place_masks_find(&masks, 21, 4 * S)->has_ended);
	ck_assert_uint_eq(place_masks_find(&masks, 21, 9 * S)->begin_ns, 6 * S);
	ck_assert(!place_masks_find(&masks, 21, 9 * S)->has_ended);
	ck_assert_uint_eq(place_masks_find(&masks, 22, 9 * S)->begin_ns, 5 * S);
}
END_TEST

START_TEST(without_memory_it_is_told)
{
	for (unsigned nth = 1;; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		int result = hear(PS_RECORD_FORK, 21, S);
		bool happened = fake_fail_happened();
		fake_fail(FAKE_ALLOCATE, 0, 0);
		ck_assert_int_eq(result, happened ? PS_ENOMEM : PS_OK);
		place_masks_clear(&masks);
		if (!happened)
			break;
		ck_assert_uint_lt(nth, 20);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("place_masks");
	TCase *tests = scene_case_of(suite, "place_masks", setup, teardown);

	tcase_add_test(tests, a_mask_that_changes_was_bound_later);
	tcase_add_test(tests, what_a_task_binds_itself_to_at_once_is_its_first_mask);
	tcase_add_test(tests, looks_get_rarer_and_end_with_the_task);
	tcase_add_test(tests, a_mask_that_cannot_be_read_is_not_known);
	tcase_add_test(tests, a_number_that_is_used_again_is_another_task);
	tcase_add_test(tests, without_memory_it_is_told);
	return scene_run(suite);
}
