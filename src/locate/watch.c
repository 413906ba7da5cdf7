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

int ps__watch_open(struct ps__watch *watch, pid_t tid)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof attr,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
	    .sample_id_all = 1,
	    .context_switch = 1,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	};
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	int fd = ps__os.perf_event_open(&attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	size_t size_bytes = (1 + RING_PAGES) * page_bytes;
	void *page = ps__os.mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		int error = errno;
		ps__os.close(fd);
		return -error;
	}
	*watch = (struct ps__watch){
	    .fd = fd, .page = page, .data_offset = page_bytes, .data_bytes = RING_PAGES * page_bytes};
	return 0;
}

void ps__watch_close(struct ps__watch *watch, bool abandon)
{
	if (watch->fd < 0)
		return;
	ps__os.munmap(watch->page, watch->data_offset + watch->data_bytes);
	if (!abandon)
		ps__os.close(watch->fd);
	watch->fd = -1;
	watch->page = NULL;
}

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

bool ps__watch_drain(struct ps__watch *watch, void (*visit)(int cpu, void *context), void *context)
{
	uint64_t head = __atomic_load_n(&watch->page->data_head, __ATOMIC_ACQUIRE);
	/* A ring that is all but full has had no room for the next record: the kernel tells of a loss only later. */
	bool complete = head - watch->seen + 2 * sizeof(struct switch_record) <= watch->data_bytes;

	while (watch->seen < head) {
		struct switch_record record = {0};
		copy_out(watch, watch->seen, &record.header, sizeof record.header);
		if (record.header.size < sizeof record.header || record.header.size > head - watch->seen) {
			complete = false;
			watch->seen = head;
			break;
		}
		if (record.header.type == PERF_RECORD_SWITCH && record.header.size == sizeof record) {
			copy_out(watch, watch->seen, &record, sizeof record);
			visit((int)record.cpu, context);
		} else {
			complete = false;
		}
		watch->seen += record.header.size;
	}
	/* Pairs with the kernel's look at data_tail before it overwrites what was read here. */
	__atomic_store_n(&watch->page->data_tail, watch->seen, __ATOMIC_RELEASE);
	return complete;
}
