/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes taken around a change, so that it can be undone if the call is left in its midst:
 * recover.c. */
#ifndef PS_EVENTSET_UNDO_H
#define PS_EVENTSET_UNDO_H

#include "eventset/eventset.h"

#include <string.h>

/* Before and after a change of two vectors, word by word; and before each of the words. */
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
	/* Until the next line the index is of a word that is done. */
	set->recorder.undo.before = before;
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.undo.index = index;
	atomic_signal_fence(memory_order_seq_cst);
}
static inline void ps__set_changed_words(struct ps_eventset *set)
{
	atomic_signal_fence(memory_order_seq_cst);
	set->recorder.undo.words = NULL;
	atomic_signal_fence(memory_order_seq_cst);
}
/* Around a change of all of a slot's counts, and what is assigned of an instance. */
static inline void ps__set_change_begin(struct ps_eventset *set, struct ps__slot *slot,
                                        uint64_t *assigned)
{
	size_t width = ps__recording_width(set->recorder.recording);
	struct ps__undo *undo = &set->recorder.undo;

	memcpy(undo->saved, slot->counts, width * sizeof *slot->counts);
	memcpy(undo->saved + width, assigned, width * sizeof *assigned);
	undo->assigned = assigned;
	atomic_signal_fence(memory_order_seq_cst);
	undo->slot = slot;
	atomic_signal_fence(memory_order_seq_cst);
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
