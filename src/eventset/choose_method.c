/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the attribution method of a set, when its events are opened. */
#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ps__set_settle_for_plain(struct ps_eventset *set, const char *why)
{
	set->attribution.method = &ps__method_last_cpu;
	set->counters.target.instance_count = 0;
	set->counters.target.instance_cpus = NULL;
	set->counters.target.has_records = false;
	ps__os_free(set->attribution.per_cpu.cpus);
	set->attribution.per_cpu.cpus = NULL;
	ps__set_forget_clocks(set);
	snprintf(set->attribution.why, sizeof set->attribution.why, "%s", why);
}

/* Lists the methods for a process. Only counters on each CPU can tell its tasks apart. */
static size_t rank_for_process(const struct ps_eventset *set,
                               const struct ps__method *ranks[PS__METHOD_RANKS])
{
	enum ps_attribution_mode mode = set->attribution.mode;

	ranks[0] = &ps__method_bpf;
	if (mode == PS_ATTRIBUTE_BPF)
		return 1;
	ranks[0] = &ps__method_per_cpu;
	if (mode == PS_ATTRIBUTE_EXACT || set->counters.wants_tasks)
		return 1;
	ranks[0] = mode == PS_ATTRIBUTE_LOOKS ? &ps__method_looks : &ps__method_time_share;
	if (mode == PS_ATTRIBUTE_LOOKS || mode == PS_ATTRIBUTE_TIME_SHARE)
		return 1;
	size_t count = 0;
	if (!ps__set_is_costly(set))
		ranks[count++] = &ps__method_per_cpu;
	if (ps__set_has_few_clocks(set))
		ranks[count++] = &ps__method_time_share;
	ranks[count++] = &ps__method_looks;
	return count;
}

size_t ps__set_rank_methods(struct ps_eventset *set,
                            const struct ps__method *ranks[PS__METHOD_RANKS])
{
	bool is_auto = set->attribution.mode == PS_ATTRIBUTE_AUTO ||
	               set->attribution.mode == PS_ATTRIBUTE_TIME_SHARE ||
	               set->attribution.mode == PS_ATTRIBUTE_LOOKS ||
	               set->attribution.mode == PS_ATTRIBUTE_BPF;

	ps__set_settle_for_plain(set, "");
	set->attribution.short_of = 0;
	set->attribution.only_cpu = ps__set_only_cpu(set);
	if (set->counters.papi) {
		ps__set_choose_for_papi(set);
		return 0;
	}
	ranks[0] = &ps__method_cgroup;
	if (set->counters.target.kind == PS__TARGET_CGROUP)
		return 1;
	if (set->counters.target.kind == PS__TARGET_CPU ||
	    (is_auto && set->attribution.only_cpu >= 0))
		return 0;
	if (set->attribution.mode == PS_ATTRIBUTE_LAST_CPU) {
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "PS_ATTRIBUTE_LAST_CPU was asked for");
		return 0;
	}
	if (set->attribution.cannot_split) {
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "these counters can't be split by hardware thread: they are shared out by "
		         "the time on each");
		return 0;
	}
	ranks[0] = &ps__method_per_cpu;
	if (set->counters.target.kind == PS__TARGET_PROCESS)
		return rank_for_process(set, ranks);
	if (set->counters.enables_on_exec || ps__set_count_present_cpus() < PS__CPUS_FOR_RECORDS)
		return 1;
	/* Instances lose no counts; records can, but are cheaper. */
	ranks[is_auto ? 0 : 1] = &ps__method_records;
	ranks[is_auto ? 1 : 0] = &ps__method_per_cpu;
	return 2;
}

static bool is_task_split(const struct ps__method *method)
{
	return method->split == PS__SPLIT_COUNTERS || method->split == PS__SPLIT_RECORDS ||
	       method->split == PS__SPLIT_TIMES;
}

int ps__set_choose_method(struct ps_eventset *set, const struct ps__method *method)
{
	int result = PS_OK;

	ps__set_settle_for_plain(set, "");
	set->counters.target.has_records = method->split == PS__SPLIT_RECORDS;
	result = method->prepare(set);
	if (result == PS_OK)
		result = ps__set_charge(set, is_task_split(method) && method != &ps__method_looks);
	if (result == PS_OK)
		set->attribution.method = method;
	return result;
}

/* Called if there is a ring. Replaces the plain method, which looks up the CPU at each reading. */
static void settle_for_switch_ring(struct ps_eventset *set)
{
	if (set->attribution.method->split == PS__SPLIT_NOT)
		set->attribution.method =
		    set->attribution.cannot_split ? &ps__method_mixed : &ps__method_bound;
}

static int fail_to_watch(const struct ps_eventset *set, int error)
{
	bool is_records = set->attribution.method->split == PS__SPLIT_RECORDS;
	const char *what = is_records ? "migrations" : "context switches";

	switch (error) {
	case EACCES:
		if (is_records)
			return ps__fail(
			    PS_EPERM,
			    "migration records need perf_event_paranoid <= 1 or CAP_PERFMON");
		break;
	case EMFILE:
	case ENFILE:
		return ps__fail(PS_ECOUNT, "no file descriptor is left to watch the task's %s: %s",
		                what, error == EMFILE ? PS__ADVICE_DESCRIPTORS : PS__ADVICE_FILES);
	case EPERM:
		return ps__fail(PS_ESYS,
		                "the task's %s can't be watched (%s): if too much memory is "
		                "locked, " PS__ADVICE_LOCKED_MEMORY,
		                what, strerror(error));
	}
	return ps__fail(PS_ESYS, "the task's %s can't be watched: %s", what, strerror(error));
}

int ps__set_open_switch_ring(struct ps_eventset *set)
{
	/* A ring is also wanted for an attached task that PAPI counts: reading a switch ring costs
	 * less than reading the task's file in /proc. */
	bool is_split = is_task_split(set->attribution.method);
	bool is_wanted =
	    set->attribution.method->open_switch_ring &&
	    (is_split || set->attribution.only_cpu >= 0 || set->attribution.cannot_split);

	set->attribution.followed_cpu = -1;
	if ((set->counters.target.kind != PS__TARGET_SELF &&
	     set->counters.target.kind != PS__TARGET_TID) ||
	    (set->attribution.mode == PS_ATTRIBUTE_LAST_CPU && !is_split) || !is_wanted)
		return PS_OK;
	int error = -set->attribution.method->open_switch_ring(set, ps__set_sole_tid(set));
	if (error == 0) {
		settle_for_switch_ring(set);
		return PS_OK;
	}
	return fail_to_watch(set, error);
}

void ps__set_forget_method(struct ps_eventset *set)
{
	ps__set_release(set);
	ps__set_settle_for_plain(set, "");
}

void ps__set_skip_visits(struct ps_eventset *set)
{
	if (set->attribution.method != &ps__method_bound && set->attribution.switches.fd >= 0)
		ps__switch_ring_skip(&set->attribution.switches);
}
