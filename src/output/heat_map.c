/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heat map: hwloc's XML in which each object has its counts as info attributes and a colour,
 * chosen by one event or metric, that lstopo draws. Counts are compared only among components of
 * one kind: a Package has the sum of its Threads, so it is compared with other Packages only. All
 * components share one scale for a metric. Last-cpu values colour only the Machine: their CPU is
 * where the task was seen last.
 */
#include "base/error.h"
#include "base/os.h"
#include "output/colour.h"
#include "output/known.h"
#include "output/number.h"
#include "output/report.h"
#include "topology/annotate.h"

#include <math.h>
#include <string.h>

#define NONE         SIZE_MAX
#define LEVELS       6 /* number of cache levels, from 0 (not a cache) */
#define KINDS        ((size_t)(PS_COMPONENT_THREAD + 1) * LEVELS)
#define LEGEND_WIDTH 100 /* characters of a line */

struct heat {
	const struct ps__report *report;
	size_t event;  /* index of the event that chooses the colours, or NONE */
	size_t metric; /* index of the metric that chooses the colours, or NONE */
	const char *name;
	double largest[KINDS];    /* by heat_kind_of: the largest number of the kind */
	const char *kinds[KINDS]; /* name of one component of the kind */
	bool has_last_cpu;        /* numbers without a colour, because they are last-cpu */
	size_t next;              /* index of the next row: the tree is visited in the table's
	                           * order */
	struct ps__buffer text;   /* the text of one attribute */
};

static size_t heat_kind_of(const struct heat *heat, const struct ps_component *component)
{
	if (heat->metric != NONE)
		return 0;
	return (size_t)component->type * LEVELS + (size_t)component->cache_level;
}

/* Gives the number that colours a row. Returns false if it is unknown. */
static bool heat_number(const struct heat *heat, size_t row, double *out)
{
	const struct ps__table *table = &heat->report->table;
	struct ps_metric_value value;

	if (heat->event != NONE) {
		const struct ps__cell *cell = ps__table_cell(table, row, heat->event);
		*out = (double)cell->value.value * table->columns[heat->event].scale;
		return cell->parts && ps__report_is_known(&cell->value);
	}
	if (heat->metric == NONE || !ps__table_metric(table, row, heat->metric, &value) ||
	    isnan(value.value))
		return false;
	*out = value.value;
	return true;
}

/* True if the cell is last-cpu. A package's event belongs to it, wherever the task is. */
static bool heat_is_last_cpu(const struct ps__table *table, size_t row, size_t column)
{
	return table->columns[column].scope == PS_SCOPE_THREAD &&
	       ps__table_cell(table, row, column)->value.attribution == PS_ATTRIBUTION_LAST_CPU;
}

/* True if the row's number is known to belong to its component. */
static bool heat_has_place(const struct heat *heat, size_t row)
{
	const struct ps__table *table = &heat->report->table;

	if (table->rows[row].component == table->topology->root)
		return true;
	if (heat->event != NONE)
		return !heat_is_last_cpu(table, row, heat->event);
	const struct ps__table_metric *metric = &table->metrics[heat->metric];
	for (size_t operand = 0; operand < metric->ask.metric->count; operand++) {
		if (heat_is_last_cpu(table, row, metric->operands[operand]))
			return false;
	}
	return true;
}

/* Gives the number that decides a row's colour. Returns false if the row has no colour. */
static bool heat_warmth(const struct heat *heat, size_t row, double *out)
{
	return heat_number(heat, row, out) && heat_has_place(heat, row);
}

/* Finds the largest number of each kind. The unknown Thread isn't drawn, so its number doesn't
 * count. */
static void heat_find_scales(struct heat *heat)
{
	const struct ps__table *table = &heat->report->table;

	for (size_t row = 0; row < table->row_count; row++) {
		const struct ps_component *component = table->rows[row].component;
		size_t kind = heat_kind_of(heat, component);
		double value;
		if (component == table->topology->unknown || !heat_number(heat, row, &value))
			continue;
		if (!heat_has_place(heat, row)) {
			heat->has_last_cpu = true;
			continue;
		}
		heat->largest[kind] = fmax(heat->largest[kind], value);
		heat->kinds[kind] = component->name;
	}
}

