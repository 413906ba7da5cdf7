/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perf's duration_time, user_time and system_time: the duration of a run, and what its command and
 * the children it waited for used, as wait4(2) reports it. Kernels don't count them by hardware
 * thread: they are stored when the run is over, as values of the whole machine.
 */
#include "tools/stat_times.h"

#include "tools/terminal.h"

#include <string.h>

static const char *const times_names[] = {"duration_time", "user_time", "system_time"};
#define TIMES_COUNT (sizeof times_names / sizeof *times_names)

unsigned stat_times_bit(const char *name)
{
	for (size_t index = 0; index < TIMES_COUNT; index++) {
		if (strcmp(times_names[index], name) == 0)
			return 1u << index;
	}
	return 0;
}

bool stat_times_are_all(const struct ps_eventset *model)
{
	size_t events = ps_eventset_event_count(model), index = 0;

	while (index < events && stat_times_bit(ps_eventset_event_name(model, index)))
		index++;
	return index == events;
}

static long long times_of(const struct timeval *time)
{
	return (long long)time->tv_sec * 1000000000 + (long long)time->tv_usec * 1000;
}

/* Gets a time. If the command wasn't waited for, only the duration is known. */
static bool times_get(unsigned time, uint64_t elapsed_ns, const struct rusage *usage,
                      long long *out)
{
	if (time == STAT_TIMES_DURATION) {
		*out = (long long)elapsed_ns;
		return true;
	}
	if (!usage)
		return false;
	*out = times_of(time == STAT_TIMES_USER ? &usage->ru_utime : &usage->ru_stime);
	return true;
}

int stat_times_store(struct stat_count *count, uint64_t elapsed_ns, const struct rusage *usage)
{
	long long values[TIMES_COUNT];
	int known = 0, result = PS_OK;

	for (size_t index = 0; index < ps_eventset_event_count(count->model); index++) {
		const char *name = ps_eventset_event_name(count->model, index);
		unsigned time = stat_times_bit(name);
		if (!time || !times_get(time, elapsed_ns, usage, &values[known]))
			continue;
		if (known++ == 0)
			result = ps_eventset_create(&count->times);
		if (result == PS_OK)
			result = ps_eventset_add_optional(count->times, name);
	}
	if (known && result == PS_OK)
		result = ps_store(count->times, values, known, count->root, NULL, NULL);
	if (result == PS_OK)
		return 0;
	return tool_complain_detail();
}
