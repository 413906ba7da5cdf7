/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a million readings and measures how much memory becomes resident; compares it with plain
 * rows in an array. */
#include "counted.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EVENTS   4
#define READINGS 1000000u

/* The smallest row with the same content: a timestamp, the values, and the times of their group. */
struct row {
	uint64_t timestamp;
	uint64_t values[EVENTS];
	uint64_t enabled_ns;
	uint64_t running_ns;
};

static double resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!file || fscanf(file, "%*s %ld", &pages) != 1)
		bench_die("/proc/self/statm can't be read");
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double bytes_of_readings(unsigned count)
{
	struct ps_topology *topology;
	struct ps_eventset *set = bench_make_set(EVENTS);

	bench_expect_ok(ps_topology_load(&topology, NULL), "ps_topology_load");
	bench_expect_ok(ps_start(set), "ps_start");
	bench_expect_ok(ps_read(set, ps_topology_root(topology), NULL, NULL), "ps_read");
	double before = resident_bytes();
	for (unsigned index = 0; index < count; index++) {
		uint64_t timestamp = 0;
		bench_expect_ok(ps_read(set, ps_topology_root(topology), &timestamp, NULL),
		                "ps_read");
	}
	double bytes = resident_bytes() - before;
	ps_eventset_destroy(set);
	ps_topology_destroy(topology);
	return bytes / count;
}

static double bytes_of_rows(unsigned count)
{
	double before = resident_bytes();
	struct row *rows = malloc(count * sizeof *rows);

	if (!rows)
		bench_die("no memory for %u rows", count);
	for (unsigned index = 0; index < count; index++)
		rows[index] = (struct row){.timestamp = index, .values = {index}};
	bench_keep(rows);
	double bytes = resident_bytes() - before;
	free(rows);
	return bytes / count;
}

int main(int argc, char **argv)
{
	char title[80];

	bench_begin(argc, argv);
	unsigned count = bench_scaled(READINGS);
	struct bench_figure figures[] = {
	    {.name = "memory_of_a_row", .events = EVENTS},
	    {.name = "memory_of_a_reading", .events = EVENTS, .versus = "memory_of_a_row"},
	};

	figures[1].value = bytes_of_readings(count);
	figures[0].value = bytes_of_rows(count);
	snprintf(title, sizeof title, "Resident memory, of each of %u readings of %d events", count,
	         EVENTS);
	bench_print_figures(title, "bytes", figures, 2);
	return 0;
}
