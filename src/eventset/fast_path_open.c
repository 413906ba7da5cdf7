/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the fast path after a reading on the slow path, and closes it before one. Also prepares it
 * for the update of an older reading. */
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/snapshot.h"
#include "eventset/undo.h"

#include <string.h>

/* The head that is compared if there is no switch ring. */
static const uint64_t no_head;

/*
 * A miss is a reading that the fast path has begun and the slow path has to repeat. A group that
 * shares its counters misses each time. So a miss soon after another one closes the fast path for
 * one reading, the next miss for two, and so on. A miss FAR_BETWEEN readings after the last one
 * closes nothing: it comes from preemption.
 */
#define LONGEST_PAUSE 1024
#define FAR_BETWEEN   ((uint64_t)64)

const struct ps_component ps__fast_take;
const struct ps_component ps__fast_snapshot;

static uint64_t count_readings(const struct ps__fast_path *fast,
                               const struct ps__recording *recording)
{
	return ps__recording_count_writes(recording) + fast->pause.takes;
}

/* True if the fast path is to be skipped. Counts the readings of the pause. */
static bool is_paused(struct ps_eventset *set)
{
	struct ps__fast_path *fast = &set->fast_path;

	if (fast->pause.left == 0)
		return false;
	fast->pause.since = count_readings(fast, set->recorder.recording);
	fast->pause.left--;
	return true;
}

/* True if the task's CPU can be found without a system call. */
static bool is_followed(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_SELF ||
	       (set->counters.target.kind == PS__TARGET_TID && set->attribution.switches.fd >= 0 &&
	        set->attribution.method != &ps__method_last_cpu);
}

/* True if the counters, and the label of their counts, can stay as they are. */
static bool may_last(const struct ps_eventset *set, const struct ps__slot *slot)
{
	const struct ps__method *method = set->attribution.method;

	/* A stopped set's counters may be closed. */
	if (set->state != PS__SET_RUNNING || !set->counters.backend->ops->read_direct ||
	    !is_followed(set) || set->is_ended || set->recorder.must_clear ||
	    (slot->counts_mark & PS__MARK_FLAGS))
		return false;
	return (method->split == PS__SPLIT_COUNTERS || set->counters.backend->instances == 1) &&
	       method->is_label_lasting && method->is_label_lasting(set, slot);
}

/* True if only one hardware thread has counts, and these have an attribution but no flags. */
static bool may_begin(const struct ps_eventset *set, const struct ps__slot *slot)
{
	const uint16_t flags = PS__MARK_FLAGS;

	if (set->recorder.active_count != 1 || set->recorder.active[0] != slot || !slot->has_part)
		return false;
	if (slot->has_base && (slot->base_mark & (flags | PS__MARK_ATTRIBUTION)) !=
	                          (slot->counts_mark & PS__MARK_ATTRIBUTION))
		return false;
	return may_last(set, slot);
}

/* Sets the offset from the slot: the slot's value is base + counts + (totals - assigned). */
static void offset_from_slot(struct ps_eventset *set)
{
	struct ps__fast_path *fast = &set->fast_path;
	const struct ps__slot *slot = fast->slot;
	const uint64_t *assigned = ps__set_assigned(set, fast->source.instance);

	for (size_t word = 0; word < fast->width; word++)
		fast->offset[word] = slot->base[word] + slot->counts[word] - assigned[word];
}

static void begin_snapshots(struct ps_eventset *set)
{
	struct ps__fast_path *fast = &set->fast_path;
	const struct ps__slot *slot = fast->slot;
	const uint64_t *assigned = ps__set_assigned(set, fast->source.instance);

	memcpy(fast->snapshot.totals, assigned, fast->width * sizeof *assigned);
	fast->snapshot.of = set->snapshots;
	fast->snapshot.opening = ++set->openings;
	/* The label stays valid: what ps_accum moves meanwhile has the same mark. */
	fast->snapshot.label = ps__slot_label(slot);
	for (size_t word = 0; set->snapshots && word < fast->width; word++)
		fast->snapshot.passed[word] =
		    slot->passed.words[word] + slot->counts[word] - assigned[word];
}

