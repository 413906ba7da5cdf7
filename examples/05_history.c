/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A history: one reading for each iteration, looked up by its timestamp, and as a whole.
 *
 *     cc -O2 05_history.c -o history $(pkg-config --cflags --libs perfsage) -lm \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./history [EDGE [SWEEPS]]
 *
 * The kernel is a Jacobi sweep over a square plate with one hot edge. ps_accum with *timestamp == 0
 * makes a new reading that holds what was counted since the last one; ps_read would give running
 * totals. Look at how the first two sweeps differ from the later ones: they touch the two grids for
 * the first time.
 */
#include <math.h>
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>

struct iteration {
	uint64_t timestamp;
	struct ps_thread *thread; /* where this program was when the reading was made */
	double change;            /* the largest change on the plate in this sweep */
};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static size_t size_argument(int argc, char **argv, int index, size_t otherwise, size_t largest)
{
	char *end;

	if (argc <= index)
		return otherwise;
	unsigned long size = strtoul(argv[index], &end, 10);
	if (argv[index][0] < '0' || argv[index][0] > '9' || *end != '\0' || size < 1 ||
	    size > largest) {
		fprintf(stderr, "usage: %s [EDGE [SWEEPS]]\n", argv[0]);
		exit(EXIT_FAILURE);
	}
	return size;
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (memory == NULL) {
		perror("calloc");
		exit(EXIT_FAILURE);
	}
	return memory;
}

/* The counted code: each inner point becomes the mean of its four neighbours. Returns the largest
 * change. */
static double sweep(size_t edge, const double *from, double *to)
{
	size_t row_length = edge + 2;
	double largest = 0.0;

	for (size_t row = 1; row <= edge; row++)
		for (size_t i = row * row_length + 1; i <= row * row_length + edge; i++) {
			to[i] = 0.25 * (from[i - row_length] + from[i - 1] + from[i + 1] +
			                from[i + row_length]);
			largest = fmax(largest, fabs(to[i] - from[i]));
		}
	return largest;
}

static void solve(size_t edge, struct iteration *history, size_t sweeps, struct ps_eventset *set,
                  struct ps_component *root)
{
	size_t points = (edge + 2) * (edge + 2);
	double *from = allocate(points, sizeof(*from)), *to = allocate(points, sizeof(*to));

	for (size_t i = 0; i < edge + 2; i++)
		from[i] = to[i] = 100.0;

	check(ps_start(set), "ps_start");
	for (size_t i = 0; i < sweeps; i++) {
		history[i].change = sweep(edge, from, to);
		history[i].timestamp = 0;
		check(ps_accum(set, root, &history[i].timestamp, &history[i].thread), "ps_accum");

		double *swap = from;
		from = to;
		to = swap;
	}
	uint64_t timestamp = 0; /* 0: what is counted after the last sweep gets its own reading */
	check(ps_stop(set, root, &timestamp, NULL), "ps_stop");

	free(to);
	free(from);
}

/* Returns the Threads of the tree, then the one for CPUs that the tree doesn't know, then NULL. */
static struct ps_thread *thread_at(const struct ps_component *root, size_t index)
{
	size_t count = ps_component_thread_count(root);

	if (index < count)
		return ps_component_thread_at(root, index);
	return index == count ? ps_topology_unknown_thread(ps_component_topology(root)) : NULL;
}

/* Prints the reading with this timestamp: the sum over the Threads with a part of it. An unknown
 * count is not 0. */
static void print_reading(const struct ps_component *root, const char *event, uint64_t timestamp)
{
	enum ps_status status = PS_STATUS_COUNTED;
	struct ps_thread *thread;
	struct ps_value part;
	long long total = 0;
	size_t parts = 0;

	for (size_t i = 0; (thread = thread_at(root, i)) != NULL; i++) {
		int code = ps_thread_reading(thread, event, timestamp, &part);

		if (code == PS_ENOEVNT || code == PS_ENOEVST)
			continue; /* the event, or this reading of it, has no part on this Thread */
		check(code, "ps_thread_reading");
		total += part.value;
		status = part.status > status ? part.status : status;
		parts++;
	}
	if (parts == 0) {
		fprintf(stderr, "%s: no reading has the timestamp %llu\n", event,
		        (unsigned long long)timestamp);
		exit(EXIT_FAILURE);
	}
	if (status == PS_STATUS_COUNTED || status == PS_STATUS_SCALED)
		printf("  %16lld", total);
	else
		printf("  %16s", ps_status_name(status));
}

/* Returns the sum of all parts of an event on one Thread; adds their number to *parts. */
static long long history_total(const struct ps_thread *thread, const char *event, size_t *parts)
{
	size_t count;
	long long total = 0;
	int code = ps_thread_readings(thread, event, NULL, 0, &count);

	if (code == PS_ENOEVNT)
		return 0;
	if (code != PS_EBUF)
		check(code, "ps_thread_readings");
	struct ps_value *values = allocate(count, sizeof(*values));
	check(ps_thread_readings(thread, event, values, count, &count), "ps_thread_readings");
	for (size_t i = 0; i < count; i++)
		total += values[i].value;
	*parts += count;
	free(values);
	return total;
}

static void print_sweeps(const struct iteration *history, size_t sweeps,
                         const struct ps_eventset *set, const struct ps_component *root)
{
	const char *event;

	printf("%5s %10s %10s %4s", "sweep", "change", "at ms", "CPU");
	for (size_t e = 0; (event = ps_eventset_event_name(set, e)) != NULL; e++)
		printf("  %16s", event);
	printf("\n");
	for (size_t i = 0; i < sweeps; i++) {
		printf("%5zu %10.4f %10.3f %4d", i, history[i].change,
		       (double)(history[i].timestamp - history[0].timestamp) / 1e6,
		       ps_thread_cpu(history[i].thread));
		for (size_t e = 0; (event = ps_eventset_event_name(set, e)) != NULL; e++)
			print_reading(root, event, history[i].timestamp);
		printf("\n");
	}
}

static void print_totals(const struct ps_eventset *set, const struct ps_component *root)
{
	struct ps_thread *thread;
	const char *event;

	printf("\n");
	for (size_t e = 0; (event = ps_eventset_event_name(set, e)) != NULL; e++) {
		long long total = 0;
		size_t parts = 0;

		for (size_t i = 0; (thread = thread_at(root, i)) != NULL; i++)
			total += history_total(thread, event, &parts);
		printf("%-20s %16lld in %zu parts\n", event, total, parts);
	}
}

int main(int argc, char **argv)
{
	size_t edge = size_argument(argc, argv, 1, 500, 20000);
	size_t sweeps = size_argument(argc, argv, 2, 20, 1000000);
	struct iteration *history = allocate(sweeps, sizeof(*history));
	struct ps_topology *topology;
	struct ps_eventset *set;

	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&set), "ps_eventset_create");
	check(ps_eventset_add_default(set), "ps_eventset_add_default");
	check(ps_eventset_reserve(set, sweeps + 1), "ps_eventset_reserve");

	solve(edge, history, sweeps, set, ps_topology_root(topology));
	print_sweeps(history, sweeps, set, ps_topology_root(topology));
	print_totals(set, ps_topology_root(topology));

	/* The edge's heat spreads: the first sweep warms the row beside it by a quarter, later
	 * sweeps by less. */
	int right = history[0].change == 25.0 && (sweeps == 1 || history[sweeps - 1].change < 25.0);
	if (!right)
		fprintf(stderr, "sweep: wrong result\n");

	check(ps_eventset_destroy(set), "ps_eventset_destroy");
	ps_topology_destroy(topology);
	free(history);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
