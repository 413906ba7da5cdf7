/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log: the records of a log, the counts of its intervals, and the costs of units of work.
 */
#include "tools/log.h"

#include "output/by.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/terminal.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	OPTION_TYPE = 256,
	OPTION_FROM,
	OPTION_TO,
	OPTION_WHERE,
	OPTION_GROUP,
	OPTION_OF,
	OPTION_WORK,
	OPTION_ROWS,
	OPTION_HISTOGRAM,
	OPTION_CONSTANT,
	OPTION_NON_NEGATIVE,
	OPTION_BY,
	OPTION_FORMAT,
	OPTION_JSON,
	OPTION_CSV
};

static const struct tool_option options_of_log[] = {
    {OPTION_TYPE, "type", "NAME", "records of this type; needed if the log has several"},
    {OPTION_FROM, "from", "POINT", "where intervals begin (the first point)"},
    {OPTION_TO, "to", "POINT",
     "where they end (the last point). previous:POINT is the point of the record before"},
    {OPTION_WHERE, "where", "CONDITION",
     "only records that meet it: FIELD=VALUE, or with !=, <, <=, > or >=. If given several times, "
     "all must be met"},
    {OPTION_OF, "of", "EVENTS", "only these events (all)"},
    {OPTION_GROUP, "group", "FIELD", "intervals: separately for each value of the field"},
    {OPTION_BY, "by", "TYPE", "intervals: separately for each package, numa, cache, core or cpu"},
    {OPTION_HISTOGRAM, "histogram", NULL, "intervals: how many had which count, by powers of two"},
    {OPTION_WORK, "work", "FIELDS", "cost: the fields that say how much work was done"},
    {OPTION_CONSTANT, "constant", NULL, "cost: each interval has a cost besides that of its work"},
    {OPTION_NON_NEGATIVE, "non-negative", NULL, "cost: no unit of work costs less than 0"},
    {OPTION_ROWS, "rows", "N",
     "print at most N records or rows of intervals as text (20 and 40 on a terminal, else all)"},
    {'o', "output", "FILE", "convert: the trace; - is stdout"},
    {OPTION_FORMAT, "format", "NAME", "convert: perfetto, a file; or otf2, a new folder"},
    {OPTION_JSON, "json", NULL, "as JSON"},
    {OPTION_CSV, "csv", NULL, "as comma-separated values"},
};

static const struct tool_usage usage = {
    .manual = "perfsage-log(1)",
    .synopsis = "perfsage log show FILE [OPTIONS]\n"
		"perfsage log intervals FILE [OPTIONS]\n"
		"perfsage log cost FILE --work FIELDS --of EVENT [OPTIONS]\n"
		"perfsage log convert FILE -o TRACE [OPTIONS]",
    .summary = "Reads a log that a program wrote with ps_log(3): its records; what was counted "
	       "between two of their\n"
	       "points, with mean and percentiles; and what one unit of each kind of work costs. "
	       "Or makes a\n"
	       "trace of it, for viewers.",
    .options = options_of_log,
    .option_count = sizeof options_of_log / sizeof options_of_log[0],
    .examples = "perfsage log show app.pslog\n"
		"perfsage log intervals app.pslog --from begun --to finished --group kind\n"
		"perfsage log intervals app.pslog --from previous:finished --to woken\n"
		"perfsage log cost app.pslog --work rows,columns --of page-faults --json\n"
		"perfsage log convert app.pslog -o app.perfetto-trace\n",
};

enum {
	SHOW = 1 << 0,
	INTERVALS = 1 << 1,
	COST = 1 << 2,
	CONVERT = 1 << 3
};

static const struct action {
	const char *name;
	int (*run)(struct tool_log *log);
	unsigned bit;
} actions[] = {
    {"show", tool_log_show, SHOW},
    {"intervals", tool_log_intervals, INTERVALS},
    {"cost", tool_log_cost, COST},
    {"convert", tool_log_convert, CONVERT},
};

#define ACTIONS (sizeof actions / sizeof actions[0])

/* Actions that accept an option. Options that aren't listed are for all actions. */
static const struct {
	int key;
	unsigned actions;
} only_for[] = {
    {OPTION_FROM, INTERVALS | COST | CONVERT},
    {OPTION_TO, INTERVALS | COST | CONVERT},
    {OPTION_JSON, SHOW | INTERVALS | COST},
    {'o', CONVERT},
    {OPTION_FORMAT, CONVERT},
    {OPTION_ROWS, SHOW | INTERVALS},
    {OPTION_GROUP, INTERVALS},
    {OPTION_BY, INTERVALS},
    {OPTION_HISTOGRAM, INTERVALS},
    {OPTION_WORK, COST},
    {OPTION_CONSTANT, COST},
    {OPTION_NON_NEGATIVE, COST},
    {OPTION_CSV, INTERVALS | COST},
};

