/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage timeline: which task ran on which hardware thread when, and what was counted in each
 * slice. */
#include "tools/timeline.h"

#include "base/os.h"
#include "tools/command.h"
#include "tools/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_BYTES 65536
#define TRACE_END   ".perfetto-trace"

enum {
	OPTION_TRACE = 256,
	OPTION_JSON,
	OPTION_SLICES,
	OPTION_ROWS,
	OPTION_RING,
	OPTION_MEMORY,
	OPTION_TIMEOUT
};

static const struct tool_option options_of_timeline[] = {
    {'e', "event", "LIST",
     "count these in each slice, as page-faults:u; hardware counters\n"
     "and clocks need the right to observe whole CPUs"},
    {'p', "pid", "PID", "a running process, until it ends or Ctrl-C"},
    {'o', "output", "FILE",
     "write there, not to stderr; - is stdout. A name that ends in\n" TRACE_END
     " gets the trace, as --trace. In\nthe name %r for the MPI rank, %h for the host. One in "
     ".json\ngets JSON"},
    {OPTION_TRACE, "trace", "FILE",
     "a trace that Perfetto's viewer opens (https://ui.perfetto.dev);\n"
     "- is stdout"},
    {OPTION_JSON, "json", NULL, "as JSON, with all tasks"},
    {OPTION_SLICES, "slices", NULL, "first each span of time on and off a hardware thread"},
    {OPTION_ROWS, "rows", "N", "show at most N tasks, waits and migrations (10)"},
    {OPTION_RING, "ring", "KIB", "the kernel's buffer for each hardware thread (512)"},
    {OPTION_MEMORY, "memory", "MIB", TOOL_SLICES_MEMORY_HELP},
    {OPTION_TIMEOUT, "timeout", "MS", "end after so long: a command gets SIGTERM"},
};

static const struct tool_usage usage = {
    .manual = "perfsage-timeline(1)",
    .synopsis = "perfsage timeline [OPTIONS] COMMAND [ARGUMENTS]\n"
		"perfsage timeline [OPTIONS] -p PID\n",
    .summary = "Shows who ran on which hardware thread when: times on and off, the longest waits, "
	       "and\nmigrations, from the kernel's records of each context switch.",
    .options = options_of_timeline,
    .option_count = sizeof options_of_timeline / sizeof options_of_timeline[0],
    .examples = "perfsage timeline ./solver\n"
		"perfsage timeline -e page-faults:u -o solver.perfetto-trace ./solver\n"
		"mpirun -n 4 perfsage timeline -o tasks.%r ./solver\n"
		"perfsage timeline -p 1234 --timeout 5000\n"
		"perfsage timeline --json --slices -o solver.json ./solver\n",
};

static int take_output(struct timeline_options *options, const char *name)
{
	char *file = NULL;

	if (tool_file_take_name(&file, "--output", name) < 0)
		return -1;
	char **place = tool_file_has_suffix(file, TRACE_END) ? &options->trace : &options->output;
	ps__os_free(*place);
	*place = file;
	return 0;
}

static int take_pid(struct timeline_options *options, const char *text)
{
	long long pid;

	if (tool_parse_pid(text, &pid) < 0)
		return -1;
	if (options->pid && options->pid != pid)
		return tool_complain("-p observes one process, and %lld and %lld are two",
		                     options->pid, pid);
	options->pid = pid;
	return 0;
}

static int timeline_take_option(struct timeline_options *options, int key, const char *argument)
{
	switch (key) {
	case 'e':
		return tool_names_add(&options->events, argument);
	case 'p':
		return take_pid(options, argument);
	case 'o':
		return take_output(options, argument);
	case OPTION_TRACE:
		return tool_file_take_name(&options->trace, "--trace", argument);
	case OPTION_JSON:
		options->is_json = true;
		return 0;
	case OPTION_SLICES:
		options->has_slices = true;
		return 0;
	case OPTION_ROWS:
		return tool_parse_number("--rows", argument, 1, 1000000, &options->rows);
	case OPTION_RING:
		return tool_parse_number("--ring, in KiB,", argument, 4, 1 << 20,
		                         &options->ring_kib);
	case OPTION_MEMORY:
		return tool_slices_parse_memory(argument, &options->memory_mib);
	default:
		return tool_parse_number("--timeout, in milliseconds,", argument, 1, 1000000000000,
		                         &options->timeout_ms);
	}
}

static int complain_same(const struct timeline_options *options)
{
	return tool_complain(
	    "'%s' can't be both the output and the trace: give -o and --trace two files",
	    options->trace);
}

/* Returns TOOL_OPTIONS_END to go on; else the exit status. */
static int timeline_parse(struct timeline_options *options, int argc, char **argv)
{
	const char *argument;
	int key;

	optind = 1;
	while ((key = tool_options_next(&usage, argc, argv, &argument)) > 0) {
		if (timeline_take_option(options, key, argument) < 0)
			return TOOL_FAILED;
	}
	if (key != TOOL_OPTIONS_END)
		return key;
	options->is_json |= tool_file_has_suffix(options->output, ".json");
	options->command = optind < argc ? argv + optind : NULL;
	if (!options->command && !options->pid)
		return tool_complain("there is no command and no -p PID: see --help");
	if (options->command && options->pid)
		return tool_complain("-p observes a process that runs: it takes no command, and "
		                     "'%s' is one",
		                     *options->command);
	if (options->output && options->trace && strcmp(options->output, options->trace) == 0)
		return complain_same(options);
	return TOOL_OPTIONS_END;
}

/* Writes the text when there is enough of it, because all text together may not fit into memory. */
static int timeline_flush(struct timeline *timeline, bool is_end)
{
	if (!is_end && timeline->text.length < FLUSH_BYTES)
		return 0;
	if (tool_write(&timeline->text, timeline->file.stream) < 0)
		return -1;
	return tool_file_flush(&timeline->file);
}

