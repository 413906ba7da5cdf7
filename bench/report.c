/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints tables and JSON lines. A ratio is the median of the rounds' ratios: within a round, rivals
 * run within about a millisecond, so slower disturbances of the machine cancel out.
 */
#include "report.h"

#include "stats.h"

#include <errno.h>
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* A case compared with one rival, over all rounds. */
struct comparison {
	struct bench_stats ratio;
	double over_ns; /* median of the differences */
};

void bench_report_machine(const struct bench_options *options, size_t cpus)
{
	struct utsname name;
	int paranoid = -9;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");

	if (file && fscanf(file, "%d", &paranoid) != 1)
		paranoid = -9;
	if (file)
		fclose(file);
	uname(&name);
	printf(
	    "%s: perfsage %s, %s %s %s, %zu CPUs, measured on CPU %d, perf_event_paranoid %d%s\n",
	    program_invocation_short_name, ps_version(), name.sysname, name.release, name.machine,
	    cpus, options->cpu, paranoid,
	    options->is_quick ? "; --quick: the numbers mean nothing" : "");
	printf("Rivals run in turn, a batch of calls each. Quartiles and p99 are of the batches' "
	       "means; a ratio is the median of the rounds' ratios.\n");
}

/* Returns the case with this name that is most like `one`, in size and then in topology; the first
 * of several. */
static const struct bench_case *find_rival(const struct bench_table *table,
                                           const struct bench_case *one, const char *name)
{
	const struct bench_case *best = NULL;
	int best_likeness = -1;

	for (const struct bench_case *other = table->cases; other < table->cases + table->count;
	     other++) {
		int likeness = 2 * (other->size == one->size) + (other->pus == one->pus);
		if (other != one && strcmp(other->name, name) == 0 && likeness > best_likeness) {
			best = other;
			best_likeness = likeness;
		}
	}
	if (!best)
		bench_die("'%s' has no case '%s'", table->title, name);
	return best;
}

static double *allocate_counted(const struct bench_rounds *rounds)
{
	double *values = malloc(rounds->count * sizeof *values);

	if (!values)
		bench_die("no memory for the statistics");
	return values;
}

static struct bench_stats report_stats(const double *samples, const struct bench_rounds *rounds)
{
	double *each = allocate_counted(rounds);

	for (unsigned index = 0; index < rounds->count; index++)
		each[index] = samples[rounds->counted[index].number];
	struct bench_stats stats = bench_stats_of(each, rounds->count);
	free(each);
	return stats;
}

static struct comparison report_compare(const double *samples, const double *rival,
                                        const struct bench_rounds *rounds)
{
	double *ratios = allocate_counted(rounds), *differences = allocate_counted(rounds);
	struct comparison result;

	for (unsigned index = 0; index < rounds->count; index++) {
		unsigned number = rounds->counted[index].number;
		ratios[index] = samples[number] / rival[number];
		differences[index] = samples[number] - rival[number];
	}
	result.over_ns = bench_stats_of(differences, rounds->count).median;
	result.ratio = bench_stats_of(ratios, rounds->count);
	free(differences);
	free(ratios);
	return result;
}

/* Returns how many times longer bench_time_core took in the worst counted round than in the
 * best. */
static double core_ratio(const struct bench_rounds *rounds)
{
	return rounds->counted[rounds->count - 1].core_ns / rounds->counted[0].core_ns;
}

/* Prints the beginning of a JSON line. Names are chosen here and need no escapes. */
static void print_json_head(const struct bench_table *table, const struct bench_case *one)
{
	printf("{\"case\":\"%s\",\"events\":%d,\"pus\":%d", one->name, one->events, one->pus);
	if (table->size_name)
		printf(",\"%s\":%ld", table->size_name, one->size);
}

static void print_json_rival(const struct bench_table *table, const struct bench_case *one,
                             const char *versus, const struct bench_rounds *rounds,
                             double **samples)
{
	size_t index = (size_t)(one - table->cases);
	const struct bench_case *rival = versus ? find_rival(table, one, versus) : NULL;
	struct bench_stats stats = report_stats(samples[index], rounds);

	print_json_head(table, one);
	printf(",\"median_ns\":%.2f,\"q1_ns\":%.2f,\"q3_ns\":%.2f,\"p99_ns\":%.2f", stats.median,
	       stats.q1, stats.q3, stats.p99);
	if (!rival) {
		printf(",\"vs\":null,\"ratio\":null");
	} else if (rival->missing) {
		printf(",\"vs\":\"%s\",\"ratio\":null,\"missing\":\"%s\"", versus, rival->missing);
	} else {
		struct comparison beside =
		    report_compare(samples[index], samples[rival - table->cases], rounds);
		printf(",\"vs\":\"%s\",\"vs_pus\":%d,\"ratio\":%.4f,\"ratio_q1\":%.4f,\"ratio_q3\":"
		       "%.4f,\"over_ns\":%.2f",
		       versus, rival->pus, beside.ratio.median, beside.ratio.q1, beside.ratio.q3,
		       beside.over_ns);
	}
	printf(",\"rounds\":%u,\"rounds_run\":%u,\"core_ratio\":%.3f}\n", rounds->count,
	       rounds->run, core_ratio(rounds));
}

