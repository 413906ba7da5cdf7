/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who ran on which hardware thread when, from the records of a session with
 * PS_SESSION_SWITCHES; with PS_SESSION_MAPPINGS they tell programs that are hidden, too.
 *
 * Records of two CPUs come in any order, and a loss is told when it is over. So all are kept (32
 * bytes each), and played in the order of time when the session is over.
 *
 * The time of each task is divided into spans without a gap: it is on a hardware thread, off, or
 * not known. Where records were lost, nothing is guessed: a task is not known from the loss on
 * until its next record tells where it was.
 */
#ifndef PS_TOOLS_SLICES_H
#define PS_TOOLS_SLICES_H

#include "output/buffer.h"

#include <perfsage.h>
#include <stdbool.h>

enum tool_span_kind {
	TOOL_SPAN_ON,       /* runs */
	TOOL_SPAN_WAITING,  /* off: it waits for something */
	TOOL_SPAN_RUNNABLE, /* off, and could run: preempted, or just created */
	TOOL_SPAN_OFF,      /* off, not known why */
	TOOL_SPAN_UNKNOWN,  /* in or after a hole */
	TOOL_SPAN_KINDS
};

/* Why a span ended. */
enum tool_span_end {
	TOOL_END_SWITCH, /* a switch: the task's next span tells the kind */
	TOOL_END_EXIT,   /* the task has ended */
	TOOL_END_HOLE,   /* a hole begins, or ends */
	TOOL_END_OPEN    /* the observation has ended */
};

/* The state of a task while its records are played. */
struct tool_task_now {
	enum tool_span_kind kind;
	bool is_first;    /* nothing was heard of it yet: the kind isn't known */
	bool is_replaced; /* another task has its number: it has ended by end_ns */
	bool is_runnable; /* as /proc told at read_ns; 0: it was not read */
	uint64_t read_ns;
	uint64_t since_ns;
	uint64_t exec_ns; /* when it began a program of which no code is mapped yet; 0: none */
	int cpu;          /* of ON */
	int from_cpu;     /* where it was ON before; -1: not known */
	uint64_t *counts; /* of this span */
};

struct tool_task {
	size_t index; /* as tool_slices_task counts */
	uint32_t pid, tid;
	const char *name; /* the newest; "" if it is not known */
	uint64_t begin_ns, end_ns;
	uint64_t sums_ns[TOOL_SPAN_KINDS]; /* they add up to end_ns - begin_ns */
	uint64_t slices;                   /* spans on a hardware thread */
	uint64_t migrations;               /* at least so many, if something is not known */
	uint64_t *counts;                  /* one for each event */
	bool was_there;                    /* before the observation began */
	bool is_begin_lost;                /* it was created in a hole */
	bool has_exited;                   /* or is_hidden */
	bool is_left;                      /* it goes on when the observation ends */
	bool is_hidden; /* a set-user-ID program: the kernel ended the observation */
	struct tool_task_now now;
};

struct tool_span {
	const struct tool_task *task;
	enum tool_span_kind kind;
	enum tool_span_end end;
	uint64_t begin_ns, end_ns;
	int cpu;                /* ON: the hardware thread by the OS's number; else -1 */
	int from_cpu;           /* ON: a migration from there; -1: none, or not known */
	const uint64_t *counts; /* ON: one for each event; good until the visitor returns */
};

/* Nothing is known of a hardware thread then. */
struct tool_hole {
	uint64_t begin_ns, end_ns;
	uint64_t lost; /* records; 0: it is not known how many */
	int cpu;
	uint64_t latest_ns; /* the latest end of this one and of those before it */
	uint64_t new_ns;    /* up to here those of its CPU before it reach; else begin_ns */
};

/* A task that was there when the observation began. */
struct tool_slices_there {
	uint32_t pid, tid;
	const char *name;
	bool is_runnable; /* as /proc told at read_ns */
	uint64_t begin_ns, read_ns;
};

