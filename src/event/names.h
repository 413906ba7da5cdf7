/* SPDX-License-Identifier: BSD-3-Clause */
/* A short sorted list of names, for error sentences. sysfs lists its folders in no order, and some
 * lists are long. */
#ifndef PS_EVENT_NAMES_H
#define PS_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define PS__NAMES_MAX 16

struct ps__names {
	char name[PS__NAMES_MAX][64];
	size_t count;
	size_t left_out;
};

/* Keeps the first PS__NAMES_MAX in the order of the alphabet; longer names are
 * cut. */
void ps__names_add(struct ps__names *names, const char *name);

/* Writes "a, b, c and 2 more", or "none". */
void ps__names_write(const struct ps__names *names, char *buffer, size_t size_bytes);

#endif
