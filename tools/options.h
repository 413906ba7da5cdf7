/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a subcommand. One table serves getopt_long, --help and the suggestion of the
 * nearest option. Also parses the arguments of options: numbers, and lists of events.
 */
#ifndef PS_TOOLS_OPTIONS_H
#define PS_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tool_option {
	/* What tool_options_next returns: the letter of the short form, or a number from 256 */
	int key;
	const char *name;     /* the long form without dashes */
	const char *argument; /* name of its argument in --help; NULL: it takes none */
	const char *help;     /* wrapped when it is shown; NULL: an alias, which isn't shown */
};

/* -h, --help is added to each table. */
struct tool_usage {
	const char *manual;   /* "perfsage-list(1)" */
	const char *synopsis; /* one line for each form: "perfsage list [OPTIONS] [WORD]" */
	const char *summary;  /* what the subcommand does; wrapped when it is shown */
	const struct tool_option *options;
	size_t option_count;
	/* Options of another program, which are refused; their help says what to use instead */
	const struct tool_option *foreign;
	size_t foreign_count;
	const char *examples; /* one line each */
};

/* Returned after the last option: optind is the index of the first argument that isn't one. */
#define TOOL_OPTIONS_END (-2)

/* Returns the key of the next option, and its argument in *argument; TOOL_OPTIONS_END; or the
 * status with which the subcommand must end: TOOL_OK after --help, TOOL_FAILED after a complaint.
 * Options end at the first argument that isn't one. optind must be 1 at the first call. */
int tool_options_next(const struct tool_usage *usage, int argc, char **argv, const char **argument);

/* Prints lead, then help text from a column on, wrapped to the terminal's width. */
void tool_print_text(const char *lead, size_t column, const char *text, FILE *stream);

/* True if a word at this distance from an existing one is probably a typing error. */
bool tool_is_near(const char *word, size_t distance);

/* Reads the number of a process. Returns -1 after a complaint. If the text is a name, the complaint
 * tells how to get the numbers of the processes with this name. */
int tool_parse_pid(const char *text, long long *out);

/* Reads a whole number from least to most. Returns -1 after a complaint that names the option. */
int tool_parse_number(const char *option, const char *text, long long least, long long most,
                      long long *out);

/* Blanks that may surround the names of a list. */
#define TOOL_BLANKS " \t\n"

/* Events to be counted together, as "{cycles,instructions}": the names from first to end - 1. */
struct tool_name_group {
	size_t first, end;
	bool is_weak; /* may be split */
};

struct tool_names {
	char **names;
	size_t count, room;
	struct tool_name_group *groups;
	size_t group_count, group_room;
};

/*
 * Adds the names of a list separated by commas. Commas within pmu/.../ don't separate, and blanks
 * around names are ignored. A pattern of tracepoints ("sched:*", as in a shell) adds all
 * tracepoints that match, sorted by name; if none matches, the pattern itself. Names in braces are
 * a group in perf's notation; modifiers after the group apply to each of its names. Returns -1
 * after a complaint if a name is empty, a group is malformed, or memory runs out.
 */
int tool_names_add(struct tool_names *names, const char *list);
/* Adds one name unchanged. */
int tool_names_append(struct tool_names *names, const char *name);
/* Adds all names of a list in which every comma separates; blanks around names are ignored. Returns
 * -1 after a complaint that names the option. */
int tool_names_split(struct tool_names *names, const char *option, const char *list);
/* True if the name contains '*', '?' or '['. */
bool tool_name_is_pattern(const char *name);
void tool_names_clear(struct tool_names *names);

#endif
