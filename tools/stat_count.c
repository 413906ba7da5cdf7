/* SPDX-License-Identifier: BSD-3-Clause */
/* The model with the events, the tree, and the event sets of a run, which stat_start.c makes. */
#include "tools/stat_count.h"

#include "base/os.h"
#include "eventset/parts.h"
#include "tools/stat_times.h"
#include "tools/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* True if the machine has no counter for the event. The event is then shown as not supported, and
 * the other events are still counted. */
static bool count_is_lack_of_hardware(int code)
{
	return code == PS_ENOSUPP || code == PS_ENOCNTR;
}

/* Adds an event. Returns false after a complaint if the event could not be added, even as one that
 * isn't counted. */
static bool count_add_event(struct ps_eventset *model, const char *name, size_t *countable)
{
	int code = stat_times_bit(name) ? ps_eventset_add_optional(model, name)
	                                : ps_eventset_add(model, name);

	*countable += code == PS_OK;
	if (code == PS_OK || code == PS_ECNFLCT)
		return true;
	tool_complain_detail();
	return count_is_lack_of_hardware(code) && ps_eventset_add_optional(model, name) == PS_OK;
}

/* Complains about events of packages and other devices, which can't be counted for tasks. */
static bool count_check_scopes(const struct ps_eventset *model, const struct stat_options *options)
{
	bool is_good = true;

	for (size_t index = 0;
	     !options->target.is_whole_machine && index < ps_eventset_event_count(model); index++) {
		enum ps_scope scope = ps_eventset_event_scope(model, index);
		if (scope == PS_SCOPE_THREAD ||
		    ps_eventset_event_status(model, index) != PS_STATUS_COUNTED)
			continue;
		tool_complain("'%s' counts for a %s, not for a command, process or control group: "
		              "count whole CPUs with -a",
		              ps_eventset_event_name(model, index), ps_scope_name(scope));
		is_good = false;
	}
	return is_good;
}

/* Returns the index of the event that was just added. If the model already had the name, returns
 * the index of that event. before: number of events before the call. */
static size_t count_find_event(const struct ps_eventset *model, const char *name, size_t before)
{
	size_t count = ps_eventset_event_count(model);

	if (count > before)
		return before;
	for (size_t index = 0; index < count; index++) {
		if (strcmp(ps_eventset_event_name(model, index), name) == 0)
			return index;
	}
	return count;
}

/* Adds an event that isn't in a group. */
static bool count_add_single(struct ps_eventset *model, const char *name, size_t *countable)
{
	size_t before = ps_eventset_event_count(model);
	bool is_good = count_add_event(model, name, countable);

	if (is_good && ps_eventset_event_count(model) == before)
		tool_complain("'%s' is named twice: it is counted once", name);
	return is_good;
}

/* Adds the events of a group, and groups them. */
static bool count_add_group(struct ps_eventset *model, const struct tool_names *names,
                            const struct tool_name_group *group, size_t *countable)
{
	size_t count = group->end - group->first;
	size_t *events = ps__os_calloc(count, sizeof *events);
	bool is_good = events != NULL;

	for (size_t index = 0; is_good && index < count; index++) {
		const char *name = names->names[group->first + index];
		size_t before = ps_eventset_event_count(model);
		is_good = count_add_event(model, name, countable);
		events[index] = count_find_event(model, name, before);
		if (is_good && events[index] != before) {
			tool_complain(
			    "'%s' is named twice, and the second time in a group: an event "
			    "is counted once, so name it once",
			    name);
			is_good = false;
		}
	}
	if (is_good &&
	    ps_eventset_group(model, events, count,
	                      group->is_weak ? PS_GROUP_WEAK : PS_GROUP_TOGETHER) != PS_OK) {
		tool_complain_detail();
		is_good = false;
	}
	ps__os_free(events);
	return is_good;
}

static bool count_add_named(struct ps_eventset *model, const struct stat_options *options)
{
	size_t countable = 0;
	bool is_good = true;

	for (size_t index = 0, group = 0; index < options->events.count;) {
		const struct tool_name_group *next =
		    group < options->events.group_count ? &options->events.groups[group] : NULL;
		if (next && next->first == index) {
			is_good &= count_add_group(model, &options->events, next, &countable);
			index = next->end;
			group++;
		} else {
			is_good &=
			    count_add_single(model, options->events.names[index++], &countable);
		}
	}
	is_good &= count_check_scopes(model, options);
	stat_notes_show(model, options);
	if (is_good && countable == 0) {
		tool_complain("none of these events can be counted here");
		return false;
	}
	return is_good;
}

static bool count_has_event(const struct ps_eventset *model, const char *name)
{
	for (size_t index = 0; index < ps_eventset_event_count(model); index++) {
		if (strcmp(ps_eventset_event_name(model, index), name) == 0)
			return true;
	}
	return false;
}

/* Complains about events of a list that may not be counted, in one line with their common remedy.
 * The error's sentence begins with the event's name in quotes. */
