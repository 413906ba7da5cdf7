/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * malloc and its kin, and mmap, counted and passed on. To be linked into the executable, so that
 * the dynamic linker binds the shared library's calls here.
 */
#include "api/count_malloc.h"

#include "support/sanitizer.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if PS_TEST_HAS_SANITIZER

long count_malloc(void)
{
	return -1;
}

#else

static _Thread_local long calls;

long count_malloc(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload")
	           ? -1
	           : calls; /* valgrind's functions come before these */
}

/* dlsym itself may allocate: from here, and never given back. */
static unsigned char early[16384] __attribute__((aligned(16)));
static size_t early_used;

static void *early_alloc(size_t size_bytes)
{
	void *memory = early + early_used;

	size_bytes = (size_bytes + 15) & ~(size_t)15;
	if (size_bytes > sizeof(early) - early_used)
		return NULL;
	early_used += size_bytes;
	return memory;
}

static int is_early(const void *memory)
{
	return (uintptr_t)memory >= (uintptr_t)early &&
	       (uintptr_t)memory < (uintptr_t)early + sizeof(early);
}

static void *(*next_malloc)(size_t size_bytes);
static void *(*next_calloc)(size_t count, size_t size_bytes);
static void *(*next_realloc)(void *memory, size_t size_bytes);
static void *(*next_aligned)(size_t alignment, size_t size_bytes);
static void (*next_free)(void *memory);

/* True once the functions behind are known. The first call comes before main, when there is one
 * thread. */
static int is_ready(void)
{
	static int state; /* 1: being looked up */

	if (state == 0) {
		state = 1;
		*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
		*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
		*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
		*(void **)&next_aligned = dlsym(RTLD_NEXT, "aligned_alloc");
		*(void **)&next_free = dlsym(RTLD_NEXT, "free");
		state = 2;
	}
	return state == 2;
}

__attribute__((constructor)) static void prepare(void)
{
	is_ready();
}

void *malloc(size_t size_bytes)
{
	if (!is_ready())
		return early_alloc(size_bytes);
	calls++;
	return next_malloc(size_bytes);
}

void *calloc(size_t count, size_t size_bytes)
{
	if (!is_ready())
		return early_alloc(count * size_bytes); /* zero, as static memory is */
	calls++;
	return next_calloc(count, size_bytes);
}

void *realloc(void *memory, size_t size_bytes)
{
	void *moved;

	if (is_ready() && !is_early(memory)) {
		calls++;
		return next_realloc(memory, size_bytes);
	}
	moved = malloc(size_bytes);
	if (moved && memory) {
		size_t rest = (size_t)(early + sizeof(early) - (unsigned char *)memory);

		memcpy(moved, memory, size_bytes < rest ? size_bytes : rest);
	}
	return moved;
}

void *aligned_alloc(size_t alignment, size_t size_bytes)
{
	if (!is_ready())
		return NULL;
	calls++;
	return next_aligned(alignment, size_bytes);
}

int posix_memalign(void **out, size_t alignment, size_t size_bytes)
{
	void *memory = aligned_alloc(alignment, size_bytes);

	if (!memory)
		return ENOMEM;
	*out = memory;
	return 0;
}

void free(void *memory)
{
	if (is_ready() && !is_early(memory))
		next_free(memory);
}

void *mmap(void *address, size_t length_bytes, int protection, int flags, int fd, off_t offset)
{
	calls++;
	return (void *)syscall(SYS_mmap, address, length_bytes, protection, flags, fd, offset);
}

#endif
