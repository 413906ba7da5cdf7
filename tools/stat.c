/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage stat: counts a command, processes or whole CPUs, and shows the
 * counts on the tree. */
#include "tools/stat.h"

#include "base/os.h"
#include "output/number.h"
#include "tools/command.h"
#include "tools/heat.h"
#include "tools/terminal.h"
#include "tools/watcher.h"

#include <string.h>
#include <unistd.h>

/* The period at which the elapsed time is shown. */
#define BEAT_NS 1000000000u

/* The period at which the kernel's records of tasks and programs are read. */
#define TAKE_NS 20000000u

/* One call of perfsage stat. */
struct session {
	struct stat_options options;
	struct ps_eventset *model;
	struct stat_output output;
	struct tool_heat heat;
	struct tool_watcher watcher;
	struct stat_aggregate aggregate; /* of intervals or repetitions */
	bool has_aggregate;
	bool has_shown_uncounted;
	struct stat_runs runs; /* how repetitions ended */
};

/* One run. */
struct run {
	struct session *session;
	struct stat_count count;
	uint64_t started_ns;
	uint64_t taken_ns; /* when the last interval ended */
	uint64_t tick_ns;  /* when this one does; 0: none */
	uint64_t limit_ns; /* of --timeout; 0: none */
	uint64_t beat_ns;  /* when the elapsed time is shown next; 0: it isn't */
	/* When the records of tasks and programs are taken next; 0: there are none */
	uint64_t take_ns;
	long long repetition;
};

static bool stat_counts_command(const struct stat_options *options)
{
	return !options->is_whole_machine && options->pid_count == 0;
}

static int stat_add_interval(struct run *run, bool has_ended)
{
	struct session *session = run->session;

	if (!session->has_aggregate &&
	    stat_aggregate_create(&session->aggregate, &session->output, &run->count) < 0)
		return -1;
	session->has_aggregate = true;
	return stat_aggregate_add(&session->aggregate, &run->count, has_ended);
}

/* Shows the counts since the last interval. */
static int stat_show_interval(struct run *run, const struct stat_facts *ending)
{
	uint64_t now = ps__os_now_ns();
	struct stat_facts facts = ending ? *ending : (struct stat_facts){0};

	facts.elapsed_s = (double)(now - run->started_ns) / 1e9;
	facts.interval_s = (double)(now - run->taken_ns) / 1e9;
	run->taken_ns = now;
	if (stat_add_interval(run, ending != NULL) < 0)
		return -1;
	return stat_show(&run->session->output, &run->count, &facts);
}

static void stat_show_beat(struct run *run)
{
	struct ps__buffer text = {0};
	uint64_t seconds = (run->beat_ns - run->started_ns) / BEAT_NS;

	ps__buffer_add(&text, "\r");
	ps__number_add_duration(&text, (double)seconds);
	ps__buffer_add(&text, "\033[K");
	tool_write(&text, run->session->output.stream);
	fflush(run->session->output.stream);
	run->beat_ns += BEAT_NS;
}

static void stat_end_beat(struct run *run)
{
	if (run->beat_ns > run->started_ns + BEAT_NS)
		fprintf(run->session->output.stream, "\r\033[K");
}

static uint64_t stat_earliest(uint64_t one, uint64_t other)
{
	if (one == 0 || (other != 0 && other < one))
		return other;
	return one;
}

/* The time is up: a command is asked to end, else counting ends. Returns
 * whether there is anything left to wait for. */
static bool stat_end_by_timeout(struct run *run)
{
	run->limit_ns = 0;
	if (run->session->watcher.command)
		kill(run->session->watcher.command, SIGTERM);
	return run->session->watcher.command != 0;
}

/* Waits for the end; shows the intervals. */
static enum tool_wakeup stat_wait_for_end(struct run *run)
{
	uint64_t interval_ns = (uint64_t)run->session->options.interval_ms * 1000000;

