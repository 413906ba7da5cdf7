/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes numbers and bytes from a record, one after the other. Never reads behind the record's end:
 * there it returns zeros and notes a fault. So a parser needs only one check, when it has finished.
 */
#ifndef PS_SAMPLE_CURSOR_H
#define PS_SAMPLE_CURSOR_H

#include <perfsage/record.h>
#include <stdbool.h>
#include <string.h>

struct ps__cursor {
	const unsigned char *at;
	const unsigned char *end;
	const char *fault; /* why the record is refused; NULL: no fault yet */
	bool is_swapped;
};

/* Notes a fault. Only the first one is kept: it causes the later ones. */
static inline void ps__cursor_fail(struct ps__cursor *cursor, const char *fault)
{
	if (!cursor->fault)
		cursor->fault = fault;
	cursor->at = cursor->end;
}

static inline size_t ps__cursor_left(const struct ps__cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static inline uint64_t ps__word64(const void *at, bool is_swapped)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
	return is_swapped ? __builtin_bswap64(word) : word;
}

static inline uint32_t ps__word32(const void *at, bool is_swapped)
{
	uint32_t word;

	memcpy(&word, at, sizeof word);
	return is_swapped ? __builtin_bswap32(word) : word;
}

static inline uint16_t ps__word16(const void *at, bool is_swapped)
{
	uint16_t word;

	memcpy(&word, at, sizeof word);
	return is_swapped ? __builtin_bswap16(word) : word;
}

/* Skips bytes and returns where they begin; NULL if there are fewer. */
static inline const unsigned char *ps__cursor_skip(struct ps__cursor *cursor, uint64_t size)
{
	const unsigned char *at = cursor->at;

	if (__builtin_expect(ps__cursor_left(cursor) < size, 0)) {
		ps__cursor_fail(cursor, "it ends before its fields do");
		return NULL;
	}
	cursor->at += size;
	return at;
}

static inline uint64_t ps__cursor_u64(struct ps__cursor *cursor)
{
	const unsigned char *at = ps__cursor_skip(cursor, sizeof(uint64_t));

	return at ? ps__word64(at, cursor->is_swapped) : 0;
}

static inline uint32_t ps__cursor_u32(struct ps__cursor *cursor)
{
	const unsigned char *at = ps__cursor_skip(cursor, sizeof(uint32_t));

	return at ? ps__word32(at, cursor->is_swapped) : 0;
}

static inline uint16_t ps__cursor_u16(struct ps__cursor *cursor)
{
	const unsigned char *at = ps__cursor_skip(cursor, sizeof(uint16_t));

	return at ? ps__word16(at, cursor->is_swapped) : 0;
}

static inline struct ps_record_bytes ps__cursor_bytes(struct ps__cursor *cursor, uint64_t size)
{
	const unsigned char *at = size ? ps__cursor_skip(cursor, size) : NULL;

	return (struct ps_record_bytes){.at = at, .size = at ? (size_t)size : 0};
}

/* Skips an array of `count` objects of `bytes` bytes each, and returns where it begins; NULL if it
 * is empty or doesn't fit. */
static inline const void *ps__cursor_array(struct ps__cursor *cursor, uint64_t count, size_t bytes)
{
	if (count > ps__cursor_left(cursor) / bytes) {
		ps__cursor_fail(cursor, "it has no room for the numbers that it announces");
		return NULL;
	}
	return count ? ps__cursor_skip(cursor, count * bytes) : NULL;
}

static inline struct ps_record_words ps__cursor_words(struct ps__cursor *cursor, uint64_t count)
{
	const void *at = ps__cursor_array(cursor, count, sizeof(uint64_t));

	return (struct ps_record_words){.at = at, .count = at ? (size_t)count : 0};
}

#endif
