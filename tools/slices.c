/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays records in the order of time, and changes the state of their tasks. */
#include "tools/slices.h"

#include "base/error.h"
#include "base/os.h"
#include "tools/slice_tasks.h"

int tool_slices_create(struct tool_slices **out, size_t events)
{
	struct tool_slices *slices = ps__os_calloc(1, sizeof *slices);

	if (!slices)
		return ps__fail_memory("the slices");
	slices->events = events;
	slices->foreign = ps__os_calloc(events + 1, sizeof *slices->foreign);
	if (!slices->foreign) {
		ps__os_free(slices);
		return ps__fail_memory("the slices");
	}
	*out = slices;
	return PS_OK;
}

void tool_slices_destroy(struct tool_slices *slices)
{
	if (!slices)
		return;
	tool_slice_records_clear(&slices->records);
	tool_slices_clear_play(slices);
	ps__os_free(slices);
}

void tool_slices_limit(struct tool_slices *slices, size_t mib)
{
	tool_slice_records_limit(&slices->records, mib);
}

struct ps_listener tool_slices_listener(struct tool_slices *slices)
{
	return tool_slice_records_listener(&slices->records);
}

bool tool_slices_is_full(const struct tool_slices *slices)
{
	return slices->records.is_full;
}

uint64_t tool_slices_sum_samples(const struct tool_slices *slices, size_t event)
{
	return tool_slice_records_sum(&slices->records, event);
}

void tool_slices_note_lost(struct tool_slices *slices, uint64_t session_lost)
{
	slices->records.has_tail |= session_lost > slices->records.lost;
}

int tool_slices_note_task(struct tool_slices *slices, const struct tool_slices_there *there)
{
	struct tool_slice_record record = {.time_ns = there->begin_ns,
	                                   .extra = there->read_ns,
	                                   .pid = there->pid,
	                                   .tid = there->tid,
	                                   .cpu = -1,
	                                   .kind = there->is_runnable ? TOOL_RECORD_RUNNABLE
	                                                              : TOOL_RECORD_THERE};

	if (!tool_slice_records_add(&slices->records, &record))
		return ps__fail_memory("the tasks of the process");
	size_t name = tool_slice_records_name(&slices->records, there->name);
	record.kind = TOOL_RECORD_NAME;
	record.extra = name;
	if (name == SIZE_MAX || !tool_slice_records_add(&slices->records, &record))
		return ps__fail_memory("the tasks of the process");
	return PS_OK;
}

void tool_slices_note_ran(struct tool_slices *slices, uint32_t tid, int cpu, uint64_t end_ns)
{
	const struct tool_slice_record record = {.time_ns = end_ns,
	                                         .extra = (uint64_t)cpu,
	                                         .tid = tid,
	                                         .cpu = -1,
	                                         .kind = TOOL_RECORD_RAN};

	tool_slice_records_add(&slices->records, &record);
}

void tool_slices_note_read(struct tool_slices *slices, const struct tool_slices_read *read)
{
	const struct tool_slice_record record = {.time_ns = read->time_ns,
	                                         .extra = read->count,
	                                         .tid = read->tid,
	                                         .cpu = read->cpu,
	                                         .kind = TOOL_RECORD_READ,
	                                         .event = (uint16_t)read->event};

	tool_slice_records_add(&slices->records, &record);
}

void tool_slices_note_hole(struct tool_slices *slices, int cpu, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t lost)
{
	tool_slice_records_add_hole(&slices->records, TOOL_RING_COUNTERS, cpu, begin_ns, end_ns,
	                            lost);
}

/* Returns when the task ended. A hidden task goes on, unknown, to the end of the observation. */
static uint64_t last_of(const struct tool_slices *slices, const struct tool_task *task)
{
	bool is_known = task->has_exited && (!task->is_hidden || task->now.is_replaced);

	return is_known ? task->end_ns : slices->end_ns;
}

