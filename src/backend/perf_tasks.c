/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software threads of a process told apart. An event with inherit_stat writes what a task has counted when that ends
 * (PERF_RECORD_READ), for each CPU that it was opened on: so nothing is missed, however short a task lives. The
 * records come by a ring for each CPU, which the set empties now and then.
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A power of two; of the 129 pages that a user may lock for each CPU by default. Room for the ends of some 300 tasks. */
#define RING_PAGES 32

/* Longer ones are none of those that are asked for: 2045 members take 32 KiB. */
#define LARGEST_RECORD 40000

struct ring {
	struct perf_event_mmap_page *page;
	size_t data_offset;
	size_t data_bytes;
	uint64_t seen; /* up to here records were taken */
	uint64_t head; /* and up to here they can be */
};

/* Which event an id of the kernel's belongs to. */
struct identity {
	uint64_t id;
	size_t lane;
	const struct ps__group *group;
	size_t place; /* in the group */
};

struct ps__perf_tasks {
	struct ring *rings; /* one for each CPU of the lanes */
	size_t ring_count;
	struct identity *identities; /* by rising id */
	size_t identity_count;
	uint64_t *record; /* the one being looked at */
};

/* What sample_id_all appends to each record, as asked for below. */
struct trailer {
	uint64_t time;
	uint64_t id;
};

void ps__perf_ask_for_tasks(struct perf_event_attr *attr, bool is_leader)
{
	attr->inherit_stat = 1;
	attr->sample_id_all = 1;
	attr->sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	/* A member's record may hold its own count or its leader's, by kernels. A leader's holds all in their order. */
	if (!is_leader)
		attr->read_format |= PERF_FORMAT_ID;
	attr->task = is_leader;
	attr->comm = is_leader;
}

static int compare_identities(const void *one, const void *other)
{
	uint64_t a = ((const struct identity *)one)->id;
	uint64_t b = ((const struct identity *)other)->id;

	return (a > b) - (a < b);
}

static const struct identity *find_identity(const struct ps__perf_tasks *tasks, uint64_t id)
{
	struct identity key = {.id = id};

	return bsearch(&key, tasks->identities, tasks->identity_count, sizeof key, compare_identities);
}

static int map_ring(struct ring *ring, int fd)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = ps__os.mmap(NULL, (1 + RING_PAGES) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return ps__fail(PS_ESYS,
		                "the tasks of a process can't be told apart: mapping a ring of %zu KiB: %s; see "
		                "kernel.perf_event_mlock_kb and ulimit -l",
		                RING_PAGES * page_bytes / 1024, strerror(errno));
	*ring =
	    (struct ring){.page = page, .data_offset = page_bytes, .data_bytes = RING_PAGES * page_bytes, .seen = 0};
	return PS_OK;
}

/* A descriptor's records go to the ring of its CPU. */
static int connect_member(struct ps__perf *perf, size_t lane, const struct ps__group *group, size_t place)
{
	struct ps__perf_tasks *tasks = perf->tasks;
	int fd = group->members[place].fd;
	const char *name = perf->events[group->members[place].event].name;
	struct identity *identity = &tasks->identities[tasks->identity_count];
	int ring_fd = perf->lanes[lane % tasks->ring_count].groups[0].members[0].fd;

	*identity = (struct identity){.lane = lane, .group = group, .place = place};
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&identity->id) < 0)
		return ps__fail(PS_ESYS, "'%s': ioctl PERF_EVENT_IOC_ID: %s", name, strerror(errno));
	tasks->identity_count++;
	if (fd == ring_fd)
		return map_ring(&tasks->rings[lane], fd);
	if (ps__os.ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (unsigned long)ring_fd) < 0)
		return ps__fail(PS_ESYS, "'%s': ioctl PERF_EVENT_IOC_SET_OUTPUT: %s", name, strerror(errno));
	return PS_OK;
}

