/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes records. A record is valid only when its first word is stored, as the last of its words. A
 * record has only those parts of a point that changed since the last record: mostly one part, that
 * of the hardware thread where the task is. The first record of a block has all parts, so that the
 * block can be read without the blocks before.
 */
#include "base/error.h"
#include "base/hot.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "snapshot/stream.h"

#include <string.h>

/* Returns the number of a part's words in memory. In a record a part can have one more
 * (PS__LOG_HAS_LABEL). */
static size_t part_words(const struct ps_snapshot *snapshot)
{
	return 1 + snapshot->width;
}

/* Makes room to remember the parts that are written. False if out of memory. */
static bool point_make_room(struct ps__log_point *point)
{
	const struct ps_snapshot *snapshot = point->snapshot;
	struct ps__held held;

	if (__builtin_expect(point->written_room >= snapshot->count, 1))
		return true;
	ps__signals_hold(&held);
	uint64_t *written = ps__os_calloc(snapshot->room * part_words(snapshot), sizeof *written);
	if (written) {
		if (point->written_count)
			memcpy(written, point->written,
			       point->written_count * part_words(snapshot) * sizeof *written);
		ps__os_free(point->written);
		point->written = written;
		point->written_room = snapshot->room;
	}
	ps__signals_release(&held);
	return written != NULL;
}

/* Returns the most words of a record of these points and fields; 0 if out of memory. */
static size_t count_words(struct ps_log_stream *stream, uint64_t mask, bool is_full)
{
	size_t words = 3;

	for (uint32_t left = ps__log_points_of(mask); left; left &= left - 1) {
		struct ps__log_point *point = &stream->points[__builtin_ctz(left)];
		if (!point_make_room(point))
			return 0;
		words +=
		    1 + (!is_full && ps__log_point_has_stayed(point) ? 1 : point->snapshot->count) *
			    (part_words(point->snapshot) + 1);
	}
	for (uint32_t left = ps__log_fields_of(mask); left; left &= left - 1)
		words += stream->fields[__builtin_ctz(left)].words;
	return words;
}

/* Writes the words of a record, and sums them. */
struct pen {
	uint64_t *at;
	struct ps__log_sums sums;
};

static inline void pen_put(struct pen *pen, uint64_t word)
{
	*pen->at++ = word;
	ps__log_sum_word(&pen->sums, word);
}

static inline void pen_put_part(struct pen *pen, const struct ps__log_point *point, size_t index,
                                uint64_t place)
{
	const uint64_t *part = ps__snapshot_part(point->snapshot, index);
	uint64_t label = part[0] >> 16 | point->paused;
	size_t width = point->snapshot->width;

	place |= (part[0] & 0xffff) << PS__LOG_MARK;
	if (__builtin_expect(label >> 16 == 0, 1)) {
		pen_put(pen, place);
	} else {
		pen_put(pen, place | PS__LOG_HAS_LABEL);
		pen_put(pen, label);
	}
	for (size_t word = 1; word <= width; word++)
		pen_put(pen, part[word]);
}

static uint64_t stream_place_of(const struct ps_log_stream *stream, size_t index)
{
	uint32_t place;
	uint32_t cpu = (uint32_t)ps__set_part_cpu(stream->source.set, index, &place);

	return cpu | (uint64_t)(place & 0x7fff) << PS__LOG_PLACE;
}

static bool is_as_written(const struct ps__log_point *point, size_t index)
{
	size_t words = part_words(point->snapshot);

	return index < point->written_count &&
	       memcmp(point->written + index * words, ps__snapshot_part(point->snapshot, index),
	              words * sizeof(uint64_t)) == 0;
}

/* Returns the index of the next part to write, from an index on; or the number of parts. */
static size_t find_change(const struct ps__log_point *point, bool is_full, size_t index)
{
	while (!is_full && index < point->snapshot->count && is_as_written(point, index))
		index++;
	return index;
}