/* Ends a task: its tid belongs to another task from this time on. */
static void slices_replace(struct tool_slices *slices, struct tool_task *task, uint64_t time_ns)
{
	if (!task->has_exited || task->is_hidden)
		tool_task_finish(slices, task, time_ns);
	task->is_left = false;
	task->has_exited = true;
	task->now.is_replaced = true;
}

/* Adds the task of a record. If no record shows its creation, the task existed before the
 * observation, unless that record may have been lost. In the second case the task is known from
 * this record on, or, if it was on the CPU before, from the end of the CPU's last hole on. */
static struct tool_task *slices_meet(struct tool_slices *slices,
                                     const struct tool_slice_record *record)
{
	struct tool_task *before = tool_task_find(slices, record->tid);
	bool is_lost = before || slices->hole_count > 0;
	uint64_t begin_ns = slices->begin_ns;

	if (is_lost) {
		uint64_t end_ns = 0;
		if (record->kind != TOOL_RECORD_IN)
			end_ns = tool_hole_last_end(slices, record->cpu, begin_ns, record->time_ns);
		begin_ns = end_ns ? end_ns : record->time_ns;
	}
	if (before && begin_ns < before->end_ns)
		begin_ns = before->end_ns;
	if (before)
		slices_replace(slices, before, begin_ns);
	struct tool_task *task = tool_task_add(slices, record->pid, record->tid, begin_ns);
	if (!task)
		return NULL;
	task->is_begin_lost = is_lost;
	task->was_there = !is_lost;
	return task;
}

/* Returns the task of a record. The kernel stops observing a task before it writes its EXIT record,
 * so later records with the same tid are another task's. */
static struct tool_task *slices_find(struct tool_slices *slices,
                                     const struct tool_slice_record *record)
{
	struct tool_task *task = tool_task_find(slices, record->tid);

	return task && !task->has_exited ? task : slices_meet(slices, record);
}

static void play_fork(struct tool_slices *slices, const struct tool_slice_record *record)
{
	const struct tool_task *creator = tool_task_find(slices, (uint32_t)record->extra);
	const char *name = creator ? creator->name : "";
	struct tool_task *task = tool_task_find(slices, record->tid);

	/* /proc was read after the task had been created. */
	bool is_listed = task && task->now.is_first && task->now.read_ns;
	if (task && !is_listed)
		slices_replace(slices, task, record->time_ns);
	if (!is_listed)
		task = tool_task_add(slices, record->pid, record->tid, record->time_ns);
	if (!task)
		return;
	task->begin_ns = task->end_ns = task->now.since_ns = record->time_ns;
	task->was_there = false;
	task->now.is_first = false;
	task->now.kind = TOOL_SPAN_RUNNABLE;
	if (!is_listed)
		task->name = name;
}

/* A thread that executes a program takes over the tid of its process's first thread, which has
 * ended before. Its own tid ends here. True if that thread was known. */
static bool end_executor(struct tool_slices *slices, const struct tool_slice_record *record)
{
	bool was_known = false;

	for (size_t i = 0; i < slices->task_count; i++) {
		struct tool_task *task = &slices->tasks[i];
		if (task->pid != record->pid || task->tid == record->tid || task->has_exited)
			continue;
		tool_task_exit(slices, task, record->cpu, record->time_ns);
		was_known = true;
	}
	return was_known;
}

static void play_exec(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task = tool_task_find(slices, record->tid);

	if (!task || task->has_exited) {
		/* The other thread may have ended in a hole: then the first one executed. */
		bool is_known = end_executor(slices, record) && slices->hole_count == 0;
		is_known |= task || slices->play->exec_pid == (pid_t)record->tid;
		if (task)
			slices_replace(slices, task, record->time_ns);
		task = is_known ? tool_task_add(slices, record->pid, record->tid, record->time_ns)
		                : slices_meet(slices, record);
	}
	if (!task)
		return;
	tool_task_be_on(slices, task, record->cpu, record->time_ns);
	task->name = slices->records.names[record->extra];
	task->now.exec_ns = record->time_ns;
}

