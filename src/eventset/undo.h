/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes around a change, so that recover.c can undo the change if the call is left half done. */
#ifndef PS_EVENTSET_UNDO_H
#define PS_EVENTSET_UNDO_H

#include "eventset/eventset.h"

#include <string.h>

/* Call ps__set_change_words before a change of two vectors word by word, ps__set_change_word before
 * each word, and ps__set_changed_words after the change. */
static inline void ps__set_change_words(struct ps_eventset *set, uint64_t *words, uint64_t *others,
                                        const uint64_t *final)
{
	set->recorder.undo.index = SIZE_MAX;
	set->recorder.undo.others = others;
	set->recorder.undo.final = final;
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.undo.words = words;
}
static inline void ps__set_change_word(struct ps_eventset *set, size_t index, uint64_t before)
{
	/* Until `index` is stored below, it names the word before, which is complete. */
	set->recorder.undo.before = before;
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.undo.index = index;
	atomic_signal_fence(memory_order_seq_cst);
}
/* Adds to `counts`, from word `first` on, by how much `totals` exceeds `assigned`. True if a
 * counter went back. */
static inline bool ps__set_assign_words(struct ps_eventset *set, uint64_t *counts,
                                        uint64_t *assigned, const uint64_t *totals, size_t first)
{
	size_t width = ps__recording_width(set->recorder.recording);
	bool went_back = false;

	for (size_t word = first; word < width; word++) {
		uint64_t total = totals[word];
		uint64_t known = assigned[word];
		/* A smaller total: something else has reset the counter, and it has counted `total`
		 * since. */
		if (__builtin_expect(total < known, 0) && !set->counters.backend->may_fall) {
			known = 0;
			went_back = true;
		}
		uint64_t count = counts[word];
		ps__set_change_word(set, word, count);
		counts[word] = count + total - known;
		atomic_signal_fence(memory_order_seq_cst);
		assigned[word] = total;
	}
	return went_back;
}
static inline void ps__set_changed_words(struct ps_eventset *set)
{
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.undo.words = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}
/* Returns the times of an instance, by group: see per_cpu.elapsed. */
static inline uint64_t *ps__set_elapsed(const struct ps_eventset *set, size_t instance)
{
	return set->attribution.per_cpu.elapsed + instance * set->recorder.recording->groups;
}
/* Call ps__set_change_begin before a change of a slot's counts and times of the interval, and of an
 * instance's assigned and elapsed times and counts; and ps__set_change_end after it. */
static inline void ps__set_change_begin(struct ps_eventset *set, struct ps__slot *slot,
                                        size_t instance)
{
	size_t width = ps__recording_width(set->recorder.recording);
	size_t groups = set->recorder.recording->groups;
	struct ps__undo *undo = &set->recorder.undo;
	uint64_t *saved = undo->saved;

	memcpy(saved, slot->counts, (width + 2 * groups) * sizeof *saved);
	saved += width + 2 * groups;
	memcpy(saved, ps__set_assigned(set, instance), width * sizeof *saved);
	memcpy(saved + width, ps__set_elapsed(set, instance), groups * sizeof *saved);
	undo->instance = instance;
	atomic_signal_fence(memory_order_seq_cst);
	undo->slot = slot;
	atomic_signal_fence(memory_order_seq_cst);
}
/* Puts the old values back. */
static inline void ps__set_change_undo(struct ps_eventset *set)
{
	size_t width = ps__recording_width(set->recorder.recording);
	size_t groups = set->recorder.recording->groups;
	struct ps__undo *undo = &set->recorder.undo;
	const uint64_t *saved = undo->saved;

	memcpy(undo->slot->counts, saved, (width + 2 * groups) * sizeof *saved);
	saved += width + 2 * groups;
	memcpy(ps__set_assigned(set, undo->instance), saved, width * sizeof *saved);
	memcpy(ps__set_elapsed(set, undo->instance), saved + width, groups * sizeof *saved);
}
static inline void ps__set_change_end(struct ps_eventset *set)
{
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.undo.slot = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}
static inline void ps__set_enter_stage(struct ps_eventset *set, enum ps__write_stage stage)
{
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.pending.stage = stage;
	atomic_signal_fence(memory_order_seq_cst);
}

#endif
