/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that make a reading: ps_stop, ps_store, and the slow path of ps_read and ps_accum. The
 * fast path of these two is in fast_path.c. */
#include "base/error.h"
#include "base/hot.h"
#include "eventset/attribution.h"
#include "eventset/control.h"
#include "eventset/eventset.h"
#include "eventset/parts.h"

static int check_root(struct ps_eventset *set, struct ps_component *root)
{
	if (__builtin_expect(root && root == set->recorder.root &&
	                         !ps__topology_is_destroyed(root->topology),
	                     1))
		return PS_OK;
	return ps__set_bind(set, root);
}

/* Returns the slot of a stopped set's final counts. If nothing was read since ps_start, returns the
 * slot of the CPU where ps_start found the task. */
static struct ps__slot *final_slot(struct ps_eventset *set)
{
	return ps__set_slot(set, set->recorder.last_slot ? set->recorder.last_slot->cpu
	                                                 : set->attribution.last_cpu);
}

/* Assigns all counts to slots. For a stopped set, ps_stop did it, unless memory was short. */
int ps__set_collect(struct ps_eventset *set, struct ps__slot **slot)
{
	if (__builtin_expect(ps__set_has_uncollected(set), 1))
		return ps__set_fetch(set, slot);
	int result = ps__set_adopt(set);
	if (result == PS_OK && set->state == PS__SET_RUNNING)
		return ps__set_fetch(set, slot);
	if (result == PS_OK && set->state == PS__SET_NEW)
		result = ps__set_fail_new("the event set can't be read");
	if (result != PS_OK)
		return result;
	*slot = final_slot(set);
	return *slot ? PS_OK : PS_ENOMEM;
}

/* Marks all parts of the reading whose task is `here`. */
static void mark_parts(struct ps_eventset *set, struct ps__slot *here, uint16_t flag)
{
	for (size_t index = 0; index < set->recorder.active_count; index++) {
		if (set->recorder.active[index]->has_counts)
			set->recorder.active[index]->counts_mark |= flag;
	}
	here->counts_mark |= flag;
}

/* Marks all parts: the missing counts could belong to any of them. */
static void mark_interrupted(struct ps_eventset *set, struct ps__slot *here)
{
	ps__set_mark_idle(set, PS__MARK_INTERRUPTED);
	mark_parts(set, here, PS__MARK_INTERRUPTED);
}

static int reading_finish(struct ps_eventset *set, const struct ps__write *write,
                          uint64_t *timestamp, struct ps_thread **thread)
{
	/* An ended task's counts are final, also in parts assigned before its end was noticed. */
	if (__builtin_expect(set->is_ended, 0) && write->kind != PS__WRITE_STORE)
		mark_parts(set, write->slot, PS__MARK_ENDED);
	int result = ps__set_write(set, write, timestamp);

	if (result == PS_OK && thread)
		*thread = write->slot->history->thread;
	return result;
}

static const char *name_of(enum ps__write_kind kind)
{
	return kind == PS__WRITE_ACCUM ? "ps_accum" : "ps_read";
}

/* Reads the counters before checking the arguments. If the check fails, the counts are in the slots
 * already, and the next reading has them. */
static inline int make_reading(struct ps_eventset *set, enum ps__write_kind kind,
                               struct ps_component *root, uint64_t *timestamp,
                               struct ps_thread **thread)
{
	struct ps__write write = {.kind = kind};
	bool is_owned = __builtin_expect(set->calls.owner == ps__thread_number(), 1);
	int fetched = PS_OK;

	if (!is_owned)
		fetched = ps__set_check_foreign(set, name_of(kind), kind == PS__WRITE_COUNTS);
	if (__builtin_expect(fetched == PS_OK, 1))
		fetched = ps__set_collect(set, &write.slot);
	if (__builtin_expect(fetched != PS_OK && fetched != PS_PARTIAL, 0))
		return fetched;
	int result = check_root(set, root);
	if (__builtin_expect(result == PS_OK, 1))
		result = reading_finish(set, &write, timestamp, thread);
	if (__builtin_expect(result != PS_OK, 0))
		return result;
	if (is_owned)
		ps__set_open_fast_path(set, write.slot);
	else
		ps__set_settle_foreign(set);
	return fetched;
}

static int read_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                       struct ps_thread **thread, enum ps__write_kind kind)
{
	int result = ps__set_enter(set, name_of(kind));

	if (__builtin_expect(result != PS_OK, 0))
		return result;
	result = make_reading(set, kind, root, timestamp, thread);
	ps__set_leave(set);
	return result;
}

int ps__set_read_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                        struct ps_thread **thread)
{
	return read_slowly(set, root, timestamp, thread, PS__WRITE_COUNTS);
}

