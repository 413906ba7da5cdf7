/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums up a table: each Thread's counts are added to all components above it. If it is known where
 * all counts are, a component without counts gets a known 0.
 */
#include "output/known.h"
#include "output/table.h"

#include "store/attrmap.h"

#include <perfsage/error.h>

static void table_merge_into_parent(struct ps__table *table, size_t row, size_t event)
{
	const struct ps__cell *cell = ps__table_cell(table, row, event);
	struct ps__cell *parent = ps__table_cell(table, table->rows[row].parent, event);

	if (cell->parts)
		ps__value_merge(&parent->value, &parent->parts, &cell->value);
}

/* Adds rows to their parents, from the last row to the first. Parents come before their
 * children. */
static void table_add_up(struct ps__table *table, size_t event)
{
	const struct ps_component *unknown = table->topology->unknown;

	for (size_t row = table->row_count - 1; row > 0; row--) {
		const struct ps_component *component = table->rows[row].component;
		if (component->type != PS_COMPONENT_NUMA && component != unknown)
			table_merge_into_parent(table, row, event);
	}
	/* A NUMA node has the hardware threads of its parent, so it gets a copy of the parent's
	 * sum. The unknown Thread is added to the Machine only afterwards: it belongs to no NUMA
	 * node. */
	for (size_t row = 1; row < table->row_count; row++) {
		if (table->rows[row].component->type == PS_COMPONENT_NUMA)
			*ps__table_cell(table, row, event) =
			    *ps__table_cell(table, table->rows[row].parent, event);
	}
	if (table->rows[table->row_count - 1].component == unknown && table->row_count > 1)
		table_merge_into_parent(table, table->row_count - 1, event);
}

/* Sums up a column over a component that has no row. False if it has no counts. */
static bool table_sum_outside(const struct ps__table *table, size_t column,
                              const struct ps_component *component, struct ps_value *out)
{
	struct ps__selector selector = table->columns[column].selector;

	selector.timestamp = table->timestamp;
	return ps__component_sum(component, &selector, out) == PS_OK;
}

static bool table_is_of_machine(const struct ps__table *table)
{
	return table->rows[0].component == table->topology->root;
}

/* True if there are counts on the unknown Thread: on a CPU that isn't in the tree, but may belong
 * to any of the tree's packages, caches and cores. */
static bool table_has_unknown(const struct ps__table *table, size_t column)
{
	size_t last = table->row_count - 1;
	struct ps_value value;

	if (!table_is_of_machine(table))
		return table_sum_outside(table, column, table->topology->unknown, &value);
	return table->rows[last].component == table->topology->unknown &&
	       ps__table_cell(table, last, column)->parts > 0;
}

bool ps__table_is_share(const struct ps__table *table, size_t row, size_t column)
{
	const struct ps__cell *cell = ps__table_cell(table, row, column);

	return cell->parts > 0 && ps__known_is_share(&cell->value, table->rows[row].component,
	                                             table_has_unknown(table, column));
}

/* Gives components without a part a known 0, if it is known where all counts of the machine are:
 * those elsewhere may belong below the first row. */
static void table_fill_absent(struct ps__table *table, size_t column)
{
	const struct ps__cell *sum = ps__table_cell(table, 0, column);
	struct ps_value whole = sum->value;

	if (table->columns[column].scope != PS_SCOPE_THREAD || sum->parts == 0)
		return;
	if (!table_is_of_machine(table) &&
	    !table_sum_outside(table, column, table->topology->root, &whole))
		return;
	if (table_has_unknown(table, column) || !ps__known_has_place(&whole))
		return;
	for (size_t row = 1; row < table->row_count; row++) {
		struct ps__cell *cell = ps__table_cell(table, row, column);
		bool is_place = table->rows[row].component != table->topology->unknown;
		if (is_place && cell->parts == 0)
			*cell = (struct ps__cell){
			    .value = ps__known_zero(&whole), .parts = 1, .is_absent = true};
	}
}

void ps__table_finish(struct ps__table *table)
{
	for (size_t column = 0; column < table->column_count; column++) {
		table_add_up(table, column);
		for (size_t row = 0; row < table->row_count; row++)
			ps__value_finish(&ps__table_cell(table, row, column)->value);
	}
	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t event = 0; event < table->event_count; event++)
			table->rows[row].counted |= ps__table_cell(table, row, event)->parts > 0;
	}
	for (size_t column = 0; column < table->column_count; column++)
		table_fill_absent(table, column);
}
