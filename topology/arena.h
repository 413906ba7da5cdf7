/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for what lives exactly as long as a topology: taken in blocks, given
 * back all at once. A tree of thousands of components costs a few allocations,
 * and nothing of a half-built tree can leak.
 */
#ifndef PS_TOPOLOGY_ARENA_H
#define PS_TOPOLOGY_ARENA_H

#include <stddef.h>

struct ps__arena_block;

struct ps__arena {
	struct ps__arena_block *blocks; /* the one in use first */
};

/* Zeroed, aligned memory for count objects; NULL if there is none. count 0
 * gives memory of no size. */
void *ps__arena_calloc(struct ps__arena *arena, size_t count, size_t size_bytes);
char *ps__arena_strdup(struct ps__arena *arena, const char *text);
/* All of it; the arena is empty, and usable, afterwards. */
void ps__arena_free(struct ps__arena *arena);

#endif
