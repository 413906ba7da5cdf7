/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures marks (<perfsage/marks.h>): a loop of marks without a listener, beside the same loop
 * without marks, and beside marks that a profile receives. Without a listener a mark must cost at
 * most 1.5 ns more than the empty loop.
 */
#include "counted.h"
#include "harness.h"

#include <perfsage/marks.h>

#define BATCH  1000000
#define HEARD  2000
#define ROUNDS 50

static double run_empty(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		bench_keep(context);
	return bench_now_ns() - start;
}

/* One mark per call. */
static double run_value(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		PS_MARK_VALUE("call", call);
		bench_keep(context);
	}
	return bench_now_ns() - start;
}

/* One region per call: a begin mark and an end mark. */
static double run_region(void *context, unsigned calls)
{
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		PS_REGION("region")
		{
			bench_keep(context);
		}
	}
	return bench_now_ns() - start;
}

static void measure_unheard(void)
{
	static const struct bench_case cases[] = {
	    {.name = "empty_loop", .run = run_empty},
	    {.name = "value_unheard", .run = run_value, .versus = {"empty_loop"}},
	    {.name = "region_unheard", .run = run_region, .versus = {"empty_loop"}},
	};
	const struct bench_table table = {.title = "marks that nobody hears",
	                                  .rounds = ROUNDS,
	                                  .batch = BATCH,
	                                  .cases = cases,
	                                  .count = sizeof cases / sizeof *cases};

	bench_run(&table);
}

static void measure_heard(void)
{
	static const struct bench_case cases[] = {
	    {.name = "region_heard", .events = 1, .run = run_region},
	};
	const struct bench_table table = {.title = "marks that a profile hears",
	                                  .rounds = ROUNDS,
	                                  .batch = HEARD,
	                                  .cases = cases,
	                                  .count = sizeof cases / sizeof *cases};
	struct ps_topology *topology;
	struct ps_eventset *model;
	struct ps_profile *profile;

	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	bench_expect_ok(ps_eventset_create(&model), "ps_eventset_create");
	bench_expect_ok(ps_eventset_add(model, "page-faults:u"), "ps_eventset_add");
	bench_expect_ok(ps_profile_create(&profile, model, ps_topology_root(topology)),
	                "ps_profile_create");
	bench_expect_ok(ps_profile_join(profile), "ps_profile_join");
	bench_expect_ok(ps_profile_listen(profile), "ps_profile_listen");
	bench_run(&table);
	ps_profile_destroy(profile);
	ps_eventset_destroy(model);
	ps_topology_destroy(topology);
}

int main(int argc, char **argv)
{
	bench_begin(argc, argv);
	measure_unheard();
	measure_heard();
	return 0;
}
