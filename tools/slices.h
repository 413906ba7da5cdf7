/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which task ran on which hardware thread when, from the records of a session with
 * PS_SESSION_SWITCHES. With PS_SESSION_MAPPINGS, hidden programs are recognised as well.
 *
 * Records of two CPUs arrive in any order, and a loss is reported only after it ended. So all
 * records are kept (32 bytes each), and are played in the order of time when the session is over.
 *
 * Each task's time is divided into spans without gaps: on a hardware thread, off, or unknown. Where
 * records were lost, nothing is guessed: the task is unknown from the loss until its next record
 * shows where it was.
 */
#ifndef PS_TOOLS_SLICES_H
#define PS_TOOLS_SLICES_H

#include "output/buffer.h"

#include <perfsage.h>
#include <stdbool.h>

enum tool_span_kind {
	TOOL_SPAN_ON,       /* runs */
	TOOL_SPAN_WAITING,  /* off: it waits for an event */
	TOOL_SPAN_RUNNABLE, /* off but ready: preempted, or just created */
	TOOL_SPAN_OFF,      /* off for an unknown reason */
	TOOL_SPAN_UNKNOWN,  /* in or after a hole */
	TOOL_SPAN_KINDS
};

/* Why a span ended. */
enum tool_span_end {
	TOOL_END_SWITCH, /* a switch; the kind of the task's next span tells which */
	TOOL_END_EXIT,   /* the task has ended */
	TOOL_END_HOLE,   /* a hole begins or ends */
	TOOL_END_OPEN    /* the observation ended */
};

/* State of a task while its records are played. */
struct tool_task_now {
	enum tool_span_kind kind;
	bool is_first;    /* no record of it was played yet, so its kind is unknown */
	bool is_replaced; /* another task has its tid since: it ended by end_ns */
	bool is_runnable; /* as /proc showed at read_ns, which is 0 if /proc wasn't read */
	uint64_t read_ns;
	uint64_t since_ns;
	uint64_t exec_ns; /* when it executed a program of which no code is mapped yet; 0: none */
	int cpu;          /* valid if kind is ON */
	int from_cpu;     /* the CPU of the previous ON span; -1: unknown */
	uint64_t *counts; /* of the current span */
};

struct tool_task {
	size_t index; /* index for tool_slices_task */
	uint32_t pid, tid;
	const char *name; /* the latest name; "" if unknown */
	uint64_t begin_ns, end_ns;
	uint64_t sums_ns[TOOL_SPAN_KINDS]; /* by kind of span; the sum is end_ns - begin_ns */
	uint64_t slices;                   /* number of spans on a hardware thread */
	uint64_t migrations;               /* a lower bound if a part of the time is unknown */
	uint64_t *counts;                  /* for each event */
	bool was_there;                    /* it existed before the observation began */
	bool is_begin_lost;                /* its creation falls into a hole */
	bool has_exited;                   /* it ended, or is hidden */
	bool is_left;                      /* it still ran when the observation ended */
	bool is_hidden; /* it runs a set-user-ID program, so the kernel no longer shows it */
	struct tool_task_now now;
};

struct tool_span {
	const struct tool_task *task;
	enum tool_span_kind kind;
	enum tool_span_end end;
	uint64_t begin_ns, end_ns;
	int cpu;                /* ON: the OS's number of the hardware thread; else -1 */
	int from_cpu;           /* ON: the CPU it migrated from; -1: no migration, or unknown */
	const uint64_t *counts; /* ON: for each event; valid until the visitor returns */
};

/* A time in which records of a hardware thread were lost, so nothing is known about it. */
struct tool_hole {
	uint64_t begin_ns, end_ns;
	uint64_t lost; /* number of lost records; 0: unknown */
	int cpu;
	uint64_t latest_ns; /* the latest end of this hole and all earlier ones */
	uint64_t new_ns;    /* where the part begins that no earlier hole of the CPU covers; it is
	                     * at least begin_ns */
};

/* A task that existed when the observation began. */
struct tool_slices_there {
	uint32_t pid, tid;
	const char *name;
	bool is_runnable; /* as /proc showed at read_ns */
	uint64_t begin_ns, read_ns;
};

struct tool_slices_play {
	uint64_t begin_ns, end_ns; /* records outside are ignored */
	pid_t exec_pid;            /* not 0: the observation begins when this process executes its
	                            * program */
	bool has_mappings;         /* the session has PS_SESSION_MAPPINGS */
	/* Called for each span when it ends; the spans of one task, and those of one hardware
	 * thread, come in the order of time. Returns 0 to go on. */
	int (*visit)(const struct tool_span *span, void *context);
	/* NULL, or called for each hole in the order of its hardware thread's spans, with the part
	 * of the hole that no earlier hole covers. */
	int (*visit_hole)(const struct tool_hole *hole, void *context);
	void *context;
};

