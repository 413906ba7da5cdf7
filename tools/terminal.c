/* SPDX-License-Identifier: BSD-3-Clause */
/* Abilities of terminals, and text for people. The library decides which characters of text from
 * outside are shown. */
#include "tools/terminal.h"

#include "output/known.h"
#include "output/rank.h"
#include "output/wrap.h"
#include "tools/command.h"

#include <langinfo.h>
#include <perfsage/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns a number from the environment, such as COLUMNS; 0: none. */
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

#define MOST_BYTES       8192
#define COMPLAINT_INDENT 2
#define COMMAND_INDENT   2  /* of a long command */
#define NARROWEST        24 /* columns of text; a narrower terminal wraps lines itself */
#define NARROW_INDENT    8  /* of text that doesn't fit further right */
#define LEAST_INDENT     2

static enum ps__charset terminal_charset(void)
{
	return terminal_has_utf8() ? PS__CHARSET_UTF8 : PS__CHARSET_ASCII;
}

static const char *complainer = "";

void tool_complain_as(const char *command)
{
	complainer = command;
}

static size_t terminal_wrapped_width(size_t width, size_t indent)
{
	return width && width < indent + NARROWEST ? indent + NARROWEST : width;
}

int tool_complain(const char *format, ...)
{
	char text[MOST_BYTES];
	va_list arguments;
	struct ps__wrap wrap = {
	    .indent = COMPLAINT_INDENT, .charset = terminal_charset(), .keeps_quotes = true};

	int start =
	    snprintf(text, sizeof text, "perfsage%s%s: ", *complainer ? " " : "", complainer);
	va_start(arguments, format);
	vsnprintf(text + start, sizeof text - (size_t)start, format, arguments);
	va_end(arguments);
	struct ps__buffer shown = {0};
	wrap.width = terminal_wrapped_width(tool_screen_of(STDERR_FILENO).width, COMPLAINT_INDENT);
	ps__wrap_add(&shown, text, &wrap);
	/* Write earlier output first. */
	fflush(NULL);
	fputs(shown.failed ? "perfsage: out of memory for a complaint\n" : ps__buffer_text(&shown),
	      stderr);
	ps__buffer_clear(&shown);
	return TOOL_FAILED;
}

int tool_complain_detail(void)
{
	return tool_complain("%s", ps_error_detail());
}

int tool_complain_memory(const char *what)
{
	return tool_complain("there is no memory for %s", what);
}

/* Complains about each line separately, because wrapping joins lines. */
void tool_complain_lines(const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");
		tool_complain("%.*s", (int)length, lines);
		lines += length + (lines[length] == '\n');
	}
}

size_t tool_columns(const char *text, size_t bytes)
{
	return ps__printable_columns(text, bytes, terminal_charset());
}

void tool_put(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add_foreign(buffer, text, terminal_charset());
}

void tool_put_rank(struct ps__buffer *buffer, pid_t pid)
{
	const char *rank = ps__rank_number();

	if (!rank)
		return;
	ps__buffer_add(buffer, ", rank %s, host ", rank);
	tool_put(buffer, ps__rank_host());
	if (pid)
		ps__buffer_add(buffer, ", process %d", (int)pid);
}

int tool_write(struct ps__buffer *buffer, FILE *stream)
{
	int result = buffer->failed ? tool_complain("out of memory") : 0;

	fputs(ps__buffer_text(buffer), stream);
	ps__buffer_clear(buffer);
	return result;
}

/* Returns the column for text that should begin at `indent`; a smaller one if the text would have
 * too little room there. */
static size_t terminal_indent(size_t indent, size_t width)
{
	if (!width || width >= indent + NARROWEST)
		return indent;
	if (indent > NARROW_INDENT && width >= NARROW_INDENT + NARROWEST)
		return NARROW_INDENT;
	return indent < LEAST_INDENT ? indent : LEAST_INDENT;
}

/* Returns the column where the text begins. Begins a new line with a smaller indent if there is too
 * little room at `indent` and the text doesn't fit into the rest of the line. */
static size_t terminal_begin_text(struct ps__buffer *out, const char *text, size_t indent,
                                  size_t width)
{
	size_t column = terminal_indent(indent, width);

	if (column == indent || indent + tool_columns(text, strlen(text)) <= width)
		return indent;
	ps__buffer_trim(out);
	if (out->length && out->text[out->length - 1] != '\n')
		ps__buffer_add(out, "\n");
	ps__buffer_add(out, "%*s", (int)column, "");
	return column;
}

void tool_paragraph(struct ps__buffer *out, const char *text, size_t indent, size_t width)
{
	size_t column = terminal_begin_text(out, text, indent, width);
	struct ps__wrap wrap = {.start = column,
	                        .indent = column,
	                        .width = terminal_wrapped_width(width, column),
	                        .charset = terminal_charset()};

	ps__wrap_add(out, text, &wrap);
}

void tool_paragraph_of(struct ps__buffer *out, struct ps__buffer *text, size_t indent, size_t width)
{
	tool_paragraph(out, ps__buffer_text(text), indent, width);
	out->failed |= text->failed;
	ps__buffer_clear(text);
}

/* Adds the remark after a command, wrapped as prose. */
static void terminal_add_remark(struct ps__buffer *out, const char *remark, size_t indent,
                                size_t width)
{
	ps__buffer_add(out, "%*s", (int)indent, "");
	tool_paragraph(out, remark + strspn(remark, " "), indent, width);
}

void tool_add_command(struct ps__buffer *out, const char *text, size_t right, size_t width)
{
	size_t indent = terminal_indent(right, width);
	const char *remark = strstr(text, "  (");
	size_t bytes = remark ? (size_t)(remark - text) : strlen(text);
	bool is_long = width && indent + tool_columns(text, bytes) > width;
	size_t start = is_long ? COMMAND_INDENT : indent;
	struct ps__wrap wrap = {.start = start,
	                        .indent = start + COMMAND_INDENT,
	                        .width = terminal_wrapped_width(width, start + COMMAND_INDENT),
	                        .charset = terminal_charset(),
	                        .keeps_quotes = true,
	                        .is_command = true};
	bool is_one_line = !width || indent + tool_columns(text, strlen(text)) <= width;
	char command[MOST_BYTES];

	snprintf(command, sizeof command, "%.*s", is_one_line ? MOST_BYTES - 1 : (int)bytes, text);
	ps__buffer_add(out, "%*s", (int)start, "");
	ps__wrap_add(out, command, &wrap);
	if (remark && !is_one_line)
		terminal_add_remark(out, remark, indent, width);
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
