/* SPDX-License-Identifier: BSD-3-Clause */
/* A session's sums as readings in the tree. Their events have names of their own, "sampled NAME",
 * so that a total never adds an estimate to what was counted. */
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
	column->flags = PS_VALUE_SAMPLED | (event->user_only ? PS_VALUE_USER_ONLY : 0);
	column->is_estimate = true;
	column->scale = event->scale;
	snprintf(column->unit, sizeof column->unit, "%s", event->unit);
	int result = ps__column_set_name(column, name, NULL);
	ps__os_free(name);
	return result;
}

/* One group, whose times are 0: a sample has none. */
static struct ps__recording *create_recording(const struct ps_session *session)
{
	struct ps__recording *recording = ps__recording_create(session->user_events, 1);

	for (size_t event = 0; recording && event < session->user_events; event++) {
		struct ps__column *column = &recording->column[event];
		if (name_column(column, &session->lists.events[event].attr->event) < 0) {
			ps__recording_free(recording);
			return NULL;
		}
		ps__column_settle(recording, column);
	}
	return recording;
}

static int open_store(struct ps_session *session)
{
	struct ps_topology *topology = session->options.root->topology;
	struct ps__recording *recording;
	int result;

	if (session->store.recording)
		return PS_OK;
	recording = create_recording(session);
	session->store.histories =
	    ps__os_calloc(topology->thread_count + 1, sizeof(struct ps__history *));
	result = recording && session->store.histories
	             ? ps__recording_bind(recording, topology, NULL)
	             : ps__fail_memory("the readings of a session");
	if (result == PS_OK) {
		session->store.recording = recording;
		return PS_OK;
	}
	if (recording)
		ps__recording_free(recording);
	ps__os_free(session->store.histories);
	session->store.histories = NULL;
	return result;
}

/* The history of a hardware thread that has samples; all that may fail is done. */
static int make_room(struct ps_session *session, size_t thread)
{
	const struct ps_topology *topology = session->options.root->topology;
	struct ps__history **history = &session->store.histories[thread];

	if (!*history) {
		*history = ps__recording_add_history(session->store.recording);
		if (*history)
			ps__recording_attach_history(session->store.recording, *history,
			                             topology->threads[thread].cpu);
	}
	if (*history && ps__history_make_room(*history) == 0)
		return PS_OK;
	return ps__fail_memory("a reading; the sums stay, and come with the next one");
}

static bool has_samples(const struct ps_session *session, size_t thread)
{
	for (size_t event = 0; event < session->user_events; event++) {
		if (ps__session_sum_of(session, event, thread)->samples)
			return true;
	}
	return false;
}

static void write_row(const struct ps_session *session, size_t thread, uint64_t timestamp)
{
	struct ps__history *history = session->store.histories[thread];
	size_t row = ps__history_append(history, timestamp);
	struct ps__chunk *chunk = ps__history_chunk(history, row);
	_Atomic uint64_t *words = ps__history_words(history, chunk, row);
	uint16_t mark = PS_ATTRIBUTION_EXACT;

	atomic_store_explicit(&words[0], timestamp, memory_order_release);
	atomic_store_explicit(&words[1], 0, memory_order_release);
	atomic_store_explicit(&words[2], 0, memory_order_release);
	for (size_t event = 0; event < session->user_events; event++) {
		uint64_t periods = ps__session_sum_of(session, event, thread)->periods;
		if (periods > INT64_MAX) {
			periods = INT64_MAX;
			mark |= PS__MARK_SATURATED;
		}
		atomic_store_explicit(&words[3 + event], periods, memory_order_release);
	}
	atomic_store_explicit(ps__history_mark(chunk, row), mark, memory_order_release);
}

static uint64_t write_rows(const struct ps_session *session)
{
	struct ps__recording *recording = session->store.recording;
	size_t threads = session->options.root->topology->thread_count + 1;
	uint64_t latest = atomic_load_explicit(&recording->latest, memory_order_relaxed);
	uint64_t now_ns = ps__os_now_ns(), timestamp = now_ns > latest ? now_ns : latest + 1;

	ps__recording_write_begin(recording);
	for (size_t thread = 0; thread < threads; thread++) {
		if (has_samples(session, thread))
			write_row(session, thread, timestamp);
	}
	atomic_store_explicit(&recording->latest, timestamp, memory_order_release);
	ps__recording_write_end(recording);
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
	if (!session->is_started)
		return ps__fail(PS_ENOTRUN, "ps_session_store: the session was not started");
	result = open_store(session);
	for (size_t thread = 0;
	     result == PS_OK && thread <= session->options.root->topology->thread_count; thread++) {
		if (!has_samples(session, thread))
			continue;
		with_samples++;
		result = make_room(session, thread);
	}
	if (result != PS_OK)
		return result;
	if (!with_samples)
		return ps__fail(PS_ENOEVST, "ps_session_store: there is no sample yet");
	uint64_t stored = write_rows(session);
	if (timestamp)
		*timestamp = stored;
	return PS_OK;
}

/* The readings stay, and are the topology's. */
void ps__session_leave_store(struct ps_session *session)
{
	ps__os_free(session->store.histories);
	if (!session->store.recording)
		return;
	struct ps_topology *topology = session->store.recording->topology;
	ps__aggregate_retire(session->store.recording);
	ps__topology_release(topology);
}
