/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that writes the report at intervals, and when a signal is about to end the process. If
 * the process crashes later or calls _exit, only the last report in the file is left.
 */
#ifndef PS_COLLECT_FLUSH_H
#define PS_COLLECT_FLUSH_H

#include <stdbool.h>

struct collect_flush {
	double seconds;       /* between two calls of flush */
	void (*flush)(void);  /* writes an interim report */
	void (*finish)(void); /* writes the last report before a signal ends the process */
};

/* Starts the thread in this process. On failure returns false; the process goes on without the
 * thread. */
bool collect_flush_start(const struct collect_flush *what);

/* Waits until flush or finish has returned, and ends the thread. flush and finish must not call
 * it. */
void collect_flush_stop(void);

#endif
