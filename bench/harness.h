/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every benchmark stands on: rivals are run in turn within each round, a
 * batch of calls each, so that what the machine does meanwhile meets all of
 * them alike; then medians, quartiles and ratios are printed. Of the rounds
 * those count in which the core was shared least (shared.h).
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BENCH_MOST_RIVALS 5

struct bench_options {
	bool is_json;    /* --json: a line for each case and rival, and nothing else */
	bool is_quick;   /* --quick: a few small rounds, to see that everything runs */
	unsigned rounds; /* --rounds N: at most so many in a table; 0: as each table wants it */
	int cpu; /* --cpu N: where the measuring thread is pinned; else the last CPU that it may use
	          */
};

/* A thing to be timed. */
struct bench_case {
	const char *name;
	const char *missing; /* why it can't be measured here; NULL: it can */
	int events;          /* events in the set; 0: it has none */
	int pus;             /* hardware threads of the topology; 0: it has none */
	long size;           /* what the table's size_name counts */
	unsigned batch;      /* calls in a round; 0: the table's */
	/* Makes `calls` calls, and returns how many nanoseconds they took. */
	double (*run)(void *context, unsigned calls);
	void *context;
	/* Names of other cases in the table; of several of a name, that with
	 * the same size and pus. */
	const char *versus[BENCH_MOST_RIVALS];
};

struct bench_table {
	const char *title;
	const char *size_name; /* heading of bench_case.size; NULL: there is no such column */
	unsigned rounds;
	unsigned batch;
	const struct bench_case *cases;
	size_t count;
};

/* A number that is no time: bytes, descriptors. */
struct bench_figure {
	const char *name;
	int events;
	int pus;
	double value;
	const char *versus; /* another figure's name, or NULL */
};

/* Reads the command line, pins the thread, and says what machine this is. Ends
 * the program if that can't be done. */
const struct bench_options *bench_begin(int argc, char **argv);

/* A number of rounds or calls, or the little that --quick makes of it. */
unsigned bench_scaled(unsigned full);

/* How many batches bench_run will run of each case, warming up included. */
unsigned bench_total_rounds(const struct bench_table *table);

/* Runs all cases and prints the table, or its JSON lines. */
void bench_run(const struct bench_table *table);

void bench_print_figures(const char *title, const char *unit, const struct bench_figure *figures,
                         size_t count);

/* The calling thread onto one CPU. */
void bench_pin(int cpu);

/* A CPU that the process may use, other than the one measured on; -1: there is
 * none. */
int bench_other_cpu(void);

/* CPUs that the process may use, in rising order. */
size_t bench_cpus(const int **cpus);

/* Ends the program with a sentence; a failure of perfsage's is explained by its
 * own. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_expect_ok(int result, const char *call);

static inline double bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Keeps the compiler from leaving out a computation, or from moving it. */
static inline void bench_keep(const void *pointer)
{
	__asm__ volatile("" : : "r"(pointer) : "memory");
}

#endif
