/* SPDX-License-Identifier: BSD-3-Clause */
/* Block memory: zeroed, aligned, apart from each other, given back whole; an absurd size fails. */
#include "support/scene.h"
#include "support/unmarked.h"
#include "topology/arena.h"

#include <errno.h>
#include <string.h>

static struct ps__arena arena;

static void setup(void)
{
	fake_install();
	arena = (struct ps__arena){0};
}

static void teardown(void)
{
	ps__arena_free(&arena);
	fake_remove();
}

START_TEST(pieces_are_zeroed_aligned_and_apart)
{
	unsigned char *previous = NULL;

	for (size_t i = 1; i < 3000; i++) {
		size_t size_bytes = i % 97 + 1;
		unsigned char *piece = ps__arena_calloc(&arena, 1, size_bytes);
		ck_assert_ptr_nonnull(piece);
		ck_assert_uint_eq((uintptr_t)piece % _Alignof(max_align_t), 0);
		for (size_t k = 0; k < size_bytes; k++)
			ck_assert_uint_eq(piece[k], 0);
		memset(piece, 0xff, size_bytes);
		if (previous)
			ck_assert_uint_eq(*previous, 0xff);
		previous = piece;
	}
	ck_assert_uint_lt(fake_count(FAKE_ALLOCATE), 10);
}
END_TEST

START_TEST(a_piece_larger_than_a_block_gets_its_own)
{
	char *large = ps__arena_calloc(&arena, 1000, 1000);
	char *small = ps__arena_strdup(&arena, "small");

	ck_assert_ptr_nonnull(large);
	memset(large, 'x', 1000 * 1000);
	ck_assert_str_eq(small, "small");
}
END_TEST

START_TEST(a_product_that_overflows_is_no_memory)
{
	ck_assert_ptr_null(ps__arena_calloc(&arena, SIZE_MAX / 8, 16));
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 0);
}
END_TEST

START_TEST(no_memory_is_NULL_and_the_arena_stays_usable)
{
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	ck_assert_ptr_null(ps__arena_strdup(&arena, "first"));
	ck_assert_str_eq(ps__arena_strdup(&arena, "second"), "second");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("arena");
	TCase *tests = tcase_create("arena");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, pieces_are_zeroed_aligned_and_apart);
	tcase_add_test(tests, a_piece_larger_than_a_block_gets_its_own);
	tcase_add_test(tests, a_product_that_overflows_is_no_memory);
	tcase_add_test(tests, no_memory_is_NULL_and_the_arena_stays_usable);
	suite_add_tcase(suite, tests);
	return scene_run(suite);
}
