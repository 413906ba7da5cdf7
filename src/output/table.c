/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the table that the exporters show: rows are components, columns are events. Calling
 * ps_component_total for each cell would visit all event sets each time. Here each part is added
 * once, then rows are summed up.
 */
#include "output/table.h"

#include "base/error.h"
#include "base/os.h"
#include "store/attrmap.h"

#include <string.h>

/* State that is needed only while the table is being made. */
struct builder {
	struct ps__table table;
	size_t *row_of_thread;             /* by index in the topology's array */
	struct ps__recording **recordings; /* sorted, oldest first */
	size_t recording_count;
	struct ps_value *values; /* the values of one reading: for each part all columns */
	size_t *threads;         /* for each part: index of its Thread in the topology's array */
	size_t *rows;            /* for each part: the row that it is added to, in the current
	                          * column */
};

struct row_maker {
	struct ps__table *table;
	size_t *row_of_thread;
};

static int table_add_row(struct ps_component *component, void *context)
{
	struct row_maker *maker = context;
	struct ps__table *table = maker->table;
	struct ps__row *row = &table->rows[table->row_count];
	size_t parent = table->row_count ? table->row_count - 1 : 0;

	while (parent > 0 && table->rows[parent].component != component->parent)
		parent = table->rows[parent].parent;
	row->component = component;
	row->parent = parent;
	row->depth = component->depth - table->rows[0].component->depth;
	if (component->thread)
		maker->row_of_thread[component->thread - table->topology->threads] =
		    table->row_count;
	table->row_count++;
	return 0;
}

static int table_count_row(struct ps_component *component, void *context)
{
	(void)component;
	++*(size_t *)context;
	return 0;
}

int ps__table_add_rows(struct ps__table *table, struct ps_component *root, size_t **row_of_thread)
{
	struct ps_topology *topology = root->topology;
	size_t threads = topology->thread_count + 1, rows = 1; /* plus the unknown Thread */

	ps_component_for_each(root, table_count_row, &rows);
	table->topology = topology;
	table->rows = ps__os_calloc(rows, sizeof *table->rows);
	*row_of_thread = ps__os_calloc(threads, sizeof **row_of_thread);
	if (!table->rows || !*row_of_thread)
		return PS_ENOMEM;
	for (size_t i = 0; i < threads; i++)
		(*row_of_thread)[i] = PS__TABLE_NO_ROW;
	struct row_maker maker = {.table = table, .row_of_thread = *row_of_thread};
	ps_component_for_each(root, table_add_row, &maker);
	if (root == topology->root)
		table_add_row(topology->unknown, &maker);
	return PS_OK;
}

/* True if the table shows the recording. A table with a timestamp shows only recordings that have a
 * reading with it. */
static bool table_shows(const struct ps__table *table, const struct ps__recording *recording)
{
	struct ps__range whole = ps__component_range(table->topology->root);
	struct ps_value value;

	return !table->timestamp ||
	       ps__recording_sum(recording, 0, whole, table->timestamp, &value) > 0;
}

/* Lists the recordings, oldest first. The topology's list has the newest first. */
static int table_list_recordings(struct builder *builder)
{
	struct ps__recording *newest = ps__recording_first(builder->table.topology);
	size_t count = 0;

	for (struct ps__recording *recording = newest; recording; recording = recording->next)
		count++;
	builder->recordings = ps__os_calloc(count, sizeof(struct ps__recording *));
	if (!builder->recordings)
		return PS_ENOMEM;
	size_t left = count;
	for (struct ps__recording *recording = newest; recording; recording = recording->next)
		builder->recordings[--left] = recording;
	for (size_t i = 0; i < count; i++) {
		if (table_shows(&builder->table, builder->recordings[i]))
			builder->recordings[builder->recording_count++] = builder->recordings[i];
	}
	if (builder->recording_count == 0 && builder->table.timestamp)
		return ps__fail(PS_ENOEVST, "no event set has a reading with timestamp %llu here",
		                (unsigned long long)builder->table.timestamp);
	return PS_OK;
}

bool ps__table_has_event(const struct ps__table *table, const char *name)
{
	size_t event = 0;

	while (event < table->event_count && strcmp(ps__table_event(table, event), name) != 0)
		event++;
	return event < table->event_count;
}

static void table_add_event(struct ps__table *table, const struct ps__column *column)
{
	if (ps__table_has_event(table, column->name))
		return;
	table->columns[table->event_count++] = (struct ps__table_column){
	    .selector = {.find = ps__select_by_name, .name = column->name},
	    .unit = column->unit,
	    .scale = column->scale,
	};
}

static void table_widen_scopes(struct ps__table *table, const struct ps__recording *recording)
{
	for (size_t i = 0; i < table->column_count; i++) {
		struct ps__table_column *column = &table->columns[i];
		ptrdiff_t found = column->selector.find(recording, &column->selector);
		if (found >= 0 && recording->column[found].scope > column->scope)
			column->scope = recording->column[found].scope;
		if (found >= 0 && i >= table->event_count)
			column->scale = recording->column[found].scale;
		if (found >= 0)
			column->counts_cpu = recording->counts_cpu;
	}
}

