/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's perf: opening counters, groups, reading them in the kernel's formats, and the
 * script that makes them count.
 */
#include "fake_internal.h"
#include "fake_pmu.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_FLAGS                                                                          \
	(unsigned long)(PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | \
	                PERF_FLAG_FD_CLOEXEC)

#define FORMAT_LOST (UINT64_C(1) << 4) /* PERF_FORMAT_LOST, which headers may not have */

#define NEWEST_ATTR 144u /* bytes, with config4 */

static uint64_t last_id = 40;
static unsigned resets;
static bool is_cgroup_removed;
static bool counts_lost; /* FORMAT_LOST is known */
static fake_refuse_attr *refuse_attr;
static uint32_t attr_size_bytes; /* of the kernel's own struct; 0: the newest */

void fake__counters_reset(void)
{
	resets = 0;
	is_cgroup_removed = false;
	attr_size_bytes = 0;
	refuse_attr = NULL;
	counts_lost = false;
	fake__pmus_reset();
}

static bool is_on(const struct fake_counter *counter)
{
	return counter->enabled && counter->leader->enabled && !counter->error_state &&
	       !counter->leader->error_state;
}

bool fake__counter_is_counting(const struct fake_counter *counter)
{
	return is_on(counter) && !counter->leader->waiting;
}

/* Does the counter's target run where it counts? */
static bool is_there(const struct fake_counter *counter)
{
	if (!counter->task)
		return true;
	return !counter->task->ended && !counter->task->threads_left &&
	       (counter->cpu < 0 || counter->cpu == counter->task->cpu) &&
	       fake__pmu_is_on(&counter->attr, counter->task->cpu);
}

/* As Linux: a task's event may wait for a CPU that is offline. */
static int check_cpu(pid_t pid, int cpu)
{
	if (cpu > fake__list_last(fake__file_content("/sys/devices/system/cpu/possible")))
		return EINVAL;
	if (pid == -1 && cpu >= 0 &&
	    !fake__cpu_in_list(fake__file_content("/sys/devices/system/cpu/online"), cpu))
		return ENODEV;
	return cpu < -1 ? EINVAL : 0;
}

void fake_count_lost(void)
{
	counts_lost = true;
}

void fake_set_refusal(fake_refuse_attr *refuse)
{
	refuse_attr = refuse;
}

void fake_set_attr_size(uint32_t size_bytes)
{
	attr_size_bytes = size_bytes;
}

/* As Linux: what is beyond its own struct must be 0, or it tells how large that is. */
static int check_attr_size(struct perf_event_attr *attr)
{
	uint32_t known = attr_size_bytes ? attr_size_bytes : NEWEST_ATTR;

	for (uint32_t at = known; at < attr->size; at++) {
		if (!((const unsigned char *)attr)[at])
			continue;
		attr->size = known;
		return E2BIG;
	}
	return 0;
}

static int check_attr(const struct perf_event_attr *attr)
{
	const uint64_t known = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
	                       PERF_FORMAT_ID | PERF_FORMAT_GROUP | (counts_lost ? FORMAT_LOST : 0);

	if (attr->size < PERF_ATTR_SIZE_VER0)
		return E2BIG;
	if (attr->read_format & ~known)
		return EINVAL;
	return refuse_attr ? refuse_attr(attr) : 0;
}

static int check_leader(const struct fake_fd *leader_fd, const struct perf_event_attr *attr,
                        const struct fake_task *task, int cpu)
{
	const struct fake_counter *leader = leader_fd ? leader_fd->counter : NULL;

	if (!leader)
		return EBADF;
	if (leader->leader != leader || leader->task != task || leader->cpu != cpu ||
	    attr->pinned || attr->exclusive)
		return EINVAL;
	/* A group has one clock. */
	if (leader->attr.use_clockid != attr->use_clockid || leader->attr.clockid != attr->clockid)
		return EINVAL;
	return fake__pmu_check_group(attr, leader);
}

static int check_open(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd)
{
	int error = check_attr(attr);
	struct fake_task *task = pid == 0 ? fake__self() : pid > 0 ? fake__task_find(pid) : NULL;

	if (!error && (pid < -1 || (pid == -1 && cpu == -1)))
		error = EINVAL;
	if (!error)
		error = fake__pmu_check_paranoid(attr, 0);
	if (!error && group_fd != -1 && (!fake__fd(group_fd) || !fake__fd(group_fd)->counter))
		error = EBADF;
	if (!error && pid != -1 && (!task || task->threads_left))
		error = ESRCH;
	if (!error && cpu >= 0 && check_cpu(pid, cpu) == EINVAL)
		error = EINVAL;
	if (!error)
		error = fake__pmu_check_event(attr, pid, cpu);
	if (!error)
		error = fake__pmu_check_refused(attr, pid, cpu);
	if (!error) /* as Linux: only now, so that ENOENT comes first */
		error = fake__pmu_check_paranoid(attr, pid);
	if (!error)
		error = check_cpu(pid, cpu);
	if (!error)
		error = group_fd != -1 ? check_leader(fake__fd(group_fd), attr, task, cpu)
		                       : fake__pmu_check_group(attr, NULL);
	return error;
}

