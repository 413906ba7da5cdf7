/* SPDX-License-Identifier: BSD-3-Clause */
/* Context-switch records of a task, from a mapped ring. The set opens one for each task whose place matters. */
#include "locate/watch.h"

#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A power of two: some 340 context switches between two readings. Locked memory is limited for each user, and a team
 * has as many rings as threads. */
#define RING_PAGES 4

/* A switch record: its header, then the identity that sample_id_all asks for. */
struct switch_record {
	struct perf_event_header header;
	uint64_t time_ns;
	uint32_t cpu;
	uint32_t reserved;
};

/* The largest of those that the kernel writes here: fork and exit. */
#define LARGEST_RECORD 64

/* Bytes out of the ring, which may wrap anywhere. */
static void copy_out(const struct ps__watch *watch, uint64_t position, void *out, size_t size_bytes)
{
	const char *data = (const char *)watch->page + watch->data_offset;
	size_t offset = (size_t)(position & (watch->data_bytes - 1));
	size_t first = watch->data_bytes - offset;

	if (first > size_bytes)
		first = size_bytes;
	memcpy(out, data + offset, first);
	memcpy((char *)out + first, data, size_bytes - first);
}

/* What one record tells. False if it leaves open where the task has been. */
static bool look_at(struct ps__watch *watch, const struct perf_event_header *header,
                    void (*visit)(int cpu, void *context), void *context)
{
	struct switch_record record;

	switch (header->type) {
	case PERF_RECORD_SWITCH:
		if (header->size != sizeof record)
			return false;
		copy_out(watch, watch->seen, &record, sizeof record);
		visit((int)record.cpu, context);
		return true;
	case PERF_RECORD_FORK:
		return true;
	case PERF_RECORD_EXIT:
		/* A task is not always switched out once more after its events were taken from it. */
		watch->has_ended = true;
		return false;
	default:
		return false;
	}
}

bool ps__watch_drain(struct ps__watch *watch, void (*visit)(int cpu, void *context), void *context)
{
	uint64_t head = __atomic_load_n(&watch->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = watch->seen;
	bool complete = true;

	while (watch->seen < head) {
		struct perf_event_header header;
		copy_out(watch, watch->seen, &header, sizeof header);
		if (header.size < sizeof header || header.size > head - watch->seen) {
			complete = false;
			watch->seen = head;
			break;
		}
		complete = look_at(watch, &header, visit, context) && complete;
		watch->seen += header.size;
	}
	/* Pairs with the kernel's look at data_tail before it overwrites what was read here. */
	__atomic_store_n(&watch->page->data_tail, watch->seen, __ATOMIC_SEQ_CST);
	/* If the ring was all but full at any time before that store, the next record found no room: the kernel tells of
	 * a loss only later. */
	head = __atomic_load_n(&watch->page->data_head, __ATOMIC_SEQ_CST);
	return complete && head - tail + LARGEST_RECORD <= watch->data_bytes;
}

static void ignore_cpu(int cpu, void *context)
{
	(void)cpu;
	(void)context;
}

/* The ring and the code that reads it are faulted in now, and not in the midst of what the user measures. */
static void rehearse(struct ps__watch *watch)
{
	const volatile char *data = (const volatile char *)watch->page + watch->data_offset;

	for (size_t offset = 0; offset < watch->data_bytes; offset += watch->data_offset)
		(void)data[offset];
	ps__watch_drain(watch, ignore_cpu, NULL);
}

/* What both events are: they count nothing. */
static struct perf_event_attr make_attr(void)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
	                                .size = sizeof(struct perf_event_attr),
	                                .config = PERF_COUNT_SW_DUMMY,
	                                .exclude_kernel = 1,
	                                .exclude_hv = 1};
}

static int map_ring(struct ps__watch *watch, int fd)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	size_t size_bytes = (1 + RING_PAGES) * page_bytes;
	void *page = ps__os.mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	*watch = (struct ps__watch){
	    .fd = fd, .page = page, .data_offset = page_bytes, .data_bytes = RING_PAGES * page_bytes, .home_fd = -1};
	return 0;
}

static int open_ring(struct ps__watch *watch, pid_t tid)
{
	struct perf_event_attr attr = make_attr();

	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr.sample_id_all = 1;
	attr.context_switch = 1;
	attr.task = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	int fd = ps__os.perf_event_open(&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	int result = map_ring(watch, fd);
	if (result < 0)
		ps__os.close(fd);
	else
		rehearse(watch);
	return result;
}

/* The time in which an event of one CPU is enabled but not running is the time in which its task was on others. */
static int open_home(struct ps__watch *watch, pid_t tid, int home)
{
	struct perf_event_attr attr = make_attr();

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	watch->home_fd = ps__os.perf_event_open(&attr, tid, home, -1, PERF_FLAG_FD_CLOEXEC);
	return watch->home_fd < 0 ? -errno : 0;
}

int ps__watch_open(struct ps__watch *watch, pid_t tid, int home)
{
	int result = open_ring(watch, tid);

	if (result < 0 || home < 0)
		return result;
	result = open_home(watch, tid, home);
	if (result < 0)
		ps__watch_close(watch, false);
	return result;
}

bool ps__watch_was_away(struct ps__watch *watch)
{
	uint64_t times[3]; /* value, enabled, running */
	uint64_t before = watch->away_ns;

	if (watch->home_fd < 0 || ps__os.read(watch->home_fd, times, sizeof times) != (ssize_t)sizeof times)
		return true;
	watch->away_ns = times[1] - times[2];
	return watch->away_ns != before;
}

void ps__watch_close(struct ps__watch *watch, bool abandon)
{
	if (watch->fd < 0)
		return;
	/* The kernel gives a forked child no copy of the ring: what is mapped there by now is the child's own. */
	if (!abandon) {
		ps__os.munmap(watch->page, watch->data_offset + watch->data_bytes);
		ps__os.close(watch->fd);
	}
	if (!abandon && watch->home_fd >= 0)
		ps__os.close(watch->home_fd);
	watch->fd = -1;
	watch->home_fd = -1;
	watch->page = NULL;
}
