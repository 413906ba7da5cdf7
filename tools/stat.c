/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage stat: counts a command, processes or whole CPUs, and shows the
 * counts on the tree. */
#include "base/os.h"
#include "tools/command.h"
#include "tools/metrics.h"
#include "tools/stat_run.h"
#include "tools/stat_show.h"
#include "tools/stat_tasks.h"
#include "tools/stat_times.h"
#include "tools/terminal.h"

#include <string.h>
#include <unistd.h>

/* Takes the reports of a run. Leaves out the reports of a run whose counts are left out; but not if
 * no run was counted before. */
static int stat_take_regions(struct run *run, bool is_counted)
{
	struct session *session = run->session;
	int result = 0;

	if (!session->output.regions)
		return 0;
	if (is_counted || session->runs.counted == 0)
		result = stat_regions_take(&session->regions, run->repetition);
	stat_regions_drop(&session->regions);
	return result;
}

/* Adds a run to the means. Returns 0 if it was added, 1 if it was left out, and -1 after a
 * complaint. */
static int stat_add_run(struct run *run, const struct stat_facts *facts)
{
	struct session *session = run->session;

	if (!stat_runs_add(&session->runs, facts))
		return 1;
	int added = stat_wait_add_interval(run, true);
	if (added == 0) {
		ps__spread_add(&session->aggregate.elapsed, facts->elapsed_s);
		stat_runs_add_status(&session->runs, facts);
	}
	session->runs.left_out += added > 0;
	/* Text and JSON have the number of these runs. CSV has the counts of each run, but no
	 * reports of these. */
	if (added > 0 && session->output.regions && session->options.format == PS_FORMAT_CSV)
		tool_complain("run %lld is left out: it was on other CPUs than the first",
		              run->repetition);
	return added;
}

/* Shows the end of a run: its counts, or its last interval and the sum of all intervals. */
static int stat_show_end(struct run *run, const struct stat_facts *facts)
{
	struct session *session = run->session;
	struct stat_output *output = &session->output;

	if (session->options.interval_ms) {
		if (stat_wait_show_interval(run, facts) < 0)
			return -1;
		return stat_total_show(&session->aggregate, facts, output);
	}
	if (session->options.repetitions > 1) {
		int added = stat_add_run(run, facts);
		if (added < 0 || stat_take_regions(run, added == 0) < 0)
			return -1;
		/* If the first run was interrupted, there are no other counts, so show them. */
		if (session->runs.counted &&
		    (session->options.format == PS_FORMAT_TEXT || session->output.regions))
			return 0;
	} else if (stat_take_regions(run, true) < 0) {
		return -1;
	}
	return stat_show(output, &run->count, facts);
}

/* Complains about uncounted programs on stderr, once for all runs, unless the footer goes there. */
static void stat_tell_uncounted(struct run *run)
{
	struct session *session = run->session;
	bool has_footer =
	    session->options.format == PS_FORMAT_TEXT && session->output.file.fd == STDERR_FILENO;

	stat_uncounted_take(&run->count);
	const struct stat_uncounted *uncounted = &run->count.uncounted;
	bool is_any =
	    stat_uncounted_is_any(uncounted) || uncounted->left > 0 || uncounted->late_cpus;
	if (has_footer || session->has_shown_uncounted || !is_any)
		return;
	session->has_shown_uncounted = true;
	stat_uncounted_complain(uncounted);
}

/* Returns the status if perfsage failed, or if a signal ended it before it had counted anything. */
static int stat_failed_status(const struct session *session)
{
	return session->watcher.signal ? TOOL_BY_SIGNAL + session->watcher.signal : TOOL_FAILED;
}

/* Draws the heat map, which may take long. The counts have been written, so a signal may end
 * perfsage from now on: a control group is removed before. */
static int stat_draw_heat(struct run *run)
{
	struct session *session = run->session;

	if (stat_output_close(&session->output) < 0)
		return -1;
	session->watcher.signal = 0;
	tool_cgroup_destroy(&run->count.cgroup);
	tool_watcher_release(&session->watcher);
	return tool_heat_write(&session->heat, run->count.root);
}

/* Complains that nothing was counted, because a table of zeros would look like a result. */
static int stat_complain_of_delay(const struct run *run, enum tool_wakeup wakeup)
{
	int status = tool_watcher_status(&run->session->watcher, wakeup);

	tool_complain("nothing was counted: all was over before the %lld ms of --delay were",
	              run->session->options.limits.delay_ms);
	return status == TOOL_OK ? TOOL_FAILED : status;
}

