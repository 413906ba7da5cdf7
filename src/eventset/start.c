/* SPDX-License-Identifier: BSD-3-Clause */
/* ps_start. */
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/control.h"
#include "eventset/waiting.h"

/* Refuses a caller that isn't the owner, unless the owner has ended. */
static int check_owner(struct ps_eventset *set)
{
	if (set->counters.papi)
		return ps__set_check_papi_owner(set);
	if (set->counters.target.kind != PS__TARGET_SELF || set->state == PS__SET_NEW ||
	    set->calls.owner == ps__thread_number())
		return PS_OK;
	if (ps__locate_is_alive(set->calls.owner_tid))
		return ps__fail(PS_EINVAL,
		                "ps_start: thread %d called, but this set counts thread %d, its "
		                "owner, which still runs: give each thread a set of its own "
		                "(ps_eventset_clone)",
		                (int)ps__os.gettid(), (int)set->calls.owner_tid);
	set->state = PS__SET_NEW;
	set->is_ended = false;
	set->is_settled = false;
	return PS_OK;
}

/* Fetches the final counts of the run before: they must not be added to those of the new run. */
int ps__set_fetch_rest(struct ps_eventset *set)
{
	struct ps__slot *slot;

	if (set->state != PS__SET_UNFETCHED || !set->counters.backend)
		return PS_OK;
	int result = ps__set_fetch(set, &slot);
	return result == PS_PARTIAL ? PS_OK : result;
}

/* Checks options against the target. The caller's own exec closes the descriptors, so a set can't
 * count its owner from an exec on; and a CPU has no exec and no tasks. */
static int start_check_options(const struct ps_eventset *set)
{
	for (size_t index = 0; set->counters.wants_tasks && index < set->events.count; index++) {
		if (set->events.list[index].control.is_paused)
			return ps__fail(PS_ECOMBO,
			                "ps_start: '%s' is paused, and the set is to keep tasks "
			                "apart, whose shares the kernel counts: resume it",
			                set->events.list[index].name);
	}
	if (set->counters.wants_tasks && set->counters.target.kind != PS__TARGET_PROCESS)
		return ps__fail(PS_ECOMBO,
		                "ps_start: the set is to keep the tasks of a process apart, and "
		                "needs one that it is attached to (ps_eventset_attach_process)");
	if (!set->counters.enables_on_exec || set->counters.target.kind == PS__TARGET_TID ||
	    set->counters.target.kind == PS__TARGET_PROCESS)
		return PS_OK;
	return ps__fail(PS_ECOMBO,
	                "ps_start: the set is to count from an exec on, and that needs a thread or "
	                "process that it is attached to (ps_eventset_attach_process)");
}

/* Opens the events if they aren't open, and finds the task's CPU. */
static int start_make_ready(struct ps_eventset *set)
{
	uint16_t mark;
	int result = check_owner(set);

	if (result == PS_OK && set->counters.papi)
		result = ps__set_refresh_papi(set);
	if (result == PS_OK && set->events.count == 0)
		result = ps__fail(
		    PS_EINVAL, "ps_start: the event set is empty: add events with ps_eventset_add");
	if (result == PS_OK)
		result = start_check_options(set);
	if (result == PS_OK)
		result = ps__set_fetch_rest(set);
	if (result == PS_OK)
		result = ps__set_reopen_if_changed(set);
	if (result == PS_OK) {
		ps__set_skip_visits(set);
		result = ps__set_locate(set, &set->attribution.last_cpu, &mark);
	}
	if (result == PS_OK && set->is_ended)
		result =
		    ps__fail(PS_ESYS, "ps_start: %s %d has ended",
		             set->counters.target.kind == PS__TARGET_PROCESS ? "process" : "thread",
		             (int)set->counters.target.tid);
	return result;
}