int fake__perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                          unsigned long flags)
{
	struct fake_counter *counter;
	int fd, error;

	if (fake__enter(FAKE_PERF_EVENT_OPEN))
		return -1;
	if (!(flags & PERF_FLAG_FD_CLOEXEC))
		fake__violation("perf_event_open: without PERF_FLAG_FD_CLOEXEC");
	if (flags & PERF_FLAG_PID_CGROUP) {
		if (!fake__fd(pid) || !fake__fd(pid)->is_cgroup)
			return fake__fail(EBADF);
		if (is_cgroup_removed)
			return fake__fail(ENOENT);
		pid = -1; /* whose tasks it counts is the test's to say: fake_advance_on */
	}
	/* As Linux: before anything else. */
	error = flags & ~KNOWN_FLAGS ? EINVAL : check_attr_size(attr);
	if (!error)
		error = check_open(attr, pid, cpu, group_fd);
	if (error)
		return fake__fail(error);
	fd = fake__fd_new();
	if (fd < 0)
		return fake__fail(errno);
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		abort();
	memcpy(&counter->attr, attr, attr->size < sizeof(*attr) ? attr->size : sizeof(*attr));
	for (uint32_t i = 0; i < 2 && attr->size >= NEWEST_ATTR - 8 + 8 * i; i++)
		memcpy(&counter->later[i], (const char *)attr + NEWEST_ATTR - 16 + 8 * i, 8);
	counter->leader = group_fd == -1 ? counter : fake__fd(group_fd)->counter;
	counter->task = pid == 0 ? fake__self() : pid > 0 ? fake__task_find(pid) : NULL;
	counter->cpu = cpu;
	counter->fd = fd;
	counter->id = last_id++;
	counter->enabled = !attr->disabled;
	fake__counters_add(counter);
	fake__fd(fd)->counter = counter;
	fake__unlock();
	return fd;
}

void fake__counter_close(struct fake_counter *counter)
{
	fake__counters_remove(counter);
	for (struct fake_counter *member = fake__counters_on(counter->cpu); member;
	     member = member->there.next)
		if (member->leader == counter)
			member->leader =
			    member; /* as Linux: a group without its leader falls apart */
	free(counter);
}

size_t fake__counter_numbers(const struct fake_counter *counter, uint64_t *out)
{
	const struct fake_counter *leader = counter->leader;
	uint64_t format = counter->attr.read_format;
	size_t n = 0;

	if (!(format & PERF_FORMAT_GROUP)) {
		out[n++] = counter->count;
		leader = counter;
	} else {
		out[n++] = 0;
	}
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = leader->enabled_ns;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = leader->running_ns;
	if (!(format & PERF_FORMAT_GROUP)) {
		if (format & PERF_FORMAT_ID)
			out[n++] = counter->id;
		if (format & FORMAT_LOST)
			out[n++] = counter->losses.total;
		return n;
	}
	for (const struct fake_counter *member = fake__counters_on(leader->cpu); member;
	     member = member->there.next) {
		if (member->leader != leader)
			continue;
		out[0]++;
		out[n++] = member->count;
		if (format & PERF_FORMAT_ID)
			out[n++] = member->id;
		if (format & FORMAT_LOST)
			out[n++] = member->losses.total;
	}
	return n;
}

ssize_t fake__counter_read(struct fake_counter *counter, void *buffer, size_t size_bytes)
{
	bool group = counter->attr.read_format & PERF_FORMAT_GROUP;
	size_t open = 0, length;
	/* Signal handlers read, too: no memory is allocated for them */
	uint64_t few[64], *numbers = few;

	for (struct fake_counter *other = fake__counters_on(counter->cpu); other;
	     other = other->there.next) {
		open++;
		if ((other == counter || (group && other->leader == counter->leader)) &&
		    other->error_state)
			return 0;
	}
	if (open * 3 + 4 > sizeof few / sizeof few[0])
		numbers = malloc((open * 3 + 4) * sizeof(*numbers));
	if (!numbers)
		abort();
	length = fake__counter_numbers(counter, numbers) * sizeof(*numbers);
	if (length <= size_bytes)
		memcpy(buffer, numbers, length);
	if (numbers != few)
		free(numbers);
	return length <= size_bytes ? (ssize_t)length : -ENOSPC;
}

