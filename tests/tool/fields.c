/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes records whose fields are numbers that are hard to tell apart, and texts that are partly
 * numbers: an integer k, a real r, a text t. A text e is empty in the last record, and is not set
 * in those before.
 *
 *     fields LOG [RING]
 *
 * With RING they are written 2000 times, and the log keeps the newest in so many bytes.
 */
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
	long long k;
	double r;
	const char *t;
} records[] = {{9007199254740992, 1e-9, "9"},
               {9007199254740993, 1e300, "1x"},
               {5, -2.5, "10"},
               {9223372036854775807, 0.25, "3"},
               {-5, 0.5, "2"}};

static int check(int code)
{
	if (code != PS_OK)
		fprintf(stderr, "fields: %s\n", ps_error_detail());
	return code == PS_OK ? 0 : -1;
}

static int write_records(struct ps_log_stream *stream)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < sizeof records / sizeof records[0]; i++) {
		result |= check(ps_log_take(stream, 0)) | check(ps_log_take(stream, 1));
		result |= check(ps_log_set_integer(stream, 0, records[i].k));
		result |= check(ps_log_set_real(stream, 1, records[i].r));
		result |= check(ps_log_set_text(stream, 2, records[i].t));
		if (i + 1 == sizeof records / sizeof records[0])
			result |= check(ps_log_set_text(stream, 3, ""));
		result |= check(ps_log_write(stream));
	}
	return result;
}

int main(int argc, char **argv)
{
	static const char *const points[] = {"begin", "end"};
	static const struct ps_log_field fields[] = {
	    {"k", PS_LOG_INTEGER}, {"r", PS_LOG_REAL}, {"t", PS_LOG_TEXT}, {"e", PS_LOG_TEXT}};
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "number",
	                                 .points = points,
	                                 .point_count = 2,
	                                 .fields = fields,
	                                 .field_count = 4};
	struct ps_topology *topology = NULL;
	struct ps_eventset *set = NULL;
	struct ps_log *log = NULL;
	struct ps_log_stream *stream = NULL;
	const struct ps_log_options options = {
	    .size = sizeof options, .ring_bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 0};

	if (argc < 2 || check(ps_topology_load(&topology, NULL)) ||
	    check(ps_eventset_create(&set)) || check(ps_eventset_add(set, "page-faults:u")) ||
	    check(ps_start(set)) ||
	    check(ps_log_create(&log, argv[1], ps_topology_root(topology), &options)) ||
	    check(ps_log_stream_create(&stream, log, set, &type)))
		return 1;
	for (int round = 0; round < (argc > 2 ? 2000 : 1); round++) {
		if (write_records(stream))
			return 1;
	}
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	return 0;
}
