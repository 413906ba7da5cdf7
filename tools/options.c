/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the subcommands, parsed by getopt_long; numbers and lists of events. */
#include "tools/options.h"

#include "base/distance.h"
#include "tools/command.h"
#include "tools/terminal.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <perfsage/error.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS   96
#define HELP_COLUMN    26
#define USUAL_WIDTH    80 /* width of output that isn't a terminal */
#define SYNOPSIS_LEAD  "       "
#define EXAMPLE_INDENT 2
#define LINE_BYTES     256

/* The option tables in getopt_long's form. */
struct form {
	struct option longs[MOST_OPTIONS + 2];
	size_t count;
	char shorts[2 * MOST_OPTIONS + 8];
};

/* takes: has_arg for options that have an argument. */
static void form_add(struct form *form, const struct tool_option *options, size_t count, int takes)
{
	char *letter = form->shorts + strlen(form->shorts);

	for (size_t index = 0; index < count && form->count < MOST_OPTIONS; index++) {
		const struct tool_option *option = &options[index];
		form->longs[form->count++] =
		    (struct option){.name = option->name,
		                    .has_arg = option->argument ? takes : no_argument,
		                    .val = option->key};
		if (option->key > 255)
			continue;
		*letter++ = (char)option->key;
		if (option->argument && takes == required_argument)
			*letter++ = ':';
	}
	*letter = '\0';
}

static void form_create(struct form *form, const struct tool_usage *usage)
{
	/* '+': options end at the first word. ':': a missing argument is reported as ':'. */
	*form = (struct form){.shorts = "+:h"};
	form_add(form, usage->options, usage->option_count, required_argument);
	/* Give foreign options an optional argument, so that they are refused with or without
	 * one. */
	form_add(form, usage->foreign, usage->foreign_count, optional_argument);
	form->longs[form->count] =
	    (struct option){.name = "help", .has_arg = no_argument, .val = 'h'};
}

static const struct tool_option *options_find(const struct tool_option *options, size_t count,
                                              int key)
{
	for (size_t index = 0; index < count; index++) {
		if (options[index].key == key)
			return &options[index];
	}
	return NULL;
}

static const struct tool_option *options_find_option(const struct tool_usage *usage, int key)
{
	const struct tool_option *own = options_find(usage->options, usage->option_count, key);

	return own ? own : options_find(usage->foreign, usage->foreign_count, key);
}

bool tool_is_near(const char *word, size_t distance)
{
	return distance <= 2 && 2 * distance < strnlen(word, PS__DISTANCE_LONGEST);
}

static int options_complain_unknown_long(const struct tool_usage *usage, const char *word)
{
	const char *nearest = "help";
	size_t shortest = ps__distance(word, nearest);

	for (size_t index = 0; index < usage->option_count; index++) {
		const char *name = usage->options[index].name;
		size_t distance = ps__distance(word, name);
		/* A word that begins several options is nearer to them than to any other option. */
		if (*word && strncasecmp(name, word, strlen(word)) == 0)
			distance = 0;
		if (distance < shortest) {
			shortest = distance;
			nearest = name;
		}
	}
	if (tool_is_near(word, shortest))
		return tool_complain("there is no option --%s: did you mean --%s? See --help", word,
		                     nearest);
	return tool_complain("there is no option --%s: see --help", word);
}

static int options_complain_missing(const struct tool_usage *usage, int key)
{
	const struct tool_option *option = options_find_option(usage, key);

	return tool_complain("option --%s needs %s: see --help", option ? option->name : "?",
	                     option ? option->argument : "?");
}

/* Complains about an option that getopt_long refused. optopt is 0 for an unknown long option, else
 * its letter or key. */
static int options_complain_unknown(const struct tool_usage *usage, char **argv)
{
	char word[64];
	const struct tool_option *option = optopt ? options_find_option(usage, optopt) : NULL;

	if (option || optopt == 'h')
		return tool_complain("option --%s takes no argument",
		                     option ? option->name : "help");
	if (optopt)
		return tool_complain("there is no option -%c: see --help", optopt);
	snprintf(word, sizeof word, "%s", argv[optind - 1] + strspn(argv[optind - 1], "-"));
	word[strcspn(word, "=")] = '\0';
	return options_complain_unknown_long(usage, word);
}

/* Returns the foreign option, or NULL. index: number of the long option, the subcommand's own ones
 * first; -1 for a letter. */
static const struct tool_option *options_find_foreign(const struct tool_usage *usage, int key,
                                                      int index)
{
	size_t own = usage->option_count;

	if (index >= 0)
		return (size_t)index >= own && (size_t)index < own + usage->foreign_count
		           ? &usage->foreign[(size_t)index - own]
		           : NULL;
	return options_find(usage->foreign, usage->foreign_count, key);
}

