/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes the words of saved paths. See paths_file.h. */
#include "base/decimal.h"
#include "base/os.h"
#include "region/paths_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DIGITS 48 /* of any number */

static bool words_is_blank(char letter)
{
	return letter == ' ' || letter == '\n';
}

/* Copies the next word into a string, because the text itself has no NUL at its end. */
static void words_next(struct ps__words *words, char word[MOST_DIGITS])
{
	size_t length = 0;

	while (words->at < words->end && words_is_blank(*words->at))
		words->at++;
	while (words->at < words->end && !words_is_blank(*words->at) && length < MOST_DIGITS - 1)
		word[length++] = *words->at++;
	word[length] = '\0';
	if (length == 0 || (words->at < words->end && !words_is_blank(*words->at)))
		words->has_failed = true;
}

uint64_t ps__words_read_unsigned(struct ps__words *words)
{
	char word[MOST_DIGITS], *end;

	words_next(words, word);
	errno = 0;
	unsigned long long number = strtoull(word, &end, 10);
	if (errno || *end || *word < '0' || *word > '9')
		words->has_failed = true;
	return words->has_failed ? 0 : number;
}

int64_t ps__words_read_signed(struct ps__words *words)
{
	char word[MOST_DIGITS], *end;

	words_next(words, word);
	errno = 0;
	long long number = strtoll(word, &end, 10);
	if (errno || *end || end == word)
		words->has_failed = true;
	return words->has_failed ? 0 : number;
}

double ps__words_read_double(struct ps__words *words)
{
	char word[MOST_DIGITS], *end;

	words_next(words, word);
	double number = ps__decimal_parse(word, &end);
	if (*end || end == word)
		words->has_failed = true;
	return words->has_failed ? 0 : number;
}

char *ps__words_read_string(struct ps__words *words)
{
	uint64_t length = 0;

	while (words->at < words->end && words_is_blank(*words->at))
		words->at++;
	const char *first = words->at;
	while (words->at < words->end && *words->at >= '0' && *words->at <= '9' &&
	       length <= INT32_MAX)
		length = 10 * length + (uint64_t)(*words->at++ - '0');
	if (words->has_failed || words->at == first || words->at == words->end ||
	    *words->at != ':' || length > (uint64_t)(words->end - words->at - 1)) {
		words->has_failed = true;
		return NULL;
	}
	char *copy = ps__os_strndup(words->at + 1, length);
	words->at += 1 + length;
	return copy;
}

void ps__words_expect(struct ps__words *words, const char *expected)
{
	char word[MOST_DIGITS];

	words_next(words, word);
	words->has_failed |= strcmp(word, expected) != 0;
}

void ps__words_write_string(FILE *stream, const char *text)
{
	fprintf(stream, " %zu:%s", strlen(text), text);
}
