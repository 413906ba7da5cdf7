/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with PAPI code keeps it: the event set is made with plain PAPI. Four calls are
 * replaced, so that the counts appear on the topology tree; comments show the calls that were there
 * before. Link it with PAPI and perfsage:
 *
 *     cc 06_papi.c $(pkg-config --cflags --libs perfsage papi) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 */
#include <papi.h>
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 10
#define SIZE  50000

/* Test harnesses understand this status as "can't be tried here". */
#define EXIT_SKIPPED 77

static double data[STEPS + 1][SIZE];

/* The memory is new in each step, so there are page faults to count. */
static void compute(double *row)
{
	for (int i = 1; i < SIZE; i++)
		row[i] = 0.5 * (row[i - 1] + (double)i);
}

/* The codes are PAPI's, but the sentence says more than PAPI_strerror. */
static void check(int code)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n", ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

/* Adds instructions and cycles; page faults and time if PAPI has no counters for them. */
static int add_events(int papi)
{
	if (PAPI_add_named_event(papi, "PAPI_TOT_INS") == PAPI_OK)
		return PAPI_add_named_event(papi, "PAPI_TOT_CYC");
	int code = PAPI_add_named_event(papi, "perf::PAGE-FAULTS");
	return code == PAPI_OK ? PAPI_add_named_event(papi, "perf::TASK-CLOCK") : code;
}

static int create_papi_set(void)
{
	int papi = PAPI_NULL;

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_create_eventset(&papi) != PAPI_OK) {
		fprintf(stderr, "PAPI can't be initialised\n");
		exit(EXIT_FAILURE);
	}
	int code = add_events(papi);
	if (code != PAPI_OK) {
		printf("PAPI can't count here: %s; %s: %s\n", PAPI_strerror(code),
		       PAPI_get_component_info(0)->name,
		       PAPI_get_component_info(0)->disabled_reason);
		exit(EXIT_SKIPPED);
	}
	return papi;
}

int main(void)
{
	struct ps_topology *topology;
	struct ps_eventset *set;
	uint64_t timestamp = 0; /* long long values[2] = {0, 0}; */
	int papi = create_papi_set();

	check(ps_topology_load(&topology, NULL));
	check(ps_eventset_from_papi(&set, papi)); /* new: once for each event set */
	struct ps_component *root = ps_topology_root(topology);

	check(ps_start(set)); /* PAPI_start(papi); */
	for (int step = 0; step < STEPS; step++) {
		compute(data[step]);
		check(ps_accum(set, root, &timestamp, NULL)); /* PAPI_accum(papi, values); */
	}
	check(ps_stop(set, root, &timestamp, NULL)); /* PAPI_stop(papi, values); */

	timestamp = 0;        /* a new reading */
	check(ps_start(set)); /* PAPI_start(papi); */
	compute(data[STEPS]);
	check(ps_read(set, root, &timestamp, NULL)); /* PAPI_read(papi, values); */
	check(ps_stop(set, root, &timestamp, NULL)); /* PAPI_stop(papi, values); */

	printf("The last of %d steps:\n\n", STEPS + 1);
	check(ps_print(root, stdout)); /* new: where it was counted */

	long long values[2] = {0, 0};
	check(ps_eventset_counts(set, 0, values, 2)); /* what PAPI_stop gives */
	printf("%lld %lld\n", values[0], values[1]);

	check(ps_eventset_destroy(set)); /* new; the PAPI set stays as it is */
	ps_topology_destroy(topology);
	PAPI_cleanup_eventset(papi);
	PAPI_destroy_eventset(&papi);
	return data[STEPS][SIZE - 1] > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
