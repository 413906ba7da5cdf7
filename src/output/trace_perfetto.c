/* SPDX-License-Identifier: BSD-3-Clause */
/* Perfetto's traces: a trace is a message of packets, and each packet can be read alone. */
#include "output/trace.h"

#include "base/printable.h"

#include <string.h>

/* Numbers of fields in Perfetto's schema, perfetto/trace/trace_packet.proto and track_event/. */
enum {
	TRACE_PACKET = 1,

	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,

	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT = 3,

	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNT = 30,
	EVENT_MEASURE = 44,
	ANNOTATION_INTEGER = 4,
	ANNOTATION_REAL = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10
};

enum event_type {
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4
};

/* The wire types of protocol buffers. */
enum {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2
};

#define MOST_VARINT_BYTES 10

static size_t trace_put_varint(unsigned char bytes[MOST_VARINT_BYTES], uint64_t number)
{
	size_t count = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[count++] = (unsigned char)(number | 0x80);
	bytes[count++] = (unsigned char)number;
	return count;
}

static void trace_add_varint(struct ps__buffer *out, uint64_t number)
{
	unsigned char bytes[MOST_VARINT_BYTES];

	ps__buffer_add_bytes(out, bytes, trace_put_varint(bytes, number));
}

static void trace_add_number(struct ps__buffer *out, unsigned field, uint64_t number)
{
	trace_add_varint(out, field << 3 | WIRE_VARINT);
	trace_add_varint(out, number);
}

static void trace_add_real(struct ps__buffer *out, unsigned field, double number)
{
	unsigned char bytes[sizeof(uint64_t)];
	uint64_t word;

	memcpy(&word, &number, sizeof word);
	for (size_t index = 0; index < sizeof bytes; index++)
		bytes[index] = (unsigned char)(word >> (8 * index));
	trace_add_varint(out, field << 3 | WIRE_FIXED64);
	ps__buffer_add_bytes(out, bytes, sizeof bytes);
}

/* Begins a field whose length comes first. Returns the offset of its content. */
static size_t trace_open(struct ps__buffer *out, unsigned field)
{
	trace_add_varint(out, field << 3 | WIRE_BYTES);
	ps__buffer_add_bytes(out, "", 1);
	return out->length;
}

/* Ends the field and writes its length. One byte was reserved, which is enough for most lengths;
 * for a longer one the content is moved. */
static void trace_close(struct ps__buffer *out, size_t start)
{
	unsigned char bytes[MOST_VARINT_BYTES];

	if (out->failed)
		return;
	size_t length = out->length - start;
	size_t more = trace_put_varint(bytes, length) - 1;
	ps__buffer_add_bytes(out, bytes, more);
	if (out->failed)
		return;
	memmove(out->text + start + more, out->text + start, length);
	memcpy(out->text + start - 1, bytes, more + 1);
}

/* Adds a string as UTF-8, which the schema requires. Other bytes become U+FFFD. */
static void trace_add_text(struct ps__buffer *out, unsigned field, const char *text)
{
	size_t start = trace_open(out, field);

	while (*text) {
		uint32_t code;
		size_t length = ps__printable_decode(text, &code);
		if (code == PS__NO_CHARACTER)
			ps__buffer_add_bytes(out, "\xef\xbf\xbd", 3);
		else
			ps__buffer_add_bytes(out, text, length);
		text += length;
	}
	trace_close(out, start);
}

/* Begins a packet. All packets belong to one sequence; a flag in the first one says that the reader
 * needs no earlier packets. */
static size_t trace_open_packet(struct ps__trace *trace)
{
	size_t start = trace_open(trace->out, TRACE_PACKET);

	trace_add_number(trace->out, PACKET_SEQUENCE, 1);
	if (trace->tracks == 1)
		trace_add_number(trace->out, PACKET_FLAGS, 1);
	return start;
}

/* Returns the schema's unit: TIME_NS, SIZE_BYTES or COUNT; 0 for any other unit, which the track's
 * name tells. */
static unsigned trace_unit(const char *unit)
{
	if (strcmp(unit, "ns") == 0)
		return 1;
	return strcmp(unit, "bytes") == 0 ? 3 : strcmp(unit, "") == 0 ? 2 : 0;
}

