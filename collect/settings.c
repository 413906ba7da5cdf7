/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the variables of the environment. An empty variable counts as missing. */
#include "collect/settings.h"

#include "base/distance.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "event/event.h"
#include "output/by.h"
#include "output/number.h"
#include "output/rank.h"
#include "output/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *settings_find(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value ? value : NULL;
}

const char *collect_settings_journal(void)
{
	return settings_find("PERFSAGE_JOURNAL");
}

static int settings_add_event(struct ps_eventset *model, const char *name, size_t length)
{
	char *copy = ps__os_strndup(name, length);

	if (!copy)
		return ps__fail_memory("the name of an event");
	int result = ps_eventset_add(model, copy);
	ps__os_free(copy);
	/* The event was named twice. */
	return result == PS_ECNFLCT ? PS_OK : result;
}

static int settings_add_events(struct ps_eventset *model, const char *list)
{
	const char *rest = list, *name;
	size_t length;
	int result;

	while ((result = ps__event_split(list, &rest, &name, &length)) > 0) {
		result = settings_add_event(model, name, length);
		if (result != PS_OK)
			break;
	}
	if (result == PS_OK)
		return PS_OK;
	return ps__fail(result, "PERFSAGE_EVENTS: %s", ps_error_detail());
}

static int settings_make_model(struct ps_eventset **out)
{
	const char *list = settings_find("PERFSAGE_EVENTS");
	struct ps_eventset *model;
	int result = ps_eventset_create(&model);

	if (result != PS_OK)
		return result;
	if (list) {
		result = settings_add_events(model, list);
	} else {
		ps_eventset_add(model, "task-clock");
		result = ps_eventset_add_default(model);
	}
	if (result == PS_OK)
		*out = model;
	else
		ps_eventset_destroy(model);
	return result;
}

static int settings_read_format(enum ps_format *format)
{
	const char *name = settings_find("PERFSAGE_FORMAT");

	if (!name)
		return PS_OK;
	if (ps__path_format_find(name, format))
		return PS_OK;
	return ps__fail(PS_EINVAL, "PERFSAGE_FORMAT is text, json or csv, not '%s'", name);
}

static int settings_read_width(size_t *width)
{
	const char *text = settings_find("PERFSAGE_WIDTH");
	char *end;

	if (!text)
		return PS_OK;
	errno = 0;
	unsigned long number = strtoul(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9')
		return ps__fail(PS_EINVAL, "PERFSAGE_WIDTH is a number of columns, not '%s'", text);
	*width = number;
	return PS_OK;
}

static int settings_read_budget(double *budget)
{
	const char *text = settings_find("PERFSAGE_BUDGET");

	if (!text)
		return PS_OK;
	if (ps__number_parse(text, budget) && *budget > 0 && *budget <= 100)
		return PS_OK;
	return ps__fail(PS_EINVAL,
	                "PERFSAGE_BUDGET is a percentage above 0 and up to 100, not '%s'", text);
}

static int settings_read_one_in(uint64_t *one_in)
{
	const char *text = settings_find("PERFSAGE_ONE_IN");
	double number;

	if (!text)
		return PS_OK;
	if (!strchr(text, '.') && ps__number_parse(text, &number) && number >= 1) {
		*one_in = (uint64_t)number;
		return PS_OK;
	}
	return ps__fail(PS_EINVAL, "PERFSAGE_ONE_IN is a number of visits from 1 on, not '%s'",
	                text);
}

static int settings_read_flush(double *seconds)
{
	const char *text = settings_find("PERFSAGE_FLUSH");

	if (!text)
		return PS_OK;
	if (ps__number_parse(text, seconds) && *seconds >= 0 && *seconds <= 1e6)
		return PS_OK;
	return ps__fail(PS_EINVAL,
	                "PERFSAGE_FLUSH is a number of seconds up to 1000000, 0 for never, not "
	                "'%s'",
	                text);
}

/* Reads PERFSAGE_STYLE, a list such as "raw,utf8". */
static int settings_read_style(unsigned *flags)
{
	static const struct {
		const char *word;
		unsigned flag;
	} words[] = {{"raw", PS_PATHS_RAW}, {"utf8", PS_PATHS_UTF8}, {"colour", PS_PATHS_COLOUR}};
	const char *style = settings_find("PERFSAGE_STYLE");

	for (const char *word = style ? style : ""; *word;) {
		size_t length = strcspn(word, ","), found = 0;
		while (found < 3 &&
		       (strncmp(words[found].word, word, length) != 0 || words[found].word[length]))
			found++;
		if (found == 3)
			return ps__fail(PS_EINVAL,
			                "PERFSAGE_STYLE is a list of raw, utf8 and colour, not "
			                "'%s'",
			                style);
		*flags |= words[found].flag;
		word += length + (word[length] == ',');
	}
	return PS_OK;
}

static int settings_read_output(char **output)
{
	const char *pattern = settings_find("PERFSAGE_OUTPUT");

	return pattern ? ps__rank_settle("PERFSAGE_OUTPUT", pattern, output) : PS_OK;
}

static int settings_copy(char **copy, const char *text)
{
	if (!text)
		return PS_OK;
	*copy = ps__os_strdup(text);
	return *copy ? PS_OK : ps__fail_memory("the settings of the environment");
}

int collect_settings_add_region(struct collect_settings *settings, const char *name)
{
	size_t room = settings->region_count;

	if (!PS__VECTOR_GROW(&settings->regions, settings->region_count, &room))
		return ps__fail_memory("the name of a region");
	settings->regions[settings->region_count] = ps__os_strdup(name);
	if (!settings->regions[settings->region_count])
		return ps__fail_memory("the name of a region");
	settings->region_count++;
	return PS_OK;
}

static int settings_read_region(struct collect_settings *settings)
{
	const char *name = settings_find("PERFSAGE_REGION");

	return name ? collect_settings_add_region(settings, name) : PS_OK;
}

static int settings_read_rest(struct collect_settings *settings)
{
	const char *by = settings_find("PERFSAGE_BY");
	int result = settings_read_format(&settings->format);

	if (result == PS_OK && by)
		result = ps__by_find("PERFSAGE_BY", by, &settings->types, &settings->cache_level);
	if (result == PS_OK)
		result = settings_read_width(&settings->width);
	if (result == PS_OK)
		result = settings_read_style(&settings->flags);
	if (result == PS_OK)
		result = settings_read_budget(&settings->budget);
	if (result == PS_OK)
		result = settings_read_one_in(&settings->one_in);
	if (result == PS_OK)
		result = settings_read_flush(&settings->flush_s);
	if (result == PS_OK)
		result = settings_read_region(settings);
	if (result == PS_OK)
		result = settings_read_output(&settings->pattern);
	if (result == PS_OK)
		result = settings_copy(&settings->journal, collect_settings_journal());
	if (result == PS_OK)
		result = settings_copy(&settings->group, settings_find("PERFSAGE_GROUP"));
	return result == PS_OK ? settings_copy(&settings->rank, ps__rank_number()) : result;
}

/* All variables that the library, the command and the tests read. */
static const char *const settings_known[] = {
    "PERFSAGE_BUDGET", "PERFSAGE_BY",     "PERFSAGE_EVENTS",  "PERFSAGE_FLUSH",
    "PERFSAGE_FORMAT", "PERFSAGE_GROUP",  "PERFSAGE_JOURNAL", "PERFSAGE_METRICS",
    "PERFSAGE_ONE_IN", "PERFSAGE_OUTPUT", "PERFSAGE_PRELOAD", "PERFSAGE_REGION",
    "PERFSAGE_STYLE",  "PERFSAGE_TEST",   "PERFSAGE_WIDTH"};

/* Endings of variables that a cluster's module files define for each package. */
static const char *const settings_of_modules[] = {
    "ARCH",   "BASE",    "BIN",  "DIR", "DOC",    "ETC",  "HOME",   "INC",  "INCLUDE", "LIB",
    "LIBDIR", "LIBRARY", "LIBS", "MAN", "MODULE", "PATH", "PREFIX", "ROOT", "SHARE",   "VERSION"};

static bool settings_is_of_module(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof settings_of_modules / sizeof *settings_of_modules; i++) {
		size_t end = strlen(settings_of_modules[i]);
		if (length > end && name[length - end - 1] == '_' &&
		    strcmp(name + length - end, settings_of_modules[i]) == 0)
			return true;
	}
	return false;
}

