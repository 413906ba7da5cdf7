/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of perfsage timeline: timeline.c has the options, timeline_run.c records a
 * command or process, timeline_events.c makes its events, timeline_counters.c and _read.c read
 * counters, timeline_there.c reads what existed before, timeline_sums.c sums up spans, and
 * timeline_text.c, _json.c and _trace.c write the output.
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
	char *output, *trace; /* NULL: not given */
	long long pid, timeout_ms, ring_kib, memory_mib, rows;
	bool is_json, has_slices;
	char **command;
};

/* An event that the user chose. */
struct timeline_event {
	const char *name;
	char unit[32];        /* "": none */
	char *trace_name;     /* its name in traces, which have no other place for marks; NULL: same
	                       * as name */
	bool is_counted;      /* false: its counts are unknown */
	bool is_counter;      /* read at each switch, not recorded as single samples */
	bool shares_samples;  /* sampled, and another program's samples could be taken for these */
	bool is_of_user_only; /* the kernel's part may not be observed */
	size_t index;         /* of a counted event: its index in a span's counts; the session's
	                       * events come first */
	enum ps_status status;
	struct ps_attr *counter; /* set until it is opened; NULL for sampled events */
	uint64_t total;          /* of a sampled event: the kernel's count; 0: not read */
};

struct timeline_cpu {
	int cpu;
	uint64_t on_ns, unknown_ns, slices;
	size_t tasks;
};

/* Sums of a task's slices on one hardware thread. */
struct timeline_part {
	int cpu;
	uint64_t on_ns, slices;
};

/* The time between two slices of a task. */
struct timeline_wait {
	size_t task;
	enum tool_span_kind kind; /* OFF: the wait had several kinds, or its kind is unknown */
	uint64_t begin_ns, end_ns;
	int from_cpu, to_cpu; /* -1: none, or unknown */
};

struct timeline_task {
	struct timeline_part *parts;
	size_t part_count, part_room;
	struct timeline_wait wait; /* the wait that has not ended; begin_ns == end_ns: none */
	struct timeline_wait longest;
	int last_cpu;   /* -1: unknown */
	uint64_t blind; /* number of slices whose counters are unknown */
	bool is_cut;    /* the counters lack the begin or the end of a slice */
};

struct timeline_move {
	int from, to;
	uint64_t count;
};

struct timeline_sums {
	struct timeline_task *tasks; /* indexed as in slices */
	struct timeline_cpu *cpus;   /* indexed by CPU number */
	struct timeline_move
	    *moves; /* sorted by CPU numbers; after timeline_sums_close by count, largest first */
	/* The longest waits. Until timeline_sums_close there are up to twice as many as are wanted;
	 * then they are sorted, longest first */
	struct timeline_wait *waits;
	uint64_t least_ns; /* shorter waits aren't kept */
	size_t task_count, task_room;
	size_t cpu_count, cpu_room;
	size_t move_count, move_room;
	size_t wait_count, wait_most;
	uint64_t slices;
};

/* The threads that timeline_there.c found. */
struct timeline_threads {
	struct timeline_there *list;
	size_t count, room;
};

/* What is missing, or may be missing, in counts. */
struct timeline_losses {
	uint64_t records;    /* number of records that didn't fit into the rings */
	uint64_t unassigned; /* number of samples that can't be assigned to one of the events */
	uint64_t damaged;    /* number of records that can't be decoded */
	uint64_t unwritten;  /* number of occurrences of sampled events that no record gives to an
	                      * observed task */
	size_t missed;       /* number of tasks that may not be observed */
};

struct timeline {
	struct timeline_options options;
	struct tool_watcher watcher;
	struct tool_file file;
	struct tool_screen screen;
	struct tool_trace_file trace;
	struct timeline_tracks *tracks; /* the tracks of the trace; NULL: there is no trace */
	struct ps_session *session;
	struct tool_slices *slices;
	struct timeline_counters *counters; /* NULL: no event needs counters */
	struct timeline_threads there;      /* threads that existed before; for -p only */
	struct timeline_event *events;
	size_t event_count, counted;
	struct timeline_sums sums;
	struct ps__buffer text; /* output that isn't in the file yet */
	struct ps__json json;
	pid_t command_pid; /* 0: there is no command */
	uint64_t begin_ns, end_ns;
	struct timeline_losses losses;
};

/* Returns the process of the command, or that of -p. */
static inline pid_t timeline_pid(const struct timeline *timeline)
{
	return timeline->command_pid ? timeline->command_pid : (pid_t)timeline->options.pid;
}

