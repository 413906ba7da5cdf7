/* SPDX-License-Identifier: BSD-3-Clause */
/* Means of runs and totals of intervals as text, with the lines that stand below the counts of one run, too. */
#include "tools/stat_sums.h"

#include "output/number.h"
#include "output/text.h"
#include "tools/complaint.h"
#include "tools/paragraph.h"
#include "tools/stat_export.h"
#include "tools/stat_footer.h"

static void add_table(struct stat_tally *tally, const struct stat_output *output, struct ps__buffer *out)
{
	struct ps_print_options how = stat_print_options(output);

	if (ps__text_add_table(&tally->table, &how, out) != PS_OK)
		tool_complain("%s", ps_error_detail());
	ps__buffer_add(out, "\n");
}

static void show_means(struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	const struct ps__spread *elapsed = &tally->elapsed;
	struct ps__buffer out = {0};

	if (elapsed->samples > 1)
		ps__buffer_add(&out, "Means of %zu runs, with the standard deviation of one run\n\n",
		               elapsed->samples);
	else
		ps__buffer_add(&out, "Counts of 1 run\n\n");
	add_table(tally, output, &out);
	stat_footer_line("elapsed", &out);
	ps__number_add_duration(&out, elapsed->mean);
	if (elapsed->samples > 1 && elapsed->mean > 0)
		ps__buffer_add(&out, " +-%4.1f%%", ps__spread_percent(elapsed));
	ps__buffer_add(&out, "\n");
	stat_runs_show(runs, &out);
	stat_footer_quality(&tally->quality, &out);
	tool_write(&out, output->stream);
}

void stat_means_show(struct stat_tally *tally, const struct stat_runs *runs, const struct stat_output *output)
{
	stat_tally_finish(tally, true);
	if (output->options->format == PS_FORMAT_JSON)
		stat_export_means(tally, runs, output);
	else if (output->options->format == PS_FORMAT_TEXT)
		show_means(tally, runs, output);
}

void stat_total_show(struct stat_tally *tally, const struct stat_facts *facts, const struct stat_output *output)
{
	struct ps__buffer out = {0};

	stat_tally_finish(tally, false);
	if (output->options->format == PS_FORMAT_JSON)
		stat_export_total(tally, facts, output);
	if (output->options->format != PS_FORMAT_TEXT)
		return;
	ps__buffer_add(&out, "All intervals together\n\n");
	add_table(tally, output, &out);
	stat_footer(&tally->quality, facts, &out);
	tool_write(&out, output->stream);
}
