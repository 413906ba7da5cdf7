/* SPDX-License-Identifier: BSD-3-Clause */
/* The conditions of --where: what the fields of a log's records must say. */
#include "base/decimal.h"
#include "base/os.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool tool_log_parse_number(const char *text, double *number)
{
	char *end;

	*number = ps__decimal_parse(text, &end);
	return end != text && *end == '\0';
}

/* A decimal number, digit by digit: a double does not hold each integer, nor each magnitude. */
struct decimal {
	long long whole; /* the part before the point, times -1: the least integer fits, too */
	bool is_beyond;  /* `whole` doesn't fit */
	bool has_rest, is_zero;
};

static void add_digit(struct decimal *decimal, int digit, bool is_whole)
{
	if (digit)
		decimal->is_zero = false;
	if (!is_whole)
		decimal->has_rest |= digit != 0;
	else
		decimal->is_beyond |=
		    __builtin_mul_overflow(decimal->whole, 10, &decimal->whole) ||
		    __builtin_sub_overflow(decimal->whole, digit, &decimal->whole);
}

static void add_digits(struct decimal *decimal, const char *text, size_t length)
{
	const long most = 1000000000;
	long exponent = text[length] ? strtol(text + length + 1, NULL, 10) : 0;
	long place = 0, point = (long)strcspn(text, ".eE");

	point += exponent > most ? most : exponent < -most ? -most : exponent;
	for (size_t index = 0; index < length; index++) {
		if (text[index] != '.')
			add_digit(decimal, text[index] - '0', place++ < point);
	}
	for (; place < point && decimal->whole && !decimal->is_beyond; place++)
		add_digit(decimal, 0, true);
}

static void set_integer(struct tool_log_condition *condition, const struct decimal *decimal,
                        bool is_negative)
{
	int sign = is_negative ? -1 : 1;
	long long integer = decimal->whole;
	bool is_beyond = decimal->is_beyond ||
	                 (is_negative ? __builtin_sub_overflow(integer, decimal->has_rest, &integer)
	                              : __builtin_sub_overflow(0, integer, &integer));

	condition->integer = !is_beyond ? integer : is_negative ? LLONG_MIN : LLONG_MAX;
	condition->integer_more = is_beyond ? sign : decimal->has_rest;
	if (isinf(condition->number) || (condition->number == 0 && !decimal->is_zero))
		condition->number_more = sign;
	if (isinf(condition->number))
		condition->number = sign * DBL_MAX;
}

/* As strtod takes it, in hexadecimal, or inf. */
static void set_double(struct tool_log_condition *condition)
{
	double number = condition->number, whole = floor(number);
	bool is_above = number >= 0x1p63, is_below = number < -0x1p63;

	if (isnan(number))
		return;
	condition->integer = is_above ? LLONG_MAX : is_below ? LLONG_MIN : (long long)whole;
	condition->integer_more = is_above ? 1 : is_below ? -1 : number > whole;
}

static void parse_number(struct tool_log_condition *condition)
{
	const char *text = condition->text + strspn(condition->text, " \t\n\v\f\r");
	bool is_negative = *text == '-';
	struct decimal decimal = {.is_zero = true};

	condition->number_more = condition->integer_more = 0;
	condition->is_number = tool_log_parse_number(condition->text, &condition->number);
	if (!condition->is_number)
		return;
	text += *text == '-' || *text == '+';
	size_t length = strspn(text, "0123456789.");
	if (length == 0 || (text[length] && text[length] != 'e' && text[length] != 'E')) {
		set_double(condition);
		return;
	}
	add_digits(&decimal, text, length);
	set_integer(condition, &decimal, is_negative);
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
		parse_number(condition);
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
			   "'%s' is no condition: give FIELD=VALUE, or !=, <, <=, > or >=", text),
		       -1;
	struct tool_log_condition *all = ps__os_calloc(options->condition_count + 1, sizeof *all);
	if (!all)
		return tool_complain("there is no memory for the condition '%s'", text), -1;
	if (options->condition_count)
		memcpy(all, options->conditions, options->condition_count * sizeof *all);
	ps__os_free(options->conditions);
	options->conditions = all;
	all[options->condition_count++] = condition;
	return 0;
}

/* Numbers are compared as numbers, all else as text. A field that was never set meets none. */
bool tool_log_is_met(const struct tool_log_condition *condition, const struct ps_log_value *value)
{
	bool is_nan =
	    isnan(condition->number) || (value->kind == PS_LOG_REAL && isnan(value->real));
	int order;

	if (!value->is_set)
		return false;
	if (value->kind == PS_LOG_TEXT)
		order = strcmp(value->text, condition->text);
	else if (is_nan)
		return condition->relations == (TOOL_LOG_LESS | TOOL_LOG_GREATER);
	else if (value->kind == PS_LOG_INTEGER)
		order =
		    (value->integer > condition->integer) - (value->integer < condition->integer);
	else
		order = (value->real > condition->number) - (value->real < condition->number);
	if (order == 0 && value->kind != PS_LOG_TEXT)
		order = value->kind == PS_LOG_INTEGER ? -condition->integer_more
		                                      : -condition->number_more;
	unsigned relation = order < 0   ? TOOL_LOG_LESS
	                    : order > 0 ? TOOL_LOG_GREATER
	                                : TOOL_LOG_EQUAL;
	return condition->relations & relation;
}
