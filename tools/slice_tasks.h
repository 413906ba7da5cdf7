/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices inside: slices.c plays the records, slice_tasks.c finds the tasks, slice_holes.c the
 * holes, slice_spans.c divides the time. */
#ifndef PS_TOOLS_SLICE_TASKS_H
#define PS_TOOLS_SLICE_TASKS_H

#include "tools/slice_records.h"
#include "tools/slices.h"

struct tool_slices {
	struct tool_slice_records records;
	struct tool_task *tasks;
	size_t task_count, task_room;
	size_t *places; /* a hash table of tids: the index of the newest task, and 1; 0: none */
	size_t place_room;
	struct tool_hole *holes; /* by rising begin */
	size_t hole_count, hole_room;
	size_t *on; /* for each CPU: the index of the task on it, and 1; 0: none that is known */
	size_t on_room;
	size_t events;
	const struct tool_slices_play *play;
	uint64_t begin_ns, end_ns;
	bool has_begun;
	int result; /* the first failure, or what the visitor returned */
};

#define TOOL_CPU_ANY (-1)

/* slice_tasks.c: the newest task of this tid; NULL if there is none. */
struct tool_task *tool_task_find(const struct tool_slices *slices, uint32_t tid);
/* A new one; NULL for lack of memory, which is in slices->result then. */
struct tool_task *tool_task_add(struct tool_slices *slices, uint32_t pid, uint32_t tid,
                                uint64_t begin_ns);

/* slice_holes.c. NULL for lack of memory, as above. */
const struct tool_hole *tool_hole_add(struct tool_slices *slices,
                                      const struct tool_slice_record *record);
/* Notes which task is on a CPU; NULL: none that is known. */
void tool_hole_note_on(struct tool_slices *slices, int cpu, const struct tool_task *task);
struct tool_task *tool_hole_find_on(const struct tool_slices *slices, int cpu);
/* The end of the last hole of the CPU in this time; 0 if there is none. */
uint64_t tool_hole_last_end(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                            uint64_t end_ns);
/* The begin of the first one; `otherwise` if there is none. */
uint64_t tool_hole_first_begin(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                               uint64_t end_ns, uint64_t otherwise);

/* slice_spans.c: the hole begins while the task is on its CPU. */
void tool_task_lose(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns);
/* At this time a record told that the task is, or was until now, on the CPU. */
void tool_task_be_on(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* It came onto the CPU. */
void tool_task_come(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* It left the CPU; kind: what it is from now on. */
void tool_task_leave(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns,
                     enum tool_span_kind kind);
void tool_task_exit(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* No record told of its end; a hidden one is not known since then. */
void tool_task_finish(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns);

#endif
