/* SPDX-License-Identifier: BSD-3-Clause */
/* The config, the bytes and the record of the suites of records. */
#ifndef PS_TESTS_TEST_RECORD_H
#define PS_TESTS_TEST_RECORD_H

#include "support/record_bytes.h"
#include "support/scene.h"
#include "support/unmarked.h"

#include <linux/perf_event.h>

#define ALL_SAMPLE_ID                                                                  \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Each test runs for both byte orders: its _i is 0, then 1. */
static struct ps_record_config config;
static struct record_bytes bytes;
static struct ps_record record;

static inline void config_of(int is_swapped, uint64_t sample_type)
{
	config = (struct ps_record_config){.size = sizeof config,
	                                   .sample_type = sample_type,
	                                   .read_format = 31,
	                                   .branch_sample_type = 0xe0000,
	                                   .sample_regs_user = 0xff0ff,
	                                   .sample_regs_intr = 1 << 3 | 1 << 8,
	                                   .sample_id_all = 1,
	                                   .is_swapped = is_swapped};
}

static inline const struct ps_record *parsed(void)
{
	check_ok(ps_record_parse(&config, bytes.at, bytes.size, &record));
	ck_assert_ptr_eq(record.bytes, bytes.at);
	ck_assert_uint_eq(record.size, bytes.size);
	ck_assert(record_is_within(&record));
	return &record;
}

static inline void check_task(uint32_t pid, uint32_t tid, uint64_t time)
{
	ck_assert_uint_eq(record.pid, pid);
	ck_assert_uint_eq(record.tid, tid);
	ck_assert_uint_eq(record.time, time);
}

#endif
