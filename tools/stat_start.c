/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and starts the sets of a run: one for a command or process with everything it creates.
 * stat_start_cpus.c has the other targets. */
#include "base/os.h"
#include "eventset/parts.h"
#include "locate/locate.h"
#include "tools/processes.h"
#include "tools/stat_count.h"
#include "tools/terminal.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Number of readings that are kept: old intervals are never read again. */
#define KEPT_READINGS 64

#define LONGEST_WAIT_MS 200

int stat_start_make_room(struct stat_count *count, size_t sets)
{
	count->sets = ps__os_calloc(sets ? sets : 1, sizeof(struct ps_eventset *));
	if (count->sets)
		return 0;
	return tool_complain("out of memory");
}

static int start_attach(struct ps_eventset *set, const struct stat_place *place)
{
	if (place->cgroup)
		return ps_eventset_attach_cgroup(set, place->cgroup);
	if (!place->pid)
		return ps_eventset_attach_cpu(set, place->cpu);
	ps_eventset_set_enable_on_exec(set, place->is_on_exec);
	return ps_eventset_attach_process(set, place->pid);
}

int stat_start_clone(struct stat_count *count, struct stat_place place)
{
	struct ps_eventset *set;
	int code = ps_eventset_clone(&set, count->model);

	if (code != PS_OK)
		return code;
	if (count->set_count == 0 && count->tells_tasks && !place.is_on_exec)
		count->began_ns = ps__os_now_ns();
	count->sets[count->set_count++] = set;
	code = start_attach(set, &place);
	if (code != PS_OK)
		return code;
	if (count->has_intervals)
		ps_eventset_set_history(set, KEPT_READINGS);
	if (count->tells_tasks)
		ps_eventset_set_tasks(set, 1);
	code = ps_start(set);
	if (code != PS_PARTIAL)
		return code;
	tool_complain_detail();
	return PS_OK;
}

/* Destroys the newest sets until `left` sets remain. */
static void start_drop_sets(struct stat_count *count, size_t left)
{
	while (count->set_count > left)
		ps_eventset_destroy(count->sets[--count->set_count]);
}

int stat_start_together(struct stat_count *count)
{
	return count->tells_tasks ? 0 : stat_count_restart(count);
}

/* Starts a set for the waiting child. The set counts from the exec on; with BPF, from now on. */
static int start_waiting(struct stat_count *count, pid_t pid)
{
	struct stat_place place = {.pid = pid, .is_on_exec = count->how.method != STAT_METHOD_BPF};

	count->uncounted.is_of_processes = true;
	count->uncounted.is_of_command = true;
	return stat_start_clone(count, place) == PS_OK ? 0 : tool_complain_detail();
}

/* Returns a process's CPU time; NaN if it is unknown. */
static double start_cpu_s(pid_t pid)
{
	clockid_t clock;
	struct timespec time;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) < 0)
		return (double)NAN;
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits until the child sleeps, which shows that it waits for its exec. If its CPU was busy, the
 * child may not have got there yet. */
static void start_await_sleep(pid_t pid)
{
	char state = ps__task_state(pid);

	for (int wait_ms = 0; wait_ms < LONGEST_WAIT_MS && state && state != 'S'; wait_ms++) {
		ps__os.poll(NULL, 0, 1);
		state = ps__task_state(pid);
	}
}

/* Moves the child into a new control group and starts a set for the group. The child doesn't run
 * before its exec. On failure returns -1 with the reason in how->why, and removes the group. */
static int start_in_group(struct stat_count *count, pid_t pid, const struct stat_target *target)
{
	struct stat_how *how = &count->how;

	start_await_sleep(pid);
	how->before_s = start_cpu_s(pid);
	if (tool_cgroup_create(&count->cgroup, pid, how->why, sizeof how->why) < 0)
		return -1;
	double group_s = tool_cgroup_cpu_s(&count->cgroup);
	bool is_blind = stat_method_is_blind(target->method, count->model, group_s);
	if (!is_blind &&
	    stat_start_clone(count, (struct stat_place){.cgroup = count->cgroup.folder}) == PS_OK) {
		/* From the start, for the intervals before the end. */
		if (isnan(group_s))
			ps__set_note_missing(count->sets[0]);
		return 0;
	}
	snprintf(how->why, sizeof how->why, "%s",
	         is_blind ? "the kernel doesn't tell the CPU time of a group here (cgroup version "
	                    "1), so each count would be a lower bound"
	                  : ps_error_detail());
	start_drop_sets(count, 0);
	tool_cgroup_destroy(&count->cgroup);
	return -1;
}