static void print_json(const struct bench_table *table, const struct bench_rounds *rounds,
                       double **samples)
{
	for (const struct bench_case *one = table->cases; one < table->cases + table->count;
	     one++) {
		if (one->missing) {
			print_json_head(table, one);
			printf(",\"median_ns\":null,\"p99_ns\":null,\"vs\":null,\"ratio\":null,"
			       "\"missing\":\"%s\"}\n",
			       one->missing);
			continue;
		}
		if (!one->versus[0])
			print_json_rival(table, one, NULL, rounds, samples);
		for (size_t index = 0; index < BENCH_MOST_RIVALS && one->versus[index]; index++)
			print_json_rival(table, one, one->versus[index], rounds, samples);
	}
}

static void print_head(const struct bench_table *table, const struct bench_rounds *rounds)
{
	printf("\n%s\n", table->title);
	printf("%u rounds, in each every case once, %u calls; nanoseconds a call\n", rounds->run,
	       bench_scaled(table->batch));
	if (rounds->count < rounds->run)
		printf("%u of them count, in which the core was shared least: a loop of additions "
		       "took up to %.2f times its least\n",
		       rounds->count, core_ratio(rounds));
	printf("%-24s %6s %5s", "case", "events", "pus");
	if (table->size_name)
		printf(" %8s", table->size_name);
	printf(" %9s %9s %9s %9s   beside its rivals (and ns more)\n", "median", "q1", "q3", "p99");
}

static void print_time(double time_ns)
{
	printf(" %9.*f", time_ns < 100 ? 1 : 0, time_ns);
}

/* Prints two ratios per line. */
static void print_ratios(const struct bench_table *table, const struct bench_case *one,
                         const struct bench_rounds *rounds, double **samples)
{
	int printed = 0;

	for (size_t index = 0; index < BENCH_MOST_RIVALS && one->versus[index]; index++) {
		const struct bench_case *rival = find_rival(table, one, one->versus[index]);
		char where[32] = "", cell[128];
		if (rival->missing)
			continue;
		struct comparison beside = report_compare(samples[one - table->cases],
		                                          samples[rival - table->cases], rounds);
		bool is_small = beside.over_ns < 100 && beside.over_ns > -100;
		if (rival->pus && one->pus && rival->pus != one->pus)
			snprintf(where, sizeof where, " on %d pus", rival->pus);
		snprintf(cell, sizeof cell, "%.3f x %s%s (%+.*f)", beside.ratio.median, rival->name,
		         where, is_small ? 1 : 0, beside.over_ns);
		if (printed > 0 && printed % 2 == 0)
			printf("\n%*s", table->size_name ? 86 : 77, "");
		printf(printed % 2 ? "   %s" : "   %-26s", cell);
		printed++;
	}
}

static void print_number(int width, long number)
{
	if (number)
		printf(" %*ld", width, number);
	else
		printf(" %*s", width, "");
}

static void print_table(const struct bench_table *table, const struct bench_rounds *rounds,
                        double **samples)
{
	print_head(table, rounds);
	for (const struct bench_case *one = table->cases; one < table->cases + table->count;
	     one++) {
		printf("%-24s", one->name);
		print_number(6, one->events);
		print_number(5, one->pus);
		if (table->size_name)
			print_number(8, one->size);
		if (one->missing) {
			printf("   %s\n", one->missing);
			continue;
		}
		struct bench_stats stats = report_stats(samples[one - table->cases], rounds);
		print_time(stats.median);
		print_time(stats.q1);
		print_time(stats.q3);
		print_time(stats.p99);
		print_ratios(table, one, rounds, samples);
		putchar('\n');
	}
	fflush(stdout);
}

void bench_report_table(const struct bench_options *options, const struct bench_table *table,
                        const struct bench_rounds *rounds, double **samples)
{
	if (options->is_json)
		print_json(table, rounds, samples);
	else
		print_table(table, rounds, samples);
}

static void print_figure(const struct bench_figure *one)
{
	printf("%-24s", one->name);
	print_number(6, one->events);
	print_number(5, one->pus);
	printf(" %14.1f", one->value);
}

static double ratio_of(const struct bench_figure *figures, size_t count,
                       const struct bench_figure *one)
{
	for (size_t index = 0; index < count; index++) {
		if (strcmp(figures[index].name, one->versus) == 0)
			return one->value / figures[index].value;
	}
	bench_die("there is no figure '%s'", one->versus);
}

void bench_report_figures(const struct bench_options *options, const char *title, const char *unit,
                          const struct bench_figure *figures, size_t count)
{
	if (!options->is_json)
		printf("\n%s\n%-24s %6s %5s %14s\n", title, "case", "events", "pus", unit);
	for (const struct bench_figure *one = figures; one < figures + count; one++) {
		if (options->is_json)
			printf("{\"case\":\"%s\",\"events\":%d,\"pus\":%d,\"unit\":\"%s\","
			       "\"value\":%.2f",
			       one->name, one->events, one->pus, unit, one->value);
		else
			print_figure(one);
		if (one->versus)
			printf(options->is_json ? ",\"vs\":\"%s\",\"ratio\":%.4f" : "   x %s %.3f",
			       one->versus, ratio_of(figures, count, one));
		else if (options->is_json)
			printf(",\"vs\":null,\"ratio\":null");
		printf(options->is_json ? "}\n" : "\n");
	}
	fflush(stdout);
}
