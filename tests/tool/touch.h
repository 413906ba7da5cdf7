/* SPDX-License-Identifier: BSD-3-Clause */
/* Page faults of a number that is known, for the programs that tests count. */
#ifndef PS_TESTS_TOUCH_H
#define PS_TESTS_TOUCH_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

/* Touches fresh pages: each is a page fault. Ends the program if there is no memory. */
static inline void touch(size_t pages)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, pages * page_bytes, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		_exit(70);
	madvise(memory, pages * page_bytes, MADV_NOHUGEPAGE);
	for (size_t page = 0; page < pages; page++)
		memory[page * page_bytes] = 1;
	munmap(memory, pages * page_bytes);
}

#endif
