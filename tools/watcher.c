/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for signals, processes and descriptors, in one poll. Held signals are read from a signalfd,
 * so they interrupt nothing. Signals that were ignored when perfsage started (nohup) stay ignored.
 */
#include "tools/watcher.h"

#include "base/os.h"
#include "tools/terminal.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_FILES 8

/* Signals that end perfsage when it isn't counting. */
static const int ending_signals[] = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT,
                                     SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF};
#define ENDING_SIGNALS (sizeof ending_signals / sizeof ending_signals[0])

/* Paths of files to remove; read by the signal handler, which runs in the same thread. */
static const char *_Atomic files[MOST_FILES];
static _Atomic pid_t owner; /* perfsage's pid: a child that the library forks inherits the handler,
                             * but must not remove files */

/* Signal handler: removes the files and ends perfsage by the signal. All signals of ending_signals
 * are blocked while the handler runs. */
static void watcher_handle_ending(int number)
{
	for (size_t index = 0; index < MOST_FILES; index++) {
		const char *path = atomic_load(&files[index]);
		if (path && getpid() == atomic_load(&owner) && unlink(path) < 0)
			rmdir(path);
	}
	/* The raised signal is delivered when the handler returns. */
	signal(number, SIG_DFL);
	raise(number);
}

void tool_ending_remove(const char *path)
{
	atomic_store(&owner, getpid());
	for (size_t index = 0; index < MOST_FILES; index++) {
		if (!atomic_load(&files[index])) {
			atomic_store(&files[index], path);
			return;
		}
	}
}

void tool_ending_keep(const char *path)
{
	for (size_t index = 0; index < MOST_FILES; index++) {
		if (atomic_load(&files[index]) == path)
			atomic_store(&files[index], NULL);
	}
}

/* Signals whose actions are changed. The signals that end perfsage follow the first three. */
static const int changed[TOOL_CHANGED_ACTIONS] = {SIGCHLD, SIGPIPE,   SIGXFSZ, SIGINT,
                                                  SIGTERM, SIGHUP,    SIGQUIT, SIGXCPU,
                                                  SIGALRM, SIGVTALRM, SIGPROF};

/* True for signals that report a failed write. They are ignored, and perfsage reports the failure
 * itself. */
static bool watcher_is_of_a_write(int number)
{
	return number == SIGPIPE || number == SIGXFSZ;
}

static void watcher_take_actions(struct tool_state *state, bool hears_interrupt)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct sigaction ignored = {.sa_handler = SIG_IGN};
	struct sigaction ending = {.sa_handler = watcher_handle_ending};

	for (size_t index = 0; index < ENDING_SIGNALS; index++)
		sigaddset(&ending.sa_mask, ending_signals[index]);
	for (size_t index = 0; index < TOOL_CHANGED_ACTIONS; index++) {
		struct sigaction *present = &state->actions[index];
		sigaction(changed[index], NULL, present);
		if (changed[index] == SIGCHLD)
			sigaction(SIGCHLD, &by_default, NULL);
		else if (watcher_is_of_a_write(changed[index]))
			sigaction(changed[index], &ignored, NULL);
		else if (present->sa_handler != SIG_IGN ||
		         (hears_interrupt && changed[index] == SIGINT))
			sigaction(changed[index], &ending, NULL);
	}
}

/*
 * Saves the state and changes it. Blocks the signals in `blocked`. Gives SIGCHLD its default
 * action, because an ignored SIGCHLD would discard the command's status. Ignores SIGPIPE and
 * SIGXFSZ, so that a failed write is an error and perfsage doesn't abandon the command. Lets the
 * signals that end perfsage remove its unfinished files (tool_ending_remove), except for ignored
 * signals. hears_interrupt: SIGINT does so even if it was ignored. Raises the limit of descriptors
 * to the hard limit, because an exact split over many CPUs needs many.
 */
static void watcher_save_state(struct tool_state *state, const sigset_t *blocked,
                               bool hears_interrupt)
{
	sigprocmask(SIG_BLOCK, blocked, &state->mask);
	watcher_take_actions(state, hears_interrupt);
	if (getrlimit(RLIMIT_NOFILE, &state->descriptors) == 0) {
		struct rlimit most = {.rlim_cur = state->descriptors.rlim_max,
		                      .rlim_max = state->descriptors.rlim_max};
		setrlimit(RLIMIT_NOFILE, &most);
	}
}

