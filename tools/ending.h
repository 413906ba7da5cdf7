/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that go if a signal ends perfsage before they are whole. */
#ifndef PS_TOOLS_ENDING_H
#define PS_TOOLS_ENDING_H

#include <signal.h>
#include <stddef.h>

/* The signals that end perfsage while nothing is counted. */
extern const int tool_ending_signals[];
extern const size_t tool_ending_signal_count;

/* Takes the files away, and ends perfsage by the signal. A handler of these signals, which it needs blocked meanwhile. */
void tool_ending_handle(int number);

/* path: stays until it is kept; a few at a time. */
void tool_ending_remove(const char *path);
void tool_ending_keep(const char *path);

#endif
