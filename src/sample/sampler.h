/* SPDX-License-Identifier: BSD-3-Clause */
/* The struct of a sampler. sampler.c opens and controls it, sampler_next.c takes its records,
 * sampler_read.c reads its count. */
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

/* While a thread starts or stops the sampler, the state is STARTING or STOPPING, and no other
 * thread may start or stop it. */
enum ps__sampler_state {
	PS__SAMPLER_STOPPED, /* the event writes no records */
	PS__SAMPLER_STARTING,
	PS__SAMPLER_RUNNING,
	PS__SAMPLER_STOPPING
};

struct ps__sampler_member {
	int fd;
	uint64_t id; /* the kernel's id of the event */
};

struct ps_sampler {
	struct ps_attr *attr; /* as it was opened, except for the kind of cores: see place */
	struct ps_record_config config;
	struct ps__place place;
	struct ps__ring ring;
	int fd;
	uint64_t id;                        /* the kernel's id of the event */
	struct ps__sampler_member *members; /* the other events of its group */
	size_t member_count, member_room;
	uint64_t fork_generation;
	/* Number of the thread that made the sampler, if it can read in user space; else 0 */
	uint64_t owner;
	/* Size of the record that the reader has; the next call releases it in the ring */
	size_t held_bytes;
	void *scratch; /* for a record that wraps */
	_Atomic enum ps__sampler_state state;
	/* Sums over the records that were taken. Only the reading thread writes them. */
	_Atomic uint64_t lost_records, lost_samples, damaged;
	/* Used if the event is read in user space; otherwise the group has no page */
	struct ps__member member;
	struct ps__group group;
};

/* Returns PS_EINVAL for NULL and PS_ECLOST in a child of fork(), with a sentence; else PS_OK.
 * Async-signal-safe unless it fails. */
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

/* sampler_read.c: returns PS_ECLOST, with a sentence. */
int ps__sampler_fail_closed(const struct ps_sampler *sampler);
/* sampler_read.c: true if the event is pinned and has lost its counter, so it counts no longer. */
bool ps__sampler_lacks_counter(const struct ps_sampler *sampler);
/* sampler_read.c: returns why no more records will come: a code, with a sentence. */
int ps__sampler_fail_ended(const struct ps_sampler *sampler);
/* Refuses an attr whose records can't be read here, or whose event never happens. */
int ps__sampler_check_fields(const struct ps_attr *attr);
/* Refuses a probe with path= or func=, for an event that tasks inherit. */
int ps__sampler_check_probe(const struct ps_attr *attr);
/* Refuses an event of several kinds of cores, for a sampler of all CPUs: it would count on one kind
 * alone. */
int ps__sampler_check_kinds(const struct ps_attr *attr);
/* Returns the type of the event's PMU for the CPU's kind of cores, or of its first PMU if cpu is
 * -1. 0 if the event has no variants for kinds of cores. */
uint32_t ps__sampler_kind(const struct ps__event *event, int cpu);
/* Opens an event without a group. Takes PS__FORMAT_LOST out of its attr if the kernel refuses it,
 * as Linux before 6.0 does. Returns the descriptor or -errno. */
int ps__sampler_open_fd(struct ps__event *event, struct ps__place place);
struct ps__target ps__sampler_target(const struct ps_sampler *sampler);
/* Returns what a parser must know of an event that was opened with these words. */
struct ps_record_config ps__sampler_config(const struct perf_event_attr *words);

/* sampler_read.c: prepare_user decides whether the counter can be read in user space, before the
 * event is opened. adopt_user is called when the ring is mapped. */
void ps__sampler_prepare_user(struct ps_sampler *sampler, struct ps__perf *perf);
void ps__sampler_adopt_user(struct ps_sampler *sampler, struct ps__perf *perf);

#endif