void tool_state_restore(const struct tool_state *state)
{
	setrlimit(RLIMIT_NOFILE, &state->descriptors);
	for (size_t index = 0; index < TOOL_CHANGED_ACTIONS; index++)
		sigaction(changed[index], &state->actions[index], NULL);
	sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

void tool_state_ignored(const struct tool_state *state, sigset_t *out)
{
	sigemptyset(out);
	for (size_t index = 0; index < TOOL_CHANGED_ACTIONS; index++) {
		if (watcher_is_of_a_write(changed[index]) &&
		    state->actions[index].sa_handler != SIG_IGN)
			sigaddset(out, changed[index]);
	}
}

/* Adds the signals that are not ignored. */
static void watcher_add_signals(sigset_t *set, const int *signals, size_t count)
{
	for (size_t index = 0; index < count; index++) {
		struct sigaction present;
		if (sigaction(signals[index], NULL, &present) == 0 && present.sa_handler != SIG_IGN)
			sigaddset(set, signals[index]);
	}
}

int tool_watcher_create(struct tool_watcher *watcher, bool hears_interrupt)
{
	/* These signals don't end perfsage, so they stay blocked until they are read. */
	static const int to_command[] = {SIGUSR1, SIGUSR2};
	sigset_t all, blocked;

	*watcher = (struct tool_watcher){.signals = -1};
	sigemptyset(&watcher->ending);
	watcher_add_signals(&watcher->ending, ending_signals, ENDING_SIGNALS);
	if (hears_interrupt)
		sigaddset(&watcher->ending, SIGINT);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGCHLD);
	watcher_add_signals(&blocked, to_command, sizeof to_command / sizeof to_command[0]);
	sigorset(&all, &blocked, &watcher->ending);
	watcher_save_state(&watcher->state, &blocked, hears_interrupt);
	watcher->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watcher->signals < 0)
		return tool_complain("signalfd: %s", strerror(errno));
	return 0;
}

size_t tool_watcher_count_ended(const struct tool_watcher *watcher)
{
	size_t ended = 0;

	for (size_t index = 0; index < watcher->process_count; index++)
		ended += watcher->processes[index] < 0;
	return ended;
}

/* Sends the command a signal. Complains, once, if that isn't permitted: the command may run as
 * another user. */
static void watcher_signal_command(struct tool_watcher *watcher, int number)
{
	if (kill(watcher->command, number) == 0 || watcher->has_complained)
		return;
	int error = errno;
	watcher->has_complained = true;
	tool_complain("process %d, the command, can't be sent signal %d (%s): %s: perfsage waits "
	              "until it ends",
	              (int)watcher->command, number, strsignal(number), strerror(error));
}

bool tool_watcher_end_by_timeout(struct tool_watcher *watcher)
{
	if (watcher->command)
		watcher_signal_command(watcher, SIGTERM);
	return watcher->command != 0;
}

void tool_watcher_hold(struct tool_watcher *watcher)
{
	sigprocmask(SIG_BLOCK, &watcher->ending, NULL);
}

void tool_watcher_release(struct tool_watcher *watcher)
{
	sigset_t released = watcher->ending;

	/* Signals that perfsage's parent blocked stay blocked. */
	for (size_t index = 0; index < ENDING_SIGNALS; index++) {
		if (sigismember(&watcher->state.mask, ending_signals[index]) == 1)
			sigdelset(&released, ending_signals[index]);
	}
	sigprocmask(SIG_UNBLOCK, &released, NULL);
}

int tool_watcher_take_ending(struct tool_watcher *watcher)
{
	const struct timespec at_once = {0};
	int number = sigtimedwait(&watcher->ending, NULL, &at_once);

	if (number <= 0)
		return 0;
	watcher->signal = number;
	return number;
}

void tool_watcher_destroy(struct tool_watcher *watcher)
{
	for (size_t index = 0; index < watcher->process_count; index++) {
		if (watcher->processes[index] >= 0)
			close(watcher->processes[index]);
	}
	ps__os_free(watcher->processes);
	tool_witness_destroy(&watcher->witness);
	if (watcher->signals >= 0)
		close(watcher->signals);
	tool_state_restore(&watcher->state);
}

/* True for signals of alarm(2) and setitimer(2), which survive an exec: `perl -e 'alarm 9; exec
 * @ARGV' perfsage ...`. */
static bool watcher_is_of_a_clock(uint32_t number)
{
	return number == SIGALRM || number == SIGVTALRM || number == SIGPROF;
}

/* True if the command needs no copy of the signal. Either the whole process group got it, and the
 * command is still in the group; or it reports that perfsage exceeded its own limit of CPU time. */
static bool watcher_has_command_got(struct tool_watcher *watcher,
                                    const struct signalfd_siginfo *info)
{
	bool is_of_kernel = info->ssi_code == SI_KERNEL;

	if (is_of_kernel && watcher_is_of_a_clock(info->ssi_signo))
		return false;
	if (is_of_kernel && info->ssi_signo == SIGXCPU)
		return true;
	return tool_witness_saw(&watcher->witness, (int)info->ssi_signo, is_of_kernel) &&
	       getpgid(watcher->command) == getpgrp();
}

