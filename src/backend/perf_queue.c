/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts records of several rings by time. See perf_queue.h. */
#include "backend/perf_queue.h"

#include "base/os.h"
#include "base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for one more record of size_bytes bytes. Records begin at multiples of 8. */
static bool queue_make_room(struct ps__queue *queue, size_t size_bytes)
{
	return PS__VECTOR_RESERVE(&queue->bytes, queue->bytes_used, queue->bytes_used + size_bytes,
	                          &queue->bytes_room) &&
	       PS__VECTOR_GROW(&queue->records, queue->count, &queue->room);
}

bool ps__queue_take(const struct ps__ring *ring, const struct perf_event_header *header,
                    void *context)
{
	struct ps__queue *queue = context;
	struct ps__record_trailer trailer;

	if (header->type == PERF_RECORD_LOST || header->size % 8 ||
	    header->size < sizeof *header + sizeof trailer)
		return false;
	if (!queue_make_room(queue, header->size))
		return false;
	char *record = queue->bytes + queue->bytes_used;
	ps__ring_copy(ring, 0, record, header->size);
	memcpy(&trailer, record + header->size - sizeof trailer, sizeof trailer);
	queue->records[queue->count++] = (struct ps__queue_record){
	    .time = trailer.time + queue->shift_ns, .offset = queue->bytes_used};
	queue->bytes_used += header->size;
	return true;
}

static int queue_compare(const void *one, const void *other)
{
	const struct ps__queue_record *a = one, *b = other;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int queue_compare_offsets(const void *one, const void *other)
{
	const struct ps__queue_record *a = one, *b = other;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

void ps__queue_sort(struct ps__queue *queue)
{
	if (queue->count)
		qsort(queue->records, queue->count, sizeof *queue->records, queue_compare);
}

/* Moves the bytes of the remaining records to the front, in their present order. */
static void queue_move_up(struct ps__queue *queue)
{
	size_t used = 0;

	qsort(queue->records, queue->count, sizeof *queue->records, queue_compare_offsets);
	for (size_t index = 0; index < queue->count; index++) {
		struct ps__queue_record *record = &queue->records[index];
		struct perf_event_header header;
		memcpy(&header, queue->bytes + record->offset, sizeof header);
		memmove(queue->bytes + used, queue->bytes + record->offset, header.size);
		record->offset = used;
		used += header.size;
	}
	queue->bytes_used = used;
	ps__queue_sort(queue);
}

void ps__queue_drop(struct ps__queue *queue, size_t count)
{
	queue->count -= count;
	if (queue->count)
		memmove(queue->records, queue->records + count,
		        queue->count * sizeof *queue->records);
	else
		queue->bytes_used = 0;
	if (queue->count && count)
		queue_move_up(queue);
}

void ps__queue_clear(struct ps__queue *queue)
{
	ps__os_free(queue->bytes);
	ps__os_free(queue->records);
	*queue = (struct ps__queue){0};
}

bool ps__queue_name(const struct ps__name_record *record, char name[16])
{
	size_t other_bytes = sizeof *record + sizeof(struct ps__record_trailer);

	if (record->header.size < other_bytes)
		return false;
	size_t length = record->header.size - other_bytes;
	memset(name, 0, 16);
	memcpy(name, record->name, length < 16 ? length : 15);
	return true;
}