static struct ps__buffer *heat_new_text(struct heat *heat)
{
	ps__buffer_restart(&heat->text);
	return &heat->text;
}

static int heat_add_info(struct heat *heat, struct ps__note *note, const char *what,
                         const char *name)
{
	struct ps__buffer key = {0};

	ps__buffer_add(&key, PS__NOTE_PREFIX "%s%s", what, name);
	int code = key.failed || heat->text.failed ? ps__fail_memory("the heat map")
	                                           : ps__note_add(note, key.text, heat->text.text);
	ps__os_free(key.text);
	return code;
}

static int heat_add_value(struct heat *heat, struct ps__note *note, size_t row, size_t event)
{
	const struct ps__table *table = &heat->report->table;
	const struct ps__table_column *column = &table->columns[event];
	const struct ps__cell *cell = ps__table_cell(table, row, event);
	struct ps__look look = {.unit = column->unit,
	                        .scale = column->scale,
	                        .is_share = ps__table_is_share(table, row, event)};
	struct ps__known known = {0};

	if (!cell->parts)
		return PS_OK;
	struct ps__buffer *text = heat_new_text(heat);
	if (ps__report_is_known(&cell->value)) {
		ps__known_add_value(text, &cell->value, &look);
		ps__buffer_add(text, "%s%s (", *column->unit ? " " : "", column->unit);
	} else {
		ps__buffer_add(text, "%s (", ps_status_name(cell->value.status));
	}
	ps__known_note(&known, &cell->value);
	ps__known_add_words(text, &known);
	ps__buffer_add(text, ")");
	return heat_add_info(heat, note, "", column->selector.name);
}

static int heat_add_metric(struct heat *heat, struct ps__note *note, size_t row, size_t index)
{
	const struct ps__table_metric *metric = &heat->report->table.metrics[index];
	struct ps__look look = {.unit = metric->ask.metric->unit,
	                        .scale = 1,
	                        .is_share =
	                            ps__table_metric_is_share(&heat->report->table, row, index)};
	struct ps_metric_value value;

	if (!ps__table_metric(&heat->report->table, row, index, &value))
		return PS_OK;
	struct ps__buffer *text = heat_new_text(heat);
	if (isnan(value.value))
		ps__buffer_add(text, "unknown");
	else
		ps__known_add_metric(text, &value, &look);
	return heat_add_info(heat, note, "", metric->name);
}

static int heat_add_colour(struct heat *heat, struct ps__note *note, size_t row)
{
	double largest = heat->largest[heat_kind_of(heat, heat->report->table.rows[row].component)];
	char style[PS__STYLE_BYTES];
	double value;

	if (!heat_warmth(heat, row, &value))
		return PS_OK;
	ps__colour_style(style, largest > 0 ? value / largest : 0);
	return ps__note_add(note, "lstopoStyle", style);
}

static int heat_add_fields(struct heat *heat, struct ps__note *note)
{
	const struct ps_export_options *options = heat->report->options;
	int code = PS_OK;

	for (size_t i = 0; i < options->field_count && code == PS_OK; i++) {
		const struct ps_export_field *field = &options->fields[i];
		struct ps__buffer *text = heat_new_text(heat);
		if (field->text)
			ps__buffer_add(text, "%s", field->text);
		else if (isfinite(field->number))
			ps__number_add_exact(text, field->number);
		code = heat_add_info(heat, note, "run.", field->name);
	}
	return code;
}

static void heat_add_number(struct heat *heat, double number)
{
	const struct ps__table *table = &heat->report->table;
	const char *unit = heat->metric != NONE ? table->metrics[heat->metric].ask.metric->unit
	                                        : table->columns[heat->event].unit;

	if (number == floor(number) && fabs(number) < 1e15)
		ps__number_add_fixed(&heat->text, number, 0);
	else
		ps__number_add_plain(&heat->text, number);
	if (*unit && strcmp(unit, heat->name) != 0)
		ps__buffer_add(&heat->text, "%s%s", *unit == '%' ? "" : " ", unit);
}

