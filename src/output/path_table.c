/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up what was counted in each path, from the last row to the first, so that a path's inclusive
 * sum is complete before it is added to its parent. */
#include "output/path_table.h"

#include "base/error.h"
#include "base/os.h"
#include "output/known.h"
#include "region/paths.h"
#include "region/profile.h"

#include <perfsage/print.h>
#include <string.h>

static void path_table_set_times(struct ps__path_row *row)
{
	struct ps_visits visits = ps__path_known_visits(row->path);

	row->wall_ns[PS_SHARE_EXCLUSIVE] = row->wall_ns[PS_SHARE_INCLUSIVE] = visits.wall_ns;
	row->on_cpu_ns[PS_SHARE_EXCLUSIVE] = row->on_cpu_ns[PS_SHARE_INCLUSIVE] = visits.on_cpu_ns;
	/* Sums use the unclamped time: an estimate may be below 0. */
	if (visits.wall_ns != UINT64_MAX)
		row->wall_ns[PS_SHARE_INCLUSIVE] = row->path->visits.wall_ns;
	if (visits.on_cpu_ns != UINT64_MAX)
		row->on_cpu_ns[PS_SHARE_INCLUSIVE] = row->path->visits.on_cpu_ns;
}

/* Adds the rows in the tree's order: a path's children follow it directly. */
static void path_table_add_rows(struct ps__path_table *table, const struct ps_path *path)
{
	size_t parent = 0;

	while (path) {
		struct ps__path_row *row = &table->rows[table->row_count];
		*row = (struct ps__path_row){
		    .path = path, .parent = parent, .is_unsplit = path->doubt & PS__HAS_UNSPLIT};
		row->depth = path->parent ? table->rows[parent].depth + 1 : 0;
		path_table_set_times(row);
		if (path->child) {
			parent = table->row_count++;
			path = path->child;
			continue;
		}
		table->row_count++;
		while (path->parent && !path->next) {
			path = path->parent;
			parent = table->rows[parent].parent;
		}
		path = path->next;
	}
}

/* Corrects an inclusive time that rounding has made smaller than its exclusive part. */
static void path_table_finish_time(uint64_t time_ns[PS__SHARES])
{
	if (time_ns[PS_SHARE_INCLUSIVE] != UINT64_MAX &&
	    time_ns[PS_SHARE_EXCLUSIVE] != UINT64_MAX &&
	    (int64_t)time_ns[PS_SHARE_INCLUSIVE] < (int64_t)time_ns[PS_SHARE_EXCLUSIVE])
		time_ns[PS_SHARE_INCLUSIVE] = time_ns[PS_SHARE_EXCLUSIVE];
}

static void path_table_add_times(struct ps__path_table *table)
{
	for (size_t row = table->row_count; row-- > 0;) {
		struct ps__path_row *from = &table->rows[row];
		struct ps__path_row *to = &table->rows[from->parent];
		path_table_finish_time(from->wall_ns);
		path_table_finish_time(from->on_cpu_ns);
		uint64_t on_cpu_ns = from->on_cpu_ns[PS_SHARE_INCLUSIVE];
		/* If no visit was counted, or none has ended, the time is unknown. It is then part
		 * of the parent's time. */
		if (row == 0 || from->wall_ns[PS_SHARE_INCLUSIVE] == UINT64_MAX)
			continue;
		if (to->wall_ns[PS_SHARE_INCLUSIVE] == UINT64_MAX)
			to->wall_ns[PS_SHARE_INCLUSIVE] = to->on_cpu_ns[PS_SHARE_INCLUSIVE] = 0;
		to->wall_ns[PS_SHARE_INCLUSIVE] += from->wall_ns[PS_SHARE_INCLUSIVE];
		if (on_cpu_ns == UINT64_MAX || to->on_cpu_ns[PS_SHARE_INCLUSIVE] == UINT64_MAX)
			to->on_cpu_ns[PS_SHARE_INCLUSIVE] = UINT64_MAX;
		else
			to->on_cpu_ns[PS_SHARE_INCLUSIVE] += on_cpu_ns;
	}
}

