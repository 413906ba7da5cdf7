/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens one event: fills in its attr, and falls back to user space if no more is permitted. */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"
#include "event/attr.h"

#include <errno.h>
#include <string.h>

/* Asks for the records that perf_execs.c needs. */
void ps__perf_watch_execs(struct perf_event_attr *attr)
{
	attr->task = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->mmap = 1;
	attr->sample_id_all = 1;
	attr->sample_type |= PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
}

/* Sets the clock, so that records can be compared with times of CLOCK_MONOTONIC. All members of a
 * group must have the same clock. */
static void set_clock(struct perf_event_attr *attr)
{
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
}

int ps__perf_ask_attr_size(void)
{
	/* The largest struct that any kernel accepts. Its last byte is set; no kernel has a field
	 * there. */
	union {
		struct perf_event_attr attr;
		unsigned char bytes[4096];
	} large = {.attr = {.type = PERF_TYPE_SOFTWARE,
	                    .config = PERF_COUNT_SW_DUMMY,
	                    .size = sizeof large,
	                    .exclude_kernel = 1}};

	large.bytes[sizeof large - 1] = 1;
	int fd = ps__os_open_event(&large.attr, 0, -1, -1, 0);
	if (fd >= 0)
		ps__os.close(fd);
	if (fd != -E2BIG || large.attr.size == sizeof large)
		return fd < 0 ? fd : -EPROTO;
	return (int)large.attr.size;
}

uint32_t ps__perf_kernel_attr_size(void)
{
	int size_bytes = ps__perf_ask_attr_size();

	return size_bytes > 0 ? (uint32_t)size_bytes : (uint32_t)sizeof(union ps__attr);
}

/* Sets the attr for the PMU of one kind of cores, or that of a dummy that stands in. */
static void event_specialise(struct ps__event *event, struct ps__place place)
{
	struct perf_event_attr *attr = &event->attr;

	if (place.stands_in) {
		*attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
		                                 .config = PERF_COUNT_SW_DUMMY,
		                                 .exclude_kernel = 1,
		                                 .exclude_hv = 1};
		memset(event->later, 0, sizeof event->later);
		return;
	}
	for (size_t index = 0; index < event->variant_count; index++) {
		const struct ps__variant *variant = &event->variants[index];
		if (variant->pmu_type != place.pmu_type)
			continue;
		attr->type = variant->type;
		attr->config = variant->config;
		attr->config1 = variant->config1;
		attr->config2 = variant->config2;
		memcpy(event->later, variant->later, sizeof event->later);
	}
}

/* Attaches the event's program. The kernel takes a program once for all events of a tracepoint, and
 * detaches it with the descriptor that took it. EEXIST means that a descriptor has the program
 * already. If that is another set's, the program could end before this set does. */
static int attach_bpf(int fd, struct ps__event_control *control)
{
	if (!control->has_bpf)
		return 0;
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_SET_BPF, (unsigned long)control->bpf_fd) == 0)
		control->is_attached = true;
	else if (errno != EEXIST || !control->is_attached)
		return -errno;
	return 0;
}

static int control_event(int fd, struct ps__event *event)
{
	struct ps__event_control *control = &event->control;

	if (control->filter &&
	    ps__os.ioctl(fd, PERF_EVENT_IOC_SET_FILTER, (unsigned long)control->filter) < 0)
		return -errno;
	return attach_bpf(fd, control);
}

/* Sets the fields that are the same for all events of a set. */
static void set_up_member(struct perf_event_attr *attr, struct ps__place place, int group_fd)
{
	attr->read_format = PS__READ_FORMAT;
	/* A member counts when its leader does, so one ioctl on the leader starts and stops all of
	 * them. */
	attr->disabled = group_fd < 0 && !place.counts_at_once;
	/* Only a leader can be pinned: the group is on the hardware, or in the error state, as a
	 * whole. */
	attr->pinned = attr->pinned && group_fd < 0;
	attr->exclusive = attr->exclusive && group_fd < 0;
	attr->inherit = place.inherit;
	attr->enable_on_exec = place.enables_on_exec && group_fd < 0;
	/* When the kernel swaps the events of two tasks at a context switch, each task keeps its
	 * own counts. */
	attr->inherit_stat = place.tells_tasks;
	if (place.watches_execs || place.tells_tasks)
		set_clock(attr);
	if (place.watches_execs && group_fd < 0)
		ps__perf_watch_execs(attr);
}

int ps__perf_open_event(struct ps__event *event, struct ps__place place, int group_fd)
{
	struct ps__event special = *event;

	if (event->variant_count || place.stands_in)
		event_specialise(&special, place);
	union ps__attr whole = ps__attr_of(&special);
	struct perf_event_attr *attr = &whole.attr;

	if (!place.as_asked)
		set_up_member(attr, place, group_fd);
	uint64_t config1 = attr->config1;
	if (event->klass == PS__EVENT_CLASS_CORE)
		attr->config1 |= place.user_config1;
	unsigned long flags = place.is_cgroup ? PERF_FLAG_PID_CGROUP : 0;
	int fd = ps__os_open_event(attr, place.pid, place.cpu, group_fd, flags);
	/* An event that takes two counters for its 64 bits can't be read in user space. */
	if (fd == -EOPNOTSUPP && attr->config1 != config1) {
		attr->config1 = config1;
		fd = ps__os_open_event(attr, place.pid, place.cpu, group_fd, flags);
	}
	int error = fd < 0 || place.stands_in ? 0 : control_event(fd, event);
	if (error == 0)
		return fd;
	ps__os.close(fd);
	return error;
}

int ps__perf_open_witness(const struct ps__perf *perf, struct ps__place place,
                          struct ps__group *group)
{
	struct ps__member *witness = &group->members[group->count];

	place.stands_in = true;
	int fd = ps__perf_open_event(&perf->events[group->members[0].event], place,
	                             group->members[0].fd);
	*witness = (struct ps__member){.fd = fd, .id = fd < 0 ? 0 : ps__os_event_id(fd)};
	return fd;
}

/* True if the event may be restricted to user space when the kernel may not be counted. */
static bool can_fall_back(const struct ps__event *event)
{
	return !event->explicit_domain && !event->attr.exclude_kernel && !event->kernel_side;
}

int ps__perf_open_settled(struct ps__event *event, struct ps__place place, int group_fd)
{
	int fd = ps__perf_open_event(event, place, group_fd);

	if (fd != -EACCES || !can_fall_back(event))
		return fd;
	struct ps__event limited = *event;
	limited.attr.exclude_kernel = 1;
	limited.attr.exclude_hv = 1;
	int limited_fd = ps__perf_open_event(&limited, place, group_fd);
	/* EINVAL: the PMU can't tell user space from the kernel (msr), so the permission is
	 * missing. For a sampler's event, any of its fields may be the reason. */
	if (limited_fd < 0)
		return limited_fd == -EINVAL && !place.as_asked ? -EACCES : limited_fd;
	event->control.is_attached = limited.control.is_attached;
	event->attr = limited.attr;
	event->user_only = place.as_asked || !ps__event_is_clock(&limited.attr);
	return limited_fd;
}
