/* SPDX-License-Identifier: BSD-3-Clause */
/* Output for programs about one run or several: fields of JSON and CSV, the last line of JSON. */
#include "base/os.h"
#include "base/vector.h"
#include "output/json.h"
#include "output/rank.h"
#include "output/report.h"
#include "tools/command.h"
#include "tools/stat_aggregate.h"
#include "tools/stat_show.h"
#include "tools/terminal.h"

#include <math.h>

static void fields_add(struct stat_fields *fields, struct ps_export_field field)
{
	if (!PS__VECTOR_GROW(&fields->fields, fields->count, &fields->room)) {
		fields->has_failed = true;
		return;
	}
	fields->fields[fields->count++] = field;
}

static void fields_add_text(struct stat_fields *fields, const char *name, const char *text)
{
	fields_add(fields, (struct ps_export_field){.name = name, .text = text});
}

static void fields_add_number(struct stat_fields *fields, const char *name, double number)
{
	fields_add(fields, (struct ps_export_field){.name = name, .number = number});
}

/* Adds facts about the quality of the run's values. CSV has no columns for them. */
static void fields_add_quality(struct stat_fields *fields, const struct stat_quality *quality)
{
	const struct stat_uncounted *uncounted = &quality->uncounted;

	fields_add_text(fields, "attribution", ps_attribution_name(quality->attribution));
	fields_add_text(fields, "attribution_why", quality->why);
	fields_add_number(fields, "coverage", quality->coverage);
	if (!quality->unknown && !quality->is_running)
		fields_add_number(fields, "residual", (double)stat_quality_residual(quality));
	if (quality->how.method != STAT_METHOD_AUTO) {
		fields_add_text(fields, "method", stat_method_name(quality->how.method));
		fields_add_number(fields, "copies_for_a_task", (double)quality->how.copies);
		fields_add_number(fields, "left_group_s", stat_method_found_left_s(&quality->how));
	}
	if (uncounted->late_cpus)
		fields_add_number(fields, "uncounted_cpus", (double)uncounted->late_cpus);
	if (!uncounted->is_of_processes)
		return;
	fields_add_number(fields, "uncounted_programs", stat_uncounted_number(uncounted));
	if (uncounted->programs)
		fields_add_text(fields, "uncounted_first", uncounted->name);
	fields_add_number(fields, "uncounted_children", stat_uncounted_children(uncounted));
	if (uncounted->left > 0 && !quality->is_running)
		fields_add_number(fields, "tasks_left", (double)uncounted->left);
}

/* Adds a number from the journal, which isn't known if the journal lacks notes. */
static void fields_add_count(struct stat_fields *fields, const char *name,
                             const struct stat_heard *heard, size_t count)
{
	fields_add_number(fields, name, heard->lacks_notes ? (double)NAN : (double)count);
}

static void fields_add_heard(struct stat_fields *fields, const struct stat_regions *regions)
{
	const struct stat_heard *heard = &regions->heard;

	fields_add_count(fields, "programs_with_collector", heard, heard->programs);
	fields_add_count(fields, "processes_with_marks", heard, heard->processes);
	fields_add_count(fields, "processes_cut_short", heard, heard->flushed);
	fields_add_count(fields, "processes_without_report", heard, heard->silent);
	fields_add_count(fields, "inner_perfsages", heard, heard->inner);
	fields_add_number(fields, "cpu_s_with_marks",
	                  heard->lacks_notes ? (double)NAN : heard->cpu_s);
}

static void fields_add_ending(struct stat_fields *fields, const struct stat_facts *facts)
{
	if (facts->gone)
		fields_add_number(fields, "ended_processes", (double)facts->gone);
	if (!facts->has_command)
		return;
	fields_add_number(fields, "exit_status", tool_status_number(facts->exit_status));
	fields_add_number(fields, "user_s", stat_seconds(facts->usage.ru_utime));
	fields_add_number(fields, "system_s", stat_seconds(facts->usage.ru_stime));
}

/* Adds columns that stay empty in the rows of components; stat_tasks.c fills them in for tasks. */
static void fields_add_task_columns(struct stat_fields *fields, const struct stat_options *options)
{
	static const char *const names[] = {"process", "task", "cpu"};
	const size_t count = sizeof names / sizeof *names;

	if (!stat_options_tell_tasks(options))
		return;
	for (size_t index = 0; index < count; index++)
		fields_add_number(fields, names[index], (double)NAN);
	if (!fields->has_failed)
		fields->task_columns = &fields->fields[fields->count - count];
}

static void fields_add_target(struct stat_fields *fields, const struct stat_options *options)
{
	struct ps_export_field of_rank[PS__RANK_FIELDS];

	stat_describe_target(options, &fields->target);
	fields_add_text(fields, "target", ps__buffer_text(&fields->target));
	size_t count = ps__rank_fields(of_rank);
	for (size_t index = 0; index < count; index++)
		fields_add(fields, of_rank[index]);
}

