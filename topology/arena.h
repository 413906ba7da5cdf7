/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for objects that live exactly as long as a topology. It is allocated in blocks and freed
 * all at once. So a tree of thousands of components costs a few allocations, and a half-built tree
 * can't leak.
 */
#ifndef PS_TOPOLOGY_ARENA_H
#define PS_TOPOLOGY_ARENA_H

#include <stddef.h>

struct ps__arena_block;

struct ps__arena {
	struct ps__arena_block *blocks; /* the one in use first */
};

/* Returns zeroed, aligned memory for count objects; NULL if out of memory.
 * count 0 gives memory of no size. */
void *ps__arena_calloc(struct ps__arena *arena, size_t count, size_t size_bytes);
char *ps__arena_strdup(struct ps__arena *arena, const char *text);
/* Frees all memory of the arena, which is then empty and can be used again. */
void ps__arena_free(struct ps__arena *arena);

#endif
