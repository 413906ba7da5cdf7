/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the text output: what stands in the places of the table. */
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
	struct ps__buffer cell;
	struct ps__lines lines;
	struct ps__grid grid;   /* a label, events, metrics, how it is known */
	uint64_t *branches;     /* for each line by bits: at which depths lines go on below it */
	int *numbers;           /* room for those of all rows */
	struct ps__known known; /* of all that is shown */
	bool has_empty;         /* a component without a count is shown */
	bool has_last_cpu;      /* a count below the machine is shown as last-cpu */
	struct ps__buffer *left_out;
};

/* The table as text. It is left with the rows that are shown. left_out takes the line that names
 * the columns without room; NULL: it stands below the table. PS_ENOMEM. */
int ps__text_add_table(struct ps__table *table, const struct ps_print_options *options,
                       struct ps__buffer *buffer, struct ps__buffer *left_out);

/* For the command's reports alone: options are named, "ended" and "exact" go without saying. */
#define PS__PRINT_REPORT (1u << 31)
/* Nobody chose the metrics: they are all that the events allow. */
#define PS__PRINT_ALL_METRICS (1u << 30)
/* Names the metrics of which no line has a number. */
#define PS__PRINT_UNKNOWN (1u << 29)

/* text_cell.c: the headings, or a line, into the grid. */
void ps__text_set_headings(struct ps__text *text);
void ps__text_set_line(struct ps__text *text, size_t line);

/* text_label.c: the branches of all lines; before a line's label, and the label, into text->cell;
 * how many columns of the screen they take. */
void ps__text_find_branches(struct ps__text *text);
size_t ps__text_label(struct ps__text *text, size_t line, bool details);

/* text_alike.c: a tree without counts, whose lines are those of PS__LAYOUT_ALIKE. */
void ps__text_add_alike(struct ps__text *text);

/* text_footer.c: lines below a whole tree: "residual: ..." of the sets that
 * were checked, "cost: ..." of those whose readings' cost is known. */
void ps__text_add_residual(struct ps__buffer *buffer, const struct ps__table *table);
void ps__text_add_cost(struct ps__buffer *buffer, const struct ps__table *table);

#endif
