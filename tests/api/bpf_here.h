/* SPDX-License-Identifier: BSD-3-Clause */
/* The tests of attribution by BPF need this of the machine that they run on: whether it can be had,
 * and a process that is busy. */
#ifndef PS_TESTS_BPF_HERE_H
#define PS_TESTS_BPF_HERE_H

#include "wander.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process touches a page after the other, on any CPU, and counts them here. */
static _Atomic long long *touched;

static inline pid_t start_toucher(void)
{
	struct wander_work work;

	touched =
	    mmap(NULL, sizeof *touched, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(touched != MAP_FAILED);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	while (pid == 0) {
		wander_create(&work, 256);
		for (int i = 0; i < 256; i++) {
			work.pages[(size_t)i * work.page_bytes] = 1;
			atomic_fetch_add(touched, 1);
		}
		wander_destroy(&work);
	}
	while (atomic_load(touched) < 256)
		sched_yield();
	return pid;
}

static inline void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static inline struct ps_eventset *attach(enum ps_attribution_mode mode, pid_t pid)
{
	struct ps_eventset *set = NULL;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, WANDER_EVENT));
	check_ok(ps_eventset_set_attribution(set, mode));
	check_ok(ps_eventset_attach_process(set, pid));
	return set;
}

/* NULL, or why BPF can't be had here: then it is in words to act on, and nothing is left. */
static inline const char *obstacle(void)
{
	static char reason[1024];
	size_t before = here_count_descriptors();
	struct ps_eventset *set = attach(PS_ATTRIBUTE_BPF, getpid());
	int result = ps_start(set);

	snprintf(reason, sizeof reason, "%s", ps_error_detail());
	if (result != PS_OK) {
		ck_assert_msg(strstr(reason, "BPF") || strstr(reason, "all tasks of a CPU"), "%s",
		              reason);
		ck_assert_msg(result == PS_EPERM || result == PS_ENOSUPP || result == PS_ECOUNT,
		              "%d: %s", result, reason);
	}
	ps_eventset_destroy(set);
	ck_assert_uint_eq(here_count_descriptors(), before);
	return result == PS_OK ? NULL : reason;
}

/* False, with the reason said, where the method can't be had. */
#define bpf_is_possible() (wander_is_possible() && ps_test_may_run(obstacle()))

#endif
