/* SPDX-License-Identifier: BSD-3-Clause */
/* What a descriptor's other end can show. */
#ifndef PS_TOOLS_SCREEN_H
#define PS_TOOLS_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct tool_screen {
	bool is_terminal;
	bool has_utf8;   /* box characters can be shown; false for what is no terminal */
	bool has_colour; /* escape sequences, and NO_COLOR isn't set */
	size_t width;    /* columns; 0: unlimited */
	size_t height;   /* lines; 0: unlimited */
};

/* To be called after setlocale. */
struct tool_screen tool_screen_of(int fd);

/* Is the locale's text UTF-8? */
bool tool_has_utf8(void);

#endif
