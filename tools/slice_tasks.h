/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of slices: slices.c plays the records, slice_tasks.c finds the tasks,
 * slice_holes.c the holes, and slice_spans.c divides the time. */
#ifndef PS_TOOLS_SLICE_TASKS_H
#define PS_TOOLS_SLICE_TASKS_H

#include "tools/slice_records.h"
#include "tools/slices.h"

struct tool_slices {
	struct tool_slice_records records;
	struct tool_task *tasks;
	size_t task_count, task_room;
	size_t *places; /* a hash table by tid: 1 + index of the newest task; 0: empty */
	size_t place_room;
	struct tool_hole *holes; /* sorted by begin_ns */
	size_t hole_count, hole_room;
	size_t *on; /* for each CPU: 1 + index of the task on it; 0: unknown or none */
	size_t on_room;
	size_t events;
	uint64_t *foreign; /* for each event: its samples of tasks that aren't observed */
	const struct tool_slices_play *play;
	uint64_t begin_ns, end_ns;
	bool has_begun;
	int result; /* the first failure, or the visitor's first result that isn't 0 */
};

#define TOOL_CPU_ANY (-1)

/* slice_tasks.c: frees everything but the records. */
void tool_slices_clear_play(struct tool_slices *slices);
/* Returns the newest task with this tid; NULL if there is none. */
struct tool_task *tool_task_find(const struct tool_slices *slices, uint32_t tid);
/* Adds a task. NULL if memory runs out; slices->result is then set. */
struct tool_task *tool_task_add(struct tool_slices *slices, uint32_t pid, uint32_t tid,
                                uint64_t begin_ns);

/* True if the record is a sample of a task that isn't observed; then adds it to `foreign`. A
 * wake-up is also counted for the task that is woken. If the kernel writes a sample of that, the
 * sample names the task that wakes. After a hole any task may be an observed one whose creation was
 * lost. */
bool tool_task_is_foreign(struct tool_slices *slices, const struct tool_slice_record *record);

/* slice_holes.c: adds a hole. NULL if memory runs out, as above. */
const struct tool_hole *tool_hole_add(struct tool_slices *slices,
                                      const struct tool_slice_record *record);
/* Notes which task is on a CPU; NULL: unknown or none. */
void tool_hole_note_on(struct tool_slices *slices, int cpu, const struct tool_task *task);
struct tool_task *tool_hole_find_on(const struct tool_slices *slices, int cpu);
/* Returns the end of the CPU's last hole in this time; 0 if there is none. */
uint64_t tool_hole_last_end(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                            uint64_t end_ns);
/* Returns the begin of the CPU's first hole in this time; `otherwise` if there is none. */
uint64_t tool_hole_first_begin(const struct tool_slices *slices, int cpu, uint64_t begin_ns,
                               uint64_t end_ns, uint64_t otherwise);

/* slice_spans.c: handles the begin of a hole while the task is on the hole's CPU. */
void tool_task_lose(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns);
/* Handles a record that shows the task on the CPU, or that it was there until now. */
void tool_task_be_on(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* Handles a switch of the task onto the CPU. */
void tool_task_come(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* Handles that the task left the CPU. kind: its state from now on. */
void tool_task_leave(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns,
                     enum tool_span_kind kind);
void tool_task_exit(struct tool_slices *slices, struct tool_task *task, int cpu, uint64_t time_ns);
/* Ends a task whose end no record shows. A hidden task is unknown since it was hidden. */
void tool_task_finish(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns);

#endif
