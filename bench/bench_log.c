/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes records of a log: what a record takes in time, beside a reading of the same events, and in
 * the file, beside its raw numbers. */
#include "counted.h"
#include "harness.h"
#include "logged.h"

#include <stdio.h>

#define EVENTS     4
#define RECORDS    1000000
#define RING_BYTES ((uint64_t)16 << 20)
/* Time, CPU, enabled, running, counts and fields, 8 bytes each. */
#define RAW_BYTES (8.0 * (4 + EVENTS + BENCH_LOG_FIELDS))

struct writer {
	struct ps_eventset *set;
	struct ps_component *root;
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
	struct writer writer = {.set = bench_make_set(EVENTS), .root = root};

	bench_expect_ok(ps_start(writer.set), "ps_start");
	writer.stream = bench_log_stream(log, writer.set);
	return writer;
}

static void close_writer(struct writer *writer)
{
	ps_log_stream_destroy(writer->stream);
	ps_eventset_destroy(writer->set);
}

static void measure_time(struct ps_component *root)
{
	struct bench_log grows, ring;

	bench_log_open(&grows, root, 0);
	bench_log_open(&ring, root, RING_BYTES);
	struct writer writers[] = {open_writer(&grows, root), open_writer(&ring, root)};
	int pus = (int)ps_component_thread_count(root);
	const struct bench_case cases[] = {
	    {.name = "ps_read",
	     .events = EVENTS,
	     .pus = pus,
	     .run = run_read,
	     .context = &writers[0]},
	    {.name = "log_record",
	     .events = EVENTS,
	     .pus = pus,
	     .run = run_record,
	     .context = &writers[0],
	     .versus = {"ps_read"}},
	    {.name = "log_record_ring",
	     .events = EVENTS,
	     .pus = pus,
	     .run = run_record,
	     .context = &writers[1],
	     .versus = {"ps_read", "log_record"}},
	};

	bench_run(&(struct bench_table){
	    .title = "A record of a log with one snapshot and four fields, beside a reading",
	    .rounds = 400,
	    .batch = 500,
	    .cases = cases,
	    .count = sizeof cases / sizeof *cases});
	close_writer(&writers[1]);
	close_writer(&writers[0]);
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
