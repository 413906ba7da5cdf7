/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of several rings in the order of time. See perf_kept.h. */
#include "backend/perf_kept.h"

#include "base/os.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Room for one record more, of that many bytes, beginning where 8-byte numbers may. */
static bool kept_make_room(struct ps__kept *kept, size_t size_bytes)
{
	char *bytes = ps__vector_reserve(kept->bytes, kept->bytes_used,
	                                 kept->bytes_used + size_bytes, &kept->bytes_room, 1);

	if (!bytes)
		return false;
	kept->bytes = bytes;
	struct ps__kept_record *records = ps__vector_reserve(
	    kept->records, kept->count, kept->count + 1, &kept->room, sizeof *records);
	if (!records)
		return false;
	kept->records = records;
	return true;
}

bool ps__kept_take(const struct ps__ring *ring, const struct perf_event_header *header,
                   void *context)
{
	struct ps__kept *kept = context;
	struct ps__record_trailer trailer;

	if (header->type == PERF_RECORD_LOST || header->size % 8 ||
	    header->size < sizeof *header + sizeof trailer)
		return false;
	if (!kept_make_room(kept, header->size))
		return false;
	char *record = kept->bytes + kept->bytes_used;
	ps__ring_copy(ring, 0, record, header->size);
	memcpy(&trailer, record + header->size - sizeof trailer, sizeof trailer);
	kept->records[kept->count++] = (struct ps__kept_record){
	    .time = trailer.time + kept->shift_ns, .offset = kept->bytes_used};
	kept->bytes_used += header->size;
	return true;
}

static int compare(const void *one, const void *other)
{
	const struct ps__kept_record *a = one, *b = other;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int compare_offsets(const void *one, const void *other)
{
	const struct ps__kept_record *a = one, *b = other;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

void ps__kept_sort(struct ps__kept *kept)
{
	if (kept->count)
		qsort(kept->records, kept->count, sizeof *kept->records, compare);
}

/* Moves the bytes of what is left to the front, in the order in which they stand. */
static void kept_move_up(struct ps__kept *kept)
{
	size_t used = 0;

	qsort(kept->records, kept->count, sizeof *kept->records, compare_offsets);
	for (size_t index = 0; index < kept->count; index++) {
		struct ps__kept_record *record = &kept->records[index];
		struct perf_event_header header;
		memcpy(&header, kept->bytes + record->offset, sizeof header);
		memmove(kept->bytes + used, kept->bytes + record->offset, header.size);
		record->offset = used;
		used += header.size;
	}
	kept->bytes_used = used;
	ps__kept_sort(kept);
}

void ps__kept_drop(struct ps__kept *kept, size_t count)
{
	kept->count -= count;
	if (kept->count)
		memmove(kept->records, kept->records + count, kept->count * sizeof *kept->records);
	else
		kept->bytes_used = 0;
	if (kept->count && count)
		kept_move_up(kept);
}

void ps__kept_clear(struct ps__kept *kept)
{
	ps__os_free(kept->bytes);
	ps__os_free(kept->records);
	*kept = (struct ps__kept){0};
}

bool ps__kept_name(const struct ps__name_record *record, char name[16])
{
	size_t other_bytes = sizeof *record + sizeof(struct ps__record_trailer);

	if (record->header.size < other_bytes)
		return false;
	size_t length = record->header.size - other_bytes;
	memset(name, 0, 16);
	memcpy(name, record->name, length < 16 ? length : 15);
	return true;
}
