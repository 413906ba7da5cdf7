/* SPDX-License-Identifier: BSD-3-Clause */
/* What of a foreign text is shown, and how wide it is. */
#include "base/printable.h"

#include "support/scene.h"
#include "support/small.h"
#include "support/unmarked.h"

#include <locale.h>
#include <perfsage/error.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* What is shown for the whole text, and its columns. */
static void show(const char *text, enum ps__charset charset, char *out, size_t *columns)
{
	*columns = 0;
	for (struct ps__glyph glyph; (glyph = ps__printable_next(text, charset)).taken;
	     text += glyph.taken) {
		memcpy(out, glyph.text, glyph.length);
		out += glyph.length;
		*columns += glyph.columns;
	}
	*out = '\0';
}

static const struct {
	const char *text;
	const char *utf8;
	const char *ascii;
	size_t columns; /* of utf8 */
} rows[] = {
    {"", "", "", 0},
    {"a worker's name ~", "a worker's name ~", "a worker's name ~", 17},
    /* Controls: C0, DEL, C1 as characters and as the bytes of old terminals. */
    {"a\033[2Jb\a\r\n\t\x7f", "a?[2Jb?????", "a?[2Jb?????", 11},
    {"a\xc2\x9b"
     "2Jb\xc2\x80\xc2\x9f",
     "a?2Jb??", "a?2Jb??", 7},
    {"a\x9b"
     "2Jb\x80",
     "a?2Jb?", "a?2Jb?", 6},
    /* The direction of writing. */
    {"a\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069z", "a????????????z",
     "a????????????z", 14},
    /* Separators of lines, and what nobody sees. */
    {"a\u2028\u2029\u200b\u200c\u200d\u2060\ufeff\u00ad\ufe0f\U000e0041z", "a??????????z",
     "a??????????z", 12},
    {"\ufffe\ufdd0\U0001ffff", "???", "???", 3},
    /* No UTF-8: overlong, a surrogate, beyond the last one, cut off; one sign for as much as
       Unicode replaces by one. */
    {"\xc0\xaf", "??", "??", 2},
    {"\xed\xa0\x80", "???", "???", 3},
    {"\xf4\x90\x80\x80", "????", "????", 4},
    {"x\xe2\x82", "x?", "x?", 2},
    {"x\xf0\x9f\x98y", "x?y", "x?y", 3},
    {"\xe2\x82\xe2\x82\xac", "?\u20ac", "??", 2},
    /* Letters of one column, of two, and marks that stand on the letter before. */
    {"gr\u00fc\u00df", "gr\u00fc\u00df", "gr??", 4},
    {"\u4e16\u754c", "\u4e16\u754c", "??", 4},
    {"\U0001f600\uff21\uac00", "\U0001f600\uff21\uac00", "???", 6},
    {"e\u0301a\u0308\u20dd", "e\u0301a\u0308\u20dd", "e?a??", 2},
    {"\u2500\u2514\u00a0\u2026", "\u2500\u2514\u00a0\u2026", "????", 4},
    {"\ufffd\ue0b0", "\ufffd\ue0b0", "??", 2},
};

START_TEST(only_what_a_terminal_may_get_is_shown)
{
	char shown[128];
	size_t columns;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		show(rows[i].text, PS__CHARSET_UTF8, shown, &columns);
		ck_assert_msg(!strcmp(shown, rows[i].utf8), "row %zu: '%s', not '%s'", i, shown,
		              rows[i].utf8);
		ck_assert_msg(columns == rows[i].columns, "row %zu: %zu columns, not %zu", i,
		              columns, rows[i].columns);
		show(rows[i].text, PS__CHARSET_ASCII, shown, &columns);
		ck_assert_msg(!strcmp(shown, rows[i].ascii), "row %zu: '%s', not '%s'", i, shown,
		              rows[i].ascii);
		ck_assert_uint_eq(columns, strlen(shown));
	}
}
END_TEST

START_TEST(a_text_is_cleaned_in_its_place)
{
	char text[128];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		strcpy(text, rows[i].text);
		ps__printable_clean(text);
		ck_assert_str_eq(text, rows[i].utf8);
	}
}
END_TEST

START_TEST(no_byte_sequence_gives_a_control_character)
{
	unsigned step = (unsigned)ps_test_serial_size(1, 7);
	char text[5] = "", shown[16];
	size_t columns;

	for (unsigned lead = 0x80; lead < 0x100; lead++) {
		for (unsigned rest = 0; rest < 0x400; rest += step) {
			text[0] = (char)lead;
			text[1] = (char)(0x80 | rest >> 4);
			text[2] = (char)(0x80 | (rest & 0xf) << 2);
			text[3] = 'x';
			show(text, PS__CHARSET_ASCII, shown, &columns);
			for (const char *c = shown; *c; c++)
				ck_assert_int_eq(*c == '?' || *c == 'x', 1);
			show(text, PS__CHARSET_UTF8, shown, &columns);
			for (const char *c = shown; *c;
			     c += ps__printable_next(c, PS__CHARSET_UTF8).taken) {
				uint32_t code;
				ps__printable_decode(c, &code);
				ck_assert_msg(code >= 0x20 && (code < 0x7f || code >= 0xa0) &&
				                  code <= 0x10ffff,
				              "%02x %03x gives %x", lead, rest, (unsigned)code);
			}
		}
	}
}
END_TEST

START_TEST(the_locale_changes_nothing)
{
	static const char *const names[] = {"C", "C.UTF-8", "de_DE"};
	char shown[128];
	size_t columns;

	for (size_t name = 0; name < sizeof names / sizeof *names; name++) {
		setlocale(LC_ALL, names[name]);
		show("a\x9b\xe4\u4e16e\u0301", PS__CHARSET_UTF8, shown, &columns);
		ck_assert_str_eq(shown, "a??\u4e16e\u0301");
		ck_assert_uint_eq(columns, 6);
	}
	setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(an_error_quotes_only_what_may_be_shown)
{
	struct ps_topology *topology;

	ck_assert_int_lt(
	    ps_topology_load_xml(&topology, "/no\033]0;such\a/gr\u00fc\u00df\u202e\x9b.xml"), 0);
	ck_assert_msg(strstr(ps_error_detail(), "/no?]0;such?/gr\u00fc\u00df??.xml") != NULL, "%s",
	              ps_error_detail());
}
END_TEST

/* Gives the thread's first sentence, from when nothing can be mapped. */
static void *fail_without_memory(void *sentence)
{
	struct rlimit before, none;

	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){.rlim_cur = 1, .rlim_max = before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
	int result = ps_eventset_create(NULL);
	*(const char **)sentence = ps_error_detail();
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	ck_assert_int_eq(result, PS_EINVAL);
	ck_assert_int_eq(ps_eventset_create(NULL), PS_EINVAL);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "ps_eventset_create"));
	return NULL;
}

START_TEST(an_error_without_memory_for_its_sentence_has_one)
{
	const char *sentence = NULL;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, fail_without_memory, &sentence), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_ptr_nonnull(strstr(sentence, "out of memory"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("printable");
	TCase *tests = tcase_create("printable");

	suite_add_tcase(suite, tests);
	tcase_add_test(tests, only_what_a_terminal_may_get_is_shown);
	tcase_add_test(tests, a_text_is_cleaned_in_its_place);
	tcase_add_test(tests, no_byte_sequence_gives_a_control_character);
	tcase_add_test(tests, the_locale_changes_nothing);
	tcase_add_test(tests, an_error_quotes_only_what_may_be_shown);
	tcase_add_test(tests, an_error_without_memory_for_its_sentence_has_one);
	return scene_run(suite);
}
