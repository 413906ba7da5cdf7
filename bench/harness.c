/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, the measuring thread's CPU, and the rounds. */
#include "harness.h"

#include "report.h"
#include "shared.h"

#include <errno.h>
#include <perfsage.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_ROUNDS   3
#define QUICK_WARM    1
#define QUICK_ROUNDS  2
#define QUICK_DIVISOR 50
/* The share of a table's rounds that count, and their least number. */
#define COUNTED_SHARE 4
#define LEAST_COUNTED 20

static struct bench_options options = {.cpu = -1};
static int usable[CPU_SETSIZE];
static size_t usable_count;

void bench_die(const char *format, ...)
{
	va_list arguments;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

void bench_expect_ok(int result, const char *call)
{
	if (result != PS_OK)
		bench_die("%s: %s: %s", call, ps_strerror(result), ps_error_detail());
}

static void list_usable(void)
{
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof mask, &mask) < 0)
		bench_die("sched_getaffinity failed: more than %d CPUs?", CPU_SETSIZE);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((size_t)cpu, &mask))
			usable[usable_count++] = cpu;
	}
}

size_t bench_cpus(const int **cpus)
{
	*cpus = usable;
	return usable_count;
}

int bench_other_cpu(void)
{
	for (size_t index = 0; index < usable_count; index++) {
		if (usable[index] != options.cpu)
			return usable[index];
	}
	return -1;
}

void bench_pin(int cpu)
{
	cpu_set_t mask;

	CPU_ZERO(&mask);
	CPU_SET((size_t)cpu, &mask);
	if (sched_setaffinity(0, sizeof mask, &mask) < 0)
		bench_die("this process may not run on CPU %d", cpu);
}

static void harness_usage(int status)
{
	fprintf(status ? stderr : stdout,
	        "usage: %s [--json] [--quick] [--rounds N] [--cpu N]\n"
	        "  --json      a line for each case and rival\n"
	        "  --quick     a few small rounds: only to see that everything runs\n"
	        "  --rounds N  no more rounds than that, for a slow machine\n"
	        "  --cpu N     measure on this CPU, not on the last one\n",
	        program_invocation_short_name);
	exit(status);
}

const struct bench_options *bench_begin(int argc, char **argv)
{
	for (int index = 1; index < argc; index++) {
		if (strcmp(argv[index], "--json") == 0)
			options.is_json = true;
		else if (strcmp(argv[index], "--quick") == 0)
			options.is_quick = true;
		else if (strcmp(argv[index], "--rounds") == 0 && index + 1 < argc &&
		         atoi(argv[index + 1]) > 0)
			options.rounds = (unsigned)atoi(argv[++index]);
		else if (strcmp(argv[index], "--cpu") == 0 && index + 1 < argc)
			options.cpu = atoi(argv[++index]);
		else
			harness_usage(strcmp(argv[index], "--help") == 0 ? 0 : 2);
	}
	list_usable();
	if (options.cpu < 0)
		options.cpu = usable[usable_count - 1];
	bench_pin(options.cpu);
	if (!options.is_json)
		bench_report_machine(&options, usable_count);
	return &options;
}

unsigned bench_scaled(unsigned full)
{
	unsigned little = full / QUICK_DIVISOR;

	if (!options.is_quick)
		return full;
	return little ? little : 1;
}

static unsigned rounds_of(const struct bench_table *table)
{
	unsigned most = options.is_quick ? QUICK_ROUNDS : options.rounds;

	return most && most < table->rounds ? most : table->rounds;
}

static unsigned warm_rounds(void)
{
	return options.is_quick ? QUICK_WARM : WARM_ROUNDS;
}

unsigned bench_total_rounds(const struct bench_table *table)
{
	return rounds_of(table) + warm_rounds();
}

/* Returns the nanoseconds per call. */
static double run_batch(const struct bench_table *table, const struct bench_case *one)
{
	unsigned calls = bench_scaled(one->batch ? one->batch : table->batch);

	return one->run(one->context, calls) / calls;
}

/* Runs one batch of each case. Each round begins with another case, and every second round has the
 * reverse order. So no case always comes first, or always follows the same case, whose data is
 * still in the caches. */
static struct bench_round run_round(const struct bench_table *table, unsigned number,
                                    double **samples)
{
	struct bench_round round = {.number = number, .core_ns = bench_time_core()};

	for (size_t step = 0; step < table->count; step++) {
		size_t index =
		    (number + (number % 2 ? 2 * table->count - step : step)) % table->count;
		const struct bench_case *one = &table->cases[index];
		if (one->missing)
			continue;
		samples[index][number] = run_batch(table, one);
		double core_ns = bench_time_core();
		round.core_ns = core_ns > round.core_ns ? core_ns : round.core_ns;
	}
	return round;
}

static int compare_rounds(const void *one, const void *other)
{
	double a = ((const struct bench_round *)one)->core_ns;
	double b = ((const struct bench_round *)other)->core_ns;

	return (a > b) - (a < b);
}

static void *allocate(size_t count, size_t size_bytes)
{
	void *memory = calloc(count, size_bytes);

	if (!memory)
		bench_die("no memory for the samples");
	return memory;
}

/* Selects the rounds in which the core was shared least, without a look at the results. */
static struct bench_rounds choose_rounds(struct bench_round *all, unsigned count)
{
	struct bench_rounds rounds = {.counted = all, .run = count};
	unsigned least = count < LEAST_COUNTED ? count : LEAST_COUNTED;

	qsort(all, count, sizeof *all, compare_rounds);
	rounds.count = count / COUNTED_SHARE > least ? count / COUNTED_SHARE : least;
	return rounds;
}

void bench_run(const struct bench_table *table)
{
	unsigned warm = warm_rounds(), count = rounds_of(table);
	double **samples = allocate(table->count, sizeof *samples);
	struct bench_round *all = allocate(warm + count, sizeof *all);

	for (size_t index = 0; index < table->count; index++)
		samples[index] = allocate(warm + count, sizeof **samples);
	for (unsigned round = 0; round < warm + count; round++)
		all[round] = run_round(table, round, samples);
	struct bench_rounds rounds = choose_rounds(all + warm, count);
	bench_report_table(&options, table, &rounds, samples);
	for (size_t index = 0; index < table->count; index++)
		free(samples[index]);
	free(samples);
	free(all);
}

void bench_print_figures(const char *title, const char *unit, const struct bench_figure *figures,
                         size_t count)
{
	bench_report_figures(&options, title, unit, figures, count);
}
