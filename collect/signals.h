/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The preloaded library hides the collector's signal handler from the program. A program that asks
 * for a signal's action gets the default action, and never calls a handler that it didn't set.
 */
#ifndef PS_COLLECT_SIGNALS_H
#define PS_COLLECT_SIGNALS_H

#include <signal.h>
#include <stdint.h>

typedef void collect_handler(int number);

/* Sets the collector's handler, and the signals for which the handler replaces the program's
 * SIG_DFL: bit N of numbers is signal N. The handler stays hidden, also after a call with numbers
 * 0. The function is NULL if the library is not preloaded. */
__attribute__((weak, visibility("default"))) void ps_preload_hear(collect_handler *handler,
                                                                  uint64_t numbers);

/* True if the program's last action for the signal was SIG_DFL. NULL if not preloaded. */
__attribute__((weak, visibility("default"))) int ps_preload_is_default(int number);

/* The C library's sigaction, which hides nothing. NULL if not preloaded. */
__attribute__((weak, visibility("default"))) int
ps_preload_sigaction(int number, const struct sigaction *action, struct sigaction *before);

static inline struct sigaction collect_signals_action(collect_handler *handler)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	return action;
}

#endif
