/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the OS seam: what an older or a newer program, compiled with another size of it,
 * gets. */
#include "base/os.h"
#include "support/scene.h"

#include <errno.h>
#include <perfsage/hooks.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int seven(void)
{
	return 7;
}

static void *never(size_t size_bytes)
{
	(void)size_bytes;
	return NULL;
}

/* All that a table of that size says is the program's; all behind it is not there. */
START_TEST(an_older_program_s_table_keeps_the_default_for_what_it_lacks)
{
	struct ps_hooks hooks = {
	    .size = offsetof(struct ps_hooks, allocate), .getcpu = seven, .allocate = never};

	ck_assert_int_eq(ps_hooks_set(&hooks), PS_OK);
	ck_assert_ptr_eq(ps__os.getcpu, seven);
	ck_assert_ptr_eq(ps__os.allocate, ps_hooks_default()->allocate);
	ck_assert_ptr_eq(ps__os.release, ps_hooks_default()->release);
	ck_assert_uint_eq(ps__os.size, sizeof ps__os);
	hooks.size = sizeof hooks.size;
	ck_assert_int_eq(ps_hooks_set(&hooks), PS_OK);
	ck_assert_ptr_eq(ps__os.getcpu, ps_hooks_default()->getcpu);
	ck_assert_int_eq(ps_hooks_set(NULL), PS_OK);
}
END_TEST

struct newer {
	struct ps_hooks hooks;
	void (*later[3])(void);
};

static void do_nothing(void)
{
}

START_TEST(a_newer_program_s_table_is_taken_if_it_replaces_nothing_that_is_lacking)
{
	struct newer newer = {.hooks = {.size = sizeof newer, .getcpu = seven}};

	ck_assert_int_eq(ps_hooks_set(&newer.hooks), PS_OK);
	ck_assert_ptr_eq(ps__os.getcpu, seven);
	ck_assert_uint_eq(ps__os.size, sizeof ps__os);
	ck_assert_int_eq(ps_hooks_set(NULL), PS_OK);
	newer.later[2] = do_nothing;
	ck_assert_int_eq(ps_hooks_set(&newer.hooks), PS_EINVAL);
	check_detail("replaces calls that this library doesn't have");
	ck_assert_ptr_eq(ps__os.getcpu, ps_hooks_default()->getcpu);
}
END_TEST

START_TEST(a_size_that_no_table_has_is_refused)
{
	static const size_t sizes[] = {0, 1, sizeof(struct ps_hooks) - 1, SIZE_MAX,
	                               SIZE_MAX & ~(size_t)7};

	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct ps_hooks hooks = {.size = sizes[i], .getcpu = seven};
		ck_assert_int_eq(ps_hooks_set(&hooks), PS_EINVAL);
		check_detail("set it to sizeof(struct ps_hooks)");
		ck_assert_ptr_eq(ps__os.getcpu, ps_hooks_default()->getcpu);
	}
}
END_TEST

/* Other files answer the question whether they are events in their own way; some answers tell
 * nothing.
 */
START_TEST(a_file_that_does_not_know_the_question_is_no_event)
{
	static const struct {
		int error;
		bool may_be;
	} answers[] = {{EINVAL, false}, {ENOTTY, false}, {EBADF, false}, {EBADFD, false},
	               {ENODEV, true},  {EPERM, true},   {ENOSYS, true}};

	for (size_t index = 0; index < sizeof answers / sizeof answers[0]; index++) {
		fake_fail(FAKE_IOCTL, 1, answers[index].error);
		ck_assert_int_eq(ps__os_is_event(77), answers[index].may_be);
		fake_fail(FAKE_IOCTL, 1, answers[index].error);
		ck_assert_int_eq(ps__os_is_event_of(77, 5), answers[index].may_be);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("os");
	TCase *tests = tcase_create("hooks");
	TCase *files = scene_case(suite, "files");

	tcase_add_test(tests, an_older_program_s_table_keeps_the_default_for_what_it_lacks);
	tcase_add_test(tests,
	               a_newer_program_s_table_is_taken_if_it_replaces_nothing_that_is_lacking);
	tcase_add_test(tests, a_size_that_no_table_has_is_refused);
	suite_add_tcase(suite, tests);
	tcase_add_test(files, a_file_that_does_not_know_the_question_is_no_event);
	return scene_run(suite);
}
