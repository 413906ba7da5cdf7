/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads logs: record by record, and what was counted between any two points.
 */
#ifndef PERFSAGE_LOG_READER_H
#define PERFSAGE_LOG_READER_H

#include <perfsage/component.h>
#include <perfsage/log.h>
#include <perfsage/value.h>
#include <perfsage/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A log that is read. */
struct ps_log_reader;

/** A stream of a log. Strings live as long as the reader. */
struct ps_log_info {
	size_t size;         /* sizeof(struct ps_log_info), set by the caller */
	const char *type;    /* the name of the records' type */
	int process, thread; /* numbers of the process and the thread that made the stream */
	size_t event_count, point_count, field_count;
	/* Numbers of records, up to the record that ps_log_next has reached: */
	uint64_t records; /* records that ps_log_next gave */
	uint64_t missing; /* records that could not be written, or that are damaged */
	/* In a ring: records before the stream's oldest block, and records of blocks that were
	 * overwritten while the ring was read. It is possible that some of these records could not
	 * be written: their number isn't known, and they are not in `missing` */
	uint64_t dropped;
};

/** Whether the file has its end. */
enum ps_log_end {
	PS_LOG_END_UNKNOWN = 0, /* the file has no note of its end, because an older perfsage wrote
	                           it, or the note is damaged */
	PS_LOG_END_CLOSED,      /* the log was closed, and the file has all blocks */
	PS_LOG_END_OPEN,        /* the log was not closed: the program goes on, was killed or didn't
	                           close the log. A file that is no ring may also have been cut */
	PS_LOG_END_CUT          /* the file is shorter than it was, or became shorter while it was
	                           read: records can be missing, and it isn't known how many */
};

/** A record. Bits stand for points, and for fields, by index. */
struct ps_log_record {
	size_t size;     /* sizeof(struct ps_log_record), set by the caller */
	size_t stream;   /* index of its stream */
	uint64_t number; /* its number in the stream, from 0 */
	uint32_t points; /* points that were taken for this record; others keep their values */
	uint32_t fields; /* fields that were set for this record; others keep their values */
};

/** The value of a field. */
struct ps_log_value {
	enum ps_log_kind kind;
	int is_set; /* 0: the field was never set, the rest is 0 */
	long long integer;
	double real;
	char text[PS_LOG_TEXT_BYTES + 1];
};

/** A point of the previous record of the same stream: point | PS_LOG_PREVIOUS. */
#define PS_LOG_PREVIOUS 0x10000u

/** The moment at which the stream's set began to count for snapshots. Only for an interval's
 * `from`. */
#define PS_LOG_START 0x20000u

/**
 * Opens a log, which may still be written.
 *
 * out - receives the reader, to be destroyed by ps_log_close
 * path - only read
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; the file is not a log, was written on a machine of the other
 *       byte order or by a later version, or its header is damaged or cut off
 *   PS_ESYS - the file can't be read
 *   PS_ECOUNT - no file descriptor is left; the reader keeps one
 *   PS_ENOMEM - out of memory
 *
 * Any thread. Looks at each block of the file.
 */
PS_PUBLIC int ps_log_open(struct ps_log_reader **out, const char *path);

/** The topology of the machine where the log was written; NULL for NULL. It lives as long as the
 * reader. */
PS_PUBLIC struct ps_component *ps_log_root(const struct ps_log_reader *reader);

/** Counts the streams that have a block in the file. A stream of a ring is not counted if all its
 * blocks were overwritten. reader - NULL gives 0 */
PS_PUBLIC size_t ps_log_stream_count(const struct ps_log_reader *reader);

/** Counts the damaged blocks: records of such a block are missing, or their number isn't known.
 * A copy of another block and a block behind the log's end are damaged, and are not read.
 * ps_log_next adds blocks that have changed since the log was opened, and blocks whose numbers of
 * records are impossible. reader - NULL gives 0 */
