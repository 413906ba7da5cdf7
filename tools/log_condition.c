/* SPDX-License-Identifier: BSD-3-Clause */
/* The conditions of --where on the fields of a log's records. */
#include "base/decimal.h"
#include "base/os.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tool_log_parse_number(const char *text, double *number)
{
	char *end;

	*number = ps__decimal_parse(text, &end);
	return end != text && *end == '\0';
}

static void condition_parse_number(struct tool_log_condition *condition)
{
	char *end;

	condition->number = ps__decimal_parse_long(condition->text, &end);
	condition->is_number = end != condition->text && *end == '\0';
}

bool tool_log_split_condition(struct tool_log_condition *condition, size_t name_length)
{
	static const struct {
		const char *sign;
		unsigned relations;
	} signs[] = {{"!=", TOOL_LOG_LESS | TOOL_LOG_GREATER},
	             {"<=", TOOL_LOG_LESS | TOOL_LOG_EQUAL},
	             {">=", TOOL_LOG_GREATER | TOOL_LOG_EQUAL},
	             {"=", TOOL_LOG_EQUAL},
	             {"<", TOOL_LOG_LESS},
	             {">", TOOL_LOG_GREATER}};
	const char *at = condition->whole + name_length;

	for (size_t sign = 0; sign < sizeof signs / sizeof signs[0]; sign++) {
		size_t length = strlen(signs[sign].sign);
		if (strncmp(at, signs[sign].sign, length) != 0)
			continue;
		condition->name_length = name_length;
		condition->relations = signs[sign].relations;
		condition->text = at + length;
		condition_parse_number(condition);
		return true;
	}
	return false;
}

int tool_log_add_condition(struct tool_log_options *options, const char *text)
{
	struct tool_log_condition condition = {.whole = text};
	size_t length = *text ? 1 : 0;

	while (text[length] && !tool_log_split_condition(&condition, length))
		length++;
	if (!condition.text)
		return tool_complain(
		    "'%s' is no condition: give FIELD=VALUE, or !=, <, <=, > or >=", text);
	struct tool_log_condition *all = ps__os_calloc(options->condition_count + 1, sizeof *all);
	if (!all)
		return tool_complain("there is no memory for the condition '%s'", text);
	if (options->condition_count)
		memcpy(all, options->conditions, options->condition_count * sizeof *all);
	ps__os_free(options->conditions);
	options->conditions = all;
	all[options->condition_count++] = condition;
	return 0;
}

/* Returns the double that is nearest to the number, because a field has doubles. A number that
 * would become infinite or 0 stays as it is: no field equals it. */
static long double nearest_of_field(long double number)
{
	double nearest = (double)number;
	bool is_beyond = isinf(nearest) || (nearest == 0 && number != 0);

	return is_beyond ? number : (long double)nearest;
}

/* True if a field's value meets the condition. Numbers are compared as numbers, other values as
 * text. A field that was never set meets no condition. */
bool tool_log_is_met(const struct tool_log_condition *condition, const struct ps_log_value *value)
{
	bool is_integer = value->kind == PS_LOG_INTEGER;
	long double field = is_integer ? (long double)value->integer : (long double)value->real;
	long double number = is_integer ? condition->number : nearest_of_field(condition->number);
	int order;

	if (!value->is_set)
		return false;
	if (value->kind == PS_LOG_TEXT)
		order = strcmp(value->text, condition->text);
	else if (isnan(field) || isnan(number))
		return condition->relations == (TOOL_LOG_LESS | TOOL_LOG_GREATER);
	else
		order = (field > number) - (field < number);
	unsigned relation = order < 0   ? TOOL_LOG_LESS
	                    : order > 0 ? TOOL_LOG_GREATER
	                                : TOOL_LOG_EQUAL;
	return condition->relations & relation;
}
