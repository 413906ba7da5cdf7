/* SPDX-License-Identifier: BSD-3-Clause */
/* Every allocation of the process is counted, the shared library's too: malloc and mmap of the
 * executable come first. */
#ifndef PS_TESTS_COUNT_MALLOC_H
#define PS_TESTS_COUNT_MALLOC_H

/* Calls of malloc, calloc, realloc, aligned_alloc, posix_memalign and mmap by the calling thread so
 * far; -1 where a sanitizer or valgrind has taken their place. */
long count_malloc(void);

#endif