static int timeline_visit(const struct tool_span *span, void *context)
{
	struct timeline *timeline = context;
	int result = timeline_sums_add(&timeline->sums, span);

	if (result != PS_OK)
		return tool_complain_detail();
	timeline_counters_add_span(timeline, span);
	if (!timeline->options.has_slices)
		return 0;
	if (timeline->options.is_json)
		timeline_json_add_span(timeline, span);
	else
		timeline_text_add_span(timeline, span);
	return timeline_flush(timeline, false);
}

static int timeline_visit_hole(const struct tool_hole *hole, void *context)
{
	struct timeline *timeline = context;

	return timeline_sums_add_hole(&timeline->sums, hole) == PS_OK ? 0 : tool_complain_detail();
}

static int timeline_visit_for_trace(const struct tool_span *span, void *context)
{
	return timeline_trace_add(context, span);
}

static int timeline_visit_hole_for_trace(const struct tool_hole *hole, void *context)
{
	return timeline_trace_add_hole(context, hole);
}

/* Plays the records. The trace needs a second play: a track begins with its task's last name, which
 * only the end of the first play tells. Returns -1 after a complaint. A failed write is reported
 * when the file is finished. */
static int timeline_play(struct timeline *timeline)
{
	struct tool_slices_play play = {.begin_ns = timeline->begin_ns,
	                                .end_ns = timeline->end_ns,
	                                .exec_pid = timeline->command_pid,
	                                .has_mappings = true,
	                                .visit = timeline_visit,
	                                .visit_hole = timeline_visit_hole,
	                                .context = timeline};

	if (timeline_sums_create(&timeline->sums, (size_t)timeline->options.rows) != PS_OK)
		return tool_complain_detail();
	if (timeline->options.is_json)
		timeline_json_begin(timeline);
	else if (timeline->options.has_slices)
		ps__buffer_add(&timeline->text, "\n");
	int result = tool_slices_play(timeline->slices, &play);
	if (result == PS_OK && timeline->tracks) {
		play.visit = timeline_visit_for_trace;
		play.visit_hole = timeline_visit_hole_for_trace;
		result = tool_slices_play_again(timeline->slices, &play);
	}
	if (result == PS_ENOMEM || result == PS_ENOTRUN)
		tool_complain_detail();
	return result == PS_OK ? 0 : -1;
}

static int timeline_show(struct timeline *timeline)
{
	tool_slices_complain_full(timeline->slices);
	if (timeline_play(timeline) < 0)
		return -1;
	timeline_events_note_foreign(timeline);
	timeline_sums_close(&timeline->sums);
	if (timeline->options.is_json) {
		timeline_notes_complain(timeline);
		timeline_json_add_sums(timeline);
	} else {
		timeline_text_add_sums(timeline);
	}
	return timeline_flush(timeline, true);
}

/* Opens the trace. The output must be open already: then it can be found out whether both are the
 * same file. */
static int open_trace(struct timeline *timeline)
{
	const struct timeline_options *options = &timeline->options;

	if (tool_file_is_of(&timeline->file, options->trace))
		return complain_same(options);
	return timeline_trace_open(timeline);
}

/* Opens the files before anything runs, so that files that can't be written are reported first.
 * Returns the exit status. */
static int record_and_show(struct timeline *timeline)
{
	bool is_recorded = false;

	timeline->screen = tool_screen_of(timeline->file.fd);
	if (timeline->options.trace && open_trace(timeline) < 0)
		return tool_file_discard(&timeline->file), TOOL_FAILED;
	int status = timeline_record(timeline, &is_recorded);
	if (is_recorded)
		tool_file_begin(&timeline->file);
	bool is_shown = is_recorded && timeline_show(timeline) == 0;
	int closed = timeline_trace_close(timeline, is_shown);
	if (is_shown || timeline->file.error)
		closed |= tool_file_finish(&timeline->file, true);
	else
		tool_file_discard(&timeline->file);
	return (closed < 0 || !is_shown) && status == TOOL_OK ? TOOL_FAILED : status;
}

static int timeline_run_session(struct timeline *timeline)
{
	struct timeline_options *options = &timeline->options;
	pid_t pid = (pid_t)options->pid;
	size_t count = 1;
	int status = TOOL_FAILED;

	if (tool_watcher_create(&timeline->watcher, options->pid != 0) == 0 &&
	    (!options->pid || tool_watcher_add(&timeline->watcher, &pid, &count) == 0) &&
	    tool_file_open(&timeline->file, options->output, &timeline->watcher) == 0)
		status = record_and_show(timeline);
	ps_session_destroy(timeline->session);
	tool_watcher_destroy(&timeline->watcher);
	return status;
}

int tool_timeline(int argc, char **argv)
{
	struct timeline timeline = {
	    .options = {.rows = 10, .ring_kib = 512, .memory_mib = TOOL_SLICES_MEMORY_MIB}};
	int status = timeline_parse(&timeline.options, argc, argv);

	if (status == TOOL_OPTIONS_END) {
		status = TOOL_FAILED;
		tool_advise_itself();
		if (tool_slices_create(&timeline.slices, timeline.options.events.count) == PS_OK)
			status = timeline_run_session(&timeline);
		else
			tool_complain_detail();
	}
	tool_slices_destroy(timeline.slices);
	timeline_sums_clear(&timeline.sums);
	ps__buffer_clear(&timeline.text);
	ps__os_free(timeline.there.list);
	timeline_counters_clear(&timeline);
	timeline_events_clear(&timeline);
	tool_names_clear(&timeline.options.events);
	ps__os_free(timeline.options.output);
	ps__os_free(timeline.options.trace);
	return status;
}
