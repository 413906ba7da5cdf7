/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and destroys streams, takes points, and sets fields. */
#include "snapshot/stream.h"

#include "base/error.h"
#include "base/hot.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "eventset/fast_snapshot.h"
#include "eventset/take.h"

#include <perfsage/snapshot.h>
#include <string.h>

static int stream_check(struct ps_log_stream *const *out, const struct ps_log *log,
                        const struct ps_eventset *set, const struct ps_log_type *type)
{
	if (!out || !log || !set || !type)
		return ps__fail(PS_EINVAL, "ps_log_stream_create: the %s is NULL",
		                !out   ? "pointer for the stream"
		                : !log ? "log"
		                : !set ? "event set"
		                       : "type");
	if (!ps__fork_is_same(log->generation))
		return ps__fail(PS_ESYS,
		                "ps_log_stream_create: the log '%s' is the parent process's: make "
		                "one in this process",
		                log->file.path);
	return ps__log_check_type(type);
}

static void stream_free(struct ps_log_stream *stream)
{
	for (size_t index = 0; stream->points && index < stream->point_count; index++) {
		ps_snapshot_destroy(stream->points[index].snapshot);
		ps__os_free(stream->points[index].written);
	}
	ps__os_free(stream->points);
	ps__os_free(stream->fields);
	ps__os_free(stream->description);
	ps__os_free(stream);
}

/* Returns the most words of a usual record: its first word, two masks, and for each point the time,
 * the place, the label and the counts. */
static size_t count_usual_words(const struct ps_log_stream *stream)
{
	size_t width = ps__recording_width(ps__set_recording(stream->source.set));
	size_t words = 3 + stream->point_count * (3 + width);

	for (size_t index = 0; index < stream->field_count; index++)
		words += stream->fields[index].kind == PS_LOG_TEXT
		             ? sizeof stream->fields->word / sizeof *stream->fields->word
		             : 1;
	return words;
}

static int stream_allocate(struct ps_log_stream *stream, const struct ps_log_type *type)
{
	stream->point_count = type->point_count;
	stream->field_count = type->field_count;
	stream->points = ps__os_calloc(type->point_count, sizeof *stream->points);
	stream->fields = ps__os_calloc(type->field_count + 1, sizeof *stream->fields);
	if (!stream->points || !stream->fields)
		return ps__fail_memory("a log's stream");
	for (size_t index = 0; index < type->field_count; index++) {
		stream->fields[index].kind = type->fields[index].kind;
		stream->fields[index].words = 1;
	}
	stream->next.usual_words = count_usual_words(stream);
	return PS_OK;
}

static int stream_describe(struct ps_log_stream *stream, const struct ps_log_type *type)
{
	const struct ps__recording *recording = ps__set_recording(stream->source.set);
	size_t room = stream->log->file.block_bytes / 2;

	if (recording->columns > PS__LOG_MOST_EVENTS)
		return ps__fail(PS_ECOUNT,
		                "ps_log_stream_create: the set has %zu events, and a log takes %zu "
		                "at most: count some of them in another set",
		                recording->columns, PS__LOG_MOST_EVENTS);
	int result = ps__log_describe_type(recording, type, &stream->description,
	                                   &stream->description_bytes);
	if (result == PS_OK && stream->description_bytes > room)
		return ps__fail(PS_EBUF,
		                "ps_log_stream_create: the description of the events, points and "
		                "fields needs %zu bytes of a block's %zu: give a larger "
		                "block_bytes to ps_log_create",
		                stream->description_bytes, stream->log->file.block_bytes);
	return result;
}

int ps__log_stream_make(struct ps_log_stream **out, struct ps_log *log, struct ps_eventset *set,
                        const struct ps_log_type *type)
{
	struct ps_log_stream *stream = ps__os_calloc(1, sizeof *stream);

	if (!stream)
		return ps__fail_memory("a log's stream");
	stream->log = log;
	stream->source.set = set;
	stream->source.fast = ps__set_fast_path(set);
	int result = stream_allocate(stream, type);
	if (result == PS_OK)
		result = stream_describe(stream, type);
	if (result != PS_OK) {
		stream_free(stream);
		return result;
	}
	stream->number = atomic_fetch_add_explicit(&log->streams, 1, memory_order_relaxed);
	ps__log_hold(log);
	*out = stream;
	return PS_OK;
}

/* Takes a first snapshot, to learn its `of`. */
static int look_at_set(struct ps_eventset *set, uint64_t *of)
{
	struct ps_snapshot *snapshot = NULL;
	int result = ps_snapshot_take(set, &snapshot);

	if (result != PS_OK && result != PS_PARTIAL)
		return result;
	*of = snapshot->of;
	ps_snapshot_destroy(snapshot);
	return PS_OK;
}

