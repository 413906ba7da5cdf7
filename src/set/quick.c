/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The short way of a reading. While the task stays on its CPU, the part of a reading there is
 *
 *     base + counts + (totals - credited)  =  totals + offset,
 *
 * and ps_accum doesn't change the offset either. So a reading is: look that nothing has changed, read the totals, add, store.
 * The slot's counts and base are brought up to date when the next call goes another way (ps__set_enter sees to it).
 */
#include "base/hot.h"
#include "base/os.h"
#include "set/set.h"

/* What the usual way has to do. */
#define NOT_QUICK 1

/* The head of a watch that isn't there. */
static const uint64_t no_head;

int ps__set_make_quick(struct ps_eventset *set, size_t width)
{
	struct ps__quick *quick = &set->quick;
	/* A word before for the backend, one after for a recorder, or to make the width even. */
	size_t room = 2 + width + set->backend->spare;
	uint64_t *memory = ps__os_calloc_apart(4 * room, sizeof *memory);

	if (!memory)
		return -1;
	*quick = (struct ps__quick){.memory = memory, .width = width};
	quick->known = memory + 1;
	quick->fresh = quick->known + room;
	quick->offset = quick->fresh + room;
	quick->accumulated = quick->offset + room;
	return 0;
}

void ps__set_free_quick(struct ps_eventset *set)
{
	ps__os_free_apart(set->quick.memory);
	set->quick = (struct ps__quick){0};
}

/* What the usual way would say of a task that didn't move. Without a watch, that is not known. */
static bool is_label_lasting(const struct ps_eventset *set, const struct ps__slot *slot)
{
	unsigned label = slot->counts_mark & PS__MARK_ATTRIBUTION;

	if (set->means == PS__MEANS_LANES)
		return label == PS_ATTRIBUTION_EXACT && slot->lane >= 0 && set->watch.fd >= 0 && !set->must_sweep;
	if (set->means == PS__MEANS_RECORDS)
		return label == PS_ATTRIBUTION_EXACT && slot->cpu == set->last_cpu && !set->has_lost;
	if (set->watch.fd < 0)
		return label == PS_ATTRIBUTION_LAST_CPU;
	if (label == PS_ATTRIBUTION_MIXED)
		return slot->cpu == set->stay.cpu;
	return label == PS_ATTRIBUTION_PINNED && slot->cpu == set->only_cpu && !set->has_strayed;
}

/* A group that shares the hardware with others, for example, never goes the short way. */
#define MOST_MISSES 16

/* One hardware thread with counts, of which nothing else is to be said than its attribution. */
static bool may_begin(const struct ps_eventset *set, const struct ps__slot *slot)
{
	const uint16_t flags = PS__MARK_FLAGS;

	if (!set->backend->ops->read_direct || set->target.kind != PS__TARGET_SELF || !set->is_running ||
	    set->is_ended || set->must_clear || set->quick.misses >= MOST_MISSES)
		return false;
	if (set->active_count != 1 || set->active[0] != slot || !slot->has_part)
		return false;
	if ((slot->counts_mark & flags) || (slot->has_base && (slot->base_mark & (flags | PS__MARK_ATTRIBUTION)) !=
	                                                          (slot->counts_mark & PS__MARK_ATTRIBUTION)))
		return false;
	return (set->means == PS__MEANS_LANES || set->backend->lanes == 1) && is_label_lasting(set, slot);
}

static void find_row(struct ps__quick *quick)
{
	const struct ps__log *log = quick->slot->log;
	size_t row = atomic_load_explicit(&log->count, memory_order_relaxed) - 1;
	struct ps__chunk *chunk = ps__log_chunk(log, row);

	quick->words = ps__log_words(log, chunk, row);
	quick->mark = ps__log_mark(chunk, row);
}