	for (;;) {
		uint64_t deadline = stat_earliest(stat_earliest(run->beat_ns, run->take_ns),
		                                  stat_earliest(run->tick_ns, run->limit_ns));
		enum tool_wakeup wakeup = tool_watcher_wait(&run->session->watcher, deadline);
		uint64_t now = ps__os_now_ns();
		if (wakeup != TOOL_WAKEUP_TICK)
			return wakeup;
		if (run->limit_ns && now >= run->limit_ns && !stat_end_by_timeout(run))
			return TOOL_WAKEUP_TICK;
		if (run->take_ns && now >= run->take_ns) {
			stat_uncounted_take(&run->count);
			run->take_ns = now + TAKE_NS;
		}
		if (run->beat_ns && now >= run->beat_ns)
			stat_show_beat(run);
		if (run->tick_ns && now >= run->tick_ns) {
			stat_count_take(&run->count);
			stat_show_interval(run, NULL);
			/* Intervals that were slept through are part of the one
			 * that was just shown. */
			run->tick_ns += interval_ns * ((now - run->tick_ns) / interval_ns + 1);
		}
	}
}

static void stat_set_clocks(struct run *run)
{
	const struct stat_options *options = &run->session->options;

	run->started_ns = ps__os_now_ns();
	run->taken_ns = run->started_ns;
	if (options->interval_ms)
		run->tick_ns = run->started_ns + (uint64_t)options->interval_ms * 1000000;
	if (options->timeout_ms)
		run->limit_ns = run->started_ns + (uint64_t)options->timeout_ms * 1000000;
	if (!options->is_whole_machine)
		run->take_ns = run->started_ns + TAKE_NS;
	if (!options->interval_ms && options->format == PS_FORMAT_TEXT &&
	    run->session->output.may_redraw)
		run->beat_ns = run->started_ns + BEAT_NS;
}

/* The run has ended: shows it, or its last interval and all of them
 * together. */
static int stat_show_end(struct run *run, const struct stat_facts *facts)
{
	struct session *session = run->session;
	struct stat_output *output = &session->output;

	if (session->options.interval_ms) {
		if (stat_show_interval(run, facts) < 0)
			return -1;
		stat_total_show(&session->aggregate, facts, output);
		return 0;
	}
	if (session->options.repetitions > 1) {
		if (stat_runs_add(&session->runs, facts)) {
			if (stat_add_interval(run, true) < 0)
				return -1;
			ps__spread_add(&session->aggregate.elapsed, facts->elapsed_s);
		}
		/* An interrupted first run is all that there is to show. */
		if (session->options.format == PS_FORMAT_TEXT && session->runs.counted)
			return 0;
	}
	return stat_show(output, &run->count, facts);
}

/* What stands below the counts is said on stderr, too, where they don't go
 * there. What holds of one run holds of all. */
static void stat_tell_uncounted(struct run *run)
{
	struct session *session = run->session;
	bool has_footer =
	    session->options.format == PS_FORMAT_TEXT && session->output.file.fd == STDERR_FILENO;

	stat_uncounted_take(&run->count);
	if (has_footer || session->has_shown_uncounted ||
	    !stat_uncounted_is_any(&run->count.uncounted))
		return;
	session->has_shown_uncounted = true;
	stat_uncounted_complain(&run->count.uncounted);
}

/* perfsage failed, or was told to end before there was anything to lose. */
static int stat_failed_status(const struct session *session)
{
	return session->watcher.signal ? TOOL_BY_SIGNAL + session->watcher.signal : TOOL_FAILED;
}

/* It can take its time. Nothing is lost by a signal any more: the counts are in
 * their place before. */
static int stat_draw_heat(struct run *run)
{
	struct session *session = run->session;

	if (stat_output_close(&session->output) < 0)
		return -1;
	session->watcher.signal = 0;
	tool_watcher_release(&session->watcher);
	return tool_heat_write(&session->heat, run->count.root);
}

/* Counts until the watcher reports an end, then shows all. Returns the exit
 * status. */