struct tool_slices;

/* Default limit of --memory, enough for 33 million records, and its help text. */
#define TOOL_SLICES_MEMORY_MIB  1024
#define TOOL_SLICES_MEMORY_HELP "keep records of at most so much memory (1024)"
int tool_slices_parse_memory(const char *argument, long long *mib);

/* events: number of the session's events with a sample_period, whose samples are added up by span.
 * PS_ENOMEM. */
int tool_slices_create(struct tool_slices **out, size_t events);
/* Limits the memory for records, in MiB. If it is used up, the remaining time is a hole. */
void tool_slices_limit(struct tool_slices *slices, size_t mib);
void tool_slices_destroy(struct tool_slices *slices);

/* Returns a listener that keeps what a session passes to it; valid as long as slices. If memory
 * runs out, the remaining time is a hole, and tool_slices_is_full returns true. */
struct ps_listener tool_slices_listener(struct tool_slices *slices);
bool tool_slices_is_full(const struct tool_slices *slices);
/* Returns the sum of the event's samples, of all times. */
uint64_t tool_slices_sum_samples(const struct tool_slices *slices, size_t event);
/* Notes the session's number of lost records at its end. If it exceeds the number reported in
 * records, a hole follows the newest record of each hardware thread. */
void tool_slices_note_lost(struct tool_slices *slices, uint64_t session_lost);

/* The count of an event on a CPU since the CPU's previous switch. */
struct tool_slices_read {
	uint64_t time_ns;
	uint64_t count;
	uint32_t tid; /* of the task that leaves the CPU */
	int cpu;
	size_t event;
};
#define TOOL_TID_ON_CPU UINT32_MAX /* used as a tid: the task that is on the CPU */

/* Adds a read to the span that ends at its time. A task that exits gets the first read of its CPU
 * after its end, unless the read has another tid. So every switch needs a read. */
void tool_slices_note_read(struct tool_slices *slices, const struct tool_slices_read *read);
/* Notes that switches of the CPU are missing without any record of the session. */
void tool_slices_note_hole(struct tool_slices *slices, int cpu, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t lost);

/* Notes a task that existed at the beginning; needed only for -p. PS_ENOMEM. */
int tool_slices_note_task(struct tool_slices *slices, const struct tool_slices_there *there);
/* Notes that /proc showed at the end that the task ran on this hardware thread. If no record
 * mentions the task, it was there all the time. */
void tool_slices_note_ran(struct tool_slices *slices, uint32_t tid, int cpu, uint64_t end_ns);

/* Plays all records, once. PS_ENOMEM; PS_ENOTRUN if exec_pid executed nothing; or what visit
 * returned. */
int tool_slices_play(struct tool_slices *slices, const struct tool_slices_play *play);
/* Plays all records again: visits the same spans of copies of the tasks. So the visitor can look up
 * in slices how each task ended, by its index. Called after a play with the same times. */
int tool_slices_play_again(struct tool_slices *slices, const struct tool_slices_play *play);

/* Valid after playing: the sum of the event's samples that name a task which isn't observed. */
uint64_t tool_slices_foreign(const struct tool_slices *slices, size_t event);
/* Valid after playing. Tasks are in the order in which they were met. */
size_t tool_slices_task_count(const struct tool_slices *slices);
const struct tool_task *tool_slices_task(const struct tool_slices *slices, size_t index);
/* Returns the newest first thread of a process, whose tid is the pid; NULL if there is none. */
const struct tool_task *tool_slices_first_thread(const struct tool_slices *slices, uint32_t pid);
size_t tool_slices_hole_count(const struct tool_slices *slices);
const struct tool_hole *tool_slices_hole(const struct tool_slices *slices, size_t index);
uint64_t tool_slices_begin_ns(const struct tool_slices *slices);
uint64_t tool_slices_end_ns(const struct tool_slices *slices);

/* slice_notes.c: complains if there was no memory for all records. */
void tool_slices_complain_full(const struct tool_slices *slices);
/* The functions below add a sentence for people, or nothing if it doesn't apply. */
/* Explains the holes and the remedy. lost: number of records; 0: unknown. */
void tool_slices_say_holes(const struct tool_slices *slices, uint64_t lost, struct ps__buffer *out);
/* Tells how many tasks still ran when the observation ended. */
void tool_slices_say_left(const struct tool_slices *slices, struct ps__buffer *out);
/* True if nothing is unknown: there are no holes, and no task is hidden. */
bool tool_slices_are_all(const struct tool_slices *slices);
/* Names a hidden program and the number of hidden ones. */
void tool_slices_say_hidden(const struct tool_slices *slices, struct ps__buffer *out);

#endif