void ps__set_begin_running(struct ps_eventset *set)
{
	if (set->attribution.method->start)
		set->attribution.method->start(set);
	set->attribution.has_migrated = false;
	set->attribution.per_cpu.must_sweep = false;
	set->attribution.has_lost = false;
	set->fast_path.pause.left = 0;
	set->fast_path.pause.length = 0;
	set->state = PS__SET_RUNNING;
}

/* Returns PS_PARTIAL: the set counts, but may miss threads. */
static int tell_missed(const struct ps_eventset *set)
{
	return ps__fail(PS_PARTIAL, "%s", set->attribution.why);
}

/* Tells the backend, after a start, with which totals the run begins. */
static int begin_run(struct ps_eventset *set)
{
	struct ps__backend *backend = set->counters.backend;
	int result = PS_OK;

	for (size_t instance = 0; result == PS_OK && instance < backend->instances; instance++)
		result = backend->ops->begin_run(backend, instance, ps__set_totals(set, instance));
	return result;
}

int ps__set_enable_unread(struct ps_eventset *set)
{
	struct ps__backend *backend = set->counters.backend;
	int result = backend->ops->start(backend);

	if (result == PS_OK)
		result = begin_run(set);
	if (result != PS_OK)
		backend->ops->stop(backend);
	return result;
}

/* Starts counters that have counted since they were opened. Drops what they counted until now. */
static __attribute__((cold, noinline)) int start_opened(struct ps_eventset *set,
                                                        enum ps__set_state before)
{
	struct ps__slot *slot;
	int result = set->counters.backend->ops->start(set->counters.backend);

	if (result == PS_OK)
		result = ps__set_fetch(set, &slot);
	if (!ps__set_is_failure(result))
		result = begin_run(set);
	if (result == PS_OK) {
		ps__set_clear_counts(set);
		return set->attribution.misses_threads ? tell_missed(set) : PS_OK;
	}
	set->counters.backend->ops->stop(set->counters.backend);
	set->recorder.must_clear = false;
	set->state = before;
	return result;
}

/* Starts the counters. Does all it can before they are enabled, as code after that is counted. */
static inline __attribute__((always_inline)) int start_prepared(struct ps_eventset *set)
{
	enum ps__set_state before = set->state;
	int result;

	ps__set_begin_balance(set);
	ps__set_begin_running(set);
	set->attribution.has_left = false;
	set->attribution.is_lacking = false;
	set->attribution.time_share.is_assigned = false;
	set->attribution.per_cpu.has_waited = false;
	set->recorder.must_clear = true;
	if (set->counters.papi) {
		ps__papi_rewind(set->counters.backend);
		ps__set_begin_totals(set);
	}
	if (__builtin_expect(set->counters.backend->counts_when_open, 0))
		return start_opened(set, before);
	result = ps__set_enable(set);
	if (__builtin_expect(result == PS_OK && !set->counters.papi, 1))
		return __builtin_expect(set->attribution.misses_threads, 0) ? tell_missed(set)
		                                                            : PS_OK;
	if (result == PS_OK) {
		if (set->counters.papi->has_baseline)
			ps__set_begin_totals(set);
		return PS_OK;
	}
	set->recorder.must_clear = false;
	set->state = before;
	return result;
}

static inline __attribute__((always_inline)) int start_counters(struct ps_eventset *set)
{
	int result = start_make_ready(set);

	if (result != PS_OK)
		return result;
	set->is_starting = true;
	atomic_signal_fence(memory_order_seq_cst);
	result = start_prepared(set);
	atomic_signal_fence(memory_order_seq_cst);
	set->is_starting = false;
	return result;
}

int ps__set_start(struct ps_eventset *set)
{
	return start_counters(set);
}

int ps_start(struct ps_eventset *set)
{
	int result = ps__set_enter(set, "ps_start");

	if (result != PS_OK)
		return result;
	if (ps__set_is_started(set))
		result = ps__set_fail_running(set);
	else
		result = start_counters(set);
	ps__set_leave(set);
	return result;
}
