/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `perfsage stat`. */
#include "tools/stat.h"

#include "base/os.h"
#include "base/vector.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPTION_BY = 256,
	OPTION_CSV,
	OPTION_HEAT,
	OPTION_HEAT_BY,
	OPTION_JSON,
	OPTION_NO_IDLE,
	OPTION_RAW,
	OPTION_THREADS,
	OPTION_TIMEOUT,
	OPTION_TREE
};

static const struct tool_option options_of_stat[] = {
    {'e', "event", "EVENTS",
     "what to count: names with commas between them; may be\ngiven several times. perfsage list "
     "has the names"},
    {'p', "pid", "PIDS", "count these processes, and what they create, until they\nend or Ctrl-C"},
    {'a', "all-cpus", NULL, "count whole CPUs, whatever runs there, until Ctrl-C"},
    {OPTION_BY, "by", "TYPE",
     "sums for each thread, core, cache, numa, package or machine;\nl1 to l4: for each cache of "
     "this level"},
    {OPTION_TREE, "tree", NULL, "the whole tree (so it is on a terminal)"},
    {OPTION_THREADS, "threads", NULL, "also each software thread's counts, by hardware thread"},
    {'I', "interval", "MS", "also the counts of each interval, in milliseconds"},
    {'r', "repeat", "N", "run the command N times: means and deviations"},
    {OPTION_TIMEOUT, "timeout", "MS",
     "end counting after so many milliseconds; the command\nis sent SIGTERM"},
    {OPTION_JSON, "json", NULL, "JSON: ps_export(3) describes the fields"},
    {OPTION_CSV, "csv", NULL, "CSV: a row for each component and event"},
    {'o', "output", "FILE", "write there, not to stderr; - is stdout"},
    {OPTION_HEAT, "heat", "FILE",
     "a heat map on the machine's tree: hwloc's XML, or with\na name in .svg, .png or .pdf what "
     "lstopo draws of it"},
    {OPTION_HEAT_BY, "heat-by", "NAME", "the event or metric that colours it (the first event)"},
    {OPTION_NO_IDLE, "no-idle", NULL, "leave out components without a count"},
    {OPTION_RAW, "raw", NULL, "whole numbers, without SI prefixes"},
};

static const struct tool_usage usage = {
    .synopsis = "perfsage stat [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
		"perfsage stat [OPTIONS] -p PIDS | -a [COMMAND [ARGUMENTS]]",
    .summary = "Runs a command and counts events of all its threads and child processes, from its "
	       "exec on,\n"
	       "split by hardware thread. With -p or -a a command only says how long to count.",
    .options = options_of_stat,
    .option_count = sizeof options_of_stat / sizeof options_of_stat[0],
    .examples =
	"perfsage stat make -j8\n"
	"perfsage stat -e cycles,instructions,cache-misses --by package -- ./solver input.txt\n"
	"perfsage stat -e page-faults,task-clock -r 5 --csv -o runs.csv -- ./solver input.txt\n"
	"perfsage stat -p 4711 -I 1000\n"
	"perfsage stat -a --heat machine.svg --heat-by instructions -- sleep 10\n",
};

static int options_append_pid(struct stat_options *options, const char *text)
{
	long long pid;

	if (tool_parse_number("--pid", text, 1, 1 << 22, &pid) < 0)
		return -1;
	pid_t *grown = ps__vector_reserve(options->pids, options->pid_count, options->pid_count + 1,
	                                  &options->pid_room, sizeof *grown);
	if (!grown)
		return tool_complain("out of memory"), -1;
	options->pids = grown;
	for (size_t index = 0; index < options->pid_count; index++) {
		if (grown[index] == (pid_t)pid)
			return 0;
	}
	grown[options->pid_count++] = (pid_t)pid;
	return 0;
}

static int options_split_pids(struct stat_options *options, const char *list)
{
	char *copy = strdup(list);
	char *rest = copy;
	int result = copy ? 0 : -1;

	while (result == 0 && rest)
		result = options_append_pid(options, strsep(&rest, ","));
	free(copy);
	return result;
}

static int options_take_layout(struct stat_options *options, enum stat_layout layout)
{
	if (options->layout != STAT_LAYOUT_AUTO && options->layout != layout)
		return tool_complain("--tree and --by exclude each other"), -1;
	options->layout = layout;
	return 0;
}

static int options_take_format(struct stat_options *options, enum ps_format format)
{
	if (options->format != PS_FORMAT_TEXT && options->format != format)
		return tool_complain("--json and --csv exclude each other"), -1;
	options->format = format;
	return 0;
}

