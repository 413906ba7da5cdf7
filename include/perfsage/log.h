/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log: a file of records. A record has snapshots of an event set at named points, and fields that
 * the program sets beside them. Intervals between any two points are chosen afterwards.
 */
#ifndef PERFSAGE_LOG_H
#define PERFSAGE_LOG_H

#include <perfsage/component.h>
#include <perfsage/eventset.h>
#include <perfsage/visibility.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A file of records. */
struct ps_log;

/** The records of one type, of one event set. */
struct ps_log_stream;

/** What a field holds. */
enum ps_log_kind {
	PS_LOG_INTEGER = 0,
	PS_LOG_REAL, /* a double */
	PS_LOG_TEXT  /* at most PS_LOG_TEXT_BYTES bytes */
};

/** The longest text of a field, and the longest name, without the NUL. */
#define PS_LOG_TEXT_BYTES 63

/** The most points, and the most fields, of a type of record. */
#define PS_LOG_MOST_POINTS 32
#define PS_LOG_MOST_FIELDS 32

/** A field of a record: what the program knows about its work, beside the counts. */
struct ps_log_field {
	const char *name;
	enum ps_log_kind kind;
};

/** What the records of a stream consist of. Names are printable and not empty. Two points have
 * different names, and so have two fields. */
struct ps_log_type {
	size_t size;               /* sizeof(struct ps_log_type) */
	const char *name;          /* the type's name: "request" */
	const char *const *points; /* the points' names: "begin", "end" */
	size_t point_count;        /* 1 to PS_LOG_MOST_POINTS */
	const struct ps_log_field *fields;
	size_t field_count; /* 0 to PS_LOG_MOST_FIELDS */
};

/** How a log is made; may be OR-ed. */
enum ps_log_flag {
	PS_LOG_REPLACE = 1 << 0 /* the new log replaces an older log of the same path. Neither a log
	                          that is open for writing nor another file is replaced */
};

/** Options of a new log. If all members but size are 0, the log is as without options. */
struct ps_log_options {
	size_t size;         /* sizeof(struct ps_log_options) */
	unsigned flags;      /* OR of enum ps_log_flag */
	uint64_t ring_bytes; /* keep the newest records that fit in about this size; 0: keep all */
	size_t block_bytes;  /* the size of a block, which a stream takes at once; at most 64 MiB.
	                        0: 256 KiB, less in a small ring, more on big machines */
};

/**
 * Makes a log.
 *
 * out - receives the log, to be destroyed by ps_log_destroy
 * path - of the file; it must not exist (see PS_LOG_REPLACE)
 * root - of the topology, which goes into the file; only read in the call
 * options - NULL: the file grows, and an existing file is an error
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; root is not the root of a topology, or its
 *       topology was loaded from a damaged file; options->size isn't set; a flag
 *       is unknown; block_bytes or ring_bytes is too large; or the ring has less
 *       than 2 blocks
 *   PS_ESYS - the file exists; with PS_LOG_REPLACE: the file is not a log, is a
 *       symbolic link, is still open for writing or the caller has no permission
 *       to write it; the file can't be created or written; or hwloc can't write
 *       its own XML (ps_error_detail() gives the reason)
 *   PS_ECOUNT - no file descriptor is left; the log keeps one
 *   PS_ENOMEM - out of memory
 *
 * Any thread. Writes the topology to the file.
 */
PS_PUBLIC int ps_log_create(struct ps_log **out, const char *path, const struct ps_component *root,
                            const struct ps_log_options *options);

/**
 * Begins a stream of records.
 *
 * out - receives the stream, to be destroyed by ps_log_stream_destroy
 * log - any thread may have made it; it must not be destroyed before the call
 *     returns
 * set - the stream takes snapshots of this set. The set was started. Its events
 *     must stay the same as long as the stream is used
 * type - copied
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; type->size isn't set; a name is empty, too
 *       long, unprintable or used twice; the number of points or fields is out of
 *       range; or a field's kind is not in enum ps_log_kind
 *   PS_ENOTRUN - the set was never started, or was changed after the last start
 *   PS_EBUF - the description of the events and the type needs more than half of a
 *       block: give a larger block_bytes
 *   PS_ESYS - no space is left for the first block; every block of the ring is
 *       used by another stream; or the process is a child of the one that created
 *       the log
 *   PS_ECLOST - the program has closed the log's descriptor
 *   PS_ECOUNT - the set has more than 4096 events
 *   PS_ENOMEM, and as ps_snapshot_take
 *
 * By a thread that may read the set. Takes space in the file.
 */
