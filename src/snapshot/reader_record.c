/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one record. If perfsage wrote the file, a record with a right checksum has right lengths.
 * Nevertheless all lengths are compared with the record's end, because the file may have any
 * bytes. */
#include "base/error.h"
#include "base/os.h"
#include "snapshot/reader.h"

#include <string.h>

/* The words of the record that were not read yet. */
struct words {
	const uint64_t *at, *end;
	bool is_short; /* more words were asked for than there are */
};

static uint64_t take_word(struct words *words)
{
	if (words->at < words->end)
		return *words->at++;
	words->is_short = true;
	return 0;
}

static int state_make_room(struct ps__log_state *state, size_t width)
{
	size_t room = state->room ? 2 * state->room : 4;

	if (state->count < state->room)
		return PS_OK;
	uint64_t *parts = ps__os_calloc(room * (1 + width), sizeof *parts);
	uint32_t *places = ps__os_calloc(room, sizeof *places);
	if (!parts || !places) {
		ps__os_free(parts);
		ps__os_free(places);
		return ps__fail_memory("a snapshot of a log");
	}
	if (state->count) {
		memcpy(parts, state->parts, state->count * (1 + width) * sizeof *parts);
		memcpy(places, state->places, state->count * sizeof *places);
	}
	ps__os_free(state->parts);
	ps__os_free(state->places);
	state->parts = parts;
	state->places = places;
	state->room = room;
	return PS_OK;
}

/* Finds or makes the part of a place. NULL if out of memory. */
static uint64_t *state_find_part(struct ps__log_state *state, uint32_t place, size_t width)
{
	for (size_t index = 0; index < state->count; index++) {
		if (state->places[index] == place)
			return ps__log_part(state, index, width);
	}
	if (state_make_room(state, width) != PS_OK)
		return NULL;
	state->places[state->count] = place;
	return ps__log_part(state, state->count++, width);
}

static int read_part(struct ps_log_reader *reader, struct ps__log_state *state, uint64_t start,
                     struct words *words)
{
	struct ps__log_source *source = reader->cursor.source;
	uint32_t place = (uint32_t)(start >> PS__LOG_PLACE & 0x7fff);
	ptrdiff_t found =
	    ps__log_source_place(source, reader->topology, (int)(uint32_t)start, place);

	uint64_t mark = (start & ~PS__LOG_HAS_LABEL) >> PS__LOG_MARK & 0xffff;
	uint64_t rest = start & PS__LOG_HAS_LABEL ? take_word(words) : mark;
	if (found == -2 || (size_t)(words->end - words->at) < source->width)
		return PS_ENOEVST;
	uint64_t *part = found < 0 ? NULL : state_find_part(state, (uint32_t)found, source->width);
	if (!part)
		return ps__fail_memory("a snapshot of a log");
	part[0] = mark | rest << 16;
	if (start & PS__LOG_HAS_LABEL)
		state->paused |= (uint16_t)(rest >> PS__LOG_PAUSED);
	memcpy(part + 1, words->at, source->width * sizeof *part);
	words->at += source->width;
	return PS_OK;
}

static int read_point(struct ps_log_reader *reader, struct ps__log_state *state,
                      struct words *words)
{
	uint64_t start = take_word(words);
	int result = PS_OK;

	state->time = start & ~PS__LOG_MORE;
	while (result == PS_OK && start & PS__LOG_MORE && !words->is_short) {
		start = take_word(words);
		if (!words->is_short)
			result = read_part(reader, state, start, words);
	}
	return words->is_short || state->time == 0 ? PS_ENOEVST : result;
}

static int value_read_text(struct ps_log_value *value, struct words *words)
{
	const unsigned char *bytes = (const unsigned char *)words->at;
	size_t length = words->at < words->end ? bytes[0] : 0;
	size_t count = (length + sizeof(uint64_t)) / sizeof(uint64_t);

	if (length > PS_LOG_TEXT_BYTES || (size_t)(words->end - words->at) < count)
		return PS_ENOEVST;
	memcpy(value->text, bytes + 1, length);
	value->text[length] = '\0';
	words->at += count;
	return PS_OK;
}

static int value_read_field(struct ps_log_value *value, enum ps_log_kind kind, struct words *words)
{
	*value = (struct ps_log_value){.kind = kind, .is_set = 1};
	if (kind == PS_LOG_TEXT)
		return value_read_text(value, words);
	uint64_t word = take_word(words);
	if (kind == PS_LOG_INTEGER)
		value->integer = (long long)word;
	else
		memcpy(&value->real, &word, sizeof word);
	return words->is_short ? PS_ENOEVST : PS_OK;
}

static bool masks_are_possible(const struct ps_log_info *info, const uint32_t masks[2])
{
	return (uint64_t)masks[0] >> info->point_count == 0 &&
	       (uint64_t)masks[1] >> info->field_count == 0;
}

/* Reads the masks: the points and fields that the record has, and those that are new in it. */
static int read_masks(struct ps__log_cursor *cursor, uint64_t start, struct words *words,
                      uint32_t changed[2], uint32_t masks[2])
{
	uint64_t word = cursor->masks[0] | (uint64_t)cursor->masks[1] << 32;

	if (start & PS__LOG_HAS_MASKS)
		word = take_word(words);
	masks[0] = (uint32_t)word;
	masks[1] = (uint32_t)(word >> 32);
	if (start & PS__LOG_IS_FULL)
		word = take_word(words);
	changed[0] = (uint32_t)word;
	changed[1] = (uint32_t)(word >> 32);
	memcpy(cursor->masks, changed, sizeof cursor->masks);
	if (words->is_short || !masks_are_possible(&cursor->source->info, masks) ||
	    changed[0] & ~masks[0] || changed[1] & ~masks[1])
		return PS_ENOEVST;
	return PS_OK;
}

static int read_all(struct ps_log_reader *reader, struct words *words, const uint32_t masks[2])
{
	struct ps__log_cursor *cursor = &reader->cursor;
	int result = PS_OK;

	for (uint32_t left = masks[0]; result == PS_OK && left; left &= left - 1)
		result = read_point(reader, &cursor->now[__builtin_ctz(left)], words);
	for (uint32_t left = masks[1]; result == PS_OK && left; left &= left - 1) {
		int field = __builtin_ctz(left);
		result =
		    value_read_field(&cursor->fields[field], cursor->source->kinds[field], words);
	}
	/* A record has no words behind its fields. */
	return result == PS_OK && words->at != words->end ? PS_ENOEVST : result;
}

int ps__log_read_record(struct ps_log_reader *reader, uint32_t changed[2])
{
	struct ps__log_cursor *cursor = &reader->cursor;
	uint64_t start = cursor->at < cursor->end ? *cursor->at : 0;
	size_t length = start & PS__LOG_LENGTH;
	uint32_t masks[2];

	if (length == 0 || length > (size_t)(cursor->end - cursor->at) ||
	    (uint32_t)start & ~PS__LOG_KNOWN ||
	    start != ps__log_seal(ps__log_seed(&cursor->block), (uint32_t)start, cursor->at + 1,
	                          length - 1))
		return PS_ENOEVST;
	struct words words = {cursor->at + 1, cursor->at + length, false};
	int result = read_masks(cursor, start, &words, changed, masks);
	if (result == PS_OK)
		result = read_all(reader, &words, masks);
	if (result == PS_OK)
		cursor->at += length;
	return result;
}
