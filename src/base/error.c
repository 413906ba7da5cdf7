/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes, and the calling thread's detail sentence. Every room fails
 * through ps__fail. */
#include "base/error.h"

#include "base/printable.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define DETAIL_BYTES 1024

/* One thread's detail sentences. Two buffers, so that a new sentence may quote
 * the old one. */
struct details {
	unsigned current;
	char text[2][DETAIL_BYTES];
};

/*
 * The calling thread's sentences: a page that is mapped at its first failure
 * and freed when it ends. Only the pointer is thread-local: a library that
 * dlopen loads gets only some hundred bytes of fast thread-local storage, which
 * identity.h uses. The page comes from mmap, because a signal handler may fail,
 * too, and must not call malloc.
 */
static _Thread_local struct details *own_details;
/* A thread that got no page points here. Nobody writes it. */
static struct details no_details = {
    .text = {"out of memory, also for the sentence that tells what failed"}};
static pthread_key_t key;
static bool has_key;

static void error_free_details(void *details)
{
	munmap(details, sizeof(struct details));
	own_details = NULL;
}

__attribute__((constructor)) static void make_key(void)
{
	has_key = pthread_key_create(&key, error_free_details) == 0;
}

/* Threads that outlive the library must not call into it when they end. */
__attribute__((destructor)) static void delete_key(void)
{
	if (has_key)
		pthread_key_delete(key);
	has_key = false;
}

/* Returns the calling thread's details, which its first failure makes; NULL if
 * out of memory. */
static struct details *error_details_of_thread(void)
{
	if (own_details && own_details != &no_details)
		return own_details;
	void *page = mmap(NULL, sizeof(struct details), PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		own_details = &no_details;
		return NULL;
	}
	if (has_key)
		pthread_setspecific(key, page);
	own_details = page;
	return own_details;
}

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
	return own_details ? own_details->text[own_details->current] : "";
}

int ps__fail(int code, const char *format, ...)
{
	struct details *details = error_details_of_thread();
	va_list arguments;

	if (!details)
		return code;
	unsigned next = 1 - details->current;
	va_start(arguments, format);
	vsnprintf(details->text[next], DETAIL_BYTES, format, arguments);
	va_end(arguments);
	/* The sentence may quote foreign text, and most programs write it to a
	 * terminal. */
	ps__printable_clean(details->text[next]);
	details->current = next;
	return code;
}

int ps__fail_memory(const char *what)
{
	return ps__fail(PS_ENOMEM, "out of memory for %s", what);
}

void ps__failure_keep(struct ps__failure *failure, int code)
{
	if (code == PS_OK || failure->code != PS_OK)
		return;
	failure->code = code;
	snprintf(failure->detail, sizeof failure->detail, "%s", ps_error_detail());
}

int ps__failure_return(const struct ps__failure *failure)
{
	return failure->code == PS_OK ? PS_OK : ps__fail(failure->code, "%s", failure->detail);
}
