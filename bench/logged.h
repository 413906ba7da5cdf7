/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a log for benchmarks, with one point and four integer fields. */
#ifndef BENCH_LOGGED_H
#define BENCH_LOGGED_H

#include <perfsage.h>

#define BENCH_LOG_FIELDS 4

/* A log in a temporary folder. bench_log_close removes it. ring_bytes 0: all records are kept. */
struct bench_log {
	struct ps_log *log;
	char path[256];
};

void bench_log_open(struct bench_log *log, const struct ps_component *root, uint64_t ring_bytes);
void bench_log_close(struct bench_log *log);
double bench_log_bytes(const struct bench_log *log); /* disk space of the file */

/* set: must be started. */
struct ps_log_stream *bench_log_stream(const struct bench_log *log, struct ps_eventset *set);

/* Writes one record: takes a snapshot and sets all fields. Returns 0 on success. */
static inline int bench_log_record(struct ps_log_stream *stream, long long number)
{
	int failed = 0;

	for (unsigned field = 0; field < BENCH_LOG_FIELDS; field++)
		failed |= ps_log_set_integer(stream, field, number + field);
	failed |= ps_log_take(stream, 0);
	return failed | ps_log_write(stream);
}

#endif
