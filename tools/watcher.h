/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes and signals that perfsage has to do with while it counts: what
 * ends it, what it was given by its parent and changes for itself, what it
 * waits for, and the command that is counted.
 *
 * Signals are passed on to the command while it runs. So they are held, and
 * read in poll alone; whatever else may take its time meanwhile (a reader of
 * the output, an exec) is waited for by tool_watcher_until. Before the first
 * command is started, and when all is written, they are released: then they end
 * perfsage wherever it is.
 */
#ifndef PS_TOOLS_WATCHER_H
#define PS_TOOLS_WATCHER_H

#include "tools/witness.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Files, or folders behind their files, that go if a signal ends perfsage before they are whole.
 * path: stays until it is kept; a few at a time. */
void tool_ending_remove(const char *path);
void tool_ending_keep(const char *path);

#define TOOL_CHANGED_ACTIONS 11

/* What perfsage was given by its parent and changes for itself while it counts:
 * a command gets it as it was. */
struct tool_state {
	sigset_t mask;
	struct sigaction actions[TOOL_CHANGED_ACTIONS];
	struct rlimit descriptors;
};

/*
 * Keeps what is there, and changes it: the signals of `blocked` are blocked;
 * SIGCHLD does nothing, as an ignored one would take the command's status away;
 * a pipe that nobody reads is an error to be said and no reason to leave the
 * command alone; a signal that ends perfsage takes away what it began to write
 * (tool_ending_remove), unless it was ignored, but SIGINT if hears_interrupt; and as many
 * descriptors may be opened as the hard limit permits, since an exact split over many CPUs needs
 * many.
 */
void tool_state_save(struct tool_state *state, const sigset_t *blocked, bool hears_interrupt);

/* Puts it back: in a child that is to be the command, or at the end. Calls only
 * what is safe after fork. */
void tool_state_restore(const struct tool_state *state);

/* The signals that exec would leave ignored though perfsage was not given them
 * so. */
void tool_state_ignored(const struct tool_state *state, sigset_t *out);

enum tool_wakeup {
	TOOL_WAKEUP_TICK,    /* the time that was waited for */
	TOOL_WAKEUP_COMMAND, /* the command has ended */
	TOOL_WAKEUP_ENDED,   /* all watched processes have, and there is no command */
	TOOL_WAKEUP_SIGNAL   /* one that ends programs, and there is no command that it is for */
};

struct tool_watcher {
	int signals; /* signalfd */
	struct tool_state state;
	sigset_t ending;             /* the signals that are held */
	pid_t command;               /* 0: none */
	int wait_status;             /* of the command, when it has ended */
	struct rusage usage;         /* and of all its children that were waited for */
	struct tool_witness witness; /* from the first command on */
	int signal;                  /* the last one that came */
	bool has_kept; /* tool_watcher_until met one: the next tool_watcher_wait returns it */
	enum tool_wakeup kept;
	/* Called before a command is waited for that may have ended: its files in /proc are still
	 * there. NULL: nothing */
	void (*before_end)(void *context);
	void *context;
	int *processes; /* pidfds of the watched ones; -1: ended */
	size_t process_count;
};

/* Takes the signals, and what else perfsage changes for itself; returns -1
 * after a complaint. To be called before anything is started. hears_interrupt:
 * SIGINT also if the parent ignored it, as a shell does for what a script starts
 * with "&". */
int tool_watcher_create(struct tool_watcher *watcher, bool hears_interrupt);
void tool_watcher_destroy(struct tool_watcher *watcher);

/* The number of watched processes that have ended. */
size_t tool_watcher_count_ended(const struct tool_watcher *watcher);

/* The signals that end programs are held, until they are released. */
void tool_watcher_hold(struct tool_watcher *watcher);
void tool_watcher_release(struct tool_watcher *watcher);

/* Watches processes that aren't perfsage's children. Numbers that no process has move to the end of
 * the array, after a complaint, and *count is then that of the others. -1 after a complaint, also
 * if none is there. */
int tool_watcher_add(struct tool_watcher *watcher, pid_t *pids, size_t *count);

/* Waits until there is something to do, at most until deadline_ns
 * (CLOCK_MONOTONIC; 0: none). */
enum tool_wakeup tool_watcher_wait(struct tool_watcher *watcher, uint64_t deadline_ns);

/*
 * Waits until poll finds these events at the descriptor; signals that are held
 * are passed on meanwhile. False if one came that ends this wait: there is no
 * command, or it has ended since.
 */
bool tool_watcher_until(struct tool_watcher *watcher, int fd, short events);

/* launch.c: a command that is to be counted is forked at once, so that events
 * can be opened for it, and let go by an exec. */
struct tool_launch {
	pid_t pid;
	int go;      /* a byte in here lets the child go on; closing it ends the child */
	int failure; /* what the child says: 0 when it waits, errno if its exec failed */
};

/* Forks a child, and returns when it waits. argv: the command, NULL-terminated. watcher: what the
 * command is to get as perfsage got it; it gets its witness. Returns -1 after a complaint. */
int tool_launch_create(struct tool_launch *launch, char **argv, struct tool_watcher *watcher);

/*
 * Lets the child run the command, and makes it the watcher's. 0; or, after a
 * complaint, the exit status that says why it can't be run: the child is then
 * gone.
 */
int tool_launch_go(struct tool_launch *launch, char **argv, struct tool_watcher *watcher);

/* Ends a child that still waits, and takes its status. */
void tool_launch_cancel(struct tool_launch *launch);

/* Is there a file of this name in the folders of PATH that can be accessed so
 * (access(2): F_OK, X_OK)? */
bool tool_launch_finds(const char *name, int mode);

/* program.c: why the loader would preload nothing into a command, as the end of a sentence that
 * begins with it; NULL if nothing is known that prevents it. */
const char *tool_program_find_deafness(const char *name);

/* The exit status of a command, as shells have it, from what waitpid gave. */
int tool_launch_status(int wait_status);
/* The exit status of perfsage that this end of waiting means. */
int tool_watcher_status(const struct tool_watcher *watcher, enum tool_wakeup wakeup);

#endif
