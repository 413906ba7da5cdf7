/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is counted: a model set of the events, and its clones: one for a command
 * or process with all that it creates, one for each CPU with -a.
 */
#include "tools/stat.h"

#include "tools/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The machine has no counter for it: the rest is worth counting all the same,
 * and it is shown as what it is. */
static bool count_is_lack_of_hardware(int code)
{
	return code == PS_ENOSUPP || code == PS_ENOCNTR;
}

/* Returns whether the event is in the model, or was before; complains if
 * not. */
static bool count_add_event(struct ps_eventset *model, const char *name, size_t *countable)
{
	int code = ps_eventset_add(model, name);

	*countable += code == PS_OK;
	if (code == PS_OK || code == PS_ECNFLCT)
		return true;
	tool_complain("%s", ps_error_detail());
	return count_is_lack_of_hardware(code) && ps_eventset_add_optional(model, name) == PS_OK;
}

/* Counts of packages and other devices know no task. */
static bool count_check_scopes(const struct ps_eventset *model, const struct stat_options *options)
{
	bool is_good = true;

	for (size_t index = 0; !options->is_whole_machine && index < ps_eventset_event_count(model);
	     index++) {
		enum ps_scope scope = ps_eventset_event_scope(model, index);
		if (scope == PS_SCOPE_THREAD ||
		    ps_eventset_event_status(model, index) != PS_STATUS_COUNTED)
			continue;
		tool_complain(
		    "'%s' counts for a %s, not for a command or process: count whole CPUs with -a",
		    ps_eventset_event_name(model, index), ps_scope_name(scope));
		is_good = false;
	}
	return is_good;
}

/* On a whole CPU they go on while it is idle: they tell how long was counted,
 * and no more. */
static const char *const clocks[] = {"task-clock", "cpu-clock", "msr/tsc/"};

static void count_note_clocks(const struct ps_eventset *model, const struct stat_options *options)
{
	for (size_t index = 0; options->is_whole_machine && index < ps_eventset_event_count(model);
	     index++) {
		const char *name = ps_eventset_event_name(model, index);
		for (size_t clock = 0; clock < sizeof clocks / sizeof clocks[0]; clock++) {
			if (strcmp(name, clocks[clock]) == 0)
				tool_complain("'%s' goes on while a CPU is idle: with -a it is the "
				              "time that was counted",
				              name);
		}
	}
}

static bool count_add_named(struct ps_eventset *model, const struct stat_options *options)
{
	size_t countable = 0;
	bool is_good = true;

	for (size_t index = 0; index < options->events.count; index++)
		is_good &= count_add_event(model, options->events.names[index], &countable);
	is_good &= count_check_scopes(model, options);
	count_note_clocks(model, options);
	if (is_good && countable == 0) {
		tool_complain("none of these events can be counted here");
		return false;
	}
	return is_good;
}

/* Time is of use beside any counter: how busy, how many GHz. */
static bool count_add_default(struct ps_eventset *model, const struct stat_options *options)
{
	if (!options->is_whole_machine)
		ps_eventset_add(model, "task-clock");
	int code = ps_eventset_add_default(model);
	for (size_t index = 0;
	     options->is_whole_machine && index < sizeof clocks / sizeof clocks[0]; index++)
		ps_eventset_remove(model, clocks[index]);
	if (code == PS_OK)
		return true;
	tool_complain("%s", ps_error_detail());
	return false;
}

struct ps_eventset *stat_events_create(const struct stat_options *options)
{
	struct ps_eventset *model = NULL;

	if (ps_eventset_create(&model) != PS_OK) {
		tool_complain("%s", ps_error_detail());
		return NULL;
	}
	if (options->events.count ? count_add_named(model, options)
	                          : count_add_default(model, options))
		return model;
	ps_eventset_destroy(model);
	return NULL;
}

/* The intervals of the past are not looked at again. */
#define KEPT_READINGS 64

static int count_complain_library(void)
{
	tool_complain("%s", ps_error_detail());
	return -1;
}

/* Text has a line for it, and JSON a member; CSV has no room. Once for all
 * runs. */
static void count_say_origin(const struct ps_topology *topology, const struct stat_options *options)
{
	static bool is_said;

	if (options->format == PS_FORMAT_CSV && !is_said && ps_topology_origin(topology))
		tool_complain("the tree is not this machine's: %s", ps_topology_origin(topology));
	is_said = true;
}

int stat_count_create(struct stat_count *count, const struct ps_eventset *model,
                      const struct stat_options *options)
{
	/* With -a what runs outside of this process's cpuset counts, too. */
	struct ps_topology_options how = {
	    .size = sizeof how, .flags = options->is_whole_machine ? PS_TOPOLOGY_WHOLE_MACHINE : 0};

	*count = (struct stat_count){.model = model,
	                             .has_intervals = options->interval_ms > 0,
	                             .tells_tasks = options->shows_tasks};
	if (ps_topology_load(&count->topology, &how) != PS_OK)
		return count_complain_library();
	count->root = ps_topology_root(count->topology);
	count_say_origin(count->topology, options);
	return 0;
}

void stat_count_destroy(struct stat_count *count)
{
	for (size_t index = 0; index < count->set_count; index++)
		ps_eventset_destroy(count->sets[index]);
	free(count->sets);
	ps_topology_destroy(count->topology);
}

