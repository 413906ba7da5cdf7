/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up readings, in short and in long histories. lookup_timestamp runs after many look-ups of
 * its kind, lookup_cold after other work. The rivals are: bsearch in a plain array of readings, and
 * loading the found count; bsearch in an array of timestamps only, which finds no count; and one
 * load from as much memory as the readings take, at an address that the previous load gave. A
 * look-up by timestamp must not cost more than bsearch among readings, for any length.
 */
#include "counted.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>

#define EVENTS 4
/* After this many look-ups the caches have nearly all that leads to the rows of the next ones, but
 * rarely the rows themselves. */
#define BATCH 10000
/* So few look-ups that the other cases leave little of their data in the caches. */
#define COLD    200
#define LENGTHS 4
#define KINDS   6
/* Words of a reading: its timestamp, two times and the counts. */
#define ROW_WORDS (3 + EVENTS)

struct history {
	struct ps_topology *topology;
	struct ps_eventset *set;
	struct ps_thread *thread;
	uint64_t *timestamps; /* sorted */
	uint64_t *rows;       /* ROW_WORDS each: timestamp, two times, counts */
	/* The same size; the first word of each row is the index of the next one, in a cycle
	 * through all rows */
	uint64_t *memory;
	size_t count;
	uint64_t chosen[BATCH]; /* timestamps to look up, in random order */
};

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void lookup_choose(struct history *history, unsigned calls)
{
	for (unsigned call = 0; call < calls; call++)
		history->chosen[call] = history->timestamps[next_random() % history->count];
}

static double run_latest(void *context, unsigned calls)
{
	struct history *history = context;
	struct ps_value value;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= ps_thread_reading(history->thread, bench_event_name(2), 0, &value);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_thread_reading");
	return time_ns;
}

static double run_cold(void *context, unsigned calls)
{
	struct history *history = context;
	struct ps_value value;
	int failed = 0;

	lookup_choose(history, calls);
	double start = bench_now_ns();
	for (unsigned call = 0; call < calls; call++)
		failed |= ps_thread_reading(history->thread, bench_event_name(2),
		                            history->chosen[call], &value);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_thread_reading");
	return time_ns;
}

static double run_timestamp(void *context, unsigned calls)
{
	run_cold(context, calls);
	return run_cold(context, calls);
}

static int lookup_compare(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one;
	uint64_t b = *(const uint64_t *)other;

	return (a > b) - (a < b);
}

static double time_bsearch(struct history *history, unsigned calls)
{
	lookup_choose(history, calls);
	double start = bench_now_ns();
	for (unsigned call = 0; call < calls; call++)
		bench_keep(bsearch(&history->chosen[call], history->timestamps, history->count,
		                   sizeof *history->timestamps, lookup_compare));
	return bench_now_ns() - start;
}

static double run_bsearch(void *context, unsigned calls)
{
	time_bsearch(context, calls);
	return time_bsearch(context, calls);
}

static double time_bsearch_rows(struct history *history, unsigned calls)
{
	uint64_t sum = 0;

	lookup_choose(history, calls);
	double start = bench_now_ns();
	for (unsigned call = 0; call < calls; call++) {
		const uint64_t *row = bsearch(&history->chosen[call], history->rows, history->count,
		                              ROW_WORDS * sizeof *row, lookup_compare);
		sum += row[ROW_WORDS - 1];
	}
	bench_keep(&sum);
	return bench_now_ns() - start;
}

static double run_bsearch_rows(void *context, unsigned calls)
{
	time_bsearch_rows(context, calls);
	return time_bsearch_rows(context, calls);
}

static double run_memory(void *context, unsigned calls)
{
	struct history *history = context;
	uint64_t row = next_random() % history->count;
	double start = bench_now_ns();
	for (unsigned call = 0; call < calls; call++)
		row = history->memory[row * ROW_WORDS];
	double time_ns = bench_now_ns() - start;
	bench_keep(&history->memory[row * ROW_WORDS]);
	return time_ns;
}

