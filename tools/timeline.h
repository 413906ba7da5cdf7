/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage timeline: timeline.c has the options, timeline_run.c records a command or process,
 * timeline_events.c makes its events, timeline_counters.c and _read.c read counters,
 * timeline_there.c reads what was there before, timeline_sums.c adds spans up, and timeline_text.c,
 * _json.c and _trace.c show them.
 */
#ifndef PS_TOOLS_TIMELINE_H
#define PS_TOOLS_TIMELINE_H

#include "output/json_writer.h"
#include "tools/options.h"
#include "tools/slices.h"
#include "tools/terminal.h"
#include "tools/trace_file.h"
#include "tools/watcher.h"

struct timeline_options {
	struct tool_names events;
	char *output, *trace; /* NULL: none was given */
	long long pid, timeout_ms, ring_kib, memory_mib, rows;
	bool is_json, has_slices;
	char **command;
};

/* An event that was asked for. */
struct timeline_event {
	const char *name;
	char unit[32];        /* "": none */
	char *trace_name;     /* in traces, which have no mark but the name; NULL: name */
	bool is_counted;      /* else its counts aren't known */
	bool is_counter;      /* read at each switch, and not written one by one */
	bool shares_samples;  /* one by one, with other programs that sample the same event */
	bool is_of_user_only; /* the kernel's part may not be observed */
	size_t index;         /* of a counted one, in spans; those of the session come first */
	enum ps_status status;
	struct ps_attr *counter; /* until it is opened: an event that isn't written one by one */
};

struct timeline_cpu {
	int cpu;
	uint64_t on_ns, unknown_ns, slices;
	size_t tasks;
};

/* A task on one hardware thread. */
struct timeline_part {
	int cpu;
	uint64_t on_ns, slices;
};

/* From one slice to the next. */
struct timeline_wait {
	size_t task;
	enum tool_span_kind kind; /* OFF: several, or not known why */
	uint64_t begin_ns, end_ns;
	int from_cpu, to_cpu; /* -1: none, or not known */
};

struct timeline_task {
	struct timeline_part *parts;
	size_t part_count, part_room;
	struct timeline_wait wait; /* that goes on; begin_ns == end_ns: none */
	struct timeline_wait longest;
	int last_cpu;   /* -1: not known */
	uint64_t blind; /* slices in which counters are not known */
};

struct timeline_move {
	int from, to;
	uint64_t count;
};

struct timeline_sums {
	struct timeline_task *tasks; /* as the slices have them */
	struct timeline_cpu *cpus;   /* by number */
	struct timeline_move
	    *moves; /* by their numbers; timeline_sums_close: the most frequent first */
	/* The longest ones, and up to as many others until timeline_sums_close: then the longest
	 * first */
	struct timeline_wait *waits;
	uint64_t least_ns; /* shorter ones are none of them */
	size_t task_count, task_room;
	size_t cpu_count, cpu_room;
	size_t move_count, move_room;
	size_t wait_count, wait_most;
	uint64_t slices;
};

/* timeline_there.c */
struct timeline_threads {
	struct timeline_there *list;
	size_t count, room;
};

/* What is in no count, or may be in none. */
struct timeline_losses {
	uint64_t records;    /* that the rings had no room for */
	uint64_t unassigned; /* samples: it is not known which of the events wrote them */
	uint64_t damaged;    /* records that can't be read */
	size_t missed;       /* tasks that may not be observed */
};

struct timeline {
	struct timeline_options options;
	struct tool_watcher watcher;
	struct tool_file file;
	struct tool_screen screen;
	struct tool_trace_file trace;
	struct timeline_tracks *tracks; /* of the trace; NULL: there is none */
	struct ps_session *session;
	struct tool_slices *slices;
	struct timeline_counters *counters; /* NULL: none is needed */
	struct timeline_threads there;      /* of -p */
	struct timeline_event *events;
	size_t event_count, counted;
	struct timeline_sums sums;
	struct ps__buffer text; /* on its way to the file */
	struct ps__json json;
	pid_t command_pid; /* 0: there is no command */
	uint64_t begin_ns, end_ns;
	struct timeline_losses losses;
};

