/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of readings that are not the latest. The rows hold the values, but to update such a
 * reading its base must be known. For most readings the base follows from the row's mark: it is 0,
 * or the value itself. Only a reading that was accumulated and then read keeps its base separately,
 * in a second history of the slot.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/eventset.h"

#include <string.h>

static uint16_t last_mark(const struct ps__history *history)
{
	size_t row = atomic_load_explicit(&history->count, memory_order_relaxed) - 1;

	return atomic_load_explicit(ps__history_mark(ps__history_chunk(history, row), row),
	                            memory_order_relaxed);
}

/* True if the base of this reading is kept already: an earlier attempt found room for some slots'
 * bases, but not for all. */
static bool is_kept(const struct ps__history *bases, uint64_t timestamp)
{
	size_t first = atomic_load_explicit(&bases->first, memory_order_relaxed);
	size_t count = atomic_load_explicit(&bases->count, memory_order_relaxed);

	if (count == first)
		return false;
	uint64_t last = atomic_load_explicit(
	    ps__history_words(bases, ps__history_chunk(bases, count - 1), count - 1),
	    memory_order_relaxed);
	return last == timestamp;
}

static int reopen_keep_base(struct ps_eventset *set, struct ps__slot *slot, uint64_t timestamp)
{
	size_t width = ps__recording_width(set->recorder.recording);

	if (ps__set_make_bases(set, slot) < 0)
		return -1;
	if (is_kept(slot->bases, timestamp))
		return 0;
	if (ps__history_make_room(slot->bases) < 0)
		return -1;
	size_t row = atomic_load_explicit(&slot->bases->count, memory_order_relaxed);
	struct ps__chunk *chunk = ps__history_chunk(slot->bases, row);
	_Atomic uint64_t *words = ps__history_words(slot->bases, chunk, row) + 1;
	/* Release stores: the chunk may have had rows before, and a reader that still reads there
	 * must see that the chunk was released. */
	atomic_store_explicit(&words[-1], timestamp, memory_order_release);
	for (size_t word = 0; word < width; word++)
		atomic_store_explicit(&words[word], slot->base[word], memory_order_release);
	atomic_store_explicit(ps__history_mark(chunk, row), slot->base_mark, memory_order_release);
	/* Last: a call that is left before this does it again. */
	ps__history_publish(slot->bases);
	if (set->recorder.history)
		ps__history_trim(slot->bases, set->recorder.history);
	return 0;
}

/* Keeps the bases of the latest reading, before another reading takes its place. */
int ps__set_keep_bases(struct ps_eventset *set)
{
	uint64_t latest =
	    atomic_load_explicit(&set->recorder.recording->latest, memory_order_relaxed);

	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		if (!slot->has_part || !(last_mark(slot->history) & PS__MARK_BASE_APART))
			continue;
		if (reopen_keep_base(set, slot, latest) < 0)
			return ps__fail_memory("the base of the reading before; nothing is lost");
	}
	return PS_OK;
}

/* Removes the latest reading's parts: bases become 0. Only slots that have counts, or a time that
 * isn't assigned yet, stay active. */
void ps__set_forget_parts(struct ps_eventset *set)
{
	size_t width = ps__recording_width(set->recorder.recording);
	size_t kept = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		if (slot->has_base)
			memset(slot->base, 0, width * sizeof *slot->base);
		slot->has_base = false;
		slot->has_part = false;
		slot->is_active = slot->has_counts || slot->spent_ns > 0;
		if (slot->is_active)
			set->recorder.active[kept++] = slot;
	}
	set->recorder.active_count = kept;
}

static void reopen_load_base(struct ps__slot *slot, const struct ps__history *history, size_t row,
                             size_t width)
{
	struct ps__chunk *chunk = ps__history_chunk(history, row);
	_Atomic uint64_t *words = ps__history_words(history, chunk, row) + 1;

	for (size_t word = 0; word < width; word++)
		slot->base[word] = atomic_load_explicit(&words[word], memory_order_relaxed);
	slot->base_mark = atomic_load_explicit(ps__history_mark(chunk, row), memory_order_relaxed) &
	                  (PS__MARK_ATTRIBUTION | PS__MARK_FLAGS);
	slot->has_base = true;
}

/* Loads the base that was kept separately. A bounded history may have dropped it; then the row's
 * value is the best that is known. */
static void reopen_take_base(struct ps__slot *slot, uint64_t timestamp, size_t row, size_t width)
{
	ptrdiff_t kept = slot->bases ? ps__history_find(slot->bases, timestamp) : -1;

	if (kept < 0) {
		reopen_load_base(slot, slot->history, row, width);
		return;
	}
	reopen_load_base(slot, slot->bases, (size_t)kept, width);
	ps__history_move_to_end(slot->bases, (size_t)kept);
	ps__history_pop(slot->bases);
}

/* Makes the slot's part of an older reading the last row, and loads its base. */
static void reopen_part(struct ps_eventset *set, struct ps__slot *slot, size_t row,
                        uint64_t timestamp)
{
	size_t width = ps__recording_width(set->recorder.recording);

	/* A bounded history counts its rows, so retired rows must be removed. They are few. */
	if (set->recorder.history && slot->history->gone) {
		ps__history_close_up(slot->history);
		row = (size_t)ps__history_find(slot->history, timestamp);
	}
	uint16_t mark = atomic_load_explicit(
	    ps__history_mark(ps__history_chunk(slot->history, row), row), memory_order_relaxed);

	if (mark & PS__MARK_BASE_IS_VALUE)
		reopen_load_base(slot, slot->history, row, width);
	else if (mark & PS__MARK_BASE_APART)
		reopen_take_base(slot, timestamp, row, width);
	if (set->recorder.history)
		ps__history_move_to_end(slot->history, row);
	else
		ps__history_copy_to_end(slot->history, row);
	slot->has_part = true;
	ps__set_activate(set, slot);
}

/* Makes room for one more row in each history that has rows: which of them has a part is known only
 * when the reading is reopened. */
int ps__set_make_room_to_reopen(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		struct ps__history *history = set->recorder.met[index]->history;
		if (atomic_load_explicit(&history->count, memory_order_relaxed) > 0 &&
		    ps__history_make_room(history) < 0)
			return ps__fail_memory("a reading that is updated; nothing is lost");
	}
	return PS_OK;
}

bool ps__set_find_reading(struct ps_eventset *set, uint64_t timestamp)
{
	bool is_found = false;

	for (size_t index = 0; index < set->recorder.met_count; index++) {
		struct ps__slot *slot = set->recorder.met[index];
		slot->found = ps__history_find(slot->history, timestamp);
		is_found |= slot->found >= 0;
	}
	return is_found;
}

ptrdiff_t ps__set_find_sole_part(const struct ps_eventset *set, const struct ps__slot *slot,
                                 uint64_t timestamp, uint16_t mark)
{
	ptrdiff_t row = ps__history_find(slot->history, timestamp);

	if (row < 0 ||
	    atomic_load_explicit(
		ps__history_mark(ps__history_chunk(slot->history, (size_t)row), (size_t)row),
		memory_order_relaxed) != mark)
		return -1;
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		if (set->recorder.met[index] != slot &&
		    ps__history_find(set->recorder.met[index]->history, timestamp) >= 0)
			return -1;
	}
	return row;
}

void ps__set_reopen(struct ps_eventset *set, uint64_t timestamp)
{
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		struct ps__slot *slot = set->recorder.met[index];
		if (slot->found >= 0)
			reopen_part(set, slot, (size_t)slot->found, timestamp);
	}
}
