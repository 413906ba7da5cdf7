/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Common parts of all benchmarks. Within each round the rivals run in turn, a batch of calls each,
 * so that disturbances of the machine affect all of them. Then medians, quartiles and ratios are
 * printed. Only the rounds in which the core was shared least count (shared.h).
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define BENCH_MOST_RIVALS 5

struct bench_options {
	bool is_json;    /* --json: print a line for each case and rival, and nothing else */
	bool is_quick;   /* --quick: a few small rounds, to check that everything runs */
	unsigned rounds; /* --rounds N: greatest number for each table; 0: as the table says */
	int cpu; /* --cpu N: the measuring thread's CPU; default: the last CPU that it may use */
};

/* A case: something to be timed. */
struct bench_case {
	const char *name;
	const char *missing; /* why it can't be measured here; NULL if it can */
	int events;          /* number of events in the set; 0: no set */
	int pus;             /* number of hardware threads in the topology; 0: no topology */
	long size;           /* meaning: the table's size_name */
	unsigned batch;      /* calls per round; 0: as the table says */
	/* Makes `calls` calls and returns their time in nanoseconds. */
	double (*run)(void *context, unsigned calls);
	void *context;
	/* Names of rivals in the table; of several with one name, the one with the same size and
	 * pus. */
	const char *versus[BENCH_MOST_RIVALS];
};

struct bench_table {
	const char *title;
	const char *size_name; /* heading of bench_case.size; NULL: no such column */
	unsigned rounds;
	unsigned batch;
	const struct bench_case *cases;
	size_t count;
};

/* A number that isn't a time: bytes, descriptors. */
struct bench_figure {
	const char *name;
	int events;
	int pus;
	double value;
	const char *versus; /* another figure's name, or NULL */
};

/* Reads the command line, pins the thread, and prints the machine. Ends the program on failure. */
const struct bench_options *bench_begin(int argc, char **argv);

/* Returns a number of rounds or calls, reduced by --quick. */
unsigned bench_scaled(unsigned full);

/* Returns the number of batches of each case that bench_run will run, with those for warming up. */
unsigned bench_total_rounds(const struct bench_table *table);

/* Runs all cases and prints the table, or its JSON lines. */
void bench_run(const struct bench_table *table);

void bench_print_figures(const char *title, const char *unit, const struct bench_figure *figures,
                         size_t count);

/* Pins the calling thread to one CPU. */
void bench_pin(int cpu);

/* Returns a CPU that the process may use, other than the measuring one; -1 if there is none. */
int bench_other_cpu(void);

/* Returns the number of CPUs that the process may use; *cpus is their sorted list. */
size_t bench_cpus(const int **cpus);

/* bench_die ends the program with a message. bench_expect_ok does so if a call of perfsage failed,
 * and adds ps_error_detail. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bench_expect_ok(int result, const char *call);

static inline double bench_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Keeps the compiler from removing or moving a computation. */
static inline void bench_keep(const void *pointer)
{
	__asm__ volatile("" : : "r"(pointer) : "memory");
}

#endif
