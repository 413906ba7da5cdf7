/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that grows: whole lines of any length, one write, and errors told once at the end. */
#include "output/buffer.h"
#include "support/scene.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *written;
static size_t written_bytes;

static FILE *open_stream(void)
{
	FILE *stream = open_memstream(&written, &written_bytes);

	ck_assert_ptr_nonnull(stream);
	return stream;
}

START_TEST(text_grows_and_is_written_whole)
{
	struct ps__buffer buffer = {0};
	FILE *stream = open_stream();

	for (int i = 0; i < 10000; i++)
		ps__buffer_add(&buffer, "%07d\n", i);
	check_ok(ps__buffer_finish(&buffer, stream));
	fclose(stream);
	ck_assert_uint_eq(written_bytes, 80000);
	ck_assert_int_eq(memcmp(written, "0000000\n0000001\n", 16), 0);
	ck_assert_int_eq(memcmp(written + 79992, "0009999\n", 8), 0);
	free(written);
}
END_TEST

START_TEST(blanks_at_the_end_are_trimmed_and_others_stay)
{
	struct ps__buffer buffer = {0};
	FILE *stream = open_stream();

	ps__buffer_trim(&buffer);
	ps__buffer_add(&buffer, " a  b \n  c   ");
	ps__buffer_trim(&buffer);
	ps__buffer_add(&buffer, "\n");
	check_ok(ps__buffer_finish(&buffer, stream));
	fclose(stream);
	ck_assert_str_eq(written, " a  b \n  c\n");
	free(written);
}
END_TEST

START_TEST(an_empty_text_is_written_too)
{
	struct ps__buffer buffer = {0};
	FILE *stream = open_stream();

	check_ok(ps__buffer_finish(&buffer, stream));
	fclose(stream);
	ck_assert_uint_eq(written_bytes, 0);
	free(written);
}
END_TEST

START_TEST(no_memory_is_told_at_the_end_and_nothing_is_written)
{
	struct ps__buffer buffer = {0};
	FILE *stream = open_stream();

	ps__buffer_add(&buffer, "first\n");
	fake_fail(FAKE_ALLOCATE, 1, ENOMEM);
	for (int i = 0; i < 1000; i++)
		ps__buffer_add(&buffer, "line %d\n", i);
	ck_assert(buffer.failed);
	check_fails(ps__buffer_finish(&buffer, stream), PS_ENOMEM);
	fclose(stream);
	ck_assert_uint_eq(written_bytes, 0);
	free(written);
}
END_TEST

START_TEST(a_stream_that_takes_only_a_part_is_told_though_it_gives_no_reason)
{
	struct ps__buffer buffer = {0};
	char room[64];
	FILE *stream = fmemopen(room, sizeof room, "w");

	for (int i = 0; i < 100; i++)
		ps__buffer_add(&buffer, "line %d\n", i);
	check_fails(ps__buffer_finish(&buffer, stream), PS_ESYS);
	check_detail("part");
	fclose(stream);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("buffer");
	TCase *tests = scene_case(suite, "buffer");

	tcase_add_test(tests, text_grows_and_is_written_whole);
	tcase_add_test(tests, blanks_at_the_end_are_trimmed_and_others_stay);
	tcase_add_test(tests, an_empty_text_is_written_too);
	tcase_add_test(tests, no_memory_is_told_at_the_end_and_nothing_is_written);
	tcase_add_test(tests, a_stream_that_takes_only_a_part_is_told_though_it_gives_no_reason);
	return scene_run(suite);
}
