/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table from two pointers to a third: for example from a path and a region to the path
 * below. */
#ifndef PS_REGION_LINKS_H
#define PS_REGION_LINKS_H

#include <stddef.h>

struct ps__link {
	const void *from; /* NULL: the place is free */
	const void *by;
	void *to;
};

/* An empty table is all zeros. */
struct ps__links {
	struct ps__link *list;
	size_t count;
	size_t room; /* a power of two */
};

/* Returns the third pointer; NULL if there is no such entry. */
void *ps__links_find(const struct ps__links *links, const void *from, const void *by);
/* Makes room for one more entry. 0, or -1 for lack of memory. */
int ps__links_reserve(struct ps__links *links);
/* Adds an entry. There must be room, and no entry with these keys. */
void ps__links_add(struct ps__links *links, const void *from, const void *by, void *to);
void ps__links_clear(struct ps__links *links);

#endif
