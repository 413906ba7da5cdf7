/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow, by the seam's allocator, which has no realloc. */
#include "base/vector.h"

#include "base/os.h"

#include <string.h>

#define FIRST_ROOM 4u

bool ps__vector_reserve(void *array, size_t count, size_t needed, size_t *room, size_t size_bytes)
{
	size_t wanted = *room ? *room : FIRST_ROOM;
	void *items;

	while (wanted < needed)
		wanted *= 2;
	if (wanted == *room)
		return true;
	void *grown = ps__os_calloc(wanted, size_bytes);
	if (!grown)
		return false;
	/* The caller's pointer has a type of its own, so its bytes are copied. */
	memcpy(&items, array, sizeof items);
	if (count)
		memcpy(grown, items, count * size_bytes);
	memcpy(array, &grown, sizeof grown);
	ps__os_free(items);
	*room = wanted;
	return true;
}