static void fields_add_run(struct stat_fields *fields, const struct stat_options *options,
                           const struct stat_count *count, const struct stat_facts *facts)
{
	if (options->repetitions > 1)
		fields_add_number(fields, "repetition", (double)facts->repetition);
	fields_add_number(fields, "elapsed_s", facts->elapsed_s);
	if (options->limits.delay_ms)
		fields_add_number(fields, "delay_s", count->delay_s);
	if (options->target.absent_count)
		fields_add_number(fields, "absent_processes", (double)options->target.absent_count);
	if (options->interval_ms)
		fields_add_number(fields, "interval_s",
		                  facts->interval_s > 0 ? facts->interval_s : (double)NAN);
	else
		fields_add_ending(fields, facts);
}

static void fields_add_of_csv(struct stat_fields *fields, const struct stat_options *options,
                              const struct stat_count *count)
{
	/* Lets the user see that a process with count 0 may be waiting for uncounted children. */
	if (options->target.pid_count)
		fields_add_number(fields, "uncounted_children",
		                  stat_uncounted_children(&count->uncounted));
	fields_add_task_columns(fields, options);
}

static void fields_add_of_json(struct stat_fields *fields, const struct stat_output *output,
                               struct stat_count *count, const struct stat_facts *facts)
{
	fields_add_text(fields, "perfsage", ps_version());
	fields->has_quality = stat_quality_create(&fields->quality, count->model) == 0;
	fields->has_failed |= !fields->has_quality;
	if (fields->has_quality) {
		stat_quality_add_run(&fields->quality, count);
		fields->quality.is_running = !facts->has_ended;
		fields_add_quality(fields, &fields->quality);
		stat_rates_take_run(&fields->quality, count);
		fields_add_number(fields, "cpus_utilized",
		                  stat_rates_cpus(&fields->quality, output->options->interval_ms
		                                                        ? facts->interval_s
		                                                        : facts->elapsed_s));
	}
	if (output->regions)
		fields_add_heard(fields, output->regions);
	fields_add_number(fields, "perfsage_cpu_s", stat_footer_cost_s());
}

int stat_fields_create(struct stat_fields *fields, const struct stat_output *output,
                       struct stat_count *count, const struct stat_facts *facts)
{
	*fields = (struct stat_fields){.count = 0};
	fields_add_target(fields, output->options);
	if (ps__rank_number())
		fields_add_number(fields, "pid", facts->pid ? (double)facts->pid : (double)NAN);
	fields_add_run(fields, output->options, count, facts);
	if (output->options->format == PS_FORMAT_JSON)
		fields_add_of_json(fields, output, count, facts);
	else
		fields_add_of_csv(fields, output->options, count);
	if (!fields->has_failed)
		return 0;
	tool_complain("out of memory");
	stat_fields_clear(fields);
	return -1;
}

void stat_fields_clear(struct stat_fields *fields)
{
	ps__os_free(fields->fields);
	ps__buffer_clear(&fields->target);
	if (fields->has_quality)
		stat_quality_destroy(&fields->quality);
}

/* Adds statistics of a count in its unit; scale: one count in this unit. */
static void json_add_statistics(struct ps__json *json, const struct ps__spread *spread,
                                double scale)
{
	ps__json_add_double(json, "value", spread->mean * scale);
	ps__json_add_double(json, "deviation", ps__spread_deviation(spread) * scale);
	ps__json_add_double(json, "least", spread->least * scale);
	ps__json_add_double(json, "most", spread->most * scale);
	ps__json_add_unsigned(json, "runs", spread->samples);
}

static void json_add_mean(struct ps__json *json, const struct ps__table_column *column,
                          const struct ps__cell *cell)
{
	if (ps__report_is_known(&cell->value))
		json_add_statistics(json, cell->spread, column->scale);
	else
		ps__json_add_null(json, "value");
	ps__json_add_string(json, "unit", ps__report_unit(column->unit));
	ps__json_add_how(json, cell->value.status, cell->value.attribution, cell->value.flags);
}

static void json_add_count(struct ps__json *json, const struct ps__table_column *column,
                           const struct ps__cell *cell)
{
	if (!cell->parts)
		return;
	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "event", column->selector.name);
	if (cell->spread)
		json_add_mean(json, column, cell);
	else
		ps__json_add_value(json, &cell->value, column->unit, column->scale);
	ps__json_add_double(json, "coverage", ps__report_coverage(&cell->value));
	ps__json_close(json, '}');
}