static void open_fast_path(struct ps_eventset *set, struct ps__slot *slot,
                           const struct ps_component *root)
{
	struct ps__fast_path *fast = &set->fast_path;

	fast->source.read = set->counters.backend->ops->read_direct;
	fast->source.backend = set->counters.backend;
	fast->slot = slot;
	fast->row.history = slot->history;
	fast->set.topology = set->recorder.root ? set->recorder.root->topology : NULL;
	fast->set.clock = &set->recorder.clock;
	fast->cpu = slot->cpu;
	/* For an attached task only the switch ring shows moves: compare `cpu` with itself. */
	fast->cpu_place =
	    set->counters.target.kind == PS__TARGET_SELF ? ps__os_cpu_place() : &slot->cpu;
	fast->split_times = set->attribution.method->split == PS__SPLIT_COUNTERS
	                        ? 2 * set->recorder.recording->groups
	                        : 0;
	fast->source.instance =
	    set->attribution.method->split == PS__SPLIT_COUNTERS ? (size_t)slot->instance : 0;
	fast->switches.head =
	    set->attribution.switches.fd >= 0
		? (const uint64_t *)&set->attribution.switches.ring.page->data_head
		: &no_head;
	fast->switches.seen =
	    set->attribution.switches.fd >= 0 ? set->attribution.switches.ring.seen : 0;
	fast->base = slot->has_base ? PS__BASE_BEFORE : PS__BASE_NONE;
	fast->counts_mark = slot->counts_mark;
	if (root != &ps__fast_snapshot) {
		ps__fast_find_latest(fast, slot->history);
		fast->row.flags = atomic_load_explicit(fast->row.mark, memory_order_relaxed);
	}
	memcpy(fast->previous, ps__set_assigned(set, fast->source.instance),
	       fast->width * sizeof *fast->previous);
	offset_from_slot(set);
	begin_snapshots(set);
	/* Stored last: if this call is left after it, the next call finds the path open. */
	atomic_signal_fence(memory_order_seq_cst);
	fast->root = root;
}

void ps__set_open_fast_path(struct ps_eventset *set, struct ps__slot *slot)
{
	if (!is_paused(set) && may_begin(set, slot))
		open_fast_path(set, slot, set->recorder.root);
}

/* True if the next interval may have a better label than the one that was taken: on the slow path
 * the method finds it. The fast path would repeat the label. */
static bool may_improve(const struct ps_eventset *set, const struct ps__slot *slot)
{
	return set->attribution.only_cpu >= 0 &&
	       (slot->counts_mark & PS__MARK_ATTRIBUTION) == PS_ATTRIBUTION_MIXED;
}

/* After a take the counts of all slots are 0. */
void ps__set_open_fast_take(struct ps_eventset *set, struct ps__slot *slot)
{
	if (!is_paused(set) && may_last(set, slot) && !may_improve(set, slot))
		open_fast_path(set, slot, &ps__fast_take);
}

/* Opens the path for readings too, if possible. */
void ps__set_open_fast_snapshot(struct ps_eventset *set, struct ps__slot *slot)
{
	if (is_paused(set))
		return;
	if (set->recorder.root && may_begin(set, slot))
		open_fast_path(set, slot, set->recorder.root);
	else if (may_last(set, slot))
		open_fast_path(set, slot, &ps__fast_snapshot);
}

/* Assigns what was read to the slot, as the slow path does. */
static void assign_totals(struct ps_eventset *set, const uint64_t *totals)
{
	struct ps__fast_path *fast = &set->fast_path;
	uint64_t *previous = ps__set_totals(set, fast->source.instance);

	for (size_t word = 0; word < fast->width; word++)
		previous[word] = totals[word];
	if (set->attribution.method->split == PS__SPLIT_COUNTERS) {
		ps__set_assign_instance(set, fast->slot);
	} else {
		ps__set_assign(set, fast->slot, fast->source.instance);
		ps__set_label_counts(fast->slot, fast->slot->counts_mark & PS__MARK_ATTRIBUTION);
	}
}

