/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command under a seccomp filter that answers a system call with an errno, as the profiles
 * of containers do: perf_event_open, or sched_getaffinity.
 *
 *     filtered EPERM|ENOSYS [sched_getaffinity] COMMAND [ARGUMENTS]
 *
 * Ends with 77 if the kernel takes no filter.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int install(unsigned call, unsigned error)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[1], "EPERM") != 0 && strcmp(argv[1], "ENOSYS") != 0)) {
		fprintf(stderr,
		        "usage: filtered EPERM|ENOSYS [sched_getaffinity] COMMAND [ARGUMENTS]\n");
		return 2;
	}
	bool is_affinity = argc > 3 && strcmp(argv[2], "sched_getaffinity") == 0;
	char **command = argv + (is_affinity ? 3 : 2);
	if (install(is_affinity ? SYS_sched_getaffinity : SYS_perf_event_open,
	            strcmp(argv[1], "EPERM") == 0 ? EPERM : ENOSYS) < 0) {
		perror("filtered: seccomp");
		return 77;
	}
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}
