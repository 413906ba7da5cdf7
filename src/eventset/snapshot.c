/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes snapshots, and computes what was counted between two of them. */
#include "eventset/snapshot.h"
#include "eventset/fast_snapshot.h"

#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/difference.h"

#include <perfsage/snapshot.h>

const struct ps__recording *ps__set_recording(const struct ps_eventset *set)
{
	return set->recorder.recording;
}

int ps__set_part_cpu(const struct ps_eventset *set, size_t index, uint32_t *place)
{
	const struct ps__slot *slot = set->recorder.met[index];

	*place = slot->history->place;
	return slot->cpu;
}

const struct ps__history *ps__set_part_history(const struct ps_eventset *set, size_t index)
{
	return index < set->recorder.met_count ? set->recorder.met[index]->history : NULL;
}

/* Returns a number, unique in the process, for the slots of one set with one list of events. */
static uint64_t new_name(void)
{
	static _Atomic uint64_t names;

	return atomic_fetch_add_explicit(&names, 1, memory_order_relaxed) + 1;
}

/* Makes room for the parts of all slots. No count is lost if memory is short. */
static int snapshot_make_room(const struct ps_eventset *set, struct ps_snapshot *snapshot)
{
	size_t width = ps__recording_width(set->recorder.recording);
	size_t count = set->recorder.met_count;

	if (snapshot->width == width && snapshot->room >= count)
		return PS_OK;
	uint64_t *parts = ps__os_calloc(count * (1 + width), sizeof *parts);
	if (!parts)
		return ps__fail_memory("a snapshot");
	ps__os_free(snapshot->parts);
	snapshot->parts = parts;
	snapshot->room = count;
	snapshot->width = width;
	return PS_OK;
}

static int snapshot_take(struct ps_eventset *set, struct ps_snapshot *snapshot)
{
	struct ps__slot *here;
	int collected = set->calls.owner == ps__thread_number()
	                    ? PS_OK
	                    : ps__set_check_foreign(set, "ps_snapshot_take", true);

	if (collected == PS_OK)
		collected = ps__set_collect(set, &here);
	if (collected != PS_OK && collected != PS_PARTIAL)
		return collected;
	int result = snapshot_make_room(set, snapshot);
	if (result != PS_OK)
		return result;
	if (!set->snapshots)
		set->snapshots = new_name();
	snapshot->of = set->snapshots;
	snapshot->timestamp = ps__clock_now_ns(&set->recorder.clock);
	snapshot->count = set->recorder.met_count;
	for (size_t index = 0; index < snapshot->count; index++)
		ps__snapshot_copy(set->recorder.met[index], ps__snapshot_part(snapshot, index),
		                  snapshot->width);
	snapshot->opening = 0;
	if (set->calls.owner == ps__thread_number())
		ps__set_open_fast_snapshot(set, here);
	return collected;
}

/* Signals are held: this allocates, and must not be left by a jump out of a handler. */
int ps__set_take_snapshot_slowly(struct ps_eventset *set, struct ps_snapshot **snapshot)
{
	struct ps_snapshot *taken = *snapshot;
	struct ps__held held;

	ps__signals_hold(&held);
	if (!taken)
		taken = ps__os_calloc(1, sizeof *taken);
	int result = taken ? ps__set_enter(set, "ps_snapshot_take") : ps__fail_memory("a snapshot");
	if (result == PS_OK) {
		result = snapshot_take(set, taken);
		ps__set_leave(set);
	}
	if (result != PS_OK && result != PS_PARTIAL && !*snapshot)
		ps_snapshot_destroy(taken);
	else
		*snapshot = taken;
	ps__signals_release(&held);
	return result;
}

/* While the fast path is open, only the part of its own slot changes. */
bool ps__fast_copy_parts(const struct ps__fast_path *fast, struct ps_snapshot *snapshot)
{
	const char *set = (const char *)fast - offsetof(struct ps_eventset, fast_path);
	const struct ps__recorder *recorder = &((const struct ps_eventset *)set)->recorder;

	if (snapshot->room < recorder->met_count)
		return false;
	for (size_t index = 0; index < recorder->met_count; index++) {
		const struct ps__slot *slot = recorder->met[index];
		ps__snapshot_copy(slot, ps__snapshot_part(snapshot, index), snapshot->width);
		if (slot == fast->slot)
			snapshot->own = index;
	}
	snapshot->count = recorder->met_count;
	snapshot->opening = fast->snapshot.opening;
	return true;
}

