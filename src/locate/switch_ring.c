/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells from a mapped ring where a task has run. The set opens one ring for each task whose CPU
 * matters. */
#include "locate/switch_ring.h"

#include "base/os.h"

#include <errno.h>
#include <string.h>

/* A power of two. Four pages hold some 340 context switches between two readings. Locked memory is
 * limited for each user, and a team has as many rings as threads. */
#define RING_PAGES 4

/* Migrations are rarer than switches, and a larger ring (perf_records.c) records each of them,
 * too. */
#define MIGRATION_PAGES 2

/* A switch record with the fields that sample_id_all adds. A sample of the same sample_type has the
 * same layout. */
struct switch_record {
	struct perf_event_header header;
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t reserved;
};

/* Bytes of the largest record that the kernel writes here: fork and exit. */
#define LARGEST_RECORD 64

/* One look at the ring. */
struct look {
	struct ps__switch_ring *switches;
	ps__switch_ring_visit *visit;
	void *context;
};

static bool switch_take_visit(const struct look *look, const struct ps__ring *ring,
                              const struct perf_event_header *header)
{
	struct switch_record record;

	if (header->size != sizeof record)
		return false;
	ps__ring_copy(ring, 0, &record, sizeof record);
	struct ps__visit visit = {.time_ns = record.time_ns,
	                          .cpu = (int)record.cpu,
	                          .is_out = header->type == PERF_RECORD_SWITCH &&
	                                    (header->misc & PERF_RECORD_MISC_SWITCH_OUT)};
	look->visit(&visit, look->context);
	return true;
}

/* Takes one record. Returns false if the record leaves uncertain where the task has been. */
static bool switch_take(const struct ps__ring *ring, const struct perf_event_header *header,
                        void *context)
{
	const struct look *look = context;

	switch (header->type) {
	case PERF_RECORD_SWITCH:
		return switch_take_visit(look, ring, header);
	case PERF_RECORD_SAMPLE:
		return look->switches->is_of_migrations && switch_take_visit(look, ring, header);
	case PERF_RECORD_FORK:
		return true;
	case PERF_RECORD_EXIT:
		/* The task's events were removed before this record. Afterwards the task is not
		 * counted, and a last switch may have no record. */
		look->switches->has_ended = true;
		return look->switches->is_of_migrations;
	default:
		return false;
	}
}

bool ps__switch_ring_drain(struct ps__switch_ring *switches, ps__switch_ring_visit *visit,
                           void *context)
{
	struct look look = {switches, visit, context};

	return ps__ring_drain(&switches->ring, LARGEST_RECORD, switch_take, &look);
}

static void switch_ignore(const struct ps__visit *visit, void *context)
{
	(void)visit;
	(void)context;
}

void ps__switch_ring_skip(struct ps__switch_ring *switches)
{
	ps__switch_ring_drain(switches, switch_ignore, NULL);
}

/* Makes an event that counts nothing, for both events of a pinned task: the ring's and the one on
 * its CPU. */
static struct perf_event_attr make_attr(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(struct perf_event_attr),
	                                .config = PERF_COUNT_SW_DUMMY,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1};
}

static int open_ring(struct ps__switch_ring *switches, pid_t tid, struct perf_event_attr *attr,
                     size_t pages)
{
	attr->sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->sample_id_all = 1;
	attr->task = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	int fd = ps__os_open_event(attr, tid, -1, -1, 0);
	if (fd < 0)
		return fd;
	struct ps__ring ring;
	int result = ps__ring_map(&ring, fd, pages);
	if (result < 0) {
		ps__os.close(fd);
		return result;
	}
	*switches = (struct ps__switch_ring){
	    .fd = fd, .id = ps__os_event_id(fd), .ring = ring, .home_fd = -1};
	switches->is_of_migrations = attr->config == PERF_COUNT_SW_CPU_MIGRATIONS;
	/* Faults the code in now, so that later drains cause no page faults in the user's
	 * counts. */
	ps__switch_ring_skip(switches);
	return 0;
}

/* Opens an event of the task on its one CPU. While the task is on another CPU, this event is
 * enabled but not running. */
static int open_home(struct ps__switch_ring *switches, pid_t tid, int home)
{
	struct perf_event_attr attr = make_attr();

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	int fd = ps__os_open_event(&attr, tid, home, -1, 0);
	if (fd < 0)
		return fd;
	switches->home_fd = fd;
	switches->home_id = ps__os_event_id(fd);
	return 0;
}

int ps__switch_ring_open(struct ps__switch_ring *switches, pid_t tid, int home)
{
	struct perf_event_attr attr = make_attr();

	attr.context_switch = 1;
	int result = open_ring(switches, tid, &attr, RING_PAGES);
	if (result < 0 || home < 0)
		return result;
	result = open_home(switches, tid, home);
	if (result < 0)
		ps__switch_ring_close(switches, false);
	return result;
}

int ps__switch_ring_open_migrations(struct ps__switch_ring *switches, pid_t tid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_CPU_MIGRATIONS,
	                               .sample_period = 1};

	return open_ring(switches, tid, &attr, MIGRATION_PAGES);
}

/* Reads value, enabled and running time of the event on the home CPU. */
static bool read_home(const struct ps__switch_ring *switches, uint64_t times[3])
{
	size_t bytes = 3 * sizeof *times;

	return switches->home_fd >= 0 && ps__os_is_event_of(switches->home_fd, switches->home_id) &&
	       ps__os.read(switches->home_fd, times, bytes) == (ssize_t)bytes;
}

bool ps__switch_ring_stayed_home(const struct ps__switch_ring *switches)
{
	uint64_t times[3];

	return read_home(switches, times) && times[1] == times[2];
}

bool ps__switch_ring_was_away(struct ps__switch_ring *switches)
{
	uint64_t before = switches->away_ns, times[3];

	if (!read_home(switches, times))
		return true;
	switches->away_ns = times[1] - times[2];
	return switches->away_ns != before;
}

void ps__switch_ring_close(struct ps__switch_ring *switches, bool abandon)
{
	if (switches->fd < 0)
		return;
	ps__ring_unmap(&switches->ring, abandon);
	ps__os_close_event(switches->fd, switches->id, abandon);
	ps__os_close_event(switches->home_fd, switches->home_id, abandon);
	switches->fd = -1;
	switches->home_fd = -1;
}