static int heat_end_line(struct heat *heat, struct ps__note *note)
{
	if (heat->text.failed)
		return ps__fail_memory("the heat map");
	return ps__note_add(note, "lstopoLegend", ps__buffer_text(&heat->text));
}

static void heat_begin_line(struct heat *heat)
{
	ps__buffer_add(heat_new_text(heat), PS__NOTE_PREFIX " ");
}

/* Returns the length of the name up to the last blank: "L3" of "L3 0", "NUMA node" of "NUMA node
 * 1". */
static int heat_kind_length(const char *name)
{
	const char *blank = strrchr(name, ' ');

	return (int)(blank ? (size_t)(blank - name) : strlen(name));
}

/* Adds the largest number of each kind, several on one line. */
static int heat_add_scales(struct heat *heat, struct ps__note *note)
{
	int code = PS_OK;

	heat_begin_line(heat);
	for (size_t kind = 0; kind < KINDS && code == PS_OK; kind++) {
		if (!heat->kinds[kind])
			continue;
		if (heat->text.length > LEGEND_WIDTH) {
			code = heat_end_line(heat, note);
			heat_begin_line(heat);
		}
		if (heat->metric == NONE)
			ps__buffer_add(&heat->text, "%.*s ", heat_kind_length(heat->kinds[kind]),
			               heat->kinds[kind]);
		else
			ps__buffer_add(&heat->text, "largest ");
		heat_add_number(heat, heat->largest[kind]);
		ps__buffer_add(&heat->text, "  ");
	}
	ps__buffer_trim(&heat->text);
	if (!heat->text.failed)
		heat->text.text[heat->text.length] = '\0';
	return code == PS_OK ? heat_end_line(heat, note) : code;
}

static int heat_add_unknown(struct heat *heat, struct ps__note *note)
{
	const struct ps__table *table = &heat->report->table;
	size_t last = table->row_count - 1;
	double value;

	if (last == 0 || table->rows[last].component != table->topology->unknown ||
	    !heat_number(heat, last, &value))
		return PS_OK;
	heat_begin_line(heat);
	ps__buffer_add(&heat->text, "on CPUs that the tree does not know ");
	heat_add_number(heat, value);
	return heat_end_line(heat, note);
}

/* Adds the key: five boxes with the colours of the scale, beside the Packages. */
static int heat_add_key(struct heat *heat, struct ps__note *note)
{
	int code = PS_OK;

	for (int quarter = 0; quarter <= 4 && code == PS_OK; quarter++) {
		char style[PS__STYLE_BYTES];
		ps__colour_style(style, quarter / 4.0);
		heat_new_text(heat);
		if (heat->metric == NONE)
			ps__buffer_add(&heat->text, "%d %% of the largest", 25 * quarter);
		else
			heat_add_number(heat, heat->largest[0] * quarter / 4);
		code = heat->text.failed ? ps__fail_memory("the heat map")
		                         : ps__note_add_box(note, heat->text.text, style);
	}
	return code;
}

/* True if a component has more than four children: lstopo then draws only some of those that are
 * alike, unless an option forbids it. */
static bool heat_is_factorized(const struct ps__table *table)
{
	for (size_t row = 0; row < table->row_count; row++) {
		if (table->rows[row].component->child_count > 4)
			return true;
	}
	return false;
}

static int heat_add_advice(struct heat *heat, struct ps__note *note)
{
	if (!heat_is_factorized(&heat->report->table))
		return PS_OK;
	heat_begin_line(heat);
	ps__buffer_add(&heat->text,
	               "lstopo --no-factorize draws every one of many like components");
	return heat_end_line(heat, note);
}

static bool heat_has_colours(const struct heat *heat)
{
	for (size_t kind = 0; kind < KINDS; kind++) {
		if (heat->kinds[kind])
			return true;
	}
	return false;
}