static void play_there(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task = tool_task_add(slices, record->pid, record->tid, slices->begin_ns);

	if (!task)
		return;
	task->was_there = true;
	task->now.read_ns = record->extra;
	task->now.is_runnable = record->kind == TOOL_RECORD_RUNNABLE;
}

static void play_name(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task = tool_task_find(slices, record->tid);

	if (task && !task->has_exited)
		task->name = slices->records.names[record->extra];
}

static void play_mapped(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task = tool_task_find(slices, record->tid);

	if (task)
		task->now.exec_ns = 0;
}

/* Plays an EXIT record. If this user may not observe a program, the kernel stops observing the task
 * during its exec, before any code is mapped. The record then looks as if the task ended. */
static void play_exit(struct tool_slices *slices, struct tool_task *task,
                      const struct tool_slice_record *record)
{
	uint64_t exec_ns = task->now.exec_ns;

	task->is_hidden = slices->play->has_mappings && exec_ns &&
	                  !tool_hole_last_end(slices, TOOL_CPU_ANY, exec_ns, record->time_ns);
	tool_task_exit(slices, task, record->cpu, record->time_ns);
}

static void play_ran(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task = tool_task_find(slices, record->tid);

	if (task && task->now.is_first)
		tool_task_be_on(slices, task, (int)record->extra, record->time_ns);
}

/* Plays a record that the task itself caused, on the CPU where it was. */
static void play_own(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task;

	if (tool_task_is_foreign(slices, record) || !(task = slices_find(slices, record)))
		return;
	switch (record->kind) {
	case TOOL_RECORD_IN:
		tool_task_come(slices, task, record->cpu, record->time_ns);
		break;
	case TOOL_RECORD_WAITS:
		tool_task_leave(slices, task, record->cpu, record->time_ns, TOOL_SPAN_WAITING);
		break;
	case TOOL_RECORD_PREEMPTED:
		tool_task_leave(slices, task, record->cpu, record->time_ns, TOOL_SPAN_RUNNABLE);
		break;
	case TOOL_RECORD_EXIT:
		play_exit(slices, task, record);
		break;
	default:
		tool_task_be_on(slices, task, record->cpu, record->time_ns);
		if (record->event < slices->events)
			task->now.counts[record->event] += record->extra;
	}
}

/* Plays a read. Tasks of the whole machine leave a CPU, so most reads don't belong to an observed
 * task. */
static void play_read(struct tool_slices *slices, const struct tool_slice_record *record)
{
	struct tool_task *task = record->tid == TOOL_TID_ON_CPU
	                             ? tool_hole_find_on(slices, record->cpu)
	                             : tool_task_find(slices, record->tid);

	if (!task || task->has_exited)
		return;
	tool_task_be_on(slices, task, record->cpu, record->time_ns);
	if (record->event < slices->events)
		task->now.counts[record->event] += record->extra;
}

/* Ends the span of the task on the CPU at the hole's begin. This can't be done at the task's next
 * record, because other spans of the CPU may be visited before. */
static void play_hole(struct tool_slices *slices, const struct tool_slice_record *record)
{
	const struct tool_hole *hole = tool_hole_add(slices, record);
	struct tool_task *task = hole ? tool_hole_find_on(slices, hole->cpu) : NULL;

	if (task)
		tool_task_lose(slices, task, hole->begin_ns);
	if (slices->result != PS_OK || !slices->play->visit_hole || hole->new_ns >= hole->end_ns)
		return;
	struct tool_hole rest = *hole;
	rest.begin_ns = hole->new_ns;
	slices->result = slices->play->visit_hole(&rest, slices->play->context);
}

