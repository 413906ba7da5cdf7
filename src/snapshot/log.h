/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the writer of logs: the file, and its blocks, to which streams write. */
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
	/* The file's name until it is complete, if it replaces an older log; else NULL */
	char *beside;
	int older; /* descriptor of the log that is replaced, which is locked; -1: none */
	int fd;
	struct ps__file_id id; /* of the file that fd was opened for */
	size_t close_offset;   /* of struct ps__log_close, in bytes */
	size_t first_block;
	size_t block_bytes;
	size_t ring_blocks; /* 0: the file grows */
	/* PS__LOG_ALIGNMENT zero bytes */
	unsigned char *zeros;
};

struct ps_log {
	struct ps__log_file file;
	uint64_t generation; /* of the process: ps__fork_generation */
	_Atomic size_t holders;
	_Atomic uint64_t lost;
	_Atomic uint64_t streams;
	pthread_mutex_t lock; /* protects next and is_used */
	size_t next;          /* number of the block that is taken next */
	bool *is_used;        /* for each block of a ring: true if a stream writes to it */
};

/* file.c: makes an empty file. PS_ESYS or PS_ECOUNT with a detail. */
int ps__log_file_create(struct ps__log_file *file, const char *path, bool may_replace);
/* Lets the file replace the older log, if there is one. The file's header must be written. PS_ESYS
 * with a detail. */
int ps__log_file_complete(struct ps__log_file *file);
/* Removes the file and closes it, because it could not be filled. */
void ps__log_file_remove(struct ps__log_file *file);
void ps__log_file_close(struct ps__log_file *file);
/* Writes all bytes at an offset. PS_ESYS or PS_ECLOST with a detail. */
int ps__log_file_write(const struct ps__log_file *file, const void *bytes, size_t offset,
                       size_t size_bytes);
/* Writes zeros, from front to back. offset and size are multiples of PS__LOG_ALIGNMENT. PS_ESYS or
 * PS_ECLOST with a detail. */
int ps__log_file_clear(const struct ps__log_file *file, size_t offset, size_t size_bytes);
/* Writes into the file that it is closed, and its number of blocks. If that fails, the log looks
 * like one that was not closed. */
void ps__log_file_note_close(const struct ps__log_file *file, uint64_t blocks);
/* Reserves space on the disk from an offset on. PS_ESYS or PS_ECLOST with a detail: the file is
 * then as long as before. */
int ps__log_file_reserve(const struct ps__log_file *file, size_t offset, size_t size_bytes);

/* A block that a stream writes to. */
struct ps__log_page {
	struct ps__log_block *block; /* NULL: there is none */
	size_t index;                /* number of the block in the file */
};

/* blocks.c: gives the caller a block that no stream writes to, and maps it. Its bytes are 0.
 * PS_ESYS or PS_ECLOST with a detail. */
int ps__log_take_block(struct ps_log *log, struct ps__log_page *out);
void ps__log_give_block(struct ps_log *log, struct ps__log_page *page);
void ps__log_hold(struct ps_log *log);
void ps__log_release(struct ps_log *log); /* the last holder frees it */

#endif
