/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef PS_BASE_VECTOR_H
#define PS_BASE_VECTOR_H

#include <stddef.h>

/*
 * Makes room for `needed` items of size_bytes each in the array, of which
 * `count` are in use. *room is the number of items that there is room for; it
 * at least doubles when the array grows, and the items behind `count` are then
 * zeroed. Returns the array, which may have moved; NULL if out of memory, and
 * then nothing has changed. needed > 0. Free the array with ps__os_free.
 */
void *ps__vector_reserve(void *items, size_t count, size_t needed, size_t *room, size_t size_bytes);

#endif
