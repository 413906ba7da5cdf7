/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells apart the software threads of a process: empties the rings of perf_tasks.h, and visits the
 * records of all rings in the order of time. A task is seen however short it lives.
 */
#include "backend/perf_tasks.h"

#include "base/error.h"
#include "base/os.h"

#include <string.h>

/* The expected size of a note. A file's path may be longer, but seldom is. */
#define LARGEST_NOTE 256

/* FORK and EXIT: pid, parent's pid, tid, parent's tid. */
struct life_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
	uint32_t tid, parent_tid;
};

static size_t largest_record(const struct ps__perf *perf, size_t ring)
{
	size_t notes = perf->target.instance_count;

	if (ring < notes)
		return LARGEST_NOTE;
	const struct ps__group *group =
	    &perf->instances[0].groups[(ring - notes) % perf->base.groups];
	return sizeof(struct ps__read_record) + (group->count + group->extras) * sizeof(uint64_t) +
	       sizeof(struct ps__record_trailer);
}

/* Empties the rings of notes first, so that tasks in later records are known if possible. */
static void empty_rings(struct ps__perf *perf)
{
	struct ps__perf_tasks *tasks = perf->tasks;

	for (size_t ring = 0; ring < tasks->ring_count; ring++) {
		if (ps__ring_drain(&tasks->rings[ring], largest_record(perf, ring), ps__queue_take,
		                   &tasks->queue))
			continue;
		tasks->has_lost = true;
		tasks->has_lost_notes |= ring < perf->target.instance_count;
	}
	ps__queue_sort(&tasks->queue);
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
	return low < tasks->writer_count && tasks->writers[low].id == id ? &tasks->writers[low]
	                                                                 : NULL;
}

/* Visits the counts of a record. False if the record isn't of a whole group. */
static bool tasks_tell_counts(const struct ps__perf_tasks *tasks, const void *bytes,
                              ps__task_visit *visit, void *context)
{
	const struct ps__read_record *record = bytes;
	struct ps__record_trailer trailer;

	memcpy(&trailer, (const char *)bytes + record->header.size - sizeof trailer,
	       sizeof trailer);
	const struct ps__writer *writer = find_writer(tasks, trailer.id);
	if (!writer || !writer->tells || record->header.size < sizeof *record + sizeof trailer)
		return false;
	size_t values =
	    (record->header.size - sizeof *record - sizeof trailer) / sizeof record->values[0];
	if (record->entries > values || record->entries < writer->group->count)
		return false;
	for (size_t place = 0; place < writer->group->count; place++) {
		struct ps__task_record found = {.kind = PS__TASK_COUNTED,
		                                .pid = (pid_t)record->pid,
		                                .tid = (pid_t)record->tid,
		                                .instance = writer->instance,
		                                .event = writer->group->members[place].event,
		                                .count = record->values[place]};
		visit(&found, context);
	}
	return true;
}

static bool tasks_tell_life(const void *bytes, ps__task_visit *visit, void *context)
{
	const struct life_record *record = bytes;
	bool is_birth = record->header.type == PERF_RECORD_FORK;
	struct ps__task_record found = {.kind = is_birth ? PS__TASK_CREATED : PS__TASK_ENDED,
	                                .pid = (pid_t)record->pid,
	                                .tid = (pid_t)record->tid,
	                                .parent_tid = (pid_t)record->parent_tid};

	if (record->header.size < sizeof *record + sizeof(struct ps__record_trailer))
		return false;
	visit(&found, context);
	return true;
}

static bool tasks_tell_name(const void *bytes, ps__task_visit *visit, void *context)
{
	const struct ps__name_record *record = bytes;
	bool is_exec = record->header.misc & PERF_RECORD_MISC_COMM_EXEC;
	struct ps__task_record found = {.kind = is_exec ? PS__TASK_BEGUN : PS__TASK_NAMED};

	if (!ps__queue_name(record, found.name))
		return false;
	found.pid = (pid_t)record->pid;
	found.tid = (pid_t)record->tid;
	visit(&found, context);
	return true;
}

static bool tasks_tell(const struct ps__perf_tasks *tasks, const void *record,
                       ps__task_visit *visit, void *context)
{
	switch (((const struct perf_event_header *)record)->type) {
	case PERF_RECORD_READ:
		return tasks_tell_counts(tasks, record, visit, context);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return tasks_tell_life(record, visit, context);
	case PERF_RECORD_COMM:
		return tasks_tell_name(record, visit, context);
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
	/* Records newer than this wait for the next call: older ones may have come into rings that
	 * were emptied before. */
	uint64_t now = ps__os_now_ns();
	size_t count = 0;
	empty_rings(perf);
	for (; count < tasks->queue.count && tasks->queue.records[count].time <= now; count++) {
		const struct perf_event_header *record = ps__queue_bytes(&tasks->queue, count);
		if (!tasks_tell(tasks, record, visit, context)) {
			tasks->has_lost = true;
			tasks->has_lost_notes |= record->type != PERF_RECORD_READ;
		}
		ps__perf_note_exec(perf, record);
	}
	ps__queue_drop(&tasks->queue, count);
	if (tasks->has_lost)
		visit(&(struct ps__task_record){.kind = PS__TASK_LOST}, context);
	if (tasks->has_lost_notes)
		ps__perf_note_lost_execs(perf);
	tasks->has_lost = tasks->has_lost_notes = false;
}