/* Counts until the watcher reports an end, then shows the counts. Returns the exit status. */
static int stat_count_to_the_end(struct run *run)
{
	struct session *session = run->session;
	struct tool_watcher *watcher = &session->watcher;

	enum tool_wakeup wakeup = stat_wait_for_end(run);
	uint64_t ended_ns = ps__os_now_ns();
	const struct rusage *usage = wakeup == TOOL_WAKEUP_COMMAND ? &watcher->usage : NULL;
	stat_count_stop(&run->count, usage);
	int stored = stat_times_store(&run->count, ended_ns - run->started_ns, usage);
	stat_wait_end_beat(run);
	struct stat_facts facts = {
	    .elapsed_s = (double)(ended_ns - run->started_ns) / 1e9,
	    .repetition = run->repetition,
	    .has_ended = true,
	    .has_command =
		wakeup == TOOL_WAKEUP_COMMAND && stat_options_counts_command(&session->options),
	    .pid = run->command,
	    .signal = watcher->signal,
	    .gone = wakeup == TOOL_WAKEUP_ENDED ? 0 : tool_watcher_count_ended(watcher),
	    .usage = watcher->usage};
	int status = tool_watcher_status(watcher, wakeup);
	facts.exit_status = status;
	stat_tell_uncounted(run);
	int shown = stat_show_end(run, &facts);
	if (stat_options_tell_tasks(&session->options) && shown == 0)
		shown = stat_tasks_show(&session->output, &run->count, &facts,
		                        session->has_aggregate ? &session->aggregate : NULL);
	if ((shown < 0 || stored < 0 || run->lacks_interval) && status == TOOL_OK)
		status = TOOL_FAILED;
	if (session->options.heat && shown == 0 && stat_draw_heat(run) < 0 && status == TOOL_OK)
		status = stat_failed_status(session);
	return status;
}

static int stat_start_counting(struct run *run, pid_t command)
{
	const struct stat_options *options = &run->session->options;
	int result;

	if (options->target.is_whole_machine)
		result = stat_start_cpus(&run->count, options->target.cpus);
	else if (options->target.cgroup)
		result = stat_start_cgroup(&run->count, options->target.cgroup);
	else if (options->target.pid_count)
		result = stat_start_processes(&run->count, &options->target);
	else
		result = stat_start_command(&run->count, command, &options->target,
		                            &run->session->watcher.ending);
	return result == 0 && stat_options_tell_tasks(options) ? stat_tasks_check(&run->count)
	                                                       : result;
}

/* Ends perfsage, and the repetitions, if a signal came before the command was started, or since the
 * run before: Ctrl-C reached no command. Returns -1 if so. */
static int stat_check_interruption(struct run *run, struct tool_launch *launch)
{
	struct session *session = run->session;
	int number = tool_watcher_take_ending(&session->watcher);

	if (number == 0)
		return 0;
	session->runs.interrupted = run->repetition;
	session->runs.signal = number;
	tool_launch_cancel(launch);
	return -1;
}

static int stat_create_child(struct run *run, struct tool_launch *launch)
{
	struct session *session = run->session;

	int result = tool_launch_create(launch, session->options.command, &session->watcher);
	/* Keep the signals held if the counts of earlier runs are still to be shown. */
	if (session->runs.counted == 0)
		tool_watcher_release(&session->watcher);
	else if (result == 0)
		result = stat_check_interruption(run, launch);
	return result;
}

/* Waits for --delay. The counters run meanwhile, because threads and children that are created in
 * this time inherit them. Their counts up to the end of the delay are dropped. */
static int stat_pass_delay(struct run *run)
{
	enum tool_wakeup wakeup = stat_wait_for_begin(run);

	if (wakeup != TOOL_WAKEUP_TICK)
		return stat_complain_of_delay(run, wakeup);
	if (stat_count_restart(&run->count) < 0)
		return TOOL_FAILED;
	stat_wait_set_clocks(run);
	return TOOL_OK;
}

/* Counts a run. If processes or CPUs are counted, counting begins before the command is started.
 * The command then only determines how long to count. */
static int stat_start_and_count(struct run *run)
{
	struct session *session = run->session;
	struct tool_watcher *watcher = &session->watcher;
	char **command = session->options.command;
	struct tool_launch launch = {.pid = 0};

	if (command && stat_create_child(run, &launch) < 0)
		return stat_failed_status(session);
	if (stat_start_counting(run, launch.pid) < 0) {
		if (command)
			tool_launch_cancel(&launch);
		return TOOL_FAILED;
	}
	run->command = stat_options_counts_command(&session->options) ? launch.pid : 0;
	tool_watcher_hold(watcher);
	if (command && stat_check_interruption(run, &launch) < 0)
		return stat_failed_status(session);
	stat_wait_set_clocks(run);
	if (command) {
		int status = tool_launch_go(&launch, command, watcher);
		if (status != TOOL_OK)
			return status;
	}
	if (session->options.limits.delay_ms) {
		int status = stat_pass_delay(run);
		if (status != TOOL_OK)
			return status;
	}
	stat_output_begin(&session->output);
	return stat_count_to_the_end(run);
}

