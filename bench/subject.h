/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of its own for each method, since what counts a thread acts on all
 * that the thread does: it is told to do something many times, and answers how
 * long that took.
 */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "methods.h"

enum subject_job {
	SUBJECT_OPEN,       /* opens and starts */
	SUBJECT_CLOSE,      /* closes again */
	SUBJECT_READ,       /* reads, not having moved */
	SUBJECT_READ_MOVED, /* reads after a move to another CPU */
	SUBJECT_MOVE,       /* moves to another CPU */
	SUBJECT_SWITCH,     /* is switched out and in again, for another thread on the same CPU */
	SUBJECT_SWITCH_OUT, /* the same, for another process, which is not counted */
	SUBJECT_FORK,       /* forks a child that exits, and waits for it */
	SUBJECT_THREAD,     /* creates a thread that ends, and joins it */
	SUBJECT_DESCRIPTORS /* none of time: how many descriptors the method takes */
};

struct subject {
	pid_t pid;
	const struct method *method;
	int to, from;    /* pipes */
	const char *why; /* the method can't be had: NULL, or a reason */
};

/* cpu: where it is to run; other_cpu: where it moves to, -1 if there is
 * none. */
void subject_start(struct subject *subject, const struct method *method, int events, int cpu,
                   int other_cpu);

/* Nanoseconds that all calls took. */
double subject_do(const struct subject *subject, enum subject_job job, unsigned calls);
void subject_end(struct subject *subject);

#endif
