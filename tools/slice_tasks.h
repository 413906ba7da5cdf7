/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices inside: slices.c plays the records, slice_tasks.c finds the tasks, slice_spans.c divides
 * their time. */
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
int tool_hole_add(struct tool_slices *slices, const struct tool_slice_record *record);

/* slice_spans.c: the end of the last hole of the CPU in this time; 0 if there is none. */
uint64_t tool_hole_last_end(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                            uint64_t end_ns);
/* At this time a record told that the task is, or was until now, on the CPU. */
void tool_task_be_on(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* It came onto the CPU. */
void tool_task_come(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* It left the CPU; kind: what it is from now on. */
void tool_task_leave(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns,
                     enum tool_span_kind kind);
void tool_task_exit(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* No record told of its end. */
void tool_task_finish(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns);

#endif
