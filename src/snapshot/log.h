/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the writer of logs: the file, and the blocks that streams take of it. */
#ifndef PS_SNAPSHOT_LOG_H
#define PS_SNAPSHOT_LOG_H

#include "base/file_id.h"
#include "snapshot/format.h"

#include <perfsage/log.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A file that only this process writes. It is locked by flock(2) as long as it is open. */
struct ps__log_file {
	char *path;
	char *beside; /* its name until it is complete, if it replaces an older log */
	int older;    /* the log that is replaced, locked; -1: none */
	int fd;
	struct ps__file_id id; /* of the file that fd was opened for */
	size_t close_offset;   /* of struct ps__log_close, in bytes, as those that follow */
	size_t first_block;
	size_t block_bytes;
	size_t ring_blocks; /* 0: it grows */
	/* PS__LOG_ALIGNMENT of them */
	unsigned char *zeros;
};

struct ps_log {
	struct ps__log_file file;
	uint64_t generation; /* of the process: ps__fork_generation */
	_Atomic size_t holders;
	_Atomic uint64_t lost;
	_Atomic uint64_t streams;
	pthread_mutex_t lock; /* of what follows */
	size_t next;          /* the block to be taken next */
	bool *is_used;        /* of a ring: a stream writes into it */
};

/* file.c: makes the file, which has nothing in it. PS_ESYS with a detail. */
int ps__log_file_create(struct ps__log_file *file, const char *path, bool may_replace);
/* It is filled: an older log is replaced now. PS_ESYS with a detail. */
int ps__log_file_complete(struct ps__log_file *file);
/* Removes it, as it could not be filled. */
void ps__log_file_remove(struct ps__log_file *file);
void ps__log_file_close(struct ps__log_file *file);
/* Writes all, at an offset. PS_ESYS with a detail. */
int ps__log_file_write(const struct ps__log_file *file, const void *bytes, size_t offset,
                       size_t size_bytes);
/* Writes zeros, from front to back; both are multiples of PS__LOG_ALIGNMENT. PS_ESYS with a detail.
 */
int ps__log_file_clear(const struct ps__log_file *file, size_t offset, size_t size_bytes);
/* Notes that the file is closed, and has so many blocks. A failure leaves it open. */
void ps__log_file_note_close(const struct ps__log_file *file, uint64_t blocks);
/* So many bytes from an offset on have their place on the disk, or PS_ESYS with a detail; the file
 * is as long as before then. */
int ps__log_file_reserve(const struct ps__log_file *file, size_t offset, size_t size_bytes);

/* A block that a stream writes to. */
struct ps__log_page {
	struct ps__log_block *block; /* NULL: there is none */
	size_t index;                /* in the file */
};

/* blocks.c: takes a block of the file; its bytes are 0. PS_ESYS with a detail. */
int ps__log_take_block(struct ps_log *log, struct ps__log_page *out);
void ps__log_give_block(struct ps_log *log, struct ps__log_page *page);
void ps__log_hold(struct ps_log *log);
void ps__log_release(struct ps_log *log); /* the last holder frees it */

#endif
