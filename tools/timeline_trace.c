/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of perfsage timeline: a track for each hardware thread with the tasks on it, and one
 * for each task with its states. Holes are separate slices. A task's track has the task's last
 * name. A slice on a hardware thread has the name that the task had when the slice ended. */
#include "tools/timeline.h"

#include "base/os.h"
#include "base/vector.h"

#include <string.h>

#define NAME_BYTES 96

struct timeline_tracks {
	uint64_t hardware;
	uint64_t *cpus, *tasks; /* 0: not made yet */
	uint64_t *cpu_ends;     /* end of what is written on each CPU's track */
	size_t cpu_room, task_room, end_room;
	uint32_t *pids; /* the processes that have a track; `processes` has their tracks */
	uint64_t *processes;
	size_t process_count, pid_room, process_room;
	struct ps__trace_argument *arguments;
};

int timeline_trace_open(struct timeline *timeline)
{
	timeline->tracks = ps__os_calloc(1, sizeof *timeline->tracks);
	if (!timeline->tracks)
		return tool_complain_memory("the tracks of the trace");
	timeline->tracks->arguments =
	    ps__os_calloc(timeline->options.events.count + 4, sizeof *timeline->tracks->arguments);
	if (timeline->tracks->arguments &&
	    tool_trace_open(&timeline->trace, TOOL_TRACE_PERFETTO, timeline->options.trace,
	                    &timeline->watcher) == 0)
		return 0;
	if (!timeline->tracks->arguments)
		tool_complain_memory("the tracks of the trace");
	ps__os_free(timeline->tracks->arguments);
	ps__os_free(timeline->tracks);
	timeline->tracks = NULL;
	return -1;
}

int timeline_trace_close(struct timeline *timeline, bool is_whole)
{
	struct timeline_tracks *tracks = timeline->tracks;

	if (!tracks)
		return 0;
	int result = tool_trace_close(&timeline->trace, is_whole);
	ps__os_free(tracks->cpus);
	ps__os_free(tracks->cpu_ends);
	ps__os_free(tracks->tasks);
	ps__os_free(tracks->pids);
	ps__os_free(tracks->processes);
	ps__os_free(tracks->arguments);
	ps__os_free(tracks);
	timeline->tracks = NULL;
	return result;
}

static uint64_t trace_add_track(struct timeline *timeline, const struct ps__trace_track *track)
{
	struct ps__trace *trace = timeline->trace.trace;

	return trace->format->add_track(trace, track);
}

/* Returns the element of an array that grows; NULL after a complaint. */
static uint64_t *trace_place_of(uint64_t **array, size_t *room, size_t index)
{
	if (!PS__VECTOR_RESERVE(array, *room, index + 1, room))
		return tool_complain_memory("the tracks of the trace"), NULL;
	return &(*array)[index];
}

/* Writes "name 123" with characters that are safe to show. */
static void write_name(char out[NAME_BYTES], const char *name, uint32_t number)
{
	struct ps__buffer text = {0};

	ps__buffer_add_foreign(&text, name, PS__CHARSET_UTF8);
	snprintf(out, NAME_BYTES, "%s%s%u", ps__buffer_text(&text), *name ? " " : "", number);
	ps__buffer_clear(&text);
}

/* Returns 0 after a complaint. */
static uint64_t track_of_cpu(struct timeline *timeline, int cpu)
{
	struct timeline_tracks *tracks = timeline->tracks;
	uint64_t *track = trace_place_of(&tracks->cpus, &tracks->cpu_room, (size_t)cpu);
	char name[32];

	if (!track || *track)
		return track ? *track : 0;
	if (!tracks->hardware)
		tracks->hardware = trace_add_track(
		    timeline,
		    &(struct ps__trace_track){.kind = PS__TRACE_GROUP, .name = "hardware threads"});
	snprintf(name, sizeof name, "CPU %d", cpu);
	const struct ps__trace_track made = {
	    .kind = PS__TRACE_GROUP, .parent = tracks->hardware, .name = name};
	return *track = trace_add_track(timeline, &made);
}

/* `task` is the state at the end. The name of a process is that of its first thread,
 * if this name is known. */
static uint64_t track_of_process(struct timeline *timeline, const struct tool_task *task)
{
	struct timeline_tracks *tracks = timeline->tracks;
	const struct tool_task *first = tool_slices_first_thread(timeline->slices, task->pid);
	char name[NAME_BYTES];

	for (size_t i = tracks->process_count; i > 0; i--) {
		if (tracks->pids[i - 1] == task->pid)
			return tracks->processes[i - 1];
	}
	if (!PS__VECTOR_GROW(&tracks->pids, tracks->process_count, &tracks->pid_room))
		return tool_complain_memory("the tracks of the trace"), 0;
	uint64_t *track =
	    trace_place_of(&tracks->processes, &tracks->process_room, tracks->process_count);
	if (!track)
		return 0;
	write_name(name, (first && *first->name ? first : task)->name, task->pid);
	tracks->pids[tracks->process_count++] = task->pid;
	return *track =
	           trace_add_track(timeline, &(struct ps__trace_track){.kind = PS__TRACE_PROCESS,
	                                                               .name = name,
	                                                               .process = (int)task->pid});
}