static bool watcher_take_command(struct tool_watcher *watcher)
{
	pid_t got;

	if (watcher->before_end)
		watcher->before_end(watcher->context);
	do {
		got = wait4(watcher->command, &watcher->wait_status, WNOHANG, &watcher->usage);
	} while (got < 0 && errno == EINTR);
	if (got != watcher->command)
		return false;
	watcher->command = 0;
	return true;
}

/* Reads one signal and handles it. Returns true if the signal ends the wait. */
static bool watcher_take_signal(struct tool_watcher *watcher, enum tool_wakeup *wakeup)
{
	struct signalfd_siginfo info;

	if (read(watcher->signals, &info, sizeof info) != (ssize_t)sizeof info)
		return false;
	if (info.ssi_signo == SIGCHLD) {
		*wakeup = TOOL_WAKEUP_COMMAND;
		return watcher->command && watcher_take_command(watcher);
	}
	/* SIGUSR1 and SIGUSR2, which a batch system sends to the command, don't end perfsage. */
	if (!watcher->command || (info.ssi_signo != SIGUSR1 && info.ssi_signo != SIGUSR2))
		watcher->signal = (int)info.ssi_signo;
	if (watcher->command) {
		if (!watcher_has_command_got(watcher, &info))
			watcher_signal_command(watcher, (int)info.ssi_signo);
		/* Look for the command's end here, too: SIGCHLD may be hidden by endless other
		 * signals. */
		*wakeup = TOOL_WAKEUP_COMMAND;
		return watcher_take_command(watcher);
	}
	*wakeup = TOOL_WAKEUP_SIGNAL;
	return true;
}

/* Closes the pidfds that poll found readable. True if no watched process is left. */
static bool watcher_take_ends(struct tool_watcher *watcher, const struct pollfd *fds)
{
	bool is_any_left = false;
	bool has_ended = false;

	for (size_t index = 0; index < watcher->process_count; index++) {
		if (watcher->processes[index] >= 0 && fds[index].revents) {
			close(watcher->processes[index]);
			watcher->processes[index] = -1;
			has_ended = true;
		}
		is_any_left |= watcher->processes[index] >= 0;
	}
	return has_ended && !is_any_left;
}

static int watcher_milliseconds_until(uint64_t deadline_ns)
{
	uint64_t now = ps__os_now_ns();

	if (deadline_ns == 0)
		return -1;
	if (now >= deadline_ns)
		return 0;
	uint64_t left = (deadline_ns - now + 999999) / 1000000;
	return left > 1000000 ? 1000000 : (int)left;
}

/* Keeps a wakeup for later. The end of the command replaces any wakeup that was kept before. */
static void watcher_keep_wakeup(struct tool_watcher *watcher, enum tool_wakeup wakeup)
{
	if (!watcher->has_kept || wakeup == TOOL_WAKEUP_COMMAND)
		watcher->kept = wakeup;
	watcher->has_kept = true;
}

bool tool_watcher_until(struct tool_watcher *watcher, int fd, short events)
{
	struct pollfd fds[] = {{.fd = watcher->signals, .events = POLLIN},
	                       {.fd = fd, .events = events}};
	int before = watcher->signal;
	enum tool_wakeup wakeup;

	watcher->signal = 0;
	for (;;) {
		int ready = poll(fds, 2, -1);
		/* A descriptor that is ready wins over any signal. */
		if (ready > 0 && fds[1].revents)
			break;
		if (ready > 0 && watcher_take_signal(watcher, &wakeup))
			watcher_keep_wakeup(watcher, wakeup);
		if (watcher->signal && !watcher->command)
			return false;
	}
	watcher->signal = watcher->signal ? watcher->signal : before;
	return true;
}

enum tool_wakeup tool_watcher_wait(struct tool_watcher *watcher, uint64_t deadline_ns)
{
	struct pollfd fds[1 + watcher->process_count];
	enum tool_wakeup wakeup = TOOL_WAKEUP_TICK;

	if (watcher->has_kept) {
		watcher->has_kept = false;
		return watcher->kept;
	}
	for (;;) {
		fds[0] = (struct pollfd){.fd = watcher->signals, .events = POLLIN};
		for (size_t index = 0; index < watcher->process_count; index++)
			fds[1 + index] =
			    (struct pollfd){.fd = watcher->processes[index], .events = POLLIN};
		int ready =
		    poll(fds, 1 + watcher->process_count, watcher_milliseconds_until(deadline_ns));
		if (ready > 0 && fds[0].revents && watcher_take_signal(watcher, &wakeup))
			return wakeup;
		/* If there is a command, only its end ends the counting. */
		if (ready > 0 && watcher_take_ends(watcher, fds + 1) && !watcher->command)
			return TOOL_WAKEUP_ENDED;
		if (deadline_ns && ps__os_now_ns() >= deadline_ns)
			return TOOL_WAKEUP_TICK;
	}
}
