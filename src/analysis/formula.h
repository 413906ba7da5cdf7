/* SPDX-License-Identifier: BSD-3-Clause */
/* The struct of a formula: a tree of nodes, which refer to each other by index. */
#ifndef PS_ANALYSIS_FORMULA_H
#define PS_ANALYSIS_FORMULA_H

#include <perfsage/formula.h>
#include <stdbool.h>
#include <stdint.h>

enum ps__formula_kind {
	PS__FORMULA_NUMBER,
	PS__FORMULA_NAME,
	PS__FORMULA_NEGATE,
	PS__FORMULA_INNER, /* another formula; its root is the operand */
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
	PS__FORMULA_RATIO, /* d_ratio: 0 if the divisor is 0 */
	PS__FORMULA_IF     /* operands: the value if true, the condition, the value if false */
};

struct ps__formula_node {
	enum ps__formula_kind kind;
	uint32_t operands[3]; /* indices of nodes; for a name: its index in names */
	uint32_t above;       /* index of the operation whose left operand this node is */
	double number;
};

/* The largest depth. Deeper formulas are refused, because formulas are evaluated by recursion. */
#define PS__FORMULA_DEPTH 64

struct ps_formula {
	struct ps__formula_node *nodes;
	size_t node_count, node_room;
	uint32_t root;
	char **names;
	size_t name_count, name_room;
	unsigned depth; /* largest number of parentheses and choices that are open at once */
	size_t steps;   /* largest number of steps of an evaluation */
};

/* The most steps of a formula that contains other formulas. */
#define PS__FORMULA_STEPS ((size_t)100000)

/* Where a formula begins, for errors. */
struct ps__formula_place {
	const char *path; /* NULL: the formula is not from a file */
	unsigned line;    /* line of the text's first character, which is in column 1 */
};

/* As ps_formula_create, but errors tell the place in a file. */
int ps__formula_create_at(struct ps_formula **out, const char *text,
                          const struct ps__formula_place *where);
/* formula_parse.c: fills an empty formula. Returns PS_OK, or a code with a detail. */
int ps__formula_parse(struct ps_formula *formula, const char *text,
                      const struct ps__formula_place *where);
/* Returns the number of a name, which is added if it is new; SIZE_MAX if out of memory. */
size_t ps__formula_add_name(struct ps_formula *formula, const char *name);
/* Replaces a name by another formula. PS_OK; PS_ENOMEM; PS_ECOUNT without a detail: the whole
 * formula is too deep or has too many steps. */
int ps__formula_insert(struct ps_formula *formula, size_t name, const struct ps_formula *other);
/* True if the formula still has a name, which an evaluation may look up. */
bool ps__formula_uses(const struct ps_formula *formula, size_t name);
/* Replaces a name by a number. */
void ps__formula_set_number(struct ps_formula *formula, size_t name, double number);

/* formula_machine.c: the meaning of names that are not events. */
struct ps__formula_machine {
	const struct ps_component *root; /* root of the topology; NULL: not known */
	bool counts_cpus;                /* the counts are of CPUs, not of tasks */
};
/* Returns the number of "#num_cpus" and the like; NaN if it isn't known. */
double ps__formula_machine_number(const struct ps__formula_machine *machine, const char *name);
/* Returns the frequency of the time stamp counter, or of Arm's counter; NaN if neither the kernel
 * nor the processor tells it. */
double ps__formula_tick_hz(void);
/* Returns the factor that turns an event's count into the unit that perf's formulas use. */
double ps__formula_factor(const char *event);

/* The question in a name such as "has_event(cycles)". */
struct ps__formula_question {
	bool is_count;   /* source_count(): how many counters the event adds up */
	char event[512]; /* "" if it is longer: no event has such a name */
};
bool ps__formula_asks(const char *name, struct ps__formula_question *out);

#endif
