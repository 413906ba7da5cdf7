/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes formulas, and computes them. */
#include "analysis/formula.h"

#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "eventset/parts.h"
#include "store/sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

int ps_formula_create(struct ps_formula **out, const char *text)
{
	if (!out || !text)
		return ps__fail(PS_EINVAL, "ps_formula_create: the %s is NULL",
		                out ? "text" : "pointer for the formula");
	return ps__formula_create_at(out, text, &(struct ps__formula_place){.path = NULL});
}

int ps__formula_create_at(struct ps_formula **out, const char *text,
                          const struct ps__formula_place *where)
{
	struct ps_formula *formula = ps__os_calloc(1, sizeof *formula);
	if (!formula)
		return ps__fail_memory("a formula");
	int result = ps__formula_parse(formula, text, where);
	if (result == PS_OK)
		*out = formula;
	else
		ps_formula_destroy(formula);
	return result;
}

void ps_formula_destroy(struct ps_formula *formula)
{
	if (!formula)
		return;
	for (size_t index = 0; index < formula->name_count; index++)
		ps__os_free(formula->names[index]);
	ps__os_free(formula->names);
	ps__os_free(formula->nodes);
	ps__os_free(formula);
}

const char *ps_formula_name(const struct ps_formula *formula, size_t index)
{
	return formula && index < formula->name_count ? formula->names[index] : NULL;
}

void ps__formula_set_number(struct ps_formula *formula, size_t name, double number)
{
	for (size_t index = 0; index < formula->node_count; index++) {
		struct ps__formula_node *node = &formula->nodes[index];
		if (node->kind != PS__FORMULA_NAME || node->operands[0] != name)
			continue;
		node->kind = PS__FORMULA_NUMBER;
		node->number = number;
	}
}

static size_t count_uses(const struct ps_formula *formula, size_t name)
{
	size_t uses = 0;

	for (size_t index = 0; index < formula->node_count; index++)
		uses += formula->nodes[index].kind == PS__FORMULA_NAME &&
		        formula->nodes[index].operands[0] == name;
	return uses;
}

bool ps__formula_uses(const struct ps_formula *formula, size_t name)
{
	return count_uses(formula, name) > 0;
}

/* Copies the nodes of another formula behind those that are there. */
static int copy_nodes(struct ps_formula *formula, const struct ps_formula *other)
{
	uint32_t offset = (uint32_t)formula->node_count;
	size_t count = formula->node_count + other->node_count;

	if (!PS__VECTOR_RESERVE(&formula->nodes, formula->node_count, count, &formula->node_room))
		return ps__fail_memory("a formula");
	for (size_t index = 0; index < other->node_count; index++) {
		struct ps__formula_node *node = &formula->nodes[offset + index];
		*node = other->nodes[index];
		node->above += offset;
		for (size_t operand = 0; operand < 3; operand++)
			node->operands[operand] += offset;
		if (node->kind != PS__FORMULA_NAME)
			continue;
		size_t name =
		    ps__formula_add_name(formula, other->names[other->nodes[index].operands[0]]);
		if (name == SIZE_MAX)
			return ps__fail_memory("a formula");
		node->operands[0] = (uint32_t)name;
	}
	formula->node_count = count;
	return PS_OK;
}

int ps__formula_insert(struct ps_formula *formula, size_t name, const struct ps_formula *other)
{
	size_t count = formula->node_count, uses = count_uses(formula, name);
	size_t steps = formula->steps + uses * other->steps;

	if (formula->depth + other->depth > PS__FORMULA_DEPTH || steps > PS__FORMULA_STEPS)
		return PS_ECOUNT;
	int result = copy_nodes(formula, other);
	for (size_t index = 0; result == PS_OK && index < count; index++) {
		struct ps__formula_node *node = &formula->nodes[index];
		if (node->kind != PS__FORMULA_NAME || node->operands[0] != name)
			continue;
		node->kind = PS__FORMULA_INNER;
		node->operands[0] = (uint32_t)count + other->root;
	}
	formula->depth += other->depth;
	formula->steps = steps;
	return result;
}

struct evaluation {
	const struct ps_formula *formula;
	ps_formula_look_up *look_up;
	void *context;
	int result; /* PS_OK, or the code of a look-up that failed */
	struct ps_metric_value known;
};

