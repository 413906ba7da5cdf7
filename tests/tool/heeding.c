/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with marks that looks at a signal's action before it changes it, as it's asked to. It
 * ends with 3 if it finds something that nobody but perfsage can have set. */
#include "touch.h"

#include <perfsage/marks.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The C library warns of sigset and vfork, which programs call all the same. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define PAGES   100
#define STRANGE 3

/* Declared by the C library or not, according to its age and to the standard. */
typedef void handler(int number);
handler *sigset(int number, handler *action);
handler *ssignal(int number, handler *action);
handler *bsd_signal(int number, handler *action);
handler *sysv_signal(int number, handler *action);

static volatile sig_atomic_t handled;
static struct sigaction earlier;

static void handle(int number)
{
	handled = number;
}

/* Hands the signal on to the handler that was there. */
static void chain(int number)
{
	handled = number;
	if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
		earlier.sa_handler(number);
}

static int is_default(int number)
{
	struct sigaction now;

	memset(&now, 0xff, sizeof now);
	if (sigaction(number, NULL, &now) < 0 || now.sa_handler != SIG_DFL || now.sa_flags)
		return 0;
	for (int member = 1; member < 32; member++) {
		if (sigismember(&now.sa_mask, member))
			return 0;
	}
	return 1;
}

static int work_chained(void)
{
	const struct sigaction action = {.sa_handler = chain};

	sigaction(SIGTERM, &action, &earlier);
	raise(SIGTERM);
	return handled == SIGTERM ? 0 : STRANGE;
}

static int look_at_all(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGALRM};

	for (size_t index = 0; index < sizeof numbers / sizeof numbers[0]; index++) {
		if (!is_default(numbers[index]))
			return STRANGE;
	}
	return 0;
}

/* Each call tells what was set by the one before. */
static int set_in_all_ways(void)
{
	static handler *(*const ways[])(int, handler *) = {signal, ssignal, bsd_signal, sysv_signal,
	                                                   sigset};
	int right = 1;

	for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
		right &= ways[way](SIGTERM, handle) == SIG_DFL;
		right &= ways[way](SIGTERM, SIG_IGN) == handle;
		right &= ways[way](SIGTERM, SIG_DFL) == SIG_IGN;
		right &= ways[way](SIGTERM, SIG_DFL) == SIG_DFL;
	}
	return right ? 0 : STRANGE;
}

static int end_child(pid_t child)
{
	int status = 0;

	return waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	               WTERMSIG(status) == SIGTERM
	           ? 0
	           : STRANGE;
}

static int work_with_children(void)
{
	pid_t child = fork();

	if (child == 0) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
		_exit(0);
	}
	if (end_child(child) != 0)
		return STRANGE;
	child = vfork();
	if (child == 0) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
		_exit(0);
	}
	return end_child(child);
}

static void reset(const char *how)
{
	const struct sigaction action = {.sa_handler = handle};

	sigaction(SIGTERM, &action, &earlier);
	raise(SIGTERM);
	if (strcmp(how, "restored") == 0)
		sigaction(SIGTERM, &earlier, NULL);
	if (strcmp(how, "signal") == 0)
		signal(SIGTERM, SIG_DFL);
	if (strcmp(how, "sysv") == 0)
		sysv_signal(SIGTERM, SIG_DFL);
	if (strcmp(how, "sigset") == 0)
		sigset(SIGTERM, SIG_DFL);
	raise(SIGTERM);
}

/* heeding chained|all|ways|children|restored|signal|sysv|sigset|ignored */
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	PS_REGION("r")
	{
		touch(PAGES);
	}
	if (strcmp(how, "chained") == 0)
		return work_chained();
	if (strcmp(how, "all") == 0)
		return look_at_all();
	if (strcmp(how, "ways") == 0)
		return set_in_all_ways();
	if (strcmp(how, "ignored") == 0)
		return raise(SIGTERM) == 0 && signal(SIGTERM, SIG_DFL) == SIG_IGN ? raise(SIGTERM)
		                                                                  : STRANGE;
	if (strcmp(how, "children") == 0) {
		if (work_with_children() != 0)
			return STRANGE;
		how = "signal";
	}
	reset(how);
	return 0;
}
