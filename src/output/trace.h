/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces for other projects' viewers: events in time, on tracks. A trace is written piece by piece,
 * so it may be larger than the memory. Times on one track must not decrease; different tracks need
 * not be in order.
 */
#ifndef PS_OUTPUT_TRACE_H
#define PS_OUTPUT_TRACE_H

#include "output/buffer.h"

#include <stdbool.h>
#include <stdint.h>

enum ps__trace_kind {
	PS__TRACE_GROUP, /* has slices, or only groups other tracks */
	PS__TRACE_PROCESS,
	PS__TRACE_THREAD, /* has slices */
	PS__TRACE_COUNTER
};

struct ps__trace_track {
	enum ps__trace_kind kind;
	uint64_t parent; /* number of a track; 0: none */
	const char *name;
	int process, thread; /* of a process or thread: pid and tid */
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

/* An event on one track at one time. */
struct ps__trace_event {
	uint64_t track, time_ns;
	const char *name;
	const struct ps__trace_argument *arguments;
	size_t argument_count;
};

struct ps__trace;

/* The functions of a format. They copy all strings. */
struct ps__trace_format {
	/* Returns the number of the new track; never 0. */
	uint64_t (*add_track)(struct ps__trace *trace, const struct ps__trace_track *track);
	/* Begins a slice inside those that are open on the track. */
	void (*begin)(struct ps__trace *trace, const struct ps__trace_event *event);
	/* Ends the innermost open slice. */
	void (*end)(struct ps__trace *trace, uint64_t track, uint64_t time_ns);
	/* Adds a moment without a duration. */
	void (*mark)(struct ps__trace *trace, const struct ps__trace_event *event);
	/* Set the counter's value from this time on. */
	void (*count)(struct ps__trace *trace, uint64_t track, uint64_t time_ns, long long value);
	void (*measure)(struct ps__trace *trace, uint64_t track, uint64_t time_ns, double value);
};

struct ps__trace {
	const struct ps__trace_format *format;
	uint64_t tracks;        /* number of tracks added */
	struct ps__buffer *out; /* the output; the caller may empty it at any time. Or NULL */
	bool failed;            /* out of memory; everything added afterwards is lost */
};

/* Perfetto's protocol buffers (https://perfetto.dev/docs/reference/trace-packet-proto), in `out`.
 */
extern const struct ps__trace_format ps__trace_perfetto;

#endif