int ps__set_accum_slowly(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                         struct ps_thread **thread)
{
	return read_slowly(set, root, timestamp, thread, PS__WRITE_ACCUM);
}

int ps__set_halt(struct ps_eventset *set, struct ps__write *write)
{
	int stopped = set->counters.backend->ops->stop(set->counters.backend);

	set->state = PS__SET_UNFETCHED;
	/* Read all instances: any of them may have counts that the switch ring missed. */
	set->attribution.per_cpu.must_sweep = true;
	int fetched = ps__set_fetch(set, &write->slot);
	if (__builtin_expect(ps__set_is_failure(fetched), 0))
		return fetched;
	write->now_ns = ps__clock_now_ns(&set->recorder.clock);
	if (__builtin_expect(ps__set_end_balance(set, write->now_ns), 0))
		mark_interrupted(set, write->slot);
	return stopped != PS_OK ? stopped : fetched;
}

/* A paused set's counters are stopped already. */
static int halt_or_collect(struct ps_eventset *set, struct ps__write *write)
{
	if (__builtin_expect(!set->is_paused, 1))
		return ps__set_halt(set, write);
	set->is_paused = false;
	return ps__set_collect(set, &write->slot);
}

/* The counters are stopped first, so that the final counts contain everything. If storing fails
 * after that, ps_read gives the counts. */
static int reading_stop(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
                        struct ps_thread **thread)
{
	struct ps__write write = {.kind = PS__WRITE_COUNTS};

	int result = ps__set_adopt(set);

	if (result == PS_OK)
		result = ps__set_check_foreign(set, "ps_stop", true);
	if (result == PS_OK && !ps__set_is_started(set))
		result = ps__fail(PS_ENOTRUN, "ps_stop: the event set is not running");
	if (__builtin_expect(result != PS_OK, 0))
		return result;
	int halted = halt_or_collect(set, &write);
	if (__builtin_expect(!write.slot, 0))
		return halted;
	result = check_root(set, root);
	if (__builtin_expect(result == PS_OK, 1))
		result = reading_finish(set, &write, timestamp, thread);
	if (__builtin_expect(result != PS_OK, 0))
		return result;
	ps__set_settle_foreign(set);
	return halted;
}

int ps_stop(struct ps_eventset *set, struct ps_component *root, uint64_t *timestamp,
            struct ps_thread **thread)
{
	int result = ps__set_enter(set, "ps_stop");

	if (result != PS_OK)
		return result;
	result = reading_stop(set, root, timestamp, thread);
	ps__set_leave(set);
	return result;
}

static int reading_store(struct ps_eventset *set, const long long *counters,
                         struct ps_component *root, uint64_t *timestamp, struct ps_thread **thread)
{
	struct ps__write write = {.kind = PS__WRITE_STORE, .counters = counters};
	uint16_t mark;
	int cpu;
	int result = ps__set_open(set);

	if (result == PS_OK && set->counters.papi && set->counters.papi->place_count > 1)
		result = ps__fail(
		    PS_ENOSUPP,
		    "ps_store: the events of PAPI event set %d count in %zu places, and one "
		    "reading of yours goes to one: make a PAPI event set for each package",
		    set->counters.papi->id, set->counters.papi->place_count);
	if (result == PS_OK)
		result = check_root(set, root);
	if (result == PS_OK)
		result = ps__set_locate(set, &cpu, &mark);
	if (result != PS_OK)
		return result;
	/* The caller's counters belong to the caller's CPU, not to the ended owner's. */
	if (set->counters.target.kind == PS__TARGET_SELF && set->is_ended) {
		cpu = ps__os_getcpu();
		mark = PS_ATTRIBUTION_LAST_CPU;
	}
	write.slot = ps__set_slot(set, cpu);
	if (!write.slot)
		return PS_ENOMEM;
	write.mark = mark | PS__MARK_STORED;
	return reading_finish(set, &write, timestamp, thread);
}

int ps_store(struct ps_eventset *set, const long long *counters, int n, struct ps_component *root,
             uint64_t *timestamp, struct ps_thread **thread)
{
	int result = ps__set_enter(set, "ps_store");

	if (result != PS_OK)
		return result;
	if (!counters)
		result = ps__fail(PS_EINVAL, "ps_store: counters is NULL");
	else if (n < 0 || (size_t)n != set->events.count || n == 0)
		result = ps__fail(PS_EINVAL, "ps_store: %d counters given for a set of %zu events",
		                  n, set->events.count);
	else
		result = reading_store(set, counters, root, timestamp, thread);
	ps__set_leave(set);
	return result;
}
