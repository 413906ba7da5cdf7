/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up mem:ADDRESS[/LENGTH][:ACCESS], which counts with a debug register how often an address
 * is read, written or executed. */
#include "base/error.h"
#include "event/lookup.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "mem:"

static int breakpoint_fail_syntax(const char *name, const char *at, const char *what)
{
	return ps__fail(
	    PS_EATTR,
	    "event '%s': %s at character %td; a breakpoint is mem:ADDRESS[/LENGTH][:r|w|rw|x]",
	    name, what, PS__POSITION(name, at));
}

/* Reads a number as C writes it, but not a negative one. */
static bool breakpoint_parse_number(const char **text, unsigned long long *out)
{
	char *end;

	if (strspn(*text, "0123456789") == 0)
		return false;
	errno = 0;
	unsigned long long number = strtoull(*text, &end, 0);
	if (errno)
		return false;
	*text = end;
	*out = number;
	return true;
}

/* Reads ":rw" and the like if it comes next; modifiers may stand there
 * instead. */
static unsigned breakpoint_parse_access(const char **text)
{
	unsigned access = 0;
	size_t length = **text == ':' ? strcspn(*text + 1, ":") : 0;

	if (length == 0 || strspn(*text + 1, "rwx") != length)
		return HW_BREAKPOINT_RW;
	for (size_t i = 1; i <= length; i++)
		access |= (*text)[i] == 'r'   ? HW_BREAKPOINT_R
		          : (*text)[i] == 'w' ? HW_BREAKPOINT_W
		                              : HW_BREAKPOINT_X;
	*text += length + 1;
	return access;
}

int ps__breakpoint_find(struct ps__event *event, struct ps__lookup *lookup)
{
	const char *name = lookup->name;
	unsigned long long address, length = 0;

	if (strncmp(name, PREFIX, strlen(PREFIX)))
		return PS__NOT_HERE;
	const char *at = name + strlen(PREFIX);
	if (!breakpoint_parse_number(&at, &address))
		return breakpoint_fail_syntax(name, at, "there is no address");
	if (*at == '/') {
		at++;
		if (!breakpoint_parse_number(&at, &length) || length < 1 || length > 8)
			return breakpoint_fail_syntax(name, at, "the length is not 1 to 8 bytes");
	}
	if (*at && *at != ':')
		return breakpoint_fail_syntax(name, at, "something else follows");
	unsigned access = breakpoint_parse_access(&at);
	event->attr.type = PERF_TYPE_BREAKPOINT;
	event->attr.bp_type = access;
	event->attr.bp_addr = address;
	/* The kernel takes execution breakpoints of the size of a long only. */
	event->attr.bp_len = length ? length
	                     : (access & HW_BREAKPOINT_X) != 0
	                         ? sizeof(long)
	                         : (unsigned long long)HW_BREAKPOINT_LEN_4;
	event->klass = PS__EVENT_CLASS_SOFTWARE;
	event->scope = PS_SCOPE_THREAD;
	lookup->rest = at;
	return PS_OK;
}
