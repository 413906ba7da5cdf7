/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit costs from a log: what one unit of each kind of work costs, although the kinds are only
 * measured together.
 *
 *     cc -O2 09_unit_costs.c -o unit_costs $(pkg-config --cflags --libs perfsage) \
 *         -Wl,-rpath,$(pkg-config --variable=libdir perfsage)
 *     ./unit_costs [FILE [RECORDS]]
 *     perfsage log cost unit_costs.pslog --work A,B,C --of page-faults
 *
 * A function does A units of one kind of work, B of another and C of a third. A record has the page
 * faults from the function's beginning to its end, and A, B and C. A unit touches 3, 5 or 7 fresh
 * pages, and perfsage log cost computes these numbers.
 */
#include <perfsage.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define KINDS      3
#define MOST_UNITS 20

enum {
	BEGIN,
	END
};

static const int pages_of_unit[KINDS] = {3, 5, 7};

static void check(int code, const char *call)
{
	if (code == PS_OK)
		return;
	fprintf(stderr, "%s: %s\n    %s\n", call, ps_strerror(code), ps_error_detail());
	if (code != PS_PARTIAL) /* then the other counts are right */
		exit(EXIT_FAILURE);
}

static volatile char *memory;
static size_t page_bytes;

/* Touches fresh pages; each is a page fault. */
static void work(const long long units[KINDS])
{
	size_t page = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		for (long long left = units[kind] * pages_of_unit[kind]; left > 0; left--)
			memory[page++ * page_bytes] = 1;
	}
}

static void write_records(struct ps_log_stream *stream, long records)
{
	size_t bytes = page_bytes * MOST_UNITS * (3 + 5 + 7);
	unsigned random = 1;

	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(EXIT_FAILURE);
	}
	for (long record = 0; record < records; record++) {
		long long units[KINDS];
		for (int kind = 0; kind < KINDS; kind++) {
			random = random * 1103515245 + 12345;
			units[kind] = (random >> 16) % MOST_UNITS;
			check(ps_log_set_integer(stream, (unsigned)kind, units[kind]),
			      "ps_log_set_integer");
		}
		check(ps_log_take(stream, BEGIN), "ps_log_take");
		work(units);
		check(ps_log_take(stream, END), "ps_log_take");
		check(ps_log_write(stream), "ps_log_write");
		/* Give the pages back, so that they are fresh again. */
		madvise((void *)memory, bytes, MADV_DONTNEED);
	}
	munmap((void *)memory, bytes);
}

int main(int argc, char **argv)
{
	static const char *const points[] = {"begin", "end"};
	static const struct ps_log_field fields[KINDS] = {
	    {"A", PS_LOG_INTEGER}, {"B", PS_LOG_INTEGER}, {"C", PS_LOG_INTEGER}};
	const struct ps_log_type type = {.size = sizeof type,
	                                 .name = "call",
	                                 .points = points,
	                                 .point_count = 2,
	                                 .fields = fields,
	                                 .field_count = KINDS};
	const struct ps_log_options options = {.size = sizeof options, .flags = PS_LOG_REPLACE};
	struct ps_topology *topology;
	struct ps_eventset *set;
	struct ps_log *log;
	struct ps_log_stream *stream;
	const char *path = argc > 1 ? argv[1] : "unit_costs.pslog";
	long records = argc > 2 ? atol(argv[2]) : 200;

	if (argc > 3 || records < 1) {
		fprintf(stderr, "usage: %s [FILE [RECORDS]]\n", argv[0]);
		return EXIT_FAILURE;
	}
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	check(ps_topology_load(&topology, NULL), "ps_topology_load");
	check(ps_eventset_create(&set), "ps_eventset_create");
	check(ps_eventset_add(set, "page-faults"), "ps_eventset_add");
	check(ps_start(set), "ps_start");
	check(ps_log_create(&log, path, ps_topology_root(topology), &options), "ps_log_create");
	check(ps_log_stream_create(&stream, log, set, &type), "ps_log_stream_create");
	write_records(stream, records);
	ps_log_stream_destroy(stream);
	ps_log_destroy(log);
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	printf("%ld records in %s. Now: perfsage log cost %s --work A,B,C --of page-faults\n",
	       records, path, path);
	return EXIT_SUCCESS;
}
