/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rates of a run or of several together: CPU time per elapsed time, events per CPU time. If whole
 * CPUs are counted, nothing is shown, because their clocks go on while a CPU is idle.
 */
#include "analysis/metric.h"
#include "base/os.h"
#include "output/number.h"
#include "tools/stat_footer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The footer's lines of rates: for each part a built-in metric of the whole run, and its words. */
static const struct rates_line {
	const char *name, *end;
	struct {
		const char *metric, *words;
	} parts[3];
} lines[] = {
    {"speed", "", {{"IPC", "instructions per cycle"}, {"GHz", "GHz"}}},
    {"rates",
     " per CPU second",
     {{"page-fault-rate", "page faults"},
      {"context-switch-rate", "context switches"},
      {"cpu-migration-rate", "migrations"}}},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* True if the metric is built in. A file of the user may replace it by one that the words don't
 * describe. */
static bool rates_has_words(const char *metric)
{
	const struct ps__metric *found = ps__metric_of_name(metric);

	return found && ps__metric_is_builtin(found);
}

static bool rates_line_has(const struct rates_line *line, const char *metric)
{
	size_t part = 0;

	while (part < COUNT_OF(line->parts) && line->parts[part].metric &&
	       strcmp(line->parts[part].metric, metric) != 0)
		part++;
	return part < COUNT_OF(line->parts) && line->parts[part].metric;
}

bool stat_rates_tell(const char *metric)
{
	size_t line = 0;

	while (line < COUNT_OF(lines) && !rates_line_has(&lines[line], metric))
		line++;
	return line < COUNT_OF(lines) && rates_has_words(metric);
}

/* Makes room for the sums. Returns NULL if memory runs out; rates are then not shown. */
static struct ps_value *rates_make_room(struct stat_quality *quality)
{
	ps__os_free(quality->sums);
	quality->sums = ps__os_calloc(quality->event_count + 1, sizeof *quality->sums);
	return quality->sums;
}

void stat_rates_take_run(struct stat_quality *quality, const struct stat_count *count)
{
	struct ps_value *sums = rates_make_room(quality);

	for (size_t event = 0; sums && event < quality->event_count; event++) {
		const char *name = ps_eventset_event_name(quality->model, event);
		if (ps_component_total(count->root, name, &sums[event]) != PS_OK)
			sums[event].status = PS_STATUS_NOT_SUPPORTED;
	}
}

void stat_rates_take_table(struct stat_quality *quality, const struct ps__table *table)
{
	struct ps_value *sums = rates_make_room(quality);

	for (size_t event = 0; sums && event < quality->event_count; event++) {
		bool has_column = table->row_count && event < table->event_count;
		const struct ps__cell *cell = has_column ? ps__table_cell(table, 0, event) : NULL;
		if (cell && cell->parts)
			sums[event] = cell->value;
		else
			sums[event].status = PS_STATUS_NOT_SUPPORTED;
	}
}

/* True for a clock; modifiers of a clock have no effect. */
static bool rates_is_clock(const char *name)
{
	size_t length = strcspn(name, ":");

	return (length == strlen("task-clock") && !strncmp(name, "task-clock", length)) ||
	       (length == strlen("cpu-clock") && !strncmp(name, "cpu-clock", length));
}

/* Returns the CPU time; NULL if it is unknown. */
static const struct ps_value *rates_find_time(const struct stat_quality *quality)
{
	if (!quality->sums || quality->attribution == PS_ATTRIBUTION_ATTACHED)
		return NULL;
	for (size_t event = 0; event < quality->event_count; event++) {
		const struct ps_value *sum = &quality->sums[event];
		bool is_known =
		    sum->status == PS_STATUS_COUNTED || sum->status == PS_STATUS_INCOMPLETE;
		if (is_known && rates_is_clock(ps_eventset_event_name(quality->model, event)))
			return sum;
	}
	return NULL;
}

/* Returns NaN for an incomplete CPU time. It is a lower bound, and only text has a sign for
 * this. */
double stat_rates_cpus(const struct stat_quality *quality, double elapsed_s)
{
	const struct ps_value *time = rates_find_time(quality);

	if (!time || time->status != PS_STATUS_COUNTED || elapsed_s <= 0)
		return (double)NAN;
	return (double)time->value / 1e9 / elapsed_s;
}

static void rates_show_cpus(const struct ps_value *time, double elapsed_s, struct ps__buffer *out)
{
	stat_footer_line("utilized", out);
	ps__buffer_add(out, "%s", time->status == PS_STATUS_INCOMPLETE ? ">= " : "");
	ps__number_add_fixed(out, (double)time->value / 1e9 / elapsed_s, 2);
	ps__buffer_add(out, " CPUs: the CPU time per elapsed time\n");
}

static void rates_show_line(const struct stat_quality *quality, const struct rates_line *line,
                            struct ps__buffer *out)
{
	const char *separator = "";
	struct ps_metric_value value;

	for (size_t part = 0; part < COUNT_OF(line->parts) && line->parts[part].metric; part++) {
		const char *metric = line->parts[part].metric;
		if (!rates_has_words(metric) ||
		    ps_metric_of_sums(quality->model, metric, quality->sums, NULL, &value) !=
		        PS_OK ||
		    isnan(value.value))
			continue;
		if (!*separator)
			stat_footer_line(line->name, out);
		ps__buffer_add(out, "%s%s", separator, value.status == PS_STATUS_SCALED ? "~" : "");
		ps__number_add_si(out, value.value);
		ps__buffer_add(out, "%s %s", value.flags & PS_VALUE_USER_ONLY ? " u" : "",
		               line->parts[part].words);
		separator = ", ";
	}
	if (*separator)
		ps__buffer_add(out, "%s\n", line->end);
}

void stat_rates_show(const struct stat_quality *quality, double elapsed_s, struct ps__buffer *out)
{
	const struct ps_value *time = rates_find_time(quality);

	if (!time || elapsed_s <= 0)
		return;
	rates_show_cpus(time, elapsed_s, out);
	for (size_t line = 0; line < COUNT_OF(lines); line++)
		rates_show_line(quality, &lines[line], out);
}
