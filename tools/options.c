/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the subcommands, by getopt_long; numbers and lists of events. */
#include "tools/options.h"

#include "base/distance.h"
#include "base/os.h"
#include "base/vector.h"
#include "tools/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 48
#define HELP_COLUMN  26

/* The option tables in the form that getopt_long takes. */
struct form {
	struct option longs[MOST_OPTIONS + 2];
	char shorts[2 * MOST_OPTIONS + 8];
};

static void options_make_form(const struct tool_usage *usage, struct form *form)
{
	char *letter = form->shorts;

	/* +: the options end with the first word; ':' for an argument that is
	 * missing. */
	letter = stpcpy(letter, "+:h");
	for (size_t index = 0; index < usage->option_count && index < MOST_OPTIONS; index++) {
		const struct tool_option *option = &usage->options[index];
		form->longs[index] =
		    (struct option){.name = option->name,
		                    .has_arg = option->argument ? required_argument : no_argument,
		                    .val = option->key};
		if (option->key > 255)
			continue;
		*letter++ = (char)option->key;
		if (option->argument)
			*letter++ = ':';
	}
	form->longs[usage->option_count] =
	    (struct option){.name = "help", .has_arg = no_argument, .val = 'h'};
	form->longs[usage->option_count + 1] = (struct option){0};
	*letter = '\0';
}

static const struct tool_option *options_find_option(const struct tool_usage *usage, int key)
{
	for (size_t index = 0; index < usage->option_count; index++) {
		if (usage->options[index].key == key)
			return &usage->options[index];
	}
	return NULL;
}

bool tool_is_near(const char *word, size_t distance)
{
	return distance <= 1 + strnlen(word, PS__DISTANCE_LONGEST) / 4;
}

static int options_complain_unknown_long(const struct tool_usage *usage, const char *word)
{
	const char *nearest = "help";
	size_t shortest = ps__distance(word, nearest);

	for (size_t index = 0; index < usage->option_count; index++) {
		const char *name = usage->options[index].name;
		size_t distance = ps__distance(word, name);
		/* A beginning that several options have: any of them is nearer
		 * than other words. */
		if (*word && strncasecmp(name, word, strlen(word)) == 0)
			distance = 0;
		if (distance < shortest) {
			shortest = distance;
			nearest = name;
		}
	}
	if (tool_is_near(word, shortest))
		tool_complain("there is no option --%s: did you mean --%s? See --help", word,
		              nearest);
	else
		tool_complain("there is no option --%s: see --help", word);
	return TOOL_OPTIONS_WRONG;
}

static int options_complain_missing(const struct tool_usage *usage, int key)
{
	const struct tool_option *option = options_find_option(usage, key);

	tool_complain("option --%s needs %s: see --help", option ? option->name : "?",
	              option ? option->argument : "?");
	return TOOL_OPTIONS_WRONG;
}

/* getopt_long has left what is wrong in optopt: 0 for an unknown long option,
 * else the letter or key. */
static int options_complain_unknown(const struct tool_usage *usage, char **argv)
{
	char word[64];
	const struct tool_option *option = optopt ? options_find_option(usage, optopt) : NULL;

	if (option || optopt == 'h') {
		tool_complain("option --%s takes no argument", option ? option->name : "help");
		return TOOL_OPTIONS_WRONG;
	}
	if (optopt) {
		tool_complain("there is no option -%c: see --help", optopt);
		return TOOL_OPTIONS_WRONG;
	}
	snprintf(word, sizeof word, "%s", argv[optind - 1] + strspn(argv[optind - 1], "-"));
	word[strcspn(word, "=")] = '\0';
	return options_complain_unknown_long(usage, word);
}

int tool_options_next(const struct tool_usage *usage, int argc, char **argv, const char **argument)
{
	struct form form;

	options_make_form(usage, &form);
	opterr = 0;
	int key = getopt_long(argc, argv, form.shorts, form.longs, NULL);
	if (key == -1)
		return TOOL_OPTIONS_END;
	if (key == ':')
		return options_complain_missing(usage, optopt);
	if (key == '?')
		return options_complain_unknown(usage, argv);
	if (key == 'h') {
		tool_usage_print(usage, stdout);
		return TOOL_OPTIONS_HELP;
	}
	*argument = optarg;
	return key;
}