void ps__set_begin_quick(struct ps_eventset *set, struct ps__slot *slot)
{
	struct ps__quick *quick = &set->quick;

	if (!may_begin(set, slot))
		return;
	quick->slot = slot;
	quick->cpu = slot->cpu;
	quick->split_times = set->means == PS__MEANS_LANES ? 2 * set->series->groups : 0;
	quick->lane = set->means == PS__MEANS_LANES ? (size_t)slot->lane : 0;
	quick->head = set->watch.fd >= 0 ? (const uint64_t *)&set->watch.ring.page->data_head : &no_head;
	quick->seen = set->watch.fd >= 0 ? set->watch.ring.seen : 0;
	quick->has_accumulated = false;
	quick->has_base = slot->has_base;
	find_row(quick);
	const uint64_t *credited = ps__set_credited(set, quick->lane);
	for (size_t word = 0; word < quick->width; word++) {
		quick->known[word] = credited[word];
		quick->offset[word] = slot->base[word] + slot->counts[word] - credited[word];
	}
	quick->root = set->root;
}

/* What was read goes the usual way into the slot. */
static void credit_totals(struct ps_eventset *set, const uint64_t *totals)
{
	struct ps__quick *quick = &set->quick;
	uint64_t *known = ps__set_totals(set, quick->lane);

	for (size_t word = 0; word < quick->width; word++)
		known[word] = totals[word];
	if (set->means == PS__MEANS_LANES) {
		ps__set_credit_lane(set, quick->slot, PS_ATTRIBUTION_EXACT);
	} else {
		ps__set_credit(set, quick->slot, quick->lane);
		ps__set_label_counts(quick->slot, quick->slot->counts_mark & PS__MARK_ATTRIBUTION);
	}
}

void ps__set_end_quick(struct ps_eventset *set)
{
	struct ps__quick *quick = &set->quick;

	quick->root = NULL;
	if (quick->has_accumulated) {
		credit_totals(set, quick->accumulated);
		ps__set_move_into_base(quick->slot, quick->width);
	}
	credit_totals(set, quick->known);
	/* What came until then is credited: from there on times count again. */
	set->stay.since_ns = set->last_timestamp;
}

/* As far as the watch knows. */
static inline bool has_stayed(const struct ps__quick *quick)
{
	/* Pairs with the kernel's store of data_head after it wrote a record. */
	return __atomic_load_n(quick->head, __ATOMIC_ACQUIRE) == quick->seen;
}

/* Did every counter go forwards? And where lanes tell residency: was the group on the hardware all the time? Else the usual
 * way sorts it out. */
static inline bool is_plausible(const struct ps__quick *quick)
{
	const uint64_t *fresh = quick->fresh, *known = quick->known;
	size_t width = quick->width;
	uint64_t backwards = 0, waited = 0;

	for (size_t word = 0; word < width; word += 2)
		backwards |= (fresh[word] - known[word]) | (fresh[word + 1] - known[word + 1]);
	for (size_t word = 0; word < quick->split_times; word += 2)
		waited |= (fresh[word] - known[word]) - (fresh[word + 1] - known[word + 1]);
	return (backwards >> 63) + waited == 0;
}

/* A row behind the last one becomes the latest reading's. */
static bool append_row(struct ps__quick *quick, uint64_t timestamp)
{
	struct ps__log *log = quick->slot->log;

	if (__builtin_expect(ps__log_make_room(log) < 0, 0))
		return false;
	ps__log_append(log, timestamp);
	find_row(quick);
	atomic_store_explicit(quick->mark, quick->slot->counts_mark, memory_order_release);
	return true;
}

static inline void write_row(struct ps__quick *quick, uint64_t timestamp)
{
	uint64_t *fresh = quick->fresh;
	const uint64_t *offset = quick->offset;
	_Atomic uint64_t *words = quick->words + 1;
	size_t width = quick->width;

	atomic_store_explicit(&words[-1], timestamp, memory_order_release);
	for (size_t word = 0; word < width; word++)
		atomic_store_explicit(&words[word], fresh[word] + offset[word], memory_order_release);
	quick->fresh = quick->known;
	quick->known = fresh;
}

