/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that count page faults. The kernel may evict pages of the program's code at any time
 * (kswapd, DAMON), and each then costs a page fault that the test didn't make. So everything that
 * is mapped from files at the start, the heap and the stack are locked, as far as the user may.
 * Each test that Check forks locks them again, because locks are not inherited. The first write to
 * a page that parent and child share is a page fault, too.
 */
#ifndef PS_TESTS_RESIDENT_H
#define PS_TESTS_RESIDENT_H

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static inline void lock_files(void)
{
	struct rlimit limit;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_MEMLOCK, &limit);
	}
	while (maps && fgets(line, sizeof line, maps)) {
		unsigned long begin, end, inode;
		if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) == 3 &&
		    (inode != 0 || strstr(line, "[heap]") || strstr(line, "[stack]")))
			mlock((void *)begin, end - begin); /* ignore failures: such pages may be
			                                    * evicted */
	}
	if (maps)
		fclose(maps);
}

__attribute__((constructor)) static void stay_resident(void)
{
	lock_files();
	pthread_atfork(NULL, NULL, lock_files);
}

#endif