static int options_parse_by(struct stat_options *options, const char *text)
{
	static const struct {
		const char *name;
		enum ps_component_type type;
		int level;
	} types[] = {
	    {"thread", PS_COMPONENT_THREAD, 0},
	    {"core", PS_COMPONENT_CORE, 0},
	    {"cache", PS_COMPONENT_CACHE, PS_CACHE_LAST_LEVEL},
	    {"l1", PS_COMPONENT_CACHE, 1},
	    {"l2", PS_COMPONENT_CACHE, 2},
	    {"l3", PS_COMPONENT_CACHE, 3},
	    {"l4", PS_COMPONENT_CACHE, 4},
	    {"numa", PS_COMPONENT_NUMA, 0},
	    {"package", PS_COMPONENT_PACKAGE, 0},
	    {"machine", PS_COMPONENT_MACHINE, 0},
	};

	for (size_t index = 0; index < sizeof types / sizeof types[0]; index++) {
		if (strcasecmp(types[index].name, text) != 0)
			continue;
		options->types = PS_TYPE_BIT(types[index].type);
		options->cache_level = types[index].level;
		return options_take_layout(options, STAT_LAYOUT_BY);
	}
	return tool_complain("--by takes thread, core, cache, l1, l2, l3, l4, numa, package or "
	                     "machine, not '%s'",
	                     text),
	       -1;
}

/* Options that take a number or a list. */
static int options_take_value(struct stat_options *options, int key, const char *argument)
{
	switch (key) {
	case 'e':
		return tool_names_add(&options->events, argument);
	case 'p':
		return options_split_pids(options, argument);
	case 'I':
		return tool_parse_number("--interval", argument, 1, 86400000,
		                         &options->interval_ms);
	case 'r':
		return tool_parse_number("--repeat", argument, 1, 1000000, &options->repetitions);
	case OPTION_TIMEOUT:
		return tool_parse_number("--timeout", argument, 1, 1000000000000,
		                         &options->timeout_ms);
	case OPTION_BY:
		return options_parse_by(options, argument);
	case 'o':
		options->output = argument;
		return 0;
	case OPTION_HEAT:
		options->heat = argument;
		return 0;
	default:
		options->heat_by = argument;
		return 0;
	}
}

static int options_take_option(struct stat_options *options, int key, const char *argument)
{
	switch (key) {
	case 'a':
		options->is_whole_machine = true;
		return 0;
	case OPTION_TREE:
		return options_take_layout(options, STAT_LAYOUT_TREE);
	case OPTION_THREADS:
		options->shows_tasks = true;
		return 0;
	case OPTION_JSON:
		return options_take_format(options, PS_FORMAT_JSON);
	case OPTION_CSV:
		return options_take_format(options, PS_FORMAT_CSV);
	case OPTION_NO_IDLE:
		options->hides_idle = true;
		return 0;
	case OPTION_RAW:
		options->is_raw = true;
		return 0;
	default:
		return options_take_value(options, key, argument);
	}
}

/* Says what is wrong with the options together; NULL if nothing is. */
static const char *options_find_conflict(const struct stat_options *options)
{
	bool has_target = options->is_whole_machine || options->pid_count;

	if (options->is_whole_machine && options->pid_count)
		return "-a and -p exclude each other";
	if (!has_target && !options->command)
		return "a command is missing, or -p PID, or -a: see --help";
	if (options->repetitions > 1 && !options->command)
		return "-r needs a command to run";
	if (options->repetitions > 1 && options->interval_ms)
		return "-r and -I exclude each other";
	if (options->repetitions > 1 && options->heat)
		return "-r and --heat exclude each other";
	if (options->interval_ms && options->heat)
		return "-I and --heat exclude each other";
	if (options->shows_tasks && options->is_whole_machine)
		return "--threads needs a command or -p: whole CPUs are counted whatever runs "
		       "there";
	if (options->shows_tasks && options->repetitions > 1)
		return "--threads and -r exclude each other";
	if (options->shows_tasks && options->format == PS_FORMAT_CSV)
		return "--threads and --csv exclude each other: JSON has both, a line each";
	if (options->heat && options->output && strcmp(options->heat, options->output) == 0)
		return "-o and --heat can't write the same file";
	if (options->heat_by && !options->heat)
		return "--heat-by needs --heat FILE";
	return NULL;
}

int stat_options_parse(struct stat_options *options, int argc, char **argv, int *status)
{
	const char *argument = NULL;
	int key;

	*options = (struct stat_options){.repetitions = 1, .format = PS_FORMAT_TEXT};
	*status = TOOL_FAILED;
	optind = 1;
	while ((key = tool_options_next(&usage, argc, argv, &argument)) >= 0) {
		if (options_take_option(options, key, argument) < 0)
			return 1;
	}
	if (key == TOOL_OPTIONS_HELP)
		*status = TOOL_OK;
	if (key != TOOL_OPTIONS_END)
		return 1;
	options->command = optind < argc ? argv + optind : NULL;
	const char *conflict = options_find_conflict(options);
	if (conflict)
		tool_complain("%s", conflict);
	return conflict != NULL;
}

void stat_options_clear(struct stat_options *options)
{
	tool_names_clear(&options->events);
	ps__os_free(options->pids);
}