PS__HOT int ps_snapshot_take(struct ps_eventset *set, struct ps_snapshot **snapshot)
{
	if (!snapshot)
		return ps__fail(PS_EINVAL,
		                "ps_snapshot_take: the pointer for the snapshot is NULL");
	int result = set && *snapshot ? ps__fast_take_snapshot(&set->fast_path, *snapshot)
	                              : PS__TRY_SLOW_PATH;
	return PS__LIKELY(result != PS__TRY_SLOW_PATH)
	           ? result
	           : ps__set_take_snapshot_slowly(set, snapshot);
}

uint64_t ps_snapshot_timestamp(const struct ps_snapshot *snapshot)
{
	return snapshot ? snapshot->timestamp : 0;
}

void ps_snapshot_destroy(struct ps_snapshot *snapshot)
{
	if (!snapshot)
		return;
	ps__os_free(snapshot->parts);
	ps__os_free(snapshot);
}

/* The arguments of ps_snapshot_difference. */
struct snapshots {
	const struct ps_eventset *set;
	const struct ps_snapshot *from, *to;
};

static struct ps__difference_part snapshots_part(const void *points, size_t index)
{
	const struct snapshots *snapshots = points;
	const struct ps_snapshot *from = snapshots->from;
	const struct ps__slot *slot = snapshots->set->recorder.met[index];

	return (struct ps__difference_part){
	    .from = from && index < from->count ? ps__snapshot_part(from, index) : NULL,
	    .to = ps__snapshot_part(snapshots->to, index),
	    .history = slot->history,
	    .cpu = slot->cpu};
}

static int check_snapshot(const struct ps_eventset *set, const struct ps_snapshot *snapshot)
{
	if (snapshot->of == set->snapshots && snapshot->of)
		return PS_OK;
	return ps__fail(PS_EINVAL, "ps_snapshot_difference: a snapshot is of another event set, or "
	                           "of other events than this one has now");
}

static int snapshots_check(const struct snapshots *snapshots, const struct ps_value *values,
                           size_t count)
{
	const struct ps_eventset *set = snapshots->set;
	int result = PS_OK;

	if (!set || !snapshots->to || !values)
		return ps__fail(PS_EINVAL, "ps_snapshot_difference: the %s is NULL",
		                !set             ? "event set"
		                : !snapshots->to ? "later snapshot"
		                                 : "array");
	result = check_snapshot(set, snapshots->to);
	if (result == PS_OK && snapshots->from)
		result = check_snapshot(set, snapshots->from);
	if (result == PS_OK && count < set->events.count)
		result = ps__fail(PS_EBUF,
		                  "ps_snapshot_difference: the array holds %zu values, and the set "
		                  "has %zu events",
		                  count, set->events.count);
	if (result == PS_OK && snapshots->from &&
	    snapshots->from->timestamp > snapshots->to->timestamp)
		result = ps__fail(PS_EINVAL, "ps_snapshot_difference: the first snapshot is later "
		                             "than the second one: exchange them");
	return result;
}

int ps_snapshot_difference(const struct ps_eventset *set, const struct ps_snapshot *from,
                           const struct ps_snapshot *to, const struct ps_component *component,
                           struct ps_value *values, size_t count)
{
	struct snapshots snapshots = {.set = set, .from = from, .to = to};
	int result = snapshots_check(&snapshots, values, count);

	if (result != PS_OK)
		return result;
	struct ps__difference difference = {.call = "ps_snapshot_difference",
	                                    .recording = set->recorder.recording,
	                                    .component = component,
	                                    .timestamp = to->timestamp,
	                                    .part_count = to->count,
	                                    .part = snapshots_part,
	                                    .points = &snapshots};
	return ps__difference_sum_up(&difference, values);
}
