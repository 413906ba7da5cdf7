/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks that one look saw (looks.c), found by their numbers. */
#ifndef PS_EVENTSET_CROWD_H
#define PS_EVENTSET_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A task, or the first task of a process that is not counted: it stands for that process. */
struct ps__seen {
	pid_t pid;
	pid_t tid;
	size_t root; /* the number of roots: not known; or */
	int64_t start_ticks;
	uint64_t ran_ns;
	ptrdiff_t next; /* in its bucket */
};
#define PS__NOT_COUNTED SIZE_MAX

#define PS__CROWD_BUCKETS 4096

struct ps__crowd {
	struct ps__seen *seen; /* freed by its owner */
	size_t count;
	size_t room;
	ptrdiff_t buckets[PS__CROWD_BUCKETS];
};

/* To be called first: buckets aren't empty when they are 0. */
void ps__crowd_clear(struct ps__crowd *crowd);
/* NULL: it is not there. Valid until the next one is added. */
struct ps__seen *ps__crowd_find(const struct ps__crowd *crowd, pid_t tid);
/* False for lack of memory. */
bool ps__crowd_add(struct ps__crowd *crowd, struct ps__seen one);

#endif
