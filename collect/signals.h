/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library keeps the collector's handler of signals out of the program's sight: a
 * program that looks at a signal finds the default action, and calls no handler that it didn't set.
 */
#ifndef PS_COLLECT_SIGNALS_H
#define PS_COLLECT_SIGNALS_H

#include <signal.h>
#include <stdint.h>

typedef void collect_handler(int number);

/* Sets the collector's handler, and the signals for which it replaces SIG_DFL when the program sets
 * that: bit N of numbers is signal N. The handler stays hidden, also after a call with no signals.
 * NULL where the library is not preloaded. */
__attribute__((weak, visibility("default"))) void ps_preload_hear(collect_handler *handler,
                                                                  uint64_t numbers);

/* True if the program itself has set SIG_DFL for the signal since. NULL as above. */
__attribute__((weak, visibility("default"))) int ps_preload_is_default(int number);

/* The C library's sigaction, which hides nothing. NULL as above. */
__attribute__((weak, visibility("default"))) int
ps_preload_sigaction(int number, const struct sigaction *action, struct sigaction *before);

static inline struct sigaction collect_signals_action(collect_handler *handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	return action;
}

#endif
