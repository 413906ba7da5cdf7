/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to be counted: not at all, by a plain group, pinned, by groups for each CPU, with the whole process, by migration
 * records. */
#include "means.h"

#include "harness.h"

#include <unistd.h>

static int count_of_events;

static void prepare_none(struct means_state *state, int events)
{
	(void)state;
	count_of_events = events;
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
	count_of_events = events;
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

static int open_migrations(struct means_state *state)
{
	return raw_migrations_open(&state->migrations, count_of_events);
}

static void read_migrations(struct means_state *state)
{
	raw_migrations_read(&state->migrations);
}

static void close_migrations(struct means_state *state)
{
	raw_migrations_close(&state->migrations);
}

const struct means bench_means[MEANS_COUNT] = {
    {"none", prepare_none, open_none, use_none, use_none},
    {"group", prepare_group, open_set, read_set, close_set},
    {"pinned", prepare_auto, open_set, read_set, close_set},
    {"exact", prepare_exact, open_set, read_set, close_set},
    {"process", prepare_auto, open_process, read_set, close_set},
    {"raw_migrations", prepare_none, open_migrations, read_migrations, close_migrations},
};
