/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses GOMP_CPU_AFFINITY of GCC's OpenMP library, and OMP_PROC_BIND. */
#include "tools/placement.h"

#include "base/error.h"
#include "tools/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int gomp_fail(const char *text, const char *at, const char *wanted)
{
	return ps__fail(PS_EINVAL,
	                "GOMP_CPU_AFFINITY='%s': %s was expected at '%s', as in 0 3 1-2 4-15:2",
	                text, wanted, at);
}

/* Reads a CPU number. Returns its end; NULL if there is no number or it is too large. */
static const char *gomp_number(const char *at, int *out)
{
	char *end;

	if (!isdigit((unsigned char)*at))
		return NULL;
	long number = strtol(at, &end, 10);
	if (number > TOOL_LARGEST_CPU)
		return NULL;
	*out = (int)number;
	return end;
}

struct gomp_range {
	int first, last, stride;
};

static const char *gomp_range(const char *at, struct gomp_range *range)
{
	*range = (struct gomp_range){.stride = 1};
	at = gomp_number(at, &range->first);
	if (!at)
		return NULL;
	range->last = range->first;
	if (*at != '-')
		return at;
	at = gomp_number(at + 1, &range->last);
	if (!at || range->last < range->first || *at != ':')
		return at && range->last >= range->first ? at : NULL;
	at = gomp_number(at + 1, &range->stride);
	return at && range->stride > 0 ? at : NULL;
}

static int gomp_add(struct tool_places *places, const struct gomp_range *range,
                    const struct tool_cpus *allowed)
{
	int result = PS_OK;

	for (int cpu = range->first; result == PS_OK && cpu <= range->last; cpu += range->stride) {
		struct tool_cpus one = {.numbers = &cpu, .count = 1};
		if (places->count + places->refused.count >= TOOL_MOST_NUMBERS)
			return ps__fail(PS_EINVAL,
			                "GOMP_CPU_AFFINITY names more than %d CPUs: shorten it",
			                TOOL_MOST_NUMBERS);
		result = tool_places_add(places, &one, allowed);
	}
	return result;
}

int tool_places_parse_gomp(struct tool_places *out, const char *text,
                           const struct tool_cpus *allowed)
{
	struct tool_places places = {0};
	const char *at = text + strspn(text, TOOL_BLANKS);
	int result = *at ? PS_OK : gomp_fail(text, at, "a CPU");

	while (result == PS_OK && *at) {
		struct gomp_range range;
		const char *end = gomp_range(at, &range);
		if (!end || (*end && *end != ',' && !strchr(TOOL_BLANKS, *end))) {
			result = gomp_fail(text, end ? end : at, end ? "a blank" : "a CPU");
			break;
		}
		result = gomp_add(&places, &range, allowed);
		at = end + strspn(end, TOOL_BLANKS);
		if (*at != ',')
			continue;
		at += 1 + strspn(at + 1, TOOL_BLANKS);
		if (!*at && result == PS_OK)
			result = gomp_fail(text, at, "a CPU");
	}
	if (result != PS_OK) {
		tool_places_clear(&places);
		return result;
	}
	*out = places;
	return PS_OK;
}

static const struct {
	const char *word;
	enum tool_bind bind;
	bool is_in_lists;
} binds[] = {
    {"false", TOOL_BIND_FALSE, false},    {"true", TOOL_BIND_TRUE, false},
    {"primary", TOOL_BIND_PRIMARY, true}, {"master", TOOL_BIND_PRIMARY, true},
    {"close", TOOL_BIND_CLOSE, true},     {"spread", TOOL_BIND_SPREAD, true},
};

#define BINDS (sizeof binds / sizeof binds[0])

static size_t bind_find(const char *word, size_t length)
{
	size_t index = 0;

	while (index < BINDS && (strlen(binds[index].word) != length ||
	                         strncasecmp(binds[index].word, word, length) != 0))
		index++;
	return index;
}

int tool_bind_parse(enum tool_bind *out, const char *text)
{
	enum tool_bind first = TOOL_BIND_FALSE;
	const char *at = text;
	size_t words = 0;

	for (;;) {
		at += strspn(at, TOOL_BLANKS);
		size_t length = strcspn(at, "," TOOL_BLANKS);
		size_t index = bind_find(at, length);
		at += length;
		at += strspn(at, TOOL_BLANKS);
		bool is_alone = words == 0 && *at == '\0';
		if (index == BINDS || (!binds[index].is_in_lists && !is_alone) ||
		    (*at && *at != ','))
			return ps__fail(
			    PS_EINVAL,
			    "OMP_PROC_BIND='%s' is neither true nor false, nor a list of primary, "
			    "close and spread with commas between them",
			    text);
		if (words++ == 0)
			first = binds[index].bind;
		if (!*at++)
			break;
	}
	*out = first;
	return PS_OK;
}
