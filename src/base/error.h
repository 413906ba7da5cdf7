/* SPDX-License-Identifier: BSD-3-Clause */
/* A failure is reported by the returned code, and by the calling thread's detail sentence. */
#ifndef PS_BASE_ERROR_H
#define PS_BASE_ERROR_H

#include <perfsage/error.h>

/* Sets the detail sentence and returns code: `return ps__fail(PS_EINVAL, "...", ...);`. The
 * arguments may contain the present sentence. A sentence longer than 1023 bytes is cut. */
int ps__fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

/* Fails with PS_ENOMEM; `what` says what the memory was for. */
int ps__fail_memory(const char *what) __attribute__((cold));

/* The first of several failures; its sentence is reported at the end. */
struct ps__failure {
	int code; /* PS_OK: none */
	char detail[1024];
};
void ps__failure_keep(struct ps__failure *failure, int code); /* keeps only the first failure */
int ps__failure_return(const struct ps__failure *failure);

#endif
