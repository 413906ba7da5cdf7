/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a set's events, with the best attribution method that is possible; and closes them. */
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "base/stack.h"
#include "eventset/attribution.h"
#include "eventset/eventset.h"
#include "eventset/take.h"
#include "eventset/tasks.h"

#include <stdio.h>
#include <string.h>

/* The largest number of times that the threads of a process are opened, if their list changes
 * meanwhile or a leader is lost. */
#define LARGEST_ATTEMPTS 8

static int open_backend(struct ps_eventset *set)
{
	set->counters.ended_root = 0;
	int result = set->counters.papi ? PS_OK : ps__set_check_limit(set);

	if (result != PS_OK)
		return result;
	struct ps__backend *backend = set->counters.papi ? ps__papi_create(set->counters.papi)
	                              : ps__set_demands_bpf(set) ? ps__bpf_create()
	                                                         : ps__perf_create();

	set->counters.target.enables_on_exec = set->counters.enables_on_exec;
	set->counters.target.tells_tasks =
	    set->counters.wants_tasks && set->attribution.method->split == PS__SPLIT_COUNTERS;
	if (!backend)
		return ps__fail_memory("an event set's counters");
	result =
	    backend->ops->open(backend, set->events.list, set->events.count, set->counters.target);
	set->counters.ended_root = backend->ended_tid;
	if (result != PS_OK) {
		backend->ops->close(backend, false);
		return result;
	}
	set->counters.backend = backend;
	/* A PAPI set belongs to its thread from the beginning. */
	if (!set->counters.papi) {
		set->calls.owner = ps__thread_number();
		set->calls.owner_tid = ps__os.gettid();
	}
	set->attribution.last_cpu = -1;
	result = ps__set_open_tasks(set);
	if (result == PS_OK)
		return PS_OK;
	ps__set_close_tasks(set);
	backend->ops->close(backend, false);
	set->counters.backend = NULL;
	return result;
}

static void close_counters(struct ps_eventset *set)
{
	bool abandon = !ps__fork_is_same(set->calls.fork_generation);

	ps__set_close_tasks(set);
	if (set->counters.backend)
		set->counters.backend->ops->close(set->counters.backend, abandon);
	set->counters.backend = NULL;
	set->reading_ns = 0;
	ps__switch_ring_close(&set->attribution.switches, abandon);
	ps__set_forget_method(set);
	ps__set_forget_roots(set);
}

size_t ps__set_count_hardware_groups(const struct ps_eventset *set)
{
	size_t count = 0;

	for (size_t group = 0; group < set->counters.backend->groups; group++)
		count += set->counters.backend->is_hardware[group];
	return count;
}

/* Refuses migration records for groups that take turns: a group that is off the hardware records no
 * migration. */
static int check_groups(const struct ps_eventset *set)
{
	return set->attribution.method->split != PS__SPLIT_RECORDS ||
	               ps__set_count_hardware_groups(set) < 2
	           ? PS_OK
	           : ps__fail(PS_ENOSUPP, "migration records don't split groups that take turns");
}

static void close_method(struct ps_eventset *set)
{
	if (set->counters.backend)
		set->counters.backend->ops->close(set->counters.backend, false);
	set->counters.backend = NULL;
	ps__switch_ring_close(&set->attribution.switches, false);
	ps__set_forget_method(set);
}

/* Opens the events with one method. In EXACT mode per-CPU counters needn't have a switch ring: then
 * all instances are read. */
static int try_method(struct ps_eventset *set, const struct ps__method *method)
{
	set->counters.ended_root = 0;
	int result = ps__set_choose_method(set, method);

	if (result == PS_OK) {
		result = ps__set_open_switch_ring(set);
		if (method->split == PS__SPLIT_COUNTERS &&
		    set->attribution.mode == PS_ATTRIBUTE_EXACT)
			result = PS_OK;
	}
	if (result == PS_OK)
		result = open_backend(set);
	if (result == PS_OK)
		result = check_groups(set);
	if (result == PS_OK)
		result = ps__set_charge(set, true);
	if (result != PS_OK)
		close_method(set);
	else if (method->why)
		snprintf(set->attribution.why, sizeof set->attribution.why, "%s", method->why);
	return result;
}

