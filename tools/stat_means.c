/* SPDX-License-Identifier: BSD-3-Clause */
/* The means of several runs as one line of JSON, after those of the runs. perfsage(1) describes its fields. */
#include "number.h"
#include "stat_tally.h"

#include <stdlib.h>

static void put_statistics(const struct stat_cell *cell, FILE *stream)
{
	fprintf(stream, "\"value\":%.17g,\"deviation\":%.17g,\"least\":%.17g,\"most\":%.17g,\"runs\":%zu", cell->mean,
	        stat_cell_deviation(cell), cell->least, cell->most, cell->samples);
}

static void put_cell(const struct stat_tally *tally, size_t event, const struct stat_cell *cell, FILE *stream)
{
	const char *name = ps_eventset_event_name(tally->model, event);

	fputs("{\"event\":", stream);
	stat_put_json(name, stream);
	fputc(',', stream);
	if (cell->samples && cell->status != PS_STATUS_NOT_SUPPORTED)
		put_statistics(cell, stream);
	else
		fputs("\"value\":null", stream);
	fprintf(stream, ",\"unit\":\"%s\",\"status\":\"%s\",\"attribution\":\"%s\"}",
	        tool_number_is_time(name) ? "ns" : "count", ps_status_name(cell->status),
	        ps_attribution_name(cell->attribution));
}

static void put_row(const struct stat_tally *tally, size_t row, FILE *stream)
{
	const struct stat_tally_row *what = &tally->rows[row];
	const char *separator = "";

	fprintf(stream, "{\"type\":\"%s\",\"id\":%d,\"name\":", what->type, what->id);
	stat_put_json(what->name, stream);
	fputs(",\"counts\":[", stream);
	for (size_t event = 0; event < tally->event_count; event++) {
		const struct stat_cell *cell = &tally->cells[row * tally->event_count + event];
		if (!cell->is_seen)
			continue;
		fputs(separator, stream);
		put_cell(tally, event, cell, stream);
		separator = ",";
	}
	fputs("]}", stream);
}

void stat_tally_export_means(const struct stat_tally *tally, const struct stat_output *output)
{
	FILE *stream = output->stream;
	char *target = stat_describe_target(output->options);
	const char *separator = "";

	fputs("{\"means\":{\"target\":", stream);
	stat_put_json(target ? target : "", stream);
	fputs(",\"elapsed_s\":{", stream);
	put_statistics(&tally->elapsed, stream);
	fputs("},\"components\":[", stream);
	for (size_t row = 0; row < tally->row_count; row++) {
		if (!stat_table_has(tally, output, row))
			continue;
		fputs(separator, stream);
		put_row(tally, row, stream);
		separator = ",";
	}
	fputs("]}}\n", stream);
	free(target);
}
