/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps writes of the collector from ending the program: a closed pipe sends SIGPIPE, and a file
 * beyond RLIMIT_FSIZE SIGXFSZ. The write fails instead. */
#ifndef PS_COLLECT_HUSH_H
#define PS_COLLECT_HUSH_H

#include <signal.h>
#include <stddef.h>
#include <time.h>

struct collect_hush {
	sigset_t before;  /* the thread's mask */
	sigset_t pending; /* signals that were pending before: they are the program's */
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

/* Both signals are sent to the thread that writes, so it takes away those that its own write has
 * caused. */
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
