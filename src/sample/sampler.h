/* SPDX-License-Identifier: BSD-3-Clause */
/* A sampler inside. sampler.c opens and controls it, sampler_next.c takes its records,
 * sampler_read.c its count. */
#ifndef PS_SAMPLE_SAMPLER_H
#define PS_SAMPLE_SAMPLER_H

#include "backend/perf_user.h"
#include "base/error.h"
#include "base/identity.h"
#include "locate/ring.h"
#include "sample/attr.h"

#include <perfsage/sampler.h>
#include <stdatomic.h>
#include <stdbool.h>

#define PS__FORMAT_LOST (UINT64_C(1) << 4) /* PERF_FORMAT_LOST, of Linux 6.0 */

/* The transitional ones are those of the thread that starts or stops it: no other may then. */
enum ps__sampler_state {
	PS__SAMPLER_STOPPED, /* it writes no records */
	PS__SAMPLER_STARTING,
	PS__SAMPLER_RUNNING,
	PS__SAMPLER_STOPPING
};

struct ps__sampler_member {
	int fd;
	uint64_t id; /* the kernel's */
};

struct ps_sampler {
	struct ps_attr *attr; /* as it was opened; but for another kind of cores, see place */
	struct ps_record_config config;
	struct ps__place place;
	struct ps__ring ring;
	int fd;
	uint64_t id;                        /* the kernel's, of the event */
	struct ps__sampler_member *members; /* the other events of its group */
	size_t member_count, member_room;
	uint64_t fork_generation;
	uint64_t owner;    /* ps__thread_number of a sampler of its maker; else 0 */
	size_t held_bytes; /* of the record that the reader has: still the kernel's to wait for */
	void *scratch;     /* for a record that wraps */
	_Atomic enum ps__sampler_state state;
	/* By what was taken out of the ring. One writer, the reading thread. */
	_Atomic uint64_t lost_records, lost_samples, damaged;
	/* A group of one member, for an event that is read in user space; else without a page */
	struct ps__member member;
	struct ps__group group;
};

/* A call in a child, or without a sampler: the code, with a sentence; PS_OK else. Async-signal-safe
 * unless it fails. */
static inline int ps__sampler_refuse(const struct ps_sampler *sampler, const char *call)
{
	if (!sampler)
		return ps__fail(PS_EINVAL, "%s: the sampler is NULL", call);
	if (!ps__fork_is_same(sampler->fork_generation))
		return ps__fail(PS_ECLOST,
		                "%s: the sampler was made by the parent process, and its event is "
		                "the parent's: create a sampler in this process",
		                call);
	return PS_OK;
}

/* sampler_read.c: PS_ECLOST, with a sentence. */
int ps__sampler_fail_closed(const struct ps_sampler *sampler);
/* sampler_read.c: why the event is hung up; a code, with a sentence. */
int ps__sampler_fail_ended(const struct ps_sampler *sampler);
/* What can be opened, and can't be read here, or never happens. */
int ps__sampler_check_fields(const struct ps_attr *attr);
/* Tasks inherit the attr's event: it must not be a probe by text. */
int ps__sampler_check_probe(const struct ps_attr *attr);
/* The kernel's words for a kind of cores: that of the CPU, or the first one. */
uint32_t ps__sampler_kind(const struct ps__event *event, int cpu);
struct ps__target ps__sampler_target(const struct ps_sampler *sampler);
/* Makes what a parser must know of an event that was opened with these words. */
struct ps_record_config ps__sampler_config(const struct perf_event_attr *words);

/* sampler_read.c: decides whether the counter can be read in user space, before the event is
 * opened; then, with the ring mapped. */
void ps__sampler_prepare_user(struct ps_sampler *sampler, struct ps__perf *perf);
void ps__sampler_adopt_user(struct ps_sampler *sampler, struct ps__perf *perf);

#endif
