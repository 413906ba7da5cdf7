/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads formulas. The grammar is that of perf's metric expressions. From the weakest to the
 * strongest operator: "a if c else b", then | ^ & (of whole numbers), < >, + -, * / %, a leading -,
 * and calls.
 *
 * A name may contain -, , and = with a backslash before them, and @ in place of /. Without a
 * backslash, - , and = end a name.
 */
#include "analysis/formula.h"
#include "base/decimal.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct reader {
	struct ps_formula *formula;
	const struct ps__formula_place *where;
	const char *text;
	const char *at; /* the current token */
	size_t length;  /* length of the token; 0: end of the text */
	unsigned depth;
	int result;
};

#define NO_NODE UINT32_MAX

/* Returns the length of the token as messages show it. */
static int shown_length(const struct reader *reader)
{
	return (int)(reader->length < 40 ? reader->length : 40);
}

static uint32_t formula_fail(struct reader *reader, const char *expected)
{
	unsigned line = 1, column = 1;

	if (reader->result != PS_OK)
		return NO_NODE;
	for (const char *before = reader->text; before < reader->at; before++) {
		column = *before == '\n' ? 1 : column + ((*before & 0xc0) != 0x80 ? 1 : 0);
		line += *before == '\n' ? 1 : 0;
	}
	char place[600];
	if (reader->where->path)
		snprintf(place, sizeof place, "%.500s:%u:%u", reader->where->path,
		         reader->where->line + line - 1, column);
	else
		snprintf(place, sizeof place, "line %u, column %u of the formula", line, column);
	reader->result =
	    reader->length == 0
		? ps__fail(PS_EINVAL, "%s: %s, but the formula ends here", place, expected)
		: ps__fail(PS_EINVAL, "%s: %s, not '%.*s'", place, expected, shown_length(reader),
	                   reader->at);
	return NO_NODE;
}

static uint32_t fail_memory(struct reader *reader)
{
	if (reader->result == PS_OK)
		reader->result = ps__fail_memory("a formula");
	return NO_NODE;
}

static bool is_name_character(char character)
{
	return isalnum((unsigned char)character) || (character && strchr("_.:@?", character));
}

/* Returns the number of bytes of a name at the beginning of a text. */
static size_t name_length(const char *text)
{
	size_t length = text[0] == '#' ? 1 : 0;

	for (;;) {
		if (text[length] == '\\' && text[length + 1] && strchr("-,=", text[length + 1]))
			length += 2;
		else if (is_name_character(text[length]))
			length++;
		else
			return length;
	}
}

/* Returns the length of a number: digits with a point, and an exponent. 0: it is no number. */
static size_t number_length(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	size_t length = digits;

	if (text[length] == '.') {
		size_t behind = strspn(text + length + 1, "0123456789");
		length += 1 + behind;
		digits += behind;
	}
	if (digits == 0)
		return 0;
	if (text[length] == 'e' || text[length] == 'E') {
		size_t sign = text[length + 1] == '-' || text[length + 1] == '+' ? 1 : 0;
		size_t exponent = strspn(text + length + 1 + sign, "0123456789");
		length += exponent ? 1 + sign + exponent : 0;
	}
	return length;
}

/* True if the token is a number. A name may begin with digits: the longer token wins. */
static bool is_number(const struct reader *reader)
{
	size_t length = number_length(reader->at);

	return length > 0 && length >= name_length(reader->at);
}

static void formula_advance(struct reader *reader)
{
	reader->at += reader->length;
	reader->at += strspn(reader->at, " \t\r\n");
	size_t number = number_length(reader->at), name = name_length(reader->at);
	reader->length = number > name ? number : name;
	if (reader->length == 0 && *reader->at)
		reader->length = 1;
}

static bool is_at(const struct reader *reader, const char *token)
{
	return strlen(token) == reader->length && strncmp(reader->at, token, reader->length) == 0;
}

static bool formula_accept(struct reader *reader, const char *token)
{
	if (!is_at(reader, token))
		return false;
	formula_advance(reader);
	return true;
}

static bool formula_expect(struct reader *reader, const char *token, const char *expected)
{
	if (formula_accept(reader, token))
		return true;
	formula_fail(reader, expected);
	return false;
}

static uint32_t add_node(struct reader *reader, struct ps__formula_node node)
{
	struct ps_formula *formula = reader->formula;

	if (reader->result != PS_OK)
		return NO_NODE;
	if (formula->node_count >= NO_NODE - 1 ||
	    !PS__VECTOR_GROW(&formula->nodes, formula->node_count, &formula->node_room))
		return fail_memory(reader);
	formula->nodes[formula->node_count] = node;
	return (uint32_t)formula->node_count++;
}