static int table_list_columns(struct builder *builder)
{
	struct ps__table *table = &builder->table;
	size_t limit = ps__table_count_operands(table);

	for (size_t i = 0; i < builder->recording_count; i++)
		limit += builder->recordings[i]->columns;
	table->columns = ps__os_calloc(limit, sizeof *table->columns);
	if (!table->columns)
		return PS_ENOMEM;
	for (size_t i = 0; i < builder->recording_count; i++) {
		for (size_t column = 0; column < builder->recordings[i]->columns; column++)
			table_add_event(table, &builder->recordings[i]->column[column]);
	}
	table->column_count = table->event_count;
	ps__table_add_metrics(table);
	for (size_t i = 0; i < builder->recording_count; i++)
		table_widen_scopes(table, builder->recordings[i]);
	table->cells = ps__os_calloc(table->row_count * table->column_count, sizeof *table->cells);
	return table->cells ? PS_OK : PS_ENOMEM;
}

static int table_make_room(struct builder *builder, const struct ps__history *newest,
                           size_t columns)
{
	size_t need = 0;

	for (const struct ps__history *history = newest; history;
	     history = history->next_in_recording)
		need++;
	ps__os_free(builder->values);
	ps__os_free(builder->threads);
	ps__os_free(builder->rows);
	builder->values = ps__os_calloc(need * columns, sizeof *builder->values);
	builder->threads = ps__os_calloc(need, sizeof *builder->threads);
	builder->rows = ps__os_calloc(need, sizeof *builder->rows);
	return builder->values && builder->threads && builder->rows ? PS_OK : PS_ENOMEM;
}

/* Copies the columns of the history's row that belongs to the reading. Returns false if there is
 * none. The latest reading can only be in the newest row. */
static bool table_take_part(const struct ps__history *history, uint64_t timestamp, bool is_latest,
                            struct ps_value *values)
{
	const struct ps__recording *recording = history->recording;
	size_t count = atomic_load_explicit(&history->count, memory_order_acquire);
	ptrdiff_t row = is_latest ? (ptrdiff_t)count - 1 : ps__history_find(history, timestamp);

	for (size_t column = 0; column < recording->columns; column++) {
		if (row < 0 ||
		    !ps__recording_value(history, (size_t)row, column, &values[column]) ||
		    values[column].timestamp != timestamp)
			return false;
	}
	return true;
}

/* Copies all parts of a recording's reading. *out is their number. */
static int table_take_parts(struct builder *builder, const struct ps__recording *recording,
                            size_t *out)
{
	uint64_t sequence;
	size_t parts;

	do {
		parts = 0;
		sequence = ps__recording_read_begin(recording);
		/* Pairs with the release in ps__recording_add_history. */
		const struct ps__history *newest =
		    atomic_load_explicit(&recording->histories, memory_order_acquire);
		uint64_t wanted = builder->table.timestamp;
		bool is_latest = wanted == 0;
		if (is_latest)
			wanted = atomic_load_explicit(&recording->latest, memory_order_acquire);
		if (table_make_room(builder, newest, recording->columns) < 0)
			return PS_ENOMEM;
		for (const struct ps__history *history = newest; history;
		     history = history->next_in_recording) {
			if (!table_take_part(history, wanted, is_latest,
			                     &builder->values[parts * recording->columns]))
				continue;
			builder->threads[parts++] =
			    (size_t)(history->thread - builder->table.topology->threads);
		}
	} while (ps__recording_read_retry(recording, sequence));
	*out = parts;
	return PS_OK;
}

static bool table_contains(const struct ps_component *outer, const struct ps_component *inner)
{
	return inner->first_thread >= outer->first_thread &&
	       inner->first_thread + inner->thread_count <=
	           outer->first_thread + outer->thread_count;
}

/* Returns the lowest row whose component contains all that one count of this scope on this Thread
 * covers; PS__TABLE_NO_ROW if there is none. */
static size_t table_row_of(const struct builder *builder, size_t thread, enum ps_scope scope)
{
	const struct ps__table *table = &builder->table;
	size_t row = builder->row_of_thread[thread];

	if (row == PS__TABLE_NO_ROW)
		return PS__TABLE_NO_ROW;
	const struct ps_component *covered =
	    ps__component_covered(table->topology->threads[thread].component, scope);
	while (row > 0 && !table_contains(table->rows[row].component, covered))
		row = table->rows[row].parent;
	return table_contains(table->rows[row].component, covered) ? row : PS__TABLE_NO_ROW;
}

/* Adds an event whose scope is a hardware thread: the counts of several sets are summed. */
static void table_add_narrow(struct builder *builder, const struct ps__recording *recording,
                             size_t parts, size_t column, size_t event)
{
	for (size_t part = 0; part < parts; part++) {
		size_t row = builder->row_of_thread[builder->threads[part]];
		if (row == PS__TABLE_NO_ROW)
			continue;
		struct ps__cell *cell = ps__table_cell(&builder->table, row, event);
		ps__value_merge(&cell->value, &cell->parts,
		                &builder->values[part * recording->columns + column]);
	}
}

