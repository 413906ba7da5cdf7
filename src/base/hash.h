/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes for tables by name: FNV-1a of G. Fowler, L. C. Noll and K.-P. Vo. */
#ifndef PS_BASE_HASH_H
#define PS_BASE_HASH_H

#include <stdint.h>

/* The hash of no bytes. */
#define PS__HASH_EMPTY UINT64_C(0xcbf29ce484222325)

static inline uint64_t ps__hash_add(uint64_t hash, unsigned char byte)
{
	return (hash ^ byte) * UINT64_C(0x100000001b3);
}

static inline uint64_t ps__hash_of(const char *name)
{
	uint64_t hash = PS__HASH_EMPTY;

	for (; *name; name++)
		hash = ps__hash_add(hash, (unsigned char)*name);
	return hash;
}

#endif
