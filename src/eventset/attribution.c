/* SPDX-License-Identifier: BSD-3-Clause */
/* Which attribution method a set uses, chosen when its events are opened, and what the choice
 * allows and costs. */
#include "eventset/attribution.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"
#include "eventset/eventset.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PRESENT "/sys/devices/system/cpu/present"
#define ONLINE  "/sys/devices/system/cpu/online"

/* AUTO leaves this part of the process's descriptors to the program. */
#define SHARE_OF_PROGRAM 2

/* With fewer CPUs, instances are opened in less time than migration records. */
#define CPUS_FOR_RECORDS 4

/* Descriptors that split counts have taken in this process. Written when sets are opened and
 * closed, never in a reading. */
static _Atomic size_t descriptors_taken;

static size_t count_supported(const struct ps_eventset *set)
{
	size_t count = 0;

	for (size_t index = 0; index < set->events.count; index++)
		count += !set->events.list[index].unsupported;
	return count;
}

/* Records: a recorder and the switch ring; tasks: two writers in an instance, and an anchor. That
 * is of one group; more are rare. */
static size_t descriptors_needed(const struct ps_eventset *set)
{
	size_t roots =
	    set->counters.target.kind == PS__TARGET_PROCESS ? set->counters.target.root_count : 1;
	size_t writers = set->counters.wants_tasks ? 2 : 0,
	       anchors = set->counters.wants_tasks ? roots : 0;

	size_t clocks = set->counters.backend && set->counters.backend->residency_ns;

	if (set->counters.target.has_records)
		return count_supported(set) + 2;
	return (count_supported(set) + writers + clocks) * set->counters.target.instance_count *
	           roots +
	       anchors;
}

void ps__set_settle_for_plain(struct ps_eventset *set, const char *why)
{
	set->attribution.method = &ps__method_last_cpu;
	set->counters.target.instance_count = 0;
	set->counters.target.instance_cpus = NULL;
	set->counters.target.has_records = false;
	ps__os_free(set->attribution.per_cpu.cpus);
	set->attribution.per_cpu.cpus = NULL;
	snprintf(set->attribution.why, sizeof set->attribution.why, "%s", why);
}

static int append_cpu(int cpu, void *context)
{
	struct ps_eventset *set = context;

	set->attribution.per_cpu.cpus[set->counters.target.instance_count++] = cpu;
	return 0;
}

/* For a task offline CPUs, too: its event may wait for a CPU that comes later; a control group's
 * can't. */
int ps__set_list_cpus(struct ps_eventset *set)
{
	const char *path = set->counters.target.kind == PS__TARGET_CGROUP ? ONLINE : PRESENT;
	char text[4096];

	if (ps__os_read_file(path, text, sizeof text) <= 0 || ps__list_count(text) == 0)
		return ps__fail(
		    PS_ESYS,
		    "exact attribution needs the machine's CPUs, and they can't be read from %s",
		    path);
	set->attribution.per_cpu.cpus =
	    ps__os_calloc(ps__list_count(text), sizeof *set->attribution.per_cpu.cpus);
	if (!set->attribution.per_cpu.cpus)
		return ps__fail_memory("an event set");
	set->counters.target.instance_count = 0;
	ps__list_for_each(text, append_cpu, set);
	set->counters.target.instance_cpus = set->attribution.per_cpu.cpus;
	return PS_OK;
}

static bool is_within_budget(size_t needed)
{
	struct rlimit limit = {.rlim_cur = RLIM_INFINITY};

	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	size_t taken = atomic_load_explicit(&descriptors_taken, memory_order_relaxed);
	return needed + taken <= limit.rlim_cur / SHARE_OF_PROGRAM;
}

static int fail_budget(struct ps_eventset *set)
{
	size_t needed = descriptors_needed(set);
	struct rlimit limit = {0};

	if (set->attribution.short_of == 0 || needed < set->attribution.short_of)
		set->attribution.short_of = needed;
	ps__os.getrlimit(RLIMIT_NOFILE, &limit);
	return ps__fail(
	    PS_ECOUNT,
	    "exact attribution takes %zu file descriptors here, and event sets may take half of "
	    "the process's %llu: raise it with ulimit -n, or ask for PS_ATTRIBUTE_EXACT",
	    needed, (unsigned long long)limit.rlim_cur);
}