static int options_complain_foreign(const struct tool_option *option)
{
	if (option->key > 255)
		return tool_complain("there is no option --%s: %s", option->name, option->help);
	return tool_complain("there is no option -%c, --%s: %s", option->key, option->name,
	                     option->help);
}

void tool_print_text(const char *lead, size_t column, const char *text, FILE *stream)
{
	bool is_below = column && strlen(lead) + 2 > column;
	size_t width = tool_screen_of(fileno(stream)).width;
	struct ps__buffer line = {0}, out = {0};

	ps__buffer_add(&line, "%s", text);
	for (char *at = line.text; !line.failed && (at = strchr(at, '\n'));)
		*at = ' ';
	if (is_below)
		ps__buffer_add(&out, "%s\n", lead);
	ps__buffer_add(&out, "%-*s", (int)column, is_below ? "" : lead);
	tool_paragraph_of(&out, &line, column, width ? width : USUAL_WIDTH);
	tool_write(&out, stream);
}

static void options_print_option(const struct tool_option *option, FILE *stream)
{
	char left[80];
	int length =
	    snprintf(left, sizeof left, option->key > 255 ? "      " : "  -%c, ", option->key);

	snprintf(left + length, sizeof left - (size_t)length, "--%s%s%s", option->name,
	         option->argument ? " " : "", option->argument ? option->argument : "");
	tool_print_text(left, HELP_COLUMN, option->help, stream);
}

/* Copies the next line of the text. Returns false after the last one. */
static bool options_next_line(const char **lines, char line[LINE_BYTES])
{
	size_t length = strcspn(*lines, "\n");

	if (!**lines)
		return false;
	snprintf(line, LINE_BYTES, "%.*s", (int)length, *lines);
	*lines += length + ((*lines)[length] == '\n');
	return true;
}

static void options_print_synopsis(const char *lines, FILE *stream)
{
	size_t width = tool_screen_of(fileno(stream)).width;
	const char *lead = "usage: ";
	struct ps__buffer out = {0};
	char line[LINE_BYTES];

	for (; options_next_line(&lines, line); lead = SYNOPSIS_LEAD) {
		ps__buffer_add(&out, "%s", lead);
		tool_paragraph(&out, line, strlen(lead) + 2, width ? width : USUAL_WIDTH);
	}
	tool_write(&out, stream);
}

static void options_print_examples(const char *lines, FILE *stream)
{
	size_t width = tool_screen_of(fileno(stream)).width;
	struct ps__buffer out = {0};
	char line[LINE_BYTES];

	while (options_next_line(&lines, line))
		tool_add_command(&out, line, EXAMPLE_INDENT, width ? width : USUAL_WIDTH);
	tool_write(&out, stream);
}

static void options_print_usage(const struct tool_usage *usage, FILE *stream)
{
	static const struct tool_option help = {'h', "help", NULL, "this text"};

	options_print_synopsis(usage->synopsis, stream);
	fputs("\n", stream);
	tool_print_text("", 0, usage->summary, stream);
	fputs("\n", stream);
	for (size_t index = 0; index < usage->option_count; index++) {
		if (usage->options[index].help)
			options_print_option(&usage->options[index], stream);
	}
	options_print_option(&help, stream);
	fputs("\nExamples:\n", stream);
	options_print_examples(usage->examples, stream);
	fprintf(stream, "\nThe manual is %s.\n", usage->manual);
}

int tool_options_next(const struct tool_usage *usage, int argc, char **argv, const char **argument)
{
	struct form form;
	int index = -1;

	form_create(&form, usage);
	opterr = 0;
	int key = getopt_long(argc, argv, form.shorts, form.longs, &index);
	if (key == -1)
		return TOOL_OPTIONS_END;
	if (key == ':')
		return options_complain_missing(usage, optopt);
	if (key == '?')
		return options_complain_unknown(usage, argv);
	if (key == 'h') {
		options_print_usage(usage, stdout);
		return TOOL_OK;
	}
	const struct tool_option *foreign = options_find_foreign(usage, key, index);
	if (foreign)
		return options_complain_foreign(foreign);
	*argument = optarg;
	return key;
}

int tool_parse_number(const char *option, const char *text, long long least, long long most,
                      long long *out)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	/* strtoll also takes blanks and '+' in front, which the collector refuses. */
	bool is_padded = isspace((unsigned char)text[0]) || text[0] == '+';
	if (is_padded || end == text || *end || errno || number < least || number > most)
		return tool_complain("%s takes a whole number from %lld to %lld, not '%s'", option,
		                     least, most, text);
	*out = number;
	return 0;
}

int tool_parse_pid(const char *text, long long *out)
{
	text += strspn(text, TOOL_BLANKS); /* ps(1) pads numbers */
	if (isalpha((unsigned char)text[0]))
		return tool_complain(
		    "--pid takes the numbers of processes, not '%s': pgrep %s prints them", text,
		    text);
	return tool_parse_number("--pid", text, 1, 1 << 22, out);
}
