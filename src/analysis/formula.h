/* SPDX-License-Identifier: BSD-3-Clause */
/* A formula inside: a tree of nodes, which name each other by number. */
#ifndef PS_ANALYSIS_FORMULA_H
#define PS_ANALYSIS_FORMULA_H

#include <perfsage/formula.h>
#include <stdbool.h>
#include <stdint.h>

enum ps__formula_kind {
	PS__FORMULA_NUMBER,
	PS__FORMULA_NAME,
	PS__FORMULA_NEGATE,
	PS__FORMULA_INNER, /* another formula, which is its operand */
	PS__FORMULA_ADD,
	PS__FORMULA_SUBTRACT,
	PS__FORMULA_MULTIPLY,
	PS__FORMULA_DIVIDE,
	PS__FORMULA_REMAINDER,
	PS__FORMULA_LESS,
	PS__FORMULA_GREATER,
	PS__FORMULA_AND,
	PS__FORMULA_XOR,
	PS__FORMULA_OR,
	PS__FORMULA_MIN,
	PS__FORMULA_MAX,
	PS__FORMULA_RATIO, /* d_ratio: 0 where the divisor is 0 */
	PS__FORMULA_IF     /* operands: what holds, the condition, what holds else */
};

struct ps__formula_node {
	enum ps__formula_kind kind;
	uint32_t operands[3]; /* nodes; of a name its number */
	uint32_t above;       /* the operation whose left operand it is */
	double number;
};

/* Deeper formulas are refused, as they are evaluated by recursion. */
#define PS__FORMULA_DEPTH 64

struct ps_formula {
	struct ps__formula_node *nodes;
	size_t node_count, node_room;
	uint32_t root;
	char **names;
	size_t name_count, name_room;
	unsigned depth; /* parentheses and choices that are open at once */
	size_t steps;   /* of an evaluation, at most */
};

/* A formula with others in it takes no more steps. */
#define PS__FORMULA_STEPS ((size_t)100000)

/* Where a formula begins, for errors. */
struct ps__formula_place {
	const char *path; /* NULL: it is no file's */
	unsigned line;    /* of the text's first character, which is in column 1 */
};

/* ps_formula_create, with errors that tell the place in a file. */
int ps__formula_create_at(struct ps_formula **out, const char *text,
                          const struct ps__formula_place *where);
/* formula_parse.c: fills an empty formula. A code, with a detail. */
int ps__formula_parse(struct ps_formula *formula, const char *text,
                      const struct ps__formula_place *where);
/* The number of a name, which is added if it is new; SIZE_MAX: no memory. */
size_t ps__formula_add_name(struct ps_formula *formula, const char *name);
/* The name stands for another formula. PS_ENOMEM; PS_ECOUNT without a detail: all together is too
 * deep, or too long. */
int ps__formula_insert(struct ps_formula *formula, size_t name, const struct ps_formula *other);
/* Is a name still looked up? */
bool ps__formula_uses(const struct ps_formula *formula, size_t name);
/* Names that stand for numbers become those. */
void ps__formula_set_number(struct ps_formula *formula, size_t name, double number);

/* formula_machine.c: what a formula's names mean that are no events. */
struct ps__formula_machine {
	const struct ps_component *root; /* of the topology; NULL: it isn't known */
	bool counts_cpus;                /* the counts are of CPUs, not of tasks */
};
/* "#num_cpus" and the like; NaN for what isn't known. */
double ps__formula_machine_number(const struct ps__formula_machine *machine, const char *name);
/* The frequency of the time stamp counter, or of Arm's counter; NaN: neither the kernel nor the
 * processor tells it. */
double ps__formula_tick_hz(void);
/* An event's count times this is the number that perf gives to formulas. */
double ps__formula_factor(const char *event);

/* The event that a name such as "has_event(cycles)" asks for. */
struct ps__formula_question {
	bool is_count;   /* source_count(): of how many counters is it the sum? */
	char event[512]; /* "" if it is longer: no event is */
};
bool ps__formula_asks(const char *name, struct ps__formula_question *out);

#endif
