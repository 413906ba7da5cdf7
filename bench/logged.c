/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes and removes the logs that benchmarks write. */
#include "logged.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void bench_log_open(struct bench_log *log, const struct ps_component *root, uint64_t ring_bytes)
{
	struct ps_log_options options = {.size = sizeof options, .ring_bytes = ring_bytes};
	const char *folder = getenv("TMPDIR");
	char made[200];

	snprintf(made, sizeof made, "%.150s/perfsage-bench.XXXXXX", folder ? folder : "/tmp");
	if (!mkdtemp(made))
		bench_die("no folder for a log can be made in %s", folder ? folder : "/tmp");
	snprintf(log->path, sizeof log->path, "%s/log", made);
	bench_expect_ok(ps_log_create(&log->log, log->path, root, &options), "ps_log_create");
}

void bench_log_close(struct bench_log *log)
{
	ps_log_destroy(log->log);
	unlink(log->path);
	*strrchr(log->path, '/') = '\0';
	rmdir(log->path);
}

double bench_log_bytes(const struct bench_log *log)
{
	struct stat status;

	if (stat(log->path, &status) < 0)
		bench_die("the log %s is gone", log->path);
	return (double)status.st_size;
}

struct ps_log_stream *bench_log_stream(const struct bench_log *log, struct ps_eventset *set)
{
	static const char *const points[] = {"point"};
	static const struct ps_log_field fields[BENCH_LOG_FIELDS] = {{"a", PS_LOG_INTEGER},
	                                                             {"b", PS_LOG_INTEGER},
	                                                             {"c", PS_LOG_INTEGER},
	                                                             {"d", PS_LOG_INTEGER}};
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "record",
	                                 .points = points,
	                                 .point_count = 1,
	                                 .fields = fields,
	                                 .field_count = BENCH_LOG_FIELDS};
	struct ps_log_stream *stream;

	bench_expect_ok(ps_log_stream_create(&stream, log->log, set, &type),
	                "ps_log_stream_create");
	return stream;
}
