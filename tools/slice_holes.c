/* SPDX-License-Identifier: BSD-3-Clause */
/* Holes of slices: times in which records of a CPU were lost. */
#include "tools/slice_tasks.h"

#include "base/error.h"
#include "base/vector.h"

static bool is_in(const struct tool_hole *hole, int cpu, uint64_t begin_ns, uint64_t end_ns)
{
	return (cpu == TOOL_CPU_ANY || hole->cpu == cpu) && hole->begin_ns < end_ns &&
	       hole->end_ns > begin_ns;
}

uint64_t tool_hole_first_begin(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                               uint64_t end_ns, uint64_t otherwise)
{
	uint64_t found = otherwise;

	for (size_t i = slices->hole_count; i > 0 && slices->holes[i - 1].latest_ns > begin_ns;
	     i--) {
		const struct tool_hole *hole = &slices->holes[i - 1];
		if (is_in(hole, cpu, begin_ns, end_ns))
			found = hole->begin_ns > begin_ns ? hole->begin_ns : begin_ns;
	}
	return found;
}

uint64_t tool_hole_last_end(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                            uint64_t end_ns)
{
	uint64_t found = 0;

	for (size_t i = slices->hole_count; i > 0 && slices->holes[i - 1].latest_ns > begin_ns;
	     i--) {
		const struct tool_hole *hole = &slices->holes[i - 1];
		if (is_in(hole, cpu, begin_ns, end_ns) && hole->end_ns > found)
			found = hole->end_ns;
	}
	return found < end_ns ? found : end_ns;
}

struct tool_task *tool_hole_find_on(const struct tool_slices *slices, int cpu)
{
	size_t place = (size_t)cpu < slices->on_room ? slices->on[cpu] : 0;
	struct tool_task *task = place ? &slices->tasks[place - 1] : NULL;

	return task && task->now.cpu == cpu ? task : NULL;
}

void tool_hole_note_on(struct tool_slices *slices, int cpu, const struct tool_task *task)
{
	if (!PS__VECTOR_RESERVE(&slices->on, slices->on_room, (size_t)cpu + 1, &slices->on_room)) {
		slices->result = ps__fail_memory("the tasks on the CPUs");
		return;
	}
	slices->on[cpu] = task ? task->index + 1 : 0;
}

static struct tool_hole hole_clip(const struct tool_slices *slices,
                                  const struct tool_slice_record *record)
{
	uint64_t begin_ns = record->time_ns, end_ns = record->extra;

	if (begin_ns < slices->begin_ns)
		begin_ns = slices->begin_ns;
	if (end_ns > slices->end_ns)
		end_ns = slices->end_ns;
	/* A loss may begin and end at the same nanosecond; the hole must not be empty. */
	if (end_ns <= begin_ns)
		end_ns = begin_ns + 1;
	return (struct tool_hole){.begin_ns = begin_ns,
	                          .end_ns = end_ns,
	                          .lost = record->tid,
	                          .cpu = record->cpu,
	                          .latest_ns = end_ns};
}

const struct tool_hole *tool_hole_add(struct tool_slices *slices,
                                      const struct tool_slice_record *record)
{
	if (!PS__VECTOR_GROW(&slices->holes, slices->hole_count, &slices->hole_room)) {
		slices->result = ps__fail_memory("the holes of the slices");
		return NULL;
	}
	struct tool_hole *hole = &slices->holes[slices->hole_count];
	*hole = hole_clip(slices, record);
	uint64_t covered_ns = tool_hole_last_end(slices, hole->cpu, hole->begin_ns, hole->end_ns);
	hole->new_ns = covered_ns ? covered_ns : hole->begin_ns;
	if (slices->hole_count++ && hole[-1].latest_ns > hole->end_ns)
		hole->latest_ns = hole[-1].latest_ns;
	return hole;
}

size_t tool_slices_hole_count(const struct tool_slices *slices)
{
	return slices->hole_count;
}

const struct tool_hole *tool_slices_hole(const struct tool_slices *slices, size_t index)
{
	return &slices->holes[index];
}
