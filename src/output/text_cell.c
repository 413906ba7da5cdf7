/* SPDX-License-Identifier: BSD-3-Clause */
/* The cells of the text output: labels, numbers, headings, and how the numbers are known. */
#include "output/text.h"

#include "output/label.h"
#include "output/number.h"

#include <math.h>
#include <string.h>

static struct ps__look text_look(const struct ps__text *text, const char *unit, double scale)
{
	return (struct ps__look){
	    .unit = unit, .scale = scale, .si = !(text->options.flags & PS_PRINT_RAW)};
}

/* True if the first row has a count of the event; else its column isn't shown. */
static bool text_has_event(const struct ps__text *text, size_t event)
{
	return ps__table_cell(&text->table, 0, event)->parts > 0;
}

/* Times with an SI prefix have their unit in each cell, so their heading has none. */
void ps__text_set_headings(struct ps__text *text)
{
	const struct ps__table *table = &text->table;

	ps__buffer_add(&text->grid.cell, "Component");
	ps__grid_set(&text->grid, 0, 0);
	for (size_t event = 0; event < table->event_count; event++) {
		struct ps__look look =
		    text_look(text, table->columns[event].unit, table->columns[event].scale);
		ps__label_add_event(&text->grid.cell, ps__table_event(table, event),
		                    ps__known_heading_unit(&look));
		ps__grid_set(&text->grid, 0, 1 + event);
	}
	for (size_t i = 0; i < table->metric_count; i++) {
		const char *name = table->metrics[i].name;
		ps__label_add_metric(&text->grid.cell, name,
		                     ps__metric_heading_unit(table->metrics[i].ask.metric),
		                     ps__table_has_event(table, name));
		ps__grid_set(&text->grid, 0, 1 + table->event_count + i);
	}
	ps__buffer_add(&text->grid.cell, "Attribution");
	ps__grid_set(&text->grid, 0, text->grid.column_count - 1);
}

/* Adds the standard deviation of one run in percent of the mean: "2.130k +- 0.3%". */
static void text_add_deviation(struct ps__text *text, const struct ps__cell *cell)
{
	double percent = ps__spread_percent(cell->spread);

	if (cell->spread->samples < 2 || !ps__known_has_number(cell->value.status))
		return;
	ps__buffer_add(&text->grid.cell, " +-%s", percent < 9.95 ? " " : "");
	ps__number_add_fixed(&text->grid.cell, percent, 1);
	ps__buffer_add(&text->grid.cell, "%%");
}

static double text_number_of(const struct ps__cell *cell)
{
	return cell->spread ? cell->spread->mean : (double)cell->value.value;
}

static void text_add_number(struct ps__buffer *out, const struct ps__cell *cell,
                            const struct ps__look *look)
{
	if (cell->spread)
		ps__known_add_mean(out, &cell->value, cell->spread->mean, look);
	else
		ps__known_add_value(out, &cell->value, look);
}

/* Adds the range of the numbers of the rows that share a line: "1.200M..1.400M". */
static void text_add_range(struct ps__text *text, size_t line, size_t event,
                           const struct ps__look *look)
{
	size_t row = text->lines.lines[line].row;
	struct ps__cell least = *ps__table_cell(&text->table, row, event), most = least;
	struct ps__buffer end = {0};

	for (; (row = ps__lines_next(&text->lines, line, row)) != PS__LINES_NONE; row++) {
		const struct ps__cell *cell = ps__table_cell(&text->table, row, event);
		if (text_number_of(cell) < text_number_of(&least))
			least = *cell;
		if (text_number_of(cell) > text_number_of(&most))
			most = *cell;
	}
	text_add_number(&end, &most, look);
	text_add_number(&text->grid.cell, &least, look);
	if (strcmp(ps__buffer_text(&text->grid.cell), ps__buffer_text(&end)) != 0) {
		ps__buffer_restart(&text->grid.cell);
		least.value.flags &= ~(uint32_t)PS_VALUE_USER_ONLY;
		text_add_number(&text->grid.cell, &least, look);
		ps__buffer_add(&text->grid.cell, "..%s", ps__buffer_text(&end));
	}
	text->grid.cell.failed |= end.failed;
	ps__buffer_clear(&end);
}

/* Shows "-" for a missing count. Leaves the cell empty if the event counts for a whole package and
 * the row is one of its cores: no count is missing there. */
static void text_set_nothing(struct ps__text *text, size_t line, size_t event)
{
	const struct ps__row *row = &text->table.rows[text->lines.lines[line].row];
	enum ps_scope scope = text->table.columns[event].scope;

	if (scope != PS_SCOPE_THREAD &&
	    (row->counted || ps__component_covered(row->component, scope) != row->component))
		return;
	text->has_empty = true;
	ps__buffer_add(&text->grid.cell, "-");
	ps__grid_set_number(&text->grid, 1 + line, 1 + event, 0);
}

static void text_set_event(struct ps__text *text, size_t line, size_t event)
{
	const struct ps__table_column *column = &text->table.columns[event];
	const struct ps__line *about = &text->lines.lines[line];
	const struct ps__cell *cell = ps__table_cell(&text->table, about->row, event);
	struct ps__look look = text_look(text, column->unit, column->scale);

	look.is_share = ps__table_is_share(&text->table, about->row, event);
	if (!text_has_event(text, event))
		return;
	if (!cell->parts) {
		text_set_nothing(text, line, event);
		return;
	}
	/* Sums get no words of their own, but the legend explains saturated ones. */
	text->known.flags |= cell->value.flags & PS_VALUE_SATURATED;
	if (about->alike)
		text_add_range(text, line, event, &look);
	else
		text_add_number(&text->grid.cell, cell, &look);
	if (cell->spread && !about->alike)
		text_add_deviation(text, cell);
	ps__grid_set_number(
	    &text->grid, 1 + line, 1 + event,
	    cell->spread ? 0
			 : strlen(ps__known_mark(cell->value.status, cell->value.flags, &look)));
}

