/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `perfsage stat`. */
#include "tools/stat_options.h"

#include "base/list.h"
#include "base/os.h"
#include "base/vector.h"
#include "output/by.h"
#include "output/number.h"
#include "tools/command.h"
#include "tools/file.h"
#include "tools/options.h"
#include "tools/stat_times.h"
#include "tools/stat_usage.h"
#include "tools/terminal.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int options_append_pid(struct stat_options *options, const char *text)
{
	long long pid;

	if (text[strspn(text, ", \t\n")] == '\0')
		return tool_complain(
		    "--pid: the list of processes is empty: did pgrep or pidof find none?");
	if (tool_parse_pid(text, &pid) < 0)
		return -1;
	if (!PS__VECTOR_GROW(&options->target.pids, options->target.pid_count,
	                     &options->target.pid_room))
		return tool_complain("out of memory");
	for (size_t index = 0; index < options->target.pid_count; index++) {
		if (options->target.pids[index] == (pid_t)pid)
			return 0;
	}
	options->target.pids[options->target.pid_count++] = (pid_t)pid;
	return 0;
}

/* True if a list with commas has an empty item, because then a part of the list may be lost. */
static bool options_lack_word(const char *list)
{
	bool has_comma = strchr(list, ',');

	for (size_t length; has_comma; list += length + 1) {
		length = strcspn(list, ",");
		if (strspn(list, " \t\n") >= length)
			return true;
		if (!list[length])
			return false;
	}
	return false;
}

/* Splits a list at commas, blanks and line ends (pgrep and pidof write these). A list without any
 * word is passed to `take` unchanged, so that `take` complains. */
static int options_split(struct stat_options *options, const char *option, const char *list,
                         int (*take)(struct stat_options *options, const char *word))
{
	char *copy = ps__os_strdup(list), *rest = copy, *word;
	size_t taken = 0;
	int result = copy ? 0 : tool_complain("out of memory");

	while (result == 0 && (word = strsep(&rest, ", \t\n"))) {
		if (!*word)
			continue;
		result = take(options, word);
		taken++;
	}
	ps__os_free(copy);
	if (result == 0 && taken && options_lack_word(list))
		return tool_complain("%s: a name or number is missing beside a comma of '%s'",
		                     option, list);
	return result == 0 && !taken ? take(options, list) : result;
}

static int options_take_layout(struct stat_options *options, enum stat_layout layout)
{
	if (options->layout != STAT_LAYOUT_AUTO && options->layout != layout)
		return tool_complain("--tree and --by exclude each other");
	options->layout = layout;
	return 0;
}

static int options_take_format(struct stat_options *options, enum ps_format format)
{
	if (options->format != PS_FORMAT_TEXT && options->format != format)
		return tool_complain("--json and --csv exclude each other");
	options->format = format;
	return 0;
}

static int options_add_by(struct stat_options *options, const char *text)
{
	struct stat_by *by = &options->by;
	unsigned types;
	int level;

	if (ps__by_find("--by", text, &types, &level) != PS_OK)
		return tool_complain_detail();
	if ((by->types & types & PS_TYPE_BIT(PS_COMPONENT_CACHE)) && by->cache_level != level)
		return tool_complain("--by takes the caches of one level");
	by->types |= types;
	by->cache_level = level ? level : by->cache_level;
	return 0;
}

static int options_take_by(struct stat_options *options, const char *list)
{
	if (options_split(options, "--by", list, options_add_by) < 0)
		return -1;
	return options_take_layout(options, STAT_LAYOUT_BY);
}

/* Returns the type for an option that means --by TYPE; NULL for other options. */
static const char *options_type_of(int key)
{
	switch (key) {
	case OPTION_BY_CPU:
		return "cpu";
	case OPTION_BY_CACHE:
		return "cache";
	case OPTION_BY_CORE:
		return "core";
	case OPTION_BY_DIE:
		return "die";
	case OPTION_BY_NODE:
		return "numa";
	case OPTION_BY_SOCKET:
		return "package";
	default:
		return NULL;
	}
}

static int options_refuse_cpus(const char *list)
{
	return tool_complain("-C takes a list of CPUs as 0-3,8, not '%s'", list);
}

/* Appends a list without blanks to the CPUs. */
static int options_add_cpus(struct stat_options *options, const char *word)
{
	char *before = options->target.cpus;
	size_t bytes = (before ? strlen(before) + 1 : 0) + strlen(word) + 1;

	if (ps__list_max(word) < 0)
		return options_refuse_cpus(word);
	char *joined = ps__os_calloc(1, bytes);
	if (!joined)
		return tool_complain("out of memory");
	snprintf(joined, bytes, "%s%s%s", before ? before : "", before ? "," : "", word);
	ps__os_free(before);
	options->target.cpus = joined;
	return 0;
}

/* Adds lists of CPUs, as "0-3,8". The files of sysfs that have such lists end each with a line
 * end. */
static int options_take_cpus(struct stat_options *options, const char *list)
{
	options->target.is_whole_machine = true;
	return options_lack_word(list) ? options_refuse_cpus(list)
	                               : options_split(options, "-C", list, options_add_cpus);
}

static int options_take_cgroup(struct stat_options *options, const char *path)
{
	if (options->target.cgroup)
		return tool_complain("--cgroup takes one control group: with those below it");
	if (!*path)
		return tool_complain("--cgroup needs the path of a control group");
	options->target.cgroup = path;
	return 0;
}

/* Checks the percentage, which the collector parses later. */
static int options_take_budget(struct stat_options *options, const char *percent)
{
	double number;

	if (!ps__number_parse(percent, &number) || number <= 0 || number > 100)
		return tool_complain("--budget takes a percentage above 0 and up to 100, not '%s'",
		                     percent);
	options->of_regions.budget = percent;
	return 0;
}

