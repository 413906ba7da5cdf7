/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over runs or intervals as one line of JSON, after those of the runs or intervals. */
#include "tools/stat_export.h"

#include "export/report.h"
#include "tools/paragraph.h"
#include "tools/stat_footer.h"
#include "tools/stat_value.h"

/* Statistics of a count, in the unit of which it is so many. */
static void json_add_statistics(struct ps__json *json, const struct stat_cell *cell, double scale)
{
	ps__json_add_double(json, "value", cell->mean * scale);
	ps__json_add_double(json, "deviation", stat_cell_deviation(cell) * scale);
	ps__json_add_double(json, "least", cell->least * scale);
	ps__json_add_double(json, "most", cell->most * scale);
	ps__json_add_unsigned(json, "runs", cell->samples);
}

static void json_add_mean(struct ps__json *json, const struct stat_tally *tally, size_t row, size_t event)
{
	const struct ps_value *total = stat_tally_total(tally, row, event);
	const char *unit = ps_eventset_event_unit(tally->model, event);

	if (ps__report_is_known(total))
		json_add_statistics(json, stat_tally_cell(tally, row, event),
		                    ps_eventset_event_scale(tally->model, event));
	else
		ps__json_add_null(json, "value");
	ps__json_add_string(json, "unit", *unit ? unit : "count");
	ps__json_add_how(json, total->status, total->attribution, total->flags);
}

static void json_add_count(struct ps__json *json, const struct stat_tally *tally, size_t row, size_t event,
                           bool is_mean)
{
	const struct ps_value *total = stat_tally_total(tally, row, event);

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "event", ps_eventset_event_name(tally->model, event));
	if (is_mean)
		json_add_mean(json, tally, row, event);
	else
		stat_value_add_json(json, tally->model, event, total);
	ps__json_add_double(json, "coverage", ps__report_coverage(total));
	ps__json_close(json, '}');
}

static void json_add_metrics(struct ps__json *json, const struct stat_tally *tally, size_t row)
{
	struct ps_metric_value value;

	ps__json_open(json, "metrics", '[');
	for (size_t index = 0; index < tally->metrics.count; index++) {
		const char *name = tally->metrics.names[index];
		if (!stat_tally_metric(tally, row, name, &value))
			continue;
		ps__json_open(json, NULL, '{');
		ps__json_add_string(json, "metric", name);
		ps__json_add_double(json, "value", value.value);
		ps__json_add_string(json, "unit", ps_metric_unit(name));
		ps__json_add_how(json, value.status, value.attribution, value.flags);
		ps__json_close(json, '}');
	}
	ps__json_close(json, ']');
}

static void json_add_row(struct ps__json *json, const struct stat_tally *tally, size_t row, bool is_mean)
{
	const struct stat_tally_row *what = &tally->rows[row];

	ps__json_open(json, NULL, '{');
	ps__json_add_string(json, "type", what->type);
	ps__json_add_integer(json, "id", what->id);
	ps__json_add_string(json, "name", what->name);
	ps__json_open(json, "counts", '[');
	for (size_t event = 0; event < tally->event_count; event++) {
		if (stat_tally_cell(tally, row, event)->is_seen)
			json_add_count(json, tally, row, event, is_mean);
	}
	ps__json_close(json, ']');
	json_add_metrics(json, tally, row);
	ps__json_close(json, '}');
}

static void json_add_components(struct ps__json *json, const struct stat_tally *tally,
                                const struct stat_output *output, bool is_mean)
{
	ps__json_open(json, "components", '[');
	for (size_t row = 0; row < tally->row_count; row++) {
		if (stat_table_has(tally, output, row))
			json_add_row(json, tally, row, is_mean);
	}
	ps__json_close(json, ']');
}

static void json_add_uncounted(struct ps__json *json, const struct stat_uncounted *uncounted)
{
	if (!uncounted->is_of_processes)
		return;
	ps__json_add_double(json, "uncounted_programs", stat_uncounted_number(uncounted));
	if (uncounted->programs)
		ps__json_add_string(json, "uncounted_first", uncounted->name);
	ps__json_add_unsigned(json, "uncounted_children", uncounted->children);
}

static void json_add_quality(struct ps__json *json, const struct stat_quality *quality)
{
	ps__json_add_string(json, "attribution", ps_attribution_name(quality->attribution));
	ps__json_add_string(json, "attribution_why", quality->why);
	ps__json_add_double(json, "coverage", quality->coverage);
	if (!quality->unknown)
		ps__json_add_integer(json, "residual", stat_quality_residual(quality));
	json_add_uncounted(json, &quality->uncounted);
	ps__json_add_double(json, "perfsage_cpu_s", stat_footer_cost_s());
}

static void json_add_target(struct ps__json *json, const struct stat_output *output)
{
	struct ps__buffer target = {0};

	stat_describe_target(output->options, &target);
	ps__json_add_string(json, "target", ps__buffer_text(&target));
	ps__buffer_clear(&target);
}

void stat_export_means(const struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, true);

	ps__json_open(&json, NULL, '{');
	ps__json_open(&json, "means", '{');
	json_add_target(&json, output);
	ps__json_open(&json, "elapsed_s", '{');
	json_add_statistics(&json, &tally->elapsed, 1);
	ps__json_close(&json, '}');
	ps__json_add_integer(&json, "exit_status", runs->kind_count ? runs->kinds[0].status : 0);
	ps__json_add_integer(&json, "failed_runs", runs->failed);
	if (runs->interrupted)
		ps__json_add_integer(&json, "interrupted_run", runs->interrupted);
	else
		ps__json_add_null(&json, "interrupted_run");
	json_add_quality(&json, &tally->quality);
	json_add_components(&json, tally, output, true);
	ps__json_close(&json, '}');
	ps__json_close(&json, '}');
	tool_write(&text, output->stream);
}

void stat_export_total(const struct stat_tally *tally, const struct stat_facts *facts,
                       const struct stat_output *output)
{
	struct ps__buffer text = {0};
	struct ps__json json = ps__json_create(&text, true);

	ps__json_open(&json, NULL, '{');
	ps__json_open(&json, "total", '{');
	json_add_target(&json, output);
	ps__json_add_double(&json, "elapsed_s", facts->elapsed_s);
	if (facts->has_command) {
		ps__json_add_integer(&json, "exit_status", facts->exit_status);
		ps__json_add_double(&json, "user_s", stat_seconds(facts->usage.ru_utime));
		ps__json_add_double(&json, "system_s", stat_seconds(facts->usage.ru_stime));
	}
	json_add_quality(&json, &tally->quality);
	json_add_components(&json, tally, output, false);
	ps__json_close(&json, '}');
	ps__json_close(&json, '}');
	tool_write(&text, output->stream);
}