/* Of a reading that has a base: by this ps_accum, which makes the row its base, or by one before. */
static void write_base(struct ps__quick *quick, enum ps__write_kind kind)
{
	uint16_t base = kind == PS__WRITE_ACCUM ? PS__MARK_BASE_IS_VALUE : PS__MARK_BASE_APART;

	atomic_store_explicit(quick->mark, quick->slot->counts_mark | base, memory_order_release);
	quick->has_base = true;
	if (kind != PS__WRITE_ACCUM)
		return;
	for (size_t word = 0; word < quick->width; word++)
		quick->accumulated[word] = quick->known[word];
	quick->has_accumulated = true;
}

/* The counters are read; now the row. Where there is no room for it, the usual way says so. */
static inline int write_quickly(struct ps_eventset *set, enum ps__write_kind kind, bool is_new)
{
	struct ps__quick *quick = &set->quick;
	struct ps__series *series = set->series;
	uint64_t timestamp = ps__set_next_timestamp(set);

	ps__series_write_begin(series);
	if (is_new && !append_row(quick, timestamp)) {
		ps__series_write_end(series);
		return NOT_QUICK;
	}
	write_row(quick, timestamp);
	if (quick->has_base || kind == PS__WRITE_ACCUM)
		write_base(quick, kind);
	set->last_timestamp = timestamp;
	atomic_store_explicit(&series->latest, timestamp, memory_order_release);
	ps__series_write_end(series);
	return PS_OK;
}

/* What the usual way has to sort out. */
static __attribute__((cold, noinline)) int note_miss(struct ps__quick *quick, int result)
{
	quick->misses++;
	return result == PS_OK ? NOT_QUICK : result;
}

/* The totals into `fresh`, if the task is where it was: the CPU is asked for after the counters, as what comes before them
 * is counted. */
static inline int read_totals(struct ps_eventset *set)
{
	struct ps__quick *quick = &set->quick;

	if (__builtin_expect(!has_stayed(quick), 0))
		return NOT_QUICK;
	int result = set->backend->ops->read_direct(set->backend, quick->lane, quick->fresh);
	if (__builtin_expect(
		result == PS_OK && ps__os_getcpu() == quick->cpu && has_stayed(quick) && is_plausible(quick), 1))
		return PS_OK;
	return note_miss(quick, result);
}

/* Is the short way still open, the set the caller's, and the reading one that can be written so: the latest, or a new one if
 * nothing is to be kept of the latest? */
static inline bool is_at_hand(const struct ps_eventset *set, const struct ps_component *root, uint64_t wanted)
{
	if (set->quick.root != root || root->topology->destroyed || set->owner != ps__thread_number())
		return false;
	return wanted == set->last_timestamp || (wanted == 0 && !set->quick.has_base && !set->history);
}

PS__HOT int ps__set_read_quickly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                                 struct ps_thread **thread, enum ps__write_kind kind)
{
	int result = NOT_QUICK;

	if (__builtin_expect(!ps__fork_is_same(set->fork_generation) || set->is_busy, 0))
		return ps__set_read_usually(set, root, timestamp, thread, kind);
	set->is_busy = 1;
	/* What was looked at before, a signal handler's reading may have changed. */
	atomic_signal_fence(memory_order_seq_cst);
	uint64_t wanted = timestamp ? *timestamp : set->last_timestamp;
	if (__builtin_expect(is_at_hand(set, root, wanted), 1))
		result = read_totals(set);
	if (__builtin_expect(result == PS_OK, 1))
		result = write_quickly(set, kind, wanted == 0);
	set->is_busy = 0;
	if (__builtin_expect(result == NOT_QUICK, 0))
		return ps__set_read_usually(set, root, timestamp, thread, kind);
	if (__builtin_expect(result != PS_OK, 0))
		return result;
	if (timestamp)
		*timestamp = set->last_timestamp;
	if (thread)
		*thread = set->quick.slot->log->thread;
	return PS_OK;
}