/* The lines after the first one stand below it. */
static void options_print_help(const char *help, FILE *stream)
{
	for (const char *line = help; *line;) {
		size_t length = strcspn(line, "\n");
		fprintf(stream, "%.*s\n", (int)length, line);
		line += length + (line[length] == '\n');
		if (*line)
			fprintf(stream, "%*s", HELP_COLUMN, "");
	}
}

static void options_print_option(const struct tool_option *option, FILE *stream)
{
	char left[80];
	int length =
	    snprintf(left, sizeof left, option->key > 255 ? "      " : "  -%c, ", option->key);

	snprintf(left + length, sizeof left - (size_t)length, "--%s%s%s", option->name,
	         option->argument ? " " : "", option->argument ? option->argument : "");
	if (strlen(left) > HELP_COLUMN - 2)
		fprintf(stream, "%s\n%*s", left, HELP_COLUMN, "");
	else
		fprintf(stream, "%-*s", HELP_COLUMN, left);
	options_print_help(option->help, stream);
}

static void options_print_indented(const char *lines, const char *first, FILE *stream)
{
	const char *lead = first;

	for (const char *line = lines; *line;) {
		size_t length = strcspn(line, "\n");
		fprintf(stream, "%s%.*s\n", lead, (int)length, line);
		line += length + (line[length] == '\n');
		lead = "       ";
	}
}

void tool_usage_print(const struct tool_usage *usage, FILE *stream)
{
	static const struct tool_option help = {'h', "help", NULL, "this text"};

	options_print_indented(usage->synopsis, "usage: ", stream);
	fprintf(stream, "\n%s\n\n", usage->summary);
	for (size_t index = 0; index < usage->option_count; index++)
		options_print_option(&usage->options[index], stream);
	options_print_option(&help, stream);
	fputs("\nExamples:\n", stream);
	options_print_indented(usage->examples, "       ", stream);
}

int tool_parse_number(const char *option, const char *text, long long least, long long most,
                      long long *out)
{
	char *end;

	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (end == text || *end || errno || number < least || number > most) {
		tool_complain("%s takes a whole number from %lld to %lld, not '%s'", option, least,
		              most, text);
		return -1;
	}
	*out = number;
	return 0;
}

#define BLANKS " \t\n"

/*
 * Does the slash close an event's terms? Then modifiers follow, and the end or
 * another event: that has no '=' before its own terms. Else it is within a path
 * (uprobe/path=/usr/bin/ls,offset=0x100/).
 */
static bool options_closes_terms(const char *slash)
{
	const char *rest = slash + 1;

	while ((*rest >= 'a' && *rest <= 'z') || (*rest >= 'A' && *rest <= 'Z'))
		rest++;
	rest += strspn(rest, BLANKS);
	if (*rest == '\0')
		return true;
	return *rest == ',' && rest[1 + strcspn(rest + 1, ",/=")] != '=';
}

static size_t options_first_length(const char *list)
{
	bool is_inside = false;
	size_t length = 0;

	for (; list[length] && (list[length] != ',' || is_inside); length++) {
		if (list[length] == '/')
			is_inside = !is_inside || !options_closes_terms(&list[length]);
	}
	return length;
}

static int options_append_name(struct tool_names *names, const char *name, size_t length)
{
	char **grown = ps__vector_reserve(names->names, names->count, names->count + 1,
	                                  &names->room, sizeof(char *));

	if (grown)
		names->names = grown;
	char *copy = grown ? strndup(name, length) : NULL;
	if (!copy) {
		tool_complain("out of memory");
		return -1;
	}
	names->names[names->count++] = copy;
	return 0;
}

static int options_add_name(struct tool_names *names, const char *name, size_t length,
                            const char *list)
{
	while (length && strchr(BLANKS, name[length - 1]))
		length--;
	if (length && *name == '{') {
		tool_complain("leave out perf's braces in '%s': all events are one group, as far "
		              "as the counters permit it",
		              list);
		return -1;
	}
	if (length == 0) {
		tool_complain("an event's name is missing in '%s'", list);
		return -1;
	}
	return options_append_name(names, name, length);
}

int tool_names_add(struct tool_names *names, const char *list)
{
	for (const char *name = list;; name++) {
		name += strspn(name, BLANKS);
		size_t length = options_first_length(name);
		if (options_add_name(names, name, length, list) < 0)
			return -1;
		name += length;
		if (!*name)
			return 0;
	}
}

void tool_names_clear(struct tool_names *names)
{
	for (size_t index = 0; index < names->count; index++)
		free(names->names[index]);
	ps__os_free(names->names);
	*names = (struct tool_names){0};
}
