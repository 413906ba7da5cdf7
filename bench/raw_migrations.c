/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Migration records. The kernel writes one when the task is switched in on its new CPU: what the record counts happened
 * on the CPU before.
 */
#include "raw_migrations.h"

#include "harness.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_PAGES 4u

/* A sample as asked for: header, time, CPU, and what a read of the group gives. */
struct record {
	struct perf_event_header header;
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t read[3 + 1 + BENCH_MOST_EVENTS];
};

static int open_event(struct perf_event_attr *attr, int leader)
{
	attr->read_format = BENCH_FULL_FORMAT;
	attr->disabled = leader < 0;
	/* A group has one clock. */
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_leader(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof attr,
	    .config = PERF_COUNT_SW_CPU_MIGRATIONS,
	    .sample_period = 1,
	    .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
	};

	return open_event(&attr, -1);
}

static int open_members(struct raw_migrations *migrations, int count)
{
	for (int index = 0; index < count; index++) {
		struct perf_event_attr attr;
		bench_event_attr(index, &attr);
		int fd = open_event(&attr, migrations->fds[0]);
		if (fd < 0)
			return fd;
		migrations->fds[1 + index] = fd;
		migrations->count++;
	}
	return 0;
}

int raw_migrations_open(struct raw_migrations *migrations, int count)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	migrations->count = 0;
	migrations->seen = 0;
	migrations->lost = false;
	memset(migrations->credited, 0, sizeof migrations->credited);
	migrations->ring_bytes = RING_PAGES * page_bytes;
	migrations->fds[0] = open_leader();
	if (migrations->fds[0] < 0)
		return migrations->fds[0];
	int error = open_members(migrations, count);
	if (error < 0)
		goto close_events;
	migrations->page = mmap(NULL, page_bytes + migrations->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
	                        migrations->fds[0], 0);
	error = -errno;
	if (migrations->page == MAP_FAILED)
		goto close_events;
	migrations->cpu = sched_getcpu();
	if (ioctl(migrations->fds[0], PERF_EVENT_IOC_ENABLE, 0) < 0)
		bench_die("PERF_EVENT_IOC_ENABLE: %s", strerror(errno));
	return 0;
close_events:
	for (int index = migrations->count; index >= 0; index--)
		close(migrations->fds[index]);
	return error;
}

void raw_migrations_close(struct raw_migrations *migrations)
{
	munmap(migrations->page, (size_t)sysconf(_SC_PAGESIZE) + migrations->ring_bytes);
	for (int index = migrations->count; index >= 0; index--)
		close(migrations->fds[index]);
}

/* read: nr, enabled, running, the leader's value and id, then the events'. */
static void credit(struct raw_migrations *migrations, const uint64_t *read)
{
	int cpu = migrations->cpu < MIGRATIONS_MOST_CPUS ? migrations->cpu : 0;

	for (int index = 0; index < migrations->count; index++) {
		uint64_t total = read[3 + 1 + index];
		migrations->split[cpu][index] += total - migrations->credited[index];
		migrations->credited[index] = total;
	}
}

static void copy_out(const struct raw_migrations *migrations, void *out, size_t size_bytes)
{
	const char *data = (const char *)migrations->page + sysconf(_SC_PAGESIZE);
	size_t offset = (size_t)(migrations->seen & (migrations->ring_bytes - 1));
	size_t first = migrations->ring_bytes - offset;

	if (first > size_bytes)
		first = size_bytes;
	memcpy(out, data + offset, first);
	memcpy((char *)out + first, data, size_bytes - first);
}

static void drain(struct raw_migrations *migrations, uint64_t head)
{
	struct perf_event_mmap_page *page = migrations->page;

	while (migrations->seen < head) {
		struct record record;
		copy_out(migrations, &record, sizeof record.header);
		if (record.header.type == PERF_RECORD_SAMPLE && record.header.size <= sizeof record) {
			copy_out(migrations, &record, record.header.size);
			credit(migrations, record.read);
			migrations->cpu = (int)record.cpu;
		} else {
			migrations->lost = true;
		}
		migrations->seen += record.header.size;
	}
	/* Pairs with the kernel's look at data_tail before it writes over what was read here. */
	__atomic_store_n(&page->data_tail, migrations->seen, __ATOMIC_RELEASE);
}

void raw_migrations_read(struct raw_migrations *migrations)
{
	struct perf_event_mmap_page *page = migrations->page;
	uint64_t head;

	/* A migration between the read and the look at the ring is followed. */
	do {
		head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
		if (head != migrations->seen)
			drain(migrations, head);
		if (read(migrations->fds[0], migrations->buffer, sizeof migrations->buffer) <= 0)
			bench_die("read of the group of migrations: %s", strerror(errno));
	} while (__atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) != head);
	credit(migrations, migrations->buffer);
}