static int status_rank(enum ps_status status)
{
	static const int ranks[] = {[PS_STATUS_COUNTED] = 0,
	                            [PS_STATUS_SCALED] = 1,
	                            [PS_STATUS_INCOMPLETE] = 2,
	                            [PS_STATUS_NEVER_SCHEDULED] = 3,
	                            [PS_STATUS_NOT_SUPPORTED] = 4};

	return ranks[status];
}

static void formula_join_status(struct ps_metric_value *known, const struct ps_value *value)
{
	if (status_rank(value->status) > status_rank(known->status))
		known->status = value->status;
	if (value->attribution > known->attribution)
		known->attribution = value->attribution;
	if (value->timestamp > known->timestamp)
		known->timestamp = value->timestamp;
	known->flags |= value->flags;
}

static double evaluate_name(struct evaluation *evaluation, const char *name)
{
	struct ps_value value = {0};
	double number = (double)NAN;

	if (evaluation->result != PS_OK)
		return number;
	evaluation->result = evaluation->look_up(evaluation->context, name, &number, &value);
	formula_join_status(&evaluation->known, &value);
	return number;
}

/* True if the number without its fraction fits into 64 bits. */
static bool has_64_bits(double number)
{
	return number >= -0x1p63 && number < 0x1p63;
}

static double compute_whole(enum ps__formula_kind kind, double left, double right)
{
	if (!has_64_bits(left) || !has_64_bits(right))
		return (double)NAN;
	long long one = (long long)left, other = (long long)right;
	switch (kind) {
	case PS__FORMULA_AND:
		return (double)(one & other);
	case PS__FORMULA_XOR:
		return (double)(one ^ other);
	case PS__FORMULA_OR:
		return (double)(one | other);
	default:
		/* A divisor of -1 is handled apart: C can't divide the least number by -1. */
		if (other == 0)
			return (double)NAN;
		return other == -1 ? 0 : (double)(one % other);
	}
}

static double formula_compute(enum ps__formula_kind kind, double left, double right)
{
	if (isnan(left) || isnan(right))
		return (double)NAN;
	switch (kind) {
	case PS__FORMULA_ADD:
		return left + right;
	case PS__FORMULA_SUBTRACT:
		return left - right;
	case PS__FORMULA_MULTIPLY:
		return left * right;
	case PS__FORMULA_DIVIDE:
		return right == 0 ? (double)NAN : left / right;
	case PS__FORMULA_RATIO:
		return right == 0 ? 0 : left / right;
	case PS__FORMULA_LESS:
		return left < right ? 1 : 0;
	case PS__FORMULA_GREATER:
		return left > right ? 1 : 0;
	case PS__FORMULA_MIN:
		return left < right ? left : right;
	case PS__FORMULA_MAX:
		return left > right ? left : right;
	default:
		return compute_whole(kind, left, right);
	}
}

/* NaN for an overflow: an infinite divisor would give a 0 that nobody counted. */
static double finite_or_none(double number)
{
	return isfinite(number) ? number : (double)NAN;
}

static double evaluate_node(struct evaluation *evaluation, uint32_t at);

/* Evaluates a choice. If the condition isn't known, the result isn't known. */
static double evaluate_choice(struct evaluation *evaluation, const struct ps__formula_node *node)
{
	double condition = evaluate_node(evaluation, node->operands[1]);

	if (isnan(condition))
		return (double)NAN;
	return evaluate_node(evaluation, node->operands[condition != 0 ? 0 : 2]);
}

/* Evaluates a node that isn't an operation of two operands. */
static double evaluate_single(struct evaluation *evaluation, const struct ps__formula_node *node)
{
	switch (node->kind) {
	case PS__FORMULA_NUMBER:
		return node->number;
	case PS__FORMULA_NAME:
		return evaluate_name(evaluation, evaluation->formula->names[node->operands[0]]);
	case PS__FORMULA_NEGATE:
		return -evaluate_node(evaluation, node->operands[0]);
	case PS__FORMULA_INNER:
		return evaluate_node(evaluation, node->operands[0]);
	default:
		return evaluate_choice(evaluation, node);
	}
}