static void json_add_metrics(struct ps__json *json, const struct ps__table *table, size_t row)
{
	struct ps_metric_value value;

	ps__json_open(json, "metrics", '[');
	for (size_t index = 0; index < table->metric_count; index++) {
		if (!ps__table_metric(table, row, index, &value) || isnan(value.value))
			continue;
		ps__json_open(json, NULL, '{');
		ps__json_add_string(json, "metric", table->metrics[index].name);
		ps__json_add_double(json, "value", value.value);
		ps__json_add_string(json, "unit", table->metrics[index].ask.metric->unit);
		ps__json_add_how(json, value.status, value.attribution, value.flags);
		ps__json_close(json, '}');
	}
	ps__json_close(json, ']');
}

static void json_add_row(struct ps__json *json, const struct ps__table *table, size_t row)
{
	const struct ps_component *component = table->rows[row].component;

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "type", ps_component_type_name(ps_component_type(component)));
	ps__json_add_integer(json, "id", ps__report_id(component));
	ps__json_add_string(json, "name", ps_component_name(component));
	ps__json_open(json, "counts", '[');
	for (size_t event = 0; event < table->event_count; event++)
		json_add_count(json, &table->columns[event], ps__table_cell(table, row, event));
	ps__json_close(json, ']');
	json_add_metrics(json, table, row);
	ps__json_close(json, '}');
}

static void json_add_components(struct ps__json *json, struct ps__table *table,
                                const struct stat_output *output)
{
	struct ps__table_view view = {.types = stat_output_types(output),
	                              .cache_level = output->options->by.cache_level,
	                              .idle = !output->options->look.hides_idle};

	ps__table_select(table, &view);
	ps__json_open(json, "components", '[');
	for (size_t row = 0; row < table->row_count; row++) {
		if (table->rows[row].counted || view.idle) /* the first row always stays */
			json_add_row(json, table, row);
	}
	ps__json_close(json, ']');
}

/* Adds the fields and clears them. */
static void json_add_fields(struct ps__json *json, struct stat_fields *fields)
{
	ps__json_add_fields(json, fields->fields, fields->count);
	json->buffer->failed |= fields->has_failed;
	stat_fields_clear(fields);
}

static void json_add_target(struct ps__json *json, const struct stat_output *output)
{
	struct stat_fields fields = {.count = 0};

	fields_add_target(&fields, output->options);
	json_add_fields(json, &fields);
}

/* regions: to tell how many programs reported; NULL: left out. */
static void json_add_quality(struct ps__json *json, const struct stat_quality *quality,
                             double elapsed_s, const struct stat_regions *regions)
{
	struct stat_fields fields = {.count = 0};

	if (regions)
		fields_add_heard(&fields, regions);
	if (quality->delay_s > 0)
		fields_add_number(&fields, "delay_s", quality->delay_s);
	fields_add_quality(&fields, quality);
	fields_add_number(&fields, "cpus_utilized", stat_rates_cpus(quality, elapsed_s));
	fields_add_number(&fields, "perfsage_cpu_s", stat_footer_cost_s());
	json_add_fields(json, &fields);
}

int stat_export_means(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                      const struct stat_output *output)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, true);

	ps__json_open(&json, NULL, '{');
	ps__json_open(&json, "means", '{');
	json_add_target(&json, output);
	ps__json_open(&json, "elapsed_s", '{');
	json_add_statistics(&json, &aggregate->elapsed, 1);
	ps__json_close(&json, '}');
	ps__json_add_integer(&json, "exit_status",
	                     runs->kind_count ? tool_status_number(runs->kinds[0].status) : 0);
	ps__json_add_integer(&json, "failed_runs", runs->failed);
	ps__json_add_integer(&json, "left_out_runs", runs->left_out);
	ps__json_add_known(&json, "interrupted_run", (uint64_t)runs->interrupted,
	                   runs->interrupted);
	json_add_quality(&json, &aggregate->quality, stat_aggregate_s(aggregate), output->regions);
	json_add_components(&json, &aggregate->table, output);
	ps__json_close(&json, '}');
	ps__json_close(&json, '}');
	return tool_write(&text, output->stream);
}

int stat_export_total(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                      const struct stat_output *output)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, true);

	ps__json_open(&json, NULL, '{');
	ps__json_open(&json, "total", '{');
	json_add_target(&json, output);
	ps__json_add_double(&json, "elapsed_s", facts->elapsed_s);
	if (facts->has_command) {
		ps__json_add_integer(&json, "exit_status", tool_status_number(facts->exit_status));
		ps__json_add_double(&json, "user_s", stat_seconds(facts->usage.ru_utime));
		ps__json_add_double(&json, "system_s", stat_seconds(facts->usage.ru_stime));
	}
	json_add_quality(&json, &aggregate->quality, facts->elapsed_s, NULL);
	json_add_components(&json, &aggregate->table, output);
	ps__json_close(&json, '}');
	ps__json_close(&json, '}');
	return tool_write(&text, output->stream);
}