/* Writes the changed parts of a point for which ps__log_point_has_stayed is false. */
static void pen_put_changes(const struct ps_log_stream *stream, struct ps__log_point *point,
                            bool is_full, struct pen *pen)
{
	const struct ps_snapshot *snapshot = point->snapshot;
	uint64_t paused = ps__log_find_paused(stream, point);
	/* A pause is news of all parts, even if none of them has grown. */
	bool has_all = is_full || paused != point->paused;
	size_t words = part_words(snapshot), index = find_change(point, has_all, 0);

	point->paused = paused;
	pen_put(pen, snapshot->timestamp | (index < snapshot->count ? PS__LOG_MORE : 0));
	while (index < snapshot->count) {
		size_t next = find_change(point, has_all, index + 1);
		pen_put_part(pen, point, index,
		             stream_place_of(stream, index) |
		                 (next < snapshot->count ? PS__LOG_MORE : 0));
		memcpy(point->written + index * words, ps__snapshot_part(snapshot, index),
		       words * sizeof(uint64_t));
		index = next;
	}
	point->written_count = snapshot->count;
	point->written_opening = snapshot->opening;
	point->own = snapshot->own;
	point->own_place = snapshot->opening ? stream_place_of(stream, snapshot->own) : 0;
}

/* Writes the one part that can have changed in a point for which ps__log_point_has_stayed is true.
 * `written` isn't updated: parts only grow, so a part that later equals `written` has not changed
 * meanwhile. */
static inline void pen_put_own(const struct ps__log_point *point, struct pen *pen)
{
	pen_put(pen, point->snapshot->timestamp | PS__LOG_MORE);
	pen_put_part(pen, point, point->own, point->own_place);
}

/* The parts that a record has of each point: one part, the changed parts, or all parts. */
enum extent {
	USUAL,
	CHANGES,
	FULL
};

PS__INLINE void put_all(const struct ps_log_stream *stream, uint64_t mask, enum extent extent,
                        struct pen *pen)
{
	for (uint32_t left = ps__log_points_of(mask); left; left &= left - 1) {
		struct ps__log_point *point = &stream->points[__builtin_ctz(left)];
		if (extent == USUAL)
			pen_put_own(point, pen);
		else
			pen_put_changes(stream, point, extent == FULL, pen);
	}
	for (uint32_t left = ps__log_fields_of(mask); left; left &= left - 1) {
		const struct ps__log_field *field = &stream->fields[__builtin_ctz(left)];
		pen_put(pen, field->word[0]);
		for (size_t word = 1; word < field->words; word++)
			pen_put(pen, field->word[word]);
	}
}

PS__INLINE void publish(struct ps_log_stream *stream, uint64_t mask, enum extent extent)
{
	uint64_t *record = stream->next.at, start = 0;
	struct pen pen = {record + 1, stream->next.seed};
	uint64_t changed = stream->changed;

	ps__log_sum_word(&pen.sums, 0);
	if (extent == FULL || changed != stream->latest) {
		pen_put(&pen, mask);
		start = PS__LOG_HAS_MASKS;
		stream->latest = changed;
	}
	if (extent == FULL) {
		pen_put(&pen, changed);
		start |= PS__LOG_IS_FULL;
	}
	put_all(stream, mask, extent, &pen);
	start |= (uint64_t)(pen.at - record);
	/* In a ring, words of an earlier lap may be there. */
	if (pen.at < stream->next.end)
		*pen.at = 0;
	start = ps__log_seal_late(pen.sums, start);
	/* A reader of the file that is being written sees the whole record, or none. */
	__atomic_store_n(record, start, __ATOMIC_RELEASE);
	/* `changed` is cleared before the record is counted: ps__log_recover compares the
	 * counts. */
	atomic_signal_fence(memory_order_seq_cst);
	stream->changed = 0;
	atomic_signal_fence(memory_order_seq_cst);
	stream->next.at = pen.at;
	stream->records++;
	stream->attempts++;
}

