/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What perfsage waits for while it counts: the end of a command or process, a signal, the next interval.
 *
 * Signals are passed on to the command while it runs. So they are held, and read in poll alone; whatever else may take its
 * time meanwhile (a reader of the output, an exec) is waited for by tool_watcher_until. Before the first command is started,
 * and when all is written, they are released: then they end perfsage wherever it is.
 */
#ifndef PS_TOOLS_WATCHER_H
#define PS_TOOLS_WATCHER_H

#include "tools/inheritance.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum tool_news {
	TOOL_NEWS_TICK,    /* the time that was waited for */
	TOOL_NEWS_COMMAND, /* the command has ended */
	TOOL_NEWS_ENDED,   /* all watched processes have, and there is no command */
	TOOL_NEWS_SIGNAL   /* one that ends programs, and there is no command that it is for */
};

struct tool_watcher {
	int signals; /* signalfd */
	struct tool_inheritance inheritance;
	sigset_t ending;     /* the signals that are held */
	pid_t command;       /* 0: none */
	int wait_status;     /* of the command, when it has ended */
	struct rusage usage; /* and of all its children that were waited for */
	int signal;          /* the last one that came */
	bool has_kept;       /* tool_watcher_until met news: the next tool_watcher_wait gives them */
	enum tool_news kept;
	int *processes; /* pidfds of the watched ones; -1: ended */
	size_t process_count;
};

/* Takes the signals, and what else perfsage changes for itself; returns -1 after a complaint. To be called before anything is
 * started. */
int tool_watcher_create(struct tool_watcher *watcher);
void tool_watcher_destroy(struct tool_watcher *watcher);

/* The signals that end programs are held, until they are released. */
void tool_watcher_hold(struct tool_watcher *watcher);
void tool_watcher_release(struct tool_watcher *watcher);

/* Watches processes that aren't perfsage's children. -1 after a complaint. */
int tool_watcher_add(struct tool_watcher *watcher, const pid_t *pids, size_t count);

/* Waits for the next news, until deadline_ns (of CLOCK_MONOTONIC; 0: none) at most. */
enum tool_news tool_watcher_wait(struct tool_watcher *watcher, uint64_t deadline_ns);

/*
 * Waits until poll finds these events at the descriptor; signals that are held are passed on meanwhile. False if one came
 * that ends this wait: there is no command, or it has ended since.
 */
bool tool_watcher_until(struct tool_watcher *watcher, int fd, short events);

uint64_t tool_now_ns(void); /* CLOCK_MONOTONIC */

#endif