/* Finds the smallest and the largest value of a metric in the rows of a line; they aren't numbers
 * if no row's is. Returns false if no row has one. */
static bool text_find_metric(const struct ps__text *text, size_t line, size_t metric,
                             struct ps_metric_value *least, struct ps_metric_value *most)
{
	const struct ps__line *about = &text->lines.lines[line];
	struct ps_metric_value one;
	bool is_found = false;
	size_t row = about->row;

	while (row != PS__LINES_NONE) {
		bool has_one = ps__table_metric(&text->table, row, metric, &one);
		if (has_one && (!is_found || isnan(least->value)))
			*least = *most = one;
		is_found |= has_one;
		if (has_one && one.value < least->value)
			*least = one;
		if (has_one && one.value > most->value)
			*most = one;
		row = about->alike ? ps__lines_next(&text->lines, line, row + 1) : PS__LINES_NONE;
	}
	return is_found;
}

/* Shows a metric; the legend explains whether it is estimated or unknown. */
static void text_set_metric(struct ps__text *text, size_t line, size_t metric)
{
	struct ps__look look = text_look(text, text->table.metrics[metric].ask.metric->unit, 1);
	struct ps_metric_value least, most;
	struct ps__buffer end = {0};

	if (!text_find_metric(text, line, metric, &least, &most))
		return;
	look.is_share =
	    ps__table_metric_is_share(&text->table, text->lines.lines[line].row, metric);
	ps__known_note_metric(&text->known, &least);
	ps__known_note_metric(&text->known, &most);
	ps__known_add_metric(&text->grid.cell, &least, &look);
	ps__known_add_metric(&end, &most, &look);
	if (strcmp(ps__buffer_text(&text->grid.cell), ps__buffer_text(&end)) != 0)
		ps__buffer_add(&text->grid.cell, "..%s", ps__buffer_text(&end));
	ps__grid_set_number(
	    &text->grid, 1 + line, 1 + text->table.event_count + metric,
	    text->grid.cell.length ? strlen(ps__known_mark(most.status, most.flags, &look)) : 0);
	text->grid.cell.failed |= end.failed;
	ps__buffer_clear(&end);
}

/* True if no line below shows this number in more detail. A NUMA node repeats its parent's number,
 * so it isn't lowest. If the lines show only some types, or are flat, every line is. */
static bool text_is_lowest(const struct ps__text *text, size_t row, size_t event)
{
	const struct ps__table *table = &text->table;

	if (!ps__table_cell(table, row, event)->parts)
		return false;
	if (text->options.types || text->options.flags & PS_PRINT_FLAT)
		return true;
	if (row > 0 && table->rows[row].component->type == PS_COMPONENT_NUMA)
		return false;
	for (size_t below = row + 1;
	     below < table->row_count && table->rows[below].depth > table->rows[row].depth;
	     below++) {
		if (table->rows[below].component->type != PS_COMPONENT_NUMA &&
		    ps__table_cell(table, below, event)->parts)
			return false;
	}
	return true;
}

static void text_note_row(struct ps__text *text, size_t row, struct ps__known *known)
{
	for (size_t event = 0; event < text->table.event_count; event++) {
		if (!text_has_event(text, event) || !text_is_lowest(text, row, event))
			continue;
		struct ps_value value = ps__table_cell(&text->table, row, event)->value;
		if (text->options.flags & PS__PRINT_REPORT)
			value.flags &= ~(uint32_t)PS_VALUE_ENDED;
		ps__known_note(known, &value);
		ps__known_note(&text->known, &value);
		text->has_last_cpu |= value.attribution == PS_ATTRIBUTION_LAST_CPU &&
		                      text->table.columns[event].scope == PS_SCOPE_THREAD &&
		                      text->table.rows[row].component->type != PS_COMPONENT_MACHINE;
	}
}

/* Sets the words of a line. They describe only numbers that no line below shows in more detail. */
static void text_set_known(struct ps__text *text, size_t line)
{
	const struct ps__line *about = &text->lines.lines[line];
	struct ps__known known = {0};

	text_note_row(text, about->row, &known);
	for (size_t row = about->row + 1; about->alike; row++) {
		row = ps__lines_next(&text->lines, line, row);
		if (row == PS__LINES_NONE)
			break;
		text_note_row(text, row, &known);
	}
	ps__known_add_words(&text->grid.cell, &known);
	ps__grid_set_as(&text->grid, 1 + line, text->grid.column_count - 1,
	                (struct ps__grid_cell){.style = PS__STYLE_FAINT});
}

void ps__text_set_line(struct ps__text *text, size_t line)
{
	size_t columns = ps__text_label(text, line, false);

	ps__grid_set_as(&text->grid, 1 + line, 0, (struct ps__grid_cell){.columns = columns});
	for (size_t event = 0; event < text->table.event_count; event++)
		text_set_event(text, line, event);
	for (size_t metric = 0; metric < text->table.metric_count; metric++)
		text_set_metric(text, line, metric);
	text_set_known(text, line);
}