static pid_t followed_tid(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_TID ? set->counters.target.tid : 0;
}

/* Only a single task can be pinned. */
static int only_cpu(const struct ps_eventset *set)
{
	if (set->counters.target.kind != PS__TARGET_SELF &&
	    set->counters.target.kind != PS__TARGET_TID)
		return -1;
	if (set->counters.papi && set->counters.papi->is_shared)
		return -1;
	return ps__locate_only_cpu(followed_tid(set));
}

static size_t count_present_cpus(void)
{
	char text[4096];

	return ps__os_read_file(PRESENT, text, sizeof text) > 0 ? ps__list_count(text) : 0;
}

size_t ps__set_rank_methods(struct ps_eventset *set,
                            const struct ps__method *ranks[PS__METHOD_RANKS])
{
	bool is_auto = set->attribution.mode == PS_ATTRIBUTE_AUTO;

	ps__set_settle_for_plain(set, "");
	set->attribution.short_of = 0;
	set->attribution.only_cpu = only_cpu(set);
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
	if (set->counters.target.kind == PS__TARGET_PROCESS || set->counters.enables_on_exec ||
	    count_present_cpus() < CPUS_FOR_RECORDS)
		return 1;
	/* Instances lose nothing, and records are cheaper. */
	ranks[is_auto ? 0 : 1] = &ps__method_records;
	ranks[is_auto ? 1 : 0] = &ps__method_per_cpu;
	return 2;
}

static bool is_task_split(const struct ps__method *method)
{
	return method->split == PS__SPLIT_COUNTERS || method->split == PS__SPLIT_RECORDS;
}

int ps__set_choose_method(struct ps_eventset *set, const struct ps__method *method)
{
	int result = PS_OK;

	ps__set_settle_for_plain(set, "");
	set->counters.target.has_records = method->split == PS__SPLIT_RECORDS;
	result = method->prepare(set);
	if (result == PS_OK && set->attribution.mode == PS_ATTRIBUTE_AUTO &&
	    is_task_split(method) && !is_within_budget(descriptors_needed(set)))
		result = fail_budget(set);
	if (result != PS_OK)
		return result;
	set->attribution.method = method;
	set->attribution.descriptors = descriptors_needed(set);
	atomic_fetch_add_explicit(&descriptors_taken, set->attribution.descriptors,
	                          memory_order_relaxed);
	return PS_OK;
}

/* What tells how long the task is on each CPU is opened only when it is known that groups take
 * turns. */
int ps__set_charge_residency(struct ps_eventset *set)
{
	size_t needed = descriptors_needed(set) - set->attribution.descriptors;

	if (needed == 0)
		return PS_OK;
	if (set->attribution.mode == PS_ATTRIBUTE_AUTO && !is_within_budget(needed))
		return fail_budget(set);
	set->attribution.descriptors += needed;
	atomic_fetch_add_explicit(&descriptors_taken, needed, memory_order_relaxed);
	return PS_OK;
}

/* Its events are on the CPUs that were online then. */
bool ps__set_has_other_cpus(const struct ps_eventset *set)
{
	char text[4096];

	if (ps__os_read_file(ONLINE, text, sizeof text) <= 0)
		return false;
	for (size_t instance = 0; instance < set->counters.target.instance_count; instance++) {
		if (!ps__list_contains(text, set->attribution.per_cpu.cpus[instance]))
			return true;
	}
	return ps__list_count(text) != set->counters.target.instance_count;
}

/* What is open fits a task that was pinned, or wasn't. */
bool ps__set_mask_changed(const struct ps_eventset *set)
{
	if (set->counters.target.kind == PS__TARGET_CPU)
		return false;
	return set->attribution.only_cpu != only_cpu(set) ||
	       (set->attribution.short_of > 0 && is_within_budget(set->attribution.short_of));
}

