/* SPDX-License-Identifier: BSD-3-Clause */
/* The conditions of --where: what the fields of a log's records must say. */
#include "base/decimal.h"
#include "base/os.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tool_log_parse_number(const char *text, double *number)
{
	char *end;

	*number = ps__decimal_parse(text, &end);
	return end != text && *end == '\0';
}

/* A double does not hold each integer: two whole ones are compared as such. */
static void parse_number(struct tool_log_condition *condition)
{
	char *end;

	condition->is_number = tool_log_parse_number(condition->text, &condition->number);
	errno = 0;
	condition->integer = strtoll(condition->text, &end, 10);
	condition->is_integer = condition->is_number && *end == '\0' && errno == 0;
}

int tool_log_add_condition(struct tool_log_options *options, const char *text)
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
	size_t length = strcspn(text, "!<>="), sign = 0;

	while (sign < sizeof signs / sizeof signs[0] &&
	       strncmp(text + length, signs[sign].sign, strlen(signs[sign].sign)) != 0)
		sign++;
	if (length == 0 || sign == sizeof signs / sizeof signs[0])
		return tool_complain(
			   "'%s' is no condition: give FIELD=VALUE, or !=, <, <=, > or >=", text),
		       -1;
	struct tool_log_condition *all = ps__os_calloc(options->condition_count + 1, sizeof *all);
	char *field = ps__os_strndup(text, length);
	if (!all || !field) {
		ps__os_free(all);
		ps__os_free(field);
		return tool_complain("there is no memory for the condition '%s'", text), -1;
	}
	if (options->condition_count)
		memcpy(all, options->conditions, options->condition_count * sizeof *all);
	ps__os_free(options->conditions);
	options->conditions = all;
	struct tool_log_condition *condition = &all[options->condition_count++];
	condition->field = field;
	condition->relations = signs[sign].relations;
	condition->text = text + length + strlen(signs[sign].sign);
	condition->whole = text;
	parse_number(condition);
	return 0;
}

/* A double does not hold each integer: a number beyond all integers, or between two, is told from
 * the nearest one. */
static int compare_integer(long long integer, double number)
{
	if (number >= 0x1p63)
		return -1;
	if (number < -0x1p63)
		return 1;
	double whole = floor(number);
	int order = (integer > (long long)whole) - (integer < (long long)whole);
	return order == 0 && number > whole ? -1 : order;
}

/* Numbers are compared as numbers, all else as text. A field that was never set meets none. */
bool tool_log_is_met(const struct tool_log_condition *condition, const struct ps_log_value *value)
{
	double number = value->kind == PS_LOG_INTEGER ? (double)value->integer : value->real;
	int order;

	if (!value->is_set)
		return false;
	if (value->kind == PS_LOG_TEXT)
		order = strcmp(value->text, condition->text);
	else if (value->kind == PS_LOG_INTEGER && condition->is_integer)
		order =
		    (value->integer > condition->integer) - (value->integer < condition->integer);
	else if (isnan(number) || isnan(condition->number))
		return condition->relations == (TOOL_LOG_LESS | TOOL_LOG_GREATER);
	else if (value->kind == PS_LOG_INTEGER)
		order = compare_integer(value->integer, condition->number);
	else
		order = (number > condition->number) - (number < condition->number);
	unsigned relation = order < 0   ? TOOL_LOG_LESS
	                    : order > 0 ? TOOL_LOG_GREATER
	                                : TOOL_LOG_EQUAL;
	return condition->relations & relation;
}
