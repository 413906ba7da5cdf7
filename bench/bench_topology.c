/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads topologies. Compares this with hwloc's own loading of the same machine, which is a part of
 * it. */
#include "harness.h"

#include <hwloc.h>
#include <perfsage.h>
#include <stdio.h>

#define SHAPES 5

struct shape {
	const char *description; /* NULL: this machine */
	unsigned rounds;
};

static double run_ours(void *context, unsigned calls)
{
	const struct shape *shape = context;
	double time_ns = 0;

	for (unsigned call = 0; call < calls; call++) {
		struct ps_topology *topology;
		double start = bench_now_ns();
		int result = shape->description
		                 ? ps_topology_load_synthetic(&topology, shape->description)
		                 : ps_topology_load(&topology, NULL);
		time_ns += bench_now_ns() - start;
		bench_expect_ok(result, "ps_topology_load");
		ps_topology_destroy(topology);
	}
	return time_ns;
}

static double load_hwloc(const struct shape *shape, unsigned long flags)
{
	hwloc_topology_t topology;
	double start = bench_now_ns();
	int result = hwloc_topology_init(&topology);

	if (result == 0 && shape->description)
		result = hwloc_topology_set_synthetic(topology, shape->description);
	if (result == 0)
		result = hwloc_topology_set_flags(topology, flags);
	if (result == 0)
		result = hwloc_topology_load(topology);
	double time_ns = bench_now_ns() - start;
	if (result != 0)
		bench_die("hwloc can't load %s",
		          shape->description ? shape->description : "this machine");
	hwloc_topology_destroy(topology);
	return time_ns;
}

static double run_hwloc(void *context, unsigned calls)
{
	double time_ns = 0;

	for (unsigned call = 0; call < calls; call++)
		time_ns += load_hwloc(context, 0);
	return time_ns;
}

#if HWLOC_API_VERSION >= 0x00020800
#define LEAN_FLAGS HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS
#else
#define LEAN_FLAGS 0
#endif

/* Loads only what perfsage asks hwloc for. */
static double run_hwloc_lean(void *context, unsigned calls)
{
	double time_ns = 0;

	for (unsigned call = 0; call < calls; call++)
		time_ns += load_hwloc(context, LEAN_FLAGS);
	return time_ns;
}

static int count_threads(const struct shape *shape)
{
	struct ps_topology *topology;
	int result = shape->description ? ps_topology_load_synthetic(&topology, shape->description)
	                                : ps_topology_load(&topology, NULL);

	bench_expect_ok(result, "ps_topology_load");
	int count = (int)ps_component_thread_count(ps_topology_root(topology));
	ps_topology_destroy(topology);
	return count;
}

int main(int argc, char **argv)
{
	static struct shape shapes[SHAPES] = {
	    {NULL, 100},
	    {"pack:1 core:2 pu:1", 200},
	    {"pack:2 core:16 pu:2", 200},
	    {"pack:4 core:64 pu:2", 100},
	    {"pack:4 core:512 pu:2", 12},
	};

	bench_begin(argc, argv);
	for (struct shape *shape = shapes; shape < shapes + SHAPES; shape++) {
		int pus = count_threads(shape);
		const struct bench_case cases[] = {
		    {.name = "hwloc_load", .pus = pus, .run = run_hwloc, .context = shape},
		    {.name = "hwloc_load_lean",
		     .pus = pus,
		     .run = run_hwloc_lean,
		     .context = shape,
		     .versus = {"hwloc_load"}},
		    {.name = "ps_topology_load",
		     .pus = pus,
		     .run = run_ours,
		     .context = shape,
		     .versus = {"hwloc_load", "hwloc_load_lean"}},
		};
		char title[80];
		snprintf(title, sizeof title, "Loading the topology of %s",
		         shape->description ? shape->description : "this machine");
		bench_run(&(struct bench_table){.title = title,
		                                .rounds = shape->rounds,
		                                .batch = 1,
		                                .cases = cases,
		                                .count = 3});
	}
	return 0;
}