static void settings_add_unknown(struct ps__buffer *lines, const char *name)
{
	const char *nearest = settings_known[0];

	for (size_t i = 0; i < sizeof settings_known / sizeof *settings_known; i++) {
		if (strcmp(name, settings_known[i]) == 0)
			return;
		if (ps__distance(name, settings_known[i]) < ps__distance(name, nearest))
			nearest = settings_known[i];
	}
	if (settings_is_of_module(name))
		return;
	ps__buffer_add(lines,
	               "perfsage: process %d: the variable %s has no effect: the nearest one that "
	               "has is %s\n",
	               (int)getpid(), name, nearest);
}

void collect_settings_add_unknown(struct ps__buffer *lines)
{
	static const char prefix[] = "PERFSAGE_";

	for (char **variable = environ; variable && *variable; variable++) {
		size_t length = strspn(*variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		                                  "abcdefghijklmnopqrstuvwxyz0123456789_");
		const char *value = *variable + length;
		if (strncmp(*variable, prefix, strlen(prefix)) != 0 || *value != '=' || !value[1])
			continue;
		char *name = ps__os_strndup(*variable, length);
		if (name)
			settings_add_unknown(lines, name);
		ps__os_free(name);
	}
}

int collect_settings_renew(struct collect_settings *settings)
{
	char *output = NULL;
	int result = settings->pattern
	                 ? ps__rank_expand("PERFSAGE_OUTPUT", settings->pattern, &output)
	                 : PS_OK;

	if (result != PS_OK)
		return result;
	ps__os_free(settings->output);
	settings->output = output;
	return PS_OK;
}

int collect_settings_read(struct collect_settings *out)
{
	struct collect_settings settings = {.one_in = 1};
	int result = settings_read_rest(&settings);

	if (result == PS_OK)
		result = collect_settings_renew(&settings);
	if (result == PS_OK)
		result = settings_make_model(&settings.model);
	if (result != PS_OK) {
		collect_settings_clear(&settings);
		return result;
	}
	*out = settings;
	return PS_OK;
}

void collect_settings_clear(struct collect_settings *settings)
{
	ps__os_free(settings->pattern);
	ps__os_free(settings->output);
	ps__os_free(settings->journal);
	ps__os_free(settings->group);
	ps__os_free(settings->rank);
	for (size_t index = 0; index < settings->region_count; index++)
		ps__os_free(settings->regions[index]);
	ps__os_free(settings->regions);
	ps_eventset_destroy(settings->model);
	*settings = (struct collect_settings){0};
}
