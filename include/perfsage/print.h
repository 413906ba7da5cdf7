/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree with its counters, as text. */
#ifndef PERFSAGE_PRINT_H
#define PERFSAGE_PRINT_H

#include <perfsage/component.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Prints the tree below a component, with a column for each event: what ps_component_total gives for every
 * component, and on Threads how it is known. Components without a count below them are left out, and
 * counted in a last line; a tree without any reading is printed whole. Below a whole tree, one line has the residual of
 * the event sets that ps_eventset_check looked at.
 *
 * root: a Machine or any other component. stream: stays open. Plain ASCII, lines of any length.
 * PS_EINVAL: a NULL. PS_ESYS: the stream could not be written; the detail says why. PS_ENOMEM.
 * Any thread, also while sets are counting. Allocates.
 */
PS_PUBLIC int ps_print(struct ps_component *root, FILE *stream);

enum ps_print_flag {
	PS_PRINT_SI = 1 << 0,     /* four digits and an SI prefix, "12.35M", "7.215 ms"; without it: integers */
	PS_PRINT_UTF8 = 1 << 1,   /* branches of box characters; without it: two blanks a level */
	PS_PRINT_COLOUR = 1 << 2, /* ANSI escape sequences, for a terminal */
	PS_PRINT_IDLE = 1 << 3,   /* show components without a count, too */
	PS_PRINT_FLAT = 1 << 4,   /* neither branches nor indentation: a list */
	PS_PRINT_NO_LEGEND =
	    1 << 5 /* without the last lines that say what signs and words mean, and what is left out */
};

/** For `types`: this type of component. */
#define PS_TYPE_BIT(type) (1u << (unsigned)(type))

/** For `cache_level`: of the caches, those of the outermost level that there is. */
#define PS_CACHE_LAST_LEVEL (-1)

/** Start with `struct ps_print_options o = {.size = sizeof o};`: with the rest 0 it's what ps_print prints. */
struct ps_print_options {
	size_t size;     /* sizeof(struct ps_print_options) */
	unsigned flags;  /* OR of enum ps_print_flag */
	unsigned types;  /* OR of PS_TYPE_BITs: show only these, and the first line's component; 0: all */
	int cache_level; /* where caches are shown: 0 all, 1 to 5 this level, or PS_CACHE_LAST_LEVEL */
	size_t width;    /* of the terminal, in columns: what is wider goes on in a block below; 0: unlimited */
	const char *const *metrics; /* names of <perfsage/metric.h>, shown as columns after the events */
	size_t metric_count;
};

/**
 * As ps_print, with options. Fractions of events that have a unit of their own (energy) are shown in that unit.
 *
 * options: NULL for ps_print's output; only read. A metric that can't be told for a component has an empty cell.
 * PS_EINVAL: a NULL (of a metric's name, too), a wrong size, an unknown flag, type or level. PS_ENOEVNT: there is no
 * such metric; the detail has
 * the nearest. PS_ESYS, PS_ENOMEM as ps_print.
 */
PS_PUBLIC int ps_print_with(struct ps_component *root, const struct ps_print_options *options, FILE *stream);

/**
 * How values are known, as the last column of ps_print has it ("exact", "last-cpu, scaled, coverage 25-50%"), for tables
 * of sums that the caller made. No end of line. values: count of them, only read.
 * PS_EINVAL: a NULL. PS_ESYS, PS_ENOMEM as ps_print. Any thread.
 */
PS_PUBLIC int ps_print_known(const struct ps_value *values, size_t count, FILE *stream);

/**
 * The lines below such a table that say what its signs and words mean, as below ps_print's: those of these values.
 * width: of the terminal, in columns; 0: unlimited. The rest, and the errors: as ps_print_known.
 */
PS_PUBLIC int ps_print_legend(const struct ps_value *values, size_t count, size_t width, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
