/* SPDX-License-Identifier: BSD-3-Clause */
/* What a signal leaves behind: nothing. See ending.h. */
#include "tools/ending.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST_FILES 4

const int tool_ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
const size_t tool_ending_signal_count = sizeof tool_ending_signals / sizeof tool_ending_signals[0];

/* Read by the handler, in the same thread. */
static const char *_Atomic files[MOST_FILES];
static _Atomic pid_t owner; /* a child that the library forks has the handler, too, and no files */

void tool_ending_handle(int number)
{
	for (size_t index = 0; index < MOST_FILES; index++) {
		const char *path = atomic_load(&files[index]);
		if (path && getpid() == atomic_load(&owner))
			unlink(path);
	}
	/* It comes again when this handler is left. */
	signal(number, SIG_DFL);
	raise(number);
}

void tool_ending_remove(const char *path)
{
	atomic_store(&owner, getpid());
	for (size_t index = 0; index < MOST_FILES; index++) {
		if (!atomic_load(&files[index])) {
			atomic_store(&files[index], path);
			return;
		}
	}
}

void tool_ending_keep(const char *path)
{
	for (size_t index = 0; index < MOST_FILES; index++) {
		if (atomic_load(&files[index]) == path)
			atomic_store(&files[index], NULL);
	}
}
