/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes snapshots, and computes what was counted between two of them. */
#include "eventset/snapshot.h"
#include "eventset/fast_snapshot.h"

#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "store/attrmap.h"

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
	ps__set_note_assigned(set, snapshot->timestamp);
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

/* The arguments of ps_snapshot_difference, and a row for a part's differences. */
struct difference {
	const struct ps_eventset *set;
	const struct ps_snapshot *from, *to;
	const struct ps_component *component;
	_Atomic uint64_t *row;
	uint16_t doubt; /* a mark that all parts get */
};

/* Returns NULL if the slot was not met yet. */
static const uint64_t *snapshot_part_of(const struct ps_snapshot *snapshot, size_t index)
{
	return snapshot && index < snapshot->count ? ps__snapshot_part(snapshot, index) : NULL;
}

/* Stores in the row by how much a slot's part grew since `from`. False if it did not grow at all,
 * not even its times. */
static bool difference_subtract(const struct difference *difference, size_t index,
                                const struct ps_snapshot *from)
{
	const uint64_t *to = ps__snapshot_part(difference->to, index) + 1;
	const uint64_t *part = snapshot_part_of(from, index);
	uint64_t any = 0;

	atomic_store_explicit(&difference->row[0], difference->to->timestamp, memory_order_relaxed);
	for (size_t word = 0; word < difference->to->width; word++) {
		uint64_t change = to[word] - (part ? part[1 + word] : 0);
		any |= change;
		atomic_store_explicit(&difference->row[1 + word], change, memory_order_relaxed);
	}
	return any != 0;
}

static uint16_t difference_label(const struct difference *difference, size_t index)
{
	const uint64_t *from = snapshot_part_of(difference->from, index);

	return ps__label_between(from ? from[0] : 0, ps__snapshot_part(difference->to, index)[0]);
}

/* Joins the doubts (ps__mark_doubt) of all parts that changed: a part in doubt may have counts of
 * any other part, also of one outside the component. A part that didn't change is left out, because
 * its label may be from before the interval. */
static uint16_t difference_find_doubt(const struct difference *difference)
{
	uint16_t doubt = 0;

	for (size_t index = 0; index < difference->to->count; index++) {
		if (difference_subtract(difference, index, difference->from))
			doubt = ps__mark_join(doubt,
			                      ps__mark_doubt(difference_label(difference, index)));
	}
	return doubt;
}

/* Adds one slot's values to the sums of all events. */
static void add_slot(const struct difference *difference, size_t index, struct ps_value *sums,
                     size_t *parts)
{
	const struct ps__slot *slot = difference->set->recorder.met[index];
	_Atomic uint16_t mark;

	atomic_init(&mark, ps__mark_join(difference_label(difference, index), difference->doubt));
	for (size_t event = 0; event < difference->set->events.count; event++) {
		struct ps_value value;
		const struct ps__history_row row = {difference->row, &mark};
		size_t count = *parts;
		ps__history_show(slot->history, row, event, &value);
		ps__value_merge(&sums[event], &count, &value);
	}
	(*parts)++;
}

static int check_snapshot(const struct ps_eventset *set, const struct ps_snapshot *snapshot)
{
	if (snapshot->of == set->snapshots && snapshot->of)
		return PS_OK;
	return ps__fail(PS_EINVAL, "ps_snapshot_difference: a snapshot is of another event set, or "
	                           "of other events than this one has now");
}

static int difference_check(const struct difference *difference, const struct ps_value *values,
                            size_t count)
{
	const struct ps_eventset *set = difference->set;
	int result = PS_OK;

	if (!set || !difference->to || !values)
		return ps__fail(PS_EINVAL, "ps_snapshot_difference: the %s is NULL",
		                !set              ? "event set"
		                : !difference->to ? "later snapshot"
		                                  : "array");
	result = check_snapshot(set, difference->to);
	if (result == PS_OK && difference->from)
		result = check_snapshot(set, difference->from);
	if (result == PS_OK && count < set->events.count)
		result = ps__fail(PS_EBUF,
		                  "ps_snapshot_difference: the array holds %zu values, and the set "
		                  "has %zu events",
		                  count, set->events.count);
	if (result == PS_OK && difference->from &&
	    difference->from->timestamp > difference->to->timestamp)
		result = ps__fail(PS_EINVAL, "ps_snapshot_difference: the first snapshot is later "
		                             "than the second one: exchange them");
	return result;
}

static int difference_check_scopes(const struct difference *difference)
{
	const struct ps_eventset *set = difference->set;

	for (size_t event = 0; difference->component && event < set->events.count; event++) {
		enum ps_scope scope = ps_eventset_event_scope(set, event);
		if (!ps__component_holds(difference->component, scope))
			return ps__fail(PS_EINVAL_DOM,
			                "one count of '%s' covers a whole %s: ask for a component "
			                "that consists of such",
			                ps_eventset_event_name(set, event), ps_scope_name(scope));
	}
	return PS_OK;
}

/* Adds the component's slots. Returns the number of parts; 0: the set met none of its CPUs. */
static size_t add_slots(const struct difference *difference, struct ps_value *sums)
{
	size_t parts = 0, zero = SIZE_MAX;

	for (size_t index = 0; index < difference->to->count; index++) {
		if (!ps__component_has_cpu(difference->component,
		                           difference->set->recorder.met[index]->cpu))
			continue;
		if (difference_subtract(difference, index, difference->from))
			add_slot(difference, index, sums, &parts);
		else if (difference_subtract(difference, index, NULL))
			zero = index;
	}
	/* The set met a hardware thread there, and nothing was counted in the interval. */
	if (parts == 0 && zero != SIZE_MAX) {
		difference_subtract(difference, zero, difference->to);
		add_slot(difference, zero, sums, &parts);
	}
	return parts;
}

static int difference_sum_up(const struct difference *difference, struct ps_value *values)
{
	size_t events = difference->set->events.count;
	struct ps_value *sums = ps__os_calloc(events, sizeof *sums);

	if (!sums)
		return ps__fail_memory("the difference of two snapshots");
	size_t parts = add_slots(difference, sums);
	for (size_t event = 0; parts > 0 && event < events; event++) {
		ps__value_finish(&sums[event]);
		values[event] = sums[event];
	}
	ps__os_free(sums);
	return parts > 0 ? PS_OK
	                 : ps__fail(PS_ENOEVST,
	                            "ps_snapshot_difference: the set met no hardware thread of "
	                            "that component");
}

int ps_snapshot_difference(const struct ps_eventset *set, const struct ps_snapshot *from,
                           const struct ps_snapshot *to, const struct ps_component *component,
                           struct ps_value *values, size_t count)
{
	struct difference difference = {.set = set, .from = from, .to = to, .component = component};
	int result = difference_check(&difference, values, count);

	if (result == PS_OK)
		result = difference_check_scopes(&difference);
	if (result != PS_OK)
		return result;
	difference.row = ps__os_calloc(1 + to->width, sizeof *difference.row);
	if (!difference.row)
		return ps__fail_memory("the difference of two snapshots");
	difference.doubt = difference_find_doubt(&difference);
	result = difference_sum_up(&difference, values);
	ps__os_free((void *)difference.row);
	return result;
}