/* Returns the path's own sum on a component. The caller calls path_table_finish on it. */
static struct ps__path_sum path_table_sum_own(const struct ps__path_table *table, size_t row,
                                              const struct ps_component *component, size_t event)
{
	struct ps__range range = ps__component_range(component);
	struct ps__path_sum sum = {.parts = 0};

	if (!ps__component_holds(component, ps_eventset_event_scope(table->model, event)))
		return sum;
	for (const struct ps__part *part = table->rows[row].path->parts; part; part = part->next) {
		size_t index = ps__thread_index(part->thread);
		if (part->threads && index >= range.first && index < range.end)
			ps__value_merge(&sum.value, &sum.parts, &part->values[event]);
	}
	return sum;
}

static void path_table_finish(struct ps__path_sum *sum)
{
	if (sum->parts)
		ps__value_finish(&sum->value);
}

static void path_table_sum_row(struct ps__path_table *table, size_t row,
                               const struct ps_component *component)
{
	for (size_t event = 0; event < table->event_count; event++) {
		struct ps__path_sum sum = path_table_sum_own(table, row, component, event);
		*ps__path_table_at(table, row, event, PS_SHARE_EXCLUSIVE) = sum;
		*ps__path_table_at(table, row, event, PS_SHARE_INCLUSIVE) = sum;
	}
}

static void path_table_merge_into_parent(struct ps__path_table *table, size_t row)
{
	struct ps__path_row *parent = &table->rows[table->rows[row].parent];

	parent->is_unsplit = parent->is_unsplit || table->rows[row].is_unsplit;
	for (size_t event = 0; event < table->event_count; event++) {
		const struct ps__path_sum *from =
		    ps__path_table_at(table, row, event, PS_SHARE_INCLUSIVE);
		struct ps__path_sum *to =
		    ps__path_table_at(table, table->rows[row].parent, event, PS_SHARE_INCLUSIVE);
		if (from->parts)
			ps__value_merge(&to->value, &to->parts, &from->value);
	}
}

/* Labels the inclusive sums last-cpu, as ps_path_value does, if counts of a path below may belong
 * to any component. */
static void path_table_doubt(struct ps__path_table *table, size_t row)
{
	for (size_t event = 0; table->rows[row].is_unsplit && event < table->event_count; event++) {
		struct ps__path_sum *sum = ps__path_table_at(table, row, event, PS_SHARE_INCLUSIVE);
		if (sum->parts)
			sum->value.attribution = PS_ATTRIBUTION_LAST_CPU;
	}
}

/* True if it is known where all of the path's counts are, so that it counted 0 elsewhere. Visits
 * that were not counted could have been anywhere. */
static bool path_table_knows_where(const struct ps__path_table *table, size_t row,
                                   const struct ps__path_sum *all)
{
	const struct ps_visits *visits = &table->rows[row].path->visits;

	return all->parts && ps__known_has_place(&all->value) && visits->counted == visits->count;
}

/* Turns a sum without parts into a known 0, if it is known where all counts of the row's event
 * are. */
static void path_table_fill(const struct ps__path_table *table, size_t row, size_t event,
                            const struct ps__path_sum *all, struct ps__path_sum *sum)
{
	if (sum->parts || ps_eventset_event_scope(table->model, event) != PS_SCOPE_THREAD ||
	    !path_table_knows_where(table, row, all))
		return;
	*sum = (struct ps__path_sum){.value = ps__known_zero(&all->value), .parts = 1};
}

bool ps__path_table_has_own(const struct ps__path_table *table, size_t row,
                            const struct ps_component *component)
{
	size_t parts = 0;

	for (size_t event = 0; event < table->event_count; event++)
		parts += path_table_sum_own(table, row, component, event).parts;
	return parts > 0;
}

