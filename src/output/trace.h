/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces for the viewers of others: what happened when, on tracks. A trace is written as it goes,
 * so it may be larger than the memory. On each track times must not go back; the tracks need not be
 * in step.
 */
#ifndef PS_OUTPUT_TRACE_H
#define PS_OUTPUT_TRACE_H

#include "output/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum ps__trace_kind {
	PS__TRACE_GROUP, /* has slices, or only other tracks below it */
	PS__TRACE_PROCESS,
	PS__TRACE_THREAD, /* has slices */
	PS__TRACE_COUNTER
};

struct ps__trace_track {
	enum ps__trace_kind kind;
	uint64_t parent; /* 0: none */
	const char *name;
	int process, thread; /* of a process or thread: its numbers */
	const char *unit;    /* of a counter: "ns", "bytes"; "" for a plain count */
};

struct ps__trace_argument {
	const char *name;
	enum {
		PS__TRACE_INTEGER,
		PS__TRACE_REAL,
		PS__TRACE_TEXT
	} kind;
	long long integer;
	double real;
	const char *text;
};

/* On one track, at one time. */
struct ps__trace_event {
	uint64_t track, time_ns;
	const char *name;
	const struct ps__trace_argument *arguments;
	size_t argument_count;
};

struct ps__trace;

/* A format. Strings are copied. */
struct ps__trace_format {
	/* Returns the number of the track, not 0. */
	uint64_t (*add_track)(struct ps__trace *trace, const struct ps__trace_track *track);
	/* Begins a slice, inside of those that are open on the track. */
	void (*begin)(struct ps__trace *trace, const struct ps__trace_event *event);
	/* Ends the innermost open one. */
	void (*end)(struct ps__trace *trace, uint64_t track, uint64_t time_ns);
	/* A moment, without a length. */
	void (*mark)(struct ps__trace *trace, const struct ps__trace_event *event);
	/* The value that a counter has from now on. */
	void (*count)(struct ps__trace *trace, uint64_t track, uint64_t time_ns, long long value);
	void (*measure)(struct ps__trace *trace, uint64_t track, uint64_t time_ns, double value);
};

struct ps__trace {
	const struct ps__trace_format *format;
	uint64_t tracks; /* that were added */
	struct ps__buffer
	    *out;    /* the caller takes what is in it away, whenever it likes; or NULL */
	bool failed; /* for lack of memory: what is added is lost */
};

/* Perfetto's protocol buffers (https://perfetto.dev/docs/reference/trace-packet-proto), in `out`.
 */
extern const struct ps__trace_format ps__trace_perfetto;

#endif