static int switch_on(struct fake_counter *counter, bool on, bool whole_group)
{
	for (struct fake_counter *other = fake__counters_on(counter->cpu); other;
	     other = other->there.next)
		if (other == counter || (whole_group && other->leader == counter->leader))
			other->enabled = on;
	return 0;
}

int fake__ioctl(int fd, unsigned long request, unsigned long argument)
{
	struct fake_counter *counter;
	int error = 0;

	if (fake__enter(FAKE_IOCTL))
		return -1;
	counter = fake__fd(fd) ? fake__fd(fd)->counter : NULL;
	/* So a file is told from a counter that had its number. */
	if (!counter && fake__fd(fd) && request == PERF_EVENT_IOC_ID)
		return fake__fail(ENOTTY);
	if (!counter) {
		fake__violation("ioctl(%d): not a counter", fd);
		return fake__fail(EBADF);
	}
	if (request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE) {
		switch_on(counter, request == PERF_EVENT_IOC_ENABLE,
		          argument & PERF_IOC_FLAG_GROUP);
	} else if (request == PERF_EVENT_IOC_RESET) {
		resets++;
		counter->count = 0;
	} else if (request == PERF_EVENT_IOC_SET_OUTPUT) {
		error = !fake__fd((int)argument) || !fake__fd((int)argument)->counter ? EBADF : 0;
	} else if (request == PERF_EVENT_IOC_ID) {
		memcpy((void *)argument, &counter->id, sizeof(counter->id));
	} else if (request == PERF_EVENT_IOC_SET_FILTER) {
		error = fake__set_filter(counter, (const char *)argument);
	} else if (request == PERF_EVENT_IOC_SET_BPF) {
		error = fake__set_bpf(counter, (int)argument);
	} else {
		error = ENOTTY;
	}
	if (error)
		return fake__fail(error);
	fake__unlock();
	return 0;
}

void fake__counters_cpu_off(int cpu)
{
	/* As Linux: a group on a CPU that goes offline falls apart, and its members are off. */
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next) {
		if (counter->cpu != cpu || counter->task)
			continue;
		counter->leader = counter;
		counter->enabled = false;
	}
}

static bool is_event(const struct fake_counter *counter, uint32_t type, uint64_t config)
{
	return counter->attr.type == type && counter->attr.config == config;
}

static void advance(struct fake_counter *counter, uint64_t amount)
{
	if (fake__counter_is_counting(counter) && is_there(counter) &&
	    fake__pmu_counts(&counter->attr))
		counter->count += amount;
}

void fake_advance(uint32_t type, uint64_t config, uint64_t amount)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next)
		if (is_event(counter, type, config))
			advance(counter, amount);
	fake__unlock();
}

void fake_advance_on(uint32_t type, uint64_t config, pid_t tid, int cpu, uint64_t amount)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_on(cpu); counter;
	     counter = counter->there.next)
		if (is_event(counter, type, config) &&
		    (counter->task ? counter->task->tid : -1) == tid)
			advance(counter, amount);
	fake__unlock();
}

void fake_set_count(uint32_t type, uint64_t config, uint64_t count)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next)
		if (is_event(counter, type, config))
			counter->count = count;
	fake__unlock();
}

void fake_run(uint64_t enabled_ns, uint64_t running_ns)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next) {
		if (!is_on(counter) ||
		    (counter->task && (counter->task->ended || counter->task->threads_left)))
			continue;
		counter->enabled_ns += enabled_ns;
		if (is_there(counter) && !counter->leader->waiting)
			counter->running_ns += running_ns;
	}
	fake__unlock();
}

void fake_set_waiting(uint32_t type, uint64_t config, bool on)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next)
		if (is_event(counter, type, config))
			counter->leader->waiting = on;
	fake__unlock();
}

void fake_set_error_state_on(uint32_t type, uint64_t config, int cpu, bool on)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next)
		if (is_event(counter, type, config) && (cpu < 0 || counter->cpu == cpu))
			counter->error_state = on;
	fake__unlock();
}

void fake_set_error_state(uint32_t type, uint64_t config, bool on)
{
	fake_set_error_state_on(type, config, -1, on);
}

void fake_task_exec(pid_t tid)
{
	fake__lock();
	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next) {
		if (!counter->task || counter->task->tid != tid || !counter->attr.enable_on_exec)
			continue;
		counter->enabled = true;
		counter->attr.enable_on_exec = 0;
	}
	fake__unlock();
}

void fake_remove_cgroup(void)
{
	fake__lock();
	is_cgroup_removed = true;
	fake__unlock();
}

unsigned fake_count_resets(void)
{
	return resets;
}