static void play_record(struct tool_slices *slices, const struct tool_slice_record *record)
{
	switch (record->kind) {
	case TOOL_RECORD_HOLE:
		play_hole(slices, record);
		break;
	case TOOL_RECORD_FORK:
		play_fork(slices, record);
		break;
	case TOOL_RECORD_EXEC:
		play_exec(slices, record);
		break;
	case TOOL_RECORD_NAME:
		play_name(slices, record);
		break;
	case TOOL_RECORD_THERE:
	case TOOL_RECORD_RUNNABLE:
		play_there(slices, record);
		break;
	case TOOL_RECORD_MAPPED:
		play_mapped(slices, record);
		break;
	case TOOL_RECORD_RAN:
		play_ran(slices, record);
		break;
	case TOOL_RECORD_READ:
		play_read(slices, record);
		break;
	default:
		play_own(slices, record);
	}
}

/* True if the record belongs to the observation, which begins with the record of the exec. If that
 * record may be lost, the observation begins with the first hole. */
static bool is_observed(struct tool_slices *slices, const struct tool_slice_record *record)
{
	pid_t pid = slices->play->exec_pid;
	bool is_hole = record->kind == TOOL_RECORD_HOLE;
	uint64_t last_ns = is_hole ? record->extra : record->time_ns;

	if (last_ns < slices->play->begin_ns || record->time_ns > slices->end_ns)
		return false;
	if (is_hole && record->time_ns == slices->end_ns)
		return false; /* records that were lost since then were written after the
		               * observation began */
	if (slices->has_begun)
		return is_hole || record->time_ns >= slices->begin_ns;
	bool is_exec = record->kind == TOOL_RECORD_EXEC && (pid_t)record->tid == pid;
	if (!is_hole && !is_exec)
		return false;
	slices->has_begun = true;
	slices->begin_ns = record->time_ns > slices->begin_ns ? record->time_ns : slices->begin_ns;
	if (is_hole)
		tool_task_add(slices, (uint32_t)pid, (uint32_t)pid, slices->begin_ns);
	return true;
}

static void play_all(struct tool_slices *slices)
{
	const struct tool_slice_record *record;

	while (slices->result == PS_OK && (record = tool_slice_records_next(&slices->records))) {
		if (is_observed(slices, record) && slices->result == PS_OK)
			play_record(slices, record);
	}
	/* The observation ends when all tasks have ended. */
	uint64_t last_ns =
	    slices->task_count && !slices->records.has_tail ? slices->begin_ns : slices->end_ns;
	for (size_t i = 0; i < slices->task_count; i++) {
		uint64_t end_ns = last_of(slices, &slices->tasks[i]);
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	slices->end_ns = last_ns;
	for (size_t i = 0; slices->result == PS_OK && i < slices->task_count; i++) {
		struct tool_task *task = &slices->tasks[i];
		if (!task->now.is_replaced && (!task->has_exited || task->is_hidden))
			tool_task_finish(slices, task, slices->end_ns);
	}
}

int tool_slices_play(struct tool_slices *slices, const struct tool_slices_play *play)
{
	int result = tool_slice_records_begin(&slices->records, play->end_ns);

	if (result != PS_OK)
		return result;
	slices->play = play;
	slices->begin_ns = play->begin_ns;
	slices->end_ns = play->end_ns;
	slices->has_begun = play->exec_pid == 0;
	play_all(slices);
	slices->play = NULL;
	if (slices->result == PS_OK && !slices->has_begun)
		return ps__fail(PS_ENOTRUN, "process %d executed no program in this time",
		                (int)play->exec_pid);
	return slices->result;
}

int tool_slices_play_again(struct tool_slices *slices, const struct tool_slices_play *play)
{
	struct tool_slices again = {.records = slices->records, .events = slices->events};
	int result = PS_ENOMEM;

	again.foreign = ps__os_calloc(again.events + 1, sizeof *again.foreign);
	if (again.foreign)
		result = tool_slices_play(&again, play);
	else
		ps__fail_memory("the slices");
	slices->records = again.records;
	tool_slices_clear_play(&again);
	return result;
}

uint64_t tool_slices_begin_ns(const struct tool_slices *slices)
{
	return slices->begin_ns;
}

uint64_t tool_slices_end_ns(const struct tool_slices *slices)
{
	return slices->end_ns;
}
