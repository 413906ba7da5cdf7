/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests that count page faults: the kernel may take the pages of a program's code from it at
 * any time (kswapd, DAMON), and each costs a fault that no test made. What is mapped from files
 * when the program begins, its heap and its stack are locked, as far as the user may; and again in
 * each test that Check forks from it, as locks are not inherited, and the first write to a page
 * that both have is a fault.
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
			mlock((void *)begin, end - begin); /* what is refused may stray */
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
