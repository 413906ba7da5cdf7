/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parses consecutive records, as in a ring or a file. The rival, walk, only loads each header and
 * goes to the next one, which any reader must do. The limit is 20 million records per second: at
 * most 50 ns each.
 */
#include "harness.h"
#include "support/record_bytes.h"

#include <linux/perf_event.h>
#include <perfsage.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS 8192 /* more than fits into a second-level cache */

struct records {
	struct ps_record_config config;
	unsigned char *bytes;
	size_t size;
};

/* Returns the nanoseconds of `calls` records; starts again at the buffer's end. */
static double run_parse(void *context, unsigned calls)
{
	const struct records *records = context;
	struct ps_record record = {.size = 0};
	size_t at = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		if (ps_record_parse(&records->config, records->bytes + at, records->size - at,
		                    &record) != PS_OK)
			bench_die("ps_record_parse: %s", ps_error_detail());
		bench_keep(&record);
		at += record.size;
		at = at < records->size ? at : 0;
	}
	return bench_now_ns() - start;
}

static double run_walk(void *context, unsigned calls)
{
	const struct records *records = context;
	size_t at = 0;
	double start = bench_now_ns();

	for (unsigned call = 0; call < calls; call++) {
		at += ps_record_size(&records->config, records->bytes + at, records->size - at);
		at = at < records->size ? at : 0;
	}
	double time_ns = bench_now_ns() - start;
	bench_keep(records->bytes + at);
	return time_ns;
}

static void records_fill(struct records *records, uint32_t type, uint64_t sample_type)
{
	struct record_bytes bytes;

	records->config = (struct ps_record_config){.size = sizeof records->config,
	                                            .sample_type = sample_type,
	                                            .read_format = PERF_FORMAT_GROUP,
	                                            .sample_id_all = 1};
	record_of(&bytes, type, &records->config);
	records->size = RECORDS * bytes.size;
	records->bytes = malloc(records->size);
	if (!records->bytes)
		bench_die("no memory for %d records", RECORDS);
	for (size_t i = 0; i < RECORDS; i++)
		memcpy(records->bytes + i * bytes.size, bytes.at, bytes.size);
}

int main(int argc, char **argv)
{
	static const uint64_t usual = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
	                              PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ID;
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t sample_type;
	} kinds[] = {{"sample", PS_RECORD_SAMPLE, usual},
	             {"sample_group", PS_RECORD_SAMPLE, usual | PERF_SAMPLE_READ},
	             {"sample_chain", PS_RECORD_SAMPLE, usual | PERF_SAMPLE_CALLCHAIN},
	             {"switch", PS_RECORD_SWITCH, usual},
	             {"fork", PS_RECORD_FORK, usual},
	             {"mmap2", PS_RECORD_MMAP2, usual}};
	enum {
		KINDS = sizeof kinds / sizeof *kinds
	};
	static struct records records[KINDS];
	struct bench_case cases[KINDS + 1];

	bench_begin(argc, argv);
	for (size_t i = 0; i < KINDS; i++) {
		records_fill(&records[i], kinds[i].type, kinds[i].sample_type);
		cases[i] = (struct bench_case){.name = kinds[i].name,
		                               .run = run_parse,
		                               .context = &records[i],
		                               .versus = {"walk"}};
	}
	cases[KINDS] = (struct bench_case){.name = "walk", .run = run_walk, .context = &records[0]};
	bench_run(&(struct bench_table){
	    .title = "Parsing one record; the bar: at most 50 ns, 20 million records per second",
	    .rounds = 200,
	    .batch = 4 * RECORDS,
	    .cases = cases,
	    .count = KINDS + 1});
	for (size_t i = 0; i < KINDS; i++)
		free(records[i].bytes);
	return 0;
}