/* Links all rows into one random cycle (Sattolo's shuffle). */
static void link_rows(struct history *history)
{
	for (size_t row = 0; row < history->count; row++)
		history->memory[row * ROW_WORDS] = row;
	for (size_t row = history->count - 1; row > 0; row--) {
		uint64_t *one = &history->memory[row * ROW_WORDS];
		uint64_t *other = &history->memory[next_random() % row * ROW_WORDS];
		uint64_t swapped = *one;
		*one = *other;
		*other = swapped;
	}
}

static void lookup_fill(struct history *history, size_t count)
{
	*history = (struct history){.count = count,
	                            .timestamps = calloc(count, sizeof *history->timestamps),
	                            .rows = calloc(count, ROW_WORDS * sizeof *history->rows),
	                            .memory = calloc(count, ROW_WORDS * sizeof *history->memory)};
	if (!history->timestamps || !history->rows || !history->memory)
		bench_die("no memory for %zu timestamps", count);
	link_rows(history);
	bench_expect_ok(ps_topology_load(&history->topology, NULL), "ps_topology_load");
	history->set = bench_make_set(EVENTS);
	for (size_t index = 0; index < count; index++) {
		long long counters[EVENTS] = {(long long)index, 1, 2, 3};
		bench_expect_ok(ps_store(history->set, counters, EVENTS,
		                         ps_topology_root(history->topology),
		                         &history->timestamps[index], &history->thread),
		                "ps_store");
		history->rows[index * ROW_WORDS] = history->timestamps[index];
		history->rows[index * ROW_WORDS + ROW_WORDS - 1] = index;
	}
}

static void lookup_release(struct history *history)
{
	ps_eventset_destroy(history->set);
	ps_topology_destroy(history->topology);
	free(history->timestamps);
	free(history->rows);
	free(history->memory);
}

int main(int argc, char **argv)
{
	static const size_t lengths[LENGTHS] = {10, 1000, 100000, 1000000};
	static struct history histories[LENGTHS];
	struct bench_case cases[KINDS * LENGTHS];

	bench_begin(argc, argv);
	for (size_t index = 0; index < LENGTHS; index++) {
		size_t count = index < 2 ? lengths[index] : bench_scaled((unsigned)lengths[index]);
		lookup_fill(&histories[index], count);
		struct bench_case plain = {
		    .events = EVENTS, .size = (long)count, .context = &histories[index]};
		plain.pus =
		    (int)ps_component_thread_count(ps_topology_root(histories[index].topology));
		for (size_t kind = 0; kind < KINDS; kind++)
			cases[kind * LENGTHS + index] = plain;
		cases[index].name = "lookup_latest";
		cases[index].run = run_latest;
		cases[LENGTHS + index].name = "lookup_timestamp";
		cases[LENGTHS + index].run = run_timestamp;
		cases[LENGTHS + index].versus[0] = "bsearch_readings";
		cases[LENGTHS + index].versus[1] = "bsearch_timestamps";
		cases[2 * LENGTHS + index].name = "bsearch_timestamps";
		cases[2 * LENGTHS + index].run = run_bsearch;
		cases[3 * LENGTHS + index].name = "memory";
		cases[3 * LENGTHS + index].run = run_memory;
		cases[5 * LENGTHS + index].name = "bsearch_readings";
		cases[5 * LENGTHS + index].run = run_bsearch_rows;
		cases[4 * LENGTHS + index].name = "lookup_cold";
		cases[4 * LENGTHS + index].run = run_cold;
		cases[4 * LENGTHS + index].batch = COLD;
		cases[4 * LENGTHS + index].versus[0] = "lookup_timestamp";
	}
	bench_run(&(struct bench_table){
	    .title = "Finding a reading of one event on a hardware thread, at random; the bar: "
		     "lookup_timestamp at most 1 x bsearch_readings",
	    .size_name = "readings",
	    .rounds = 500,
	    .batch = BATCH,
	    .cases = cases,
	    .count = KINDS * LENGTHS});
	for (size_t index = 0; index < LENGTHS; index++)
		lookup_release(&histories[index]);
	return 0;
}
