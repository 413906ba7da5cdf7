/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that writes the report now and then, and when a signal is about to end the process: what
 * comes later, a crash or _exit, can only be answered by what is in a file already.
 */
#ifndef PS_COLLECT_FLUSH_H
#define PS_COLLECT_FLUSH_H

#include <stdbool.h>

struct collect_flush {
	double seconds;       /* between two calls of flush */
	void (*flush)(void);  /* the report until now */
	void (*finish)(void); /* the last one: the process ends by a signal */
};

/* Starts the thread in this process. False: it can't have one, and goes on without. */
bool collect_flush_start(const struct collect_flush *what);

/* Waits for a call that is running, and ends the thread. Not from within one. */
void collect_flush_stop(void);

#endif
