/* SPDX-License-Identifier: BSD-3-Clause */
/* See flush.h. A signal handler can't write a report, so it wakes the thread, which writes it. */
#include "collect/flush.h"
#include "collect/signals.h"

#include "base/os.h"
#include "base/proc_status.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

/* The signals with which batch systems, terminals and alarm(2) end a process. SIGKILL can't be
 * caught. A process that faults is in a state from which nothing should be written. */
static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGALRM};

#define LONGEST_WAIT_S 1.0
#define MOST_TURNS     1000 /* turns of a millisecond */
#define TWICE_NS       500000000

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static struct {
	struct collect_flush what;
	pthread_t thread;
	/* the process that has the thread; 0: none. A forked child doesn't have the thread */
	_Atomic pid_t pid;
	sem_t wake;
	volatile sig_atomic_t is_stopping;
	volatile sig_atomic_t is_ending; /* the report is written: a signal ends the process */
	volatile sig_atomic_t signal;    /* signal that will end the process; 0: none */
	volatile uint64_t signalled_ns;  /* CLOCK_MONOTONIC when `signal` arrived */
} flush;

/* Calls the C library's sigaction. The preloaded library's own sigaction would hide the handler. */
static int flush_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	return ps_preload_sigaction ? ps_preload_sigaction(number, action, before)
	                            : sigaction(number, action, before);
}

/* Ends the process by the signal's default action. Doesn't change what the preloaded library knows:
 * in a child of vfork that belongs to the parent. */
static void flush_die(int number)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t one;

	flush_sigaction(number, &standard, NULL);
	sigemptyset(&one);
	sigaddset(&one, number);
	kill(getpid(), number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

/* Waits for the end of the process, at most a second. The interrupted thread may hold a lock that
 * the report needs, for example malloc's. Then it must go on before the process can end. */
static void flush_await_end(void)
{
	const struct timespec turn = {.tv_nsec = 1000000};

	for (int turns = 0; turns < MOST_TURNS; turns++)
		nanosleep(&turn, NULL);
}

/* The signal handler. It ends the process at once in a child without the thread, and at a second
 * signal, because the user doesn't want to wait. But a signal that is sent to a process and to its
 * group arrives twice, so a second one within TWICE_NS is ignored. If the program itself has set
 * SIG_DFL, it expects that raise doesn't return, so the handler doesn't return either. */
static void flush_handle(int number)
{
	int error = errno;
	bool is_asked = ps_preload_is_default && ps_preload_is_default(number);

	if (flush.pid != getpid() || flush.is_ending ||
	    (flush.signal && ps__os_now_ns() > flush.signalled_ns + TWICE_NS)) {
		flush_die(number);
	} else if (!flush.signal) {
		flush.signalled_ns = ps__os_now_ns();
		flush.signal = number;
		sem_post(&flush.wake);
		flush_await_end();
	} else if (is_asked) {
		flush_await_end();
	}
	if (is_asked)
		flush_die(number);
	errno = error;
}

static bool flush_has(int number, void (*handler)(int))
{
	struct sigaction now;

	return flush_sigaction(number, NULL, &now) == 0 && now.sa_handler == handler;
}

/* Sets the handler for those signals that have the default action. Signals that the program ignores
 * or handles itself are not changed. */
static void flush_hear_signals(void)
{
	const struct sigaction handler = collect_signals_action(flush_handle);
	uint64_t numbers = 0;

	for (size_t index = 0; index < COUNT_OF(ends); index++)
		numbers |= (uint64_t)1 << ends[index];
	if (ps_preload_hear)
		ps_preload_hear(flush_handle, numbers);
	for (size_t index = 0; index < COUNT_OF(ends); index++) {
		if (flush_has(ends[index], SIG_DFL))
			flush_sigaction(ends[index], &handler, NULL);
	}
}

static void flush_leave_signals(void)
{
	const struct sigaction standard = {.sa_handler = SIG_DFL};

	if (ps_preload_hear)
		ps_preload_hear(flush_handle, 0);
	for (size_t index = 0; index < COUNT_OF(ends); index++) {
		if (flush_has(ends[index], flush_handle))
			flush_sigaction(ends[index], &standard, NULL);
	}
}

/* True if only this thread is left after main called pthread_exit. A process ends with its last
 * thread, so this thread must then end. */
static bool flush_is_alone(void)
{
	char status[PS__PROC_STATUS_BYTES], state[32];

	return ps__proc_status_read(status) &&
	       ps__proc_status_text(status, "State", state, sizeof state) && *state == 'Z' &&
	       ps__proc_status_number(status, "Threads", 10, 0) == 2;
}

/* Waits until the thread is woken, at most this time. */
static void flush_wait(double seconds)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	double nanoseconds = (double)until.tv_nsec + fmod(seconds, 1) * 1e9;
	until.tv_sec += (time_t)seconds + (nanoseconds >= 1e9);
	until.tv_nsec = (long)(nanoseconds - (nanoseconds >= 1e9 ? 1e9 : 0));
	while (sem_timedwait(&flush.wake, &until) < 0 && errno == EINTR)
		;
}

static void *flush_run(void *unused)
{
	double left_s = flush.what.seconds;

	(void)unused;
	for (;;) {
		double now_s = fmin(left_s, LONGEST_WAIT_S);
		flush_wait(now_s);
		left_s -= now_s;
		if (flush.signal)
			break;
		if (flush.is_stopping || flush_is_alone())
			return NULL;
		if (left_s > 0)
			continue;
		flush.what.flush();
		left_s = flush.what.seconds;
	}
	flush.what.finish();
	flush.is_ending = 1;
	/* A thread of the program must not set the handler again. */
	flush_leave_signals();
	flush_die(flush.signal);
	return NULL;
}

bool collect_flush_start(const struct collect_flush *what)
{
	sigset_t all, before;

	flush.what = *what;
	flush.is_stopping = 0;
	flush.is_ending = 0;
	flush.signal = 0;
	if (sem_init(&flush.wake, 0, 0) < 0)
		return false;
	/* The thread blocks all signals, so that the program's threads receive them. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	int error = pthread_create(&flush.thread, NULL, flush_run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		return false;
	flush.pid = getpid();
	flush_hear_signals();
	return true;
}

void collect_flush_stop(void)
{
	if (atomic_load(&flush.pid) != getpid())
		return;
	flush_leave_signals();
	/* Two threads may end the collector at once. Only one of them ends the thread. */
	if (atomic_exchange(&flush.pid, 0) != getpid())
		return;
	flush.is_stopping = 1;
	sem_post(&flush.wake);
	/* If the caller is the flush thread itself, it was the last thread and called exit. */
	if (!pthread_equal(flush.thread, pthread_self()))
		pthread_join(flush.thread, NULL);
	sem_destroy(&flush.wake);
}
