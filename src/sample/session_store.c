/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores a session's sums as readings in the tree. Their events have names of their own, "sampled
 * NAME", so that a total never adds an estimate to a count. */
#include "sample/session.h"

#include "base/os.h"
#include "store/aggregate.h"
#include "store/recording.h"
#include "topology/tree.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "sampled "

static int name_column(struct ps__column *column, const struct ps__event *event)
{
	size_t size = sizeof PREFIX + strlen(event->name);
	char *name = ps__os_calloc(1, size);

	if (!name)
		return -1;
	snprintf(name, size, PREFIX "%s", event->name);
	column->scope = event->scope;
	column->flags =
	    PS_VALUE_SAMPLED | (ps__session_is_user_only(event) ? PS_VALUE_USER_ONLY : 0);
	column->is_estimate = true;
	column->scale = event->scale;
	snprintf(column->unit, sizeof column->unit, "%s", event->unit);
	int result = ps__column_set_name(column, name, NULL);
	ps__os_free(name);
	return result;
}

/* Makes a recording with one column and one group. Its times are 0, because samples have none. */
static struct ps__recording *create_recording(const struct ps__event *event)
{
	struct ps__recording *recording = ps__recording_create(1, 1);

	if (recording && name_column(&recording->column[0], event) < 0) {
		ps__recording_free(recording);
		return NULL;
	}
	if (recording)
		ps__column_settle(recording, &recording->column[0]);
	return recording;
}

static int open_store(const struct ps_session *session, size_t event)
{
	struct ps_topology *topology = session->options.root->topology;
	struct ps__session_store *store = &session->stores[event];
	int result;

	if (store->recording)
		return PS_OK;
	struct ps__recording *recording =
	    create_recording(&session->lists.events[event].attr->event);
	store->histories = ps__os_calloc(topology->thread_count + 1, sizeof(struct ps__history *));
	result = recording && store->histories ? ps__recording_bind(recording, topology, NULL)
	                                       : ps__fail_memory("the readings of a session");
	if (result == PS_OK) {
		store->recording = recording;
		return PS_OK;
	}
	if (recording)
		ps__recording_free(recording);
	ps__os_free(store->histories);
	store->histories = NULL;
	return result;
}

/* Makes the history of a hardware thread, and room for a row, so that writing the row can't
 * fail. */
static int session_make_room(const struct ps_session *session, size_t event, size_t thread)
{
	const struct ps_topology *topology = session->options.root->topology;
	struct ps__session_store *store = &session->stores[event];
	struct ps__history **history = &store->histories[thread];

	if (!*history) {
		*history = ps__recording_add_history(store->recording);
		if (*history)
			ps__recording_attach_history(store->recording, *history,
			                             topology->threads[thread].cpu);
	}
	if (*history && ps__history_make_room(*history) == 0)
		return PS_OK;
	return ps__fail_memory("a reading; the sums stay, and come with the next one");
}

/* Counts the hardware threads where the event has samples, and makes room there. */
static int prepare_event(const struct ps_session *session, size_t event, size_t *with_samples)
{
	size_t threads = session->options.root->topology->thread_count + 1;
	int result = PS_OK;

	if (!ps__session_knows_period(session, event))
		return PS_OK;
	for (size_t thread = 0; result == PS_OK && thread < threads; thread++) {
		if (!ps__session_sum_of(session, event, thread)->samples)
			continue;
		result = open_store(session, event);
		if (result == PS_OK)
			result = session_make_room(session, event, thread);
		++*with_samples;
	}
	return result;
}

static void write_row(struct ps__history *history, uint64_t periods, uint64_t timestamp, bool lacks)
{
	size_t row = ps__history_append(history, timestamp);
	struct ps__chunk *chunk = ps__history_chunk(history, row);
	_Atomic uint64_t *words = ps__history_words(history, chunk, row);
	uint16_t mark = PS_ATTRIBUTION_EXACT | (lacks ? PS__MARK_INCOMPLETE : 0);

	if (periods > INT64_MAX) {
		periods = INT64_MAX;
		mark |= PS__MARK_SATURATED;
	}
	atomic_store_explicit(&words[0], timestamp, memory_order_release);
	atomic_store_explicit(&words[1], 0, memory_order_release);
	atomic_store_explicit(&words[2], 0, memory_order_release);
	atomic_store_explicit(&words[3], periods, memory_order_release);
	atomic_store_explicit(ps__history_mark(chunk, row), mark, memory_order_release);
}

/* Writes rows only for hardware threads with samples. On the others the event may have happened,
 * too, so a row of 0 would be wrong. */
static void write_event(const struct ps_session *session, size_t event, uint64_t timestamp)
{
	const struct ps__session_store *store = &session->stores[event];
	size_t threads = session->options.root->topology->thread_count + 1;
	bool lacks = ps__session_lacks_samples(session, event);

	if (!store->recording)
		return;
	ps__recording_write_begin(store->recording);
	for (size_t thread = 0; thread < threads; thread++) {
		const struct ps__session_sum *sum = ps__session_sum_of(session, event, thread);
		if (sum->samples)
			write_row(store->histories[thread], sum->periods, timestamp, lacks);
	}
	atomic_store_explicit(&store->recording->latest, timestamp, memory_order_release);
	ps__recording_write_end(store->recording);
}

/* Returns a timestamp later than all earlier readings of the session. */
static uint64_t next_timestamp(const struct ps_session *session)
{
	uint64_t timestamp = ps__os_now_ns();

	for (size_t event = 0; event < session->user_events; event++) {
		const struct ps__recording *recording = session->stores[event].recording;
		if (!recording)
			continue;
		uint64_t latest = atomic_load_explicit(&recording->latest, memory_order_relaxed);
		if (timestamp <= latest)
			timestamp = latest + 1;
	}
	return timestamp;
}

int ps_session_store(struct ps_session *session, uint64_t *timestamp)
{
	int result = ps__session_refuse(session, "ps_session_store");
	size_t with_samples = 0;

	if (result != PS_OK)
		return result;
	if (!session->options.root)
		return ps__fail(PS_EINVAL,
		                "ps_session_store: the session was made without a topology");
	if (ps__topology_is_destroyed(session->options.root->topology))
		return ps__fail(PS_EINVAL, "ps_session_store: the topology was destroyed");
	if (!session->is_started)
		return ps__fail(PS_ENOTRUN, "ps_session_store: the session was not started");
	if (!session->stores && session->user_events)
		session->stores = ps__os_calloc(session->user_events, sizeof *session->stores);
	if (!session->stores && session->user_events)
		return ps__fail_memory("the readings of a session");
	for (size_t event = 0; result == PS_OK && event < session->user_events; event++)
		result = prepare_event(session, event, &with_samples);
	if (result != PS_OK)
		return result;
	if (!with_samples)
		return ps__fail(PS_ENOEVST,
		                "ps_session_store: there is no sample yet of an event whose period "
		                "is known");
	uint64_t stored = next_timestamp(session);
	for (size_t event = 0; event < session->user_events; event++)
		write_event(session, event, stored);
	if (timestamp)
		*timestamp = stored;
	return PS_OK;
}

/* Ends the session's use of its recordings. The readings stay, and belong to the topology. */
void ps__session_leave_store(struct ps_session *session)
{
	for (size_t event = 0; session->stores && event < session->user_events; event++) {
		struct ps__session_store *store = &session->stores[event];
		ps__os_free(store->histories);
		if (!store->recording)
			continue;
		struct ps_topology *topology = store->recording->topology;
		ps__aggregate_retire(store->recording);
		ps__topology_release(topology);
	}
	ps__os_free(session->stores);
}
