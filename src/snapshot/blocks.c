/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The blocks of a log. A stream maps the block that it writes to: so the kernel has each record,
 * whatever ends the process. The block's space on the disk is reserved before: a full disk is an
 * error here, not a signal later. ps_log(3) has the exceptions.
 */
#include "base/cancel.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "snapshot/log.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static size_t offset_of(const struct ps__log_file *file, size_t index)
{
	return file->first_block + index * file->block_bytes;
}

/* Chooses the oldest block of a ring that no stream writes to. */
static int blocks_choose_of_ring(struct ps_log *log, size_t *index)
{
	for (size_t tries = 0; tries < log->file.ring_blocks; tries++) {
		*index = log->next++ % log->file.ring_blocks;
		if (!log->is_used[*index]) {
			log->is_used[*index] = true;
			return PS_OK;
		}
	}
	return ps__fail(PS_ESYS,
	                "the log '%s' is a ring of %zu blocks, and as many streams write to it: "
	                "give a larger ring_bytes",
	                log->file.path, log->file.ring_blocks);
}

/* Chooses a block for the caller. The lock is released before the block is mapped, because threads
 * of other streams wait for it. */
static int blocks_choose(struct ps_log *log, size_t *index)
{
	int result = PS_OK;

	pthread_mutex_lock(&log->lock);
	if (log->file.ring_blocks) {
		result = blocks_choose_of_ring(log, index);
	} else {
		result = ps__log_file_reserve(&log->file, offset_of(&log->file, log->next),
		                              log->file.block_bytes);
		*index = log->next;
		log->next += result == PS_OK ? 1 : 0;
	}
	pthread_mutex_unlock(&log->lock);
	return result;
}

static void give_back(struct ps_log *log, size_t index)
{
	if (!log->is_used || !ps__fork_is_same(log->generation))
		return;
	pthread_mutex_lock(&log->lock);
	log->is_used[index] = false;
	pthread_mutex_unlock(&log->lock);
}

/* Gives back a block to which nothing was written. The last block of a file is used again later.
 * Any other block is marked as empty, because a block of zeros counts as damaged in a closed
 * log. */
static void take_back(struct ps_log *log, size_t index)
{
	const uint64_t empty = PS__LOG_EMPTY_MAGIC;

	give_back(log, index);
	if (log->file.ring_blocks)
		return;
	pthread_mutex_lock(&log->lock);
	bool is_last = log->next == index + 1;
	if (is_last)
		log->next = index;
	pthread_mutex_unlock(&log->lock);
	if (!is_last)
		ps__log_file_write(&log->file, &empty, offset_of(&log->file, index), sizeof empty);
}

/* Makes the pages now: otherwise the first store to each page would be a page fault, which is
 * counted. On a file system that copies on write, the pages get their space only here; without
 * space a later store would end the program by SIGBUS. Kernels before 5.14 can't do this. */
static int make_pages(const struct ps__log_file *file, void *memory)
{
	if (madvise(memory, file->block_bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL)
		return PS_OK;
	/* A store there would end the program by SIGBUS. */
	if (errno == EFAULT)
		return ps__fail(
		    PS_ESYS,
		    "the log '%s' can't be written: no space is left for a block on its "
		    "disk, or the disk has an error",
		    file->path);
	return ps__fail(PS_ESYS, "the log '%s' can't be written: %s", file->path, strerror(errno));
}

static int blocks_map_page(const struct ps__log_file *file, struct ps__log_page *page)
{
	/* Writes zeros even if the file has them already. This makes all pages at once, which costs
	 * a fourth of page faults one by one. Writes from front to back, so that the header of a
	 * block of an earlier lap is cleared first. */
	int result = ps__log_file_clear(file, offset_of(file, page->index), file->block_bytes);

	if (result != PS_OK)
		return result;
	void *memory = mmap(NULL, file->block_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd,
	                    (off_t)offset_of(file, page->index));
	if (memory == MAP_FAILED)
		return ps__fail(errno == ENOMEM ? PS_ENOMEM : PS_ESYS,
		                "a block of the log '%s' can't be mapped: %s", file->path,
		                strerror(errno));
	result = make_pages(file, memory);
	if (result == PS_OK)
		page->block = memory;
	else
		munmap(memory, file->block_bytes);
	return result;
}

static int take_block(struct ps_log *log, struct ps__log_page *out)
{
	struct ps__log_page page = {NULL, 0};
	int result = blocks_choose(log, &page.index);

	if (result != PS_OK)
		return result;
	result = blocks_map_page(&log->file, &page);
	if (result == PS_OK)
		*out = page;
	else
		take_back(log, page.index);
	return result;
}

/* Signals and cancellation are held back, because a lock is taken. */
int ps__log_take_block(struct ps_log *log, struct ps__log_page *out)
{
	struct ps__held held;
	int cancel = ps__cancel_hold();

	ps__signals_hold(&held);
	int result = take_block(log, out);
	ps__signals_release(&held);
	ps__cancel_release(cancel);
	return result;
}

/* In a child of fork() the lock isn't taken: the parent's threads may have held it. */
void ps__log_give_block(struct ps_log *log, struct ps__log_page *page)
{
	struct ps__held held;

	if (!page->block)
		return;
	ps__signals_hold(&held);
	munmap(page->block, log->file.block_bytes);
	page->block = NULL;
	give_back(log, page->index);
	ps__signals_release(&held);
}

void ps__log_hold(struct ps_log *log)
{
	atomic_fetch_add_explicit(&log->holders, 1, memory_order_relaxed);
}

void ps__log_release(struct ps_log *log)
{
	/* acq_rel: the last holder sees all that the other holders did. */
	if (atomic_fetch_sub_explicit(&log->holders, 1, memory_order_acq_rel) != 1)
		return;
	int cancel = ps__cancel_hold();
	/* In a child of fork() the file is the parent's, which may go on writing. */
	if (ps__fork_is_same(log->generation))
		ps__log_file_note_close(&log->file,
		                        log->file.ring_blocks ? log->file.ring_blocks : log->next);
	ps__log_file_close(&log->file);
	ps__cancel_release(cancel);
	ps__os_free(log->is_used);
	pthread_mutex_destroy(&log->lock);
	ps__os_free(log);
}
