/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks that one look has seen (looks.c), by tid. */
#ifndef PS_EVENTSET_CROWD_H
#define PS_EVENTSET_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A task; or the first task of a process that is not counted, which stands for that process. */
struct ps__seen {
	pid_t pid;
	pid_t tid;
	size_t root; /* index of its root; root_count: not known; PS__NOT_COUNTED: not the set's */
	int64_t start_ticks;
	uint64_t ran_ns;
	ptrdiff_t next; /* index of the next task in its bucket; -1: none */
};
#define PS__NOT_COUNTED SIZE_MAX

#define PS__CROWD_BUCKETS 4096

struct ps__crowd {
	struct ps__seen *seen; /* freed by the crowd's owner */
	size_t count;
	size_t room;
	ptrdiff_t buckets[PS__CROWD_BUCKETS];
};

/* Empties the crowd. A new crowd must be emptied, too, because an empty bucket is -1, not 0. */
void ps__crowd_clear(struct ps__crowd *crowd);
/* Returns NULL if there is no such task. The pointer is valid until the next task is added. */
struct ps__seen *ps__crowd_find(const struct ps__crowd *crowd, pid_t tid);
/* False if out of memory. */
bool ps__crowd_add(struct ps__crowd *crowd, struct ps__seen one);

#endif