/* timeline_events.c: return -1 after a complaint. */
int timeline_events_add(struct timeline *timeline);
/* Called after the start: notes which events are counted in user space only. */
int timeline_events_note_user(struct timeline *timeline);
/* Called at the end, before the rings are read for the last time: reads the kernel's counts of the
 * sampled events. So each occurrence that is counted has its record in a ring. */
void timeline_events_read_totals(struct timeline *timeline);
/* Called after that, when the losses are known: notes which counts are lower bounds or unknown. */
void timeline_events_note_losses(struct timeline *timeline);
/* Called after the play: counts that lack samples of foreign tasks are lower bounds. */
void timeline_events_note_foreign(struct timeline *timeline);
void timeline_events_clear(struct timeline *timeline);

/* timeline_counters.c. timeline_counters_open opens the events that have a `counter`, and complains
 * about those whose counts can't be known. Both functions return -1 after a complaint. */
int timeline_counters_open(struct timeline *timeline);
int timeline_counters_start(struct timeline *timeline);
/* Reads the new records of the counters' rings. */
void timeline_counters_read(struct timeline *timeline);
void timeline_counters_stop(struct timeline *timeline);
/* Called at the end. Returns the number of lost switches. */
uint64_t timeline_counters_close(struct timeline *timeline);
/* True if the event's count in a span on a hardware thread is known. The count of a counter is
 * unknown on a CPU that was offline at the start, and from the time on when the CPU went offline.
 * Called after timeline_counters_close. */
bool timeline_knows(const struct timeline *timeline, const struct timeline_event *event,
                    const struct tool_span *span);
/* Called for each span after timeline_sums_add. If a count of the span is unknown, makes the sums
 * lower bounds. */
void timeline_counters_add_span(struct timeline *timeline, const struct tool_span *span);
enum timeline_known {
	TIMELINE_NOT_KNOWN, /* unknown in all slices */
	TIMELINE_LEAST,     /* a lower bound */
	TIMELINE_WHOLE
};
/* Tells how a task's sum of an event is known. */
enum timeline_known timeline_knows_sum(const struct timeline *timeline,
                                       const struct timeline_event *event,
                                       const struct tool_task *task);
/* True if no part of the task's times and sums was lost. */
bool timeline_is_whole(const struct timeline *timeline, const struct tool_task *task);
/* Returns the CPU of the first span with an unknown count; -1 if there is none. */
int timeline_counters_unknown(const struct timeline *timeline);
/* Returns the fraction of the time in which the counters weren't on the hardware. */
double timeline_counters_waited(const struct timeline *timeline);
void timeline_counters_clear(struct timeline *timeline);

/* timeline_there.c: these functions read the threads of the process, one at begin_ns and one at the
 * end. The first one returns -1 after a complaint. */
int timeline_there_read(struct timeline *timeline);
void timeline_there_read_end(struct timeline *timeline);

/* timeline_run.c: records until the end. Returns the exit status. *is_recorded gets true if there
 * is something to show. */
int timeline_record(struct timeline *timeline, bool *is_recorded);

/* timeline_notes.c: adds what the user should know about the tables above to the text. */
void timeline_notes_add(struct timeline *timeline);
/* Complains on stderr about losses that no hole shows; used with JSON. */
void timeline_notes_complain(const struct timeline *timeline);

/* timeline_sums.c: return PS_OK or PS_ENOMEM. */
int timeline_sums_create(struct timeline_sums *sums, size_t waits);
int timeline_sums_add(struct timeline_sums *sums, const struct tool_span *span);
int timeline_sums_add_hole(struct timeline_sums *sums, const struct tool_hole *hole);
void timeline_sums_close(struct timeline_sums *sums);
void timeline_sums_clear(struct timeline_sums *sums);

/* timeline_trace.c: return -1 after a complaint. Spans and holes are added while the slices are
 * played again. */
int timeline_trace_open(struct timeline *timeline);
int timeline_trace_add(struct timeline *timeline, const struct tool_span *span);
int timeline_trace_add_hole(struct timeline *timeline, const struct tool_hole *hole);
int timeline_trace_close(struct timeline *timeline, bool is_whole);

/* The output formats. Each writes a span when it ends, if the user chose to see spans, and all sums
 * at the end. */
void timeline_text_add_span(struct timeline *timeline, const struct tool_span *span);
void timeline_text_add_sums(struct timeline *timeline);
void timeline_json_begin(struct timeline *timeline);
void timeline_json_add_span(struct timeline *timeline, const struct tool_span *span);
void timeline_json_add_sums(struct timeline *timeline);

#endif