/* Adds up the parts that belong to the first part's row, and marks them as done. */
static struct ps_value table_take_sum(struct builder *builder,
                                      const struct ps__recording *recording, size_t parts,
                                      size_t first, size_t column)
{
	size_t row = builder->rows[first], merged = 0;
	struct ps_value sum = {0};

	for (size_t part = first; part < parts; part++) {
		if (builder->rows[part] != row)
			continue;
		ps__value_merge(&sum, &merged,
		                &builder->values[part * recording->columns + column]);
		builder->rows[part] = PS__TABLE_NO_ROW;
	}
	return sum;
}

/* Adds an event of a wider scope, such as a package. All sets see the same count of a package, so
 * the newest one is taken instead of a sum. */
static void table_add_wide(struct builder *builder, const struct ps__recording *recording,
                           size_t parts, size_t column, size_t event)
{
	for (size_t part = 0; part < parts; part++)
		builder->rows[part] = table_row_of(builder, builder->threads[part],
		                                   builder->table.columns[event].scope);
	for (size_t part = 0; part < parts; part++) {
		if (builder->rows[part] == PS__TABLE_NO_ROW)
			continue;
		struct ps__cell *cell = ps__table_cell(&builder->table, builder->rows[part], event);
		struct ps_value sum = table_take_sum(builder, recording, parts, part, column);
		if (cell->parts == 0 || sum.timestamp > cell->value.timestamp)
			*cell = (struct ps__cell){.value = sum, .parts = 1};
	}
}

static int table_add_recording(struct builder *builder, const struct ps__recording *recording)
{
	size_t parts;

	if (table_take_parts(builder, recording, &parts) < 0)
		return PS_ENOMEM;
	for (size_t event = 0; event < builder->table.column_count; event++) {
		const struct ps__table_column *about = &builder->table.columns[event];
		ptrdiff_t column = about->selector.find(recording, &about->selector);
		if (column < 0 || (!builder->table.timestamp &&
		                   ps__recording_is_superseded(recording, &about->selector)))
			continue;
		if (about->scope == PS_SCOPE_THREAD)
			table_add_narrow(builder, recording, parts, (size_t)column, event);
		else
			table_add_wide(builder, recording, parts, (size_t)column, event);
	}
	return PS_OK;
}

static int table_build(struct builder *builder, struct ps_component *root)
{
	int code = ps__table_add_rows(&builder->table, root, &builder->row_of_thread);

	if (code == PS_OK)
		code = table_list_recordings(builder);
	if (code == PS_OK)
		code = table_list_columns(builder);
	for (size_t i = 0; code == PS_OK && i < builder->recording_count; i++)
		code = table_add_recording(builder, builder->recordings[i]);
	if (code == PS_OK)
		ps__table_finish(&builder->table);
	if (code == PS_OK)
		ps__table_sum_wholes(&builder->table);
	return code;
}

/* Keeps only the component's row, as the first one. */
static void table_keep_row(struct ps__table *table, const struct ps_component *component)
{
	size_t row = 0;

	while (table->rows[row].component != component)
		row++;
	table->rows[0] = (struct ps__row){.component = table->rows[row].component,
	                                  .counted = table->rows[row].counted};
	for (size_t column = 0; column < table->column_count; column++)
		*ps__table_cell(table, 0, column) = *ps__table_cell(table, row, column);
	table->row_count = 1;
}

int ps__table_create(struct ps__table *out, struct ps_component *root, const char *const *metrics,
                     size_t metric_count)
{
	return ps__table_create_at(out, root, metrics, metric_count, 0);
}

int ps__table_create_at(struct ps__table *out, struct ps_component *root,
                        const char *const *metrics, size_t metric_count, uint64_t timestamp)
{
	struct builder builder = {.table = {.topology = root->topology, .timestamp = timestamp}};
	/* The hardware threads of a NUMA node aren't below it in the tree, so the table of its
	 * parent is made, and the node's row is kept. */
	bool is_node = root->type == PS_COMPONENT_NUMA;
	int code = ps__table_find_metrics(&builder.table, metrics, metric_count);
	if (code == PS_OK)
		code = table_build(&builder, is_node ? root->parent : root);
	if (code == PS_OK && is_node)
		table_keep_row(&builder.table, root);
	ps__os_free(builder.row_of_thread);
	ps__os_free(builder.recordings);
	ps__os_free(builder.values);
	ps__os_free(builder.threads);
	ps__os_free(builder.rows);
	if (code < 0) {
		ps__table_clear(&builder.table);
		return code == PS_ENOMEM ? ps__fail_memory("the totals") : code;
	}
	*out = builder.table;
	return PS_OK;
}

void ps__table_clear(struct ps__table *table)
{
	ps__os_free(table->rows);
	ps__os_free(table->columns);
	ps__os_free(table->metrics);
	ps__os_free(table->cells);
	*table = (struct ps__table){0};
}
