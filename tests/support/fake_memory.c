/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fake kernel's memory: mappings and allocations, each from malloc underneath, so that a
 * sanitizer sees what runs over an end; all are counted, and told when they leak.
 */
#include "fake_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE        4096u
#define BLOCK_ALIVE UINT64_C(0xa11fe0a11fe0)

struct block {
	struct block *previous, *next;
	uint64_t state;
	size_t size_bytes;
};

struct mapping {
	struct mapping *next;
	void *address;
	size_t length_bytes;
};

static struct block *blocks;
static struct mapping *mappings;
static size_t mapped_bytes, allocated_bytes;

void *fake__mmap(void *address, size_t length_bytes, int protection, int flags, int fd,
                 off_t offset)
{
	size_t whole = (length_bytes + PAGE - 1) / PAGE * PAGE;
	struct fake_counter *counter = NULL;
	struct mapping *mapping;

	(void)protection;
	if (fake__enter(FAKE_MMAP))
		return MAP_FAILED;
	if (!(flags & MAP_ANONYMOUS)) {
		counter = fake__fd(fd) ? fake__fd(fd)->counter : NULL;
		if (!counter) {
			fake__fail(EBADF);
			return MAP_FAILED;
		}
	}
	if (length_bytes == 0 || offset != 0 || address) {
		fake__fail(EINVAL);
		return MAP_FAILED;
	}
	mapping = malloc(sizeof(*mapping));
	if (!mapping)
		abort();
	/* The allocator's: a sanitizer sees what runs over its end */
	mapping->address = aligned_alloc(PAGE, whole);
	if (!mapping->address) {
		free(mapping);
		fake__fail(ENOMEM);
		return MAP_FAILED;
	}
	memset(mapping->address, 0, whole);
	mapping->length_bytes = whole;
	mapping->next = mappings;
	mappings = mapping;
	mapped_bytes += whole;
	if (counter) {
		struct perf_event_mmap_page *page = mapping->address;

		counter->ring = mapping->address;
		counter->ring_bytes = whole - PAGE;
		page->data_offset = PAGE;
		page->data_size = whole - PAGE;
	}
	address = mapping->address;
	fake__unlock();
	return address;
}

static void mapping_release(struct mapping **link)
{
	struct mapping *mapping = *link;

	for (struct fake_counter *counter = fake__counters_first(); counter;
	     counter = counter->all.next)
		if (counter->ring == mapping->address)
			counter->ring = NULL;
	*link = mapping->next;
	mapped_bytes -= mapping->length_bytes;
	free(mapping->address);
	free(mapping);
}

int fake__munmap(void *address, size_t length_bytes)
{
	size_t whole = (length_bytes + PAGE - 1) / PAGE * PAGE;
	bool fails = fake__enter(FAKE_MUNMAP);
	int error = errno;
	struct mapping **link = &mappings;

	if (fails)
		fake__lock();
	while (*link && (*link)->address != address)
		link = &(*link)->next;
	if (!*link || (*link)->length_bytes != whole) {
		fake__violation("munmap(%p, %zu): no such mapping", address, length_bytes);
		return fake__fail(EINVAL);
	}
	mapping_release(link);
	if (fails)
		return fake__fail(error);
	fake__unlock();
	return 0;
}

void *fake__allocate(size_t size_bytes)
{
	struct block *block;

	if (fake__enter(FAKE_ALLOCATE))
		return NULL;
	block = calloc(1, sizeof(*block) + size_bytes);
	if (!block)
		abort();
	block->state = BLOCK_ALIVE;
	block->size_bytes = size_bytes;
	block->next = blocks;
	if (blocks)
		blocks->previous = block;
	blocks = block;
	allocated_bytes += size_bytes;
	fake__unlock();
	return block + 1;
}

static void block_release(struct block *block)
{
	if (block->previous)
		block->previous->next = block->next;
	else
		blocks = block->next;
	if (block->next)
		block->next->previous = block->previous;
	allocated_bytes -= block->size_bytes;
	block->state = 0;
	free(block);
}

void fake__release(void *memory)
{
	struct block *block = (struct block *)memory - 1;

	if (!memory)
		return;
	fake__lock();
	if (block->state == BLOCK_ALIVE)
		block_release(block);
	else
		fake__violation("release(%p): not allocated", memory);
	fake__unlock();
}

void fake__memory_reset(void)
{
	while (mappings)
		mapping_release(&mappings);
	while (blocks)
		block_release(blocks);
}

size_t fake_mapped_bytes(void)
{
	return mapped_bytes;
}

size_t fake_allocated_bytes(void)
{
	return allocated_bytes;
}
