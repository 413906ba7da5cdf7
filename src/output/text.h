/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the text output. */
#ifndef PS_OUTPUT_TEXT_H
#define PS_OUTPUT_TEXT_H

#include "output/grid.h"
#include "output/known.h"
#include "output/lines.h"
#include "output/table.h"

#include <perfsage/print.h>

struct ps__text {
	struct ps_print_options options;
	struct ps__table table;
	struct ps__buffer buffer;
	struct ps__lines lines;
	struct ps__grid grid;   /* columns: label, events, metrics, how they are known */
	uint64_t *branches;     /* for each line, as ps__label_find_branches returns them */
	int *numbers;           /* buffer for the numbers of all rows */
	struct ps__known known; /* of all values shown */
	bool has_empty;         /* a component without a count is shown */
	bool has_last_cpu;      /* a row other than the machine's shows a last-cpu count */
	struct ps__buffer *left_out;
};

/* Adds the table as text. The table keeps only the rows that are shown. left_out gets the line that
 * names the columns that didn't fit; NULL: this line is added below the table. PS_ENOMEM. */
int ps__text_add_table(struct ps__table *table, const struct ps_print_options *options,
                       struct ps__buffer *buffer, struct ps__buffer *left_out);

/* Only for the command's reports: the text names the command's options, and doesn't explain "ended"
 * and "exact". */
#define PS__PRINT_REPORT (1u << 31)
/* The user chose no metrics: the table has all that the events allow. */
#define PS__PRINT_ALL_METRICS (1u << 30)
/* Names the metrics that have no number in any line. */
#define PS__PRINT_UNKNOWN (1u << 29)

/* text_cell.c: put the headings, or a line, into the grid. */
void ps__text_set_headings(struct ps__text *text);
void ps__text_set_line(struct ps__text *text, size_t line);

/* text_label.c: find the branches of all lines; write a line's branches and label into grid.cell
 * and return the columns that they take. */
void ps__text_find_branches(struct ps__text *text);
size_t ps__text_label(struct ps__text *text, size_t line, bool details);

/* text_alike.c: adds a tree without counts, laid out by PS__LAYOUT_ALIKE. */
void ps__text_add_alike(struct ps__text *text);

/* text_footer.c: add lines below a whole tree: "residual: ..." of the sets that were checked, and
 * "cost: ..." of the sets whose readings have a known cost. */
void ps__text_add_residual(struct ps__buffer *buffer, const struct ps__table *table);
void ps__text_add_cost(struct ps__buffer *buffer, const struct ps__table *table);

#endif
