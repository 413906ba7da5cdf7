/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The totals of all components below one, for every event: what the exporters show. Each event set's latest reading is
 * looked at once, so all numbers of a table belong together, also while sets are counting.
 */
#ifndef PS_EXPORT_TABLE_H
#define PS_EXPORT_TABLE_H

#include "topology/tree.h"

#include <perfsage/value.h>

struct ps__cell {
	struct ps_value value; /* what ps_component_total gives */
	size_t parts;          /* 0: there is no total */
};

struct ps__row {
	struct ps_component *component;
	size_t parent; /* a row; the first row is its own */
	int depth;     /* below the first row */
	bool counted;  /* has a total of any event */
};

struct ps__table {
	struct ps_topology *topology;
	struct ps__row *rows; /* parents first; the unknown Thread last, if the first row is the Machine */
	size_t row_count;
	const char **events; /* in the order in which they came; the topology's strings */
	size_t event_count;
	struct ps__cell *cells; /* for each row all events */
};

static inline struct ps__cell *ps__table_cell(const struct ps__table *table, size_t row, size_t event)
{
	return &table->cells[row * table->event_count + event];
}

/* PS_ENOMEM. */
int ps__table_create(struct ps__table *out, struct ps_component *root);
void ps__table_clear(struct ps__table *table);

#endif
