/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formulas are made as trees. What each means is reckoned while it is written down, by rules of
 * this file's own, and held against what the library reads and computes. Then bytes of the text are
 * changed: such a text is taken or refused, with a column that lies in it.
 */
#include "support/formula_fuzz.h"

#include "support/random.h"

#include <math.h>
#include <perfsage/error.h>
#include <perfsage/formula.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 4096
#define DEEPEST    5

/* The strength of an operator: an operand that binds less needs parentheses. */
enum strength {
	CHOICE,
	OR,
	XOR,
	AND,
	RELATION,
	SUM,
	PRODUCT,
	SIGN,
	OPERAND
};

struct text {
	struct random random;
	char bytes[TEXT_BYTES];
	size_t length;
};

static bool put(struct text *text, const char *word)
{
	size_t length = strlen(word);

	if (text->length + length + 1 > TEXT_BYTES)
		return false;
	memcpy(text->bytes + text->length, word, length + 1);
	text->length += length;
	return true;
}

static uint64_t choose(struct text *text, uint64_t count)
{
	return (random_next(&text->random) >> 11) % count;
}

static void put_blank(struct text *text)
{
	static const char *const blanks[] = {"", "", " ", "  ", "\t", "\n", "\r\n"};

	put(text, blanks[choose(text, sizeof blanks / sizeof *blanks)]);
}

/* Where two words would run into one. */
static void put_space(struct text *text)
{
	put(text, " ");
	put_blank(text);
}

static const struct {
	const char *text, *name;
	double number;
} words[] = {{"0", NULL, 0},
             {"1", NULL, 1},
             {"7.", NULL, 7},
             {".5", NULL, 0.5},
             {"1e3", NULL, 1000},
             {"2.25E-1", NULL, 0.225},
             {"1000000007", NULL, 1000000007},
             {"a", "a", 3},
             {"branch\\-misses", "branch-misses", 12},
             {"cpu@event\\=0x3c\\,umask\\=1@", "cpu/event=0x3c,umask=1/", 1e9},
             {"cycles:u", "cycles:u", 2.5},
             {"#num_cpus", "#num_cpus", 64},
             {"has_event(a)", "has_event(a)", 1},
             {"zero", "zero", 0},
             {"unknown", "unknown", (double)NAN}};
#define WORDS (sizeof words / sizeof *words)

static int look_up(void *context, const char *name, double *number, struct ps_value *value)
{
	(void)context;
	(void)value;
	for (size_t i = 0; i < WORDS; i++) {
		if (words[i].name && strcmp(words[i].name, name) == 0)
			*number = words[i].number;
	}
	return PS_OK;
}

/* Whole numbers of 64 bits; fractions are cut off. Others are none. */
static double apply_to_words(char operator, double one, double other)
{
	if (!(one < 0x1p63 && other < 0x1p63 && fmin(one, other) >= -0x1p63))
		return (double)NAN;
	long long word = (long long)one, other_word = (long long)other;
	switch (operator) {
	case '|':
		return (double)(word | other_word);
	case '^':
		return (double)(word ^ other_word);
	case '&':
		return (double)(word & other_word);
	default:
		if (other_word == 0 || other_word == -1)
			return other_word == 0 ? (double)NAN : 0;
		return (double)(word % other_word);
	}
}

static double apply_to_numbers(char operator, double one, double other)
{
	switch (operator) {
	case '<':
		return one < other;
	case '>':
		return other < one;
	case '+':
		return one + other;
	case '-':
		return one - other;
	case '*':
		return one * other;
	case '/':
		return other == 0 ? (double)NAN : one / other;
	case 'm':
		return fmin(one, other);
	case 'M':
		return fmax(one, other);
	default: /* a ratio */
		return other == 0 ? 0 : one / other;
	}
}

/* An overflow gives no number. */
static double apply(char operator, double one, double other)
{
	if (isnan(one) || isnan(other))
		return (double)NAN;
	double number = strchr("|^&%", operator) ? apply_to_words(operator, one, other)
	                                         : apply_to_numbers(operator, one, other);
	return isfinite(number) ? number : (double)NAN;
}

static double put_tree(struct text *text, unsigned depth, enum strength least);

static double put_call(struct text *text, unsigned depth)
{
	static const char *const names[] = {"min", "max", "d_ratio"};
	size_t which = choose(text, 3);

	put(text, names[which]);
	put_blank(text);
	put(text, "(");
	double one = put_tree(text, depth + 1, CHOICE);
	put(text, ",");
	double other = put_tree(text, depth + 1, CHOICE);
	put(text, ")");
	return apply("mM:"[which], one, other);
}

static double put_word(struct text *text)
{
	size_t which = choose(text, WORDS);

	put(text, words[which].text);
	return words[which].number;
}

static double put_negative(struct text *text, unsigned depth)
{
	put(text, "-");
	put_blank(text);
	return -put_tree(text, depth + 1, SIGN);
}

