/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path of readings is opened after a reading on the slow path, and closed before one; it moves to an older reading. */
#include "base/os.h"
#include "set/undo.h"

#include <string.h>

/* The head of a watch that isn't there. */
static const uint64_t no_head;

/*
 * A reading that the slow path has to do again is a miss. A group that shares its counters misses each time: so a miss closes
 * the fast path for some readings, the next one for twice as many. Those of a thread that is preempted are far between.
 */
#define LONGEST_PAUSE 1024
#define FAR_BETWEEN   ((uint64_t)64)

/* Counts the readings of a pause. */
static bool is_paused(struct ps_eventset *set)
{
	struct ps__quick *quick = &set->quick;

	if (quick->paused == 0)
		return false;
	quick->since = ps__recording_count_writes(set->recorder.recording);
	quick->paused--;
	return true;
}

/* One hardware thread with counts, of which nothing else is to be said than its attribution. */
static bool may_begin(const struct ps_eventset *set, const struct ps__slot *slot)
{
	const uint16_t flags = PS__MARK_FLAGS;

	/* Of a stopped set the counters may be closed. */
	if (set->state != PS__SET_RUNNING || !set->counters.backend->ops->read_direct ||
	    set->counters.target.kind != PS__TARGET_SELF || set->is_ended || set->recorder.must_clear)
		return false;
	if (set->recorder.active_count != 1 || set->recorder.active[0] != slot || !slot->has_part)
		return false;
	if ((slot->counts_mark & flags) || (slot->has_base && (slot->base_mark & (flags | PS__MARK_ATTRIBUTION)) !=
	                                                          (slot->counts_mark & PS__MARK_ATTRIBUTION)))
		return false;
	return (set->attribution.method == &ps__method_lanes || set->counters.backend->lanes == 1) &&
	       set->attribution.method->is_label_lasting(set, slot);
}

/* The slot's value is base + counts + (totals - credited). */
static void offset_from_slot(struct ps_eventset *set)
{
	struct ps__quick *quick = &set->quick;
	const struct ps__slot *slot = quick->slot;
	const uint64_t *credited = ps__set_credited(set, quick->lane);

	for (size_t word = 0; word < quick->width; word++)
		quick->offset[word] = slot->base[word] + slot->counts[word] - credited[word];
}

void ps__set_begin_quick(struct ps_eventset *set, struct ps__slot *slot)
{
	struct ps__quick *quick = &set->quick;

	if (is_paused(set) || !may_begin(set, slot))
		return;
	quick->read = set->counters.backend->ops->read_direct;
	quick->slot = slot;
	quick->cpu = slot->cpu;
	quick->cpu_place = ps__os_cpu_place();
	quick->split_times = set->attribution.method == &ps__method_lanes ? 2 * set->recorder.recording->groups : 0;
	quick->lane = set->attribution.method == &ps__method_lanes ? (size_t)slot->lane : 0;
	quick->head = set->attribution.watch.fd >= 0 ? (const uint64_t *)&set->attribution.watch.ring.page->data_head
	                                             : &no_head;
	quick->seen = set->attribution.watch.fd >= 0 ? set->attribution.watch.ring.seen : 0;
	quick->base = slot->has_base ? PS__BASE_BEFORE : PS__BASE_NONE;
	ps__quick_find_latest(quick, slot->log);
	quick->counts_mark = slot->counts_mark;
	quick->row_mark = atomic_load_explicit(quick->mark, memory_order_relaxed);
	memcpy(quick->known, ps__set_credited(set, quick->lane), quick->width * sizeof *quick->known);
	offset_from_slot(set);
	/* At last: from here on a call that is left finds the short way open. */
	atomic_signal_fence(memory_order_seq_cst);
	quick->root = set->recorder.root;
}

/* What was read goes the usual way into the slot. */
static void credit_totals(struct ps_eventset *set, const uint64_t *totals)
{
	struct ps__quick *quick = &set->quick;
	uint64_t *known = ps__set_totals(set, quick->lane);

	for (size_t word = 0; word < quick->width; word++)
		known[word] = totals[word];
	if (set->attribution.method == &ps__method_lanes) {
		ps__set_credit_lane(set, quick->slot, PS_ATTRIBUTION_EXACT);
	} else {
		ps__set_credit(set, quick->slot, quick->lane);
		ps__set_label_counts(quick->slot, quick->slot->counts_mark & PS__MARK_ATTRIBUTION);
	}
}

void ps__set_end_quick(struct ps_eventset *set)
{
	struct ps__quick *quick = &set->quick;

	if (quick->base >= PS__BASE_KNOWN) {
		credit_totals(set, quick->base == PS__BASE_KNOWN ? quick->known : quick->third);
		ps__set_move_into_base(set, quick->slot, quick->width);
		quick->base = PS__BASE_BEFORE;
		atomic_signal_fence(memory_order_seq_cst);
	}
	credit_totals(set, quick->known);
	/* What came until then is credited: from there on times count again. */
	set->attribution.stay.since_ns = set->recorder.last_timestamp;
	/* At last: a call that is left before does all this again, which changes nothing then. */
	atomic_signal_fence(memory_order_seq_cst);
	quick->root = NULL;
}

int ps__set_note_miss(struct ps_eventset *set, int result)
{
	struct ps__quick *quick = &set->quick;
	uint64_t readings = ps__recording_count_writes(set->recorder.recording);

	if (readings - quick->since >= FAR_BETWEEN)
		quick->pause = 0;
	else if (quick->pause < LONGEST_PAUSE)
		quick->pause = quick->pause ? 2 * quick->pause : 1;
	quick->paused = quick->pause;
	quick->since = readings;
	return result == PS_OK ? PS__NOT_QUICK : result;
}

/* A reading that was accumulated last is its own base, so nothing is counted that isn't in a row. One that has no base has
 * the same offset as any other. The latest reading must be of the kind that the older one is. */
ptrdiff_t ps__set_find_old_row(struct ps_eventset *set, uint64_t timestamp, enum ps__write_kind kind)
{
	const struct ps__quick *quick = &set->quick;
	uint16_t mark = quick->counts_mark;

	if (kind == PS__WRITE_ACCUM)
		mark |= PS__MARK_BASE_IS_VALUE;
	return quick->row_mark == mark ? ps__set_find_sole_part(set, quick->slot, timestamp, mark) : -1;
}

void ps__set_begin_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind)
{
	struct ps__quick *quick = &set->quick;
	const _Atomic uint64_t *words = ps__history_word(quick->slot->log, row, 1);

	if (kind != PS__WRITE_ACCUM)
		return;
	for (size_t word = 0; word < quick->width; word++)
		quick->offset[word] = atomic_load_explicit(&words[word], memory_order_relaxed) - quick->known[word];
}

void ps__set_cancel_move(struct ps_eventset *set)
{
	struct ps__quick *quick = &set->quick;

	offset_from_slot(set);
	quick->row_mark = atomic_load_explicit(quick->mark, memory_order_relaxed);
}

void ps__set_end_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind)
{
	struct ps__quick *quick = &set->quick;
	struct ps__slot *slot = quick->slot;
	const uint64_t *credited = ps__set_credited(set, quick->lane);

	for (size_t word = 0; kind == PS__WRITE_ACCUM && word < quick->width; word++)
		slot->base[word] = quick->offset[word] - slot->counts[word] + credited[word];
	ps__history_retire(slot->log, row);
	ps__quick_find_latest(quick, slot->log);
}