/* Returns the totals that were read last, by a reading or take (`previous`), or by a snapshot. */
static const uint64_t *latest_totals(const struct ps__fast_path *fast)
{
	for (size_t word = 0; word < fast->width; word++) {
		if ((int64_t)(fast->snapshot.totals[word] - fast->previous[word]) < 0)
			return fast->previous;
	}
	return fast->snapshot.totals;
}

void ps__set_close_fast_path(struct ps_eventset *set)
{
	struct ps__fast_path *fast = &set->fast_path;

	if (fast->base >= PS__BASE_PREVIOUS) {
		assign_totals(set, fast->base == PS__BASE_PREVIOUS ? fast->previous : fast->kept);
		ps__set_move_into_base(set, fast->slot, fast->width);
		fast->base = PS__BASE_BEFORE;
		atomic_signal_fence(memory_order_seq_cst);
	}
	/* A snapshot on the path gave its counts to the slot: if the task has moved since, only
	 * what was counted later is shared out, by the time from the snapshot on. */
	assign_totals(set, latest_totals(fast));
	ps__set_note_assigned(set, fast->snapshot.until_ns);
	ps__set_note_assigned(set, set->recorder.last_timestamp);
	/* Stored last: if this call is left before it, repeating the call does no harm. */
	atomic_signal_fence(memory_order_seq_cst);
	fast->root = NULL;
}

int ps__fast_note_miss(struct ps__fast_path *fast, int result)
{
	uint64_t readings = count_readings(fast, fast->row.history->recording);

	if (readings - fast->pause.since >= FAR_BETWEEN)
		fast->pause.length = 0;
	else if (fast->pause.length < LONGEST_PAUSE)
		fast->pause.length = fast->pause.length ? 2 * fast->pause.length : 1;
	fast->pause.left = fast->pause.length;
	fast->pause.since = readings;
	return result == PS_OK ? PS__TRY_SLOW_PATH : result;
}

/* A reading that was only accumulated is its own base, so its row is all that is needed. A reading
 * that was only read has no base, so it has the same offset as the others. The latest reading must
 * be of the same kind as the older one. */
ptrdiff_t ps__set_find_old_row(struct ps_eventset *set, uint64_t timestamp,
                               enum ps__write_kind kind)
{
	const struct ps__fast_path *fast = &set->fast_path;
	uint16_t mark = fast->counts_mark;

	if (kind == PS__WRITE_ACCUM)
		mark |= PS__MARK_BASE_IS_VALUE;
	return fast->row.flags == mark ? ps__set_find_sole_part(set, fast->slot, timestamp, mark)
	                               : -1;
}

void ps__set_begin_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind)
{
	struct ps__fast_path *fast = &set->fast_path;
	const _Atomic uint64_t *words = ps__history_word(fast->row.history, row, 1);

	if (kind != PS__WRITE_ACCUM)
		return;
	/* A snapshot may have assigned counts to the slot that no ps_accum has moved yet. */
	bool has_counts = fast->base != PS__BASE_PREVIOUS;
	for (size_t word = 0; word < fast->width; word++)
		fast->offset[word] = atomic_load_explicit(&words[word], memory_order_relaxed) -
		                     fast->previous[word] +
		                     (has_counts ? fast->slot->counts[word] : 0);
}

void ps__set_cancel_move(struct ps_eventset *set)
{
	struct ps__fast_path *fast = &set->fast_path;

	offset_from_slot(set);
	fast->row.flags = atomic_load_explicit(fast->row.mark, memory_order_relaxed);
}

void ps__set_end_move(struct ps_eventset *set, size_t row, enum ps__write_kind kind)
{
	struct ps__fast_path *fast = &set->fast_path;
	struct ps__slot *slot = fast->slot;
	const uint64_t *assigned = ps__set_assigned(set, fast->source.instance);

	for (size_t word = 0; kind == PS__WRITE_ACCUM && word < fast->width; word++)
		slot->base[word] = fast->offset[word] - slot->counts[word] + assigned[word];
	ps__history_retire(slot->history, row);
	ps__fast_find_latest(fast, slot->history);
}
