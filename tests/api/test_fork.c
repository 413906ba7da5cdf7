/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child process that inherited sets by fork, on the real kernel: it lets go of its copies of the
 * descriptors, without a trace in the parent's counts, and of nothing else. Sees the installed
 * header and the shared library alone.
 */
#include "wander.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIGHEST_FD       1024
#define MOST_BREAKPOINTS 64

static int count_descriptors(void)
{
	int count = 0;

	for (int fd = 0; fd < HIGHEST_FD; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* What the child found; 0 if all was right. */
static int wait_for(pid_t child)
{
	int status = -1;

	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* _i: of the calling thread; attached to it by its tid, and to its process. */
static struct ps_eventset *start_set(int kind)
{
	struct ps_eventset *set = wander_set(PS_ATTRIBUTE_AUTO, 16);

	if (kind == 1)
		check_ok(ps_eventset_attach_tid(set, getpid()));
	if (kind == 2)
		check_ok(ps_eventset_attach_process(set, getpid()));
	check_ok(ps_start(set));
	return set;
}

START_TEST(a_child_that_destroys_its_copy_closes_all_and_the_parent_counts_on)
{
	struct ps_topology *topology = NULL;
	struct wander_work work;
	struct ps_value total;

	if (!wander_is_possible())
		return;
	check_ok(ps_topology_load(&topology, NULL));
	wander_create(&work, 200);
	int before = count_descriptors();
	struct ps_eventset *set = start_set(_i);
	ck_assert_int_gt(count_descriptors(), before);
	wander_touch(&work, 100);
	pid_t child = fork();
	if (child == 0) {
		ps_eventset_destroy(set);
		_exit(count_descriptors() == before ? 0 : 1);
	}
	ck_assert_int_eq(wait_for(child), 0);
	wander_touch(&work, 100);
	check_ok(ps_stop(set, ps_topology_root(topology), NULL, NULL));
	check_ok(ps_component_total(ps_topology_root(topology), WANDER_EVENT, &total));
	ck_assert_int_ge(total.value, 200);
	ps_eventset_destroy(set);
	ck_assert_int_eq(count_descriptors(), before);
	wander_destroy(&work);
	ps_topology_destroy(topology);
}
END_TEST

/* As daemons do. */
static void put_others_in_their_place(int first_free)
{
	for (int fd = first_free; fd < HIGHEST_FD; fd++)
		close(fd);
	for (int fd = first_free; fd < first_free + 64; fd++) {
		if (open("/dev/null", O_RDONLY) != fd)
			_exit(2);
	}
}

START_TEST(a_number_that_is_the_childs_own_by_now_is_left_alone)
{
	if (!wander_is_possible())
		return;
	int first_free = dup(0);
	ck_assert_int_ge(first_free, 0);
	close(first_free);
	struct ps_eventset *set = start_set(_i);
	pid_t child = fork();
	if (child == 0) {
		put_others_in_their_place(first_free);
		int before = count_descriptors();
		ps_eventset_destroy(set);
		_exit(count_descriptors() == before ? 0 : 1);
	}
	ck_assert_int_eq(wait_for(child), 0);
	ps_eventset_destroy(set);
}
END_TEST

/* Sets of a breakpoint each, until there is no register left. The last one is started, too, if that
 * is right. */
struct breakpoints {
	struct ps_eventset *sets[MOST_BREAKPOINTS];
	size_t count;
	int code; /* of the one that failed */
};

static void take_breakpoints(struct breakpoints *taken)
{
	static volatile long target;
	char name[64];

	*taken = (struct breakpoints){.code = PS_OK};
	snprintf(name, sizeof(name), "mem:%#lx/8:w", (unsigned long)(uintptr_t)&target);
	while (taken->code == PS_OK && taken->count < MOST_BREAKPOINTS) {
		struct ps_eventset *set;
		check_ok(ps_eventset_create(&set));
		check_ok(ps_eventset_set_attribution(set, PS_ATTRIBUTE_LAST_CPU));
		taken->code = ps_eventset_add(set, name);
		if (taken->code == PS_OK)
			taken->code = ps_start(set);
		if (taken->code == PS_OK)
			taken->sets[taken->count++] = set;
		else
			ps_eventset_destroy(set);
	}
}

static void release_breakpoints(struct breakpoints *taken)
{
	while (taken->count)
		ps_eventset_destroy(taken->sets[--taken->count]);
}

/* A child with copies of them, which lives until the write end of the pipe is closed. */
static pid_t fork_holder(struct breakpoints *taken, bool destroys, int *release)
{
	int ready[2], ends[2];
	char byte;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(ends), 0);
	pid_t child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (destroys)
			release_breakpoints(taken);
		close(ready[1]);
		close(ends[1]);
		int failed = read(ends[0], &byte, 1) != 0;
		release_breakpoints(taken);
		_exit(failed);
	}
	close(ready[1]);
	close(ends[0]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	*release = ends[1];
	return child;
}

/* _i: the child calls ps_eventset_destroy. */
START_TEST(breakpoints_are_free_when_parent_and_child_have_destroyed_their_sets)
{
	struct breakpoints first, again;
	int release;

	take_breakpoints(&first);
	if (first.count == 0 || first.code != PS_ENOCNTR) {
		ps_test_skip(first.count ? "there are more breakpoints than can be taken"
		                         : ps_error_detail());
		release_breakpoints(&first);
		return;
	}
	size_t count = first.count;
	pid_t child = fork_holder(&first, _i, &release);
	release_breakpoints(&first);
	take_breakpoints(&again);
	ck_assert_int_eq(again.code, PS_ENOCNTR);
	ck_assert_ptr_nonnull(strstr(ps_error_detail(), "forked child"));
	ck_assert_uint_eq(again.count, _i ? count : 0);
	release_breakpoints(&again);
	close(release);
	ck_assert_int_eq(wait_for(child), 0);
	take_breakpoints(&again);
	ck_assert_uint_eq(again.count, count);
	release_breakpoints(&again);
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_loop_test(
	    tests, a_child_that_destroys_its_copy_closes_all_and_the_parent_counts_on, 0, 3);
	tcase_add_loop_test(tests, a_number_that_is_the_childs_own_by_now_is_left_alone, 0, 3);
	tcase_add_loop_test(
	    tests, breakpoints_are_free_when_parent_and_child_have_destroyed_their_sets, 0, 2);
}

static void add_with_records(TCase *tests)
{
	tcase_add_test(tests, a_child_that_destroys_its_copy_closes_all_and_the_parent_counts_on);
	tcase_add_test(tests, a_number_that_is_the_childs_own_by_now_is_left_alone);
}

int main(void)
{
	return wander_run("a child of fork", add, add_with_records);
}
