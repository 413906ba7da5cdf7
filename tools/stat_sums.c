/* SPDX-License-Identifier: BSD-3-Clause */
/* Means of runs and totals of intervals as text, with the lines that stand below the counts of one run, too. */
#include "tools/stat_sums.h"

#include "tools/number.h"
#include "tools/stat_export.h"
#include "tools/stat_footer.h"

static void show_means(const struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	FILE *stream = output->stream;
	const struct stat_cell *elapsed = &tally->elapsed;
	bool has_deviation = elapsed->samples > 1;
	char mean[TOOL_NUMBER_BYTES];

	if (has_deviation)
		fprintf(stream, "Means of %zu runs, with the standard deviation of one run\n\n", elapsed->samples);
	else
		fputs("Counts of 1 run\n\n", stream);
	stat_table_show(tally, output, true);
	stat_footer_line("elapsed", stream);
	tool_number_duration(mean, elapsed->mean);
	fputs(mean, stream);
	if (has_deviation && elapsed->mean > 0)
		fprintf(stream, " +-%4.1f%%", 100 * stat_cell_deviation(elapsed) / elapsed->mean);
	fputc('\n', stream);
	stat_runs_show(runs, stream);
	stat_footer_quality(&tally->quality, stream);
}

void stat_means_show(const struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	if (output->options->format == PS_FORMAT_JSON)
		stat_export_means(tally, runs, output);
	else if (output->options->format == PS_FORMAT_TEXT)
		show_means(tally, runs, output);
}

void stat_total_show(const struct stat_tally *tally, const struct stat_facts *facts, const struct stat_output *output)
{
	if (output->options->format == PS_FORMAT_JSON) {
		stat_export_total(tally, facts, output);
	} else if (output->options->format == PS_FORMAT_TEXT) {
		fputs("All intervals together\n\n", output->stream);
		stat_table_show(tally, output, false);
		stat_footer(&tally->quality, facts, output->stream);
	}
}
