/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow: what was in them stays, what is new is zeroed, and without memory nothing has
 * changed. */
#include "base/os.h"
#include "base/vector.h"
#include "support/scene.h"

#include <errno.h>

START_TEST(items_stay_and_new_ones_are_zeroed)
{
	size_t room = 0;
	int *items = NULL;

	for (size_t count = 0; count < 1000; count++) {
		ck_assert(PS__VECTOR_GROW(&items, count, &room));
		ck_assert_uint_gt(room, count);
		ck_assert_int_eq(items[count], 0);
		items[count] = (int)count;
	}
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(items[i], i);
	ck_assert_uint_lt(fake_count(FAKE_ALLOCATE), 12);
	ps__os_free(items);
}
END_TEST

START_TEST(room_for_many_is_made_at_once)
{
	size_t room = 0;
	char *bytes = NULL;

	ck_assert(PS__VECTOR_RESERVE(&bytes, 0, 1000, &room));
	ck_assert_uint_ge(room, 1000);
	ck_assert_uint_eq(fake_count(FAKE_ALLOCATE), 1);
	char *before = bytes;
	ck_assert(PS__VECTOR_RESERVE(&bytes, 0, room, &room));
	ck_assert_ptr_eq(bytes, before);
	ps__os_free(bytes);
}
END_TEST

START_TEST(without_memory_nothing_has_changed)
{
	size_t room = 0;
	int *items = NULL;

	ck_assert(PS__VECTOR_GROW(&items, 0, &room));
	size_t before = room;
	const int *old = items;
	items[0] = 7;
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	ck_assert(!PS__VECTOR_RESERVE(&items, 1, room + 1, &room));
	ck_assert_ptr_eq(items, old);
	ck_assert_uint_eq(room, before);
	ck_assert_int_eq(items[0], 7);
	ps__os_free(items);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vector");
	TCase *tests = scene_case_of(suite, "vector", fake_install, fake_remove);

	tcase_add_test(tests, items_stay_and_new_ones_are_zeroed);
	tcase_add_test(tests, room_for_many_is_made_at_once);
	tcase_add_test(tests, without_memory_nothing_has_changed);
	return scene_run(suite);
}
