/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of `perfsage stat` that exclude or need each other. Each refusal tells why, or what to
 * use instead. */
#include "tools/stat_options.h"
#include "tools/stat_times.h"

#include <string.h>

bool stat_options_tell_tasks(const struct stat_options *options)
{
	return !options->shows_regions && (options->shows_tasks || options->shows_processes);
}

bool stat_options_counts_command(const struct stat_options *options)
{
	const struct stat_target *target = &options->target;

	return !target->is_whole_machine && target->pid_count == 0 && !target->cgroup;
}

static const char *conflicts_find_target(const struct stat_options *options)
{
	const struct stat_target *target = &options->target;

	if (target->is_whole_machine && target->pid_count)
		return "-a or -C, and -p, exclude each other";
	if (target->has_children && !target->pid_count)
		return "--children needs -p PID: of a command all children are counted";
	if (target->cgroup && (target->is_whole_machine || target->pid_count))
		return "--cgroup excludes -a and -p, as they exclude each other";
	if (stat_options_counts_command(options) && !options->command)
		return "a command is missing, or -p PIDS, -a, -C LIST or --cgroup PATH: see --help";
	return NULL;
}

/* Tasks can be told apart only within processes, and from the start of counting on. */
static const char *conflicts_find_tasks(const struct stat_options *options)
{
	if (!stat_options_tell_tasks(options))
		return NULL;
	if (options->target.is_whole_machine || options->target.cgroup)
		return "--tasks and --processes need a command or -p: whole CPUs and control "
		       "groups are counted "
		       "whatever runs there";
	if (options->repetitions > 1)
		return "--tasks and --processes exclude -r";
	if (options->limits.delay_ms)
		return "--tasks and --processes exclude --delay: the kernel tells a task's counts "
		       "from its start on";
	return NULL;
}

static const char *conflicts_find_method(const struct stat_options *options)
{
	const struct stat_target *target = &options->target;

	if (target->method == STAT_METHOD_AUTO)
		return NULL;
	if (target->is_whole_machine || target->cgroup)
		return "--method is for a command or -p: whole CPUs and control groups have one "
		       "way";
	if (target->method == STAT_METHOD_WHOLE && target->is_exact)
		return "--method whole and --exact exclude each other: nothing is split";
	if (target->method == STAT_METHOD_TIME_SHARE && target->is_exact)
		return "--method time-share and --exact exclude each other: the split is estimated";
	if (target->method == STAT_METHOD_LOOKS && target->is_exact)
		return "--method looks and --exact exclude each other: the split is estimated";
	if (target->method == STAT_METHOD_WHOLE && options->heat)
		return "--method whole and --heat exclude each other: nothing is split, so no CPU "
		       "would have a colour";
	if (target->method == STAT_METHOD_WHOLE && stat_options_tell_tasks(options))
		return "--method whole excludes --tasks and --processes";
	if (target->method == STAT_METHOD_TIME_SHARE && stat_options_tell_tasks(options))
		return "--method time-share excludes --tasks and --processes";
	if (target->method == STAT_METHOD_LOOKS && stat_options_tell_tasks(options))
		return "--method looks excludes --tasks and --processes";
	if (target->method == STAT_METHOD_BPF && stat_options_tell_tasks(options))
		return "--method bpf excludes --tasks and --processes";
	if (target->method == STAT_METHOD_CGROUP && target->pid_count)
		return "--method cgroup needs a command: a running process isn't moved";
	if (target->method == STAT_METHOD_CGROUP && stat_options_tell_tasks(options))
		return "--method cgroup excludes --tasks and --processes: a control group's tasks "
		       "aren't told apart";
	return NULL;
}

/* With --regions the processes count themselves, from their start to their end. */
static const char *conflicts_find_regions(const struct stat_options *options)
{
	if (!options->shows_regions)
		return options->of_regions.budget || options->of_regions.one_in
		           ? "--budget and --one-in need --regions, whose visits they sample"
		           : NULL;
	if (!stat_options_counts_command(options))
		return "--regions needs a command: it listens to marks from the start";
	if (options->events.group_count)
		return "--regions excludes groups of events ({...}): the processes count them in "
		       "one group, as far as the counters permit it";
	if (options->target.method != STAT_METHOD_AUTO)
		return "--regions excludes --method: each process counts its own threads";
	if (options->target.is_exact)
		return "--regions excludes --exact: each process splits its own counts, and its "
		       "report has their labels";
	if (options->shows_tasks)
		return "--regions excludes --tasks; --processes shows each process's regions";
	if (options->interval_ms)
		return "--regions excludes -I: the reports come when processes end";
	if (options->format == PS_FORMAT_TEXT && (options->by.types & (options->by.types - 1)))
		return "--regions takes one --by: a column is a component; --json and --csv take "
		       "several";
	if (options->limits.delay_ms)
		return "--regions excludes --delay: marks are heard from the start";
	if (options->heat)
		return "--regions excludes --heat";
	if (options->layout == STAT_LAYOUT_TREE)
		return "--regions excludes --tree: --region NAME shows the tree of a region, and "
		       "--by TYPE "
		       "where each was counted";
	return NULL;
}

/* Returns why the times are refused: these times are known only when the run is over. */
const char *stat_options_refuse_times(const struct stat_options *options, unsigned times)
{
	if (times && options->interval_ms)
		return "-I excludes duration_time, user_time and system_time, which are known when "
		       "the run is over: each line has its interval";
	if (times && options->shows_regions)
		return "--regions excludes duration_time, user_time and system_time: the reports "
		       "have the time of each region";
	if (!(times & STAT_TIMES_OF_COMMAND))
		return NULL;
	if (!stat_options_counts_command(options))
		return "user_time and system_time are those of a command, as the kernel tells them "
		       "at "
		       "its end: task-clock counts the time of processes and control groups";
	if (options->limits.delay_ms)
		return "user_time and system_time exclude --delay: the kernel tells them from the "
		       "command's start on";
	return NULL;
}

static const char *conflicts_find_times(const struct stat_options *options)
{
	unsigned times = 0;

	for (size_t index = 0; index < options->events.count; index++)
		times |= stat_times_bit(options->events.names[index]);
	return stat_options_refuse_times(options, times);
}

const char *stat_options_find_conflict(const struct stat_options *options)
{
	const char *conflict = conflicts_find_target(options);

	if (!conflict)
		conflict = conflicts_find_tasks(options);
	if (!conflict)
		conflict = conflicts_find_method(options);
	if (!conflict)
		conflict = conflicts_find_regions(options);
	if (!conflict)
		conflict = conflicts_find_times(options);
	if (conflict)
		return conflict;
	if (options->look.hides_metrics && options->metrics.count)
		return "-M and --no-metrics exclude each other";
	if (options->repetitions > 1 && !options->command)
		return "-r needs a command to run";
	if (options->repetitions > 1 && options->interval_ms)
		return "-r and -I exclude each other";
	if (options->repetitions > 1 && options->heat)
		return "-r and --heat exclude each other";
	if (options->interval_ms && options->heat)
		return "-I and --heat exclude each other";
	if (options->limits.interval_count && !options->interval_ms)
		return "--interval-count needs -I MS";
	if (options->heat && options->output && strcmp(options->heat, options->output) == 0)
		return "-o and --heat can't write the same file";
	if (options->appends && !options->output)
		return "--append needs -o FILE";
	if (options->heat_by && !options->heat)
		return "--heat-by needs --heat FILE";
	return NULL;
}