struct ps__path_sum ps__path_table_own(const struct ps__path_table *table, size_t row,
                                       const struct ps_component *component, size_t event)
{
	struct ps__path_sum sum = path_table_sum_own(table, row, component, event);
	size_t index = (row * table->event_count + event) * PS__SHARES + PS_SHARE_EXCLUSIVE;

	path_table_finish(&sum);
	if (table->everywhere)
		path_table_fill(table, row, event, &table->everywhere[index], &sum);
	return sum;
}

static void path_table_fill_absent(struct ps__path_table *table)
{
	size_t each = table->event_count * PS__SHARES, sums = table->row_count * each;

	for (size_t index = 0; index < sums; index++)
		path_table_fill(table, index / each, index % each / PS__SHARES,
		                &table->everywhere[index], &table->sums[index]);
}

void ps__path_table_sum(struct ps__path_table *table, const struct ps_component *component)
{
	size_t sums = table->row_count * table->event_count * PS__SHARES;

	table->component = component;
	for (size_t row = 0; row < table->row_count; row++)
		path_table_sum_row(table, row, component);
	for (size_t row = table->row_count; row-- > 1;)
		path_table_merge_into_parent(table, row);
	for (size_t row = 0; row < table->row_count; row++)
		path_table_doubt(table, row);
	for (size_t sum = 0; sum < sums; sum++)
		path_table_finish(&table->sums[sum]);
	if (table->everywhere)
		path_table_fill_absent(table);
}

size_t ps__path_table_name(struct ps__path_table *table, size_t row)
{
	size_t depth = table->rows[row].depth;

	for (size_t level = depth; level > 0; row = table->rows[row].parent)
		table->names[--level] = ps_path_name(table->rows[row].path);
	return depth;
}

static int path_table_make_names(struct ps__path_table *table)
{
	size_t deepest = 0;

	for (size_t row = 0; row < table->row_count; row++)
		deepest = table->rows[row].depth > deepest ? table->rows[row].depth : deepest;
	table->names = ps__os_calloc(deepest, sizeof(const char *));
	return table->names ? PS_OK : PS_ENOMEM;
}

/* Values that the program passed. */

static int path_table_add_values(struct ps__path_table *table, const struct ps_paths *paths)
{
	size_t count = paths->name_count;

	table->value_count = count;
	table->values = ps__os_calloc(table->row_count * count, sizeof *table->values);
	if (!table->values)
		return PS_ENOMEM;
	for (size_t row = table->row_count; row-- > 0;) {
		struct ps__path_value *own = &table->values[row * count];
		struct ps__path_value *above = &table->values[table->rows[row].parent * count];
		for (size_t value = 0; value < count; value++) {
			const struct ps__value_sum *sum =
			    ps__value_sum_find(table->rows[row].path, paths->names[value]);
			own[value].sum += sum ? sum->sum : 0;
			own[value].count += sum ? sum->count : 0;
			if (row > 0) {
				above[value].sum += own[value].sum;
				above[value].count += own[value].count;
			}
		}
	}
	return PS_OK;
}

const char *ps__path_table_value_name(const struct ps__path_table *table, size_t value)
{
	return ps_paths_mark_value_name(table->paths, value);
}

struct ps_mark_value ps__path_table_value(const struct ps__path_table *table, size_t row,
                                          size_t value, enum ps_share share)
{
	const struct ps__path_value *all = &table->values[row * table->value_count + value];
	const struct ps__value_sum *own =
	    ps__value_sum_find(table->rows[row].path, table->paths->names[value]);
	struct ps_mark_value out;

	if (share == PS_SHARE_INCLUSIVE)
		ps__value_sum_show(all->sum, all->count, &out);
	else
		ps__value_sum_show(own ? own->sum : 0, own ? own->count : 0, &out);
	return out;
}

enum ps_status ps__path_table_value_status(const struct ps__path_table *table, size_t row)
{
	return table->rows[row].path->uncounted ? PS_STATUS_INCOMPLETE : PS_STATUS_COUNTED;
}

/* Metrics. */

