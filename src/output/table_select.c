/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the rows that are shown: some types of components, with or without those where nothing
 * was counted. */
#include "base/error.h"
#include "output/table.h"

#include <perfsage/print.h>

#define ALL_TYPES   (PS_TYPE_BIT(PS_COMPONENT_THREAD + 1) - 1)
#define LEVEL_LIMIT 5

int ps__table_check_view(const struct ps__table_view *view, const char *call)
{
	if (view->types & ~ALL_TYPES)
		return ps__fail(PS_EINVAL, "%s: options->types has an unknown type: 0x%x", call,
		                view->types);
	if (view->cache_level < PS_CACHE_LAST_LEVEL || view->cache_level > LEVEL_LIMIT)
		return ps__fail(PS_EINVAL,
		                "%s: options->cache_level is %d: there are the levels 1 to %d",
		                call, view->cache_level, LEVEL_LIMIT);
	return PS_OK;
}

static int table_last_level(const struct ps__table *table)
{
	int level = 0;

	for (size_t row = 0; row < table->row_count; row++) {
		if (table->rows[row].component->cache_level > level)
			level = table->rows[row].component->cache_level;
	}
	return level;
}

static bool table_is_asked_for(const struct ps__table_view *view, int level,
                               const struct ps_component *component)
{
	if (view->types && !(view->types & PS_TYPE_BIT(component->type)))
		return false;
	return component->type != PS_COMPONENT_CACHE || !level || component->cache_level == level;
}

/* True if the row is kept. The unknown Thread is kept if it has counts, because they are part of
 * the Machine's sum. */
static bool table_is_shown(struct ps__table *table, const struct ps__table_view *view, int level,
                           size_t row)
{
	const struct ps__row *about = &table->rows[row];

	if (row == 0)
		return true;
	if (about->component == table->topology->unknown)
		return about->counted;
	if (!table_is_asked_for(view, level, about->component))
		return false;
	if (about->counted || view->idle)
		return true;
	table->left_out++;
	return false;
}

/* Decides which rows stay, and sets their new index, depth and parent. */
static void table_place_rows(struct ps__table *table, const struct ps__table_view *view)
{
	int level =
	    view->cache_level == PS_CACHE_LAST_LEVEL ? table_last_level(table) : view->cache_level;
	size_t kept = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		struct ps__row *row = &table->rows[i];
		const struct ps__row *parent = &table->rows[row->parent];
		row->stays = table_is_shown(table, view, level, i);
		row->depth = i == 0 ? 0 : parent->depth + row->stays;
		row->parent = i == 0 ? 0 : parent->index;
		row->index = row->stays ? kept++ : row->parent;
	}
}

void ps__table_select(struct ps__table *table, const struct ps__table_view *view)
{
	size_t kept = 0;

	table_place_rows(table, view);
	for (size_t row = 0; row < table->row_count; row++) {
		if (!table->rows[row].stays)
			continue;
		table->rows[kept] = table->rows[row];
		for (size_t column = 0; column < table->column_count; column++)
			*ps__table_cell(table, kept, column) = *ps__table_cell(table, row, column);
		kept++;
	}
	table->row_count = kept;
}