static void trace_add_kind(struct ps__buffer *out, const struct ps__trace_track *track)
{
	size_t start;

	if (track->kind == PS__TRACE_PROCESS) {
		start = trace_open(out, TRACK_PROCESS);
		trace_add_number(out, PROCESS_PID, (uint64_t)track->process);
		trace_add_text(out, PROCESS_NAME, track->name);
		trace_close(out, start);
	} else if (track->kind == PS__TRACE_THREAD) {
		start = trace_open(out, TRACK_THREAD);
		trace_add_number(out, THREAD_PID, (uint64_t)track->process);
		trace_add_number(out, THREAD_TID, (uint64_t)track->thread);
		trace_add_text(out, THREAD_NAME, track->name);
		trace_close(out, start);
	} else if (track->kind == PS__TRACE_COUNTER) {
		start = trace_open(out, TRACK_COUNTER);
		trace_add_number(out, COUNTER_UNIT, trace_unit(track->unit));
		trace_close(out, start);
	}
}

static uint64_t perfetto_add_track(struct ps__trace *trace, const struct ps__trace_track *track)
{
	uint64_t number = ++trace->tracks;
	size_t packet = trace_open_packet(trace);
	size_t start = trace_open(trace->out, PACKET_TRACK);

	trace_add_number(trace->out, TRACK_UUID, number);
	if (track->parent)
		trace_add_number(trace->out, TRACK_PARENT, track->parent);
	/* For other tracks viewers use the names of the process and the thread. */
	if (track->kind == PS__TRACE_GROUP || track->kind == PS__TRACE_COUNTER)
		trace_add_text(trace->out, TRACK_NAME, track->name);
	trace_add_kind(trace->out, track);
	trace_close(trace->out, start);
	trace_close(trace->out, packet);
	return number;
}

static void trace_add_argument(struct ps__buffer *out, const struct ps__trace_argument *argument)
{
	size_t start = trace_open(out, EVENT_ANNOTATION);

	trace_add_text(out, ANNOTATION_NAME, argument->name);
	if (argument->kind == PS__TRACE_INTEGER)
		trace_add_number(out, ANNOTATION_INTEGER, (uint64_t)argument->integer);
	else if (argument->kind == PS__TRACE_REAL)
		trace_add_real(out, ANNOTATION_REAL, argument->real);
	else
		trace_add_text(out, ANNOTATION_TEXT, argument->text);
	trace_close(out, start);
}

/* An open packet with an event. Further fields of the event are added before trace_end_event. */
struct open_event {
	size_t packet, event;
};

static struct open_event trace_begin_event(struct ps__trace *trace, enum event_type type,
                                           uint64_t track, uint64_t time_ns)
{
	struct open_event open = {.packet = trace_open_packet(trace)};

	trace_add_number(trace->out, PACKET_TIMESTAMP, time_ns);
	open.event = trace_open(trace->out, PACKET_EVENT);
	trace_add_number(trace->out, EVENT_TYPE, type);
	trace_add_number(trace->out, EVENT_TRACK, track);
	return open;
}

static void trace_end_event(struct ps__trace *trace, struct open_event open)
{
	trace_close(trace->out, open.event);
	trace_close(trace->out, open.packet);
}

static void trace_add_event(struct ps__trace *trace, enum event_type type,
                            const struct ps__trace_event *event)
{
	struct open_event open = trace_begin_event(trace, type, event->track, event->time_ns);

	trace_add_text(trace->out, EVENT_NAME, event->name);
	for (size_t index = 0; index < event->argument_count; index++)
		trace_add_argument(trace->out, &event->arguments[index]);
	trace_end_event(trace, open);
}

static void perfetto_begin(struct ps__trace *trace, const struct ps__trace_event *event)
{
	trace_add_event(trace, TYPE_BEGIN, event);
}

static void perfetto_end(struct ps__trace *trace, uint64_t track, uint64_t time_ns)
{
	trace_end_event(trace, trace_begin_event(trace, TYPE_END, track, time_ns));
}

static void perfetto_mark(struct ps__trace *trace, const struct ps__trace_event *event)
{
	trace_add_event(trace, TYPE_INSTANT, event);
}

static void perfetto_count(struct ps__trace *trace, uint64_t track, uint64_t time_ns,
                           long long value)
{
	struct open_event open = trace_begin_event(trace, TYPE_COUNTER, track, time_ns);

	trace_add_number(trace->out, EVENT_COUNT, (uint64_t)value);
	trace_end_event(trace, open);
}

static void perfetto_measure(struct ps__trace *trace, uint64_t track, uint64_t time_ns,
                             double value)
{
	struct open_event open = trace_begin_event(trace, TYPE_COUNTER, track, time_ns);

	trace_add_real(trace->out, EVENT_MEASURE, value);
	trace_end_event(trace, open);
}

const struct ps__trace_format ps__trace_perfetto = {
    .add_track = perfetto_add_track,
    .begin = perfetto_begin,
    .end = perfetto_end,
    .mark = perfetto_mark,
    .count = perfetto_count,
    .measure = perfetto_measure,
};
