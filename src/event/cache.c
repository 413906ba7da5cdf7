/* SPDX-License-Identifier: BSD-3-Clause */
/* perf's hardware-cache events: a cache, an operation and a result, each with
 * several spellings. */
#include "event/lookup.h"

#include <stdio.h>
#include <string.h>

#define SPELLINGS 6
#define UNSET     (-1)

/* The first spelling of a cache, and the first two of an operation, are those
 * that perf list shows. */
static const char *const caches[PERF_COUNT_HW_CACHE_MAX][SPELLINGS] = {
    [PERF_COUNT_HW_CACHE_L1D] = {"L1-dcache", "l1-d", "l1d", "L1-data"},
    [PERF_COUNT_HW_CACHE_L1I] = {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    [PERF_COUNT_HW_CACHE_LL] = {"LLC", "L2"},
    [PERF_COUNT_HW_CACHE_DTLB] = {"dTLB", "d-tlb", "Data-TLB"},
    [PERF_COUNT_HW_CACHE_ITLB] = {"iTLB", "i-tlb", "Instruction-TLB"},
    [PERF_COUNT_HW_CACHE_BPU] = {"branch", "branches", "bpu", "btb", "bpc"},
    [PERF_COUNT_HW_CACHE_NODE] = {"node"},
};

static const char *const operations[PERF_COUNT_HW_CACHE_OP_MAX][SPELLINGS] = {
    [PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
    [PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
    [PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches", "speculative-read",
                                         "speculative-load"},
};

static const char *const results[PERF_COUNT_HW_CACHE_RESULT_MAX][SPELLINGS] = {
    [PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops", "access"},
    [PERF_COUNT_HW_CACHE_RESULT_MISS] = {"misses", "miss"},
};

#define READ     (1 << PERF_COUNT_HW_CACHE_OP_READ)
#define WRITE    (1 << PERF_COUNT_HW_CACHE_OP_WRITE)
#define PREFETCH (1 << PERF_COUNT_HW_CACHE_OP_PREFETCH)

/* The operations that each cache allows. Nothing is stored to an instruction cache, for example. */
static const int allowed[PERF_COUNT_HW_CACHE_MAX] = {
    [PERF_COUNT_HW_CACHE_L1D] = READ | WRITE | PREFETCH,
    [PERF_COUNT_HW_CACHE_L1I] = READ | PREFETCH,
    [PERF_COUNT_HW_CACHE_LL] = READ | WRITE | PREFETCH,
    [PERF_COUNT_HW_CACHE_DTLB] = READ | WRITE | PREFETCH,
    [PERF_COUNT_HW_CACHE_ITLB] = READ,
    [PERF_COUNT_HW_CACHE_BPU] = READ,
    [PERF_COUNT_HW_CACHE_NODE] = READ | WRITE | PREFETCH,
};

/* Finds the row of table with the longest spelling that is at *at and ends before a '-', a ':' or
 * the end of the text. Moves *at past it. UNSET if there is none. */
static int cache_match(const char *const table[][SPELLINGS], int rows, const char **at)
{
	int found = UNSET;
	size_t longest = 0;

	for (int row = 0; row < rows; row++) {
		for (int i = 0; i < SPELLINGS && table[row][i]; i++) {
			size_t length = strlen(table[row][i]);
			if (length <= longest || strncmp(*at, table[row][i], length) ||
			    !strchr("-:", (*at)[length]))
				continue;
			found = row;
			longest = length;
		}
	}
	*at += longest;
	return found;
}

/* Matches one "-load" or "-misses"; each kind may come once. */
static bool cache_match_detail(const char **at, int *operation, int *result)
{
	if (**at != '-')
		return false;
	++*at;
	if (*operation == UNSET)
		*operation = cache_match(operations, PERF_COUNT_HW_CACHE_OP_MAX, at);
	if ((*at)[-1] == '-' && *result == UNSET)
		*result = cache_match(results, PERF_COUNT_HW_CACHE_RESULT_MAX, at);
	return (*at)[-1] != '-';
}

int ps__cache_find(struct ps__event *event, struct ps__lookup *lookup)
{
	const char *at = lookup->name;
	int operation = UNSET, result = UNSET;

	int cache = cache_match(caches, PERF_COUNT_HW_CACHE_MAX, &at);
	if (cache == UNSET)
		return PS__NOT_HERE;
	while (*at && *at != ':') {
		if (!cache_match_detail(&at, &operation, &result))
			return PS__NOT_HERE;
	}
	if (operation == UNSET)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result == UNSET)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!(allowed[cache] & (1 << operation)))
		return PS__NOT_HERE;
	event->attr.type = PERF_TYPE_HW_CACHE;
	event->attr.config = (__u64)(cache | operation << 8 | result << 16);
	event->klass = PS__EVENT_CLASS_CORE;
	event->scope = PS_SCOPE_THREAD;
	lookup->rest = at;
	return PS_OK;
}

/* The two canonical names of a cache's operation: "LLC-loads" and
 * "LLC-load-misses". */
static int cache_visit_names(int cache, int operation, ps__name_visit *visit, void *context)
{
	char name[64];

	snprintf(name, sizeof name, "%s-%s", caches[cache][0], operations[operation][1]);
	int stop = visit(name, context);
	if (stop)
		return stop;
	snprintf(name, sizeof name, "%s-%s-misses", caches[cache][0], operations[operation][0]);
	return visit(name, context);
}

int ps__cache_for_each(ps__name_visit *visit, void *context)
{
	int stop = 0;

	for (int cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++) {
		for (int operation = 0; operation < PERF_COUNT_HW_CACHE_OP_MAX && !stop;
		     operation++) {
			if (allowed[cache] & (1 << operation))
				stop = cache_visit_names(cache, operation, visit, context);
		}
	}
	return stop;
}
