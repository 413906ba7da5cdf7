/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads what a set has counted, for another thread than the counted one. These functions change
 * nothing in the set. The counted thread may go on; only a fetch of that thread can make the result
 * wrong. */
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/take.h"
#include "eventset/waiting.h"

/* Returns the CPU where the thread has been since its last fetch, by its migration records; -1: not
 * known. If the thread fetches meanwhile, the caller of ps__set_peek notices it, and drops the
 * result. */
static int peek_recorded_cpu(const struct ps_eventset *set)
{
	return set->attribution.method->split == PS__SPLIT_RECORDS &&
	               !ps__switch_ring_has_moved(&set->attribution.switches)
	           ? __atomic_load_n(&set->attribution.last_cpu, __ATOMIC_RELAXED)
	           : -1;
}

/* Returns the CPU where all counts happened that aren't assigned yet. If that isn't known, the CPU
 * where the thread was seen last (the mark is LAST_CPU), or -1. */
static int peek_cpu(const struct ps_eventset *set, pid_t tid, uint16_t *mark)
{
	struct ps__task task = {.fd = -1};
	bool has_ended = false;
	int cpu = peek_recorded_cpu(set);

	*mark = PS_ATTRIBUTION_EXACT;
	if (cpu >= 0)
		return cpu;
	*mark = PS_ATTRIBUTION_PINNED;
	if (set->attribution.only_cpu >= 0 &&
	    ps__switch_ring_stayed_home(&set->attribution.switches))
		return set->attribution.only_cpu;
	*mark = PS_ATTRIBUTION_LAST_CPU;
	if (ps__task_open(&task, tid) == PS_OK)
		cpu = ps__task_cpu(&task, &has_ended);
	ps__task_close(&task);
	return cpu;
}

/* True if a group has waited for the hardware. The CPU of the wait isn't known, because each
 * instance's enabled time grows wherever the thread runs. */
static bool peek_has_waited(const struct ps_eventset *set, const uint64_t *totals, size_t width)
{
	const struct ps__backend *backend = set->counters.backend;
	uint64_t skew_ns = ps__set_skew_ns(backend);

	for (size_t group = 0; group < backend->groups; group++) {
		uint64_t enabled_ns = totals[2 * group], ran_ns = 0;
		for (size_t instance = 0; instance < backend->instances; instance++)
			ran_ns += totals[instance * width + 2 * group + 1];
		if (backend->is_hardware[group] && enabled_ns > ran_ns + skew_ns)
			return true;
	}
	return false;
}

/* Reads all instances, each into `width` words of its own. Leaves out what was counted while the
 * events were opened (origin). */
static int peek_read(const struct ps_eventset *set, uint64_t *totals, size_t width)
{
	const struct ps__backend *backend = set->counters.backend;
	int result = PS_OK;

	for (size_t instance = 0; result == PS_OK && instance < backend->instances; instance++)
		result = backend->ops->peek(backend, instance, totals + instance * width);
	for (size_t word = 0; backend->origin && word < width; word++)
		totals[word] -= backend->origin[word];
	return result;
}

static bool peek_is_possible(const struct ps_eventset *set)
{
	const struct ps__backend *backend = set->counters.backend;

	return backend && backend->ops->peek && set->recorder.recording &&
	       set->counters.target.kind == PS__TARGET_SELF &&
	       (set->attribution.method->split == PS__SPLIT_COUNTERS || backend->instances == 1);
}

bool ps__set_is_busy(const struct ps_eventset *set)
{
	return __atomic_load_n(&set->calls.busy, __ATOMIC_ACQUIRE) != 0;
}

size_t ps__set_peek(const struct ps_eventset *set, pid_t tid, struct ps__peeked **out)
{
	*out = NULL;
	if (!peek_is_possible(set))
		return 0;
	size_t width = ps__recording_width(set->recorder.recording);
	size_t count = set->counters.backend->instances;
	bool is_split = set->attribution.method->split == PS__SPLIT_COUNTERS;
	struct ps__peeked *peeked =
	    ps__os_calloc(1, count * (sizeof *peeked + width * sizeof(uint64_t)));
	uint64_t *totals = (uint64_t *)(peeked + count);

	if (!peeked || peek_read(set, totals, width) != PS_OK ||
	    (is_split && peek_has_waited(set, totals, width))) {
		ps__os_free(peeked);
		return 0;
	}
	for (size_t instance = 0; instance < count; instance++) {
		peeked[instance].recording = set->recorder.recording;
		peeked[instance].totals = totals + instance * width;
		peeked[instance].is_split = is_split;
		peeked[instance].mark = PS_ATTRIBUTION_EXACT;
		peeked[instance].cpu = is_split ? set->attribution.per_cpu.cpus[instance]
		                                : peek_cpu(set, tid, &peeked[instance].mark);
	}
	*out = peeked;
	return count;
}
