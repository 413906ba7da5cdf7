/* SPDX-License-Identifier: BSD-3-Clause */
/* A table from two pointers to a third: from a path and a region to the path below. */
#ifndef PS_REGION_LINKS_H
#define PS_REGION_LINKS_H

#include <stddef.h>

struct ps__link {
	const void *from; /* NULL: free */
	const void *by;
	void *to;
};

/* Zeroed, it is empty. */
struct ps__links {
	struct ps__link *list;
	size_t count;
	size_t room; /* a power of two */
};

/* NULL if there is none. */
void *ps__links_find(const struct ps__links *links, const void *from, const void *by);
/* Room for one more; 0, or -1 for lack of memory. */
int ps__links_reserve(struct ps__links *links);
/* There must be room, and no such link. */
void ps__links_add(struct ps__links *links, const void *from, const void *by, void *to);
void ps__links_clear(struct ps__links *links);

#endif
