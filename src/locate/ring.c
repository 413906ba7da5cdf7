/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps a perf event's ring, and empties it record by record. ps__ring_drain takes all records at
 * once, for the switch ring and for migration records. ps__ring_first and ps__ring_release take one
 * record each, for samplers and sessions. */
#include "locate/ring.h"

#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ps__ring_map(struct ps__ring *ring, int fd, size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page =
	    ps__os.mmap(NULL, (1 + pages) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	*ring = (struct ps__ring){
	    .page = page, .data_offset = page_bytes, .data_bytes = pages * page_bytes};
	/* The pages are faulted in now, and not while the user measures. */
	for (size_t offset = 0; offset < ring->data_bytes; offset += page_bytes)
		(void)((const volatile char *)page)[page_bytes + offset];
	return 0;
}

void ps__ring_unmap(struct ps__ring *ring, bool abandon)
{
	if (ring->page && !abandon)
		ps__os.munmap(ring->page, ring->data_offset + ring->data_bytes);
	ring->page = NULL;
}

static void ring_copy(const struct ps__ring *ring, uint64_t position, void *out, size_t size_bytes)
{
	const char *data = (const char *)ring->page + ring->data_offset;
	size_t offset = (size_t)(position & (ring->data_bytes - 1));
	size_t first = ring->data_bytes - offset;

	if (first > size_bytes)
		first = size_bytes;
	memcpy(out, data + offset, first);
	memcpy((char *)out + first, data, size_bytes - first);
}

void ps__ring_copy(const struct ps__ring *ring, size_t offset, void *out, size_t size_bytes)
{
	ring_copy(ring, ring->seen + offset, out, size_bytes);
}

/* True if the kernel can't have written this head, because it never overwrites records that are not
 * released. */
static bool is_head_damaged(const struct ps__ring *ring, uint64_t head)
{
	return head - ring->seen > ring->data_bytes;
}

/* True for the kernel's record of a loss that an earlier drain has already reported. The kernel
 * writes this record when there is room again, before the next record. The earlier drain made that
 * room, so nothing more can have been lost. */
static bool is_known_already(struct ps__ring *ring, const struct perf_event_header *header)
{
	bool is_known = ring->is_loss_known && header->type == PERF_RECORD_LOST;

	ring->is_loss_known = false;
	return is_known;
}

/* Atomic, because threads other than the draining one may call ps__ring_has_records. */
static void ring_set_seen(struct ps__ring *ring, uint64_t seen)
{
	__atomic_store_n(&ring->seen, seen, __ATOMIC_RELAXED);
}

/* Takes all records up to head. Returns false if a take did, or if a record is damaged: no record
 * behind a damaged one can be found. */
static bool take_records(struct ps__ring *ring, uint64_t head, ps__ring_take *take, void *context)
{
	bool complete = true;

	while (ring->seen != head) {
		struct perf_event_header header;
		ring_copy(ring, ring->seen, &header, sizeof header);
		if (header.size < sizeof header || header.size > head - ring->seen)
			return false;
		if (!is_known_already(ring, &header))
			complete = take(ring, &header, context) && complete;
		ring_set_seen(ring, ring->seen + header.size);
	}
	return complete;
}

bool ps__ring_drain(struct ps__ring *ring, size_t largest, ps__ring_take *take, void *context)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->seen;
	bool complete = !is_head_damaged(ring, head) && take_records(ring, head, take, context);

	ring_set_seen(ring, head);
	/* Pairs with the kernel's look at data_tail before it overwrites what was read here. */
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_SEQ_CST);
	/* If the ring was nearly full at any time before that store, the kernel may have had no
	 * room for the next record. It reports that loss only later. */
	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_SEQ_CST);
	bool may_have_been_full = head - tail + largest > ring->data_bytes;
	ring->is_loss_known = ring->is_loss_known || may_have_been_full;
	return complete && !may_have_been_full;
}

enum ps__ring_look ps__ring_first(const struct ps__ring *ring, void *scratch, const void **bytes,
                                  size_t *size_bytes)
{
	const char *data = (const char *)ring->page + ring->data_offset;
	size_t offset = (size_t)(ring->seen & (ring->data_bytes - 1));
	/* Pairs with the kernel's store of data_head after it wrote a record. */
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	struct perf_event_header header;

	if (head == ring->seen)
		return PS__RING_EMPTY;
	if (is_head_damaged(ring, head) || head - ring->seen < sizeof header)
		return PS__RING_DAMAGED;
	ring_copy(ring, ring->seen, &header, sizeof header);
	if (header.size < sizeof header || header.size > head - ring->seen)
		return PS__RING_DAMAGED;
	bool wraps = header.size > ring->data_bytes - offset;
	if (wraps)
		ring_copy(ring, ring->seen, scratch, header.size);
	*bytes = wraps ? scratch : data + offset;
	*size_bytes = header.size;
	return PS__RING_RECORD;
}

void ps__ring_release(struct ps__ring *ring, size_t size_bytes)
{
	ring->seen += size_bytes;
	/* Pairs with the kernel's look at data_tail before it overwrites what was read here. */
	__atomic_store_n(&ring->page->data_tail, ring->seen, __ATOMIC_RELEASE);
}

void ps__ring_release_all(struct ps__ring *ring)
{
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);

	ps__ring_release(ring, head - ring->seen);
}
