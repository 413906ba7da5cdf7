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
 * Prints the tree below a component, with a column for each event.
 *
 * The numbers are those of ps_component_total, with four digits and an SI
 * prefix, as `perfsage stat` shows them. On the lowest lines with a number, the
 * last column tells how this number is known. Components without a count below them are left out,
 * and counted in a last line. In a tree without any reading nothing is left out; components that
 * are alike share a line if there are more than 22. Below a whole tree, one line has the residual
 * of the event sets that ps_eventset_check checked.
 *
 * root - a Machine or any other component
 * stream - stays open, and is flushed; the text is plain ASCII, with lines of any length
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ESYS - the stream could not be written; ps_error_detail() says why
 *   PS_ENOMEM - out of memory
 *
 * Any thread, also while sets are counting. Allocates.
 */
PS_PUBLIC int ps_print(struct ps_component *root, FILE *stream);

enum ps_print_flag {
	PS_PRINT_SI = 1 << 0,        /* the default: four digits and an SI prefix, "12.35M" */
	PS_PRINT_UTF8 = 1 << 1,      /* branches of box characters; else two blanks a level */
	PS_PRINT_COLOUR = 1 << 2,    /* ANSI escape sequences, for a terminal */
	PS_PRINT_IDLE = 1 << 3,      /* show components without a count, too */
	PS_PRINT_FLAT = 1 << 4,      /* neither branches nor indentation: a list */
	PS_PRINT_NO_LEGEND = 1 << 5, /* without the last lines, which explain signs and words */
	PS_PRINT_EACH = 1 << 6,      /* a line for each component: nothing joined or folded */
	PS_PRINT_RAW = 1 << 7        /* whole numbers, whatever PS_PRINT_SI says */
};

/** A type of component, for `types`. */
#define PS_TYPE_BIT(type) (1u << (unsigned)(type))

/** The outermost level of caches that there is, for `cache_level`. */
#define PS_CACHE_LAST_LEVEL (-1)

/**
 * Options of ps_print_with. If size is set and all other members are 0,
 * ps_print_with prints what ps_print prints.
 *
 * Start with `struct ps_print_options o = {.size = sizeof o};`.
 */
struct ps_print_options {
	size_t size;    /* sizeof(struct ps_print_options) */
	unsigned flags; /* OR of enum ps_print_flag */
	/* OR of PS_TYPE_BITs: root and components of these types; also the unknown Thread if it has
	 * a count. 0: all types */
	unsigned types;
	int cache_level; /* where caches are shown: 0 all, 1 to 5 this level, or PS_CACHE_LAST_LEVEL
	                  */
	/* Of the terminal, in columns. The names of a line are shortened, and columns of counts
	 * that don't fit are left out, and named below the table; one always stays. 0: unlimited,
	 * nothing is shortened or left out for lack of room, and lines have any length */
	size_t width;
	/* Names of <perfsage/metric.h>, shown as columns after the events */
	const char *const *metrics;
	size_t metric_count;
	/* The readings with this timestamp, which ps_read wrote back; 0: the latest of each set */
	uint64_t timestamp;
};

/**
 * Does what ps_print does, with options.
 *
 * Fractions of events that have a unit of their own (energy) are shown in that
 * unit. A metric that is unknown for a component has an empty cell.
 *
 * root, stream - as for ps_print
 * options - NULL for ps_print's output; only read
 *
 * Errors, besides those of ps_print:
 *   PS_EINVAL - options has a wrong size, an unknown flag, type or level, or a
 *       metric's name that is NULL
 *   PS_ENOEVNT - there is no such metric; ps_error_detail() gives all names
 *   PS_ENOEVST - no event set has a reading with options->timestamp
 */
PS_PUBLIC int ps_print_with(struct ps_component *root, const struct ps_print_options *options,
                            FILE *stream);

/**
 * Does what ps_print_with does, into a file: for languages without FILE *.
 *
 * The file appears whole or not at all: a new file is written beside path, and
 * renamed. On failure the old file is unchanged. The new file has the permissions
 * of the old file. Symbolic links that lead to the file stay.
 *
 * root, options - as for ps_print_with
 * path - a regular file, or none yet
 *
 * Errors: those of ps_print_with; PS_ESYS if the file can't be written.
 */
PS_PUBLIC int ps_print_to_path(struct ps_component *root, const struct ps_print_options *options,
                               const char *path);

/**
 * Does what ps_print_with does, to a descriptor.
 *
 * If writing fails, the descriptor can hold part of the text.
 *
 * root, options - as for ps_print_with
 * fd - open for writing; stays open
 *
 * Errors: those of ps_print_with; PS_ESYS if the descriptor can't be written.
 */
PS_PUBLIC int ps_print_to_fd(struct ps_component *root, const struct ps_print_options *options,
                             int fd);

/**
 * Prints how values are known, for tables of sums that the caller made.
 *
 * The words are those of ps_print's last column ("exact", "last-cpu, scaled,
 * coverage 25-50%"), without an end of line.
 *
 * values - count values; only read
 * count - how many there are
 * stream - stays open
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ESYS, PS_ENOMEM - as for ps_print
 *
 * Any thread.
 */
PS_PUBLIC int ps_print_known(const struct ps_value *values, size_t count, FILE *stream);

/**
 * Prints the lines that explain the signs and words of these values.
 *
 * The lines are those that ps_print would print below a table of these values.
 *
 * values, count, stream - as for ps_print_known
 * width - of the terminal, in columns; 0: unlimited
 *
 * Errors: as for ps_print_known. Any thread.
 */
PS_PUBLIC int ps_print_legend(const struct ps_value *values, size_t count, size_t width,
                              FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
