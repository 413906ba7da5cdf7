/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds a set's readings to a topology: that of the first reading, until it is destroyed. */
#include "base/error.h"
#include "base/os.h"
#include "base/stack.h"
#include "eventset/eventset.h"

#include <string.h>

static int fail_root(const struct ps_eventset *set, const struct ps_component *root)
{
	if (!root)
		return ps__fail(PS_EINVAL, "root is NULL: pass ps_topology_root(topology)");
	if (set->recorder.root == root)
		return ps__fail(
		    PS_EINVAL,
		    "the topology of the set's readings was destroyed: pass another one's root");
	if (root->magic != PS__COMPONENT_MAGIC || root != root->topology->root)
		return ps__fail(PS_EINVAL,
		                "root is no root of a topology: pass ps_topology_root(topology)");
	return ps__fail(PS_EINVAL, "root belongs to another topology than the set's readings: "
	                           "clone the set for the other topology");
}

struct ps__recording *ps__set_copy_recording(const struct ps__recording *model)
{
	struct ps__recording *copy = ps__recording_create(model->columns, model->groups);

	for (size_t index = 0; copy && index < model->columns; index++) {
		if (ps__column_copy(&copy->column[index], &model->column[index]) < 0) {
			ps__recording_free(copy);
			return NULL;
		}
	}
	if (copy)
		copy->counts_cpu = model->counts_cpu;
	return copy;
}

/* Moves a slot to a history of the new recording. The slot keeps its counts, but has no reading. */
static void move_slot(struct ps__slot *slot, struct ps__history *history, size_t width)
{
	if (slot->bases)
		ps__history_clear(slot->bases);
	ps__os_free_apart(slot->bases);
	slot->bases = NULL;
	slot->history = history;
	slot->has_part = false;
	slot->has_base = false;
	memset(slot->base, 0, width * sizeof *slot->base);
}

/* Makes a new recording when the old topology was destroyed with its readings. The new recording
 * takes over what was counted since then. */
static int renew_recording(struct ps_eventset *set)
{
	struct ps__recording *old = set->recorder.recording;
	struct ps__recording *current = ps__set_copy_recording(old);
	struct ps__history *history;

	if (!current)
		return ps__fail_memory("the readings of an event set");
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		if (!ps__recording_add_history(current)) {
			ps__recording_free(current);
			return ps__fail_memory("the readings of an event set");
		}
	}
	history = atomic_load_explicit(&current->histories, memory_order_relaxed);
	for (size_t index = 0; index < set->recorder.met_count; index++) {
		move_slot(set->recorder.met[index], history, ps__recording_width(current));
		history = history->next_in_recording;
	}
	set->recorder.past_readings += ps__recording_count_writes(old);
	set->recorder.recording = current;
	set->recorder.root = NULL;
	set->recorder.last_bound = NULL;
	ps__topology_release(old->topology);
	return PS_OK;
}

static int bind_recording(struct ps_eventset *set, struct ps_component *root)
{
	int result = PS_OK;

	if (set->recorder.root)
		result = renew_recording(set);
	struct ps__recording *before = set->recorder.last_bound;
	bool is_same = before && before->topology == root->topology;
	if (result == PS_OK)
		result = ps__recording_bind(set->recorder.recording, root->topology,
		                            is_same ? before : NULL);
	if (result != PS_OK)
		return result;
	if (before)
		ps__topology_release(before->topology);
	set->recorder.last_bound = set->recorder.recording;
	set->recorder.root = root;
	/* Slots that were only reserved are attached when they are met. */
	for (size_t index = 0; index < set->recorder.active_count; index++)
		ps__recording_attach_history(set->recorder.recording,
		                             set->recorder.active[index]->history,
		                             set->recorder.active[index]->cpu);
	/* An idle task's CPU has a part of the reading, though nothing was counted there. */
	if (set->recorder.last_slot && !set->recorder.last_slot->history->is_attached)
		ps__recording_attach_history(set->recorder.recording,
		                             set->recorder.last_slot->history,
		                             set->recorder.last_slot->cpu);
	return PS_OK;
}

int ps__set_bind(struct ps_eventset *set, struct ps_component *root)
{
	struct ps__held held;

	if (!root || root == set->recorder.root || root->magic != PS__COMPONENT_MAGIC ||
	    root != root->topology->root)
		return fail_root(set, root);
	if (set->recorder.root && !ps__topology_is_destroyed(set->recorder.recording->topology))
		return fail_root(set, root);
	/* A jump out of a handler would leave the recording in the topology's list, without the set
	 * knowing. The next call would insert it again, and the list would never end. */
	ps__signals_hold(&held);
	int result = bind_recording(set, root);
	ps__signals_release(&held);
	return result;
}
