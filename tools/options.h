/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a subcommand: one table gives what getopt_long takes, what
 * --help shows, and the nearest name for one that is wrong. And what options
 * take: numbers, and lists of events.
 */
#ifndef PS_TOOLS_OPTIONS_H
#define PS_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tool_option {
	/* What tool_options_next returns: the letter of the short form, or a number from 256 */
	int key;
	const char *name;     /* the long form without its dashes */
	const char *argument; /* what it takes, as --help calls it; NULL: nothing */
	const char *help; /* folded where it is shown; NULL: another name of an option, not shown */
};

/* -h, --help is in each table by itself. */
struct tool_usage {
	const char *manual;   /* "perfsage-list(1)" */
	const char *synopsis; /* lines: "perfsage list [OPTIONS] [WORD]" */
	const char *summary;  /* what it does; folded, too */
	const struct tool_option *options;
	size_t option_count;
	/* Options of another program: refused, with `help` as what to use instead */
	const struct tool_option *foreign;
	size_t foreign_count;
	const char *examples; /* lines */
};

enum {
	TOOL_OPTIONS_END = -1,   /* optind is the first argument that is no option */
	TOOL_OPTIONS_WRONG = -2, /* said on stderr: end with TOOL_FAILED */
	TOOL_OPTIONS_HELP = -3   /* --help was shown: end with TOOL_OK */
};

/* The next option's key, and in *argument what it was given. Options end at the
 * first word that is none. To be called with optind = 1 the first time. */
int tool_options_next(const struct tool_usage *usage, int argc, char **argv, const char **argument);

/* Text of a help, folded to the terminal, from a column on, and before it what it is about. */
void tool_print_text(const char *lead, size_t column, const char *text, FILE *stream);

void tool_usage_print(const struct tool_usage *usage, FILE *stream);

/* Is a word that far away still likely to be meant? */
bool tool_is_near(const char *word, size_t distance);

/* A whole number from least to most; else complains, with the option's name,
 * and returns -1. */
int tool_parse_number(const char *option, const char *text, long long least, long long most,
                      long long *out);

/* Between the names of a list. */
#define TOOL_BLANKS " \t\n"

/* "{cycles,instructions}": the names from first to end - 1 are to be counted together. */
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
 * Adds the names of a list with commas between them; those within pmu/.../
 * divide nothing, and blanks around names are no part of them. A pattern of
 * tracepoints ("sched:*", as for a shell's files) is all that match, by name;
 * itself if none does. Names in braces are a group, as perf writes them; the
 * modifiers behind it are those of each name. Complains, and returns -1, if a
 * name is empty, if a group is not well formed, or if memory is out.
 */
int tool_names_add(struct tool_names *names, const char *list);
/* Adds one name as it is; or those of a list that has nothing but commas between them. */
int tool_names_append(struct tool_names *names, const char *name);
int tool_names_split(struct tool_names *names, const char *list);
/* Has it a '*', '?' or '['? */
bool tool_name_is_pattern(const char *name);
void tool_names_clear(struct tool_names *names);

#endif
