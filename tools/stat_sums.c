/* SPDX-License-Identifier: BSD-3-Clause */
/* Means of runs and totals of intervals as text, with the lines that stand below the counts of one run, too. */
#include "tools/stat_sums.h"

#include "export/number.h"
#include "tools/paragraph.h"
#include "tools/stat_export.h"
#include "tools/stat_footer.h"

static void show_means(const struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	struct ps__buffer out = {0};
	const struct stat_cell *elapsed = &tally->elapsed;
	bool has_deviation = elapsed->samples > 1;

	if (has_deviation)
		ps__buffer_add(&out, "Means of %zu runs, with the standard deviation of one run\n\n",
		               elapsed->samples);
	else
		ps__buffer_add(&out, "Counts of 1 run\n\n");
	tool_write(&out, output->stream);
	stat_table_show(tally, output, true);
	stat_footer_line("elapsed", &out);
	ps__number_add_duration(&out, elapsed->mean);
	if (has_deviation && elapsed->mean > 0)
		ps__buffer_add(&out, " +-%4.1f%%", 100 * stat_cell_deviation(elapsed) / elapsed->mean);
	ps__buffer_add(&out, "\n");
	stat_runs_show(runs, &out);
	stat_footer_quality(&tally->quality, &out);
	tool_write(&out, output->stream);
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
		struct ps__buffer footer = {0};
		fputs("All intervals together\n\n", output->stream);
		stat_table_show(tally, output, false);
		stat_footer(&tally->quality, facts, &footer);
		tool_write(&footer, output->stream);
	}
}