/* True if opening may succeed now. A thread that ended between the listing and its opening is
 * dropped. If a group's leader has ended with another thread (PS__LOST_LEADER), the same threads
 * are opened again. */
static bool can_open_again(struct ps_eventset *set, int *losses)
{
	if (set->counters.ended_root == PS__LOST_LEADER)
		return ++*losses < LARGEST_ATTEMPTS;
	return ps__set_drop_ended_root(set);
}

static int open_method(struct ps_eventset *set, const struct ps__method *method)
{
	int losses = 0, result = try_method(set, method);

	while (result != PS_OK && can_open_again(set, &losses))
		result = try_method(set, method);
	return result;
}

/* The reason why a method was refused. A reason against per-CPU counters replaces others, because
 * most users can have per-CPU counters more easily than any other method. */
struct refusal {
	int code;
	bool needs_permission; /* migration records need a permission */
	char why[512];
};

static void note_refusal(struct refusal *refusal, const struct ps__method *method, int code)
{
	if (method->split == PS__SPLIT_RECORDS)
		refusal->needs_permission = code == PS_EPERM;
	if (method != &ps__method_per_cpu && refusal->code != PS_OK)
		return;
	refusal->code = code;
	snprintf(refusal->why, sizeof refusal->why, "%s", ps_error_detail());
}

/* Explains why the set has time shares or looks, if better methods were refused. */
static void note_second_best(struct ps_eventset *set, const struct refusal *refusal)
{
	const char *how = set->attribution.method == &ps__method_looks
	                      ? "looks at the CPUs of the tasks"
	                      : "the time on each CPU";

	if (set->attribution.method->split == PS__SPLIT_TIMES && refusal->code != PS_OK)
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "%.440s; the counts are shared out by %s", refusal->why, how);
}

/* Opens the events without splitting their counts. */
static int open_plain(struct ps_eventset *set)
{
	if (ps__set_open_switch_ring(set) != PS_OK)
		snprintf(set->attribution.why, sizeof set->attribution.why, "%s",
		         ps_error_detail());
	int losses = 0, result = open_backend(set);
	while (result != PS_OK && can_open_again(set, &losses))
		result = open_backend(set);
	return result;
}

static int open_settle(struct ps_eventset *set, const struct refusal *refusal)
{
	bool tells_records = refusal->needs_permission && refusal->code == PS_ECOUNT;

	if (set->attribution.mode == PS_ATTRIBUTE_EXACT ||
	    set->counters.target.kind == PS__TARGET_CGROUP || ps__set_demands_bpf(set) ||
	    (set->counters.wants_tasks && refusal->code != PS_ECOUNT))
		return ps__fail(refusal->code, "%s", refusal->why);
	ps__set_settle_for_plain(set, refusal->why);
	if (tells_records)
		snprintf(set->attribution.why, sizeof set->attribution.why,
		         "%.440s; migration records take few, but need perf_event_paranoid <= 1",
		         refusal->why);
	return open_plain(set);
}

static int open_once(struct ps_eventset *set)
{
	const struct ps__method *ranks[PS__METHOD_RANKS];
	struct refusal refusal = {.code = PS_OK};
	int result = ps__set_list_roots(set);

	if (result != PS_OK)
		return result;
	if (set->attribution.cannot_split && set->attribution.mode == PS_ATTRIBUTE_EXACT)
		return ps__fail(PS_ENOSUPP,
		                "exact attribution: what counts here can't be split by hardware "
		                "thread; PS_ATTRIBUTE_AUTO shares it out by the time on each");
	size_t count = ps__set_rank_methods(set, ranks);
	for (size_t rank = 0; rank < count; rank++) {
		result = open_method(set, ranks[rank]);
		if (result == PS_OK)
			note_second_best(set, &refusal);
		if (result == PS_OK || result == PS_ENOMEM)
			return result;
		note_refusal(&refusal, ranks[rank], result);
		/* EXACT uses records, which can be lost, only if there are too few descriptors for
		 * instances. */
		if (set->attribution.mode == PS_ATTRIBUTE_EXACT && result != PS_ECOUNT)
			break;
	}
	return count ? open_settle(set, &refusal) : open_plain(set);
}