static int count_make_room(struct stat_count *count, size_t sets)
{
	count->sets = calloc(sets ? sets : 1, sizeof(struct ps_eventset *));
	if (count->sets)
		return 0;
	tool_complain("out of memory");
	return -1;
}

/* Starts a set that was attached with this result. The array has room for
 * it. */
static int count_start_set(struct stat_count *count, struct ps_eventset *set, int attached)
{
	count->sets[count->set_count++] = set;
	if (attached != PS_OK)
		return count_complain_library();
	if (count->has_intervals)
		ps_eventset_set_history(set, KEPT_READINGS);
	if (count->tells_tasks)
		ps_eventset_set_tasks(set, 1);
	return ps_start(set) == PS_OK ? 0 : count_complain_library();
}

int stat_count_start_command(struct stat_count *count, pid_t pid)
{
	struct ps_eventset *set;

	count->uncounted.is_of_processes = true;
	if (count_make_room(count, 1) < 0)
		return -1;
	if (ps_eventset_clone(&set, count->model) != PS_OK)
		return count_complain_library();
	ps_eventset_set_enable_on_exec(set, 1);
	return count_start_set(count, set, ps_eventset_attach_process(set, pid));
}

int stat_count_start_processes(struct stat_count *count, const pid_t *pids, size_t pid_count)
{
	count->uncounted.is_of_processes = true;
	if (count_make_room(count, pid_count) < 0)
		return -1;
	for (size_t index = 0; index < pid_count; index++) {
		struct ps_eventset *set;
		if (ps_eventset_clone(&set, count->model) != PS_OK)
			return count_complain_library();
		if (count_start_set(count, set, ps_eventset_attach_process(set, pids[index])) < 0)
			return -1;
	}
	stat_uncounted_find_children(count, pids, pid_count);
	return 0;
}

/* Offline CPUs have nothing to count. A machine that doesn't say has CPUs that
 * can't go offline. */
static bool count_is_online(int cpu)
{
	char path[64];
	char state = '1';

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	bool is_read = read(fd, &state, 1) == 1;
	close(fd);
	return !is_read || state == '1';
}

int stat_count_start_cpus(struct stat_count *count)
{
	size_t threads = ps_component_thread_count(count->root);

	if (count_make_room(count, threads) < 0)
		return -1;
	for (size_t index = 0; index < threads; index++) {
		int cpu = ps_thread_cpu(ps_component_thread_at(count->root, index));
		struct ps_eventset *set;
		if (!count_is_online(cpu))
			continue;
		if (ps_eventset_clone(&set, count->model) != PS_OK)
			return count_complain_library();
		if (count_start_set(count, set, ps_eventset_attach_cpu(set, cpu)) < 0)
			return -1;
	}
	return 0;
}

/* A reading that lacks something is worth showing; it says so itself, and the
 * reason is said once. */
static void count_complain_once(struct stat_count *count, int code)
{
	if (code == PS_OK || count->has_complained)
		return;
	tool_complain("%s", ps_error_detail());
	count->has_complained = true;
}

void stat_count_take(struct stat_count *count)
{
	for (size_t index = 0; index < count->set_count; index++) {
		uint64_t timestamp = 0;
		count_complain_once(count,
		                    ps_accum(count->sets[index], count->root, &timestamp, NULL));
	}
}

void stat_count_stop(struct stat_count *count)
{
	for (size_t index = 0; index < count->set_count; index++) {
		uint64_t timestamp = 0;
		if (ps_eventset_is_running(count->sets[index]))
			count_complain_once(
			    count, ps_stop(count->sets[index], count->root, &timestamp, NULL));
	}
}

enum ps_attribution stat_count_attribution(const struct stat_count *count, const char **why)
{
	enum ps_attribution weakest = PS_ATTRIBUTION_EXACT;

	*why = "";
	for (size_t index = 0; index < count->set_count; index++) {
		const char *reason;
		enum ps_attribution one = ps_eventset_attribution(count->sets[index], &reason);
		if (one < weakest || (one == weakest && **why))
			continue;
		weakest = one;
		*why = reason;
	}
	return weakest;
}

int stat_count_check(struct stat_count *count, long long *residual)
{
	size_t events = ps_eventset_event_count(count->model);
	long long *one = calloc(events ? events : 1, sizeof *one);
	int result = one ? 0 : -1;

	memset(residual, 0, events * sizeof *residual);
	for (size_t index = 0; result == 0 && index < count->set_count; index++) {
		result = ps_eventset_check(count->sets[index], one, (int)events) == PS_OK ? 0 : -1;
		for (size_t event = 0; result == 0 && event < events; event++)
			residual[event] += one[event];
	}
	free(one);
	return result;
}

double stat_count_coverage(const struct stat_count *count)
{
	double least = 1.0;

	for (size_t event = 0; event < ps_eventset_event_count(count->model); event++) {
		struct ps_value total;
		if (ps_component_total(count->root, ps_eventset_event_name(count->model, event),
		                       &total) != PS_OK)
			continue;
		double coverage = ps_value_coverage(&total);
		if (total.status != PS_STATUS_COUNTED && total.status != PS_STATUS_NOT_SUPPORTED &&
		    coverage < least)
			least = coverage;
	}
	return least;
}
