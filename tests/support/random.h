/* SPDX-License-Identifier: BSD-3-Clause */
/* Pseudo-random numbers, the same for a seed on every machine: George Marsaglia's xorshift. */
#ifndef PS_TESTS_SUPPORT_RANDOM_H
#define PS_TESTS_SUPPORT_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

static inline struct random random_of(uint64_t seed)
{
	return (struct random){.state = seed * 2 + 88172645463325252u};
}

static inline uint64_t random_next(struct random *random)
{
	random->state ^= random->state << 13;
	random->state ^= random->state >> 7;
	random->state ^= random->state << 17;
	return random->state;
}

#endif
