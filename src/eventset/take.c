/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes on the slow path. What is taken is added to the base of the set's latest reading, as
 * ps_accum would do it, but the reading's rows are not written. So all counts are 0 after a take,
 * and the next reading (base + counts) has everything.
 */
#include "base/error.h"
#include "base/stack.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/fast_take.h"

/* Gives each slot with counts a part of the latest reading: else the next one would lack the slot's
 * base. */
static int take_make_parts(struct ps_eventset *set, struct ps__slot *here)
{
	struct ps__write write = {.kind = PS__WRITE_COUNTS, .slot = here, .keeps_labels = true};
	bool has_all = here->has_part;

	for (size_t index = 0; index < set->recorder.active_count; index++) {
		const struct ps__slot *slot = set->recorder.active[index];
		has_all &= slot->has_part || !slot->has_counts;
	}
	return has_all ? PS_OK : ps__set_write(set, &write, NULL);
}

static int take_slot(struct ps_eventset *set, struct ps__slot *slot, ps__take *take, void *context,
                     uint64_t now_ns)
{
	struct ps__taken taken = {.history = slot->history,
	                          .counts = slot->counts,
	                          .width = ps__recording_width(set->recorder.recording),
	                          .now_ns = now_ns,
	                          .mark =
	                              slot->counts_mark & (PS__MARK_ATTRIBUTION | PS__MARK_FLAGS)};
	int result = take(context, &taken);

	if (result == PS_OK)
		ps__set_move_into_base(set, slot, taken.width);
	return result;
}

static int take_all(struct ps_eventset *set, ps__take *take, void *context, uint64_t *now_ns)
{
	struct ps__slot *here = set->recorder.last_slot;
	int fetched = ps__set_has_uncollected(set) ? ps__set_fetch(set, &here) : PS_OK;

	if (ps__set_is_failure(fetched))
		return fetched;
	*now_ns = ps__clock_now_ns(&set->recorder.clock);
	int result = take_make_parts(set, here);
	for (size_t index = 0; result == PS_OK && index < set->recorder.active_count; index++) {
		if (set->recorder.active[index]->has_counts)
			result =
			    take_slot(set, set->recorder.active[index], take, context, *now_ns);
	}
	if (result != PS_OK)
		return result;
	ps__set_open_fast_take(set, here);
	return fetched;
}

/* Signals are held: this allocates, and must not be left by a jump out of a handler. */
int ps__set_take(struct ps_eventset *set, ps__take *take, void *context, uint64_t *now_ns)
{
	struct ps__held held;

	ps__signals_hold(&held);
	int result = ps__set_enter(set, "a region's boundary");
	if (result == PS_OK) {
		result = take_all(set, take, context, now_ns);
		ps__set_leave(set);
	}
	ps__signals_release(&held);
	return result;
}

struct ps__fast_path *ps__set_fast_path(struct ps_eventset *set)
{
	return &set->fast_path;
}

/* The counts are written to `kept`, whose values aren't needed any more. */
struct ps__taken ps__fast_taken(struct ps__fast_path *fast, uint64_t now_ns)
{
	for (size_t word = 0; word < fast->width; word++)
		fast->kept[word] = fast->current[word] - fast->previous[word];
	return (struct ps__taken){.history = fast->row.history,
	                          .counts = fast->kept,
	                          .width = fast->width,
	                          .now_ns = now_ns,
	                          .mark = fast->counts_mark};
}

void ps__set_note_left(struct ps_eventset *set)
{
	if (!set->calls.busy)
		return;
	set->calls.busy_thread = ps__thread_number();
	set->calls.busy = PS__STACK_LEFT;
}
