/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for records in the rings of a session, and reads them. */
#include "sample/session.h"

#include "base/error.h"
#include "base/os.h"

#include <limits.h>
#include <string.h>

/* The kernel wakes the reader when a leader's ring fills. The rings are also read in these
 * intervals: records should not get old, and events without descriptors don't wake the reader. */
#define LONGEST_POLL_MS 100
#define CLOSED_POLL_MS  10

/* Notes if records may have been lost. Since the last reading the ring's free room was never less
 * than it would be between the old tail and the present head. The kernel reports a loss only before
 * the ring's next record, and there may be no next record. */
static void note_full(struct ps__session_ring *from, uint64_t tail)
{
	uint64_t head = __atomic_load_n(&from->ring.page->data_head, __ATOMIC_SEQ_CST);

	/* The kernel always leaves one byte of a ring free. */
	if (head - tail + from->largest_bytes >= from->ring.data_bytes)
		from->may_have_lost = true;
}

/* Reads the records that a ring has at the time of the call. Leaves later ones, because a ring that
 * fills as fast as it is read must not keep the reader from the other rings. */
static void drain_ring(struct ps_session *session, struct ps__session_ring *from, uint64_t now_ns)
{
	struct ps__ring *ring = &from->ring;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->seen;
	const void *bytes;
	size_t size_bytes;

	while (ring->seen != head) {
		switch (ps__ring_first(ring, session->scratch, &bytes, &size_bytes)) {
		case PS__RING_EMPTY:
			return;
		case PS__RING_DAMAGED:
			session->damaged++;
			ps__ring_release_all(ring);
			return;
		case PS__RING_RECORD:
			ps__session_hear(session, from, bytes, size_bytes);
			ps__ring_release(ring, size_bytes);
		}
	}
	if (from->last_ns < now_ns)
		from->last_ns = now_ns;
	note_full(from, tail);
}

static void drain_rings(struct ps_session *session)
{
	uint64_t now_ns = ps__os_now_ns();

	for (size_t i = 0; i < session->lists.ring_count; i++)
		drain_ring(session, &session->lists.rings[i], now_ns);
}

static bool has_ended(const struct ps_session *session)
{
	bool ended = false;

	if (session->task.fd < 0)
		return false;
	ps__task_cpu(&session->task, &ended);
	return ended;
}

static nfds_t fill_polled(struct ps_session *session)
{
	nfds_t count = 0;

	session->polled[count++] = (struct pollfd){.fd = session->stop.ends[0], .events = POLLIN};
	for (size_t i = 0; i < session->lists.ring_count; i++) {
		if (session->lists.rings[i].fd >= 0)
			session->polled[count++] =
			    (struct pollfd){.fd = session->lists.rings[i].fd, .events = POLLIN};
	}
	return count;
}

/* Stops polling a leader whose thread and whose inherited copies have ended: it would wake the
 * reader for ever. Its ring is still read. */
static int note_hung_up(struct ps_session *session, nfds_t count)
{
	struct ps__session_ring *rings = session->lists.rings;
	size_t ring = 0;

	for (nfds_t i = 1; i < count; i++, ring++) {
		while (rings[ring].fd < 0)
			ring++;
		short revents = session->polled[i].revents;
		/* A file that the program opened under this number could wake the reader for
		 * ever. */
		if (revents &&
		    (revents & POLLNVAL || !ps__os_is_event_of(rings[ring].fd, rings[ring].id)))
			return ps__session_fail_closed();
		if (revents & (POLLHUP | POLLERR))
			rings[ring].fd = -1;
	}
	return PS_OK;
}

/* Waits once. PS_OK; PS_ENOTRUN if there was a stop, which is taken; or an error. */
static int wait_once(struct ps_session *session, int timeout_ms)
{
	nfds_t count = fill_polled(session);

	if (ps__os.poll(session->polled, count, timeout_ms) < 0)
		return errno == EINTR ? PS_OK
		                      : ps__fail(PS_ESYS, "a session: poll: %s", strerror(errno));
	int result = ps__session_take_stop(session, session->polled[0].revents);
	return result == PS_OK ? note_hung_up(session, count) : result;
}

static int check_running(const struct ps_session *session, const char *call)
{
	int result = ps__session_refuse(session, call);

	if (result == PS_OK && !session->is_started)
		return ps__fail(PS_ENOTRUN, "%s: the session was not started", call);
	return result;
}

static int session_slice_ms(const struct ps_session *session)
{
	return session->is_closing ? CLOSED_POLL_MS : LONGEST_POLL_MS;
}

int ps_session_run(struct ps_session *session)
{
	int result = check_running(session, "ps_session_run");
	bool ended = false;

	if (result != PS_OK)
		return result;
	while (result == PS_OK && !ended) {
		ended = has_ended(session);
		drain_rings(session);
		if (!ended)
			result = wait_once(session, session_slice_ms(session));
	}
	if (result != PS_OK && result != PS_ENOTRUN)
		return result;
	drain_rings(session);
	if (session->listener.stop)
		session->listener.stop(session->listener.context);
	return PS_OK;
}

int ps_session_poll(struct ps_session *session, int timeout_ms)
{
	int result = check_running(session, "ps_session_poll");

	if (result != PS_OK)
		return result;
	uint64_t before = session->records, begin_ns = ps__os_now_ns();
	for (;;) {
		bool ended = has_ended(session);
		drain_rings(session);
		if (ended && session->records == before)
			return ps__fail(PS_ENOTRUN,
			                "ps_session_poll: process %d has ended, and there are no "
			                "more records",
			                (int)session->pid);
		uint64_t passed_ms = (ps__os_now_ns() - begin_ns) / 1000000;
		bool waits = session->records == before &&
		             (timeout_ms < 0 || passed_ms < (uint64_t)timeout_ms);
		int slice = waits ? session_slice_ms(session) : 0;
		if (timeout_ms >= 0 && waits && (uint64_t)slice > (uint64_t)timeout_ms - passed_ms)
			slice = timeout_ms - (int)passed_ms;
		result = wait_once(session, slice);
		if (result == PS_ENOTRUN)
			return ps__fail(PS_ENOTRUN, "ps_session_poll: ps_session_stop was called");
		if (result != PS_OK || !waits)
			return result;
	}
}
