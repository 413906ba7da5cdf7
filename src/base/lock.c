/* SPDX-License-Identifier: BSD-3-Clause */
/* See lock.h. */
#include "base/lock.h"

#include "base/identity.h"
#include "base/stack.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct {
	pthread_mutex_t mutex;
	/* twice the generation that made the mutex; odd while a thread is making the mutex */
	_Atomic uint64_t renewed;
} locks[PS__LOCKS];

static _Thread_local struct {
	unsigned short depth[PS__LOCKS]; /* how often the thread holds each lock */
	/* depth of forks: a signal handler may fork during a fork */
	unsigned short forks;
	unsigned short first_for_fork;
} own __attribute__((tls_model("initial-exec")));

/* Makes the mutex anew in a forked child. Several threads may call this function at once. */
static void lock_renew(enum ps__lock lock)
{
	uint64_t wanted = 2 * ps__fork_generation();
	uint64_t seen = atomic_load_explicit(&locks[lock].renewed, memory_order_acquire);

	while (seen != wanted) {
		if (seen == wanted + 1) {
			sched_yield();
			seen = atomic_load_explicit(&locks[lock].renewed, memory_order_acquire);
		} else if (atomic_compare_exchange_strong(&locks[lock].renewed, &seen,
		                                          wanted + 1)) {
			pthread_mutex_init(&locks[lock].mutex, NULL);
			atomic_store_explicit(&locks[lock].renewed, wanted, memory_order_release);
			return;
		}
	}
}

/* Takes the locks for a fork. The thread may hold locks already: a signal handler or a user's
 * visitor function may fork. Only the locks behind the last held one are taken: the holder of an
 * earlier lock may be waiting for the held one. */
static void lock_before_fork(void)
{
	unsigned short first = PS__LOCKS;

	if (own.forks++ > 0)
		return;
	while (first > 0 && own.depth[first - 1] == 0)
		first--;
	own.first_for_fork = first;
	for (unsigned lock = first; lock < PS__LOCKS; lock++)
		ps__lock_take(lock);
}

/* Releases the locks, in parent and child. forks is 0 if the handlers were registered during the
 * fork. */
static void lock_after_fork(void)
{
	if (own.forks == 0 || --own.forks > 0)
		return;
	for (unsigned lock = PS__LOCKS; lock > own.first_for_fork; lock--)
		ps__lock_release(lock - 1);
}

/* Registers these handlers before the program's, so that fork runs the program's first. A fork then
 * takes the program's locks before these, as a thread does that calls the library with a program's
 * lock held. */
static __attribute__((constructor)) void lock_watch_forks(void)
{
	pthread_atfork(lock_before_fork, lock_after_fork, lock_after_fork);
}

/* Signals wait until the thread has the mutex and its depth is set. A handler that ran in between
 * could call or fork and so wait for ever for the mutex, or jump out and leave it locked. */
void ps__lock_take(enum ps__lock lock)
{
	struct ps__held held;

	if (own.depth[lock] == 0) {
		ps__signals_hold(&held);
		lock_renew(lock);
		pthread_mutex_lock(&locks[lock].mutex);
		own.depth[lock] = 1;
		ps__signals_release(&held);
	} else {
		own.depth[lock]++;
	}
}

void ps__lock_release(enum ps__lock lock)
{
	struct ps__held held;

	if (own.depth[lock] == 1) {
		ps__signals_hold(&held);
		own.depth[lock] = 0;
		pthread_mutex_unlock(&locks[lock].mutex);
		ps__signals_release(&held);
	} else {
		own.depth[lock]--;
	}
}