static int path_table_find_metrics(struct ps__path_table *table)
{
	const struct ps_paths_options *options = table->options;

	table->metrics = ps__os_calloc(options->metric_count, sizeof *table->metrics);
	if (!table->metrics)
		return PS_ENOMEM;
	for (size_t i = 0; i < options->metric_count; i++) {
		struct ps__path_metric *metric = &table->metrics[table->metric_count];
		int code = ps__metric_find(options->metrics[i], &metric->ask);
		if (code != PS_OK)
			return code;
		bool is_counted =
		    ps__metric_choose_events(&metric->ask, table->model, metric->operands);
		snprintf(metric->name, sizeof metric->name, "%s%s", metric->ask.metric->name,
		         metric->ask.modifier);
		table->metric_count += is_counted;
	}
	return PS_OK;
}

bool ps__path_table_metric(const struct ps__path_table *table, size_t row, enum ps_share share,
                           const struct ps__path_metric *metric, struct ps_metric_value *out)
{
	struct ps__metric_values values = {.machine.root = table->root};

	for (size_t operand = 0; operand < metric->ask.metric->count; operand++) {
		size_t event = metric->operands[operand];
		const struct ps__path_sum *sum = operand == metric->ask.metric->whole
		                                     ? &table->whole[event]
		                                     : ps__path_table_at(table, row, event, share);
		if (!sum->parts)
			return false;
		ps__metric_put(&values, &metric->ask, operand, &sum->value,
		               ps_eventset_event_scale(table->model, event));
	}
	ps__metric_compute(&metric->ask, &values, out);
	return true;
}

/* Copies the machine's sums before those of other components replace them. Makes no copy if a
 * hardware thread isn't in the tree: its counts may belong to any component, so no 0 is certain. */
static int path_table_keep_machine(struct ps__path_table *table)
{
	size_t sums = table->row_count * table->event_count * PS__SHARES;

	if (ps__path_table_has_elsewhere(table))
		return PS_OK;
	table->everywhere = ps__os_calloc(sums, sizeof *table->everywhere);
	if (!table->everywhere)
		return PS_ENOMEM;
	memcpy(table->everywhere, table->sums, sums * sizeof *table->everywhere);
	return PS_OK;
}

static int path_table_make(struct ps__path_table *table, const struct ps_paths *paths)
{
	size_t rows = 0;

	for (const struct ps_path *path = paths->root; path; path = path->next_made)
		rows++;
	table->rows = ps__os_calloc(rows, sizeof *table->rows);
	table->sums = ps__os_calloc(rows * table->event_count, PS__SHARES * sizeof *table->sums);
	table->whole = ps__os_calloc(table->event_count, sizeof *table->whole);
	if (!table->rows || !table->sums || !table->whole)
		return PS_ENOMEM;
	path_table_add_rows(table, paths->root);
	path_table_add_times(table);
	ps__path_table_sum(table, table->root);
	for (size_t event = 0; event < table->event_count; event++)
		table->whole[event] = *ps__path_table_at(table, 0, event, PS_SHARE_INCLUSIVE);
	int code = path_table_make_names(table);
	if (code == PS_OK)
		code = path_table_add_values(table, paths);
	if (code != PS_OK || !table->options->types)
		return code;
	code = ps__path_table_find_components(table);
	return code == PS_OK ? path_table_keep_machine(table) : code;
}

int ps__path_table_create(struct ps__path_table *out, const struct ps_paths *paths,
                          const struct ps_paths_options *options)
{
	*out = (struct ps__path_table){.options = options,
	                               .paths = paths,
	                               .profile = paths->profile,
	                               .model = paths->profile->model,
	                               .root = paths->profile->root,
	                               .event_count = paths->events};
	int code = path_table_make(out, paths);

	if (code == PS_OK)
		code = path_table_find_metrics(out);
	return code == PS_ENOMEM ? ps__fail_memory("the table of the paths") : code;
}

void ps__path_table_clear(struct ps__path_table *table)
{
	ps__os_free(table->rows);
	ps__os_free(table->sums);
	ps__os_free(table->whole);
	ps__os_free(table->everywhere);
	ps__os_free(table->components);
	ps__os_free(table->metrics);
	ps__os_free(table->names);
	ps__os_free(table->values);
}
