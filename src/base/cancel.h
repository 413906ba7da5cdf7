/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pthread_cancel must not end a thread inside a call of the library: a lock
 * would stay held, a descriptor open, a set busy. The calls of the OS seam are
 * not cancellation points (os.c). Foreign code (hwloc, libpfm4, PAPI, stdio,
 * the user's visitor functions) has cancellation points, so cancellation is
 * held back while it runs.
 */
#ifndef PS_BASE_CANCEL_H
#define PS_BASE_CANCEL_H

#include <pthread.h>
#include <time.h>

/* Holds back cancellation of the calling thread. Returns the state that
 * ps__cancel_release restores, so the calls can be nested. */
static inline int ps__cancel_hold(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void ps__cancel_release(int before)
{
	int held;

	pthread_setcancelstate(before, &held);
}

/* Sleeps for less than a second, without being a cancellation point. A signal
 * ends the sleep. */
static inline void ps__cancel_free_sleep(long time_ns)
{
	const struct timespec pause = {.tv_nsec = time_ns};
	int cancel = ps__cancel_hold();

	nanosleep(&pause, NULL);
	ps__cancel_release(cancel);
}

#endif
