/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest useful program: it counts a region of code, and shows the counts where they
 * happened.
 *
 *     cc -O2 01_count_region.c -o count_region $(pkg-config --cflags --libs perfsage) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./count_region [ELEMENTS [REPEATS]]
 *
 * Look at the Thread lines: these are the hardware threads that this program ran on, and the label
 * says how this is known. With `taskset -c 0 ./count_region` there is one Thread, labelled pinned.
 */
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static size_t size_argument(int argc, char **argv, int index, size_t otherwise)
{
	char *end;

	if (argc <= index)
		return otherwise;
	unsigned long long size = strtoull(argv[index], &end, 10);
	if (argv[index][0] < '0' || argv[index][0] > '9' || *end != '\0' || size == 0 ||
	    size > SIZE_MAX / 64) {
		fprintf(stderr, "usage: %s [ELEMENTS [REPEATS]]\n", argv[0]);
		exit(EXIT_FAILURE);
	}
	return (size_t)size;
}

/* The region: y = a * x + y, the daxpy of BLAS. */
static void daxpy(size_t elements, double a, const double *x, double *y)
{
	for (size_t i = 0; i < elements; i++)
		y[i] += a * x[i];
}

int main(int argc, char **argv)
{
	size_t elements = size_argument(argc, argv, 1, 1000000);
	size_t repeats = size_argument(argc, argv, 2, 20);
	double *x = malloc(elements * sizeof(*x));
	double *y = calloc(elements, sizeof(*y));
	struct ps_topology *topology;
	struct ps_eventset *set;

	if (x == NULL || y == NULL) {
		perror("malloc");
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < elements; i++)
		x[i] = 0.5;

	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&set), "ps_eventset_create");
	check(ps_eventset_add_default(set), "ps_eventset_add_default");

	check(ps_start(set), "ps_start");
	for (size_t repeat = 0; repeat < repeats; repeat++)
		daxpy(elements, 2.0, x, y);
	check(ps_stop(set, ps_topology_root(topology), NULL, NULL), "ps_stop");

	check(ps_print(ps_topology_root(topology), stdout), "ps_print");

	int right = y[0] == (double)repeats && y[elements - 1] == (double)repeats;
	if (!right)
		fprintf(stderr, "daxpy: wrong result\n");

	check(ps_eventset_destroy(set), "ps_eventset_destroy");
	ps_topology_destroy(topology);
	free(y);
	free(x);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
