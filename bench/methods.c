/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to count a thread: not at all, by a plain group, pinned, by per-CPU groups, by migration
 * records, with the whole process, by reading at intervals, with a control group, by BPF. */
#include "methods.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <perfsage/hooks.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void prepare_none(struct method_state *state, int events)
{
	(void)state;
	(void)events;
}

static int open_none(struct method_state *state)
{
	(void)state;
	return 0;
}

static void use_none(struct method_state *state)
{
	(void)state;
}

static void method_prepare(struct method_state *state, int events, enum ps_attribution_mode mode)
{
	bench_expect_ok(ps_topology_load(&state->topology, NULL), "ps_topology_load");
	state->model = bench_make_set(events);
	bench_expect_ok(ps_eventset_set_attribution(state->model, mode),
	                "ps_eventset_set_attribution");
}

static void prepare_group(struct method_state *state, int events)
{
	method_prepare(state, events, PS_ATTRIBUTE_LAST_CPU);
}

static void prepare_auto(struct method_state *state, int events)
{
	method_prepare(state, events, PS_ATTRIBUTE_AUTO);
}

static void prepare_exact(struct method_state *state, int events)
{
	method_prepare(state, events, PS_ATTRIBUTE_EXACT);
}

static int open_set(struct method_state *state)
{
	bench_expect_ok(ps_eventset_clone(&state->set, state->model), "ps_eventset_clone");
	bench_expect_ok(ps_start(state->set), "ps_start");
	return 0;
}

/* Pretends that there are 8 CPUs, enough for migration records to be chosen. */
static int open_many_cpus(const char *path, int flags)
{
	static const char many[] = "0-7\n";
	int ends[2];

	if (strcmp(path, "/sys/devices/system/cpu/present") != 0)
		return ps_hooks_default()->open(path, flags);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	if (write(ends[1], many, strlen(many)) < 0)
		bench_die("write to a pipe: %s", strerror(errno));
	close(ends[1]);
	return ends[0];
}

/* Hides from the library that the measured thread is bound. */
static int get_wide_affinity(pid_t tid, size_t size_bytes, cpu_set_t *mask)
{
	(void)tid;
	memset(mask, 0xff, size_bytes);
	return 0;
}

static void prepare_records(struct method_state *state, int events)
{
	struct ps_hooks hooks = *ps_hooks_default();

	hooks.open = open_many_cpus;
	hooks.sched_getaffinity = get_wide_affinity;
	bench_expect_ok(ps_hooks_set(&hooks), "ps_hooks_set");
	method_prepare(state, events, PS_ATTRIBUTE_AUTO);
}

static int open_records(struct method_state *state)
{
	const char *why;

	open_set(state);
	ps_eventset_attribution(state->set, &why);
	return strstr(why, "migration records") ? 0 : -EACCES;
}

static int open_process(struct method_state *state)
{
	bench_expect_ok(ps_eventset_clone(&state->set, state->model), "ps_eventset_clone");
	bench_expect_ok(ps_eventset_attach_process(state->set, getpid()),
	                "ps_eventset_attach_process");
	bench_expect_ok(ps_start(state->set), "ps_start");
	return 0;
}

static void prepare_looks(struct method_state *state, int events)
{
	method_prepare(state, events, PS_ATTRIBUTE_LOOKS);
}

static void prepare_bpf(struct method_state *state, int events)
{
	method_prepare(state, events, PS_ATTRIBUTE_BPF);
}

static int open_bpf(struct method_state *state)
{
	bench_expect_ok(ps_eventset_clone(&state->set, state->model), "ps_eventset_clone");
	bench_expect_ok(ps_eventset_attach_process(state->set, getpid()),
	                "ps_eventset_attach_process");
	return ps_start(state->set) == PS_OK ? 0 : -EPERM;
}

/* Finds the cgroup hierarchy that perf uses. Returns false if none is mounted. */
static bool find_hierarchy(char *point, size_t size_bytes)
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

static bool name_cgroup(pid_t pid, char *path, size_t size_bytes)
{
	char point[256];

	if (!find_hierarchy(point, sizeof point))
		return false;
	snprintf(path, size_bytes, "%s/perfsage-bench-%d", point, (int)pid);
	return true;
}

static char cgroup[512]; /* "": this process could not make one */

/* Moves this process, but not the outsider, into a control group of its own. */
static void prepare_cgroup(struct method_state *state, int events)
{
	char procs[600];

	method_prepare(state, events, PS_ATTRIBUTE_AUTO);
	if (!name_cgroup(getpid(), cgroup, sizeof cgroup) || mkdir(cgroup, 0755) < 0) {
		*cgroup = '\0';
		return;
	}
	snprintf(procs, sizeof procs, "%s/cgroup.procs", cgroup);
	int fd = open(procs, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		bench_die("%s: %s", procs, strerror(errno));
	close(fd);
}

static int open_cgroup(struct method_state *state)
{
	if (!*cgroup)
		return -ENOENT;
	bench_expect_ok(ps_eventset_clone(&state->set, state->model), "ps_eventset_clone");
	bench_expect_ok(ps_eventset_attach_cgroup(state->set, cgroup), "ps_eventset_attach_cgroup");
	return ps_start(state->set) == PS_OK ? 0 : -EACCES;
}

/* Removes the control group; retries, because tasks that end stay in it for a moment. */
static void remove_cgroup(pid_t pid)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	char path[512];

	if (!name_cgroup(pid, path, sizeof path))
		return;
	for (int attempt = 0; attempt < 1000 && rmdir(path) < 0 && errno == EBUSY; attempt++)
		nanosleep(&moment, NULL);
}

static void read_set(struct method_state *state)
{
	bench_expect_ok(
	    ps_read(state->set, ps_topology_root(state->topology), &state->timestamp, NULL),
	    "ps_read");
}

static void close_set(struct method_state *state)
{
	ps_eventset_destroy(state->set);
	state->set = NULL;
	state->timestamp = 0;
}

const struct method bench_methods[METHOD_COUNT] = {
    {"none", prepare_none, open_none, use_none, use_none, NULL, false},
    {"group", prepare_group, open_set, read_set, close_set, NULL, false},
    {"pinned", prepare_auto, open_set, read_set, close_set, NULL, false},
    {"exact", prepare_exact, open_set, read_set, close_set, NULL, false},
    {"records", prepare_records, open_records, read_set, close_set, NULL, false},
    {"process", prepare_auto, open_process, read_set, close_set, NULL, false},
    {"looks", prepare_looks, open_process, read_set, close_set, NULL, false},
    {"cgroup", prepare_cgroup, open_cgroup, read_set, close_set, remove_cgroup, false},
    {"bpf", prepare_bpf, open_bpf, read_set, close_set, NULL, true},
};
