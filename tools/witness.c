/* SPDX-License-Identifier: BSD-3-Clause */
/* The witness blocks all signals, and reads those that it gets from a signalfd. */
#include "tools/witness.h"

#include "base/os.h"
#include "tools/processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* A sender that signals processes one by one reaches the witness within this time. */
#define GRACE_MS 20
#define SAME_NS  100000000u

/* Answers questions. A question is a signal's number; the answer tells whether the signal came
 * since the last question about it. Ends when the socket is closed, at the latest with perfsage. */
static _Noreturn void witness_answer(int socket, int signals)
{
	bool came[NSIG] = {false};
	unsigned char number;

	while (recv(socket, &number, 1, 0) == 1) {
		struct signalfd_siginfo info;
		while (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
			came[info.ssi_signo % NSIG] = true;
		unsigned char answer = came[number % NSIG];
		came[number % NSIG] = false;
		send(socket, &answer, 1, MSG_NOSIGNAL);
	}
	_exit(0);
}

static void witness_fork(struct tool_witness *witness, int sockets[2], int signals)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NAME, "perfsage-group");
		close(sockets[0]);
		witness_answer(sockets[1], signals);
	}
	if (pid > 0)
		*witness = (struct tool_witness){.pid = pid, .socket = sockets[0]};
	else
		close(sockets[0]);
}

void tool_witness_create(struct tool_witness *witness)
{
	int sockets[2];
	sigset_t all, before;

	sigfillset(&all);
	if (witness->pid || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return;
	int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	/* Block signals before the fork, so that the witness never receives one unblocked. */
	sigprocmask(SIG_SETMASK, &all, &before);
	if (signals >= 0)
		witness_fork(witness, sockets, signals);
	else
		close(sockets[0]);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(sockets[1]);
	if (signals >= 0)
		close(signals);
}

void tool_witness_destroy(struct tool_witness *witness)
{
	if (!witness->pid)
		return;
	close(witness->socket);
	tool_process_reap(witness->pid);
	witness->pid = 0;
}

static bool witness_ask(const struct tool_witness *witness, int number)
{
	unsigned char byte = (unsigned char)number;

	return send(witness->socket, &byte, 1, MSG_NOSIGNAL) == 1 &&
	       recv(witness->socket, &byte, 1, 0) == 1 && byte;
}

bool tool_witness_saw(struct tool_witness *witness, int number, bool is_of_kernel)
{
	if (!witness->pid)
		return is_of_kernel;
	bool saw = witness_ask(witness, number);
	if (!saw && witness->last == number && ps__os_now_ns() - witness->last_ns < SAME_NS)
		return true;
	if (!saw && !is_of_kernel) {
		poll(NULL, 0, GRACE_MS);
		saw = witness_ask(witness, number);
	}
	if (saw) {
		witness->last = number;
		witness->last_ns = ps__os_now_ns();
	}
	return saw;
}