static const char *name_of_option(int key)
{
	size_t index = 0;

	while (options_of_log[index].key != key)
		index++;
	return options_of_log[index].name;
}

static int check_option(const struct action *action, int key)
{
	for (size_t index = 0; index < sizeof only_for / sizeof only_for[0]; index++) {
		if (only_for[index].key != key || only_for[index].actions & action->bit)
			continue;
		return tool_complain("perfsage log %s has no --%s. See perfsage log --help",
		                     action->name, name_of_option(key));
	}
	return 0;
}

static int log_take_format(struct tool_log_options *options, enum tool_log_format format)
{
	if (options->format != TOOL_LOG_TEXT && options->format != format)
		return tool_complain("--json and --csv exclude each other");
	options->format = format;
	return 0;
}

static int log_take_option(struct tool_log_options *options, int key, const char *argument)
{
	switch (key) {
	case OPTION_TYPE:
		options->type = argument;
		return 0;
	case OPTION_FROM:
		options->from = tool_log_parse_point(argument);
		return 0;
	case OPTION_TO:
		options->to = tool_log_parse_point(argument);
		return 0;
	case OPTION_WHERE:
		return tool_log_add_condition(options, argument);
	case OPTION_GROUP:
		options->group = argument;
		return 0;
	case OPTION_OF:
		return tool_names_add(&options->events, argument);
	case OPTION_WORK:
		return tool_names_split(&options->work, "--work", argument);
	case OPTION_BY:
		return ps__by_find("--by", argument, &options->by, &options->by_level) == PS_OK
		           ? 0
		           : tool_complain_detail();
	case OPTION_ROWS:
		return tool_parse_number("--rows", argument, 1, LLONG_MAX, &options->rows);
	case 'o':
		return tool_file_take_name(&options->output, "--output", argument);
	case OPTION_FORMAT:
		return tool_trace_find_format(argument, &options->trace_format);
	case OPTION_HISTOGRAM:
		options->has_histogram = true;
		return 0;
	case OPTION_CONSTANT:
		options->has_constant = true;
		return 0;
	case OPTION_NON_NEGATIVE:
		options->is_non_negative = true;
		return 0;
	default:
		return log_take_format(options, key == OPTION_JSON ? TOOL_LOG_JSON : TOOL_LOG_CSV);
	}
}

/* Reads options before and after the file. Returns TOOL_OPTIONS_END if all are valid. */
static int read_options(struct tool_log_options *options, const struct action *action, int argc,
                        char **argv)
{
	const char *argument;
	int key;

	optind = 2;
	for (;;) {
		while ((key = tool_options_next(&usage, argc, argv, &argument)) > 0) {
			if (check_option(action, key) < 0 ||
			    log_take_option(options, key, argument) < 0)
				return TOOL_FAILED;
		}
		if (key != TOOL_OPTIONS_END || optind >= argc)
			return key;
		if (options->path)
			return tool_complain("one log is read at a time: '%s' or '%s'",
			                     options->path, argv[optind]);
		options->path = argv[optind++];
	}
}

static int run_action(struct tool_log *log, const struct action *action, int argc, char **argv)
{
	struct tool_log_options *options = &log->options;
	int key = read_options(options, action, argc, argv);

	if (key != TOOL_OPTIONS_END)
		return key;
	if (!options->path)
		return tool_complain("perfsage log %s needs the FILE that a program wrote with "
		                     "ps_log(3)",
		                     action->name);
	if (action->bit == COST && (!options->work.count || options->events.count != 1))
		return tool_complain(
		    "perfsage log cost needs --work FIELDS, and --of with one EVENT");
	if (options->rows && options->format != TOOL_LOG_TEXT)
		return tool_complain("--rows is for text: JSON and CSV have all");
	if (options->has_histogram && options->format == TOOL_LOG_CSV)
		return tool_complain("CSV has no place for --histogram: JSON and text have one");
	if (action->bit == CONVERT && !options->output)
		return tool_complain("perfsage log convert needs -o with the FILE of the trace");
	options->may_mix = action->bit == SHOW || action->bit == CONVERT;
	return tool_log_open(log) < 0 ? TOOL_FAILED : action->run(log);
}

int tool_log(int argc, char **argv)
{
	struct tool_log log = {.reader = NULL};
	const char *argument;

	if (argc < 2 || argv[1][0] == '-') {
		optind = 1;
		int key = tool_options_next(&usage, argc, argv, &argument);
		if (key == TOOL_OK)
			return TOOL_OK;
		return tool_complain(
		    "say what to do with the log: show, intervals, cost or convert. See "
		    "perfsage log --help");
	}
	for (size_t index = 0; index < ACTIONS; index++) {
		if (strcmp(argv[1], actions[index].name) != 0)
			continue;
		int status = run_action(&log, &actions[index], argc, argv);
		tool_log_close(&log);
		return status;
	}
	return tool_complain(
	    "there is no 'perfsage log %s': it is show, intervals, cost or convert", argv[1]);
}
