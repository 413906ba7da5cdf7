/* SPDX-License-Identifier: BSD-3-Clause */
/* For API tests that observe others: a process and a thread that work when they are told to. */
#ifndef PS_TESTS_ACTOR_H
#define PS_TESTS_ACTOR_H

#include "wander.h"

#include <semaphore.h>
#include <sys/types.h>

/* A child of the test. It waits for an order, which is one character. */
struct actor {
	pid_t pid;
	int orders, answers;
};
/* In the child, act reads orders, writes a long long as the answer to each, and doesn't return. */
struct actor actor_start(void (*act)(int orders, int answers));
long long actor_tell(const struct actor *actor, char order); /* returns the answer */
/* Until all its threads sleep: what they do on the way there, after the answer, is counted. */
void actor_await(const struct actor *actor);
void actor_end(struct actor *actor);
long long actor_faults(void); /* number of page faults of the calling process so far */

/* Another thread. It touches 100 pages in each of three rounds. */
struct worker {
	struct wander_work work;
	sem_t go, done;
	pthread_t thread;
	pid_t tid;
	long long strays;
};
void worker_start(struct worker *worker);
void worker_do_round(struct worker *worker); /* returns when the pages are touched */
void worker_end(struct worker *worker);      /* after its third round */

#endif
