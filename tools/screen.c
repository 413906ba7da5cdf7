/* SPDX-License-Identifier: BSD-3-Clause */
/* Terminals and what they can show. */
#include "tools/screen.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A number in the environment, as shells set COLUMNS; 0: none. */
static size_t number_of(const char *variable)
{
	const char *text = getenv(variable);
	long number = text ? strtol(text, NULL, 10) : 0;

	return number > 0 ? (size_t)number : 0;
}

static bool is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text;
}

bool tool_has_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct tool_screen tool_screen_of(int fd)
{
	struct tool_screen screen = {0};
	struct winsize size = {0};
	const char *terminal = getenv("TERM");

	if (!isatty(fd))
		return screen;
	bool is_dumb = !terminal || !*terminal || strcmp(terminal, "dumb") == 0;
	screen.is_terminal = true;
	screen.has_utf8 = tool_has_utf8();
	screen.has_colour = !is_dumb && !is_set("NO_COLOR");
	ioctl(fd, TIOCGWINSZ, &size);
	screen.width = number_of("COLUMNS") ? number_of("COLUMNS") : size.ws_col ? size.ws_col : 80;
	screen.height = is_dumb ? 0 : size.ws_row;
	return screen;
}