/* Does the same while the signals of `held` wait: a signal that ended perfsage would leave the
 * group behind. If there is a group in the end, the signals go on waiting. */
static int start_group(struct stat_count *count, pid_t pid, const struct stat_target *target,
                       const sigset_t *held)
{
	sigset_t before;

	sigprocmask(SIG_BLOCK, held, &before);
	int result = start_in_group(count, pid, target);
	if (result < 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}

/* Chooses the method. A control group isn't chosen for tasks that must be told apart, or for
 * running processes, which aren't moved. */
static enum stat_method start_choose(const struct stat_count *count,
                                     const struct stat_target *target)
{
	if (target->method != STAT_METHOD_AUTO)
		return target->method;
	return count->tells_tasks || target->pid_count
	           ? STAT_METHOD_PER_CPU
	           : stat_method_choose(ps_eventset_event_count(count->model),
	                                stat_method_find_probe(count->model));
}

static void start_note_method(struct stat_count *count, enum stat_method method)
{
	count->how.method = method;
	count->how.copies = stat_method_copies(method, ps_eventset_event_count(count->model));
	if (method == STAT_METHOD_CGROUP || method == STAT_METHOD_BPF)
		stat_uncounted_note_online(count);
}

static int start_refuse_method(enum stat_method method, const struct ps_eventset *set)
{
	const char *why;

	ps_eventset_attribution(set, &why);
	return tool_complain("--method %s: %s", stat_method_name(method), why);
}

/* Returns the copies of a set that uses no estimate. */
static size_t start_plain_copies(const struct ps_eventset *set)
{
	const char *why;
	bool is_exact = ps_eventset_attribution(set, &why) == PS_ATTRIBUTION_EXACT;

	return stat_method_copies(is_exact ? STAT_METHOD_PER_CPU : STAT_METHOD_WHOLE,
	                          ps_eventset_event_count(set));
}

/* Notes the estimates that the started sets use. For each process the library decides whether
 * per-CPU events would cost too much; then it divides counts by time. Fails if the user demanded an
 * estimate and a set uses none. */
static int start_note_estimate(struct stat_count *count, const struct stat_target *target)
{
	struct stat_how *how = &count->how;
	size_t most = 0;

	for (size_t index = 0; index < count->set_count; index++) {
		const struct ps_eventset *set = count->sets[index];
		size_t copies = ps__set_time_share_copies(set);
		if (copies == 0 && stat_method_is_estimate(target->method))
			return start_refuse_method(target->method, set);
		if (copies) {
			how->by_looks += ps__set_has_looks(set);
			how->by_clocks += !ps__set_has_looks(set);
			how->has_clocks |= copies > ps_eventset_event_count(count->model);
		} else {
			copies = start_plain_copies(set);
		}
		most = copies > most ? copies : most;
	}
	if (how->by_looks + how->by_clocks == 0)
		return 0;
	start_note_method(count, how->by_looks ? STAT_METHOD_LOOKS : STAT_METHOD_TIME_SHARE);
	how->is_asked = target->method != STAT_METHOD_AUTO;
	how->processes = count->set_count;
	how->copies = most;
	how->exact_copies =
	    stat_method_copies(STAT_METHOD_PER_CPU, ps_eventset_event_count(count->model));
	return 0;
}

int stat_start_command(struct stat_count *count, pid_t pid, const struct stat_target *target,
                       const sigset_t *held)
{
	enum stat_method method = start_choose(count, target);

	if (stat_start_make_room(count, 1) < 0)
		return -1;
	if (method == STAT_METHOD_CGROUP && start_group(count, pid, target, held) < 0) {
		if (stat_method_refuse_others(target->method, count->model, count->how.why))
			return -1;
		method = STAT_METHOD_PER_CPU;
	}
	start_note_method(count, method);
	if (method == STAT_METHOD_CGROUP)
		return 0;
	return start_waiting(count, pid) < 0 ? -1 : start_note_estimate(count, target);
}

/* Suggests another method, after a complaint. */
static void start_suggest(const struct stat_count *count, pid_t pid)
{
	struct ps__buffer line = {0};

	stat_method_suggest(count->how.method, ps_eventset_event_count(count->model), pid, &line);
	if (*ps__buffer_text(&line))
		tool_complain("%s", ps__buffer_text(&line));
	ps__buffer_clear(&line);
}

/* Counts a process. If it has ended since perfsage found it, there is nothing to count, and the
 * footer tells this. */
static int start_process(struct stat_count *count, pid_t pid)
{
	size_t before = count->set_count;
	int code = stat_start_clone(count, (struct stat_place){.pid = pid});

	if (code == PS_OK)
		return 0;
	if (tool_process_runs(pid)) {
		tool_complain_detail();
		if (code == PS_ECOUNT)
			start_suggest(count, pid);
		return -1;
	}
	start_drop_sets(count, before);
	return 0;
}

static int start_given(struct stat_count *count, const struct stat_target *target)
{
	for (size_t index = 0; index < target->pid_count; index++) {
		if (start_process(count, target->pids[index]) < 0)
			return -1;
	}
	if (count->set_count == 0)
		return tool_complain("nothing was counted: the processes of -p have ended");
	return 0;
}

/* Counts a descendant, which the user didn't name. If it has ended, there is nothing to count. If
 * it can't be counted, the other processes still are. is_first: complain in this case. */
static void start_child(struct stat_count *count, pid_t pid, bool is_first)
{
	size_t before = count->set_count;

	if (stat_start_clone(count, (struct stat_place){.pid = pid}) == PS_OK)
		return;
	if (tool_process_runs(pid)) {
		if (is_first)
			tool_complain("not counted: child process %d: %s", (int)pid,
			              ps_error_detail());
		count->uncounted.children++;
	}
	start_drop_sets(count, before);
}

/* Starts the processes that the user named, and their descendants. */
static int start_listed(struct stat_count *count, const struct stat_target *target,
                        const struct tool_processes *all, bool is_first)
{
	ps__os_free(count->sets);
	count->uncounted.children = 0;
	if (stat_start_make_room(count, target->pid_count + all->count) < 0)
		return -1;
	if (start_given(count, target) < 0)
		return -1;
	for (size_t index = 0; index < all->count; index++) {
		if (all->list[index].is_below)
			start_child(count, all->list[index].pid, is_first);
	}
	return 0;
}

/* Returns the number of descendants that are in `now` but not in `before`. */
static size_t start_count_new(const struct tool_processes *before, const struct tool_processes *now)
{
	size_t created = 0;

	for (size_t index = 0; index < now->count; index++)
		created +=
		    now->list[index].is_below && !tool_processes_has(before, now->list[index].pid);
	return created;
}

#define MOST_STARTS 8

/*
 * Starts the sets again until no new child appears, as the library does with threads. A child that
 * was created after the list was made may have its parent's counters, or none.
 */
static int start_trees(struct stat_count *count, const struct stat_target *target)
{
	struct tool_processes before, now;
	size_t created = 1;

	for (int tries = 0; created && tries < MOST_STARTS; tries++) {
		start_drop_sets(count, 0);
		tool_processes_create(&before, target->pids, target->pid_count);
		int result = start_listed(count, target, &before, tries == 0);
		tool_processes_create(&now, target->pids, target->pid_count);
		created = start_count_new(&before, &now);
		tool_processes_clear(&before);
		tool_processes_clear(&now);
		if (result < 0)
			return -1;
	}
	stat_uncounted_note_began(count, created);
	return 0;
}

/* Starts the processes that the user named, without the descendants that they have. */
static int start_alone(struct stat_count *count, const struct stat_target *target)
{
	struct tool_processes before;
	int result = stat_start_make_room(count, target->pid_count);

	if (result < 0)
		return -1;
	tool_processes_create(&before, target->pids, target->pid_count);
	result = start_given(count, target);
	if (result == 0)
		stat_uncounted_find_children(count, target, &before);
	tool_processes_clear(&before);
	return result;
}

int stat_start_processes(struct stat_count *count, const struct stat_target *target)
{
	int error = tool_processes_reserve();

	if (error < 0)
		return tool_complain("no file descriptor is left to look at processes (%s): raise "
		                     "the limit with ulimit -n",
		                     strerror(-error));
	count->uncounted.is_of_processes = true;
	start_note_method(count, start_choose(count, target));
	if ((target->has_children ? start_trees : start_alone)(count, target) < 0)
		return -1;
	stat_uncounted_note_blind(count);
	return start_note_estimate(count, target) < 0 ? -1 : stat_start_together(count);
}
