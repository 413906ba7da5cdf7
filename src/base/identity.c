/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Detects forks without a system call. The kernel empties a page in the child
 * (MADV_WIPEONFORK), after clone() as after fork(). Before Linux 4.14, a
 * handler of pthread_atfork notes the fork. The system calls here bypass the OS
 * seam, because a test that replaces its table is still forked by the real
 * system.
 */
#include "base/identity.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t fallback;
static _Atomic uint64_t *mark = &fallback;
static _Atomic uint64_t generations;
const _Atomic uint64_t *ps__fork_mark = &fallback;

static void identity_forget_in_child(void)
{
	atomic_store_explicit(&fallback, 0, memory_order_relaxed);
}

static void identity_make_mark(void)
{
	size_t size_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page =
	    mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page != MAP_FAILED && madvise(page, size_bytes, MADV_WIPEONFORK) == 0) {
		mark = page;
		ps__fork_mark = mark;
		return;
	}
	if (page != MAP_FAILED)
		munmap(page, size_bytes);
	pthread_atfork(NULL, NULL, identity_forget_in_child);
}

uint64_t ps__fork_generation(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint64_t none = 0;

	pthread_once(&once, identity_make_mark);
	if (atomic_load_explicit(mark, memory_order_relaxed) == 0) {
		uint64_t next =
		    1 + atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed);
		atomic_compare_exchange_strong_explicit(mark, &none, next, memory_order_relaxed,
		                                        memory_order_relaxed);
	}
	return atomic_load_explicit(mark, memory_order_relaxed);
}

_Thread_local uint64_t ps__own_thread_number;
_Thread_local int ps__own_tid;

uint64_t ps__thread_number_create(void)
{
	static _Atomic uint64_t numbers;

	ps__own_tid = (int)syscall(SYS_gettid);
	ps__own_thread_number = 1 + atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed);
	return ps__own_thread_number;
}
