/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's rings: an event with context_switch writes a record when its task is switched
 * in or out, as Linux does, one of migrations a sample when it is switched in on another CPU; and
 * they tell of those for which the ring had no room.
 */
#include "fake_internal.h"

#include <linux/perf_event.h>
#include <string.h>

/* A record being put together: a header and numbers. */
struct record {
	struct perf_event_header header;
	uint64_t words[512];
	size_t count;
};

/* A record of other kinds is all that there is to it, but for its identity if sample_id_all appends
 * one, in the kernel's order; of the fields that a sample may have it is the same one, in the same
 * order. */
static void add_identity(struct record *record, const struct fake_counter *counter,
                         const struct fake_task *task)
{
	bool has_identity =
	    counter->attr.sample_id_all || record->header.type == PERF_RECORD_SAMPLE;
	uint64_t type = has_identity ? counter->attr.sample_type : 0;
	uint32_t pair[2] = {(uint32_t)task->tid, (uint32_t)task->tid};

	if (type & PERF_SAMPLE_TID)
		memcpy(&record->words[record->count++], pair, sizeof(pair));
	if (type & PERF_SAMPLE_TIME)
		record->words[record->count++] = fake__clock_ns();
	if (type & PERF_SAMPLE_ID)
		record->words[record->count++] = counter->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		record->words[record->count++] = counter->id;
	if (type & PERF_SAMPLE_CPU) {
		pair[0] = (uint32_t)task->cpu;
		pair[1] = 0;
		memcpy(&record->words[record->count++], pair, sizeof(pair));
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		record->words[record->count++] = counter->id;
	if (type & PERF_SAMPLE_READ && record->header.type == PERF_RECORD_SAMPLE)
		record->count += fake__counter_numbers(counter, record->words + record->count);
	record->header.size =
	    (uint16_t)(sizeof(record->header) + record->count * sizeof(record->words[0]));
}

/* False if there is no room. */
static bool put(struct fake_counter *counter, const struct record *record)
{
	struct perf_event_mmap_page *page = counter->ring;
	unsigned char *data = (unsigned char *)counter->ring + page->data_offset;
	/* Pairs with the reader's release of data_tail, after it has read what was there. */
	uint64_t tail = __atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE), head = page->data_head;
	unsigned char bytes[sizeof(struct record)];

	if (head + record->header.size - tail > counter->ring_bytes)
		return false;
	memcpy(bytes, &record->header, sizeof(record->header));
	memcpy(bytes + sizeof(record->header), record->words,
	       record->header.size - sizeof(record->header));
	for (size_t i = 0; i < record->header.size; i++)
		data[(head + i) % counter->ring_bytes] = bytes[i];
	/* Pairs with the reader's acquire of data_head. */
	__atomic_store_n(&page->data_head, head + record->header.size, __ATOMIC_RELEASE);
	return true;
}

bool fake__ring_put(struct fake_counter *counter, const struct perf_event_header *header,
                    const uint64_t *words)
{
	struct record record = {.header = *header};

	memcpy(record.words, words, header->size - sizeof(*header));
	return put(counter, &record);
}

/* Those for which there was no room before are told first. */
static void write_record(struct fake_counter *counter, const struct fake_task *task,
                         struct record *record)
{
	struct record lost = {.header = {.type = PERF_RECORD_LOST}, .count = 2};

	if (counter->losses.untold) {
		lost.words[0] = counter->id;
		lost.words[1] = counter->losses.untold;
		add_identity(&lost, counter, task);
		if (put(counter, &lost))
			counter->losses.untold = 0;
	}
	add_identity(record, counter, task);
	if (counter->losses.untold || !put(counter, record)) {
		counter->losses.untold++;
		counter->losses.total++;
	}
}

/* As Linux: an ended task's events are hung up; the others are readable when there is something. */
static short poll_counter(const struct fake_counter *counter)
{
	const struct perf_event_mmap_page *page = counter->ring;

	if (counter->poll_events)
		return counter->poll_events;
	if (counter->task && (counter->task->ended || counter->task->threads_left))
		return POLLHUP;
	return page && page->data_head != page->data_tail ? POLLIN : 0;
}

int fake__poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
	int ready = 0;

	if (fake__enter(FAKE_POLL))
		return -1;
	for (nfds_t i = 0; i < count; i++) {
		const struct fake_fd *fd = fake__fd(fds[i].fd);
		fds[i].revents = !fd               ? POLLNVAL
		                 : fd->pipe.is_end ? (fd->pipe.bytes ? POLLIN : 0)
		                 : fd->counter     ? poll_counter(fd->counter)
		                                   : POLLNVAL;
		ready += fds[i].revents != 0;
	}
	if (!ready && timeout_ms < 0)
		fake__violation("poll: it would never end");
	if (!ready)
		fake__clock_pass((uint64_t)timeout_ms * 1000000);
	fake__unlock();
	return ready;
}

typedef bool counter_wants(const struct fake_counter *counter);

/* Tells the counters that want it, and listen to the task where it is. */
static void tell(const struct fake_task *task, counter_wants *wants, const struct record *record)
{
	const int cpus[] = {-1, task->cpu};

	for (size_t i = 0; i < 2 && (i == 0 || cpus[i] >= 0); i++) {
		for (struct fake_counter *counter = fake__counters_on(cpus[i]); counter;
		     counter = counter->there.next) {
			struct record own = *record;
			if (counter->task == task && counter->ring && counter->enabled &&
			    wants(counter))
				write_record(counter, task, &own);
		}
	}
}

static bool wants_switches(const struct fake_counter *counter)
{
	return counter->attr.context_switch;
}

void fake__ring_switch(const struct fake_task *task, bool out)
{
	const struct record record = {
	    .header = {.type = PERF_RECORD_SWITCH, .misc = out ? PERF_RECORD_MISC_SWITCH_OUT : 0}};

	tell(task, wants_switches, &record);
}

/* One that is not on its CPU with its group, or is off, knows of nothing. */
static bool wants_migrations(const struct fake_counter *counter)
{
	return counter->attr.type == PERF_TYPE_SOFTWARE &&
	       counter->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS &&
	       counter->attr.sample_period == 1 && !counter->attr.exclude_kernel &&
	       fake__counter_is_counting(counter);
}

void fake__ring_migrate(const struct fake_task *task)
{
	const struct record record = {.header = {.type = PERF_RECORD_SAMPLE}};

	tell(task, wants_migrations, &record);
}

static bool wants_ends(const struct fake_counter *counter)
{
	return counter->attr.task;
}

/* As Linux has it: pid, ppid, tid, ptid, time. */
void fake__ring_exit(const struct fake_task *task)
{
	const uint64_t tid = (uint64_t)task->tid;
	const struct record record = {.header = {.type = PERF_RECORD_EXIT},
	                              .words = {tid, tid, fake__clock_ns()},
	                              .count = 3};

	tell(task, wants_ends, &record);
}