/* Without a switch ring, the task's place is looked up at each reading. */
static void settle_for_switch_ring(struct ps_eventset *set)
{
	if (set->attribution.method->split == PS__SPLIT_NOT)
		set->attribution.method =
		    set->attribution.cannot_split ? &ps__method_mixed : &ps__method_bound;
}

int ps__set_open_switch_ring(struct ps_eventset *set)
{
	/* An attached task of PAPI's, too, is found by its switch ring for less than by its file in
	 * /proc. */
	bool is_split = is_task_split(set->attribution.method);
	bool is_wanted =
	    set->attribution.method->open_switch_ring &&
	    (is_split || set->attribution.only_cpu >= 0 || set->attribution.cannot_split);

	set->attribution.followed_cpu = -1;
	if ((set->counters.target.kind != PS__TARGET_SELF &&
	     set->counters.target.kind != PS__TARGET_TID) ||
	    (set->attribution.mode == PS_ATTRIBUTE_LAST_CPU && !is_split) || !is_wanted)
		return PS_OK;
	int error = -set->attribution.method->open_switch_ring(set, followed_tid(set));
	if (error == 0) {
		settle_for_switch_ring(set);
		return PS_OK;
	}
	if (set->attribution.method->split == PS__SPLIT_RECORDS && error == EACCES)
		return ps__fail(PS_EPERM,
		                "migration records need perf_event_paranoid <= 1 or CAP_PERFMON");
	return ps__fail(
	    PS_ESYS, "the task's %s can't be watched (%s): see kernel.perf_event_mlock_kb",
	    set->attribution.method->split == PS__SPLIT_RECORDS ? "migrations" : "context switches",
	    strerror(error));
}

void ps__set_forget_method(struct ps_eventset *set)
{
	/* What is needed may be another number by now, as events and options have changed. */
	atomic_fetch_sub_explicit(&descriptors_taken, set->attribution.descriptors,
	                          memory_order_relaxed);
	set->attribution.descriptors = 0;
	ps__set_settle_for_plain(set, "");
}

int ps_eventset_set_attribution(struct ps_eventset *set, enum ps_attribution_mode mode)
{
	int result = ps__set_enter_stopped(set, "ps_eventset_set_attribution");

	if (result != PS_OK)
		return result;
	if (mode != PS_ATTRIBUTE_AUTO && mode != PS_ATTRIBUTE_EXACT &&
	    mode != PS_ATTRIBUTE_LAST_CPU) {
		result = ps__fail(PS_EINVAL, "ps_eventset_set_attribution: there is no mode %d",
		                  (int)mode);
	} else if (set->counters.papi && mode == PS_ATTRIBUTE_EXACT) {
		result = ps__fail(PS_ENOSUPP,
		                  "ps_eventset_set_attribution: PAPI doesn't split the counts of "
		                  "its event set %d by hardware thread: pin its thread, or count "
		                  "with ps_eventset_create and ps_eventset_add",
		                  set->counters.papi->id);
	} else if (mode != set->attribution.mode) {
		ps__set_close(set);
		set->attribution.mode = mode;
	}
	ps__set_leave(set);
	return result;
}

/* A reading can't open anything: it allocates nothing, and may be a signal handler's. */
static const char why_left[] =
    "the task could run on one CPU only when the set was started, and has left it since: what it "
    "counted while it moved is shared out by time. The next ps_start opens counters for each CPU";

enum ps_attribution ps_eventset_attribution(const struct ps_eventset *set, const char **why)
{
	if (why)
		*why = !set ? "" : set->attribution.has_left ? why_left : set->attribution.why;
	if (!set || !set->counters.backend)
		return PS_ATTRIBUTION_LAST_CPU;
	if (set->counters.target.kind == PS__TARGET_CPU)
		return PS_ATTRIBUTION_ATTACHED;
	if (set->attribution.method->split != PS__SPLIT_NOT)
		return PS_ATTRIBUTION_EXACT;
	if (set->attribution.switches.fd < 0)
		return PS_ATTRIBUTION_LAST_CPU;
	return set->attribution.only_cpu >= 0 && !set->attribution.has_left ? PS_ATTRIBUTION_PINNED
	                                                                    : PS_ATTRIBUTION_MIXED;
}
