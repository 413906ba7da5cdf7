/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of slices. The kernel reuses the tid of a task that has ended. */
#include "tools/slice_tasks.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#define LEAST_PLACES 64

void tool_slices_clear_play(struct tool_slices *slices)
{
	for (size_t i = 0; i < slices->task_count; i++)
		ps__os_free(slices->tasks[i].counts);
	ps__os_free(slices->tasks);
	ps__os_free(slices->places);
	ps__os_free(slices->holes);
	ps__os_free(slices->on);
	ps__os_free(slices->foreign);
}

static size_t *tasks_find_place(const struct tool_slices *slices, size_t *places, size_t room,
                                uint32_t tid)
{
	size_t at = (tid * (size_t)0x9E3779B1u) & (room - 1);

	while (places[at] && slices->tasks[places[at] - 1].tid != tid)
		at = (at + 1) & (room - 1);
	return &places[at];
}

struct tool_task *tool_task_find(const struct tool_slices *slices, uint32_t tid)
{
	if (!slices->place_room)
		return NULL;
	size_t place = *tasks_find_place(slices, slices->places, slices->place_room, tid);
	return place ? &slices->tasks[place - 1] : NULL;
}

/* Keeps at least half of the hash table empty. */
static bool reserve_places(struct tool_slices *slices)
{
	size_t room = slices->place_room ? slices->place_room : LEAST_PLACES;

	while (room / 2 < slices->task_count + 1)
		room *= 2;
	if (room == slices->place_room)
		return true;
	size_t *places = ps__os_calloc(room, sizeof *places);
	if (!places)
		return false;
	for (size_t i = 0; i < slices->task_count; i++)
		*tasks_find_place(slices, places, room, slices->tasks[i].tid) = i + 1;
	ps__os_free(slices->places);
	slices->places = places;
	slices->place_room = room;
	return true;
}

static struct tool_task *reserve_task(struct tool_slices *slices)
{
	if (!PS__VECTOR_GROW(&slices->tasks, slices->task_count, &slices->task_room))
		return NULL;
	return reserve_places(slices) ? &slices->tasks[slices->task_count] : NULL;
}

struct tool_task *tool_task_add(struct tool_slices *slices, uint32_t pid, uint32_t tid,
                                uint64_t begin_ns)
{
	struct tool_task *task = reserve_task(slices);
	uint64_t *counts = task ? ps__os_calloc(2 * slices->events + 1, sizeof *counts) : NULL;

	if (!counts) {
		slices->result = ps__fail_memory("the tasks of the slices");
		return NULL;
	}
	*task = (struct tool_task){.index = slices->task_count,
	                           .pid = pid,
	                           .tid = tid,
	                           .name = "",
	                           .begin_ns = begin_ns,
	                           .end_ns = begin_ns,
	                           .counts = counts,
	                           .now = {.kind = TOOL_SPAN_OFF,
	                                   .since_ns = begin_ns,
	                                   .is_first = true,
	                                   .cpu = -1,
	                                   .from_cpu = -1,
	                                   .counts = counts + slices->events}};
	*tasks_find_place(slices, slices->places, slices->place_room, tid) = ++slices->task_count;
	return task;
}

bool tool_task_is_foreign(struct tool_slices *slices, const struct tool_slice_record *record)
{
	if (record->kind != TOOL_RECORD_COUNT || slices->hole_count ||
	    tool_task_find(slices, record->tid))
		return false;
	if (record->event < slices->events)
		slices->foreign[record->event] += record->extra;
	return true;
}

uint64_t tool_slices_foreign(const struct tool_slices *slices, size_t event)
{
	return slices->foreign[event];
}

size_t tool_slices_task_count(const struct tool_slices *slices)
{
	return slices->task_count;
}

const struct tool_task *tool_slices_first_thread(const struct tool_slices *slices, uint32_t pid)
{
	const struct tool_task *task = tool_task_find(slices, pid);

	return task && task->pid == pid ? task : NULL;
}

const struct tool_task *tool_slices_task(const struct tool_slices *slices, size_t index)
{
	return &slices->tasks[index];
}