static uint32_t add_operation(struct reader *reader, enum ps__formula_kind kind, uint32_t one,
                              uint32_t other)
{
	uint32_t operation =
	    add_node(reader, (struct ps__formula_node){.kind = kind, .operands = {one, other, 0}});

	if (operation != NO_NODE)
		reader->formula->nodes[one].above = operation;
	return operation;
}

/* Copies a name as the event is called: without backslashes, and with / for @. */
static char *copy_name(const char *text, size_t length)
{
	char *name = ps__os_calloc(length + 1, 1);
	size_t end = 0;

	for (size_t index = 0; name && index < length; index++) {
		if (text[index] == '\\')
			continue;
		name[end++] = text[index] == '@' ? '/' : text[index];
	}
	return name;
}

size_t ps__formula_add_name(struct ps_formula *formula, const char *name)
{
	size_t index = 0;

	while (index < formula->name_count && strcmp(formula->names[index], name) != 0)
		index++;
	if (index < formula->name_count)
		return index;
	if (!PS__VECTOR_GROW(&formula->names, formula->name_count, &formula->name_room))
		return SIZE_MAX;
	formula->names[index] = ps__os_strdup(name);
	if (!formula->names[index])
		return SIZE_MAX;
	formula->name_count++;
	return index;
}

/* Adds a node for a name, and frees the name. name NULL: out of memory. */
static uint32_t formula_add_name(struct reader *reader, char *name)
{
	size_t index = name ? ps__formula_add_name(reader->formula, name) : SIZE_MAX;

	ps__os_free(name);
	if (index == SIZE_MAX)
		return fail_memory(reader);
	return add_node(reader, (struct ps__formula_node){.kind = PS__FORMULA_NAME,
	                                                  .operands = {(uint32_t)index, 0, 0}});
}

static uint32_t formula_read_number(struct reader *reader)
{
	char digits[64], *end;

	if (reader->length >= sizeof digits)
		return formula_fail(reader, "a number of less than 64 digits is expected");
	memcpy(digits, reader->at, reader->length);
	digits[reader->length] = '\0';
	double number = ps__decimal_parse(digits, &end);
	if (end == digits)
		return fail_memory(reader);
	formula_advance(reader);
	return add_node(reader,
	                (struct ps__formula_node){.kind = PS__FORMULA_NUMBER, .number = number});
}

static uint32_t read_choice(struct reader *reader);

/* Reads "d_ratio(a, b)" and the like. */
static uint32_t read_call(struct reader *reader, enum ps__formula_kind kind)
{
	uint32_t one, other;

	formula_advance(reader);
	if (!formula_expect(reader, "(", "'(' is expected"))
		return NO_NODE;
	one = read_choice(reader);
	if (one == NO_NODE || !formula_expect(reader, ",", "',' and a second operand are expected"))
		return NO_NODE;
	other = read_choice(reader);
	if (other == NO_NODE || !formula_expect(reader, ")", "')' is expected"))
		return NO_NODE;
	return add_operation(reader, kind, one, other);
}

/* Reads "has_event(cycles)" and the like: the whole text, without spaces, is one name. */
static uint32_t read_question(struct reader *reader)
{
	const char *call = reader->at;
	size_t call_length = reader->length;

	formula_advance(reader);
	if (!formula_expect(reader, "(", "'(' is expected"))
		return NO_NODE;
	if (name_length(reader->at) == 0)
		return formula_fail(reader, "a name is expected");
	char *argument = copy_name(reader->at, reader->length);
	char *name =
	    argument ? ps__os_calloc(call_length + strlen(argument) + 3, sizeof *name) : NULL;
	if (name) {
		memcpy(name, call, call_length);
		name[call_length] = '(';
		strcat(name, argument);
		strcat(name, ")");
	}
	ps__os_free(argument);
	formula_advance(reader);
	if (!is_at(reader, ")")) {
		ps__os_free(name);
		return formula_fail(reader, "')' is expected");
	}
	formula_advance(reader);
	return formula_add_name(reader, name);
}

