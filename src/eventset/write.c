/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a reading: a row of base + counts for every slot that takes part. All that can fail is
 * done before the first row changes, so that a failure leaves the readings and the counts as they
 * were.
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/snapshot.h"
#include "eventset/undo.h"
#include "eventset/waiting.h"

#include <limits.h>

/* Which reading the timestamp names. */
enum which {
	WHICH_NEW,
	WHICH_LATEST,
	WHICH_OLDER
};

static enum which write_find_reading(struct ps_eventset *set, const uint64_t *timestamp,
                                     uint64_t *wanted)
{
	uint64_t latest =
	    atomic_load_explicit(&set->recorder.recording->latest, memory_order_relaxed);

	if (latest == 0)
		return WHICH_NEW;
	*wanted = timestamp ? *timestamp : latest;
	if (__builtin_expect(*wanted != 0 && *wanted == set->recorder.old_name, 0))
		*wanted = set->recorder.old_name_of;
	if (*wanted == latest)
		return WHICH_LATEST;
	if (*wanted == 0 || *wanted > latest || !ps__set_find_reading(set, *wanted))
		return WHICH_NEW;
	return WHICH_OLDER;
}

/* True if the slot takes part in the reading. */
static bool takes_part(const struct ps__slot *slot, const struct ps__write *write)
{
	return slot == write->slot || slot->has_part ||
	       (slot->has_counts && write->kind != PS__WRITE_STORE);
}

/* Makes room for every row that the reading may append. */
static int write_make_room(struct ps_eventset *set, const struct ps__write *write)
{
	ps__set_activate(set, write->slot);
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		if (takes_part(slot, write) && ps__history_make_room(slot->history) < 0)
			return ps__fail_memory(
			    "a reading; nothing is lost: the counts come with the next one");
	}
	return PS_OK;
}

/* Writes all words of a row except the timestamp: base + counts. */
static void write_sum(_Atomic uint64_t *words, const struct ps__slot *slot, const uint64_t *counts,
                      size_t width)
{
	const uint64_t *base = slot->base;

	for (size_t word = 0; word < width; word++)
		atomic_store_explicit(&words[word], base[word] + counts[word],
		                      memory_order_release);
}

/* Writes base + the counters that ps_store was given, which have no times. Slots other than the
 * caller's get only the base. Returns flags. */
static uint16_t write_stored(_Atomic uint64_t *words, const struct ps_eventset *set,
                             const struct ps__slot *slot, const struct ps__write *write)
{
	size_t times = 2 * set->recorder.recording->groups;
	uint16_t flags = 0;

	for (size_t word = 0; word < times; word++)
		atomic_store_explicit(&words[word], slot->base[word], memory_order_release);
	for (size_t event = 0; event < set->events.count; event++) {
		long long count = slot == write->slot ? write->counters[event] : 0;
		long long base = (long long)slot->base[times + event], sum;
		if (__builtin_add_overflow(base, count, &sum)) {
			sum = count < 0 ? LLONG_MIN : LLONG_MAX;
			flags = PS__MARK_SATURATED;
		}
		atomic_store_explicit(&words[times + event], (uint64_t)sum, memory_order_release);
	}
	return flags;
}

/* Moves the counts into the base, after ps_accum has written base + counts to the row. */
void ps__set_move_into_base(struct ps_eventset *set, struct ps__slot *slot, size_t width)
{
	struct ps__held held;
	bool is_passed = ps__slot_begin_pass(set, slot, &held);

	ps__set_change_words(set, slot->base, slot->counts, NULL);
	for (size_t word = 0; word < width; word++) {
		uint64_t base = slot->base[word];
		ps__set_change_word(set, word, base);
		slot->base[word] = base + slot->counts[word];
		atomic_signal_fence(memory_order_seq_cst);
		slot->counts[word] = 0;
	}
	ps__set_changed_words(set);
	if (is_passed)
		ps__signals_release(&held);
	/* This order lets the next call repeat these steps if this call is left. */
	slot->base_mark = ps__mark_join(slot->has_base ? slot->base_mark : 0, slot->counts_mark);
	slot->has_base = true;
	atomic_signal_fence(memory_order_seq_cst);
	slot->counts_mark &= PS__MARK_ATTRIBUTION;
	slot->has_counts = false;
}

static uint16_t write_mark(const struct ps__slot *slot, const struct ps__write *write)
{
	uint16_t mark = slot->counts_mark;

	if (write->kind == PS__WRITE_STORE)
		mark = slot == write->slot ? write->mark : mark & PS__MARK_ATTRIBUTION;
	if (slot->has_base)
		mark = ps__mark_join(mark, slot->base_mark);
	if (write->kind == PS__WRITE_ACCUM)
		return mark | PS__MARK_BASE_IS_VALUE;
	return slot->has_base ? mark | PS__MARK_BASE_APART : mark;
}