static int stat_count_to_the_end(struct run *run)
{
	struct session *session = run->session;
	struct tool_watcher *watcher = &session->watcher;

	enum tool_wakeup wakeup = stat_wait_for_end(run);
	uint64_t ended_ns = ps__os_now_ns();
	stat_count_stop(&run->count);
	stat_end_beat(run);
	struct stat_facts facts = {.elapsed_s = (double)(ended_ns - run->started_ns) / 1e9,
	                           .repetition = run->repetition,
	                           .has_ended = true,
	                           .has_command = wakeup == TOOL_WAKEUP_COMMAND &&
	                                          stat_counts_command(&session->options),
	                           .signal = watcher->signal,
	                           .usage = watcher->usage};
	int status = TOOL_OK;
	if (wakeup == TOOL_WAKEUP_COMMAND)
		status = tool_launch_status(watcher->wait_status);
	/* Ctrl-C is how counting of what goes on for ever is ended. */
	else if (wakeup == TOOL_WAKEUP_SIGNAL && watcher->signal != SIGINT)
		status = TOOL_BY_SIGNAL + watcher->signal;
	facts.exit_status = status;
	stat_tell_uncounted(run);
	int shown = stat_show_end(run, &facts);
	if (session->options.shows_tasks && shown == 0)
		shown = stat_tasks_show(&session->output, &run->count,
		                        session->has_aggregate ? &session->aggregate : NULL);
	if (shown < 0 && status == TOOL_OK)
		status = TOOL_FAILED;
	if (session->options.heat && shown == 0 && stat_draw_heat(run) < 0 && status == TOOL_OK)
		status = stat_failed_status(session);
	return status;
}

static int stat_start_counting(struct run *run, pid_t command)
{
	const struct stat_options *options = &run->session->options;
	int result;

	if (options->is_whole_machine)
		result = stat_count_start_cpus(&run->count);
	else if (options->pid_count)
		result = stat_count_start_processes(&run->count, options->pids, options->pid_count);
	else
		result = stat_count_start_command(&run->count, command);
	return result == 0 && options->shows_tasks ? stat_tasks_check(&run->count) : result;
}

/* A child that waits begins with signals held: they aren't for it to handle. */
static int stat_create_child(struct run *run, struct tool_launch *launch)
{
	struct session *session = run->session;

	tool_watcher_hold(&session->watcher);
	int result = tool_launch_create(launch, session->options.command, &session->watcher.state);
	/* The counts of earlier runs are still to be shown. */
	if (session->runs.counted == 0)
		tool_watcher_release(&session->watcher);
	return result;
}

/* Counting of processes and CPUs begins before their timer, the command,
 * does. */
static int stat_start_and_count(struct run *run)
{
	struct session *session = run->session;
	struct tool_watcher *watcher = &session->watcher;
	char **command = session->options.command;
	struct tool_launch launch = {.pid = 0};

	if (command && stat_create_child(run, &launch) < 0)
		return TOOL_FAILED;
	if (stat_start_counting(run, launch.pid) < 0) {
		if (command)
			tool_launch_cancel(&launch);
		return TOOL_FAILED;
	}
	tool_watcher_hold(watcher);
	stat_set_clocks(run);
	if (command) {
		int status = tool_launch_go(&launch, command, watcher);
		if (status != TOOL_OK)
			return status;
	}
	stat_output_begin(&session->output);
	return stat_count_to_the_end(run);
}

static int stat_run_once(struct session *session, long long repetition)
{
	struct run run = {.session = session, .repetition = repetition};

	if (stat_count_create(&run.count, session->model, &session->options) < 0)
		return TOOL_FAILED;
	int status = stat_start_and_count(&run);
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
		/* A run that could not be counted or shown, or was interrupted,
		 * is the last one. */
		if (session->runs.counted < index || session->watcher.has_kept)
			break;
	}
	if (session->runs.counted)
		stat_means_show(&session->aggregate, &session->runs, &session->output);
	return status;
}

/* Whatever can be wrong is found here, before a command is started. */
static int stat_prepare_and_run(struct session *session)
{
	const struct stat_options *options = &session->options;
	int status = TOOL_FAILED;

	if (tool_watcher_create(&session->watcher) < 0)
		goto destroy_watcher;
	if (tool_watcher_add(&session->watcher, options->pids, options->pid_count) < 0)
		goto destroy_watcher;
	if (options->heat && tool_heat_open(&session->heat, options->heat, options->heat_by,
	                                    session->model, &session->watcher) < 0) {
		status = stat_failed_status(session);
		goto destroy_watcher;
	}
	if (stat_output_open(&session->output, options, &session->watcher) < 0)
		goto close_heat;
	status = stat_run_all(session);
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
	int status;

	if (stat_options_parse(&session.options, argc, argv, &status) != 0)
		goto clear_options;
	session.model = stat_events_create(&session.options);
	status = session.model ? stat_prepare_and_run(&session) : TOOL_FAILED;
	ps_eventset_destroy(session.model);
clear_options:
	stat_options_clear(&session.options);
	return status;
}
