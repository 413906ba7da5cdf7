/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles a call that can't enter its set at once (ps__set_refuse). Repairs the set if an earlier
 * call was left half done. Refuses the call otherwise, also in a forked child.
 *
 * A call may have been left half done: by siglongjmp out of a handler that interrupted it, or by
 * the end of its thread. The next call finds the set busy, sees that nobody will continue the
 * earlier call, and repairs the set. No count is lost: the kernel's totals are never reset, and the
 * notes in `undo` tell whether a count was assigned or not. If a reading was being written, all of
 * it is written now.
 */
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "eventset/attribution.h"
#include "eventset/undo.h"
#include "eventset/waiting.h"

#include <string.h>

static bool is_left(const struct ps_eventset *set, uintptr_t stack)
{
	if (set->calls.busy_thread == ps__thread_number())
		return ps__stack_was_left(set->calls.busy, stack);
	return !ps__locate_is_alive(set->calls.busy_thread == set->calls.owner
	                                ? set->calls.owner_tid
	                                : set->calls.busy_tid);
}

/* Undoes the current word if it is not complete. Then assigns the remaining words to the same slot:
 * the task may be elsewhere now, and all words of a part must be of one interval. */
static void undo_word(struct ps_eventset *set)
{
	const struct ps__undo *undo = &set->recorder.undo;
	size_t index = undo->index;

	if (index != SIZE_MAX && undo->others[index] != (undo->final ? undo->final[index] : 0))
		undo->words[index] = undo->before;
	if (undo->final && ps__set_assign_words(set, undo->words, undo->others, undo->final,
	                                        index == SIZE_MAX ? 0 : index))
		set->counters.backend->went_back = true;
}

static void undo_change(struct ps_eventset *set)
{
	if (set->recorder.undo.slot)
		ps__set_change_undo(set);
	if (set->recorder.undo.words)
		undo_word(set);
	ps__set_change_end(set);
	ps__set_changed_words(set);
	if (set->attribution.per_cpu.settling)
		ps__set_end_settling(set);
}

static uint64_t time_of_row(const struct ps__history *history, size_t row)
{
	return atomic_load_explicit(
	    ps__history_words(history, ps__history_chunk(history, row), row), memory_order_relaxed);
}

/* True if the history's last row is of this reading. */
static bool ends_with(const struct ps__history *history, uint64_t timestamp)
{
	size_t first = atomic_load_explicit(&history->first, memory_order_relaxed);
	size_t count = atomic_load_explicit(&history->count, memory_order_relaxed);

	return count > first && time_of_row(history, count - 1) == timestamp;
}

/* Makes the active list anew, as it may be damaged. A slot to which the call had just assigned
 * counts may lack a label: it gets LAST_CPU. */
static void rebuild_slots(struct ps_eventset *set)
{
	size_t width = ps__recording_width(set->recorder.recording);

	set->recorder.active_count = 0;
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		struct ps__slot *slot = set->recorder.met[index];
		for (size_t word = 0; word < width && !slot->has_counts; word++) {
			if (slot->counts[word])
				ps__set_label_counts(slot, PS_ATTRIBUTION_LAST_CPU);
		}
		slot->is_active = false;
		if (slot->has_counts || slot->has_part || slot->spent_ns > 0)
			ps__set_activate(set, slot);
	}
}

/* Completes the first stage of a new reading: removes the parts and bases of the latest one. */
static void forget_latest(struct ps_eventset *set)
{
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		struct ps__slot *slot = set->recorder.met[index];
		memset(slot->base, 0,
		       ps__recording_width(set->recorder.recording) * sizeof *slot->base);
		slot->has_base = false;
		slot->has_part = false;
	}
}

/* Notes that the caller knows the reading by its old timestamp. The call had done its work, but was
 * left before it returned the new timestamp. */
static void keep_old_name(struct ps_eventset *set, uint64_t name, uint64_t latest)
{
	set->recorder.old_name = name;
	set->recorder.old_name_of = latest;
	set->recorder.last_timestamp = latest;
}

/* Writes the rows of the latest reading, with their present values. */
static void write_latest(struct ps_eventset *set, struct ps__slot *slot, enum ps__write_kind kind)
{
	struct ps__write write = {.kind = kind == PS__WRITE_STORE ? PS__WRITE_COUNTS : kind,
	                          .slot = slot};

	ps__set_activate(set, slot);
	ps__set_write_rows(set, &write, set->recorder.last_timestamp);
	atomic_store_explicit(&set->recorder.recording->latest, set->recorder.last_timestamp,
	                      memory_order_release);
}

static void end_sequence(struct ps_eventset *set)
{
	if (atomic_load_explicit(&set->recorder.recording->sequence, memory_order_relaxed) & 1)
		ps__recording_write_end(set->recorder.recording);
}

/* Readers see all writes up to end_sequence as one. */
static void begin_sequence(struct ps_eventset *set)
{
	if (!(atomic_load_explicit(&set->recorder.recording->sequence, memory_order_relaxed) & 1))
		ps__recording_write_begin(set->recorder.recording);
}

static void close_fast_path(struct ps_eventset *set)
{
	ps__set_close_fast_path(set);
	ps__set_renew_fast_path(set);
}

/* True if the fast path was writing the history's last row. A new row that isn't published yet is
 * no reading: its counts come with the next one. */
static bool was_writing(const struct ps_eventset *set, size_t last)
{
	const struct ps__history *history = set->fast_path.slot->history;

	return atomic_load_explicit(&set->recorder.recording->sequence, memory_order_relaxed) & 1 &&
	       set->fast_path.row.words ==
	           ps__history_words(history, ps__history_chunk(history, last), last);
}