static int stream_create(struct ps_log_stream **out, struct ps_log *log, struct ps_eventset *set,
                         const struct ps_log_type *type)
{
	struct ps_log_stream *stream;
	uint64_t of;
	int result = look_at_set(set, &of);

	if (result == PS_OK)
		result = ps__log_stream_make(&stream, log, set, type);
	if (result != PS_OK)
		return result;
	stream->source.of = of;
	result = ps__log_next_block(stream);
	if (result != PS_OK) {
		ps__log_release(log);
		stream_free(stream);
		return result;
	}
	*out = stream;
	return PS_OK;
}

int ps_log_stream_create(struct ps_log_stream **out, struct ps_log *log, struct ps_eventset *set,
                         const struct ps_log_type *type)
{
	struct ps__held held;
	int result = stream_check(out, log, set, type);

	if (result != PS_OK)
		return result;
	ps__signals_hold(&held);
	result = stream_create(out, log, set, type);
	ps__signals_release(&held);
	return result;
}

static int fail_index(const char *call, const char *what, unsigned index, size_t count)
{
	return ps__fail(PS_EINVAL, "%s: there is no %s %u: the type has %zu", call, what, index,
	                count);
}

/* Prefetches the cache lines of the next record while the kernel reads the counters: only as many
 * lines as most records have. */
#define CACHE_LINE_BYTES 64
#define RECORD_LINES     3

static inline void prefetch_record(const struct ps_log_stream *stream)
{
	uintptr_t at = (uintptr_t)stream->next.at;

	for (size_t line = 0; line < RECORD_LINES; line++)
		__builtin_prefetch((const void *)(at + line * CACHE_LINE_BYTES), 1);
}

/* If a handler jumps out of this call, the point is unknown afterwards, not half taken. */
static int stream_take(struct ps_log_stream *stream, unsigned number)
{
	struct ps__log_point *point = &stream->points[number];
	uint64_t bit = ps__log_point_bit(number), known = stream->known, changed = stream->changed;

	stream->known = known & ~bit;
	stream->changed = changed & ~bit;
	atomic_signal_fence(memory_order_seq_cst);
	prefetch_record(stream);
	int result = point->snapshot ? ps__fast_take_snapshot(stream->source.fast, point->snapshot)
	                             : PS__TRY_SLOW_PATH;
	if (result == PS__TRY_SLOW_PATH)
		result = ps__set_take_snapshot_slowly(stream->source.set, &point->snapshot);
	atomic_signal_fence(memory_order_seq_cst);
	if (result != PS_OK && result != PS_PARTIAL) {
		stream->known = known;
		stream->changed = changed;
		return result;
	}
	if (__builtin_expect(point->snapshot->of != stream->source.of, 0))
		return ps__fail(PS_EINVAL,
		                "ps_log_take: the event set has other events than when the stream "
		                "began: make a new stream");
	stream->next.moved &= ~bit;
	stream->next.moved |= ps__log_point_has_stayed(point) ? 0 : bit;
	stream->changed = changed | bit;
	return result;
}

PS__HOT int ps_log_take(struct ps_log_stream *stream, unsigned point)
{
	int result = ps__log_enter(stream, "ps_log_take");

	if (result != PS_OK)
		return result;
	result = __builtin_expect(point < stream->point_count, 1)
	             ? stream_take(stream, point)
	             : fail_index("ps_log_take", "point", point, stream->point_count);
	ps__log_leave(stream);
	return result;
}

struct ps_snapshot *ps__log_fill_point(struct ps_log_stream *stream, unsigned point, size_t parts)
{
	size_t width = ps__recording_width(ps__set_recording(stream->source.set));
	struct ps_snapshot **at = &stream->points[point].snapshot;

	if (!*at || (*at)->room < parts) {
		struct ps_snapshot *made = ps__os_calloc(1, sizeof *made);
		uint64_t *words = made ? ps__os_calloc(parts * (1 + width), sizeof *words) : NULL;
		if (!words) {
			ps__os_free(made);
			return NULL;
		}
		*made = (struct ps_snapshot){.width = width, .room = parts, .parts = words};
		ps_snapshot_destroy(*at);
		*at = made;
	}
	(*at)->count = parts;
	memset((*at)->parts, 0, parts * (1 + width) * sizeof *(*at)->parts);
	stream->next.moved |= ps__log_point_bit(point);
	stream->changed |= ps__log_point_bit(point);
	return *at;
}

