/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces in Perfetto's protocol buffers, byte by byte; tests/tool/log checks whole ones against the
 * schema. */
#include "output/trace.h"
#include "support/scene.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct ps__buffer out;
static struct ps__trace trace;

static void setup(void)
{
	out = (struct ps__buffer){0};
	trace = (struct ps__trace){.out = &out};
}

static void teardown(void)
{
	ps__buffer_clear(&out);
}

/* The bytes since the last call, as hexadecimal digits. */
static void check_bytes(const char *wanted)
{
	static char text[4096];
	size_t length = 0;

	ck_assert(!out.failed);
	ck_assert_uint_lt(out.length, sizeof text / 3);
	for (size_t index = 0; index < out.length; index++)
		length += (size_t)sprintf(text + length, "%s%02x", index ? " " : "",
		                          (unsigned char)out.text[index]);
	ck_assert_str_eq(text, wanted);
	out.length = 0;
}

START_TEST(the_first_packet_depends_on_none_before)
{
	const struct ps__trace_track group = {.kind = PS__TRACE_GROUP, .name = "a"};

	ck_assert_uint_eq(ps__trace_perfetto.add_track(&trace, &group), 1);
	/* sequence 1, flags 1, track {number 1, name "a"} */
	check_bytes("0a 0c 50 01 68 01 e2 03 05 08 01 12 01 61");
	ck_assert_uint_eq(ps__trace_perfetto.add_track(&trace, &group), 2);
	check_bytes("0a 0a 50 01 e2 03 05 08 02 12 01 61");
}
END_TEST

START_TEST(a_thread_is_below_its_process)
{
	const struct ps__trace_track process = {
	    .kind = PS__TRACE_PROCESS, .name = "p", .process = 300};
	struct ps__trace_track thread = {
	    .kind = PS__TRACE_THREAD, .name = "t", .process = 300, .thread = 5};

	thread.parent = ps__trace_perfetto.add_track(&trace, &process);
	check_bytes("0a 11 50 01 68 01 e2 03 0a 08 01 1a 06 08 ac 02 32 01 70");
	ps__trace_perfetto.add_track(&trace, &thread);
	check_bytes("0a 13 50 01 e2 03 0e 08 02 28 01 22 08 08 ac 02 10 05 2a 01 74");
}
END_TEST

START_TEST(a_slice_has_a_name_and_arguments_of_each_kind)
{
	const struct ps__trace_argument arguments[] = {
	    {.name = "i", .kind = PS__TRACE_INTEGER, .integer = -1},
	    {.name = "r", .kind = PS__TRACE_REAL, .real = 1.5},
	    {.name = "t", .kind = PS__TRACE_TEXT, .text = "x"}};
	const struct ps__trace_event event = {
	    .track = 7, .time_ns = 1, .name = "s", .arguments = arguments, .argument_count = 3};

	trace.tracks = 9;
	ps__trace_perfetto.begin(&trace, &event);
	check_bytes("0a 34 50 01 40 01 5a 2e 48 01 58 07 ba 01 01 73 "
	            "22 0e 52 01 69 20 ff ff ff ff ff ff ff ff ff 01 "
	            "22 0c 52 01 72 29 00 00 00 00 00 00 f8 3f "
	            "22 06 52 01 74 32 01 78");
	ps__trace_perfetto.end(&trace, 7, 300);
	check_bytes("0a 0b 50 01 40 ac 02 5a 04 48 02 58 07");
}
END_TEST

START_TEST(counters_have_whole_numbers_or_doubles)
{
	const struct ps__trace_track counter = {
	    .kind = PS__TRACE_COUNTER, .parent = 1, .name = "c", .unit = "ns"};

	trace.tracks = 1;
	ck_assert_uint_eq(ps__trace_perfetto.add_track(&trace, &counter), 2);
	check_bytes("0a 10 50 01 e2 03 0b 08 02 28 01 12 01 63 42 02 18 01");
	ps__trace_perfetto.count(&trace, 2, 1, 128);
	check_bytes("0a 0e 50 01 40 01 5a 08 48 04 58 02 f0 01 80 01");
	ps__trace_perfetto.measure(&trace, 2, 1, -2.0);
	check_bytes("0a 14 50 01 40 01 5a 0e 48 04 58 02 e1 02 00 00 00 00 00 00 00 c0");
}
END_TEST

/* A length of 128 and more takes two bytes, of 16384 and more three. */
START_TEST(long_texts_have_long_lengths)
{
	static char name[20001];
	struct ps__trace_track group = {.kind = PS__TRACE_GROUP, .name = name};

	trace.tracks = 1;
	memset(name, 'x', sizeof name - 1);
	ps__trace_perfetto.add_track(&trace, &group);
	/* 20000 is a0 9c 01; the track has 6 bytes more, the packet 7 more than that. */
	const unsigned char head[] = {0x0a, 0xad, 0x9c, 0x01, 0x50, 0x01, 0xe2, 0x03, 0xa6,
	                              0x9c, 0x01, 0x08, 0x02, 0x12, 0xa0, 0x9c, 0x01, 'x'};
	ck_assert_int_eq(memcmp(out.text, head, sizeof head), 0);
	ck_assert_uint_eq(out.length, 17 + 20000);
	ck_assert_int_eq(out.text[out.length - 1], 'x');
}
END_TEST

START_TEST(bytes_that_are_no_utf8_are_replaced)
{
	struct ps__trace_track group = {.kind = PS__TRACE_GROUP, .name = "\xffz\xc3\xa9"};

	trace.tracks = 1;
	ps__trace_perfetto.add_track(&trace, &group);
	check_bytes("0a 0f 50 01 e2 03 0a 08 02 12 06 ef bf bd 7a c3 a9");
}
END_TEST

START_TEST(a_lack_of_memory_is_kept)
{
	static char name[20001];
	struct ps__trace_track group = {.kind = PS__TRACE_GROUP, .name = name};

	memset(name, 'x', sizeof name - 1);
	for (unsigned nth = 1; nth <= 5; nth++) {
		fake_fail(FAKE_ALLOCATE, nth, ENOMEM);
		ps__trace_perfetto.add_track(&trace, &group);
		ck_assert(out.failed);
		ps__buffer_clear(&out);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace");
	TCase *tests = scene_case(suite, "trace");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, the_first_packet_depends_on_none_before);
	tcase_add_test(tests, a_thread_is_below_its_process);
	tcase_add_test(tests, a_slice_has_a_name_and_arguments_of_each_kind);
	tcase_add_test(tests, counters_have_whole_numbers_or_doubles);
	tcase_add_test(tests, long_texts_have_long_lengths);
	tcase_add_test(tests, bytes_that_are_no_utf8_are_replaced);
	tcase_add_test(tests, a_lack_of_memory_is_kept);
	return scene_run(suite);
}
