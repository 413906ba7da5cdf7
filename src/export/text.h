/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the text output: the columns, how wide they are, and the signs around the text. */
#ifndef PS_EXPORT_TEXT_H
#define PS_EXPORT_TEXT_H

#include "export/buffer.h"
#include "export/known.h"
#include "export/table.h"

#include <perfsage/print.h>

enum ps__text_kind {
	PS__TEXT_EVENT,
	PS__TEXT_METRIC,
	PS__TEXT_KNOWN /* the last one: how the numbers of a line are known */
};

struct ps__text_column {
	enum ps__text_kind kind;
	size_t index; /* of the event or metric */
	size_t width; /* 0: isn't shown */
	size_t mark;  /* room for a "u" behind the digits, or " u", so that these stand in line */
};

struct ps__text {
	struct ps_print_options options;
	struct ps__table table;
	struct ps__buffer buffer;
	struct ps__buffer cell;          /* for measuring and aligning one */
	struct ps__text_column *columns; /* events, metrics, how it is known */
	size_t column_count;
	size_t label_width;
	uint64_t *branches;     /* for each row by bits: at which depths lines go on below it */
	struct ps__known known; /* of all that is shown */
};

/* text_cell.c: what stands in a place of the table, into text->cell; how long is its mark? */
size_t ps__text_cell(struct ps__text *text, size_t row, const struct ps__text_column *column);
void ps__text_heading(struct ps__text *text, const struct ps__text_column *column);
void ps__text_label(struct ps__text *text, size_t row, bool details);
/* How many columns of the screen the branches before a row's label take; and they themselves. */
size_t ps__text_indent(const struct ps__text *text, size_t row);
void ps__text_add_branches(struct ps__text *text, size_t row);
void ps__text_find_branches(struct ps__text *text);
/* Notes how the numbers of a row are known: of those that are shown in no line below. */
void ps__text_note(const struct ps__text *text, size_t row, struct ps__known *known);

/* text_style.c: escape sequences, if they are asked for; and lines that fit. */
enum ps__text_style {
	PS__STYLE_PLAIN,
	PS__STYLE_HEADING,
	PS__STYLE_FAINT,   /* branches, zeros, explanations */
	PS__STYLE_UNKNOWN, /* what isn't known */
	PS__STYLE_ESTIMATE
};
void ps__text_style(struct ps__text *text, enum ps__text_style style);
void ps__text_end_style(struct ps__text *text, enum ps__text_style style);
/* Whole lines, which are used up. */
void ps__text_add_wrapped(struct ps__buffer *buffer, const struct ps__buffer *lines, size_t indent, size_t width);

#endif
