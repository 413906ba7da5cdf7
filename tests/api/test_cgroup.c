/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control group on the real kernel: child processes in it touch known numbers of pages on known
 * CPUs. It makes a group below the root of the hierarchy, which takes privileges, and removes it.
 * Sees the installed header and the shared library alone.
 */
#include "wander.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[512], name[64];

/* Where the hierarchy that perf knows is mounted; false: nowhere. */
static bool find_mount(char *point, size_t size_bytes)
{
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	bool is_v1 = false;
	struct mntent *mount;

	*point = '\0';
	while (mounts && !is_v1 && (mount = getmntent(mounts))) {
		is_v1 = !strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, "perf_event");
		if (is_v1 || (!strcmp(mount->mnt_type, "cgroup2") && !*point))
			snprintf(point, size_bytes, "%s", mount->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return *point;
}

static const char *make_cgroup(void)
{
	static char reason[640];
	char point[256];

	if (!find_mount(point, sizeof(point)))
		return "no hierarchy of control groups that perf knows is mounted";
	snprintf(name, sizeof(name), "perfsage-test-%d", (int)getpid());
	snprintf(folder, sizeof(folder), "%s/%s", point, name);
	if (mkdir(folder, 0755) == 0)
		return NULL;
	snprintf(reason, sizeof(reason), "no control group can be made: mkdir %s: %s", folder,
	         strerror(errno));
	return reason;
}

static void remove_cgroup(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	/* A task that was waited for may still be on its way out. */
	for (int i = 0; i < 1000 && rmdir(folder) < 0 && errno == EBUSY; i++)
		nanosleep(&moment, NULL);
	ck_assert_msg(access(folder, F_OK) < 0, "%s is left", folder);
}

/* In the child; 0 or not. */
static int join_cgroup(void)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/cgroup.procs", folder);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		return -1;
	close(fd);
	return 0;
}

/* A process in the group, or outside of it; with so many pages on each of two CPUs. */
static void run_child(bool joins, size_t first, size_t second)
{
	struct wander_work work;
	int status = 1;
	pid_t pid;

	wander_create(&work, first + second + 2);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (joins && join_cgroup() < 0)
			_exit(1);
		wander_move(wander_cpu(0));
		wander_touch(&work, first);
		wander_move(wander_cpu(1));
		wander_touch(&work, second);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	wander_destroy(&work);
}

struct counts {
	long long first, second;
};

/* Three child processes, one after the other. */
static struct counts count_children(const char *path, bool joins, size_t first, size_t second)
{
	struct ps_topology *topology = NULL;
	struct ps_eventset *set = NULL;
	long long residual = -1;
	uint64_t timestamp = 0;

	check_ok(ps_topology_load(&topology, NULL));
	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, WANDER_EVENT));
	check_ok(ps_eventset_attach_cgroup(set, path));
	check_ok(ps_start(set));
	ck_assert_int_eq((int)ps_eventset_attribution(set, NULL), PS_ATTRIBUTION_EXACT);
	for (int i = 0; i < 3; i++)
		run_child(joins, first, second);
	check_ok(ps_stop(set, ps_topology_root(topology), &timestamp, NULL));
	check_ok(ps_eventset_check(set, &residual, 1));
	ck_assert_int_eq(residual, 0);
	struct counts counts = {
	    wander_part(topology, wander_cpu(0), timestamp, PS_ATTRIBUTION_EXACT),
	    wander_part(topology, wander_cpu(1), timestamp, PS_ATTRIBUTION_EXACT)};
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	return counts;
}

/* NULL, or why this user can't count a control group. */
static const char *obstacle(void)
{
	static char reason[512];
	struct ps_eventset *set = NULL;
	int result;

	check_ok(ps_eventset_create(&set));
	check_ok(ps_eventset_add(set, WANDER_EVENT));
	result = ps_eventset_attach_cgroup(set, folder);
	if (result == PS_OK)
		result = ps_start(set);
	snprintf(reason, sizeof(reason), "%s", ps_error_detail());
	ps_eventset_destroy(set);
	/* ENOENT is also what a kernel without them for this hierarchy says. */
	return result == PS_OK ? NULL : reason;
}

START_TEST(known_work_of_child_processes_is_split_by_cpu)
{
	struct counts few, many, none;
	const char *reason;

	if (!wander_is_possible())
		return;
	reason = make_cgroup();
	if (!ps_test_may_run(reason))
		return;
	reason = obstacle();
	if (reason) {
		remove_cgroup();
		ps_test_skip(reason);
		return;
	}
	/* A child has page faults of its own, always about as many: what is known is the
	 * difference. */
	few = count_children(folder, true, 0, 0);
	many = count_children(name, true, 1000, 10);
	none = count_children(name, false, 1000, 10);
	printf("%lld and %lld page faults with 3000 and 30 touched, %lld and %lld without\n",
	       many.first, many.second, few.first, few.second);
	ck_assert_int_ge(many.first, 3000);
	ck_assert_int_le(many.first, 3000 + few.first + few.second + 60);
	ck_assert_int_ge(many.second, 30);
	ck_assert_int_le(many.second, 30 + few.first + few.second + 60);
	ck_assert_int_eq(none.first + none.second, 0);
	remove_cgroup();
}
END_TEST

static void add(TCase *tests)
{
	tcase_add_test(tests, known_work_of_child_processes_is_split_by_cpu);
}

int main(void)
{
	return wander_run("control groups", add, NULL);
}
