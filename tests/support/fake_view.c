/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test may ask of the fake kernel's open counters, and CPUs that go offline. */
#include "fake_internal.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

static struct fake_counter *counter_of(int fd)
{
	struct fake_fd *slot = fake__fd(fd);

	return slot ? slot->counter : NULL;
}

const struct perf_event_attr *fake_attr_of_fd(int fd)
{
	struct fake_counter *counter = counter_of(fd);

	return counter ? &counter->attr : NULL;
}

void fake_run_fd(int fd, uint64_t enabled_ns, uint64_t running_ns)
{
	struct fake_counter *counter = counter_of(fd);

	if (!counter)
		return;
	fake__lock();
	counter->enabled_ns += enabled_ns;
	counter->running_ns += running_ns;
	fake__unlock();
}

uint64_t fake_later_config_of_fd(int fd, int number)
{
	struct fake_counter *counter = counter_of(fd);

	return counter ? counter->later[number - 3] : 0;
}

size_t fake_counter_fds(int *fds, size_t capacity)
{
	size_t count = 0;

	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next, count++)
		if (count < capacity)
			fds[count] = counter->fd;
	fake__unlock();
	return count;
}

int fake_leader_of_fd(int fd)
{
	struct fake_counter *counter = counter_of(fd);

	return counter ? counter->leader->fd : -1;
}

void fake_target_of_fd(int fd, pid_t *tid, int *cpu)
{
	struct fake_counter *counter = counter_of(fd);

	if (!counter)
		return;
	*tid = counter->task ? counter->task->tid : -1;
	*cpu = counter->cpu;
}

bool fake_enabled_of_fd(int fd)
{
	struct fake_counter *counter = counter_of(fd);

	return counter && counter->enabled && counter->leader->enabled;
}

void *fake_ring_of_fd(int fd)
{
	struct fake_counter *counter = counter_of(fd);

	return counter ? counter->ring : NULL;
}

void fake_hang_up(int fd, short events)
{
	counter_of(fd)->poll_events = events;
}

bool fake_put_record(int fd, uint32_t type, uint16_t misc, const uint64_t *words, size_t count)
{
	struct fake_counter *counter = counter_of(fd);
	struct perf_event_header header = {.type = type, .misc = misc};

	header.size = (uint16_t)(sizeof(header) + count * sizeof(*words));
	return counter && counter->ring && fake__ring_put(counter, &header, words);
}

void fake_set_online(int cpu, bool online)
{
	char text[16], list[4096] = "";
	char path[64];

	fake__lock();
	if (!online)
		fake__counters_cpu_off(cpu);
	for (int other = 0;
	     other <= fake__list_last(fake__file_content("/sys/devices/system/cpu/possible"));
	     other++) {
		bool is_on =
		    fake__cpu_in_list(fake__file_content("/sys/devices/system/cpu/online"), other);

		if (other == cpu ? !online : !is_on)
			continue;
		snprintf(text, sizeof(text), "%s%d", *list ? "," : "", other);
		strncat(list, text, sizeof(list) - strlen(list) - 2);
	}
	strcat(list, "\n");
	fake__file_put("/sys/devices/system/cpu/online", list);
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fake__file_put(path, online ? "1\n" : "0\n");
	fake__unlock();
}

/* As Linux: for tracepoints. A filter without a comparison is none. */
int fake__set_filter(struct fake_counter *counter, const char *filter)
{
	if (counter->attr.type != PERF_TYPE_TRACEPOINT || !strpbrk(filter, "=<>"))
		return EINVAL;
	snprintf(counter->filter, sizeof counter->filter, "%s", filter);
	return 0;
}

/* As Linux: a program is taken once for all events of a tracepoint. */
int fake__set_bpf(struct fake_counter *counter, int program_fd)
{
	if (counter->attr.type != PERF_TYPE_TRACEPOINT)
		return EINVAL;
	if (program_fd != FAKE_BPF_PROGRAM)
		return EBADF;
	for (const struct fake_counter *other = fake__counters_first(); other;
	     other = other->all.next)
		if (other->has_bpf && other->attr.config == counter->attr.config)
			return EEXIST;
	counter->has_bpf = true;
	return 0;
}

const char *fake_filter_of_fd(int fd)
{
	const char *filter;

	fake__lock();
	filter = fake__fd(fd) && fake__fd(fd)->counter ? fake__fd(fd)->counter->filter : "";
	fake__unlock();
	return filter;
}

int fake_bpf_count(void)
{
	int count = 0;

	fake__lock();
	for (const struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next)
		count += counter->has_bpf;
	fake__unlock();
	return count;
}