static int connect_lane(struct ps__perf *perf, size_t lane)
{
	int result = PS_OK;

	for (size_t index = 0; result == PS_OK && index < perf->base.groups; index++) {
		const struct ps__group *group = &perf->lanes[lane].groups[index];
		for (size_t place = 0; result == PS_OK && place < group->count; place++)
			result = connect_member(perf, lane, group, place);
	}
	return result;
}

int ps__perf_open_tasks(struct ps__perf *perf)
{
	struct ps__perf_tasks *tasks = ps__os_calloc(1, sizeof *tasks);
	int result = PS_OK;

	if (!tasks)
		return ps__fail_memory("the tasks of a process");
	perf->tasks = tasks;
	tasks->ring_count = perf->target.lane_count;
	tasks->rings = ps__os_calloc(tasks->ring_count, sizeof *tasks->rings);
	tasks->identities = ps__os_calloc(perf->base.lanes * perf->event_count, sizeof *tasks->identities);
	tasks->record = ps__os_calloc(1, LARGEST_RECORD);
	if (!tasks->rings || !tasks->identities || !tasks->record)
		result = ps__fail_memory("the tasks of a process");
	for (size_t lane = 0; result == PS_OK && lane < perf->base.lanes; lane++)
		result = connect_lane(perf, lane);
	if (result == PS_OK)
		qsort(tasks->identities, tasks->identity_count, sizeof *tasks->identities, compare_identities);
	return result;
}

void ps__perf_close_tasks(struct ps__perf *perf, bool abandon)
{
	struct ps__perf_tasks *tasks = perf->tasks;

	if (!tasks)
		return;
	for (size_t index = 0; !abandon && tasks->rings && index < tasks->ring_count; index++) {
		struct ring *ring = &tasks->rings[index];
		if (ring->page)
			ps__os.munmap(ring->page, ring->data_offset + ring->data_bytes);
	}
	ps__os_free(tasks->rings);
	ps__os_free(tasks->identities);
	ps__os_free(tasks->record);
	ps__os_free(tasks);
	perf->tasks = NULL;
}

/* Bytes out of the ring, which may wrap anywhere. */
static void copy_out(const struct ring *ring, uint64_t position, void *out, size_t size_bytes)
{
	const char *data = (const char *)ring->page + ring->data_offset;
	size_t offset = (size_t)(position & (ring->data_bytes - 1));
	size_t first = ring->data_bytes - offset;

	if (first > size_bytes)
		first = size_bytes;
	memcpy(out, data + offset, first);
	memcpy((char *)out + first, data, size_bytes - first);
}

/* The header of the ring's next record. False if there is none; what can't be a record ends the ring until later. */
static bool next_header(struct ring *ring, struct perf_event_header *header)
{
	if (ring->seen >= ring->head)
		return false;
	copy_out(ring, ring->seen, header, sizeof *header);
	if (header->size >= sizeof *header + sizeof(struct trailer) && header->size <= ring->head - ring->seen &&
	    header->size <= LARGEST_RECORD)
		return true;
	ring->seen = ring->head;
	return false;
}

static struct trailer trailer_of(const struct ring *ring, const struct perf_event_header *header)
{
	struct trailer trailer;

	copy_out(ring, ring->seen + header->size - sizeof trailer, &trailer, sizeof trailer);
	return trailer;
}

/* The ring whose next record is the oldest; NULL if all are empty. */
static struct ring *find_oldest(struct ps__perf_tasks *tasks)
{
	struct ring *oldest = NULL;
	uint64_t time = 0;

	for (size_t index = 0; index < tasks->ring_count; index++) {
		struct perf_event_header header;
		if (!next_header(&tasks->rings[index], &header))
			continue;
		uint64_t one = trailer_of(&tasks->rings[index], &header).time;
		if (oldest && one >= time)
			continue;
		oldest = &tasks->rings[index];
		time = one;
	}
	return oldest;
}

static void tell_count(const struct ps__task_news *about, const struct identity *identity, size_t place,
                       uint64_t count, ps__task_visit *visit, void *context)
{
	struct ps__task_news news = *about;

	if (place >= identity->group->count)
		return;
	news.kind = PS__TASK_COUNTED;
	news.lane = identity->lane;
	news.event = identity->group->members[place].event;
	news.count = count;
	visit(&news, context);
}

