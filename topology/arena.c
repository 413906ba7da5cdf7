/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates the tree's memory in blocks. The import uses it, and ps__topology_free frees it. */
#include "topology/arena.h"

#include "base/os.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT   (_Alignof(max_align_t))

struct ps__arena_block {
	struct ps__arena_block *next;
	size_t used_bytes;
	size_t size_bytes;
	_Alignas(max_align_t) unsigned char bytes[];
};

static struct ps__arena_block *arena_block_with_room(struct ps__arena *arena, size_t size_bytes)
{
	struct ps__arena_block *block = arena->blocks;

	if (block && block->size_bytes - block->used_bytes >= size_bytes)
		return block;
	size_t room = size_bytes > BLOCK_BYTES ? size_bytes : BLOCK_BYTES;
	block = ps__os_calloc(1, sizeof *block + room);
	if (!block)
		return NULL;
	block->size_bytes = room;
	block->next = arena->blocks;
	arena->blocks = block;
	return block;
}

void *ps__arena_calloc(struct ps__arena *arena, size_t count, size_t size_bytes)
{
	if (size_bytes && count > (SIZE_MAX / 2) / size_bytes)
		return NULL;
	size_t need = (count * size_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct ps__arena_block *block = arena_block_with_room(arena, need);
	if (!block)
		return NULL;
	void *memory = block->bytes + block->used_bytes;
	block->used_bytes += need;
	return memory;
}

char *ps__arena_strdup(struct ps__arena *arena, const char *text)
{
	size_t size_bytes = strlen(text) + 1;
	char *copy = ps__arena_calloc(arena, size_bytes, 1);

	if (copy)
		memcpy(copy, text, size_bytes);
	return copy;
}

void ps__arena_free(struct ps__arena *arena)
{
	while (arena->blocks) {
		struct ps__arena_block *block = arena->blocks;
		arena->blocks = block->next;
		ps__os_free(block);
	}
}