/* True if all groups can be read. A child process created while a group was opened has only some of
 * its events, and the kernel refuses to read the group (ECHILD) while that child lives. */
static bool can_be_read(const struct ps_eventset *set)
{
	struct ps__backend *backend = set->counters.backend;

	if (!backend || set->counters.target.kind != PS__TARGET_PROCESS || ps__set_demands_bpf(set))
		return true;
	uint64_t *totals =
	    ps__os_calloc(2 * (1 + backend->groups) + set->events.count, sizeof *totals);
	bool readable = true;
	for (size_t instance = 0; totals && readable && instance < backend->instances; instance++) {
		int result = backend->ops->read(backend, instance, totals + 1);
		readable = result == PS_OK || result == PS_PARTIAL;
	}
	ps__os_free(totals);
	return readable;
}

/* Notes if the process's threads aren't known. That doesn't matter if the process is counted from
 * its exec on, because the exec leaves one thread. */
static void note_unknown_threads(struct ps_eventset *set)
{
	if (!set->counters.backend || set->counters.target.kind != PS__TARGET_PROCESS ||
	    ps__set_demands_bpf(set) || set->counters.task.fd >= 0 || set->counters.enables_on_exec)
		return;
	set->attribution.is_blind = true;
	snprintf(set->attribution.why, sizeof set->attribution.why,
	         "no /proc of this PID namespace is mounted: of the threads that process %d had "
	         "when it was attached, the first one alone is known and counted, with those that "
	         "it creates",
	         (int)set->counters.target.tid);
}

/* Opens the counters. Opens them again if the process created threads or children meanwhile. The
 * last attempt makes no groups, because single events can always be read. */
static int open_counters(struct ps_eventset *set)
{
	int result = PS_OK;

	set->attribution.misses_threads = false;
	set->attribution.is_blind = false;
	for (int attempt = 1; attempt <= LARGEST_ATTEMPTS; attempt++) {
		close_counters(set);
		set->counters.target.is_ungrouped = attempt == LARGEST_ATTEMPTS;
		result = open_once(set);
		note_unknown_threads(set);
		bool has_new = false;
		int error = ps__set_find_new_roots(set, &has_new);
		if (result == PS_OK && error != 0)
			return ps__set_fail_list(set, error);
		if (!has_new && can_be_read(set))
			return result;
	}
	if (result != PS_OK)
		return result;
	set->attribution.misses_threads = true;
	snprintf(set->attribution.why, sizeof set->attribution.why,
	         "threads were created all the time while process %d was attached: some "
	         "may be counted twice or not",
	         (int)set->counters.target.tid);
	return result;
}

void ps__set_give_up(struct ps_eventset *set)
{
	close_counters(set);
	set->state = PS__SET_NEW;
	set->is_paused = false;
	set->is_ended = false;
	set->attribution.has_left = false;
	set->is_settled = false;
}

bool ps__set_goes_on(const struct ps_eventset *set)
{
	return set->recorder.recording == set->recorder.last_bound;
}

void ps__set_close(struct ps_eventset *set)
{
	ps__set_give_up(set);
	ps__set_drop_storage(set);
}

/* True if the open counters can be used. If one thread opened them, to store or to reserve, and
 * another thread starts the set, they must be opened again for that one. */
static bool is_open_for_caller(const struct ps_eventset *set)
{
	return set->counters.backend &&
	       (set->counters.target.kind != PS__TARGET_SELF || set->state != PS__SET_NEW ||
	        set->calls.owner == ps__thread_number());
}