/* Prepares the repair of a reading that the fast path was writing, in the latest row or in a new
 * row after it. recover_write then writes the row. If recover_write is left, too, `pending` still
 * has the reading. A reading that was complete, or not yet begun, stays as it is. */
static void recover_fast_path(struct ps_eventset *set)
{
	struct ps__slot *slot = set->fast_path.slot;
	const struct ps__history *history = slot->history;
	size_t last = atomic_load_explicit(&history->count, memory_order_relaxed) - 1;
	uint64_t known = set->recorder.last_timestamp;
	bool is_new = last > atomic_load_explicit(&history->first, memory_order_relaxed) &&
	              time_of_row(history, last - 1) == known;
	uint64_t latest =
	    atomic_load_explicit(&set->recorder.recording->latest, memory_order_relaxed);

	if (was_writing(set, last)) {
		set->recorder.pending =
		    (struct ps__pending){.kind = PS__WRITE_COUNTS,
		                         .slot = slot,
		                         .timestamp = is_new ? time_of_row(history, last) : latest,
		                         .is_update = !is_new,
		                         .name = known};
		ps__set_enter_stage(set, PS__STAGE_WRITING);
	} else if (latest != known && is_new) {
		set->recorder.last_timestamp = latest;
	} else if (latest != known) {
		keep_old_name(set, known, latest);
	}
	close_fast_path(set);
}

/* Continues ps__set_write (the slow path) from where it was left. */
static void recover_write(struct ps_eventset *set)
{
	const struct ps__pending *pending = &set->recorder.pending;
	uint64_t latest =
	    atomic_load_explicit(&set->recorder.recording->latest, memory_order_relaxed);

	/* Do this once only: if this call is left, too, the new reading may have rows by then. */
	if (pending->stage == PS__STAGE_FORGETTING) {
		forget_latest(set);
		ps__set_enter_stage(set, PS__STAGE_WRITING);
	}
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		if (ends_with(set->recorder.met[index]->history, pending->timestamp))
			set->recorder.met[index]->has_part = true;
	}
	rebuild_slots(set);
	if (!pending->is_update)
		set->recorder.last_timestamp = pending->timestamp;
	else if (latest == pending->timestamp && latest != pending->name)
		keep_old_name(set, pending->name, latest);
	begin_sequence(set);
	write_latest(set, pending->slot, pending->kind);
	end_sequence(set);
}

/* Notes that it isn't known where the task was until now: the call that was left may have taken
 * records out of the switch ring. */
static void doubt_places(struct ps_eventset *set)
{
	set->attribution.per_cpu.must_sweep = true;
	set->attribution.has_lost = set->attribution.method->split == PS__SPLIT_RECORDS;
	set->attribution.has_migrated = set->attribution.method->split == PS__SPLIT_NOT;
	ps__set_doubt_clocks(set);
	set->attribution.followed_cpu = -1;
	set->attribution.stay.state = PS__STAY_UNKNOWN;
}

/* Stops all counters. The start that was left may have enabled any of them; the next start leaves
 * out what they counted. */
static void undo_start(struct ps_eventset *set)
{
	set->counters.backend->ops->stop(set->counters.backend);
	set->state = PS__SET_UNFETCHED;
	set->is_starting = false;
}

static int recover_set(struct ps_eventset *set)
{
	if (!set->recorder.recording)
		return PS_OK;
	undo_change(set);
	if (set->recorder.pending.stage == PS__STAGE_REOPENING) {
		end_sequence(set);
		return ps__fail(PS_ECNFLCT,
		                "the event set was left, by a jump out of a signal handler or the "
		                "end of its thread, while it updated a reading that isn't the "
		                "latest: destroy it, and count with a clone (ps_eventset_clone)");
	}
	if (set->fast_path.root == &ps__fast_snapshot || set->fast_path.root == &ps__fast_take) {
		close_fast_path(set); /* snapshots and takes write no row */
	} else if (set->fast_path.root) {
		recover_fast_path(set);
	} else {
		rebuild_slots(set);
		doubt_places(set);
	}
	if (set->recorder.pending.stage != PS__STAGE_NONE)
		recover_write(set);
	set->recorder.pending.stage = PS__STAGE_NONE;
	end_sequence(set);
	if (set->is_starting)
		undo_start(set);
	return PS_OK;
}

int ps__set_refuse(struct ps_eventset *set, const char *call, uintptr_t stack)
{
	if (!set)
		return ps__fail(PS_EINVAL, "%s: the event set is NULL", call);
	if (!ps__fork_is_same(set->calls.fork_generation))
		return ps__fail(PS_ECLOST,
		                "%s: the event set was made by the parent process, and its "
		                "counters are the parent's: create a set in this process",
		                call);
	if (is_left(set, stack)) {
		uintptr_t left_at = set->calls.busy;
		set->calls.busy_thread = ps__thread_number();
		ps__arch_note_stack(&set->calls.busy);
		int result = recover_set(set);
		if (result != PS_OK)
			set->calls.busy = left_at;
		return result;
	}
	if (set->calls.busy_thread != ps__thread_number())
		return ps__fail(PS_ECNFLCT,
		                "%s: another thread is in the middle of a call with the event set, "
		                "which one thread at a time may use",
		                call);
	return ps__fail(
	    PS_ECNFLCT,
	    "%s: the event set is in the middle of another call, which a signal interrupted", call);
}
