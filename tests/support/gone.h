/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for the end of a thread of this process. */
#ifndef PS_TESTS_GONE_H
#define PS_TESTS_GONE_H

#include <sched.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/* pthread_join returns before the kernel has removed the task. */
static inline void wait_until_gone(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	while (access(path, F_OK) == 0)
		sched_yield();
}

#endif
