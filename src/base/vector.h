/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef PS_BASE_VECTOR_H
#define PS_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for `needed` items of size_bytes each in an array, of which `count`
 * are in use. array points to the caller's pointer, which may be of any type.
 * *room is the number of items that there is room for; it at least doubles when
 * the array grows, and the items behind `count` are then zeroed. The array may
 * move. False if out of memory, and then nothing has changed. needed > 0. Free
 * the array with ps__os_free.
 */
bool ps__vector_reserve(void *array, size_t count, size_t needed, size_t *room, size_t size_bytes);

/* Like ps__vector_reserve, for items of the array's type. PS__VECTOR_GROW(&list->tids, list->count,
 * &list->room) makes room for one more item. */
#define PS__VECTOR_RESERVE(array, count, needed, room) \
	ps__vector_reserve(array, count, needed, room, sizeof **(array))
#define PS__VECTOR_GROW(array, count, room) PS__VECTOR_RESERVE(array, count, (count) + 1, room)

#endif