static void count_say_left_out(struct ps_eventset *model, const char *const *names, size_t count)
{
	struct ps__buffer left_out = {0};
	char reason[1024] = "";
	size_t number = 0;

	for (size_t index = 0; index < count; index++) {
		if (count_has_event(model, names[index]) ||
		    ps_eventset_add(model, names[index]) != PS_EPERM)
			continue;
		const char *detail = ps_error_detail(), *quoted = strstr(detail, "': ");
		snprintf(reason, sizeof reason, "%s", quoted ? quoted + 3 : detail);
		ps__buffer_add(&left_out, "%s%s", number++ ? ", " : "", names[index]);
	}
	if (number)
		tool_complain("left out: %s: %s", ps__buffer_text(&left_out), reason);
	ps__buffer_clear(&left_out);
}

/* Adds the default events of tasks. The time is useful with any counter: CPUs in use, GHz. */
static bool count_add_task_defaults(struct ps_eventset *model)
{
	static const char *const of_kernel[] = {"context-switches", "cpu-migrations"};

	ps_eventset_add(model, "task-clock");
	if (ps_eventset_add_default(model) != PS_OK) {
		tool_complain_detail();
		return false;
	}
	/* page-faults is a default only without a PMU. In this case these two are defaults, too. */
	if (count_has_event(model, "page-faults"))
		count_say_left_out(model, of_kernel, sizeof of_kernel / sizeof of_kernel[0]);
	return true;
}

/* Adds the events of a list that can be counted, and returns their number. The first error goes to
 * why if that is empty. */
static size_t count_add_available(struct ps_eventset *model, const char *const *names, size_t count,
                                  char *why, size_t size_bytes)
{
	size_t added = 0;

	for (size_t index = 0; index < count; index++) {
		if (ps_eventset_add(model, names[index]) == PS_OK)
			added++;
		else if (!*why)
			snprintf(why, size_bytes, "%s", ps_error_detail());
	}
	return added;
}

/* Adds the default events of whole CPUs; none of them counts while a CPU is idle. The first one
 * shows where the machine is busy: cycles, or without a PMU the time that tasks ran. */
static bool count_add_cpu_defaults(struct ps_eventset *model)
{
	static const char *const hardware[] = {"cycles", "instructions"};
	static const char *const runtime[] = {"sched:sched_stat_runtime"};
	static const char *const software[] = {"context-switches", "cpu-migrations", "page-faults"};
	char why[1024] = "";

	bool has_pmu = count_add_available(model, hardware, 2, why, sizeof why) > 0;
	bool tells_busy = has_pmu || ps_eventset_add(model, runtime[0]) == PS_OK;
	if (!has_pmu)
		*why = '\0';
	bool has_all = count_add_available(model, software, 3, why, sizeof why) == 3;
	/* A user who may not count the kernel can't count whole CPUs anyway. */
	if (!tells_busy && has_all)
		count_say_left_out(model, runtime, 1);
	if (ps_eventset_event_count(model))
		return true;
	tool_complain("%s", why);
	return false;
}

static bool count_add_events(struct ps_eventset *model, const struct stat_options *options)
{
	if (options->events.count)
		return count_add_named(model, options);
	return options->target.is_whole_machine ? count_add_cpu_defaults(model)
	                                        : count_add_task_defaults(model);
}

/* Sets the attribution mode. The counts of a control group are always split by CPU. */
static bool count_set_mode(struct ps_eventset *model, const struct stat_target *target)
{
	bool is_demanded = target->is_exact || target->method == STAT_METHOD_PER_CPU;
	enum ps_attribution_mode mode = is_demanded ? PS_ATTRIBUTE_EXACT : PS_ATTRIBUTE_AUTO;

	if (target->method == STAT_METHOD_WHOLE)
		mode = PS_ATTRIBUTE_LAST_CPU;
	if (target->method == STAT_METHOD_TIME_SHARE)
		mode = PS_ATTRIBUTE_TIME_SHARE;
	if (target->method == STAT_METHOD_LOOKS)
		mode = PS_ATTRIBUTE_LOOKS;
	if (target->method == STAT_METHOD_BPF)
		mode = PS_ATTRIBUTE_BPF;
	if (ps_eventset_set_attribution(model, mode) == PS_OK)
		return true;
	tool_complain_detail();
	return false;
}

struct ps_eventset *stat_events_create(const struct stat_options *options)
{
	struct ps_eventset *model = NULL;

	if (ps_eventset_create(&model) != PS_OK) {
		tool_complain_detail();
		return NULL;
	}
	if (count_add_events(model, options) && count_set_mode(model, &options->target))
		return model;
	ps_eventset_destroy(model);
	return NULL;
}

/* Tells where the tree comes from, once for all runs. Only CSV needs this: text shows it in a line,
 * and JSON in a member. */