/* The left operand may be as weak as the operator: they are done from left to right. */
static double put_operation(struct text *text, unsigned depth, enum strength strength)
{
	static const char *const operators[] = {[OR] = "|",        [XOR] = "^",  [AND] = "&",
	                                        [RELATION] = "<>", [SUM] = "+-", [PRODUCT] = "*/%"};
	double one = put_tree(text, depth + 1, strength);
	const char *all = operators[strength];
	char word[2] = {all[choose(text, strlen(all))], '\0'};

	put_blank(text);
	put(text, word);
	double other = put_tree(text, depth + 1, strength + 1);
	return apply(word[0], one, other);
}

static double put_choice(struct text *text, unsigned depth)
{
	double one = put_tree(text, depth + 1, OR);

	put_space(text);
	put(text, "if");
	put_space(text);
	double condition = put_tree(text, depth + 1, OR);
	put_space(text);
	put(text, "else");
	put_space(text);
	double other = put_tree(text, depth + 1, CHOICE);
	return isnan(condition) ? condition : condition != 0 ? one : other;
}

static double put_kind(struct text *text, unsigned depth, enum strength strength)
{
	if (strength == OPERAND)
		return depth < DEEPEST && choose(text, 3) == 0 ? put_call(text, depth)
		                                               : put_word(text);
	if (strength == SIGN)
		return put_negative(text, depth);
	return strength == CHOICE ? put_choice(text, depth) : put_operation(text, depth, strength);
}

/* Any tree that binds as strongly as `least`, or another one in parentheses. */
static double put_tree(struct text *text, unsigned depth, enum strength least)
{
	enum strength strength =
	    depth < DEEPEST ? (enum strength)choose(text, OPERAND + 1) : OPERAND;
	bool is_apart = strength < least || choose(text, 8) == 0;

	put_blank(text);
	if (is_apart)
		put(text, "(");
	double number = put_kind(text, depth, strength);
	put_blank(text);
	if (is_apart)
		put(text, ")");
	return number;
}

static bool note_wrong(struct formula_fuzz *result, const char *what, const char *text)
{
	snprintf(result->wrong, sizeof result->wrong, "%.100s (%.150s): %.250s", what,
	         ps_error_detail(), text);
	return false;
}

static bool is_same(double one, double other)
{
	return isnan(one) ? isnan(other) : one == other;
}

static bool compare(const char *text, double wanted, struct formula_fuzz *result)
{
	struct ps_formula *formula = NULL;
	struct ps_metric_value value = {.value = 0};

	if (ps_formula_create(&formula, text) != PS_OK)
		return note_wrong(result, "a good formula was refused", text);
	int code = ps_formula_evaluate(formula, look_up, NULL, &value);
	ps_formula_destroy(formula);
	if (code != PS_OK)
		return note_wrong(result, "a good formula was not computed", text);
	if (!is_same(value.value, wanted)) {
		char what[100];
		snprintf(what, sizeof what, "%.17g, not %.17g", value.value, wanted);
		return note_wrong(result, what, text);
	}
	result->compared++;
	return true;
}

/* A byte is changed, taken away, or doubled. */
static void damage(struct text *text)
{
	static const char bytes[] = "()+-*/%|&^<>,.\\@#=e0 \n\xff\x01ifmaxdl_";

	for (uint64_t times = choose(text, 4) + 1; times > 0 && text->length > 1; times--) {
		size_t at = choose(text, text->length);
		uint64_t how = choose(text, 3);
		if (how == 0) {
			text->bytes[at] = bytes[choose(text, sizeof bytes - 1)];
		} else if (how == 1) {
			memmove(text->bytes + at, text->bytes + at + 1, text->length - at);
			text->length--;
		} else if (text->length + 1 < TEXT_BYTES) {
			memmove(text->bytes + at + 1, text->bytes + at, text->length - at + 1);
			text->length++;
		}
	}
}

/* The detail's line and column are those of a place in the text, or of its end. */
static bool has_place(const char *text)
{
	const char *detail = ps_error_detail();
	unsigned line, column, lines = 1;

	if (sscanf(detail, "line %u, column %u of the formula:", &line, &column) != 2)
		return false;
	for (const char *at = text; line > lines && (at = strchr(at, '\n')); at++)
		lines++;
	return line >= 1 && lines == line && column >= 1 && column <= strlen(text) + 1;
}

static bool read_damaged(const char *text, struct formula_fuzz *result)
{
	struct ps_formula *formula = NULL;
	struct ps_metric_value value;

	if (ps_formula_create(&formula, text) != PS_OK) {
		result->refused++;
		return (!formula && has_place(text)) || note_wrong(result, "no such place", text);
	}
	result->taken++;
	int code = ps_formula_evaluate(formula, look_up, NULL, &value);
	ps_formula_destroy(formula);
	return code == PS_OK || note_wrong(result, "it was taken, and not computed", text);
}

bool formula_fuzz(uint64_t seed, uint64_t runs, struct formula_fuzz *result)
{
	static struct text text;

	*result = (struct formula_fuzz){.compared = 0};
	text.random = random_of(seed);
	for (uint64_t run = 0; run < runs; run++) {
		text.length = 0;
		double wanted = put_tree(&text, 0, CHOICE);
		/* The rest of what did not fit is missing. */
		if (text.length + 64 < TEXT_BYTES && !compare(text.bytes, wanted, result))
			return false;
		damage(&text);
		if (!read_damaged(text.bytes, result))
			return false;
	}
	return true;
}
