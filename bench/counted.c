/* SPDX-License-Identifier: BSD-3-Clause */
/* Software events, as perfsage's sets and as raw groups. */
#include "counted.h"

#include "harness.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Events that an unprivileged user may count. The two clocks come last, as they cost more to
 * read. */
static const struct {
	const char *name;
	uint64_t config;
} events[BENCH_MOST_EVENTS] = {
    {"page-faults:u", PERF_COUNT_SW_PAGE_FAULTS},
    {"minor-faults:u", PERF_COUNT_SW_PAGE_FAULTS_MIN},
    {"major-faults:u", PERF_COUNT_SW_PAGE_FAULTS_MAJ},
    {"alignment-faults:u", PERF_COUNT_SW_ALIGNMENT_FAULTS},
    {"emulation-faults:u", PERF_COUNT_SW_EMULATION_FAULTS},
    {"dummy:u", PERF_COUNT_SW_DUMMY},
    {"task-clock:u", PERF_COUNT_SW_TASK_CLOCK},
    {"cpu-clock:u", PERF_COUNT_SW_CPU_CLOCK},
};

const char *bench_event_name(int index)
{
	return events[index].name;
}

void bench_event_attr(int index, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof *attr,
	    .config = events[index].config,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	};
}

struct ps_eventset *bench_make_set(int count)
{
	struct ps_eventset *set;

	bench_expect_ok(ps_eventset_create(&set), "ps_eventset_create");
	for (int index = 0; index < count; index++)
		bench_expect_ok(ps_eventset_add(set, events[index].name), "ps_eventset_add");
	return set;
}

void bench_raw_open(struct bench_raw *raw, int count, pid_t tid, uint64_t read_format)
{
	raw->count = count;
	for (int index = 0; index < count; index++) {
		struct perf_event_attr attr;
		bench_event_attr(index, &attr);
		attr.read_format = read_format;
		attr.disabled = index == 0;
		raw->fds[index] = (int)syscall(SYS_perf_event_open, &attr, tid, -1,
		                               index ? raw->fds[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (raw->fds[index] < 0)
			bench_die("perf_event_open of '%s': %s", events[index].name,
			          strerror(errno));
	}
	if (ioctl(raw->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0)
		bench_die("PERF_EVENT_IOC_ENABLE: %s", strerror(errno));
}

void bench_raw_close(struct bench_raw *raw)
{
	for (int index = raw->count; index-- > 0;)
		close(raw->fds[index]);
	raw->count = 0;
}

void bench_read_floor(struct bench_floor *floor)
{
	_Atomic uint64_t *row = floor->ring[floor->next];
	struct timespec now;
	uint64_t cpu = (uint64_t)sched_getcpu();

	clock_gettime(CLOCK_MONOTONIC, &now);
	bench_raw_read(floor->raw);
	floor->next = floor->next + 1 < floor->rows ? floor->next + 1 : 0;
	atomic_store_explicit(&row[1], cpu, memory_order_relaxed);
	atomic_store_explicit(&row[2], floor->raw->buffer[1], memory_order_relaxed);
	atomic_store_explicit(&row[3], floor->raw->buffer[2], memory_order_relaxed);
	for (int event = 0; event < floor->raw->count; event++)
		atomic_store_explicit(&row[4 + event], floor->raw->buffer[3 + event],
		                      memory_order_relaxed);
	/* Pairs with the acquire load of a concurrent reader; this benchmark has none. */
	atomic_store_explicit(&row[0], (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
	                      memory_order_release);
}

void bench_raw_read(struct bench_raw *raw)
{
	if (read(raw->fds[0], raw->buffer, sizeof raw->buffer) <= 0)
		bench_die("read of a group: %s", strerror(errno));
}
