/* SPDX-License-Identifier: BSD-3-Clause */
/* Complaints on stderr. */
#include "complaint.h"

#include "command.h"

#include <stdarg.h>
#include <stdio.h>

static const char *complainer = "";

void tool_complain_as(const char *command)
{
	complainer = command;
}

int tool_complain(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "perfsage%s%s: ", *complainer ? " " : "", complainer);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return TOOL_FAILED;
}
