/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process for each method, because a method affects everything that the counted thread does. It
 * gets the order to do something many times, and answers with the time.
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "methods.h"

enum subject_job {
	SUBJECT_OPEN,       /* opens and starts */
	SUBJECT_CLOSE,      /* closes again */
	SUBJECT_READ,       /* reads without a move */
	SUBJECT_READ_MOVED, /* reads after a move to another CPU */
	SUBJECT_MOVE,       /* moves to another CPU */
	SUBJECT_SWITCH,     /* gives the CPU to another thread and gets it back */
	SUBJECT_SWITCH_OUT, /* gives the CPU to another process, which is not counted, and gets it
	                     * back */
	SUBJECT_FORK,       /* forks a child that exits, and waits for it */
	SUBJECT_THREAD,     /* creates a thread that ends, and joins it */
	SUBJECT_DESCRIPTORS /* not a time: the number of descriptors that the method uses */
};

struct subject {
	pid_t pid;
	const struct method *method;
	int to, from;    /* pipes */
	const char *why; /* why the method can't be used; NULL: it can */
};

/* cpu: where it runs; other_cpu: where it moves to, -1: there is none. */
void subject_start(struct subject *subject, const struct method *method, int events, int cpu,
                   int other_cpu);

/* Returns the nanoseconds of all calls. */
double subject_do(const struct subject *subject, enum subject_job job, unsigned calls);
void subject_end(struct subject *subject);

#endif
