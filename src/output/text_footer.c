/* SPDX-License-Identifier: BSD-3-Clause */
/* The last lines below a printed tree: the residual, and the cost of measuring. */
#include "output/label.h"
#include "output/text.h"
#include "store/recording.h"

#include <string.h>

static int64_t footer_residual_of(const struct ps__recording *recording, const char *event)
{
	for (size_t column = 0; column < recording->columns; column++) {
		if (!strcmp(recording->column[column].name, event))
			return atomic_load_explicit(&recording->column[column].residual,
			                            memory_order_relaxed);
	}
	return 0;
}

/* Numbers of the sets that have readings in the tree. */
struct footer_sets {
	size_t checked;
	size_t others; /* sets that were not checked */
};

/* Sums up an event's residual over all sets that were checked. */
static struct footer_sets footer_sum_residual(const struct ps_topology *topology, const char *event,
                                              int64_t *out)
{
	struct ps__recording *recording = ps__recording_first(topology);
	struct footer_sets sets = {0};

	*out = 0;
	for (; recording; recording = recording->next) {
		/* Pairs with the release in ps_eventset_check. */
		if (!atomic_load_explicit(&recording->is_checked, memory_order_acquire)) {
			sets.others +=
			    atomic_load_explicit(&recording->latest, memory_order_relaxed) != 0;
			continue;
		}
		sets.checked++;
		*out += footer_residual_of(recording, event);
	}
	return sets;
}

void ps__text_add_residual(struct ps__buffer *buffer, const struct ps__table *table)
{
	const char *separator = "residual: ";
	struct footer_sets sets = {0};
	int64_t residual;

	if (table->rows[0].component != table->topology->root)
		return;
	for (size_t event = 0; event < table->event_count; event++) {
		sets =
		    footer_sum_residual(table->topology, ps__table_event(table, event), &residual);
		if (residual == 0)
			continue;
		ps__buffer_add(buffer, "%s", separator);
		ps__label_add_event(buffer, ps__table_event(table, event), "");
		ps__buffer_add(buffer, " %lld", (long long)residual);
		separator = ", ";
	}
	if (separator[0] == ',')
		ps__buffer_add(buffer, " (counted by the kernel, and in no part)\n");
	else if (sets.checked && sets.others)
		ps__buffer_add(
		    buffer, "residual: 0 for %zu of %zu event sets; the others were not checked\n",
		    sets.checked, sets.checked + sets.others);
	else if (sets.checked)
		ps__buffer_add(buffer,
		               "residual: 0 (the parts add up to what the kernel counted)\n");
}

void ps__text_add_cost(struct ps__buffer *buffer, const struct ps__table *table)
{
	const struct ps_topology *topology = table->topology;
	unsigned long long readings = 0;
	double all_ns = 0;

	if (table->rows[0].component != topology->root)
		return;
	for (const struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		uint64_t reading_ps =
		    atomic_load_explicit(&recording->reading_ps, memory_order_relaxed);
		uint64_t writes = reading_ps ? ps__recording_count_writes(recording) : 0;
		readings += writes;
		all_ns += (double)writes * (double)reading_ps / 1000;
	}
	if (readings)
		ps__buffer_add(buffer, "cost: %llu readings of %.0f ns each, %.3f ms in all\n",
		               readings, all_ns / (double)readings, all_ns / 1e6);
}
