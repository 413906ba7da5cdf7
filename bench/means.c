/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to be counted: not at all, by a plain group, pinned, by groups for each CPU, with the whole process, by migration
 * records. */
#include "means.h"

#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <perfsage/hooks.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

static void prepare_none(struct means_state *state, int events)
{
	(void)state;
	(void)events;
}

static int open_none(struct means_state *state)
{
	(void)state;
	return 0;
}

static void use_none(struct means_state *state)
{
	(void)state;
}

static void prepare(struct means_state *state, int events, enum ps_attribution_mode mode)
{
	bench_expect_ok(ps_topology_load(&state->topology, NULL), "ps_topology_load");
	state->model = bench_make_set(events);
	bench_expect_ok(ps_eventset_set_attribution(state->model, mode), "ps_eventset_set_attribution");
}

static void prepare_group(struct means_state *state, int events)
{
	prepare(state, events, PS_ATTRIBUTE_LAST_CPU);
}

static void prepare_auto(struct means_state *state, int events)
{
	prepare(state, events, PS_ATTRIBUTE_AUTO);
}

static void prepare_exact(struct means_state *state, int events)
{
	prepare(state, events, PS_ATTRIBUTE_EXACT);
}

static int open_set(struct means_state *state)
{
	bench_expect_ok(ps_eventset_clone(&state->set, state->model), "ps_eventset_clone");
	bench_expect_ok(ps_start(state->set), "ps_start");
	return 0;
}

/* As many CPUs as migration records are made for. */
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

/* The measured thread is bound, and the library is not to know it. */
static int get_wide_affinity(pid_t tid, size_t size_bytes, cpu_set_t *mask)
{
	(void)tid;
	memset(mask, 0xff, size_bytes);
	return 0;
}

static void prepare_records(struct means_state *state, int events)
{
	struct ps_hooks hooks = *ps_hooks_default();

	hooks.open = open_many_cpus;
	hooks.sched_getaffinity = get_wide_affinity;
	bench_expect_ok(ps_hooks_set(&hooks), "ps_hooks_set");
	prepare(state, events, PS_ATTRIBUTE_AUTO);
}

static int open_records(struct means_state *state)
{
	const char *why;

	open_set(state);
	ps_eventset_attribution(state->set, &why);
	return strstr(why, "migration records") ? 0 : -EACCES;
}

static int open_process(struct means_state *state)
{
	bench_expect_ok(ps_eventset_clone(&state->set, state->model), "ps_eventset_clone");
	bench_expect_ok(ps_eventset_attach_process(state->set, getpid()), "ps_eventset_attach_process");
	bench_expect_ok(ps_start(state->set), "ps_start");
	return 0;
}

static void read_set(struct means_state *state)
{
	bench_expect_ok(ps_read(state->set, ps_topology_root(state->topology), &state->timestamp, NULL), "ps_read");
}

static void close_set(struct means_state *state)
{
	ps_eventset_destroy(state->set);
	state->set = NULL;
	state->timestamp = 0;
}

const struct means bench_means[MEANS_COUNT] = {
    {"none", prepare_none, open_none, use_none, use_none},
    {"group", prepare_group, open_set, read_set, close_set},
    {"pinned", prepare_auto, open_set, read_set, close_set},
    {"exact", prepare_exact, open_set, read_set, close_set},
    {"records", prepare_records, open_records, read_set, close_set},
    {"process", prepare_auto, open_process, read_set, close_set},
};
