/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See signals.h. sigignore and siginterrupt are not replaced, because they return no handler and
 * set no default action. Some changes stay unseen: system calls without the C library, sigvec in
 * old programs, and a handler that the kernel resets (SA_RESETHAND).
 *
 * All of this may run in a signal handler, or in a child of vfork, which shares the memory but has
 * actions of its own. So no function allocates memory or takes a lock. dlsym is called only while
 * no handler is set: the call that sets the first handler comes here, and calls it.
 */
#include "collect/signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define HIGHEST 64

typedef int sigaction_call(int number, const struct sigaction *action, struct sigaction *before);
typedef collect_handler *signal_call(int number, collect_handler *handler);

static _Atomic(collect_handler *) own_handler;
static _Atomic uint64_t own_numbers;
/* Bit N is set if the program's last action for signal N, while own_numbers had it, was SIG_DFL. */
static _Atomic uint64_t asked_numbers;

static _Atomic(sigaction_call *) real_sigaction;
static _Atomic(signal_call *) real_signal;
static _Atomic(signal_call *) real_sysv_signal;
static _Atomic(signal_call *) real_sigset;

static void signals_find(void)
{
	sigaction_call *found_sigaction;
	signal_call *found_signal, *found_sysv_signal, *found_sigset;

	*(void **)&found_sigaction = dlsym(RTLD_NEXT, "sigaction");
	*(void **)&found_signal = dlsym(RTLD_NEXT, "signal");
	*(void **)&found_sysv_signal = dlsym(RTLD_NEXT, "__sysv_signal");
	*(void **)&found_sigset = dlsym(RTLD_NEXT, "sigset");
	atomic_store(&real_signal, found_signal);
	atomic_store(&real_sysv_signal, found_sysv_signal);
	atomic_store(&real_sigset, found_sigset);
	atomic_store(&real_sigaction, found_sigaction);
}

/* Finds the C library's functions. Other functions call it, too, because constructors of the
 * program's libraries may set handlers before this constructor runs. */
__attribute__((constructor)) static void signals_begin(void)
{
	if (!atomic_load(&real_sigaction))
		signals_find();
}

__attribute__((visibility("default"))) int
ps_preload_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	signals_begin();
	sigaction_call *real = atomic_load(&real_sigaction);
	if (real)
		return real(number, action, before);
	errno = ENOSYS;
	return -1;
}

/* Does not remove a handler that is set already. It stays until the program itself sets an action
 * for the signal. */
__attribute__((visibility("default"))) void ps_preload_hear(collect_handler *handler,
                                                            uint64_t numbers)
{
	atomic_store(&own_handler, handler);
	atomic_store(&own_numbers, numbers);
}

static bool signals_are_heard(int number)
{
	return number > 0 && number < HIGHEST && atomic_load(&own_numbers) >> number & 1;
}

__attribute__((visibility("default"))) int ps_preload_is_default(int number)
{
	return number > 0 && number < HIGHEST && atomic_load(&asked_numbers) >> number & 1;
}

/* Notes that the program sets an action. True if the action is SIG_DFL and the collector's handler
 * must replace it. */
static bool signals_note(int number, collect_handler *handler)
{
	if (!signals_are_heard(number))
		return false;
	uint64_t bit = (uint64_t)1 << number;
	if (handler == SIG_DFL)
		atomic_fetch_or(&asked_numbers, bit);
	else
		atomic_fetch_and(&asked_numbers, ~bit);
	return handler == SIG_DFL;
}

static bool signals_is_own(collect_handler *handler)
{
	collect_handler *own = atomic_load(&own_handler);

	return own && handler == own;
}

/* The program's calls. */

static int signals_act(int number, const struct sigaction *action, struct sigaction *before)
{
	struct sigaction heard;

	if (action && signals_note(number, action->sa_handler)) {
		heard = collect_signals_action(atomic_load(&own_handler));
		action = &heard;
	}
	int result = ps_preload_sigaction(number, action, before);
	if (result == 0 && before && signals_is_own(before->sa_handler)) {
		*before = (struct sigaction){.sa_handler = SIG_DFL};
		sigemptyset(&before->sa_mask);
	}
	return result;
}

__attribute__((visibility("default"))) int
sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict before)
{
	return signals_act(number, action, before);
}

__attribute__((visibility("default"))) int __sigaction(int number, const struct sigaction *action,
                                                       struct sigaction *before);
int __sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	return signals_act(number, action, before);
}

static collect_handler *signals_set(_Atomic(signal_call *) *real, int number,
                                    collect_handler *handler)
{
	signals_begin();
	if (signals_note(number, handler))
		handler = atomic_load(&own_handler);
	signal_call *set = atomic_load(real);
	if (!set) {
		errno = ENOSYS;
		return SIG_ERR;
	}
	collect_handler *before = set(number, handler);
	return signals_is_own(before) ? SIG_DFL : before;
}

/* Sets a System V handler. The kernel resets such a handler at its first signal, so the collector's
 * own handler is set by signal instead. */
static collect_handler *signals_set_sysv(int number, collect_handler *handler)
{
	return signals_set(handler == SIG_DFL ? &real_signal : &real_sysv_signal, number, handler);
}

/* Some versions of the C library don't declare these, or only for some standards. */
__attribute__((visibility("default"))) collect_handler *bsd_signal(int number,
                                                                   collect_handler *handler);
__attribute__((visibility("default"))) collect_handler *ssignal(int number,
                                                                collect_handler *handler);
__attribute__((visibility("default"))) collect_handler *sysv_signal(int number,
                                                                    collect_handler *handler);
__attribute__((visibility("default"))) collect_handler *__sysv_signal(int number,
                                                                      collect_handler *handler);
__attribute__((visibility("default"))) collect_handler *sigset(int number,
                                                               collect_handler *handler);

__attribute__((visibility("default"))) collect_handler *signal(int number, collect_handler *handler)
{
	return signals_set(&real_signal, number, handler);
}

collect_handler *bsd_signal(int number, collect_handler *handler)
{
	return signals_set(&real_signal, number, handler);
}

collect_handler *ssignal(int number, collect_handler *handler)
{
	return signals_set(&real_signal, number, handler);
}

/* <signal.h> calls this for signal() in a program that is compiled for XPG without its
 * extensions. */
collect_handler *__sysv_signal(int number, collect_handler *handler)
{
	return signals_set_sysv(number, handler);
}

collect_handler *sysv_signal(int number, collect_handler *handler)
{
	return signals_set_sysv(number, handler);
}

collect_handler *sigset(int number, collect_handler *handler)
{
	return signals_set(&real_sigset, number, handler);
}