static int fail_kind(const char *call, unsigned field, enum ps_log_kind kind)
{
	static const char *const kinds[] = {"an integer", "a real", "a text"};

	return ps__fail(PS_EINVAL, "%s: field %u holds %s", call, field, kinds[kind]);
}

/* If a handler jumps out of this call, the field is unknown afterwards, not half set. */
static int set_words(struct ps_log_stream *stream, unsigned field, const uint64_t *words,
                     size_t count)
{
	uint64_t bit = ps__log_field_bit(field);

	stream->known &= ~bit;
	stream->changed &= ~bit;
	atomic_signal_fence(memory_order_seq_cst);
	memcpy(stream->fields[field].word, words, count * sizeof *words);
	stream->fields[field].words = count;
	atomic_signal_fence(memory_order_seq_cst);
	stream->changed |= bit;
	return PS_OK;
}

/* Sets the words of a field. count: at most the field's room. */
static int set_field(struct ps_log_stream *stream, const char *call, unsigned field,
                     enum ps_log_kind kind, const uint64_t *words, size_t count)
{
	int result = ps__log_enter(stream, call);

	if (result != PS_OK)
		return result;
	if (field >= stream->field_count)
		result = fail_index(call, "field", field, stream->field_count);
	else if (stream->fields[field].kind != kind)
		result = fail_kind(call, field, stream->fields[field].kind);
	else
		result = set_words(stream, field, words, count);
	ps__log_leave(stream);
	return result;
}

static __attribute__((cold, noinline)) int set_word_slowly(struct ps_log_stream *stream,
                                                           const char *call, unsigned field,
                                                           enum ps_log_kind kind, uint64_t word)
{
	return set_field(stream, call, field, kind, &word, 1);
}

/* An integer or a real always has one word. Calls that can fail are in set_word_slowly: otherwise
 * registers would be saved for them each time. */
PS__INLINE int set_word(struct ps_log_stream *stream, const char *call, unsigned field,
                        enum ps_log_kind kind, uint64_t word)
{
	if (__builtin_expect(!stream || stream->busy || field >= stream->field_count, 0))
		return set_word_slowly(stream, call, field, kind, word);
	struct ps__log_field *at = &stream->fields[field];
	if (__builtin_expect(at->kind != kind, 0))
		return set_word_slowly(stream, call, field, kind, word);
	ps__arch_note_stack(&stream->busy);
	atomic_signal_fence(memory_order_seq_cst);
	at->word[0] = word;
	stream->changed |= ps__log_field_bit(field);
	ps__log_leave(stream);
	return PS_OK;
}

PS__HOT int ps_log_set_integer(struct ps_log_stream *stream, unsigned field, long long value)
{
	return set_word(stream, "ps_log_set_integer", field, PS_LOG_INTEGER, (uint64_t)value);
}

PS__HOT int ps_log_set_real(struct ps_log_stream *stream, unsigned field, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof word);
	return set_word(stream, "ps_log_set_real", field, PS_LOG_REAL, word);
}

/* The first byte of the words is the length. */
int ps_log_set_text(struct ps_log_stream *stream, unsigned field, const char *text)
{
	uint64_t words[1 + PS_LOG_TEXT_BYTES / sizeof(uint64_t)] = {0};
	unsigned char *bytes = (unsigned char *)words;
	size_t length = text ? strnlen(text, PS_LOG_TEXT_BYTES + 1) : 0;

	if (!text)
		return ps__fail(PS_EINVAL, "ps_log_set_text: the text is NULL");
	if (length > PS_LOG_TEXT_BYTES)
		return ps__fail(PS_EINVAL,
		                "ps_log_set_text: the text has more than %d bytes: %.20s...",
		                PS_LOG_TEXT_BYTES, text);
	bytes[0] = (unsigned char)length;
	memcpy(bytes + 1, text, length);
	return set_field(stream, "ps_log_set_text", field, PS_LOG_TEXT, words,
	                 (length + sizeof *words) / sizeof *words);
}

void ps_log_stream_destroy(struct ps_log_stream *stream)
{
	struct ps__held held;

	if (!stream)
		return;
	ps__signals_hold(&held);
	if (ps__fork_is_same(stream->log->generation)) {
		/* If a jump left the last call, no later call repairs the stream: so its record is
		 * counted here. */
		if (stream->busy)
			ps__log_recover(stream);
		ps__log_end_block(stream);
	}
	ps__log_give_block(stream->log, &stream->page);
	ps__log_release(stream->log);
	stream_free(stream);
	ps__signals_release(&held);
}
