/* SPDX-License-Identifier: BSD-3-Clause */
/* Abilities of a terminal, text for people, and complaints on stderr. */
#ifndef PS_TOOLS_TERMINAL_H
#define PS_TOOLS_TERMINAL_H

#include "output/buffer.h"
#include "output/grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct tool_screen {
	bool is_terminal;
	bool has_utf8;   /* box characters can be shown; false if it isn't a terminal */
	bool has_colour; /* supports escape sequences, and NO_COLOR isn't set */
	size_t width;    /* columns; 0: unlimited */
	size_t height;   /* lines; 0: unlimited */
};

/* Finds out what the terminal can show. setlocale must have been called before. */
struct tool_screen tool_screen_of(int fd);

/* Sets the subcommand's name for complaints; the string must stay valid. */
void tool_complain_as(const char *command);

/* Prints one message on stderr, wrapped on a terminal. Returns -1, which is also TOOL_FAILED. */
int tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints ps_error_detail, the reason of the library's latest failure. Returns -1. */
int tool_complain_detail(void);
/* Complains that there is no memory for something. Returns -1. */
int tool_complain_memory(const char *what);
/* Prints a message for each line of the text. */
void tool_complain_lines(const char *lines);

/*
 * Adds text, wrapped to `width` columns (0: no limit), and ends the line. The text begins at column
 * `indent`, where the current line already is; its other lines have the same indent. If this leaves
 * too little room, the text begins on a new line, further left.
 */
void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width);
/* Adds the text of a buffer, and clears the buffer. */
void tool_paragraph_of(struct ps__buffer *out, struct ps__buffer *text, size_t indent,
                       size_t width);

/*
 * Adds shell commands that a user may copy, from column `indent` on, or further left if they don't
 * fit. A remark "  (...)" after a command is wrapped as prose.
 */
void tool_add_command(struct ps__buffer *out, const char *text, size_t indent, size_t width);

/* Adds the table, and below it, wrapped, the names of the columns that didn't fit. */
void tool_add_grid(struct ps__buffer *out, struct ps__grid *grid, size_t width, const char *remedy);

/*
 * Adds text that others chose, such as names of threads and events, or arguments. Characters that
 * could harm a terminal become '?'. Outside a UTF-8 locale, all characters that aren't ASCII become
 * '?', too.
 */
void tool_put(struct ps__buffer *buffer, const char *text);
/* Adds ", rank 0, host n1", and ", process 12" unless pid is 0. Adds nothing if MPI didn't start
 * the run.
 */
void tool_put_rank(struct ps__buffer *buffer, pid_t pid);

/* Writes the buffer's text and empties the buffer. Returns -1 after a complaint if memory ran out.
 * Write errors are left for the stream's ferror. */
int tool_write(struct ps__buffer *buffer, FILE *stream);

/* Returns the number of columns that the text takes. */
size_t tool_columns(const char *text, size_t bytes);

#endif
