/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how different two words are, to find the nearest name to an event, subcommand or option
 * that doesn't exist. */
#ifndef PS_BASE_DISTANCE_H
#define PS_BASE_DISTANCE_H

#include <stddef.h>

/* Longer words are compared by their beginning alone. */
#define PS__DISTANCE_LONGEST 63

/*
 * Returns how many letters must be changed, inserted, removed or swapped with the next one to turn
 * one word into the other. Small and capital letters are the same.
 */
size_t ps__distance(const char *one, const char *other);

#endif
