/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes, and the calling thread's detail sentence. Every room fails through ps__fail. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DETAIL_BYTES 1024

/* Two buffers, so that a new sentence may quote the old one. */
static _Thread_local char details[2][DETAIL_BYTES];
static _Thread_local unsigned current;

static const char *const phrases[] = {
    [-PS_OK] = "no error",
    [-PS_EINVAL] = "invalid argument",
    [-PS_ENOMEM] = "out of memory",
    [-PS_ESYS] = "a system call failed",
    [-PS_ECMP] = "a component failed",
    [-PS_ECLOST] = "access to the counters was lost",
    [-PS_EBUG] = "a defect of the library",
    [-PS_ENOEVNT] = "no such event",
    [-PS_ECNFLCT] = "conflict with what is in progress",
    [-PS_ENOTRUN] = "the event set is not running",
    [-PS_EISRUN] = "the event set is running",
    [-PS_ENOEVST] = "no such event set or reading",
    [-PS_ENOTPRESET] = "not a preset event",
    [-PS_ENOCNTR] = "no hardware counter for this",
    [-PS_EMISC] = "unknown error",
    [-PS_EPERM] = "permission is missing",
    [-PS_ENOINIT] = "PAPI is not initialised",
    [-PS_ENOCMP] = "no such component",
    [-PS_ENOSUPP] = "not supported here",
    [-PS_ENOIMPL] = "not implemented",
    [-PS_EBUF] = "buffer too small",
    [-PS_EINVAL_DOM] = "domain not available for this event",
    [-PS_EATTR] = "invalid event attribute",
    [-PS_ECOUNT] = "too many events or file descriptors",
    [-PS_ECOMBO] = "impossible combination",
    [-PS_ECMP_DISABLED] = "component disabled",
    [-PS_EDELAY_INIT] = "component not initialised yet",
    [-PS_EMULPASS] = "several passes needed",
    [-PS_PARTIAL] = "partly done",
};

const char *ps_strerror(int code)
{
	/* Not -code: it overflows for INT_MIN. */
	if (code > 0 || code < PS_PARTIAL)
		return "unknown error code";
	return phrases[-code];
}

const char *ps_error_detail(void)
{
	return details[current];
}

int ps__fail(int code, const char *format, ...)
{
	unsigned next = 1 - current;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(details[next], DETAIL_BYTES, format, arguments);
	va_end(arguments);
	current = next;
	return code;
}

int ps__fail_memory(const char *what)
{
	return ps__fail(PS_ENOMEM, "out of memory for %s", what);
}