/* Sets usual_until: from the second record of a block on, most records are usual ones. */
static void expect_usual(struct ps_log_stream *stream)
{
	size_t words = stream->next.usual_words;
	bool has_room =
	    words <= PS__LOG_LENGTH && words <= (size_t)(stream->next.end - stream->next.at);

	stream->next.usual_until = has_room ? stream->next.end - words + 1 : NULL;
}

static __attribute__((noinline)) void publish_full(struct ps_log_stream *stream)
{
	publish(stream, stream->known, FULL);
	expect_usual(stream);
}

void ps__log_end_block(struct ps_log_stream *stream)
{
	stream->next.usual_until = NULL;
	if (stream->page.block && stream->page.block->records == PS__LOG_OPEN)
		stream->page.block->records = stream->records;
}

/* Fills a block's header and description. The first word is stored last: before that the block
 * isn't in use, for a reader and after a kill. */
static void fill_block(struct ps_log_stream *stream, struct ps__log_block *block)
{
	struct ps__log_block header = {.magic = PS__LOG_BLOCK_MAGIC,
	                               .stream = stream->number,
	                               .sequence = stream->sequence++,
	                               .first = stream->attempts,
	                               .description_bytes = stream->description_bytes,
	                               .records = PS__LOG_OPEN};

	header.check = ps__log_check(&header, offsetof(struct ps__log_block, check),
	                             (const uint64_t *)stream->description,
	                             stream->description_bytes / sizeof(uint64_t));
	memcpy(block + 1, stream->description, stream->description_bytes);
	memcpy(&block->stream, &header.stream,
	       sizeof header - offsetof(struct ps__log_block, stream));
	__atomic_store_n(&block->magic, header.magic, __ATOMIC_RELEASE);
}

/* Returns where the records of the stream's page begin. */
static uint64_t *begin_page(struct ps_log_stream *stream)
{
	struct ps__log_block *block = stream->page.block;

	stream->next.end = (uint64_t *)((char *)block + stream->log->file.block_bytes);
	stream->next.seed = ps__log_seed(block);
	return (uint64_t *)((char *)(block + 1) + stream->description_bytes);
}

static int stream_next_block(struct ps_log_stream *stream)
{
	struct ps__log_page page;
	int result = ps__log_take_block(stream->log, &page);

	if (result != PS_OK)
		return result;
	fill_block(stream, page.block);
	ps__log_end_block(stream);
	ps__log_give_block(stream->log, &stream->page);
	stream->page = page;
	stream->next.at = begin_page(stream);
	stream->records = 0;
	return PS_OK;
}

/* Signals are blocked until the stream has the page: a jump in between would lose the page. */
int ps__log_next_block(struct ps_log_stream *stream)
{
	struct ps__held held;

	ps__signals_hold(&held);
	int result = stream_next_block(stream);
	ps__signals_release(&held);
	return result;
}

/* Ends the block, because the numbers of its records must have no gap. What was taken and set for
 * the lost record isn't new in the next one, which is a full record and has it as kept. */
int ps__log_lose(struct ps_log_stream *stream, int code)
{
	struct ps__held held;

	/* The three numbers count the same records: after a jump in between they would differ. */
	ps__signals_hold(&held);
	ps__log_end_block(stream);
	stream->changed = 0;
	stream->attempts++;
	if (stream->page.block)
		stream->page.block->lost++;
	atomic_fetch_add_explicit(&stream->log->lost, 1, memory_order_relaxed);
	ps__signals_release(&held);
	return code;
}

