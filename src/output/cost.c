/* SPDX-License-Identifier: BSD-3-Clause */
/* What measuring cost, in the printed tree. */
#include "output/cost.h"

#include "topology/series.h"

void ps__cost_add(struct ps__buffer *buffer, const struct ps__table *table)
{
	const struct ps_topology *topology = table->topology;
	unsigned long long readings = 0;
	double all_ns = 0;

	if (table->rows[0].component != topology->root)
		return;
	const struct ps__series *series = atomic_load_explicit(&topology->series, memory_order_acquire);
	for (; series; series = series->next) {
		uint64_t reading_ps = atomic_load_explicit(&series->reading_ps, memory_order_relaxed);
		uint64_t writes = reading_ps ? ps__series_count_writes(series) : 0;
		readings += writes;
		all_ns += (double)writes * (double)reading_ps / 1000;
	}
	if (readings)
		ps__buffer_add(buffer, "cost: %llu readings of %.0f ns each, %.3f ms in all\n", readings,
		               all_ns / (double)readings, all_ns / 1e6);
}
