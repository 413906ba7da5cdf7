/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts by phase of a program and by place: a sparse solver's phases as regions, in a team of
 * OpenMP threads.
 *
 *     cc -O2 -fopenmp 08_regions.c -o regions $(pkg-config --cflags --libs perfsage) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./regions [ROWS [ROUNDS]]
 *
 * Each thread enters and leaves the regions by itself, in whatever order; it gets an event set of
 * its own at its first region. Regions nest: what "multiply" counts is not in "solve" itself. The
 * program prints the counts of each phase in all, and then those of one phase by NUMA node.
 */
#include <omp.h>
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>

#define DIAGONALS 5

struct solver {
	size_t rows;
	double *matrix, *x, *y;
	struct ps_region *assemble, *solve, *multiply, *reduce;
};

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
	    size > SIZE_MAX / 1024) {
		fprintf(stderr, "usage: %s [ROWS [ROUNDS]]\n", argv[0]);
		exit(EXIT_FAILURE);
	}
	return (size_t)size;
}

/* A thread that can't be counted works on: print_uncounted tells of its visits. */
static void enter(struct ps_region *region)
{
	static _Thread_local int has_complained;
	int code = ps_region_enter(region);

	if (code != PS_OK && !has_complained++)
		fprintf(stderr, "thread %d: ps_region_enter: %s\n    %s\n", omp_get_thread_num(),
		        ps_strerror(code), ps_error_detail());
}

static void assemble(struct solver *s)
{
	enter(s->assemble);
#pragma omp for
	for (size_t row = 0; row < s->rows; row++) {
		for (size_t diagonal = 0; diagonal < DIAGONALS; diagonal++)
			s->matrix[row * DIAGONALS + diagonal] =
			    diagonal == DIAGONALS / 2 ? 4 : -0.5;
		s->x[row] = 1;
		s->y[row] = 0;
	}
	ps_region_leave(s->assemble);
}

static void multiply(struct solver *s)
{
	enter(s->multiply);
#pragma omp for nowait
	for (size_t row = 0; row < s->rows; row++) {
		double sum = 0;
		for (size_t diagonal = 0; diagonal < DIAGONALS; diagonal++)
			sum += s->matrix[row * DIAGONALS + diagonal] *
			       s->x[(row + diagonal * 7) % s->rows];
		s->y[row] = sum;
	}
	ps_region_leave(s->multiply);
}

/* Includes the waiting for other threads. */
static double reduce(struct solver *s)
{
	static double norm;

	enter(s->reduce);
#pragma omp barrier
#pragma omp single
	norm = 0;
#pragma omp for reduction(+ : norm)
	for (size_t row = 0; row < s->rows; row++)
		norm += s->y[row] * s->y[row];
	ps_region_leave(s->reduce);
	return norm;
}

static double run(struct solver *s, size_t rounds)
{
	double norm = 0;

#pragma omp parallel reduction(max : norm)
	{
		assemble(s);
		enter(s->solve);
		for (size_t round = 0; round < rounds; round++) {
			multiply(s);
			norm = reduce(s);
		}
		ps_region_leave(s->solve);
	}
	return norm;
}

static const char *name_of(const struct ps_path *path)
{
	return ps_path_parent(path) ? ps_path_name(path) : "(outside any region)";
}

/* The status says how the number is known. An unknown value has no number, and is not 0. */
static void print_value(const struct ps_value *value)
{
	if (value->status != PS_STATUS_NEVER_SCHEDULED && value->status != PS_STATUS_NOT_SUPPORTED)
		printf("%lld ", value->value);
	printf("(%s)", ps_status_name(value->status));
}

