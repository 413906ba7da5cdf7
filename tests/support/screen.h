/* SPDX-License-Identifier: BSD-3-Clause */
/* A terminal for subcommands, which the calling process has for the time of one call. */
#ifndef PS_TESTS_SCREEN_H
#define PS_TESTS_SCREEN_H

#include <stddef.h>

/* Can there be one here? */
int screen_is_possible(void);

/*
 * What a subcommand writes to a terminal of so many columns, by stdout and stderr, without colours
 * and in ASCII; freed by the caller. line: its words, with blanks between them; it must end with
 * this status.
 */
char *screen_of(size_t width, int (*subcommand)(int argc, char **argv), const char *line,
                int status);

/* No line may be wider, and there may be so many lines. */
void screen_check(const char *text, size_t width, size_t most_lines);

#endif
