/* SPDX-License-Identifier: BSD-3-Clause */
/* A terminal for subcommands; the calling process has it during one call. */
#ifndef PS_TESTS_SCREEN_H
#define PS_TESTS_SCREEN_H

#include <stddef.h>

/* True if a terminal can be made here. */
int screen_is_possible(void);

/*
 * Returns what a subcommand writes to stdout and stderr on a terminal with so many columns, in
 * ASCII without colours; the caller frees it. line: its words, separated by blanks. It must end
 * with this status.
 */
char *screen_of(size_t width, int (*subcommand)(int argc, char **argv), const char *line,
                int status);

/* Checks that no line is wider than width, and that there are at most most_lines. */
void screen_check(const char *text, size_t width, size_t most_lines);

#endif