static inline __attribute__((always_inline)) void write_part(struct ps_eventset *set,
                                                             struct ps__slot *slot,
                                                             const struct ps__write *write,
                                                             uint64_t timestamp)
{
	struct ps__history *history = slot->history;
	size_t width = ps__recording_width(set->recorder.recording);
	size_t row = slot->has_part
	                 ? atomic_load_explicit(&history->count, memory_order_relaxed) - 1
	                 : ps__history_append(history, timestamp);
	struct ps__chunk *chunk = ps__history_chunk(history, row);
	_Atomic uint64_t *words = ps__history_words(history, chunk, row);

	atomic_store_explicit(&words[0], timestamp, memory_order_release);
	uint16_t flags = 0;
	if (write->kind == PS__WRITE_STORE)
		flags = write_stored(words + 1, set, slot, write);
	else
		write_sum(words + 1, slot, slot->counts, width);
	atomic_store_explicit(ps__history_mark(chunk, row), write_mark(slot, write) | flags,
	                      memory_order_release);
	slot->has_part = true;
	if (write->kind == PS__WRITE_ACCUM)
		ps__set_move_into_base(set, slot, width);
	if (set->recorder.history && history->gone)
		ps__history_close_up(history);
	if (set->recorder.history)
		ps__history_trim(history, set->recorder.history);
}

static void write_doubt_base(struct ps__slot *slot, uint16_t doubt)
{
	slot->base_mark = ps__mark_join(slot->has_base ? slot->base_mark : 0, doubt);
	slot->has_base = true;
}

/* Gives the doubts (ps__mark_doubt) of any part to all parts: counts of one slot may belong to any
 * other slot, even if the others were counted later, or are in the base of ps_accum. For a take the
 * bases alone get them: the counts are taken with the labels of their own interval. */
static __attribute__((cold, noinline)) void write_spread_doubt(struct ps_eventset *set,
                                                               const struct ps__write *write)
{
	uint16_t doubt = 0;

	for (size_t index = 0; index < set->recorder.active_count; index++) {
		const struct ps__slot *slot = set->recorder.active[index];
		if (slot->has_counts)
			doubt = ps__mark_join(doubt, ps__mark_doubt(slot->counts_mark));
		if (slot->has_base)
			doubt = ps__mark_join(doubt, ps__mark_doubt(slot->base_mark));
	}
	for (size_t index = 0; doubt && index < set->recorder.active_count; index++) {
		struct ps__slot *slot = set->recorder.active[index];
		if (!takes_part(slot, write))
			continue;
		if (!write->keeps_labels)
			slot->counts_mark = ps__mark_join(slot->counts_mark, doubt);
		if (slot->has_base || write->keeps_labels)
			write_doubt_base(slot, doubt);
	}
}

static inline __attribute__((always_inline)) void
write_rows(struct ps_eventset *set, const struct ps__write *write, uint64_t timestamp)
{
	bool has_doubt = set->has_doubt && write->kind != PS__WRITE_STORE;

	if (__builtin_expect(has_doubt, 0))
		write_spread_doubt(set, write);
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		if (takes_part(set->recorder.active[index], write))
			write_part(set, set->recorder.active[index], write, timestamp);
	}
	if (__builtin_expect(has_doubt, 0))
		ps__set_doubt_latest(set);
}

void ps__set_write_rows(struct ps_eventset *set, const struct ps__write *write, uint64_t timestamp)
{
	write_rows(set, write, timestamp);
}

/* Begins a new reading: removes the latest one's parts. The slot gets a part of the new one. */
static void leave_latest(struct ps_eventset *set, struct ps__slot *slot)
{
	ps__set_forget_parts(set);
	ps__set_activate(set, slot);
}

int ps__set_write(struct ps_eventset *set, const struct ps__write *write, uint64_t *timestamp)
{
	uint64_t now_ns = write->now_ns ? write->now_ns : ps__clock_now_ns(&set->recorder.clock);
	uint64_t wanted = 0, made = ps__set_next_timestamp(set, now_ns);
	enum which which = write_find_reading(set, timestamp, &wanted);
	int result = write_make_room(set, write);

	if (result == PS_OK && which == WHICH_OLDER)
		result = ps__set_make_room_to_reopen(set);
	if (result == PS_OK && which != WHICH_LATEST)
		result = ps__set_keep_bases(set);
	if (result != PS_OK)
		return result;
	set->recorder.pending = (struct ps__pending){.kind = write->kind,
	                                             .slot = write->slot,
	                                             .timestamp = made,
	                                             .is_update = which == WHICH_LATEST};
	set->recorder.pending.name = timestamp ? *timestamp : wanted;
	if (which != WHICH_LATEST) {
		ps__set_enter_stage(set, which == WHICH_NEW ? PS__STAGE_FORGETTING
		                                            : PS__STAGE_REOPENING);
		leave_latest(set, write->slot);
	}
	ps__recording_write_begin(set->recorder.recording);
	if (which == WHICH_OLDER)
		ps__set_reopen(set, wanted);
	ps__set_enter_stage(set, PS__STAGE_WRITING);
	write_rows(set, write, made);
	atomic_store_explicit(&set->recorder.recording->latest, made, memory_order_release);
	ps__recording_write_end(set->recorder.recording);
	if (timestamp)
		*timestamp = made;
	set->recorder.old_name = wanted == set->recorder.old_name_of ? 0 : set->recorder.old_name;
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.last_timestamp = made;
	ps__set_enter_stage(set, PS__STAGE_NONE);
	return PS_OK;
}
