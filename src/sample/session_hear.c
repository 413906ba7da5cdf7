/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles one record of a session: which event wrote it, where, and who hears it. */
#include "sample/session.h"

#include "base/error.h"
#include "base/os.h"
#include "topology/tree.h"

static bool may_have_written(const struct ps_session *session, const struct ps__session_ring *ring,
                             size_t event)
{
	if (session->is_closing && ps__session_find_id(session, ring->id) != event)
		return false;
	return ps__session_shares_samples(&session->lists.events[event].attr->event.attr);
}

/* Finds the event that wrote a sample, if the sample has the id of another reader's event
 * (ps__session_shares_samples). Only the session's own events write into its rings. Returns the
 * number of events that may have written the sample; *event: one of these. */
static size_t find_writers(const struct ps_session *session, const struct ps__session_ring *ring,
                           const void *bytes, size_t size_bytes, size_t *event)
{
	const struct perf_event_header *header = bytes;
	struct ps_record record;
	size_t count = 0;

	for (size_t i = 0; header->type == PERF_RECORD_SAMPLE && i < session->user_events; i++) {
		if (!may_have_written(session, ring, i) ||
		    ps_record_parse(&session->lists.events[i].config, bytes, size_bytes, &record) !=
		        PS_OK)
			continue;
		count++;
		*event = i;
	}
	return count;
}

/* A record is written a little after its time was taken, and an interrupt can come in between. */
#define LATE_NS 1000000u

/*
 * Drops a sample's time if it is by another reader's clock: the kernel prepared the sample for that
 * reader's event first. Such a time isn't between the previous record and now, unless the clocks
 * are close. If they are close, the error is less than the time between two readings of the ring.
 */
static void check_time(struct ps_record *record, const struct ps__session_ring *ring)
{
	if (!(record->has & PS_RECORD_HAS_TIME) ||
	    (record->time + LATE_NS >= ring->last_ns && record->time <= ps__os_now_ns()))
		return;
	record->has &= ~(uint64_t)PS_RECORD_HAS_TIME;
	record->time = ring->last_ns;
}

static bool may_have_anothers_time(const struct ps_session *session, size_t event,
                                   const struct ps_record *record)
{
	return record->type == PS_RECORD_SAMPLE && event < session->user_events &&
	       ps__session_shares_samples(&session->lists.events[event].attr->event.attr);
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

static struct ps_thread *hear_find_thread(const struct ps_session *session,
                                          const struct ps_record *record)
{
	const struct ps_component *root = session->options.root;

	if (!root || !(record->has & PS_RECORD_HAS_CPU))
		return NULL;
	return ps__topology_thread(root->topology, (int)record->cpu);
}

/* Returns the number of events that the sample stands for; 0: not known. */
static uint64_t find_period(const struct ps_session *session, size_t event,
                            const struct ps_record *record)
{
	if (!ps__session_knows_period(session, event))
		return 0;
	if (record->has & PS_RECORD_HAS_PERIOD)
		return record->period;
	return session->lists.events[event].attr->event.attr.sample_period;
}

/* Parses a record, and finds the event that wrote it. False: the record is counted as unassigned or
 * damaged, and the listener doesn't hear it. */
static bool hear_parse(struct ps_session *session, struct ps__session_ring *ring, const void *bytes,
                       size_t size_bytes, size_t *event, struct ps_record *record)
{
	bool is_borrowed;

	*event = ps__session_find_event(session, bytes, size_bytes);
	is_borrowed = *event == PS__SESSION_NO_EVENT;
	if (is_borrowed && find_writers(session, ring, bytes, size_bytes, event) > 1) {
		session->unassigned++;
		return false;
	}
	if (*event == PS__SESSION_NO_EVENT || ps_record_parse(&session->lists.events[*event].config,
	                                                      bytes, size_bytes, record) != PS_OK) {
		session->damaged++;
		return false;
	}
	if (may_have_anothers_time(session, *event, record))
		check_time(record, ring);
	if (record->has & PS_RECORD_HAS_TIME && record->time > ring->last_ns)
		ring->last_ns = record->time;
	return true;
}

/* Finds tasks that Linux no longer observes: if a task begins a program which this user may not
 * observe, Linux ends the observation, and writes EXIT at that moment. */
static void watch_exec(struct ps_session *session, struct ps__session_ring *ring,
                       const struct ps_record *record)
{
	bool is_next = record->tid == ring->exec_tid;

	if (record->type == PS_RECORD_COMM && record->misc & PERF_RECORD_MISC_COMM_EXEC) {
		ring->exec_tid = record->tid;
	} else if (is_next && record->tid) {
		ring->exec_tid = 0;
		if (record->type == PS_RECORD_EXIT)
			ps__session_note_exit(session, record);
	}
}

static void count_record(struct ps_session *session, struct ps__session_ring *ring, size_t event,
                         const struct ps_record *record, uint64_t period)
{
	session->records++;
	if (record->type == PS_RECORD_SAMPLE) {
		session->samples++;
		ps__session_add_sample(session, event, record, period);
	} else if (record->type == PS_RECORD_LOST) {
		session->lost_by_records += record->body.lost;
		ring->may_have_lost = false;
	} else if (record->type == PS_RECORD_LOST_SAMPLES) {
		session->lost_samples += record->body.lost;
	} else if (record->type == PS_RECORD_THROTTLE) {
		session->lists.events[event].is_throttled = true;
	}
	watch_exec(session, ring, record);
	/* ps__session_scan_rings has handled the older records. */
	if (record->type == PS_RECORD_FORK && ring->ring.seen >= ring->scanned)
		ps__session_note_fork(session, record);
}

static void tell_listener(const struct ps_session *session, size_t event,
                          const struct ps_record *record, uint64_t period)
{
	ps_session_hear *hear = find_hearer(&session->listener, record->type);
	bool is_users = event < session->user_events;
	struct ps_session_record heard = {.record = record,
	                                  .event = is_users ? event : PS__SESSION_NO_EVENT,
	                                  .period = period,
	                                  .thread = hear_find_thread(session, record)};

	if (hear)
		hear(session->listener.context, &heard);
}

/* If the listener doesn't return, because of a jump or the end of its thread, it hears the record
 * again. So the record is counted only after the listener has returned. */
void ps__session_hear(struct ps_session *session, struct ps__session_ring *ring, const void *bytes,
                      size_t size_bytes)
{
	struct ps_record record;
	uint64_t period = 0;
	size_t event;

	if (!hear_parse(session, ring, bytes, size_bytes, &event, &record))
		return;
	if (ring->largest_bytes < size_bytes)
		ring->largest_bytes = size_bytes;
	if (record.type == PS_RECORD_SAMPLE)
		period = find_period(session, event, &record);
	tell_listener(session, event, &record, period);
	count_record(session, ring, event, &record, period);
}
