/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the nearest names to an unknown one, among all names that this machine knows. They are a
 * part of the sentence of PS_ENOEVNT. */
#include "base/distance.h"
#include "event/pmu.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define NEAREST_MAX 5
#define COMPARE_MAX \
	48 /* characters that are compared; names that differ later only are near enough */
#define NOT_NEAR 1000
#define PREFIX_NEAR \
	2 /* largest distance of a name that begins with the wanted one (INFIX: contains it) */
#define INFIX_NEAR  3
#define INFIX_LEAST 4 /* least length of the wanted name for both */

struct near {
	char name[96];
	unsigned distance;
};

struct suggestion {
	char wanted[COMPARE_MAX + 1];
	unsigned limit;
	bool has_pmu;    /* the wanted name has libpfm4's "::" */
	const char *pmu; /* the PMU whose aliases are visited; NULL: names without a PMU */
	size_t count;
	struct near nearest[NEAREST_MAX];
};

/* Copies a name in lower case, with '-' for '_' and '.': these are the most frequent slips. */
static void suggest_normalise(char *out, const char *name)
{
	size_t i = 0;

	for (; i < COMPARE_MAX && name[i]; i++)
		out[i] =
		    name[i] == '_' || name[i] == '.' ? '-' : (char)tolower((unsigned char)name[i]);
	out[i] = '\0';
}

static unsigned suggest_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned suggest_distance(const struct suggestion *suggestion, const char *name)
{
	char other[COMPARE_MAX + 1];

	suggest_normalise(other, name);
	unsigned result = (unsigned)ps__distance(suggestion->wanted, other);
	size_t length = strlen(suggestion->wanted);
	if (length >= INFIX_LEAST && !strncmp(other, suggestion->wanted, length))
		result = suggest_least(result, PREFIX_NEAR);
	else if (length >= INFIX_LEAST && strstr(other, suggestion->wanted))
		result = suggest_least(result, INFIX_NEAR);
	return result <= suggestion->limit ? result : NOT_NEAR;
}

static bool suggest_comes_before(const struct near *a, const struct near *b)
{
	return a->distance != b->distance ? a->distance < b->distance
	                                  : strcmp(a->name, b->name) < 0;
}

/* Finds an event of the same name of another PMU, because uncore_imc_0/cas_count_read/,
 * uncore_imc_1/... are listed once. */
static struct near *suggest_find_same(struct suggestion *suggestion, const struct near *candidate)
{
	const char *tail = strchr(candidate->name, '/');

	for (size_t i = 0; i < suggestion->count; i++) {
		const char *other = strchr(suggestion->nearest[i].name, '/');
		if (tail ? other && !strcmp(tail, other)
		         : !strcmp(candidate->name, suggestion->nearest[i].name))
			return &suggestion->nearest[i];
	}
	return NULL;
}

static void suggest_insert(struct suggestion *suggestion, const struct near *candidate)
{
	struct near *same = suggest_find_same(suggestion, candidate);

	if (same) {
		if (suggest_comes_before(candidate, same))
			*same = *candidate;
		return;
	}
	size_t at = 0;
	while (at < suggestion->count && suggest_comes_before(&suggestion->nearest[at], candidate))
		at++;
	if (at == NEAREST_MAX)
		return;
	if (suggestion->count < NEAREST_MAX)
		suggestion->count++;
	memmove(&suggestion->nearest[at + 1], &suggestion->nearest[at],
	        (suggestion->count - at - 1) * sizeof *suggestion->nearest);
	suggestion->nearest[at] = *candidate;
}

static int suggest_consider(const char *name, void *context)
{
	struct suggestion *suggestion = context;
	struct near candidate = {.distance = suggest_distance(suggestion, name)};

	if (candidate.distance == NOT_NEAR)
		return 0;
	int length = suggestion->pmu ? snprintf(candidate.name, sizeof candidate.name, "%s/%s/",
	                                        suggestion->pmu, name)
	                             : snprintf(candidate.name, sizeof candidate.name, "%s", name);
	/* A name that doesn't fit is left out: nobody could use a part of it. */
	if (length < (int)sizeof candidate.name)
		suggest_insert(suggestion, &candidate);
	return 0;
}

static int suggest_consider_pmu(const char *name, void *context)
{
	struct suggestion *suggestion = context;

	suggestion->pmu = name;
	ps__pmu_for_each_alias(name, suggest_consider, suggestion);
	suggestion->pmu = NULL;
	return 0;
}

/* Compares PMU::EVENT as a whole if the wanted name has a PMU; otherwise compares EVENT alone, and
 * leaves out the PMU "perf", whose events are perf's own under other names. */
static int suggest_consider_pfm(const struct ps_event_info *info, void *context)
{
	struct suggestion *suggestion = context;
	struct near candidate = {.distance = NOT_NEAR};

	if (suggestion->has_pmu)
		return suggest_consider(info->name, suggestion);
	if (!strcmp(info->pmu, "perf"))
		return 0;
	candidate.distance = suggest_distance(suggestion, info->name + strlen(info->pmu) + 2);
	int length = snprintf(candidate.name, sizeof candidate.name, "%s", info->name);
	if (candidate.distance != NOT_NEAR && length < (int)sizeof candidate.name)
		suggest_insert(suggestion, &candidate);
	return 0;
}

/* Prepares the wanted name. Removes its modifiers, because known names have none; system:name is
 * kept whole. */
static void suggest_start(struct suggestion *suggestion, const char *name)
{
	char head[PS__EVENT_NAME_MAX + 1];
	const char *colon = strrchr(name, ':');

	if (colon && ps__modifiers_are(colon + 1))
		snprintf(head, sizeof head, "%.*s", (int)(colon - name), name);
	else
		snprintf(head, sizeof head, "%s", name);
	suggestion->has_pmu = strstr(name, "::") != NULL;
	suggest_normalise(suggestion->wanted, head);
	suggestion->limit = (unsigned)strlen(suggestion->wanted) / 3 + 1;
}

void ps__suggest(char *buffer, size_t size_bytes, const char *name)
{
	struct suggestion suggestion = {.count = 0};
	size_t length = 0;

	suggest_start(&suggestion, name);
	ps__generic_for_each(suggest_consider, &suggestion);
	ps__cache_for_each(suggest_consider, &suggestion);
	ps__tracepoint_for_each(name, suggest_consider, &suggestion);
	ps__pmu_for_each(suggest_consider_pmu, &suggestion);
	ps__pfm_list(suggest_consider_pfm, &suggestion);
	*buffer = '\0';
	for (size_t i = 0; i < suggestion.count && length < size_bytes; i++)
		length += (size_t)snprintf(buffer + length, size_bytes - length, "%s'%s'",
		                           i ? ", " : "", suggestion.nearest[i].name);
}
