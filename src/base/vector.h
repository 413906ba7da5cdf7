/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef PS_BASE_VECTOR_H
#define PS_BASE_VECTOR_H

#include <stddef.h>

/*
 * Room for `needed` items of size_bytes each in the array, of which `count` are
 * in use. *room tells how many items there is room for; it at least doubles
 * when it grows, and the items behind `count` are then zeroed. Returns the
 * array, which may have moved; NULL for lack of memory, and then nothing has
 * changed. needed > 0. Freed by ps__os_free.
 */
void *ps__vector_reserve(void *items, size_t count, size_t needed, size_t *room, size_t size_bytes);

#endif
