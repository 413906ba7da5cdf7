/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over runs or intervals as one line of JSON, after those of the runs or intervals. */
#include "tools/stat_export.h"

#include "tools/json.h"
#include "tools/stat_footer.h"
#include "tools/stat_value.h"

static void put_member(const char *name, double number, FILE *stream)
{
	fprintf(stream, ",\"%s\":", name);
	stat_value_put_number(number, stream);
}

/* Statistics of a count, in the unit of which it is so many; "value" is the first member. */
static void put_statistics(const struct stat_cell *cell, double scale, FILE *stream)
{
	fputs("\"value\":", stream);
	stat_value_put_number(cell->mean * scale, stream);
	put_member("deviation", stat_cell_deviation(cell) * scale, stream);
	put_member("least", cell->least * scale, stream);
	put_member("most", cell->most * scale, stream);
	fprintf(stream, ",\"runs\":%zu", cell->samples);
}

static void put_total(const struct ps_value *total, double scale, FILE *stream)
{
	if (scale == 1)
		fprintf(stream, "\"value\":%lld", total->value);
	else
		fprintf(stream, "\"value\":%.17g", (double)total->value * scale);
	fprintf(stream, ",\"count\":%lld", total->value);
}

static void put_count(const struct stat_tally *tally, size_t row, size_t event, bool is_mean, FILE *stream)
{
	const struct stat_cell *cell = stat_tally_cell(tally, row, event);
	const struct ps_value *total = stat_tally_total(tally, row, event);
	double scale = ps_eventset_event_scale(tally->model, event);

	fputs("{\"event\":", stream);
	tool_json_put_text(ps_eventset_event_name(tally->model, event), stream);
	fputc(',', stream);
	if (!stat_value_has_number(total, (double)total->value))
		fputs(is_mean ? "\"value\":null" : "\"value\":null,\"count\":null", stream);
	else if (is_mean)
		put_statistics(cell, scale, stream);
	else
		put_total(total, scale, stream);
	stat_value_put_how(ps_eventset_event_unit(tally->model, event), total->status, total->attribution,
	                   total->flags, stream);
	if (total->status == PS_STATUS_NOT_SUPPORTED)
		fputs(",\"coverage\":null", stream);
	else
		put_member("coverage", ps_value_coverage(total), stream);
	fputc('}', stream);
}

static void put_metrics(const struct stat_tally *tally, size_t row, FILE *stream)
{
	const char *separator = "";
	struct ps_metric_value value;

	for (size_t index = 0; index < tally->metrics.count; index++) {
		const char *name = tally->metrics.names[index];
		if (!stat_tally_metric(tally, row, name, &value))
			continue;
		fprintf(stream, "%s{\"metric\":", separator);
		tool_json_put_text(name, stream);
		put_member("value", value.value, stream);
		stat_value_put_how(ps_metric_unit(name), value.status, value.attribution, value.flags, stream);
		fputc('}', stream);
		separator = ",";
	}
}

static void put_row(const struct stat_tally *tally, size_t row, bool is_mean, FILE *stream)
{
	const struct stat_tally_row *what = &tally->rows[row];
	const char *separator = "";

	fprintf(stream, "{\"type\":\"%s\",\"id\":%d,\"name\":", what->type, what->id);
	tool_json_put_text(what->name, stream);
	fputs(",\"counts\":[", stream);
	for (size_t event = 0; event < tally->event_count; event++) {
		if (!stat_tally_cell(tally, row, event)->is_seen)
			continue;
		fputs(separator, stream);
		put_count(tally, row, event, is_mean, stream);
		separator = ",";
	}
	fputs("],\"metrics\":[", stream);
	put_metrics(tally, row, stream);
	fputs("]}", stream);
}

static void put_components(const struct stat_tally *tally, const struct stat_output *output, bool is_mean)
{
	const char *separator = "";

	fputs(",\"components\":[", output->stream);
	for (size_t row = 0; row < tally->row_count; row++) {
		if (!stat_table_has(tally, output, row))
			continue;
		fputs(separator, output->stream);
		put_row(tally, row, is_mean, output->stream);
		separator = ",";
	}
	fputc(']', output->stream);
}

static void put_uncounted(const struct stat_uncounted *uncounted, FILE *stream)
{
	put_member("uncounted_programs", stat_uncounted_number(uncounted), stream);
	if (uncounted->programs) {
		fputs(",\"uncounted_first\":", stream);
		tool_json_put_text(uncounted->name, stream);
	}
	put_member("uncounted_children", (double)uncounted->children, stream);
}

static void put_quality(const struct stat_quality *quality, FILE *stream)
{
	fprintf(stream, ",\"attribution\":\"%s\",\"attribution_why\":", ps_attribution_name(quality->attribution));
	tool_json_put_text(quality->why, stream);
	put_member("coverage", quality->coverage, stream);
	if (!quality->unknown)
		fprintf(stream, ",\"residual\":%lld", stat_quality_residual(quality));
	if (quality->uncounted.is_of_processes)
		put_uncounted(&quality->uncounted, stream);
	put_member("perfsage_cpu_s", stat_footer_cost_s(), stream);
}

static void put_target(const struct stat_output *output)
{
	struct ps__buffer target = {0};

	stat_describe_target(output->options, &target);
	fputs("\"target\":", output->stream);
	tool_json_put_text(ps__buffer_text(&target), output->stream);
	ps__buffer_clear(&target);
}

void stat_export_means(const struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	FILE *stream = output->stream;

	fputs("{\"means\":{", stream);
	put_target(output);
	fputs(",\"elapsed_s\":{", stream);
	put_statistics(&tally->elapsed, 1, stream);
	fprintf(stream, "},\"exit_status\":%d,\"failed_runs\":%lld,\"interrupted_run\":",
	        runs->kind_count ? runs->kinds[0].status : 0, runs->failed);
	fprintf(stream, runs->interrupted ? "%lld" : "null", runs->interrupted);
	put_quality(&tally->quality, stream);
	put_components(tally, output, true);
	fputs("}}\n", stream);
}

void stat_export_total(const struct stat_tally *tally, const struct stat_facts *facts,
                       const struct stat_output *output)
{
	FILE *stream = output->stream;

	fputs("{\"total\":{", stream);
	put_target(output);
	put_member("elapsed_s", facts->elapsed_s, stream);
	if (facts->has_command) {
		fprintf(stream, ",\"exit_status\":%d", facts->exit_status);
		put_member("user_s", stat_seconds(facts->usage.ru_utime), stream);
		put_member("system_s", stat_seconds(facts->usage.ru_stime), stream);
	}
	put_quality(&tally->quality, stream);
	put_components(tally, output, false);
	fputs("}}\n", stream);
}
