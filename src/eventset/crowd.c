/* SPDX-License-Identifier: BSD-3-Clause */
/* A crowd is filled anew at each look. Clearing it keeps its memory. */
#include "eventset/crowd.h"

#include "base/vector.h"

void ps__crowd_clear(struct ps__crowd *crowd)
{
	crowd->count = 0;
	for (size_t bucket = 0; bucket < PS__CROWD_BUCKETS; bucket++)
		crowd->buckets[bucket] = -1;
}

static size_t crowd_bucket(pid_t tid)
{
	return (size_t)tid % PS__CROWD_BUCKETS;
}

struct ps__seen *ps__crowd_find(const struct ps__crowd *crowd, pid_t tid)
{
	ptrdiff_t index = crowd->buckets[crowd_bucket(tid)];

	while (index >= 0 && crowd->seen[index].tid != tid)
		index = crowd->seen[index].next;
	return index >= 0 ? &crowd->seen[index] : NULL;
}

bool ps__crowd_add(struct ps__crowd *crowd, struct ps__seen one)
{
	ptrdiff_t *bucket = &crowd->buckets[crowd_bucket(one.tid)];

	if (!PS__VECTOR_GROW(&crowd->seen, crowd->count, &crowd->room))
		return false;
	one.next = *bucket;
	crowd->seen[crowd->count] = one;
	*bucket = (ptrdiff_t)crowd->count++;
	return true;
}
