/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of CPUs, for affinity masks and places. */
#include "tools/placement.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "locate/locate.h"

#include <errno.h>
#include <string.h>

/* Returns the index of the number, or the index where it would be inserted. */
static size_t cpus_find(const struct tool_cpus *cpus, int cpu)
{
	size_t from = 0, to = cpus->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (cpus->numbers[middle] < cpu)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool tool_cpus_contain(const struct tool_cpus *cpus, int cpu)
{
	size_t at = cpus_find(cpus, cpu);

	return at < cpus->count && cpus->numbers[at] == cpu;
}

int tool_cpus_add(struct tool_cpus *cpus, int cpu)
{
	size_t at = cpus_find(cpus, cpu);

	if (at < cpus->count && cpus->numbers[at] == cpu)
		return PS_OK;
	if (!PS__VECTOR_GROW(&cpus->numbers, cpus->count, &cpus->room))
		return ps__fail_memory("a set of CPUs");
	memmove(&cpus->numbers[at + 1], &cpus->numbers[at],
	        (cpus->count++ - at) * sizeof *cpus->numbers);
	cpus->numbers[at] = cpu;
	return PS_OK;
}

int tool_cpus_copy(struct tool_cpus *cpus, const struct tool_cpus *other)
{
	if (other->count == 0) {
		cpus->count = 0;
		return PS_OK;
	}
	if (!PS__VECTOR_RESERVE(&cpus->numbers, cpus->count, other->count, &cpus->room))
		return ps__fail_memory("a set of CPUs");
	memcpy(cpus->numbers, other->numbers, other->count * sizeof *cpus->numbers);
	cpus->count = other->count;
	return PS_OK;
}

static int cpus_add_allowed(int cpu, void *context)
{
	return tool_cpus_add(context, cpu) == PS_OK ? 0 : 1;
}

int tool_cpus_of_task(struct tool_cpus *cpus, pid_t tid)
{
	struct tool_cpus found = {0};
	int result = ps__locate_for_each_allowed(tid, cpus_add_allowed, &found);

	if (result != 0) {
		tool_cpus_clear(&found);
		return result == 1 ? PS_ENOMEM
		                   : ps__fail(PS_ESYS, "the affinity mask of task %d: %s", (int)tid,
		                              strerror(-result));
	}
	tool_cpus_clear(cpus);
	*cpus = found;
	return PS_OK;
}

void tool_cpus_remove(struct tool_cpus *cpus, int cpu)
{
	size_t at = cpus_find(cpus, cpu);

	if (at >= cpus->count || cpus->numbers[at] != cpu)
		return;
	cpus->count--;
	memmove(&cpus->numbers[at], &cpus->numbers[at + 1],
	        (cpus->count - at) * sizeof *cpus->numbers);
}

bool tool_cpus_are_equal(const struct tool_cpus *one, const struct tool_cpus *other)
{
	return one->count == other->count &&
	       (one->count == 0 ||
	        memcmp(one->numbers, other->numbers, one->count * sizeof *one->numbers) == 0);
}

void tool_cpus_show(const struct tool_cpus *cpus, struct ps__buffer *out)
{
	for (size_t first = 0, last; first < cpus->count; first = last + 1) {
		for (last = first; last + 1 < cpus->count; last++) {
			if (cpus->numbers[last + 1] != cpus->numbers[last] + 1)
				break;
		}
		ps__buffer_add(out, first ? ",%d" : "%d", cpus->numbers[first]);
		if (last > first)
			ps__buffer_add(out, "-%d", cpus->numbers[last]);
	}
	if (cpus->count == 0)
		ps__buffer_add(out, "none");
}

void tool_cpus_clear(struct tool_cpus *cpus)
{
	ps__os_free(cpus->numbers);
	*cpus = (struct tool_cpus){.numbers = NULL};
}