static int lose_large(struct ps_log_stream *stream, size_t words)
{
	int code;

	if (words > PS__LOG_LENGTH)
		code = ps__fail(PS_EBUF,
		                "ps_log_write: a record may need %zu bytes, and none can have more "
		                "than %zu: give the stream fewer points or events",
		                words * sizeof(uint64_t), PS__LOG_LENGTH * sizeof(uint64_t));
	else
		code = ps__fail(PS_EBUF,
		                "ps_log_write: a record may need %zu bytes, and a block has %zu: "
		                "give a larger block_bytes to ps_log_create",
		                words * sizeof(uint64_t), stream->log->file.block_bytes);
	return ps__log_lose(stream, code);
}

static __attribute__((cold, noinline)) int write_to_next_block(struct ps_log_stream *stream)
{
	size_t room = stream->log->file.block_bytes - sizeof(struct ps__log_block) -
	              stream->description_bytes;
	size_t words = count_words(stream, stream->known, true);

	if (words == 0)
		return ps__log_lose(stream, ps__fail_memory("a log's record"));
	if (words > room / sizeof(uint64_t) || words > PS__LOG_LENGTH)
		return lose_large(stream, words);
	int result = ps__log_next_block(stream);
	if (result != PS_OK)
		return ps__log_lose(stream, result);
	publish_full(stream);
	return PS_OK;
}

static inline bool block_is_open(const struct ps_log_stream *stream)
{
	return stream->page.block && stream->page.block->records == PS__LOG_OPEN;
}

/* Called after a handler jumped out of a call. If the first word of the record that was being
 * written is stored, the record is valid, and its points and fields aren't new any more. `written`
 * of its points may be wrong. */
void ps__log_recover(struct ps_log_stream *stream)
{
	const struct ps__log_block *block = stream->page.block;
	uint64_t *at, records = 0;

	stream->is_broken = true;
	stream->next.usual_until = NULL;
	if (!block_is_open(stream))
		return;
	at = begin_page(stream);

	while (at < stream->next.end && (*at & PS__LOG_LENGTH)) {
		at += *at & PS__LOG_LENGTH;
		records++;
	}
	if (records > stream->records)
		stream->changed = 0;
	stream->next.at = at;
	stream->records = records;
	stream->attempts = block->first + records;
}

static __attribute__((cold, noinline)) int write_unusual(struct ps_log_stream *stream)
{
	bool is_broken = stream->is_broken, is_open = block_is_open(stream);

	stream->is_broken = false;
	if (!is_open)
		return write_to_next_block(stream);
	bool is_full = stream->records == 0 || is_broken;
	uint64_t mask = is_full ? stream->known : stream->changed;
	size_t words = count_words(stream, mask, is_full);
	if (words == 0 || words > (size_t)(stream->next.end - stream->next.at) ||
	    words > PS__LOG_LENGTH)
		return write_to_next_block(stream);
	if (is_full)
		publish_full(stream);
	else
		publish(stream, mask, CHANGES);
	return PS_OK;
}

static inline int write_record(struct ps_log_stream *stream)
{
	stream->known |= stream->changed;
	if (__builtin_expect(stream->next.at >= stream->next.usual_until || stream->next.moved, 0))
		return write_unusual(stream);
	publish(stream, stream->changed, USUAL);
	return PS_OK;
}

int ps__log_enter_slowly(struct ps_log_stream *stream, const char *call, uintptr_t stack)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "%s: the stream is NULL", call);
	if (!ps__stack_was_left(stream->busy, stack))
		return ps__fail(PS_ECNFLCT,
		                "%s: the stream is in the middle of another call, which a signal "
		                "interrupted",
		                call);
	ps__log_recover(stream);
	return PS_OK;
}

PS__HOT int ps_log_write(struct ps_log_stream *stream)
{
	int result = ps__log_enter(stream, "ps_log_write");

	if (result != PS_OK)
		return result;
	if (__builtin_expect(ps__fork_is_same(stream->log->generation), 1))
		result = write_record(stream);
	else
		result = ps__fail(PS_ESYS,
		                  "ps_log_write: the log '%s' is the parent process's: "
		                  "make one in this process",
		                  stream->log->file.path);
	ps__log_leave(stream);
	return result;
}