PS_PUBLIC size_t ps_log_damaged_blocks(const struct ps_log_reader *reader);

/** Tells whether the file is complete, as far as ps_log_open and ps_log_next have seen. reader -
 * NULL gives PS_LOG_END_UNKNOWN */
PS_PUBLIC enum ps_log_end ps_log_end(const struct ps_log_reader *reader);

/**
 * Describes a stream.
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, there is no such stream, or info->size isn't
 *       set
 */
PS_PUBLIC int ps_log_describe(const struct ps_log_reader *reader, size_t stream,
                              struct ps_log_info *info);

/** The name of an event; NULL if there is no such stream or event. Lives as long as the
 * reader. */
PS_PUBLIC const char *ps_log_event_name(const struct ps_log_reader *reader, size_t stream,
                                        size_t index);
/** The name of a point; NULL if there is no such stream or point. Lives as long as the
 * reader. */
PS_PUBLIC const char *ps_log_point_name(const struct ps_log_reader *reader, size_t stream,
                                        size_t index);
/** The name of a field; NULL if there is no such stream or field. Lives as long as the
 * reader. */
PS_PUBLIC const char *ps_log_field_name(const struct ps_log_reader *reader, size_t stream,
                                        size_t index);

/**
 * Goes to the next record. The streams come one after the other, and the records of a
 * stream in the order in which they were written.
 *
 * record - NULL, or receives a description of the record
 *
 * Returns PS_OK, or PS_ENOEVST after the last record that the reader can see: then the
 * reader is at no record. All later calls return PS_ENOEVST, also if the log is still
 * written.
 *
 * Errors:
 *   PS_EINVAL - reader is NULL, or record->size isn't set
 *   PS_ESYS - the file can't be read any more
 *   PS_ECLOST - the program has closed the reader's descriptor
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_log_next(struct ps_log_reader *reader, struct ps_log_record *record);

/**
 * The value of a field in the record. A field that was not set for this record has its
 * value of an earlier record.
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or there is no such field
 *   PS_ENOEVST - ps_log_next has not returned a record
 */
PS_PUBLIC int ps_log_value(const struct ps_log_reader *reader, unsigned field,
                           struct ps_log_value *out);

/**
 * When a point was taken: nanoseconds of CLOCK_MONOTONIC on the machine of the log.
 *
 * point - index; with PS_LOG_PREVIOUS the point of the previous record
 *
 * Returns 0 if the time isn't known: the point was never taken, the previous record is
 * missing or does not exist, or ps_log_next has not returned a record.
 */
PS_PUBLIC uint64_t ps_log_time(const struct ps_log_reader *reader, unsigned point);

/**
 * What was counted between two points.
 *
 * from, to - index; with PS_LOG_PREVIOUS the point of the previous record. If from is
 *     PS_LOG_START, the values are totals, also if records are missing
 * component - of ps_log_root's tree: what was counted on the hardware threads below
 *     it; NULL: on all
 * values - receives a value for each event of the stream, with the time of `to`;
 *     untouched on failure. The events from number 15 on share PS_VALUE_PAUSED: if
 *     one of them was paused, all have the flag
 * count - the size of the array
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or there is no such point
 *   PS_EBUF - the array is too small
 *   PS_ENOEVST - ps_log_next has not returned a record; from or to was not taken
 *       yet; the previous record is missing or does not exist; from was taken after
 *       to; or before it the set counted nothing on the component, not even time
 *       (on the whole machine this is a count of 0)
 *   PS_EINVAL_DOM - one count of an event covers more than the component
 *   PS_ENOMEM - out of memory
 *
 * By one thread at a time.
 */
PS_PUBLIC int ps_log_interval(struct ps_log_reader *reader, unsigned from, unsigned to,
                              const struct ps_component *component, struct ps_value *values,
                              size_t count);

/** Closes a reader; NULL does nothing. */
PS_PUBLIC void ps_log_close(struct ps_log_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