static int stat_run_once(struct session *session, long long repetition)
{
	struct run run = {.session = session, .repetition = repetition};

	if (session->output.regions && stat_regions_begin(&session->regions) < 0)
		return TOOL_FAILED;
	if (stat_count_create(&run.count, session->model, &session->options) < 0)
		return TOOL_FAILED;
	int status = stat_start_and_count(&run);
	stat_wait_forget(&run);
	if (session->has_aggregate)
		stat_aggregate_keep(&session->aggregate, &run.count);
	stat_count_destroy(&run.count);
	return status;
}

static int stat_run_all(struct session *session)
{
	long long repetitions = session->options.repetitions;
	int status = TOOL_OK;

	for (long long index = 1; index <= repetitions; index++) {
		int ended = stat_run_once(session, repetitions > 1 ? index : 0);
		status = status == TOOL_OK ? ended : status;
		/* Stop after a run that failed or was interrupted. */
		if (session->runs.counted < index || session->watcher.has_kept)
			break;
	}
	if (session->runs.counted &&
	    stat_means_show(&session->aggregate, &session->runs, &session->output) < 0 &&
	    status == TOOL_OK)
		status = TOOL_FAILED;
	return status;
}

/* Passes the model's events to the processes. perfsage itself counts their CPU time. */
static int stat_prepare_regions(struct session *session)
{
	struct ps_eventset *model = session->model;

	session->model = NULL;
	if (stat_regions_create(&session->regions, &session->output, model) < 0)
		return -1;
	session->output.regions = &session->regions;
	session->model = stat_regions_model();
	return session->model ? 0 : -1;
}

static int stat_find_processes(struct session *session)
{
	struct stat_target *target = &session->options.target;
	size_t given = target->pid_count;

	if (tool_watcher_add(&session->watcher, target->pids, &target->pid_count) < 0)
		return -1;
	target->absent_count = given - target->pid_count;
	return 0;
}

/* Opens the file of -o; the heat map's file is open already, and must be another one. */
static int stat_open_output(struct session *session)
{
	const struct stat_options *options = &session->options;

	if (!options->heat || !tool_file_is_of(&session->heat.file, options->output))
		return stat_output_open(&session->output, options, &session->watcher);
	return tool_complain("-o and --heat can't write the same file: '%s' is both",
	                     options->heat);
}

static int stat_prepare_and_run(struct session *session)
{
	const struct stat_options *options = &session->options;
	int status = TOOL_FAILED;

	/* SIGINT is handled even if it was ignored: Ctrl-C, or kill -INT in a script, is the usual
	 * way to end counting without a command. */
	if (tool_watcher_create(&session->watcher, !stat_options_counts_command(options)) < 0)
		goto destroy_watcher;
	if (stat_find_processes(session) < 0)
		goto destroy_watcher;
	if (options->heat && tool_heat_open(&session->heat, options->heat, options->heat_by,
	                                    session->model, &session->watcher) < 0) {
		status = stat_failed_status(session);
		goto destroy_watcher;
	}
	if (stat_open_output(session) < 0)
		goto close_heat;
	if (!options->shows_regions || stat_prepare_regions(session) == 0)
		status = stat_run_all(session);
	/* Fail if nothing of what the user asked for was shown. */
	if (status == TOOL_OK &&
	    (session->regions.lacks_region || stat_regions_lost_all(&session->regions)))
		status = TOOL_FAILED;
	stat_regions_destroy(&session->regions);
	if (stat_output_close(&session->output) < 0 && status == TOOL_OK)
		status = TOOL_FAILED;
	if (session->has_aggregate)
		stat_aggregate_destroy(&session->aggregate);
close_heat:
	tool_heat_close(&session->heat);
destroy_watcher:
	tool_watcher_destroy(&session->watcher);
	return status;
}

int tool_stat(int argc, char **argv)
{
	struct session session = {.has_aggregate = false};
	int status = stat_options_parse(&session.options, argc, argv);

	if (status != TOOL_OPTIONS_END)
		goto clear_options;
	/* With --regions the processes open the events themselves. */
	if (!session.options.shows_regions)
		tool_advise_itself();
	if (stat_metrics_resolve(&session.options) == 0)
		session.model = stat_events_create(&session.options);
	status = session.model ? stat_prepare_and_run(&session) : TOOL_FAILED;
	ps_eventset_destroy(session.model);
clear_options:
	stat_options_clear(&session.options);
	return status;
}
