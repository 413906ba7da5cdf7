/* SPDX-License-Identifier: BSD-3-Clause */
/* Complaints on stderr. */
#include "tools/complaint.h"

#include "tools/command.h"
#include "tools/paragraph.h"

#include <stdarg.h>
#include <stdio.h>

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
	/* What was printed before comes before it. */
	fflush(NULL);
	fprintf(stderr, "perfsage%s%s: %s\n", *complainer ? " " : "", complainer,
	        shown.failed ? "out of memory" : ps__buffer_text(&shown));
	ps__buffer_clear(&shown);
	return TOOL_FAILED;
}