static uint32_t read_word(struct reader *reader)
{
	static const struct {
		const char *name;
		enum ps__formula_kind kind;
	} calls[] = {
	    {"min", PS__FORMULA_MIN}, {"max", PS__FORMULA_MAX}, {"d_ratio", PS__FORMULA_RATIO}};
	static const char *const questions[] = {"has_event", "source_count", "strcmp_cpuid_str"};

	for (size_t index = 0; index < sizeof calls / sizeof calls[0]; index++) {
		if (is_at(reader, calls[index].name))
			return read_call(reader, calls[index].kind);
	}
	for (size_t index = 0; index < sizeof questions / sizeof questions[0]; index++) {
		if (is_at(reader, questions[index]))
			return read_question(reader);
	}
	if (is_at(reader, "if") || is_at(reader, "else") || is_at(reader, "#"))
		return formula_fail(reader, "an operand is expected");
	char *name = copy_name(reader->at, reader->length);
	formula_advance(reader);
	return formula_add_name(reader, name);
}

static uint32_t read_operand(struct reader *reader)
{
	if (formula_accept(reader, "(")) {
		uint32_t inner = read_choice(reader);
		if (inner == NO_NODE ||
		    !formula_expect(reader, ")", "an operator or ')' is expected"))
			return NO_NODE;
		return inner;
	}
	if (is_number(reader))
		return formula_read_number(reader);
	if (name_length(reader->at) > 0)
		return read_word(reader);
	return formula_fail(reader, "an operand is expected");
}

/* Reads an operand with its signs: a sign binds more tightly than any operator. */
static uint32_t read_signed(struct reader *reader)
{
	bool is_negative = false;

	while (is_at(reader, "-")) {
		is_negative = !is_negative;
		formula_advance(reader);
	}
	uint32_t operand = read_operand(reader);
	return is_negative ? add_operation(reader, PS__FORMULA_NEGATE, operand, 0) : operand;
}

static const struct {
	unsigned strength;
	const char *token;
	enum ps__formula_kind kind;
} operators[] = {
    {0, "|", PS__FORMULA_OR},        {1, "^", PS__FORMULA_XOR},      {2, "&", PS__FORMULA_AND},
    {3, "<", PS__FORMULA_LESS},      {3, ">", PS__FORMULA_GREATER},  {4, "+", PS__FORMULA_ADD},
    {4, "-", PS__FORMULA_SUBTRACT},  {5, "*", PS__FORMULA_MULTIPLY}, {5, "/", PS__FORMULA_DIVIDE},
    {5, "%", PS__FORMULA_REMAINDER},
};
#define STRONGEST 6

/* Reads all operators of at least this strength, from left to right. */
static uint32_t read_operations(struct reader *reader, unsigned strength)
{
	size_t count = sizeof operators / sizeof operators[0];
	uint32_t left =
	    strength == STRONGEST ? read_signed(reader) : read_operations(reader, strength + 1);

	for (size_t index = 0; strength < STRONGEST && left != NO_NODE && index < count; index++) {
		if (operators[index].strength != strength ||
		    !formula_accept(reader, operators[index].token))
			continue;
		uint32_t right = read_operations(reader, strength + 1);
		left = right == NO_NODE ? NO_NODE
		                        : add_operation(reader, operators[index].kind, left, right);
		index = SIZE_MAX; /* starts again with the first operator */
	}
	return left;
}

/* Reads "a if c else b", where b can be another choice. */
static uint32_t read_choice(struct reader *reader)
{
	struct ps__formula_node node = {.kind = PS__FORMULA_IF};

	if (++reader->depth > PS__FORMULA_DEPTH)
		return formula_fail(reader,
		                    "the formula is too deep: at most 63 parentheses and choices "
		                    "may be open at once");
	node.operands[0] = read_operations(reader, 0);
	if (node.operands[0] != NO_NODE && formula_accept(reader, "if")) {
		node.operands[1] = read_operations(reader, 0);
		if (node.operands[1] != NO_NODE &&
		    formula_expect(reader, "else", "'else' is expected"))
			node.operands[2] = read_choice(reader);
		node.operands[0] = reader->result == PS_OK ? add_node(reader, node) : NO_NODE;
	}
	if (reader->depth > reader->formula->depth)
		reader->formula->depth = reader->depth;
	reader->depth--;
	return node.operands[0];
}

int ps__formula_parse(struct ps_formula *formula, const char *text,
                      const struct ps__formula_place *where)
{
	struct reader reader = {
	    .formula = formula, .where = where, .text = text, .at = text, .result = PS_OK};

	formula_advance(&reader);
	formula->root = read_choice(&reader);
	if (reader.result == PS_OK && reader.length > 0)
		formula_fail(&reader, "an operator is expected");
	formula->steps = formula->node_count;
	return reader.result;
}