static void count_say_origin(const struct ps_topology *topology, const struct stat_options *options)
{
	static bool is_said;

	if (options->format == PS_FORMAT_CSV && !is_said && ps_topology_origin(topology))
		tool_complain("the tree is not this machine's: %s", ps_topology_origin(topology));
	is_said = true;
}

/* Complains that the tree lacks components of a type. level: cache level, or 0. */
static void count_say_one_absent(enum ps_component_type type, int level)
{
	char cache[16];

	snprintf(cache, sizeof cache, "L%d", level);
	tool_complain("--by: this machine's tree has no %s, so the machine's total is all there is",
	              level ? cache : ps_component_type_name(type));
}

/* Complains, once for all runs, that the tree has no component of a type in --by, because the
 * output doesn't explain this. */
static void count_say_absent(const struct stat_count *count, const struct stat_options *options)
{
	static bool is_said;

	for (int type = 0; !is_said && options->by.types >> type; type++) {
		bool has_level = type == PS_COMPONENT_CACHE && options->by.cache_level > 0;
		int level = has_level ? options->by.cache_level : 0;
		bool is_there =
		    has_level ? ps_component_find_logical(count->root, PS_COMPONENT_CACHE, level,
		                                          0) != NULL
			      : ps_component_count(count->root, (enum ps_component_type)type) > 0;
		if (options->by.types == PS_TYPE_BIT(type) && !is_there)
			count_say_one_absent((enum ps_component_type)type, level);
	}
	is_said = true;
}

int stat_count_create(struct stat_count *count, const struct ps_eventset *model,
                      const struct stat_options *options)
{
	/* Use the whole machine for tasks that aren't perfsage's own: they may be outside this
	 * process's cpuset. */
	bool is_own = stat_options_counts_command(options);
	struct ps_topology_options how = {.size = sizeof how,
	                                  .flags = is_own ? 0 : PS_TOPOLOGY_WHOLE_MACHINE};

	*count = (struct stat_count){.model = model,
	                             .has_intervals = options->interval_ms > 0,
	                             .tells_tasks = stat_options_tell_tasks(options),
	                             .delay_s = (double)options->limits.delay_ms / 1e3};
	if (ps_topology_load(&count->topology, &how) != PS_OK)
		return tool_complain_detail();
	count->root = ps_topology_root(count->topology);
	count_say_origin(count->topology, options);
	count_say_absent(count, options);
	return 0;
}

void stat_count_destroy(struct stat_count *count)
{
	for (size_t index = 0; index < count->set_count; index++)
		ps_eventset_destroy(count->sets[index]);
	ps_eventset_destroy(count->times);
	ps__os_free(count->sets);
	ps__os_free(count->online);
	tool_cgroup_destroy(&count->cgroup);
	ps_topology_destroy(count->topology);
}

int stat_count_restart(struct stat_count *count)
{
	for (size_t index = 0; index < count->set_count; index++) {
		if (ps_reset(count->sets[index]) != PS_OK)
			return tool_complain_detail();
	}
	count->began_ns = 0;
	return 0;
}

/* Complains about an incomplete reading, only once. The reading is shown, with its status. */
static void count_complain_once(struct stat_count *count, int code)
{
	if (code == PS_OK || count->has_complained)
		return;
	tool_complain_detail();
	count->has_complained = true;
}

/* Complains if the control group was removed and made again, as when a service restarts. The new
 * group isn't counted. */
static void count_note_renewal(struct stat_count *count)
{
	if (!tool_cgroup_is_renewed(&count->named))
		return;
	for (size_t index = 0; index < count->set_count; index++)
		ps__set_note_missing(count->sets[index]);
	snprintf(count->uncounted.why_unknown, sizeof count->uncounted.why_unknown,
	         "the control group was removed and made again, and the new one is not counted: "
	         "--cgroup with the group above it counts both");
}

void stat_count_take(struct stat_count *count)
{
	stat_uncounted_find_late_cpus(count);
	count_note_renewal(count);
	for (size_t index = 0; index < count->set_count; index++) {
		uint64_t timestamp = 0;
		count_complain_once(count,
		                    ps_accum(count->sets[index], count->root, &timestamp, NULL));
	}
	stat_trust_note(count);
}

void stat_count_stop(struct stat_count *count, const struct rusage *usage)
{
	if (usage && count->how.method == STAT_METHOD_CGROUP) {
		count->how.left_s = stat_method_left_s(
		    usage, count->how.before_s + tool_cgroup_cpu_s(&count->cgroup));
		count->how.has_left = true;
	}
	stat_uncounted_find_late_cpus(count);
	count_note_renewal(count);
	for (size_t index = 0; index < count->set_count; index++) {
		uint64_t timestamp = 0;
		/* True for NaN as well: if left_s is unknown, something may be missing. */
		if (!(count->how.left_s <= 0))
			ps__set_note_missing(count->sets[index]);
		if (ps_eventset_is_running(count->sets[index]))
			count_complain_once(
			    count, ps_stop(count->sets[index], count->root, &timestamp, NULL));
	}
	stat_trust_note(count);
}
