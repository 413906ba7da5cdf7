/* SPDX-License-Identifier: BSD-3-Clause */
/* The events duration_time, user_time and system_time of a run. */
#ifndef PS_TOOLS_STAT_TIMES_H
#define PS_TOOLS_STAT_TIMES_H

#include "tools/stat_count.h"

enum {
	STAT_TIMES_DURATION = 1 << 0,
	STAT_TIMES_USER = 1 << 1,
	STAT_TIMES_SYSTEM = 1 << 2,
	STAT_TIMES_OF_COMMAND = STAT_TIMES_USER | STAT_TIMES_SYSTEM
};

/* Returns the bit of one of these names; 0 for any other name. */
unsigned stat_times_bit(const char *name);

/* True if the set has no event that the kernel counts. */
bool stat_times_are_all(const struct ps_eventset *model);

/* Stores the times; called at the end of a run, after its counts were stored. usage: the command's;
 * NULL if unknown. Returns -1 after a complaint. */
int stat_times_store(struct stat_count *count, uint64_t elapsed_ns, const struct rusage *usage);

#endif