/* The process of the command, or of -p. */
static inline pid_t timeline_pid(const struct timeline *timeline)
{
	return timeline->command_pid ? timeline->command_pid : (pid_t)timeline->options.pid;
}

/* timeline_events.c. -1 after a complaint. */
int timeline_events_add(struct timeline *timeline);
/* After the start: which of them are of user space alone. */
int timeline_events_note_user(struct timeline *timeline);
/* At the end, when the losses are known: which counts are lower bounds, or not known at all. */
void timeline_events_note_losses(struct timeline *timeline);
void timeline_events_clear(struct timeline *timeline);

/* timeline_counters.c: opens the events that have an attr `counter`; complains of those that can't
 * be known. -1 after a complaint, as also from the start. */
int timeline_counters_open(struct timeline *timeline);
int timeline_counters_start(struct timeline *timeline);
/* Takes what is in the rings. */
void timeline_counters_read(struct timeline *timeline);
void timeline_counters_stop(struct timeline *timeline);
/* At the end. Returns how many switches were lost. */
uint64_t timeline_counters_close(struct timeline *timeline);
/* Afterwards: is the event's count of this span on a hardware thread known? A counter's is not on a
 * CPU that was offline at first, or from then on. */
bool timeline_knows(const struct timeline *timeline, const struct timeline_event *event,
                    const struct tool_span *span);
/* Each span, behind timeline_sums_add: where that isn't known, sums are lower bounds. */
void timeline_counters_add_span(struct timeline *timeline, const struct tool_span *span);
enum timeline_known {
	TIMELINE_NOT_KNOWN, /* in no slice */
	TIMELINE_LEAST,     /* the least that it can be */
	TIMELINE_WHOLE
};
/* The same of a task's sum of an event. */
enum timeline_known timeline_knows_sum(const struct timeline *timeline,
                                       const struct timeline_event *event,
                                       const struct tool_task *task);
/* Is nothing lost of the task's times, nor of a sum? */
bool timeline_is_whole(const struct timeline *timeline, const struct tool_task *task);
/* The CPU of the first span that isn't known; -1: none. */
int timeline_counters_unknown(const struct timeline *timeline);
/* The part of the time in which the counters had to wait. */
double timeline_counters_waited(const struct timeline *timeline);
void timeline_counters_clear(struct timeline *timeline);

/* timeline_there.c: the threads of the process, at begin_ns and at the end. -1 after a complaint.
 */
int timeline_there_read(struct timeline *timeline);
void timeline_there_read_end(struct timeline *timeline);

/* timeline_run.c: records until the end. Returns the exit status, and in *is_recorded whether there
 * is anything to show. */
int timeline_record(struct timeline *timeline, bool *is_recorded);

/* timeline_notes.c: to the text, what the user should know of the tables above. */
void timeline_notes_add(struct timeline *timeline);
/* To stderr, beside JSON: the losses that no hole tells. */
void timeline_notes_complain(const struct timeline *timeline);

/* timeline_sums.c. PS_ENOMEM, or PS_OK. */
int timeline_sums_create(struct timeline_sums *sums, size_t waits);
int timeline_sums_add(struct timeline_sums *sums, const struct tool_span *span);
int timeline_sums_add_hole(struct timeline_sums *sums, const struct tool_hole *hole);
void timeline_sums_close(struct timeline_sums *sums);
void timeline_sums_clear(struct timeline_sums *sums);

/* timeline_trace.c. -1 after a complaint. */
int timeline_trace_open(struct timeline *timeline);
int timeline_trace_add(struct timeline *timeline, const struct tool_span *span);
int timeline_trace_add_hole(struct timeline *timeline, const struct tool_hole *hole);
int timeline_trace_close(struct timeline *timeline, bool is_whole);

/* Each shows: first spans, if they were asked for, as they come; then all sums. */
void timeline_text_add_span(struct timeline *timeline, const struct tool_span *span);
void timeline_text_add_sums(struct timeline *timeline);
void timeline_json_begin(struct timeline *timeline);
void timeline_json_add_span(struct timeline *timeline, const struct tool_span *span);
void timeline_json_add_sums(struct timeline *timeline);

#endif