static int heat_add_legend(struct heat *heat, struct ps__note *note)
{
	heat_begin_line(heat);
	if (heat->event == NONE && heat->metric == NONE) {
		ps__buffer_add(&heat->text, "nothing has been counted here");
		return heat_end_line(heat, note);
	}
	if (!heat_has_colours(heat)) {
		ps__buffer_add(&heat->text, "%s is %s, so nothing has a colour", heat->name,
		               heat->has_last_cpu ? "last-cpu (the task may have moved)"
		                                  : "not known anywhere");
		return heat_end_line(heat, note);
	}
	ps__buffer_add(&heat->text,
	               "%s: violet is 0, yellow the largest%s; without a colour: not counted%s",
	               heat->name, heat->metric == NONE ? " of its kind" : "",
	               heat->has_last_cpu ? ", or last-cpu (the task may have moved)" : "");
	int code = heat_end_line(heat, note);
	if (code == PS_OK)
		code = heat_add_scales(heat, note);
	if (code == PS_OK)
		code = heat_add_unknown(heat, note);
	if (code == PS_OK)
		code = heat_add_advice(heat, note);
	return code == PS_OK ? heat_add_key(heat, note) : code;
}

static int heat_visit(const struct ps_component *component, struct ps__note *note, void *context)
{
	struct heat *heat = context;
	const struct ps__table *table = &heat->report->table;
	int code = PS_OK;

	if (!component->parent) {
		code = heat_add_legend(heat, note);
		if (code == PS_OK)
			code = heat_add_fields(heat, note);
	}
	if (heat->next == table->row_count || table->rows[heat->next].component != component)
		return code;
	size_t row = heat->next++;
	for (size_t event = 0; event < table->event_count && code == PS_OK; event++)
		code = heat_add_value(heat, note, row, event);
	for (size_t metric = 0; metric < table->metric_count && code == PS_OK; metric++)
		code = heat_add_metric(heat, note, row, metric);
	return code == PS_OK ? heat_add_colour(heat, note, row) : code;
}

static int heat_fail_heat_by(const struct ps__table *table, const char *name)
{
	struct ps__buffer all = {0};
	int code;

	for (size_t event = 0; event < table->event_count; event++)
		ps__buffer_add(&all, "%s%s", event ? ", " : "", ps__table_event(table, event));
	code =
	    ps__fail(PS_ENOEVNT,
	             "no heat map by '%s': it is no metric, and no event of this name was counted "
	             "below %s%s%s",
	             name, table->rows[0].component->name, table->event_count ? "; there are " : "",
	             table->event_count ? ps__buffer_text(&all) : "");
	ps__os_free(all.text);
	return code;
}

/* Chooses the event or metric that the caller asked for, or else the first event that was
 * counted. */
static int heat_choose(struct heat *heat)
{
	const struct ps__table *table = &heat->report->table;
	const char *name = heat->report->options->heat_by;
	struct ps_metric_value value;

	for (size_t event = 0; event < table->event_count; event++) {
		if (!ps__table_cell(table, 0, event)->parts ||
		    (name && strcmp(ps__table_event(table, event), name)))
			continue;
		heat->event = event;
		heat->name = ps__table_event(table, event);
		return PS_OK;
	}
	if (!name)
		return PS_OK;
	if (!ps_metric_unit(name))
		return heat_fail_heat_by(table, name);
	heat->metric = table->metric_count - 1;
	heat->name = table->metrics[heat->metric].name;
	if (ps__table_metric(table, 0, heat->metric, &value))
		return PS_OK;
	/* Don't ask ps_component_metric: the latest totals may have events that a sum or an older
	 * reading lacks. */
	if (table->is_sum || table->timestamp)
		return ps__fail(
		    PS_ENOEVNT, "no heat map by '%s': not all events that it needs were counted%s",
		    name, table->timestamp ? " in the readings with this timestamp" : "");
	/* The error of this call names the events that the metric needs. */
	return ps_component_metric(table->rows[0].component, name, &value);
}

int ps__xml_write(struct ps__report *report, struct ps__buffer *buffer)
{
	struct heat heat = {.report = report, .event = NONE, .metric = NONE};
	size_t length;
	char *xml;
	int code = heat_choose(&heat);

	if (code < 0)
		return code;
	heat_find_scales(&heat);
	code = ps__annotate_export(report->table.topology, heat_visit, &heat, &xml, &length);
	ps__os_free(heat.text.text);
	if (code < 0)
		return code;
	ps__buffer_add(buffer, "%s", xml);
	ps__os_free(xml);
	return PS_OK;
}