static void print_path(const struct ps_path *path, struct ps_component *root,
                       const struct ps_eventset *model, int depth)
{
	struct ps_visits visits = {.size = sizeof visits};

	check(ps_path_visits(path, &visits), "ps_path_visits");
	printf("%*s%-*s %6llu visits", 2 * depth, "", 24 - 2 * depth, name_of(path),
	       (unsigned long long)visits.count);
	for (size_t event = 0; event < ps_eventset_event_count(model); event++) {
		const char *name = ps_eventset_event_name(model, event);
		struct ps_value value;
		if (ps_path_value(path, root, name, PS_SHARE_EXCLUSIVE, &value) != PS_OK)
			continue;
		printf("  %s ", name);
		print_value(&value);
	}
	printf("\n");
	for (path = ps_path_child(path); path != NULL; path = ps_path_next(path))
		print_path(path, root, model, depth + 1);
}

static void print_places(const struct ps_paths *paths, const char *region,
                         struct ps_component *root, const char *event)
{
	printf("\n%s of '%s' by NUMA node:\n", event, region);
	for (size_t node = 0; node < ps_component_count(root, PS_COMPONENT_NUMA); node++) {
		struct ps_value value;
		int code = ps_paths_region_value(
		    paths, region, ps_component_find(root, PS_COMPONENT_NUMA, (int)node), event,
		    PS_SHARE_INCLUSIVE, &value);
		if (code != PS_OK && code != PS_ENOEVST)
			continue;
		printf("  node %zu: ", node);
		if (code == PS_OK)
			print_value(&value);
		else
			printf("the region never ran there");
		printf("\n");
	}
}

static void print_uncounted(struct ps_profile *profile)
{
	struct ps_profile_faults faults = {.size = sizeof faults};

	check(ps_profile_faults(profile, &faults), "ps_profile_faults");
	if (faults.uncounted)
		printf("\n%llu visits were not counted: %s\n", (unsigned long long)faults.uncounted,
		       faults.uncounted_why ? faults.uncounted_why : "no memory");
}

int main(int argc, char **argv)
{
	struct solver s = {.rows = size_argument(argc, argv, 1, 200000)};
	size_t rounds = size_argument(argc, argv, 2, 20);
	struct ps_topology *topology;
	struct ps_eventset *model;
	struct ps_profile *profile;
	struct ps_paths *paths;

	s.matrix = malloc(s.rows * DIAGONALS * sizeof(double));
	s.x = malloc(s.rows * sizeof(double));
	s.y = malloc(s.rows * sizeof(double));
	if (s.matrix == NULL || s.x == NULL || s.y == NULL) {
		perror("malloc");
		return EXIT_FAILURE;
	}
	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&model), "ps_eventset_create");
	check(ps_eventset_add_default(model), "ps_eventset_add_default");
	struct ps_component *root = ps_topology_root(topology);
	check(ps_profile_create(&profile, model, root), "ps_profile_create");
	check(ps_region_define(&s.assemble, profile, "assemble"), "ps_region_define");
	check(ps_region_define(&s.solve, profile, "solve"), "ps_region_define");
	check(ps_region_define(&s.multiply, profile, "multiply"), "ps_region_define");
	check(ps_region_define(&s.reduce, profile, "reduce"), "ps_region_define");

	double norm = run(&s, rounds);
	printf("%zu rows, %zu rounds, %d threads: %g\n\n", s.rows, rounds, omp_get_max_threads(),
	       norm);
	check(ps_paths_create(&paths, profile), "ps_paths_create");
	print_path(ps_paths_root(paths), root, model, 0);
	print_places(paths, "solve", root, ps_eventset_event_name(model, 0));
	print_uncounted(profile);

	ps_paths_destroy(paths);
	/* The team's threads wait for the next parallel region. None of them is in a ps_region, but
	 * each is still counted. They must leave the profile before it is destroyed. */
#pragma omp parallel
	if (omp_get_thread_num() != 0)
		ps_profile_leave(profile);
	ps_profile_destroy(profile);
	ps_eventset_destroy(model);
	ps_topology_destroy(topology);
	free(s.y);
	free(s.x);
	free(s.matrix);
	return norm > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