PS_PUBLIC int ps_log_stream_create(struct ps_log_stream **out, struct ps_log *log,
                                   struct ps_eventset *set, const struct ps_log_type *type);

/**
 * Takes a snapshot for a point of the next record.
 *
 * A point that isn't taken before ps_log_write keeps the snapshot of the previous
 * record.
 *
 * point - index in the type's points
 *
 * Returns as ps_snapshot_take. On failure the point is as it was before. But if the
 * set's events were changed, the point counts as not taken in all later records.
 *
 * Errors: those of ps_snapshot_take, and
 *   PS_EINVAL - stream is NULL, there is no such point, or the set's events were
 *       changed after ps_log_stream_create
 *
 * By a thread that may read the set; one call on a stream at a time. Cost: that of
 * ps_snapshot_take.
 */
PS_PUBLIC int ps_log_take(struct ps_log_stream *stream, unsigned point);

/**
 * Sets a field of the next record. A field that isn't set keeps its value.
 *
 * field - index in the type's fields
 *
 * Errors:
 *   PS_EINVAL - stream or text is NULL, there is no such field, it is of another
 *       kind, or the text is longer than PS_LOG_TEXT_BYTES
 *   PS_ECNFLCT - the call was made in a signal handler that interrupted another
 *       call on the same stream
 *
 * One call on a stream at a time. Cost: some stores.
 */
PS_PUBLIC int ps_log_set_integer(struct ps_log_stream *stream, unsigned field, long long value);
/** Sets a field of kind PS_LOG_REAL, as ps_log_set_integer does. */
PS_PUBLIC int ps_log_set_real(struct ps_log_stream *stream, unsigned field, double value);
/** Sets a field of kind PS_LOG_TEXT, as ps_log_set_integer does. The text is copied. */
PS_PUBLIC int ps_log_set_text(struct ps_log_stream *stream, unsigned field, const char *text);

/**
 * Writes a record: the points that were taken and the fields that were set since
 * the last record.
 *
 * Once the call has returned PS_OK, the record survives any end of the process. After
 * a power failure or a crash of the kernel, the last records can be missing.
 *
 * Errors after which the record is lost, and counted by ps_log_lost. The next record
 * keeps its points and fields, as if the record had been written:
 *   PS_ESYS - no space is left (ENOSPC, EDQUOT, the limit of file sizes), or every
 *       block of the ring is used by another stream
 *   PS_EBUF - the record does not fit in a block: give a larger block_bytes; or the
 *       record has more than 524280 bytes, and fits in no block
 *   PS_ECLOST - the program has closed the log's descriptor, and the stream needs
 *       another block. A file that the program opened under the descriptor's number
 *       is not touched
 *   PS_ENOMEM - out of memory
 *
 * Errors after which the stream is as before:
 *   PS_EINVAL - stream is NULL
 *   PS_ESYS - the process is a child of the one that created the log
 *   PS_ECNFLCT - the call was made in a signal handler that interrupted another
 *       call on the same stream
 *
 * One call on a stream at a time. Different streams wait for each other only when a
 * block is full. Cost: a store for each word of the record. System calls, a lock and
 * memory are needed only when a block is full, or when a point has counts on more
 * hardware threads than before, as in a stream's first record.
 */
PS_PUBLIC int ps_log_write(struct ps_log_stream *stream);

/** The number of lost records of all streams. log - NULL gives 0. Any thread. */
PS_PUBLIC uint64_t ps_log_lost(const struct ps_log *log);

/**
 * Ends a stream; NULL does nothing. Points and fields that were not written are
 * dropped.
 *
 * The call is allowed before and after the stream's set and log are destroyed. A
 * stream that isn't destroyed loses no record. Any thread; no other call on the
 * stream is under way.
 */
PS_PUBLIC void ps_log_stream_destroy(struct ps_log_stream *stream);

/**
 * Closes a log; NULL does nothing. Its streams can be used until they are destroyed.
 *
 * Any thread.
 */
PS_PUBLIC void ps_log_destroy(struct ps_log *log);

#ifdef __cplusplus
}
#endif
#endif
