/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of CPUs as the kernel writes them: "0-3,8,10-11". */
#ifndef PS_BASE_LIST_H
#define PS_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls visit for each number in the list, in the order given, until visit returns non-zero.
 * Returns visit's non-zero result, 0 at the end, or -1 if the text isn't a list. An empty text is
 * an empty list.
 */
int ps__list_for_each(const char *text, int (*visit)(int number, void *context), void *context);

bool ps__list_contains(const char *text, int number);
size_t ps__list_count(const char *text);
int ps__list_max(const char *text); /* -1 for an empty or a malformed list */

#endif
