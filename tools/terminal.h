/* SPDX-License-Identifier: BSD-3-Clause */
/* The abilities of a terminal, text for people on it, and complaints on
 * stderr. */
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
	bool has_utf8;   /* box characters can be shown; false for what is no terminal */
	bool has_colour; /* escape sequences, and NO_COLOR isn't set */
	size_t width;    /* columns; 0: unlimited */
	size_t height;   /* lines; 0: unlimited */
};

/* To be called after setlocale. */
struct tool_screen tool_screen_of(int fd);

/* The subcommand that complains from now on; a string that stays. */
void tool_complain_as(const char *command);

/* One message on stderr, folded on a terminal. Returns TOOL_FAILED, so that `return
 * tool_complain(...)` ends a subcommand. */
int tool_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Tells why the library's latest call failed (ps_error_detail). Returns -1. */
int tool_complain_detail(void);
/* A message for each line of a text. */
void tool_complain_lines(const char *lines);

/*
 * Adds text from column `indent` on, where its line already is, up to column
 * `width` (0: no limit), with further lines indented alike; ends the line. Where
 * too little room is left there, the text begins further left, in a line below.
 */
void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width);

/*
 * Adds lines of a shell, to be copied, from column `indent` on, or further left where that has no
 * room in the width. A remark "  (...)" behind a command is prose.
 */
void tool_add_command(struct ps__buffer *out, const char *text, size_t indent, size_t width);

/* Adds the table, and below it, folded, which columns have no room in the width. */
void tool_add_grid(struct ps__buffer *out, struct ps__grid *grid, size_t width, const char *remedy);

/*
 * Whatever is printed here may hold what somebody else chose: names of threads
 * and events, arguments. For what a terminal must not get, and outside of a
 * UTF-8 locale for all that isn't ASCII, stands a '?'.
 */
void tool_put(struct ps__buffer *buffer, const char *text);
/* ", rank 0, host n1", with ", process 12" unless pid is 0; nothing in a run that MPI didn't start.
 */
void tool_put_rank(struct ps__buffer *buffer, pid_t pid);

/* Writes what it holds and empties it; -1 after a complaint, if memory was out.
 * Writing errors are the stream's to tell. */
int tool_write(struct ps__buffer *buffer, FILE *stream);

/* The number of columns that the text takes. */
size_t tool_columns(const char *text, size_t bytes);

#endif
