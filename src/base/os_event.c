/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes descriptors of events, and tells them from other files that the program opened
 * under their numbers. */
#include "base/os.h"

#include <errno.h>
#include <linux/perf_event.h>

int ps__os_open_event(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                      unsigned long flags)
{
	int fd;

	do {
		fd = ps__os.perf_event_open(attr, pid, cpu, group_fd, PERF_FLAG_FD_CLOEXEC | flags);
	} while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

/* False for the errors by which other files refuse PERF_EVENT_IOC_ID. Other errors come from an
 * event, for example one that the kernel revoked, or from a filter of system calls. */
static bool may_be_event(int error)
{
	static const int of_others[] = {EBADF, EBADFD, ENOTTY, EINVAL, ENXIO, EOPNOTSUPP};

	for (size_t index = 0; index < sizeof of_others / sizeof of_others[0]; index++) {
		if (error == of_others[index])
			return false;
	}
	return true;
}

bool ps__os_is_event(int fd)
{
	uint64_t id;

	return ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&id) >= 0 || may_be_event(errno);
}

bool ps__os_is_event_of(int fd, uint64_t id)
{
	uint64_t found = id;

	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&found) >= 0)
		return id == 0 || found == id;
	return may_be_event(errno);
}

void ps__os_close_event_of(int fd, uint64_t id)
{
	if (fd >= 0 && ps__os_is_event_of(fd, id))
		ps__os.close(fd);
}

uint64_t ps__os_event_id(int fd)
{
	uint64_t id = 0;

	return ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&id) >= 0 ? id : 0;
}

void ps__os_close_event(int fd, uint64_t id, bool is_copied)
{
	uint64_t found = id;

	if (fd < 0)
		return;
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&found) >= 0
	        ? id == 0 || found == id
	        : !is_copied && may_be_event(errno))
		ps__os.close(fd);
}
