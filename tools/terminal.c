/* SPDX-License-Identifier: BSD-3-Clause */
/* Terminals and what they can show; what of a foreign text is shown, the
 * library decides. */
#include "tools/terminal.h"

#include "output/known.h"
#include "output/wrap.h"
#include "tools/command.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A number in the environment, as shells set COLUMNS; 0: none. */
static size_t terminal_number_of(const char *variable)
{
	const char *text = getenv(variable);
	long number = text ? strtol(text, NULL, 10) : 0;

	return number > 0 ? (size_t)number : 0;
}

static bool terminal_is_set(const char *variable)
{
	const char *text = getenv(variable);

	return text && *text;
}

/* Is the locale's text UTF-8? */
static bool terminal_has_utf8(void)
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
	screen.has_utf8 = terminal_has_utf8();
	screen.has_colour = !is_dumb && !terminal_is_set("NO_COLOR");
	ioctl(fd, TIOCGWINSZ, &size);
	screen.width = terminal_number_of("COLUMNS") ? terminal_number_of("COLUMNS")
	               : size.ws_col                 ? size.ws_col
	                                             : 80;
	screen.height = is_dumb ? 0 : size.ws_row;
	return screen;
}

#define MOST_BYTES 8192

static const char *complainer = "";

void tool_complain_as(const char *command)
{
	complainer = command;
}

int tool_complain(const char *format, ...)
{
	char text[MOST_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	struct ps__buffer shown = {0};
	tool_put(&shown, text);
	/* Earlier output comes first. */
	fflush(NULL);
	fprintf(stderr, "perfsage%s%s: %s\n", *complainer ? " " : "", complainer,
	        shown.failed ? "out of memory" : ps__buffer_text(&shown));
	ps__buffer_clear(&shown);
	return TOOL_FAILED;
}

/* Line by line: a message has none itself. */
void tool_complain_lines(const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		tool_complain("%.*s", (int)length, lines);
		lines += length + (lines[length] == '\n');
	}
}

#define NARROWEST 24 /* columns of text; a narrower terminal wraps by itself */

static enum ps__charset terminal_charset(void)
{
	return terminal_has_utf8() ? PS__CHARSET_UTF8 : PS__CHARSET_ASCII;
}

size_t tool_columns(const char *text, size_t bytes)
{
	return ps__printable_columns(text, bytes, terminal_charset());
}

void tool_put(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add_foreign(buffer, text, terminal_charset());
}

int tool_write(struct ps__buffer *buffer, FILE *stream)
{
	int result = buffer->failed ? (tool_complain("out of memory"), -1) : 0;

	fputs(ps__buffer_text(buffer), stream);
	ps__buffer_clear(buffer);
	return result;
}

void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width)
{
	struct ps__wrap wrap = {
	    .start = indent, .indent = indent, .width = width, .charset = terminal_charset()};

	if (width && width < indent + NARROWEST)
		wrap.width = indent + NARROWEST;
	ps__wrap_add(out, text, &wrap);
}

void tool_add_grid(struct ps__buffer *out, struct ps__grid *grid, size_t width, const char *remedy)
{
	struct ps__buffer lines = {0};

	ps__grid_add(grid, out, width);
	if (!out->failed) {
		ps__grid_add_only_words(grid, &lines);
		ps__grid_add_left_out(grid, &lines, width, remedy);
	}
	ps__wrap_add_lines(out, &lines, PS__KNOWN_INDENT, width);
	ps__buffer_clear(&lines);
}
