/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes and signals that matter while perfsage counts: the signals that end it, the state
 * that it inherited and changes, the processes it waits for, and the command that is counted.
 *
 * While the command runs, signals are passed on to it. So they are held, and are read only in poll.
 * Everything else that may block meanwhile (a reader of the output, an exec) is waited for by
 * tool_watcher_until. Before the first command starts, and after all output is written, signals are
 * released: they then end perfsage at once.
 */
#ifndef PS_TOOLS_WATCHER_H
#define PS_TOOLS_WATCHER_H

#include "tools/witness.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Registers a file, or a folder whose files are registered before it, to be removed if a signal
 * ends perfsage before tool_ending_keep is called. path must stay valid until then. Only a few can
 * be registered at a time. */
void tool_ending_remove(const char *path);
void tool_ending_keep(const char *path);

#define TOOL_CHANGED_ACTIONS 11

/* The state of perfsage that it inherited and changes while it counts. A command gets the inherited
 * state. */
struct tool_state {
	sigset_t mask;
	struct sigaction actions[TOOL_CHANGED_ACTIONS];
	struct rlimit descriptors;
};

/* Restores the state, in a child before it runs the command, or at the end. Calls only functions
 * that are safe after fork. */
void tool_state_restore(const struct tool_state *state);

/* Returns the signals that are ignored now, but were not ignored when perfsage started. An exec
 * would keep them ignored. */
void tool_state_ignored(const struct tool_state *state, sigset_t *out);

enum tool_wakeup {
	TOOL_WAKEUP_TICK,    /* the deadline was reached */
	TOOL_WAKEUP_COMMAND, /* the command has ended */
	TOOL_WAKEUP_ENDED,   /* all watched processes have ended, and there is no command */
	TOOL_WAKEUP_SIGNAL   /* a signal that ends programs, and there is no command to pass it
	                      * to */
};

struct tool_watcher {
	int signals; /* signalfd */
	struct tool_state state;
	sigset_t ending;             /* the signals to hold */
	pid_t command;               /* 0: none */
	int wait_status;             /* the command's status after it ended */
	struct rusage usage;         /* of the command and all its children that were waited for */
	struct tool_witness witness; /* from the first command on */
	int signal;                  /* the latest signal that ends programs; 0: none */
	bool has_kept; /* tool_watcher_until received a wakeup that the next tool_watcher_wait
	                * returns */
	enum tool_wakeup kept;
	bool has_complained; /* the command couldn't be sent a signal */
	/* Called before the watcher waits for a command that may have ended, while the command's
	 * files in /proc still exist. May be NULL */
	void (*before_end)(void *context);
	void *context;
	int *processes; /* pidfds of the watched processes; -1: ended */
	size_t process_count;
};

/* Takes over the signals and the state. Must be called before anything is started. hears_interrupt:
 * handle SIGINT even if the parent ignored it, as a shell does for commands that a script starts
 * with "&". Returns -1 after a complaint. */
int tool_watcher_create(struct tool_watcher *watcher, bool hears_interrupt);
void tool_watcher_destroy(struct tool_watcher *watcher);

/* Returns the number of watched processes that have ended. */
size_t tool_watcher_count_ended(const struct tool_watcher *watcher);

/* Hold the signals that end programs, and release them. */
void tool_watcher_hold(struct tool_watcher *watcher);
void tool_watcher_release(struct tool_watcher *watcher);

/* Takes a signal of these that is held, and that no command got. Returns its number; 0: none. */
int tool_watcher_take_ending(struct tool_watcher *watcher);

/* watcher_processes.c: watches processes that aren't perfsage's children. Complains about pids that
 * don't exist, moves them to the array's end, and sets *count to the number of the others. Returns
 * -1 after a complaint; having no process left is one reason. */
int tool_watcher_add(struct tool_watcher *watcher, pid_t *pids, size_t *count);

/* Waits for a wakeup, until deadline_ns at the latest (CLOCK_MONOTONIC; 0: no deadline). */
enum tool_wakeup tool_watcher_wait(struct tool_watcher *watcher, uint64_t deadline_ns);

/* Called when the time is up. Asks the command to end. Returns true if there is a command to wait
 * for. */
bool tool_watcher_end_by_timeout(struct tool_watcher *watcher);

/*
 * Waits until poll reports these events on the descriptor. Signals that are held are passed on
 * meanwhile. Returns false if a signal came and there is no command, or it has ended meanwhile.
 */
bool tool_watcher_until(struct tool_watcher *watcher, int fd, short events);

/* launch.c: forks a command that is to be counted. Events can be opened for the child before an
 * exec starts the command. */
struct tool_launch {
	pid_t pid;
	int go;      /* writing a byte lets the child run the command; closing ends the child */
	int failure; /* the child's messages: 0 when it waits, errno if its exec failed */
};

/* Forks a child and returns when the child waits. argv: the command, NULL-terminated. watcher: its
 * saved state is restored in the child, and a witness is made for it. Holds signals, because the
 * child must start with signals held; the caller releases them. Returns -1 after a complaint. */
int tool_launch_create(struct tool_launch *launch, char **argv, struct tool_watcher *watcher);

/*
 * Lets the child run the command, which becomes watcher->command. Returns 0. If the command can't
 * be run, complains, reaps the child and returns the exit status for this failure.
 */
int tool_launch_go(struct tool_launch *launch, char **argv, struct tool_watcher *watcher);

/* Ends a child that still waits, and reaps it. */
void tool_launch_cancel(struct tool_launch *launch);

/* program.c: finds the first file of this name in the folders of PATH that access(2) allows (mode:
 * F_OK, X_OK). False if there is none. */
bool tool_program_find(const char *name, int mode, char file[PATH_MAX]);

/* Returns why nothing can be preloaded into a command, as a phrase that follows its
 * name; NULL if no reason is known. */
const char *tool_program_find_obstacle(const char *name);

/* Returns the exit status that a shell gives for a status from waitpid. */
int tool_launch_status(int wait_status);
/* Returns perfsage's exit status for the wakeup that ended the counting. */
int tool_watcher_status(const struct tool_watcher *watcher, enum tool_wakeup wakeup);

#endif
