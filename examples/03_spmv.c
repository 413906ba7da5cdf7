/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel among others: the sparse matrix-vector product of a conjugate gradient solver.
 *
 *     cc -O2 03_spmv.c -o spmv $(pkg-config --cflags --libs perfsage) -lm \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./spmv [EDGE [ITERATIONS]]
 *
 * The matrix is the 27-point stencil on a cube of EDGE^3 points (as in the HPCG benchmark) in CSR
 * format. The set runs all the time. ps_reset before each product forgets what the rest of the
 * solver did; ps_accum after it adds the product's counts to one reading, whose timestamp is handed
 * from call to call. Look at the counts for each nonzero: the product reads at least 12 bytes for
 * each, and computes only 2 flops.
 */
#include <math.h>
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix {
	size_t rows, nonzeros;
	size_t *row_start; /* rows + 1 indices into column and value */
	int *column;
	double *value;
};

struct solver {
	struct matrix a;
	double *x, *r, *p, *q; /* the solution, the residual, the direction, and a * p */
	double residual;       /* relative to the right-hand side */
};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static int int_argument(int argc, char **argv, int index, int otherwise, int largest)
{
	char *end;

	if (argc <= index)
		return otherwise;
	long number = strtol(argv[index], &end, 10);
	if (end == argv[index] || *end != '\0' || number < 1 || number > largest) {
		fprintf(stderr, "usage: %s [EDGE [ITERATIONS]]\n", argv[0]);
		exit(EXIT_FAILURE);
	}
	return (int)number;
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

/* Appends one row: 26 on the diagonal, -1 for each neighbour of the point that
 * is in the cube. */
static void append_row(struct matrix *a, int edge, int x, int y, int z)
{
	for (int neighbour = 0; neighbour < 27; neighbour++) {
		int nx = x + neighbour % 3 - 1, ny = y + neighbour / 3 % 3 - 1,
		    nz = z + neighbour / 9 - 1;

		if (nx < 0 || nx >= edge || ny < 0 || ny >= edge || nz < 0 || nz >= edge)
			continue;
		a->column[a->nonzeros] = (nz * edge + ny) * edge + nx;
		a->value[a->nonzeros++] = neighbour == 13 ? 26.0 : -1.0;
	}
	a->row_start[++a->rows] = a->nonzeros;
}

static void make_matrix(struct matrix *a, int edge)
{
	size_t points = (size_t)edge * (size_t)edge * (size_t)edge;

	*a = (struct matrix){.row_start = allocate(points + 1, sizeof(*a->row_start)),
	                     .column = allocate(points * 27, sizeof(*a->column)),
	                     .value = allocate(points * 27, sizeof(*a->value))};
	for (int z = 0; z < edge; z++)
		for (int y = 0; y < edge; y++)
			for (int x = 0; x < edge; x++)
				append_row(a, edge, x, y, z);
}

/* The counted kernel: y = a * x. */
static void spmv(const struct matrix *a, const double *x, double *y)
{
	for (size_t row = 0; row < a->rows; row++) {
		double sum = 0.0;

		for (size_t i = a->row_start[row]; i < a->row_start[row + 1]; i++)
			sum += a->value[i] * x[a->column[i]];
		y[row] = sum;
	}
}

static double dot(size_t rows, const double *x, const double *y)
{
	double sum = 0.0;

	for (size_t row = 0; row < rows; row++)
		sum += x[row] * y[row];
	return sum;
}

/* The right-hand side is a * (1, ..., 1), so the solution is known: all
 * ones. */
static void make_solver(struct solver *s, int edge)
{
	make_matrix(&s->a, edge);
	s->x = allocate(s->a.rows, sizeof(double));
	s->r = allocate(s->a.rows, sizeof(double));
	s->p = allocate(s->a.rows, sizeof(double));
	s->q = allocate(s->a.rows, sizeof(double));
	for (size_t row = 0; row < s->a.rows; row++)
		s->p[row] = 1.0;
	spmv(&s->a, s->p, s->r);
	for (size_t row = 0; row < s->a.rows; row++)
		s->p[row] = s->r[row];
}

static void free_solver(struct solver *s)
{
	free(s->q);
	free(s->p);
	free(s->r);
	free(s->x);
	free(s->a.value);
	free(s->a.column);
	free(s->a.row_start);
}

/* Solves by conjugate gradients, and counts only the products. Returns the number of iterations. */
static int solve(struct solver *s, int iterations, struct ps_eventset *set,
                 struct ps_component *root)
{
	double start = dot(s->a.rows, s->r, s->r), rr = start;
	uint64_t timestamp =
	    0; /* 0: the first ps_accum makes a new reading, and the later ones add to it */
	int done = 0;

	check(ps_start(set), "ps_start");
	while (done < iterations && rr > start * 1e-24) {
		check(ps_reset(set), "ps_reset");
		spmv(&s->a, s->p, s->q);
		check(ps_accum(set, root, &timestamp, NULL), "ps_accum");

		double alpha = rr / dot(s->a.rows, s->p, s->q), before = rr;
		for (size_t row = 0; row < s->a.rows; row++) {
			s->x[row] += alpha * s->p[row];
			s->r[row] -= alpha * s->q[row];
		}
		rr = dot(s->a.rows, s->r, s->r);
		for (size_t row = 0; row < s->a.rows; row++)
			s->p[row] = s->r[row] + rr / before * s->p[row];
		done++;
	}
	s->residual = sqrt(rr / start);
	check(ps_reset(set), "ps_reset"); /* so that ps_stop doesn't add the rest of the solver */
	check(ps_stop(set, root, &timestamp, NULL), "ps_stop");
	return done;
}

/* Returns the largest difference between the iterations' residual and the true one, b - a * x.
 * Overwrites p and q. */
static double find_defect(struct solver *s)
{
	double worst = 0.0;

	for (size_t row = 0; row < s->a.rows; row++)
		s->p[row] = 1.0 - s->x[row];
	spmv(&s->a, s->p, s->q);
	for (size_t row = 0; row < s->a.rows; row++)
		worst = fmax(worst, fabs(s->q[row] - s->r[row]));
	return isfinite(s->residual) ? worst : INFINITY;
}

/* Prints each event's total over all Threads that the program ran on, and its part for each
 * nonzero. */
static void print_counts(const struct ps_eventset *set, struct ps_component *root, double products,
                         double nonzeros)
{
	struct ps_value total;
	const char *event;

	printf("%-20s %16s %16s %12s\n", "event", "total", "per product", "per nonzero");
	for (size_t i = 0; (event = ps_eventset_event_name(set, i)) != NULL; i++) {
		check(ps_component_total(root, event, &total), "ps_component_total");
		if (total.status == PS_STATUS_COUNTED || total.status == PS_STATUS_SCALED)
			printf("%-20s %16lld %16.1f %12.4f\n", event, total.value,
			       (double)total.value / products,
			       (double)total.value / products / nonzeros);
		else
			printf("%-20s %16s\n", event, ps_status_name(total.status));
	}
}

int main(int argc, char **argv)
{
	int edge = int_argument(argc, argv, 1, 24, 400);
	int iterations = int_argument(argc, argv, 2, 50, 1000000);
	struct ps_topology *topology;
	struct ps_eventset *set;
	struct solver s;

	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&set), "ps_eventset_create");
	check(ps_eventset_add_default(set), "ps_eventset_add_default");

	make_solver(&s, edge);
	int done = solve(&s, iterations, set, ps_topology_root(topology));
	double defect = find_defect(&s);

	printf("27-point stencil: %zu rows, %zu nonzeros\n", s.a.rows, s.a.nonzeros);
	printf("conjugate gradients: %d iterations, residual %.1e, wrong by %.1e\n\n", done,
	       s.residual, defect);
	print_counts(set, ps_topology_root(topology), done, (double)s.a.nonzeros);
	printf("\n");
	check(ps_print(ps_topology_root(topology), stdout), "ps_print");

	int right = defect < 1e-9;
	if (!right)
		fprintf(stderr, "conjugate gradients: wrong result\n");

	check(ps_eventset_destroy(set), "ps_eventset_destroy");
	ps_topology_destroy(topology);
	free_solver(&s);
	return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
