/* SPDX-License-Identifier: BSD-3-Clause */
/* Golden files; see golden.h. */
#include "golden.h"
#include "support/unmarked.h"

#include "fixture.h"

#include <stdlib.h>

static char *text;
static size_t text_bytes;

FILE *golden_open(void)
{
	FILE *stream = open_memstream(&text, &text_bytes);

	ck_assert_ptr_nonnull(stream);
	return stream;
}

static void update(const char *path)
{
	FILE *file = fopen(path, "w");

	ck_assert_msg(file && fwrite(text, 1, text_bytes, file) == text_bytes && fclose(file) == 0,
	              "%s can't be written", path);
	printf("%s was written anew\n", path);
}

struct difference {
	size_t line;
	size_t at; /* the line's first byte */
};

/* The first line that differs. Check takes no message of any length. */
static struct difference find_difference(const char *expected)
{
	struct difference found = {.line = 1};

	for (size_t at = 0; text[at] && text[at] == expected[at]; at++) {
		if (text[at] == '\n')
			found = (struct difference){found.line + 1, at + 1};
	}
	return found;
}

static int line_length(const char *line)
{
	return (int)strcspn(line, "\n");
}

static void compare(const char *file)
{
	const char *path = fixture_path("golden", file);
	const char *updates = getenv("PS_GOLDEN_UPDATE");

	if (updates && *updates)
		update(path);
	char *expected = fixture_read(path, NULL);
	struct difference first = find_difference(expected);
	const char *got = text + first.at, *wanted = expected + first.at;
	/* A summary of many tests has the first line alone. */
	ck_assert_msg(strcmp(text, expected) == 0,
	              "%s: line %zu is '%.*s', not '%.*s'. Printed:\n%.1500s\nExpected:\n%.1500s",
	              path, first.line, line_length(got), got, line_length(wanted), wanted, got,
	              wanted);
	free(expected);
}

static void forget(void)
{
	free(text);
	text = NULL;
}

void golden_check(FILE *stream, const char *name)
{
	char file[256];

	ck_assert_int_eq(fclose(stream), 0);
	snprintf(file, sizeof file, "%s.txt", name);
	compare(file);
	for (size_t i = 0; i < text_bytes; i++)
		ck_assert_msg(text[i] == '\n' || (text[i] >= ' ' && text[i] <= '~'),
		              "%s: byte %zu is not ASCII", file, i);
	forget();
}

void golden_check_file(FILE *stream, const char *file)
{
	ck_assert_int_eq(fclose(stream), 0);
	compare(file);
	forget();
}

size_t count_of(const char *all, const char *what)
{
	size_t count = 0;

	for (; (all = strstr(all, what)); all++)
		count++;
	return count;
}
