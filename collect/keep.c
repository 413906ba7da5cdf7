/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protects perfsage's descriptors from a program that closes descriptors which it has not opened.
 * They get high numbers, so that the program's own numbers stay the same. Calls that would close
 * one of them leave it open and act as if it were closed already. Only dup2 and dup3 replace one,
 * because the program wants that number.
 *
 * All of this may run in a signal handler, before any constructor, or in a child of vfork, which
 * shares the memory but has descriptors of its own. So no function allocates memory or takes a
 * lock. The table may be out of date: the identity tells whether the same file is still under its
 * number.
 */
#include "base/kept.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#define RANGE_UNSHARE (1 << 1) /* CLOSE_RANGE_UNSHARE; other flags close nothing, or are wrong */

#define NUMBERS 8192 /* descriptors from this number on are not protected */

struct keep_place {
	_Atomic uint64_t id; /* ps__kept_identity; 0: the number was never used */
	_Atomic(_Atomic uint64_t *) losses;
};

static struct keep_place places[NUMBERS];
/* The range of numbers that were ever used. Most calls are for numbers outside of it, and then
 * touch no page of the table. */
static _Atomic unsigned first_number = NUMBERS, end_number;

static bool keep_has(unsigned fd)
{
	if (fd < atomic_load(&first_number) || fd >= atomic_load(&end_number))
		return false;
	uint64_t id = atomic_load(&places[fd].id);
	int error = errno;
	bool has_it = id && ps__kept_identity((int)fd) == id;
	errno = error;
	return has_it;
}

static void keep_widen(unsigned fd)
{
	unsigned first = atomic_load(&first_number), end = atomic_load(&end_number);

	while (fd < first && !atomic_compare_exchange_weak(&first_number, &first, fd))
		;
	while (fd >= end && !atomic_compare_exchange_weak(&end_number, &end, fd + 1))
		;
}

__attribute__((visibility("default"))) int ps_preload_keep(int fd, _Atomic uint64_t *losses)
{
	int error = errno;
	int kept = ps__kept_move(fd);
	uint64_t id = ps__kept_identity(kept);

	if (kept < NUMBERS && id) {
		atomic_store(&places[kept].losses, losses);
		atomic_store(&places[kept].id, id);
		keep_widen((unsigned)kept);
	}
	errno = error;
	return kept;
}

/* The program's calls. */

typedef int close_call(int fd);
typedef void closefrom_call(int least);
typedef int dup2_call(int from, int to);
typedef int dup3_call(int from, int to, int flags);

/* The C library's functions. They are looked up at the start, because dlsym may allocate memory and
 * take locks. */
static _Atomic(close_call *) real_close;
static _Atomic(closefrom_call *) real_closefrom;
static _Atomic(dup2_call *) real_dup2;
static _Atomic(dup3_call *) real_dup3;

__attribute__((constructor)) static void keep_begin(void)
{
	close_call *found_close;
	closefrom_call *found_closefrom;
	dup2_call *found_dup2;
	dup3_call *found_dup3;

	*(void **)&found_close = dlsym(RTLD_NEXT, "close");
	*(void **)&found_closefrom = dlsym(RTLD_NEXT, "closefrom");
	*(void **)&found_dup2 = dlsym(RTLD_NEXT, "dup2");
	*(void **)&found_dup3 = dlsym(RTLD_NEXT, "dup3");
	atomic_store(&real_close, found_close);
	atomic_store(&real_closefrom, found_closefrom);
	atomic_store(&real_dup2, found_dup2);
	atomic_store(&real_dup3, found_dup3);
}

/* Some versions of the C library don't declare these. */
__attribute__((visibility("default"))) int close_range(unsigned first, unsigned last, int flags);
__attribute__((visibility("default"))) void closefrom(int least);
__attribute__((visibility("default"))) int dup3(int from, int to, int flags);

__attribute__((visibility("default"))) int close(int fd)
{
	close_call *real = atomic_load(&real_close);

	if (fd >= 0 && keep_has((unsigned)fd)) {
		errno = EBADF;
		return -1;
	}
	return real ? real(fd) : (int)syscall(SYS_close, fd);
}

/* Closes the range, but not the kept descriptors in it. */
int close_range(unsigned first, unsigned last, int flags)
{
	unsigned from = first, number = atomic_load(&first_number);

	if (first > last || flags & ~RANGE_UNSHARE)
		return (int)syscall(SYS_close_range, first, last, flags);
	for (number = number > first ? number : first;
	     number <= last && number < atomic_load(&end_number); number++) {
		if (!keep_has(number))
			continue;
		if (number > from && syscall(SYS_close_range, from, number - 1, flags) < 0)
			return -1;
		from = number + 1;
	}
	return from <= last ? (int)syscall(SYS_close_range, from, last, flags) : 0;
}

void closefrom(int least)
{
	closefrom_call *real = atomic_load(&real_closefrom);
	unsigned first = least > 0 ? (unsigned)least : 0;

	/* Linux before 5.9 has no such call. */
	if (close_range(first, UINT_MAX, 0) == 0)
		return;
	for (; first < atomic_load(&end_number); first++)
		close((int)first);
	if (real)
		real((int)first);
}

/* Called before the program puts its own file under the number `to`. An event under that number is
 * lost. *losses warns the event's reader first, because it would read the program's file. Returns
 * losses for keep_end_yielding; NULL if there is no reader to warn. */
static _Atomic uint64_t *keep_yield(int from, int to)
{
	if (from == to || to < 0 || !keep_has((unsigned)to))
		return NULL;
	_Atomic uint64_t *losses = atomic_load(&places[to].losses);
	if (losses)
		atomic_fetch_add(losses, PS__KEPT_UNDER_WAY);
	return losses;
}

static void keep_end_yielding(_Atomic uint64_t *losses)
{
	if (losses)
		atomic_fetch_add(losses, PS__KEPT_OVER - PS__KEPT_UNDER_WAY);
}

static int keep_dup2(int from, int to)
{
	dup2_call *real = atomic_load(&real_dup2);

	if (real)
		return real(from, to);
	if (from == to)
		return fcntl(from, F_GETFD) < 0 ? -1 : to;
	return (int)syscall(SYS_dup3, from, to, 0);
}

__attribute__((visibility("default"))) int dup2(int from, int to)
{
	_Atomic uint64_t *losses = keep_yield(from, to);
	int result = keep_dup2(from, to);

	keep_end_yielding(losses);
	return result;
}

int dup3(int from, int to, int flags)
{
	dup3_call *real = atomic_load(&real_dup3);
	_Atomic uint64_t *losses = keep_yield(from, to);
	int result = real ? real(from, to, flags) : (int)syscall(SYS_dup3, from, to, flags);

	keep_end_yielding(losses);
	return result;
}
