/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mapped ring into which the kernel writes an event's records. The readers are switch_ring.c
 * (context switches), perf_records.c (migrations), perf_execs.c (new programs), perf_tasks.c (fork,
 * exit) and samplers (src/sample/).
 */
#ifndef PS_LOCATE_RING_H
#define PS_LOCATE_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps__ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	size_t data_offset;                /* bytes from the page to the ring's data */
	size_t data_bytes;                 /* a power of two */
	uint64_t seen;                     /* the head up to which records have been looked at */
	/* True if a drain has reported a possible loss. The kernel's own record of that loss is
	 * then skipped */
	bool is_loss_known;
};

/* Maps the ring of an event, with this many pages of data (a power of two), and faults the pages
 * in. Returns 0, or -errno: EPERM when the user's locked memory (perf_event_mlock_kb) is used
 * up. */
int ps__ring_map(struct ps__ring *ring, int fd, size_t pages);
/* Unmaps the ring. abandon: true in a forked child, which has no copy of the ring and may have
 * mapped something else at its address. */
void ps__ring_unmap(struct ps__ring *ring, bool abandon);

/* True if anything was written since the last ps__ring_drain. For any thread. Hot;
 * async-signal-safe. */
static inline bool ps__ring_has_records(const struct ps__ring *ring)
{
	/* Pairs with the kernel's store of data_head after it wrote a record. */
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) !=
	       __atomic_load_n(&ring->seen, __ATOMIC_RELAXED);
}

/* Takes one record: its header->size bytes begin at the ring's position `seen`. Returns false if
 * the record leaves something uncertain. */
typedef bool ps__ring_take(const struct ps__ring *ring, const struct perf_event_header *header,
                           void *context);

/*
 * Calls take for each record since the last drain, oldest first. Returns false if a take did, if a
 * record is damaged, or if the ring may have had no room for a record of `largest` bytes. Each loss
 * is reported once, by the first drain after it. The kernel's own record of the loss comes later,
 * and take doesn't get it. Async-signal-safe if take is.
 */
bool ps__ring_drain(struct ps__ring *ring, size_t largest, ps__ring_take *take, void *context);

enum ps__ring_look {
	PS__RING_EMPTY,
	PS__RING_RECORD,
	PS__RING_DAMAGED /* the bytes are not a record, so the next one can't be found */
};

/* Finds the oldest record that was not released. *bytes points into the ring; if the record wraps,
 * it points to a copy in scratch, which has room for UINT16_MAX bytes. Async-signal-safe. */
enum ps__ring_look ps__ring_first(const struct ps__ring *ring, void *scratch, const void **bytes,
                                  size_t *size_bytes);
/* Gives the memory of that record, size_bytes, back to the kernel. */
void ps__ring_release(struct ps__ring *ring, size_t size_bytes);
/* Gives all of the ring's memory back to the kernel, after a damaged record. */
void ps__ring_release_all(struct ps__ring *ring);

/* Copies bytes of the record that is being taken; the record may wrap anywhere in the ring. */
void ps__ring_copy(const struct ps__ring *ring, size_t offset, void *out, size_t size_bytes);

#endif