static uint64_t track_of_task(struct timeline *timeline, size_t index)
{
	struct timeline_tracks *tracks = timeline->tracks;
	const struct tool_task *task = tool_slices_task(timeline->slices, index);
	uint64_t *track = trace_place_of(&tracks->tasks, &tracks->task_room, index);
	char name[NAME_BYTES];

	if (!track || *track)
		return track ? *track : 0;
	uint64_t process = track_of_process(timeline, task);
	if (!process)
		return 0;
	write_name(name, task->name, task->tid);
	return *track =
	           trace_add_track(timeline, &(struct ps__trace_track){.kind = PS__TRACE_THREAD,
	                                                               .parent = process,
	                                                               .name = name,
	                                                               .process = (int)task->pid,
	                                                               .thread = (int)task->tid});
}

static void trace_put(struct timeline *timeline, uint64_t track, const char *name,
                      uint64_t begin_ns, uint64_t end_ns, size_t arguments)
{
	struct ps__trace *trace = timeline->trace.trace;
	const struct ps__trace_event event = {.track = track,
	                                      .time_ns = begin_ns,
	                                      .name = name,
	                                      .arguments = timeline->tracks->arguments,
	                                      .argument_count = arguments};

	trace->format->begin(trace, &event);
	trace->format->end(trace, track, end_ns);
}

/* Puts a slice on a CPU's track. Leaves out a slice inside a hole, which only the task's track
 * shows: in a hole, a counter shows what the task counted, but not how long it ran. Returns -1
 * after a complaint. */
static int trace_put_on_cpu(struct timeline *timeline, int cpu, const char *name, uint64_t begin_ns,
                            uint64_t end_ns, size_t arguments)
{
	struct timeline_tracks *tracks = timeline->tracks;
	uint64_t track = track_of_cpu(timeline, cpu);
	uint64_t *end = trace_place_of(&tracks->cpu_ends, &tracks->end_room, (size_t)cpu);

	if (!track || !end)
		return -1;
	if (begin_ns < *end)
		return 0;
	*end = end_ns;
	trace_put(timeline, track, name, begin_ns, end_ns, arguments);
	return 0;
}

static size_t add_arguments(struct timeline *timeline, const struct tool_span *span)
{
	struct ps__trace_argument *arguments = timeline->tracks->arguments;
	size_t count = 0;

	arguments[count++] = (struct ps__trace_argument){
	    .name = "CPU", .kind = PS__TRACE_INTEGER, .integer = span->cpu};
	arguments[count++] = (struct ps__trace_argument){
	    .name = "thread", .kind = PS__TRACE_INTEGER, .integer = span->task->tid};
	if (span->from_cpu >= 0)
		arguments[count++] = (struct ps__trace_argument){
		    .name = "from CPU", .kind = PS__TRACE_INTEGER, .integer = span->from_cpu};
	for (size_t i = 0; i < timeline->event_count; i++) {
		const struct timeline_event *event = &timeline->events[i];
		if (timeline_knows(timeline, event, span))
			arguments[count++] = (struct ps__trace_argument){
			    .name = event->trace_name ? event->trace_name : event->name,
			    .kind = PS__TRACE_INTEGER,
			    .integer = (long long)span->counts[event->index]};
	}
	return count;
}

int timeline_trace_add(struct timeline *timeline, const struct tool_span *span)
{
	static const char *const names[TOOL_SPAN_KINDS] = {"", "waits", "runnable", "off",
	                                                   "not known"};
	char name[NAME_BYTES];
	bool is_on = span->kind == TOOL_SPAN_ON;

	uint64_t track = track_of_task(timeline, span->task->index);
	if (!track)
		return -1;
	snprintf(name, sizeof name, "CPU %d", span->cpu);
	size_t arguments = is_on ? add_arguments(timeline, span) : 0;
	trace_put(timeline, track, is_on ? name : names[span->kind], span->begin_ns, span->end_ns,
	          arguments);
	write_name(name, span->task->name, span->task->tid);
	if (is_on && trace_put_on_cpu(timeline, span->cpu, name, span->begin_ns, span->end_ns,
	                              arguments) < 0)
		return -1;
	/* A failed write is reported at the end. */
	return tool_trace_flush(&timeline->trace);
}

int timeline_trace_add_hole(struct timeline *timeline, const struct tool_hole *hole)
{
	if (trace_put_on_cpu(timeline, hole->cpu, "not known", hole->begin_ns, hole->end_ns, 0) < 0)
		return -1;
	return tool_trace_flush(&timeline->trace);
}
