/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps writes of the collector from ending the program. A write to a closed pipe sends SIGPIPE,
 * and a write beyond RLIMIT_FSIZE sends SIGXFSZ. With the signal blocked, the write fails
 * instead. */
#ifndef PS_COLLECT_HUSH_H
#define PS_COLLECT_HUSH_H

#include <signal.h>
#include <stddef.h>
#include <time.h>

struct collect_hush {
	sigset_t before;  /* the thread's mask */
	sigset_t pending; /* signals that were pending before; they belong to the program */
};

static inline void collect_hush_begin(struct collect_hush *hush)
{
	sigset_t held;

	sigemptyset(&held);
	sigaddset(&held, SIGPIPE);
	sigaddset(&held, SIGXFSZ);
	sigpending(&hush->pending);
	pthread_sigmask(SIG_BLOCK, &held, &hush->before);
}

/* The kernel sends both signals to the thread that writes. So the thread removes those pending
 * signals that its own write has caused. */
static inline void collect_hush_end(const struct collect_hush *hush)
{
	static const int numbers[] = {SIGPIPE, SIGXFSZ};
	const struct timespec now = {0};

	for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
		sigset_t one;
		sigemptyset(&one);
		sigaddset(&one, numbers[index]);
		if (!sigismember(&hush->pending, numbers[index]))
			sigtimedwait(&one, NULL, &now);
	}
	pthread_sigmask(SIG_SETMASK, &hush->before, NULL);
}

#endif
