/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes a sampler's next record, and waits for it. */
#include "sample/sampler.h"

#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

/* A waiting thread checks in this interval for a stop, because the kernel wakes it only for
 * records. */
#define LONGEST_POLL_MS 100

/* There is only one writer, so no atomic addition is needed. */
static void add_relaxed(_Atomic uint64_t *sum, uint64_t amount)
{
	atomic_store_explicit(sum, atomic_load_explicit(sum, memory_order_relaxed) + amount,
	                      memory_order_relaxed);
}

static void note_losses(struct ps_sampler *sampler, const struct ps_record *record)
{
	if (record->type == PS_RECORD_LOST)
		add_relaxed(&sampler->lost_records, record->body.lost);
	else if (record->type == PS_RECORD_LOST_SAMPLES)
		add_relaxed(&sampler->lost_samples, record->body.lost);
}

static int fail_damaged(struct ps_sampler *sampler, const char *why)
{
	add_relaxed(&sampler->damaged, 1);
	return ps__fail(PS_EMISC, "'%s': a record of the ring was skipped: %s",
	                sampler->attr->event.name, why);
}

/* Takes the next record. PS_ENOEVST has no detail, because the callers' sentences differ. */
static int sampler_take(struct ps_sampler *sampler, struct ps_record *out)
{
	const void *bytes;
	size_t size_bytes;

	if (sampler->held_bytes) {
		ps__ring_release(&sampler->ring, sampler->held_bytes);
		sampler->held_bytes = 0;
	}
	switch (ps__ring_first(&sampler->ring, sampler->scratch, &bytes, &size_bytes)) {
	case PS__RING_EMPTY:
		return PS_ENOEVST;
	case PS__RING_DAMAGED:
		ps__ring_release_all(&sampler->ring);
		return fail_damaged(sampler, "it has no valid size, so what followed is lost, too");
	case PS__RING_RECORD:
		break;
	}
	sampler->held_bytes = size_bytes;
	if (ps_record_parse(&sampler->config, bytes, size_bytes, out) != PS_OK)
		return fail_damaged(sampler, ps_error_detail());
	note_losses(sampler, out);
	return PS_OK;
}

int ps_sampler_next(struct ps_sampler *sampler, struct ps_record *out)
{
	int result = ps__sampler_refuse(sampler, "ps_sampler_next");

	if (result != PS_OK)
		return result;
	if (!out)
		return ps__fail(PS_EINVAL, "ps_sampler_next: out is NULL");
	result = sampler_take(sampler, out);
	if (result == PS_ENOEVST)
		return ps__fail(PS_ENOEVST, "'%s': there is no record now",
		                sampler->attr->event.name);
	return result;
}

/* Returns the time limit of the next poll. */
static int sampler_slice_ms(int timeout_ms, uint64_t deadline_ns)
{
	uint64_t now_ns = timeout_ms < 0 ? 0 : ps__os_now_ns();

	if (timeout_ms < 0)
		return LONGEST_POLL_MS;
	if (now_ns >= deadline_ns)
		return 0;
	/* Rounded up: otherwise the last millisecond would be a busy loop. */
	uint64_t rest_ms = (deadline_ns - now_ns + 999999) / 1000000;
	return rest_ms < LONGEST_POLL_MS ? (int)rest_ms : LONGEST_POLL_MS;
}

/* Waits once. PS_OK: go on; any other code: no record will come. */
static int poll_once(const struct ps_sampler *sampler, int slice, bool *has_ended)
{
	struct pollfd pollfd = {.fd = sampler->fd, .events = POLLIN};

	if (ps__os.poll(&pollfd, 1, slice) < 0)
		return errno == EINTR ? PS_OK
		                      : ps__fail(PS_ESYS, "'%s': poll: %s",
		                                 sampler->attr->event.name, strerror(errno));
	/* The program may have closed the descriptor and opened another file under its number,
	 * which may always be readable. */
	if (pollfd.revents &&
	    (pollfd.revents & POLLNVAL || !ps__os_is_event_of(sampler->fd, sampler->id)))
		return ps__sampler_fail_closed(sampler);
	/* Newer kernels report POLLERR for an event that an exec has removed, and POLLHUP for one
	 * that has lost its counter. Older kernels report neither. */
	*has_ended = (pollfd.revents & (POLLHUP | POLLERR)) != 0 ||
	             (!pollfd.revents && ps__sampler_lacks_counter(sampler));
	return PS_OK;
}

int ps_sampler_wait(struct ps_sampler *sampler, int timeout_ms, struct ps_record *out)
{
	int result = ps__sampler_refuse(sampler, "ps_sampler_wait");
	bool has_ended = false;

	if (result != PS_OK)
		return result;
	if (!out)
		return ps__fail(PS_EINVAL, "ps_sampler_wait: out is NULL");
	uint64_t deadline_ns =
	    timeout_ms > 0 ? ps__os_now_ns() + (uint64_t)timeout_ms * 1000000 : 0;
	for (;;) {
		/* The state is read before the ring: so after a stop the ring has all records. */
		bool is_stopped = atomic_load(&sampler->state) == PS__SAMPLER_STOPPED;
		result = sampler_take(sampler, out);
		if (result != PS_ENOEVST)
			return result;
		if (has_ended)
			return ps__sampler_fail_ended(sampler);
		if (is_stopped)
			return ps__fail(PS_ENOTRUN,
			                "'%s': there is no record, and none will come: "
			                "the sampler is not running",
			                sampler->attr->event.name);
		int slice = sampler_slice_ms(timeout_ms, deadline_ns);
		if (slice == 0)
			return ps__fail(PS_ENOEVST, "'%s': no record came within %d ms",
			                sampler->attr->event.name, timeout_ms);
		result = poll_once(sampler, slice, &has_ended);
		if (result != PS_OK)
			return result;
	}
}