static bool is_single(const struct ps__formula_node *node)
{
	return node->kind <= PS__FORMULA_INNER || node->kind == PS__FORMULA_IF;
}

/* Evaluates a node. In a long chain of operators the left operand is the whole chain except its
 * last part. A loop goes down to the first operand and comes up again, so the recursion is only as
 * deep as the formula's parentheses. */
static double evaluate_node(struct evaluation *evaluation, uint32_t at)
{
	const struct ps__formula_node *nodes = evaluation->formula->nodes;
	uint32_t first = at;

	while (!is_single(&nodes[first]))
		first = nodes[first].operands[0];
	double number = finite_or_none(evaluate_single(evaluation, &nodes[first]));
	for (uint32_t done = first; done != at; done = nodes[done].above) {
		const struct ps__formula_node *operation = &nodes[nodes[done].above];
		number = finite_or_none(formula_compute(
		    operation->kind, number, evaluate_node(evaluation, operation->operands[1])));
	}
	return number;
}

int ps_formula_evaluate(const struct ps_formula *formula, ps_formula_look_up *look_up,
                        void *context, struct ps_metric_value *out)
{
	struct evaluation evaluation = {
	    .formula = formula, .look_up = look_up, .context = context, .result = PS_OK};

	if (!formula || !look_up || !out)
		return ps__fail(PS_EINVAL, "ps_formula_evaluate: the %s is NULL",
		                !formula   ? "formula"
		                : !look_up ? "function that looks names up"
		                           : "pointer for the result");
	evaluation.known.value = evaluate_node(&evaluation, formula->root);
	if (evaluation.result != PS_OK)
		return evaluation.result;
	*out = evaluation.known;
	return PS_OK;
}

/* The values in which ps_formula_value looks names up. */
struct counted {
	const struct ps_eventset *set;
	const struct ps_value *values;
	struct ps__formula_machine machine;
};

/* Returns the event's index, or a code, which is below 0. */
static ptrdiff_t formula_find_event(const struct counted *counted, const char *name)
{
	ptrdiff_t index = ps__set_look_up_event(counted->set, name);

	if (index < 0)
		return ps__fail(PS_ENOEVNT,
		                "the formula needs '%s', which the event set does not count (a '-' "
		                "or '=' in an event's name is written '\\-' or '\\=')",
		                name);
	return index;
}

static int look_up_event(const struct counted *counted, const char *name, double *number,
                         struct ps_value *value)
{
	ptrdiff_t index = formula_find_event(counted, name);

	if (index < 0)
		return (int)index;
	*value = counted->values[index];
	if (ps__value_is_known(value))
		*number = (double)value->value *
		          ps__formula_factor(ps_eventset_event_name(counted->set, (size_t)index));
	return PS_OK;
}

/* Answers a question. source_count is 1: an event of a set belongs to one PMU. */
static int look_up_question(const struct counted *counted,
                            const struct ps__formula_question *question, double *number)
{
	if (question->is_count) {
		*number = 1;
		ptrdiff_t index = formula_find_event(counted, question->event);
		return index < 0 ? (int)index : PS_OK;
	}
	*number = ps__set_look_up_event(counted->set, question->event) >= 0;
	return PS_OK;
}

static int look_up_counted(void *context, const char *name, double *number, struct ps_value *value)
{
	const struct counted *counted = context;
	struct ps__formula_question question;

	if (name[0] == '#')
		*number = ps__formula_machine_number(&counted->machine, name);
	else if (ps__formula_asks(name, &question))
		return look_up_question(counted, &question, number);
	else if (name[strlen(name) - 1] != ')')
		return look_up_event(counted, name, number, value);
	return PS_OK;
}

int ps_formula_value(const struct ps_formula *formula, const struct ps_eventset *set,
                     const struct ps_value *values, const struct ps_component *root,
                     struct ps_metric_value *out)
{
	if (!formula || !set || !values || !out)
		return ps__fail(PS_EINVAL, "ps_formula_value: the %s is NULL",
		                !formula  ? "formula"
		                : !set    ? "event set"
		                : !values ? "array of values"
		                          : "pointer for the result");
	struct counted counted = {set, values, {root, ps__set_counts_cpu(set)}};
	return ps_formula_evaluate(formula, look_up_counted, &counted, out);
}
