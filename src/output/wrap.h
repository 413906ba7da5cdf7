/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences folded to a width, at their blanks. */
#ifndef PS_OUTPUT_WRAP_H
#define PS_OUTPUT_WRAP_H

#include "output/buffer.h"

#include <stdbool.h>

struct ps__wrap {
	size_t start;  /* the column where the line already is */
	size_t indent; /* where its further lines begin */
	size_t width;  /* columns of the screen; 0: no limit */
	enum ps__charset charset;
	bool keeps_quotes; /* 'two words' are one, if a line has room for them */
	bool keeps_pairs;  /* so are those that a single blank separates */
	bool is_command;   /* of a shell: lines that go on end in a backslash */
};

/* Adds foreign text and ends the line. A word that has no room beside the indent
 * stands further left; one that is longer than the width stays whole. */
void ps__wrap_add(struct ps__buffer *buffer, const char *text, const struct ps__wrap *wrap);

/* Whole lines, which are used up; of foreign text they hold what the charset
 * allows. Where little room is left beside the indent, there is none. */
void ps__wrap_add_lines(struct ps__buffer *buffer, const struct ps__buffer *lines, size_t indent,
                        size_t width);

#endif
