/* SPDX-License-Identifier: BSD-3-Clause */
/* Wraps sentences to a width, at blanks. */
#ifndef PS_OUTPUT_WRAP_H
#define PS_OUTPUT_WRAP_H

#include "output/buffer.h"

#include <stdbool.h>

struct ps__wrap {
	size_t start;  /* column where the text begins on the first line */
	size_t indent; /* column where further lines begin */
	size_t width;  /* columns of the screen; 0: no limit */
	enum ps__charset charset;
	bool keeps_quotes; /* 'two words' in quotes are not split, if they fit into a line */
	bool keeps_pairs;  /* words with a single blank between them are not split, if they fit into
	                    * a line */
	bool is_command;   /* a shell command: a line that continues ends with a backslash */
};

/* Adds text from outside and ends the line. A word that doesn't fit beside the indent begins
 * further left. A word that is longer than the width is not split. */
void ps__wrap_add(struct ps__buffer *buffer, const char *text, const struct ps__wrap *wrap);

/* Adds whole lines, and empties lines. Text from outside must already be limited to the charset. If
 * the indent leaves too little room, further lines have no indent. */
void ps__wrap_add_lines(struct ps__buffer *buffer, const struct ps__buffer *lines, size_t indent,
                        size_t width);

#endif