struct tool_slices_play {
	uint64_t begin_ns, end_ns; /* records outside are ignored */
	pid_t exec_pid;            /* not 0: it begins when this process executes its program */
	bool has_mappings;         /* the session has PS_SESSION_MAPPINGS */
	/* Each span when it is over: those of a task, and those of a hardware thread, by rising
	 * time. Returns 0 to go on. */
	int (*visit)(const struct tool_span *span, void *context);
	/* NULL, or the same for each hole, in its place among the spans of its hardware thread:
	 * that of it which is in no earlier one. */
	int (*visit_hole)(const struct tool_hole *hole, void *context);
	void *context;
};

struct tool_slices;

/* The bound of --memory, 33 million records, and its option. */
#define TOOL_SLICES_MEMORY_MIB  1024
#define TOOL_SLICES_MEMORY_HELP "keep records of at most so much memory (1024)"
int tool_slices_parse_memory(const char *argument, long long *mib);

/* events: that the session has, each with a sample_period; their samples are added up by span.
 * PS_ENOMEM. */
int tool_slices_create(struct tool_slices **out, size_t events);
/* Records take at most so much memory, in MiB; the rest of the time is a hole, then. */
void tool_slices_limit(struct tool_slices *slices, size_t mib);
void tool_slices_destroy(struct tool_slices *slices);

/* Keeps what a session gives to it; it is good as long as the slices. If memory runs out the rest
 * of the time is a hole, and tool_slices_is_full tells it. */
struct ps_listener tool_slices_listener(struct tool_slices *slices);
bool tool_slices_is_full(const struct tool_slices *slices);
/* Was there a sample of the event, at any time? */
bool tool_slices_has_samples(const struct tool_slices *slices, size_t event);
/* The session's lost records at its end. If they are more than the records told, what is behind the
 * newest record of each hardware thread is a hole. */
void tool_slices_note_lost(struct tool_slices *slices, uint64_t session_lost);

/* The count of a CPU since its switch before. */
struct tool_slices_read {
	uint64_t time_ns;
	uint64_t count;
	uint32_t tid; /* of the task that leaves the CPU */
	int cpu;
	size_t event;
};
#define TOOL_TID_ON_CPU UINT32_MAX /* in place of a tid: the task that is on the CPU */

/* It is of the span that ends then. An ended task has the first read of its CPU behind its end, if
 * that has no other task's tid: so each switch needs one. */
void tool_slices_note_read(struct tool_slices *slices, const struct tool_slices_read *read);
/* Switches of the CPU are missing, which no record of the session tells. */
void tool_slices_note_hole(struct tool_slices *slices, int cpu, uint64_t begin_ns, uint64_t end_ns,
                           uint64_t lost);

/* Needed for -p alone. PS_ENOMEM. */
int tool_slices_note_task(struct tool_slices *slices, const struct tool_slices_there *there);
/* It has run on this hardware thread, as /proc told at the end. If there is no record of it, it was
 * there all the time. */
void tool_slices_note_ran(struct tool_slices *slices, uint32_t tid, int cpu, uint64_t end_ns);

/* Plays all, once. PS_ENOMEM; PS_ENOTRUN: exec_pid executed nothing; or what visit returned. */
int tool_slices_play(struct tool_slices *slices, const struct tool_slices_play *play);

/* Afterwards: tasks in the order in which they were met. */
size_t tool_slices_task_count(const struct tool_slices *slices);
const struct tool_task *tool_slices_task(const struct tool_slices *slices, size_t index);
size_t tool_slices_hole_count(const struct tool_slices *slices);
const struct tool_hole *tool_slices_hole(const struct tool_slices *slices, size_t index);
uint64_t tool_slices_begin_ns(const struct tool_slices *slices);
uint64_t tool_slices_end_ns(const struct tool_slices *slices);

/* slice_notes.c: a sentence for people; nothing if there is none. */
/* Why there are holes, and the remedy; lost: records, 0: not known how many. */
void tool_slices_say_holes(const struct tool_slices *slices, uint64_t lost, struct ps__buffer *out);
/* The tasks that go on when the observation ends. */
void tool_slices_say_left(const struct tool_slices *slices, struct ps__buffer *out);
/* Names the programs that are hidden. */
void tool_slices_say_hidden(const struct tool_slices *slices, struct ps__buffer *out);

#endif
