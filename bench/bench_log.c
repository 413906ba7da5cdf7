/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records of a log. Compares a record's time with that of a reading of the same events, and
 * with that of a reading whose numbers are written by fwrite(3); compares its size in the file with
 * that of its raw numbers. */
#include "counted.h"
#include "harness.h"
#include "logged.h"

#include <stdio.h>

#define EVENTS     4
#define RECORDS    1000000
#define RING_BYTES ((uint64_t)16 << 20)
#define BATCH      500
/* The records of ten blocks, so that the means include the cost of blocks. */
#define LONG_BATCH 25000
/* Time, CPU, enabled, running, counts and fields; 8 bytes each. */
#define RAW_WORDS (4 + EVENTS + BENCH_LOG_FIELDS)
#define RAW_BYTES (8.0 * RAW_WORDS)

struct writer {
	struct ps_eventset *set;
	struct ps_component *root;
	FILE *file; /* written by fwrite(3) */
	uint64_t timestamp;
	struct ps_log_stream *stream;
	long long number;
};

static double run_read(void *context, unsigned calls)
{
	struct writer *writer = context;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= ps_read(writer->set, writer->root, &writer->timestamp, NULL);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_read");
	return time_ns;
}

/* A program without logs does this. It loses the content of the buffer if it is killed. */
static double run_fwrite(void *context, unsigned calls)
{
	struct writer *writer = context;
	long long row[RAW_WORDS] = {0}, *counts = row + RAW_WORDS - EVENTS - BENCH_LOG_FIELDS;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		failed |= ps_read(writer->set, writer->root, &writer->timestamp, NULL);
		failed |= ps_eventset_counts(writer->set, writer->timestamp, counts, EVENTS);
		row[0] = (long long)writer->timestamp;
		for (unsigned field = 0; field < BENCH_LOG_FIELDS; field++)
			counts[EVENTS + field] = writer->number + field;
		writer->number++;
		failed |= fwrite(row, sizeof row, 1, writer->file) != 1;
	}
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed ? PS_ESYS : PS_OK, "ps_read, ps_eventset_counts or fwrite");
	return time_ns;
}

static double run_record(void *context, unsigned calls)
{
	struct writer *writer = context;
	int failed = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++)
		failed |= bench_log_record(writer->stream, writer->number++);
	double time_ns = bench_now_ns() - start;
	bench_expect_ok(failed, "ps_log_take or ps_log_write");
	return time_ns;
}

static struct writer open_writer(const struct bench_log *log, struct ps_component *root)
{
	struct writer writer = {.set = bench_make_set(EVENTS), .root = root, .file = tmpfile()};

	if (!writer.file)
		bench_die("no file can be made for fwrite(3)");
	bench_expect_ok(ps_start(writer.set), "ps_start");
	writer.stream = bench_log_stream(log, writer.set);
	return writer;
}

static void close_writer(struct writer *writer)
{
	ps_log_stream_destroy(writer->stream);
	ps_eventset_destroy(writer->set);
	fclose(writer->file);
}

static void run_cases(struct writer *grows, struct writer *ring, const char *title, unsigned rounds,
                      unsigned batch)
{
	int pus = (int)ps_component_thread_count(grows->root);
	struct bench_case cases[] = {
	    {.name = "ps_read", .run = run_read, .context = grows},
	    {.name = "read_and_fwrite", .run = run_fwrite, .context = grows},
	    {.name = "log_record", .run = run_record, .context = grows},
	    {.name = "log_record_ring", .run = run_record, .context = ring},
	};

	for (size_t index = 0; index < sizeof cases / sizeof *cases; index++) {
		cases[index].events = EVENTS;
		cases[index].pus = pus;
		for (size_t rival = 0; rival < index && rival < 2; rival++)
			cases[index].versus[rival] = cases[rival].name;
	}
	bench_run(&(struct bench_table){.title = title,
	                                .rounds = rounds,
	                                .batch = batch,
	                                .cases = cases,
	                                .count = sizeof cases / sizeof *cases});
}

static void measure_time(struct ps_component *root)
{
	struct bench_log grows, ring;

	bench_log_open(&grows, root, 0);
	bench_log_open(&ring, root, RING_BYTES);
	struct writer of_file = open_writer(&grows, root), of_ring = open_writer(&ring, root);

	run_cases(&of_file, &of_ring,
	          "A record of a log with one snapshot and four fields, beside a reading", 400,
	          BATCH);
	run_cases(&of_file, &of_ring, "The same with what the file's blocks cost", 40, LONG_BATCH);
	close_writer(&of_ring);
	close_writer(&of_file);
	bench_log_close(&ring);
	bench_log_close(&grows);
}

static void measure_bytes(struct ps_component *root)
{
	unsigned records = bench_scaled(RECORDS);
	struct bench_log log;
	char title[80];

	bench_log_open(&log, root, 0);
	struct writer writer = open_writer(&log, root);
	run_record(&writer, records);
	close_writer(&writer);
	const struct bench_figure figures[] = {
	    {.name = "raw_numbers", .events = EVENTS, .value = RAW_BYTES},
	    {.name = "log_record",
	     .events = EVENTS,
	     .value = bench_log_bytes(&log) / records,
	     .versus = "raw_numbers"},
	};
	bench_log_close(&log);
	snprintf(title, sizeof title, "The file, for each of %u records", records);
	bench_print_figures(title, "bytes", figures, 2);
}

int main(int argc, char **argv)
{
	struct ps_topology *topology;

	bench_begin(argc, argv);
	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	measure_time(ps_topology_root(topology));
	measure_bytes(ps_topology_root(topology));
	ps_topology_destroy(topology);
	return 0;
}
