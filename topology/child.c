/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child process for work that may crash. It does not disturb the program: the child runs no
 * signal handlers or atexit functions, leaves no core dump, and writes no message to stderr. The
 * parent waits for no other child.
 */
#include "topology/child.h"

#include "base/advice.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_SECONDS   15  /* of CPU time: other programs' work is not the file's fault */
#define WAIT_SECONDS    120 /* of elapsed time: a child that sleeps uses no CPU time */
#define LIMIT_MEGABYTES 1024
#define SLICE_MS        50

/* The child answers in one write(2) of fewer bytes than PIPE_BUF, so the whole
 * answer or nothing arrives. */
struct answer {
	int code;
	char detail[1024];
};

/* Limits a resource to amount, or to the program's own limit if that is
 * lower. */
static void child_limit(int resource, rlim_t amount)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > amount)
		limit.rlim_cur = amount;
	setrlimit((__rlimit_resource_t)resource, &limit);
}

/* Limits the memory that the child allocates in addition to the copy of the program, which may be
 * large: terabytes with a sanitizer. Sets no limit without /proc. */
static void child_limit_memory(void)
{
	char text[64];

	if (ps__os_read_file("/proc/self/statm", text, sizeof text) < 0)
		return;
	unsigned long long pages = strtoull(text, NULL, 10);
	child_limit(RLIMIT_AS, (rlim_t)(pages * (unsigned long long)sysconf(_SC_PAGESIZE)) +
	                           ((rlim_t)LIMIT_MEGABYTES << 20));
}

static void child_leave_the_program_alone(int pipe_fd)
{
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t none;
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &standard, NULL);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core dump */
	if (nowhere >= 0 && pipe_fd != STDERR_FILENO)
		dup2(nowhere, STDERR_FILENO); /* hides last messages of malloc and hwloc */
	alarm(WAIT_SECONDS);
	child_limit(RLIMIT_CPU, LIMIT_SECONDS); /* a child's use begins at 0 */
	child_limit_memory();
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void child_main(int (*work)(void *context), void *context, int fd) __attribute__((noreturn));
static void child_main(int (*work)(void *context), void *context, int fd)
{
	struct answer answer = {0};

	child_leave_the_program_alone(fd);
	answer.code = work(context);
	snprintf(answer.detail, sizeof answer.detail, "%s", ps_error_detail());
	_exit(write(fd, &answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
}

/* Forks with signals blocked, because no handler of the program may run in the child before
 * child_leave_the_program_alone. No other thread holds hwloc's own locks: fork waits for
 * PS__LOCK_HWLOC (base/lock.h). */
static pid_t child_fork_without_signals(void)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	int error = errno;
	if (pid != 0)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

static bool child_receive(int fd, struct answer *answer, int timeout_ms)
{
	struct pollfd waiting = {.fd = fd, .events = POLLIN};

	return poll(&waiting, 1, timeout_ms) == 1 && (waiting.revents & POLLIN) &&
	       read(fd, answer, sizeof *answer) == (ssize_t)sizeof *answer;
}

/*
 * Waits for the answer, or for the child's end. The end of the pipe doesn't show the child's end:
 * another thread may have forked meanwhile, and then its child holds the pipe open. *status stays 0
 * if the program reaps all its children itself.
 */
static bool child_await(pid_t pid, int fd, struct answer *answer, int *status)
{
	*status = 0;
	for (;;) {
		bool received = child_receive(fd, answer, SLICE_MS);
		pid_t ended = waitpid(pid, status, received ? 0 : WNOHANG);
		while (received && ended < 0 && errno == EINTR)
			ended = waitpid(pid, status, 0);
		if (received)
			return true;
		if (ended == pid || (ended < 0 && errno == ECHILD))
			return child_receive(fd, answer, 0);
	}
}

static int child_result(bool received, const struct answer *answer, int status, const char *subject)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (received && answer->code == PS_OK)
		return PS_OK;
	if (received && answer->code == PS_ENOMEM)
		return ps__fail(PS_ENOMEM, "%s (%s may take %d MB)", answer->detail, subject,
		                LIMIT_MEGABYTES);
	if (received)
		return ps__fail(answer->code, "%s", answer->detail);
	if (number == SIGALRM || number == SIGXCPU)
		return ps__fail(
		    PS_EINVAL,
		    "%s is damaged or too large: hwloc was not done with it after %d s of %stime",
		    subject, number == SIGXCPU ? LIMIT_SECONDS : WAIT_SECONDS,
		    number == SIGXCPU ? "CPU " : "");
	return ps__fail(PS_EINVAL,
	                "%s makes hwloc crash%s%s%s: it is damaged, or needs more than %d MB",
	                subject, number ? " (" : "", number ? strsignal(number) : "",
	                number ? ")" : "", LIMIT_MEGABYTES);
}

int ps__child_run(int (*work)(void *context), void *context, const char *subject)
{
	struct answer answer;
	int ends[2], status;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return ps__fail(errno == EMFILE || errno == ENFILE ? PS_ECOUNT : PS_ESYS,
		                "%s is read in a child process first, and pipe2 failed: %s%s",
		                subject, strerror(errno),
		                errno == EMFILE   ? ": " PS__ADVICE_DESCRIPTORS
		                : errno == ENFILE ? ": " PS__ADVICE_FILES
		                                  : "");
	pid_t pid = child_fork_without_signals();
	if (pid == 0)
		child_main(work, context, ends[1]);
	int error = errno;
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return ps__fail(PS_ESYS,
		                "%s is read in a child process first, and fork failed: %s (see "
		                "ulimit -u, the cgroup's pids.max and vm.overcommit_memory)",
		                subject, strerror(error));
	}
	bool received = child_await(pid, ends[0], &answer, &status);
	close(ends[0]);
	return child_result(received, &answer, status, subject);
}
