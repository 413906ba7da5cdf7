/* SPDX-License-Identifier: BSD-3-Clause */
/* The components of a table of paths: which ones are shown, and which of their sums are
 * estimates. */
#include "output/path_table.h"

#include "base/error.h"
#include "base/os.h"
#include "output/by.h"
#include "output/known.h"
#include "region/paths.h"

#include <perfsage/print.h>

struct path_components_walk {
	struct ps__path_table *table;
	const bool *is_used; /* by the index of a Thread */
	bool has_idle;       /* components that aren't used are included */
	int cache_level;
	size_t count;
};

static bool path_components_is_used(const struct path_components_walk *walk,
                                    const struct ps_component *component)
{
	struct ps__range range = ps__component_range(component);

	for (size_t index = range.first; index < range.end; index++) {
		if (walk->is_used[index])
			return true;
	}
	return false;
}

static int path_components_add(struct ps_component *component, void *context)
{
	struct path_components_walk *walk = context;
	struct ps__path_table *table = walk->table;

	if (!(table->options->types & PS_TYPE_BIT(component->type)) ||
	    (component->type == PS_COMPONENT_CACHE && walk->cache_level &&
	     component->cache_level != walk->cache_level) ||
	    (!walk->has_idle && !path_components_is_used(walk, component)))
		return 0;
	if (table->components)
		table->components[walk->count] = component;
	walk->count++;
	return 0;
}

/* Returns the number of components; stores them once table->components is allocated. The unknown
 * Thread is part of the Machine only, so it is added last. */
static size_t path_components_walk(struct path_components_walk *walk)
{
	struct ps_component *unknown = walk->table->root->topology->unknown;

	walk->count = 0;
	ps_component_for_each(walk->table->root, path_components_add, walk);
	if (path_components_is_used(walk, unknown)) {
		if (walk->table->components)
			walk->table->components[walk->count] = unknown;
		walk->count++;
	}
	return walk->count;
}

static bool *path_components_find_used(const struct ps__path_table *table)
{
	bool *is_used = ps__os_calloc(table->root->topology->thread_count + 1, sizeof *is_used);

	for (size_t row = 0; is_used && row < table->row_count; row++) {
		const struct ps__part *part = table->rows[row].path->parts;
		for (; part; part = part->next)
			is_used[ps__thread_index(part->thread)] |= part->threads > 0;
	}
	return is_used;
}

int ps__path_table_find_components(struct ps__path_table *table)
{
	struct path_components_walk walk = {.table = table,
	                                    .cache_level = table->options->cache_level,
	                                    .has_idle = table->options->flags & PS_PATHS_IDLE};
	bool *is_used = path_components_find_used(table);

	if (!is_used)
		return PS_ENOMEM;
	walk.is_used = is_used;
	if (walk.cache_level == PS_CACHE_LAST_LEVEL)
		walk.cache_level = ps__by_last_level(table->root);
	table->component_count = path_components_walk(&walk);
	table->components =
	    ps__os_calloc(table->component_count, sizeof(const struct ps_component *));
	if (table->components)
		path_components_walk(&walk);
	ps__os_free(is_used);
	return table->components ? PS_OK : PS_ENOMEM;
}

bool ps__path_table_has_elsewhere(const struct ps__path_table *table)
{
	size_t count = table->component_count;

	return count && table->components[count - 1] == table->root->topology->unknown;
}

bool ps__path_table_is_share(const struct ps__path_table *table, size_t row, size_t event,
                             enum ps_share share)
{
	const struct ps__path_sum *sum = ps__path_table_at(table, row, event, share);

	return sum->parts && ps__known_is_share(&sum->value, table->component,
	                                        ps__path_table_has_elsewhere(table));
}

bool ps__path_table_metric_is_share(const struct ps__path_table *table, size_t row,
                                    enum ps_share share, const struct ps__path_metric *metric)
{
	for (size_t operand = 0; operand < metric->ask.metric->count; operand++) {
		if (ps__path_table_is_share(table, row, metric->operands[operand], share))
			return true;
	}
	return false;
}
