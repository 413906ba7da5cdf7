/* SPDX-License-Identifier: BSD-3-Clause */
/* Visits that take long: what boundaries do for them. */
#ifndef PS_REGION_SLOW_H
#define PS_REGION_SLOW_H

#include <perfsage/slow_visit.h>
#include <stdint.h>

struct ps__member;
struct ps__taken;

/* What the program asked for. */
struct ps__slow {
	struct ps__slow *before; /* of the region: visits that are open may have it */
	uint64_t limit_ns;
	ps_slow_visit *callback; /* NULL: none */
	void *context;
};

/* A visit begins in the level that comes next; `boundary` is the result of its boundary. */
void ps__slow_begin(struct ps__member *member, const struct ps__slow *slow, int boundary)
    __attribute__((cold));
/* A visit has ended in the level that was the last one. The caller sees that some visit is watched.
 */
void ps__slow_end(struct ps__member *member, uint64_t left_ns, int boundary) __attribute__((cold));
/* Counts go to all visits that are watched. */
void ps__slow_add(struct ps__member *member, const struct ps__taken *taken) __attribute__((cold));
/* What was counted in them isn't known any more. */
void ps__slow_lose(struct ps__member *member);

void ps__slow_free_watches(struct ps__member *member);

#endif
