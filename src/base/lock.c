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
	_Atomic uint64_t renewed; /* twice the generation it is of; odd: it is being made */
} locks[PS__LOCKS];

static _Thread_local struct {
	unsigned short depth[PS__LOCKS]; /* how often the thread has it */
	unsigned short forks;            /* a handler may fork in the midst of a fork */
	unsigned short first_for_fork;
} own __attribute__((tls_model("initial-exec")));

/* Several threads of a child may come at once. */
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

/* The thread may have locks already: its handler forks, or a visitor of the user's. Those before
 * its last one are not waited for, as who has them may wait for that one. */
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

/* In both processes. The handlers may have been set in the midst of the fork. */
static void lock_after_fork(void)
{
	if (own.forks == 0 || --own.forks > 0)
		return;
	for (unsigned lock = PS__LOCKS; lock > own.first_for_fork; lock--)
		ps__lock_release(lock - 1);
}

/* Before those of the program: fork takes a lock of the program's, under which the library may be
 * called, before these. */
static __attribute__((constructor)) void lock_watch_forks(void)
{
	pthread_atfork(lock_before_fork, lock_after_fork, lock_after_fork);
}

/* No handler comes before the thread has it: it would pass, fork a child that waits for ever, or
 * jump out. */
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
