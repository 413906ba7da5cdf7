/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software threads of a process told apart: the rings of perf_tasks.h are emptied, and what was in all of them is told
 * in the order of time. However short a task lives, it is not missed.
 */
#include "backend/perf_tasks.h"

#include "base/error.h"
#include "base/os.h"

#include <stdlib.h>
#include <string.h>

/* Of notes: a name has 16 bytes. */
#define LARGEST_NOTE 64

/* A record that was copied out of its ring. */
struct ps__kept_record {
	uint64_t time;
	size_t offset; /* in the bytes; also the order in which they were found */
};

/* pid, ppid, tid, ptid of FORK and EXIT. */
struct birth_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
	uint32_t tid, parent_tid;
};

struct name_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

static bool grow(void **memory, size_t *room, size_t used, size_t needed, size_t size_bytes)
{
	size_t wanted = *room ? *room : 256;

	while (wanted < needed)
		wanted *= 2;
	if (wanted == *room)
		return true;
	void *grown = ps__os_calloc(wanted, size_bytes);
	if (!grown)
		return false;
	if (used)
		memcpy(grown, *memory, used * size_bytes);
	ps__os_free(*memory);
	*memory = grown;
	*room = wanted;
	return true;
}

/* Room for one record more, of that many bytes, beginning where 8-byte numbers may. */
static bool make_room(struct ps__perf_tasks *tasks, size_t size_bytes)
{
	void *bytes = tasks->bytes, *kept = tasks->kept;
	bool has_room = grow(&bytes, &tasks->bytes_room, tasks->bytes_used, tasks->bytes_used + size_bytes, 1);

	tasks->bytes = bytes;
	if (has_room)
		has_room =
		    grow(&kept, &tasks->kept_room, tasks->kept_count, tasks->kept_count + 1, sizeof *tasks->kept);
	tasks->kept = kept;
	return has_room;
}

/* Copies a record. False: it tells that others were lost, or can't be kept, or is none. */
static bool keep(const struct ps__ring *ring, const struct perf_event_header *header, void *context)
{
	struct ps__perf_tasks *tasks = context;
	struct ps__record_trailer trailer;

	if (header->type == PERF_RECORD_LOST || header->size % 8 || header->size < sizeof *header + sizeof trailer)
		return false;
	if (!make_room(tasks, header->size))
		return false;
	char *record = tasks->bytes + tasks->bytes_used;
	ps__ring_copy(ring, 0, record, header->size);
	memcpy(&trailer, record + header->size - sizeof trailer, sizeof trailer);
	tasks->kept[tasks->kept_count++] =
	    (struct ps__kept_record){.time = trailer.time, .offset = tasks->bytes_used};
	tasks->bytes_used += header->size;
	return true;
}

static int compare_kept(const void *one, const void *other)
{
	const struct ps__kept_record *a = one, *b = other;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static size_t largest_record(const struct ps__perf *perf, size_t ring)
{
	size_t number = ring % (1 + perf->base.groups);

	if (number == 0)
		return LARGEST_NOTE;
	const struct ps__group *group = &perf->lanes[0].groups[number - 1];
	return sizeof(struct ps__read_record) + (group->count + group->extras) * sizeof(uint64_t) +
	       sizeof(struct ps__record_trailer);
}

/* Notes first: what is told afterwards is then of tasks that are known, as far as it can be. */
static void empty_rings(struct ps__perf *perf)
{
	struct ps__perf_tasks *tasks = perf->tasks;
	size_t stride = 1 + perf->base.groups;

	tasks->bytes_used = 0;
	tasks->kept_count = 0;
	for (size_t number = 0; number < stride; number++) {
		for (size_t ring = number; ring < tasks->ring_count; ring += stride) {
			if (!ps__ring_drain(&tasks->rings[ring], largest_record(perf, ring), keep, tasks))
				tasks->has_lost = true;
		}
	}
	if (tasks->kept_count)
		qsort(tasks->kept, tasks->kept_count, sizeof *tasks->kept, compare_kept);
}

static const struct ps__writer *find_writer(const struct ps__perf_tasks *tasks, uint64_t id)
{
	size_t low = 0, high = tasks->writer_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (tasks->writers[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < tasks->writer_count && tasks->writers[low].id == id ? &tasks->writers[low] : NULL;
}

/* False if the record isn't one of a whole group. */
static bool tell_counts(const struct ps__perf_tasks *tasks, const void *bytes, ps__task_visit *visit, void *context)
{
	const struct ps__read_record *record = bytes;
	struct ps__record_trailer trailer;

	memcpy(&trailer, (const char *)bytes + record->header.size - sizeof trailer, sizeof trailer);
	const struct ps__writer *writer = find_writer(tasks, trailer.id);
	if (!writer || !writer->tells || record->header.size < sizeof *record + sizeof trailer)
		return false;
	size_t values = (record->header.size - sizeof *record - sizeof trailer) / sizeof record->values[0];
	if (record->entries > values || record->entries < writer->group->count)
		return false;
	for (size_t place = 0; place < writer->group->count; place++) {
		struct ps__task_news news = {.kind = PS__TASK_COUNTED,
		                             .pid = (pid_t)record->pid,
		                             .tid = (pid_t)record->tid,
		                             .lane = writer->lane,
		                             .event = writer->group->members[place].event,
		                             .count = record->values[place]};
		visit(&news, context);
	}
	return true;
}

static bool tell_birth(const void *bytes, ps__task_visit *visit, void *context)
{
	const struct birth_record *record = bytes;
	struct ps__task_news news = {.kind = PS__TASK_CREATED,
	                             .pid = (pid_t)record->pid,
	                             .tid = (pid_t)record->tid,
	                             .parent_tid = (pid_t)record->parent_tid};

	if (record->header.size < sizeof *record + sizeof(struct ps__record_trailer))
		return false;
	visit(&news, context);
	return true;
}

static bool tell_name(const void *bytes, ps__task_visit *visit, void *context)
{
	const struct name_record *record = bytes;
	struct ps__task_news news = {.kind = PS__TASK_NAMED, .pid = (pid_t)record->pid, .tid = (pid_t)record->tid};
	size_t other_bytes = sizeof *record + sizeof(struct ps__record_trailer);

	if (record->header.size < other_bytes)
		return false;
	size_t length = record->header.size - other_bytes;
	memcpy(news.name, record->name, length < sizeof news.name ? length : sizeof news.name - 1);
	visit(&news, context);
	return true;
}

static bool tell(const struct ps__perf_tasks *tasks, const void *record, ps__task_visit *visit, void *context)
{
	switch (((const struct perf_event_header *)record)->type) {
	case PERF_RECORD_READ:
		return tell_counts(tasks, record, visit, context);
	case PERF_RECORD_FORK:
		return tell_birth(record, visit, context);
	case PERF_RECORD_COMM:
		return tell_name(record, visit, context);
	default:
		return true;
	}
}

void ps__perf_take_tasks(struct ps__backend *backend, ps__task_visit *visit, void *context)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	struct ps__perf_tasks *tasks = perf->tasks;

	if (!tasks)
		return;
	empty_rings(perf);
	for (size_t index = 0; index < tasks->kept_count; index++) {
		if (!tell(tasks, tasks->bytes + tasks->kept[index].offset, visit, context))
			tasks->has_lost = true;
	}
	if (tasks->has_lost)
		visit(&(struct ps__task_news){.kind = PS__TASK_LOST}, context);
	tasks->has_lost = false;
}
