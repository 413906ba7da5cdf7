/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library keeps the program from closing descriptors of events and of perfsage's
 * files: the program doesn't know that perfsage opened them in its process.
 */
#ifndef PS_BASE_KEPT_H
#define PS_BASE_KEPT_H

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PS__KEPT_NUMBER 1024 /* the lowest number: select(2) takes no number from 1024 on */
#define PS__KEPT_FILE   ((uint64_t)1 << 63)

/* Takes over the descriptor of an event or of a regular file that was just opened, and returns the
 * number that it has from now on: a high one if there is room. The program's calls that put
 * something else under this number are counted in *losses, unless losses is NULL. The function is
 * NULL where the library is not preloaded. */
__attribute__((weak, visibility("default"))) int ps_preload_keep(int fd, _Atomic uint64_t *losses);

/* The low half of losses counts the program's calls that are replacing a descriptor now, the high
 * half the calls that have ended. While such a call runs, a check that found all descriptors in
 * place must be repeated at each use. */
#define PS__KEPT_UNDER_WAY ((uint64_t)1)
#define PS__KEPT_OVER      ((uint64_t)1 << 32)

static inline uint64_t ps__kept_over(uint64_t losses)
{
	return losses & ~(PS__KEPT_OVER - 1);
}

/* Counts the program's calls that may have replaced one of this library's descriptors. */
extern _Atomic uint64_t ps__os_losses __attribute__((visibility("hidden")));

/* Returns a number that identifies the event or regular file under fd, to be compared later; 0 if
 * fd is neither. */
static inline uint64_t ps__kept_identity(int fd)
{
	uint64_t id = 0;
	struct stat what;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) >= 0)
		return id;
	if (fstat(fd, &what) < 0 || !S_ISREG(what.st_mode))
		return 0;
	return PS__KEPT_FILE | ((uint64_t)what.st_dev * 0x9e3779b97f4a7c15 ^ (uint64_t)what.st_ino);
}

/* Moves a new descriptor to a high number. Returns the new number; fd if it can't be moved.
 * Otherwise the descriptor would keep the lowest free number, which the program's next file should
 * get. */
static inline int ps__kept_move(int fd)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	int least =
	    limit.rlim_cur / 2 < PS__KEPT_NUMBER ? (int)(limit.rlim_cur / 2) : PS__KEPT_NUMBER;
	int moved = fd < least ? fcntl(fd, F_DUPFD_CLOEXEC, least) : -1;
	if (moved < 0)
		return fd;
	syscall(SYS_close, fd);
	return moved;
}

#endif
