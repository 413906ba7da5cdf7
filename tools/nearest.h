/* SPDX-License-Identifier: BSD-3-Clause */
/* The word that was meant: for subcommands and options that don't exist. */
#ifndef PS_TOOLS_NEAREST_H
#define PS_TOOLS_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* How many letters must be changed, put in, left out or swapped with the next one to get from one word to the other. Small
 * and capital letters are the same. */
size_t tool_distance(const char *one, const char *other);

/* Is a word that far away still likely to be meant? */
bool tool_is_near(const char *word, size_t distance);

/* Does the name begin as the word does, and have all of its letters in their order, as list has those of "ls"? */
bool tool_is_abbreviation(const char *word, const char *name);

#endif
