/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A team of OpenMP threads: each counts its own part of the STREAM triad, all in one tree.
 *
 *     cc -O2 -fopenmp 02_openmp_triad.c -o triad $(pkg-config --cflags --libs perfsage) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./triad [ELEMENTS [REPEATS]]
 *
 * A set counts the thread that starts it, so each thread has a set of its own, a clone of one
 * model. It belongs to the thread, and not to the number in the team: OpenMP may end threads when a
 * team shrinks, and create others when it grows again. A set of an ended thread doesn't count the
 * new one, and says so. Threads that OpenMP doesn't bind are bound here, one to each CPU that the
 * process may use; then the labels in the tree say pinned. Look at the Core, Package and NUMA node
 * lines: they are the sums over the Threads below them. With OMP_PROC_BIND=false the threads may
 * move; the labels say how their places are known then.
 */
#define _GNU_SOURCE 1 /* sched_setaffinity, CPU_SET */
#include <omp.h>
#include <perfsage.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define SCALAR 3.0

struct triad {
	size_t elements, repeats;
	double *a, *b, *c;
	struct ps_component *root;
	const struct ps_eventset *model;
	cpu_set_t cpus; /* the CPUs that this process may use; empty: OpenMP does the binding */
};

static int check(int code, const char *call)
{
	if (code != PS_OK)
		fprintf(stderr, "thread %d: %s: %s\n    %s\n", omp_get_thread_num(), call,
		        ps_strerror(code), ps_error_detail());
	return code == PS_PARTIAL ? PS_OK : code; /* the other counts are right */
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

/* Returns the CPUs to bind to; none if the user or OpenMP does the binding. */
static void cpus_to_bind(cpu_set_t *cpus)
{
	CPU_ZERO(cpus);
	if (getenv("OMP_PROC_BIND") != NULL || omp_get_proc_bind() != omp_proc_bind_false)
		return;
	if (sched_getaffinity(0, sizeof(*cpus), cpus) != 0) {
		perror("sched_getaffinity: threads are left unbound");
		CPU_ZERO(cpus);
	}
}

/* Binds the calling thread to the nth of the CPUs, starting over after the
 * last. */
static void bind_to(const cpu_set_t *cpus, int nth)
{
	cpu_set_t one;

	if (CPU_COUNT(cpus) == 0)
		return;
	nth %= CPU_COUNT(cpus);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, cpus) || nth-- > 0)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) != 0)
			perror("sched_setaffinity: a thread is left unbound");
		return;
	}
}

/* The calling thread's set. It is destroyed when the thread ends; main destroys the first
 * thread's. */
static pthread_key_t own_set;

static void end_set(void *set)
{
	ps_eventset_destroy(set);
}

/* Returns the thread's set, which counts from the thread's first region on. NULL on an error. */
static struct ps_eventset *find_own_set(const struct ps_eventset *model)
{
	struct ps_eventset *set = pthread_getspecific(own_set);

	if (set != NULL || check(ps_eventset_clone(&set, model), "ps_eventset_clone") != PS_OK)
		return set;
	if (check(ps_start(set), "ps_start") != PS_OK || pthread_setspecific(own_set, set) != 0) {
		ps_eventset_destroy(set);
		return NULL;
	}
	return set;
}

/* The counted code: this thread's part of the triad. */
static void triad_part(const struct triad *t, size_t begin, size_t end)
{
	for (size_t repeat = 0; repeat < t->repeats; repeat++)
		for (size_t i = begin; i < end; i++)
			t->a[i] = t->b[i] + SCALAR * t->c[i];
}

/* Runs in each thread of the team. Returns the number of errors. A thread must not leave the team
 * early, because the others would wait for it. */
static int run_part(const struct triad *t)
{
	size_t team = (size_t)omp_get_num_threads(), me = (size_t)omp_get_thread_num();
	size_t begin = t->elements / team * me;
	size_t end = me + 1 == team ? t->elements : begin + t->elements / team;

	/* Bind before the memory is first touched, so that it is placed on the NUMA node where it
	 * is used. */
	bind_to(&t->cpus, (int)me);
	for (size_t i = begin; i < end; i++) {
		t->a[i] = 0.0;
		t->b[i] = 1.0;
		t->c[i] = 2.0;
	}

	struct ps_eventset *set = find_own_set(t->model);
	int code = set != NULL ? PS_OK : PS_EMISC;
#pragma omp barrier
	/* Forget what the thread did since its last region, and add this region to its reading. */
	if (code == PS_OK)
		code = check(ps_reset(set), "ps_reset");
	triad_part(t, begin, end);
	if (code == PS_OK)
		code = check(ps_accum(set, t->root, NULL, NULL), "ps_accum");
	return code != PS_OK;
}

static int run(struct triad *t)
{
	int errors = 0;

#pragma omp parallel reduction(+ : errors)
	errors += run_part(t);

	for (size_t i = 0; i < t->elements; i++)
		if (t->a[i] != 1.0 + SCALAR * 2.0) {
			fprintf(stderr, "triad: a[%zu] is %g, not %g\n", i, t->a[i],
			        1.0 + SCALAR * 2.0);
			return errors + 1;
		}
	return errors;
}

int main(int argc, char **argv)
{
	struct triad t = {.elements = size_argument(argc, argv, 1, 1000000),
	                  .repeats = size_argument(argc, argv, 2, 20)};
	struct ps_topology *topology;
	struct ps_eventset *model;

	t.a = malloc(t.elements * sizeof(double));
	t.b = malloc(t.elements * sizeof(double));
	t.c = malloc(t.elements * sizeof(double));
	if (t.a == NULL || t.b == NULL || t.c == NULL) {
		perror("malloc");
		return EXIT_FAILURE;
	}
	if (check(ps_topology_load(&topology, NULL), "ps_topology_load") != PS_OK ||
	    check(ps_eventset_create(&model), "ps_eventset_create") != PS_OK ||
	    check(ps_eventset_add_default(model), "ps_eventset_add_default") != PS_OK)
		return EXIT_FAILURE;
	t.root = ps_topology_root(topology);
	t.model = model;
	cpus_to_bind(&t.cpus);
	if (pthread_key_create(&own_set, end_set) != 0) {
		fprintf(stderr, "pthread_key_create: no key is left\n");
		return EXIT_FAILURE;
	}

	printf("STREAM triad: %zu elements, %zu times, %d threads\n\n", t.elements, t.repeats,
	       omp_get_max_threads());
	int errors = run(&t);
	errors += check(ps_print(t.root, stdout), "ps_print") != PS_OK;

	end_set(pthread_getspecific(own_set));
	ps_eventset_destroy(model);
	ps_topology_destroy(topology);
	free(t.c);
	free(t.b);
	free(t.a);
	return errors == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
