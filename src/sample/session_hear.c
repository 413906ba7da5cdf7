/* SPDX-License-Identifier: BSD-3-Clause */
/* One record of a session: which event wrote it, where, and who hears it. */
#include "sample/session.h"

#include "base/error.h"
#include "sample/cursor.h"
#include "topology/tree.h"

/* Samples have the id behind the header, the others at their end: PERF_SAMPLE_IDENTIFIER. */
static bool read_id(const void *bytes, size_t size_bytes, uint64_t *id)
{
	const struct perf_event_header *header = bytes;
	size_t at = header->type == PERF_RECORD_SAMPLE ? sizeof *header : size_bytes - sizeof *id;

	if (size_bytes < sizeof *header + sizeof *id)
		return false;
	*id = ps__word64((const unsigned char *)bytes + at, false);
	return true;
}

size_t ps__session_find_event(const struct ps_session *session, const void *bytes,
                              size_t size_bytes)
{
	const struct ps__session_instance *instances = session->lists.instances;
	size_t from = 0, to = session->lists.instance_count;
	uint64_t id;

	if (!read_id(bytes, size_bytes, &id))
		return PS__SESSION_NO_EVENT;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		if (instances[middle].id == id)
			return instances[middle].event;
		if (instances[middle].id < id)
			from = middle + 1;
		else
			to = middle;
	}
	return PS__SESSION_NO_EVENT;
}

static ps_session_hear *find_hearer(const struct ps_listener *listener, uint32_t type)
{
	switch (type) {
	case PS_RECORD_SAMPLE:
		return listener->sample;
	case PS_RECORD_MMAP:
	case PS_RECORD_MMAP2:
		return listener->mmap;
	case PS_RECORD_COMM:
		return listener->comm;
	case PS_RECORD_FORK:
		return listener->fork;
	case PS_RECORD_EXIT:
		return listener->exit;
	case PS_RECORD_SWITCH:
		return listener->switched;
	case PS_RECORD_LOST:
	case PS_RECORD_LOST_SAMPLES:
		return listener->lost;
	default:
		return listener->other;
	}
}

static struct ps_thread *find_thread(const struct ps_session *session,
                                     const struct ps_record *record)
{
	const struct ps_component *root = session->options.root;

	if (!root || !(record->has & PS_RECORD_HAS_CPU))
		return NULL;
	return ps__topology_thread(root->topology, (int)record->cpu);
}

/* The number of events that the sample stands for. */
static uint64_t find_period(const struct ps_session *session, size_t event,
                            const struct ps_record *record)
{
	if (record->has & PS_RECORD_HAS_PERIOD)
		return record->period;
	return session->lists.events[event].attr->event.attr.sample_period;
}

void ps__session_hear(struct ps_session *session, const void *bytes, size_t size_bytes)
{
	size_t event = ps__session_find_event(session, bytes, size_bytes);
	struct ps_record record;
	uint64_t period = 0;

	if (event == PS__SESSION_NO_EVENT || ps_record_parse(&session->lists.events[event].config,
	                                                     bytes, size_bytes, &record) != PS_OK) {
		session->damaged++;
		return;
	}
	session->records++;
	if (record.type == PS_RECORD_SAMPLE) {
		session->samples++;
		period = find_period(session, event, &record);
		ps__session_add_sample(session, event, &record, period);
	} else if (record.type == PS_RECORD_LOST) {
		session->lost_by_records += record.body.lost;
	} else if (record.type == PS_RECORD_LOST_SAMPLES) {
		session->lost_samples += record.body.lost;
	}
	ps_session_hear *hear = find_hearer(&session->listener, record.type);
	if (!hear)
		return;
	bool is_users = event < session->user_events;
	struct ps_session_record heard = {.record = &record,
	                                  .event = is_users ? event : PS__SESSION_NO_EVENT,
	                                  .period = period,
	                                  .thread = find_thread(session, &record)};
	hear(session->listener.context, &heard);
}