static int check_cgroup(const struct ps_eventset *set)
{
	const struct ps__target *target = &set->counters.target;

	if (target->kind != PS__TARGET_CGROUP || ps__cgroup_is_open(&target->cgroup))
		return PS_OK;
	return ps__fail(PS_ECLOST,
	                "the program has closed the descriptor of the set's control group, which "
	                "is perfsage's: attach the set again (ps_eventset_attach_cgroup), after a "
	                "loop that closes all descriptors");
}

/* Refuses probes with text in an attached process. When a task is created, the kernel copies the
 * inherited events, and reads a probe's text again, in the memory of the creator. The text isn't
 * there, and the program's fork fails with EFAULT. */
static int check_probes(const struct ps_eventset *set)
{
	if (set->counters.target.kind != PS__TARGET_PROCESS || ps__set_demands_bpf(set))
		return PS_OK;
	for (size_t index = 0; index < set->events.count; index++) {
		const struct ps__event *event = &set->events.list[index];
		if (ps__event_has_text(event))
			return ps__fail(
			    PS_ECOMBO,
			    "'%s': the copies of this probe would make each fork and "
			    "pthread_create of process %d fail (EFAULT): count it in a control "
			    "group, by BPF or on CPUs%s",
			    event->name, (int)set->counters.target.tid,
			    event->kernel_side ? ", or give addr= instead of func=" : "");
	}
	return PS_OK;
}

/* True if the recording's columns are those of the counters that were just opened. With fewer
 * rights than before, an event may be counted in user space only. */
static bool has_columns(const struct ps_eventset *set)
{
	const struct ps__recording *recording = set->recorder.recording;
	bool has = recording->groups == set->counters.backend->groups;

	for (size_t index = 0; has && index < set->events.count; index++) {
		bool is_user_only = recording->column[index].flags & PS_VALUE_USER_ONLY;
		has = set->events.list[index].user_only == is_user_only;
	}
	return has;
}

static int open_for_caller(struct ps_eventset *set)
{
	int result = check_cgroup(set);

	if (result == PS_OK)
		result = check_probes(set);
	if (result == PS_OK)
		result = open_counters(set);
	if (result != PS_OK) {
		close_counters(set);
		return result;
	}
	if (set->recorder.recording && !has_columns(set))
		ps__set_drop_storage(set);
	if (set->recorder.recording) {
		result = ps__set_renew_vectors(set);
	} else {
		result = ps__set_make_storage(set);
		if (result == PS_OK && set->recorder.reserved_rows)
			result = ps__set_reserve(set, set->recorder.reserved_rows);
	}
	if (result != PS_OK)
		ps__set_close(set);
	else
		ps__clock_open(&set->recorder.clock);
	return result;
}

/* Signals are held: this allocates, and must not be left by a jump out of a handler. */
int ps__set_open(struct ps_eventset *set)
{
	struct ps__held held;

	if (is_open_for_caller(set))
		return PS_OK;
	ps__signals_hold(&held);
	int result = open_for_caller(set);
	ps__signals_release(&held);
	return result;
}

/* True if each start needs new counters. An exec enables counters only once. The shares of tasks
 * are counted since the opening. Threads that were missed stay missing until the counters are
 * opened again. */
static bool opens_anew(const struct ps_eventset *set)
{
	return set->attribution.misses_threads || set->counters.enables_on_exec ||
	       set->counters.target.enables_on_exec || set->counters.wants_tasks ||
	       set->counters.target.tells_tasks;
}

static void close_changed(struct ps_eventset *set)
{
	struct ps__held held;

	ps__signals_hold(&held);
	close_counters(set);
	ps__signals_release(&held);
}

/* Opens the events again if the open counters don't fit any more, for example because the task's
 * CPU mask has changed; or if each start needs new counters. */
int ps__set_reopen_if_changed(struct ps_eventset *set)
{
	if (set->counters.backend &&
	    ((set->attribution.method->has_changed && set->attribution.method->has_changed(set)) ||
	     opens_anew(set)))
		close_changed(set);
	return ps__set_open(set);
}
