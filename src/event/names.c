/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorted lists of names for the error sentences of the PMU look-ups. */
#include "event/names.h"

#include <stdio.h>
#include <string.h>

void ps__names_add(struct ps__names *names, const char *name)
{
	size_t at = 0;

	while (at < names->count && strcmp(names->name[at], name) < 0)
		at++;
	if (names->count == PS__NAMES_MAX)
		names->left_out++;
	else
		names->count++;
	if (at == PS__NAMES_MAX)
		return;
	memmove(names->name[at + 1], names->name[at],
	        (names->count - at - 1) * sizeof names->name[0]);
	snprintf(names->name[at], sizeof names->name[at], "%s", name);
}

void ps__names_write(const struct ps__names *names, char *buffer, size_t size_bytes)
{
	size_t length = 0;

	snprintf(buffer, size_bytes, "none");
	for (size_t i = 0; i < names->count && length < size_bytes; i++)
		length += (size_t)snprintf(buffer + length, size_bytes - length, "%s%s",
		                           i ? ", " : "", names->name[i]);
	if (names->left_out && length < size_bytes)
		snprintf(buffer + length, size_bytes - length, " and %zu more", names->left_out);
}