static int options_take_one_in(struct stat_options *options, const char *text)
{
	long long number;

	options->of_regions.one_in = text;
	return tool_parse_number("--one-in", text, 1, 1000000000000, &number);
}

static int options_add_region(struct stat_options *options, const char *name)
{
	size_t count = options->of_regions.named_count;

	if (!*name)
		return tool_complain("--region takes a region's name, not ''; --regions shows all");
	if (!PS__VECTOR_GROW(&options->of_regions.named, count, &options->of_regions.named_room))
		return tool_complain("out of memory");
	options->of_regions.named[options->of_regions.named_count++] = name;
	options->shows_regions = true;
	return 0;
}

/* Handles options with a number or a list. */
static int options_take_value(struct stat_options *options, int key, const char *argument)
{
	switch (key) {
	case 'e':
		return tool_names_add(&options->events, argument);
	case 'M':
		return tool_names_split(&options->metrics, "-M", argument);
	case 'p':
		return options_split(options, "--pid", argument, options_append_pid);
	case 'I':
		return tool_parse_number("--interval, in milliseconds,", argument, 1, 86400000,
		                         &options->interval_ms);
	case 'r':
		return tool_parse_number("--repeat", argument, 1, 1000000, &options->repetitions);
	case OPTION_TIMEOUT:
		return tool_parse_number("--timeout, in milliseconds,", argument, 1, 1000000000000,
		                         &options->limits.timeout_ms);
	case 'D':
		return tool_parse_number("--delay, in milliseconds,", argument, 0, 1000000000000,
		                         &options->limits.delay_ms);
	case OPTION_INTERVAL_COUNT:
		return tool_parse_number("--interval-count", argument, 1, 1000000000000,
		                         &options->limits.interval_count);
	case 'C':
		return options_take_cpus(options, argument);
	case OPTION_BUDGET:
		return options_take_budget(options, argument);
	case OPTION_ONE_IN:
		return options_take_one_in(options, argument);
	case OPTION_REGION:
		return options_add_region(options, argument);
	case OPTION_CGROUP:
		return options_take_cgroup(options, argument);
	case OPTION_METHOD:
		return stat_method_parse(argument, &options->target.method);
	case OPTION_BY:
		return options_take_by(options, argument);
	case 'o':
		return tool_file_take_name(&options->output, "--output", argument);
	case OPTION_HEAT:
		return tool_file_take_name(&options->heat, "--heat", argument);
	default:
		options->heat_by = argument;
		return 0;
	}
}

static int options_take_option(struct stat_options *options, int key, const char *argument)
{
	if (options_type_of(key))
		return options_take_by(options, options_type_of(key));
	switch (key) {
	case 'a':
		options->target.is_whole_machine = true;
		return 0;
	case OPTION_TREE:
		return options_take_layout(options, STAT_LAYOUT_TREE);
	case OPTION_REGIONS:
		options->shows_regions = true;
		return 0;
	case OPTION_TASKS:
		options->shows_tasks = true;
		return 0;
	case OPTION_JSON:
	case 'j':
		return options_take_format(options, PS_FORMAT_JSON);
	case OPTION_CSV:
		return options_take_format(options, PS_FORMAT_CSV);
	case OPTION_IDLE:
		options->look.flags |= PS_PRINT_IDLE;
		return 0;
	case OPTION_EACH:
		options->look.flags |= PS_PRINT_EACH;
		return 0;
	case OPTION_PROCESSES:
		options->shows_processes = true;
		return 0;
	case OPTION_CHILDREN:
		options->target.has_children = true;
		return 0;
	case OPTION_EXACT:
		options->target.is_exact = true;
		return 0;
	case OPTION_APPEND:
		options->appends = true;
		return 0;
	case OPTION_NO_IDLE:
		options->look.hides_idle = true;
		return 0;
	case OPTION_NO_METRICS:
		options->look.hides_metrics = true;
		return 0;
	case OPTION_RAW:
		options->look.is_raw = true;
		return 0;
	default:
		return options_take_value(options, key, argument);
	}
}

/* The name of the output chooses the format if no option does. */
static void options_choose_format(struct stat_options *options)
{
	if (options->format != PS_FORMAT_TEXT)
		return;
	if (tool_file_has_suffix(options->output, ".json"))
		options->format = PS_FORMAT_JSON;
	else if (tool_file_has_suffix(options->output, ".csv"))
		options->format = PS_FORMAT_CSV;
}

int stat_options_parse(struct stat_options *options, int argc, char **argv)
{
	const char *argument = NULL;
	int key;

	*options = (struct stat_options){.repetitions = 1, .format = PS_FORMAT_TEXT};
	optind = 1;
	while ((key = tool_options_next(&stat_usage, argc, argv, &argument)) > 0) {
		if (options_take_option(options, key, argument) < 0)
			return TOOL_FAILED;
	}
	if (key != TOOL_OPTIONS_END)
		return key;
	options->command = optind < argc ? argv + optind : NULL;
	options_choose_format(options);
	const char *conflict = stat_options_find_conflict(options);
	return conflict ? tool_complain("%s", conflict) : TOOL_OPTIONS_END;
}

void stat_options_clear(struct stat_options *options)
{
	tool_names_clear(&options->events);
	tool_names_clear(&options->metrics);
	ps__os_free(options->target.pids);
	ps__os_free(options->target.cpus);
	ps__os_free(options->of_regions.named);
	ps__os_free(options->output);
	ps__os_free(options->heat);
}