/* pid and tid; then how many, enabled, running, and the counts: a leader's in their order, a member's with ids. */
static void tell_counts(const struct ps__perf_tasks *tasks, const struct ps__task_news *about, size_t words,
                        uint64_t id, ps__task_visit *visit, void *context)
{
	const struct identity *writer = find_identity(tasks, id);
	const uint64_t *numbers = tasks->record + 1;

	if (!writer || words < 4)
		return;
	size_t stride = writer->place == 0 ? 1 : 2;
	for (size_t index = 0; index < numbers[0] && 3 + (index + 1) * stride <= words - 1; index++) {
		const uint64_t *entry = &numbers[3 + index * stride];
		const struct identity *identity = stride == 1 ? writer : find_identity(tasks, entry[1]);
		if (identity)
			tell_count(about, identity, stride == 1 ? index : identity->place, entry[0], visit, context);
	}
}

/* The record has been copied out, but for its header. */
static void tell(const struct ps__perf_tasks *tasks, const struct perf_event_header *header, uint64_t id,
                 ps__task_visit *visit, void *context)
{
	size_t words = (header->size - sizeof *header - sizeof(struct trailer)) / sizeof *tasks->record;
	uint32_t numbers[4] = {0};
	struct ps__task_news news = {.pid = 0};

	memcpy(numbers, tasks->record, words < 2 ? words * 8 : sizeof numbers);
	news.pid = (pid_t)numbers[0];
	news.tid = (pid_t)numbers[1];
	switch (header->type) {
	case PERF_RECORD_READ:
		tell_counts(tasks, &news, words, id, visit, context);
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: /* pid, ppid, tid, ptid */
		news.kind = header->type == PERF_RECORD_FORK ? PS__TASK_CREATED : PS__TASK_ENDED;
		news.tid = (pid_t)numbers[2];
		news.parent_tid = (pid_t)numbers[3];
		break;
	case PERF_RECORD_COMM:
		news.kind = PS__TASK_NAMED;
		strncpy(news.name, (const char *)(tasks->record + 1), sizeof news.name - 1);
		break;
	case PERF_RECORD_LOST: /* id, how many */
		news = (struct ps__task_news){.kind = PS__TASK_LOST, .count = words < 2 ? 1 : tasks->record[1]};
		break;
	default:
		return;
	}
	visit(&news, context);
}

static void take_record(struct ps__perf_tasks *tasks, struct ring *ring, ps__task_visit *visit, void *context)
{
	struct perf_event_header header;

	copy_out(ring, ring->seen, &header, sizeof header);
	struct trailer trailer = trailer_of(ring, &header);
	memset(tasks->record, 0, 4 * sizeof *tasks->record);
	copy_out(ring, ring->seen + sizeof header, tasks->record, header.size - sizeof header);
	ring->seen += header.size;
	tell(tasks, &header, trailer.id, visit, context);
}

void ps__perf_take_tasks(struct ps__backend *backend, ps__task_visit *visit, void *context)
{
	struct ps__perf_tasks *tasks = ((struct ps__perf *)backend)->tasks;
	struct ring *ring;

	if (!tasks)
		return;
	for (size_t index = 0; index < tasks->ring_count; index++) {
		/* Pairs with the kernel's store of data_head after it wrote a record. */
		tasks->rings[index].head = __atomic_load_n(&tasks->rings[index].page->data_head, __ATOMIC_ACQUIRE);
	}
	while ((ring = find_oldest(tasks)) != NULL)
		take_record(tasks, ring, visit, context);
	for (size_t index = 0; index < tasks->ring_count; index++) {
		/* Pairs with the kernel's look at data_tail before it overwrites what was read here. */
		__atomic_store_n(&tasks->rings[index].page->data_tail, tasks->rings[index].seen, __ATOMIC_RELEASE);
	}
}
