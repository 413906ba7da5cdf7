/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records copied out of several rings, to be processed in the order of time. A task writes a record
 * to the ring of its current CPU, so a task's records may be in several rings.
 */
#ifndef PS_BACKEND_PERF_QUEUE_H
#define PS_BACKEND_PERF_QUEUE_H

#include "locate/ring.h"

/* sample_id_all appends this to each record, with PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER. */
struct ps__record_trailer {
	uint64_t time;
	uint64_t id;
};

/* PERF_RECORD_COMM. */
struct ps__name_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

/* A record that was copied out of its ring. */
struct ps__queue_record {
	uint64_t time;
	size_t offset; /* in the queue's bytes; it also shows the order of arrival */
};

struct ps__queue {
	char *bytes; /* the records, one after the other */
	size_t bytes_used, bytes_room;
	struct ps__queue_record *records;
	size_t count, room;
	uint64_t shift_ns; /* to be added to all times: see time_namespace.h */
};

/* A ps__ring_take whose context is a struct ps__queue: copies a record. False if the record can't
 * be queued, is damaged, or says that others were lost. */
bool ps__queue_take(const struct ps__ring *ring, const struct perf_event_header *header,
                    void *context);
/* Sorts by time; records of the same time stay in the order of arrival. */
void ps__queue_sort(struct ps__queue *queue);
/* Drops the first `count` records. */
void ps__queue_drop(struct ps__queue *queue, size_t count);
void ps__queue_clear(struct ps__queue *queue); /* releases all */

static inline const void *ps__queue_bytes(const struct ps__queue *queue, size_t record)
{
	return queue->bytes + queue->records[record].offset;
}

/* Copies the name from a PERF_RECORD_COMM. False if the record is too short. */
bool ps__queue_name(const struct ps__name_record *record, char name[16]);

#endif
