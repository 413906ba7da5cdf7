/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes up counts for perf stat on a machine without a PMU: perf_metrics.py compiles and preloads
 * it.
 *
 * Every event that isn't a software event is opened as the dummy software event. A read then gives
 * a made-up count, and equal enabled and running times. The environment variable MADE_UP is the
 * number of the round: counts differ in each round, and from the third round on some are 0.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>

enum {
	EVENTS = 1024,
	FIRST_ROUND_WITH_ZEROS = 2,
	TIMES = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	GROUP = PERF_FORMAT_ID | PERF_FORMAT_GROUP
};

typedef long system_call(long number, ...);

/* Indexed by file descriptor. The id shows whether the descriptor was closed and used again. */
static struct made_up {
	uint64_t id, count;
	bool is_group;
} events[EVENTS];

static system_call *real_syscall(void)
{
	static system_call *real;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return real;
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
	hash = (hash + 1 + number) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

/* Returns a large count, because perf shows only six decimals, and a rate needs enough digits. */
static uint64_t count_of(const struct perf_event_attr *attr)
{
	const char *text = getenv("MADE_UP");
	uint64_t round = text ? strtoull(text, NULL, 10) : 0;
	uint64_t hash =
	    mix(mix(mix(mix(round, attr->type), attr->config), attr->config1), attr->config2);

	hash = mix(hash, hash >> 7);
	if (round >= FIRST_ROUND_WITH_ZEROS && hash % 8 == 0)
		return 0;
	return 1000000000 + hash % 1000000000000;
}

static int event_open(const struct perf_event_attr *attr, long pid, long cpu, long group,
                      long flags)
{
	struct perf_event_attr dummy = {.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof dummy,
	                                .config = PERF_COUNT_SW_DUMMY,
	                                .read_format = attr->read_format,
	                                .disabled = attr->disabled,
	                                .inherit = attr->inherit,
	                                .enable_on_exec = attr->enable_on_exec};
	int fd = (int)real_syscall()(SYS_perf_event_open, &dummy, pid, cpu, group, flags);

	if (fd < 0 || fd >= EVENTS)
		return fd;
	events[fd] = (struct made_up){.count = count_of(attr)};
	/* perf stat uses these two read formats; fill() supports no other. */
	events[fd].is_group = attr->read_format == (TIMES | GROUP);
	if (events[fd].is_group || (attr->read_format | PERF_FORMAT_ID) == (TIMES | PERF_FORMAT_ID))
		ioctl(fd, PERF_EVENT_IOC_ID, &events[fd].id);
	return fd;
}

long syscall(long number, ...)
{
	long argument[6];
	va_list list;

	va_start(list, number);
	for (size_t index = 0; index < 6; index++)
		argument[index] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		const struct perf_event_attr *attr = (const void *)argument[0];
		if (attr->type != PERF_TYPE_SOFTWARE)
			return event_open(attr, argument[1], argument[2], argument[3], argument[4]);
	}
	return real_syscall()(number, argument[0], argument[1], argument[2], argument[3],
	                      argument[4], argument[5]);
}

static void fill_times(uint64_t times[2])
{
	times[0] = times[1] = times[0] ? times[0] : 1;
}

/* Replaces a member's count, unless it is a software event. */
static void fill_member(uint64_t member[2])
{
	for (size_t index = 0; index < EVENTS; index++) {
		if (events[index].id == member[1])
			member[0] = events[index].count;
	}
}

/* words: a count or the number of members, two times, and a count and an id for each member. */
static void fill(const struct made_up *event, uint64_t *words)
{
	fill_times(words + 1);
	if (!event->is_group)
		words[0] = event->count;
	for (uint64_t index = 0; event->is_group && index < words[0]; index++)
		fill_member(words + 3 + index * 2);
}

ssize_t read(int fd, void *buffer, size_t size)
{
	ssize_t got = real_syscall()(SYS_read, fd, buffer, size);
	uint64_t id;

	if (got > 0 && fd >= 0 && fd < EVENTS && events[fd].id &&
	    ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 && id == events[fd].id)
		fill(&events[fd], buffer);
	return got;
}
