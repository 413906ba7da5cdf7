/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the counts of a run or an interval, with metrics, by the library's output. */
#include "tools/stat_show.h"

#include "output/text.h"
#include "output/wrap.h"
#include "tools/stat_metrics.h"
#include "tools/terminal.h"

#include <math.h>
#include <string.h>

/* Names columns that don't fit, but only in the first interval that leaves them out. */
static void show_say_left_out(struct stat_output *output, struct ps__buffer *left_out,
                              struct ps__buffer *out)
{
	if (!strstr(ps__buffer_text(&output->left_out), ps__buffer_text(left_out))) {
		ps__buffer_add(&output->left_out, "%s", ps__buffer_text(left_out));
		ps__wrap_add_lines(out, left_out, PS__KNOWN_INDENT, output->screen.width);
	}
	out->failed |= left_out->failed;
	ps__buffer_clear(left_out);
}

static int show_add_tree(struct stat_output *output, struct stat_count *count,
                         struct ps__buffer *out, bool is_interval)
{
	struct ps_print_options how = stat_print_options(output);
	struct stat_metrics metrics;
	struct ps__table table;
	struct ps__buffer left_out = {0};
	bool stays = is_interval && !output->may_redraw;

	int found = stat_metrics_find(&metrics, output->options, count->root, true, false);
	how.flags |= is_interval ? PS_PRINT_NO_LEGEND : 0;
	int code = ps__table_create(&table, count->root, (const char *const *)metrics.names.names,
	                            metrics.names.count);
	if (code == PS_OK) {
		code = ps__text_add_table(&table, &how, out, stays ? &left_out : NULL);
		show_say_left_out(output, &left_out, out);
		ps__table_clear(&table);
	}
	stat_metrics_clear(&metrics);
	return code == PS_OK ? found : tool_complain_detail();
}

/* Adds the footer after the lines that are already in `lines`. */
static int show_footer(const struct stat_output *output, struct stat_count *count,
                       const struct stat_facts *facts, struct ps__buffer *lines,
                       struct ps__buffer *out)
{
	struct stat_quality quality;

	if (stat_quality_create(&quality, count->model) < 0)
		return -1;
	quality.is_of_regions = output->regions;
	stat_quality_add_run(&quality, count);
	stat_rates_take_run(&quality, count);
	stat_footer(&quality, facts, &output->options->target, lines);
	stat_footer_fold(lines, output, out);
	stat_quality_destroy(&quality);
	return 0;
}

/* Returns the CPU time of all programs, with or without reports; NaN if it is unknown. */
static double show_cpu_s(const struct stat_count *count)
{
	struct ps_value total;
	bool is_known = ps_component_total(count->root, "task-clock", &total) == PS_OK &&
	                total.status == PS_STATUS_COUNTED;

	return is_known ? (double)total.value / 1e9 : (double)NAN;
}

int stat_show_reports(const struct stat_output *output, double cpu_s, struct ps__buffer *out,
                      struct ps__buffer *lines)
{
	struct ps__buffer target = {0}, shown = {0};

	stat_describe_target(output->options, &target);
	tool_put(&shown, ps__buffer_text(&target));
	int result = stat_regions_add_reports(output->regions, ps__buffer_text(&shown), out);
	ps__buffer_clear(&target);
	ps__buffer_clear(&shown);
	stat_regions_describe(output->regions, cpu_s, lines);
	return result;
}

static int show_add_regions(struct stat_output *output, struct stat_count *count,
                            const struct stat_facts *facts, struct ps__buffer *out)
{
	struct ps__buffer lines = {0};
	int result = stat_show_reports(output, show_cpu_s(count), out, &lines);

	ps__buffer_add(out, "\n");
	if (result == 0)
		result = show_footer(output, count, facts, &lines, out);
	ps__buffer_clear(&lines);
	return result;
}

static int show_add_text(struct stat_output *output, struct stat_count *count,
                         const struct stat_facts *facts, struct ps__buffer *out)
{
	bool is_interval = facts->interval_s > 0;
	struct ps__buffer lines = {0};

	if (output->regions)
		return show_add_regions(output, count, facts, out);
	if (is_interval) {
		ps__buffer_add(out, "%.3f s", facts->elapsed_s);
		tool_put_rank(out, facts->pid);
		ps__buffer_add(out, "\n");
	} else {
		stat_footer_head(output, facts, out);
	}
	int result = show_add_tree(output, count, out, is_interval);
	ps__buffer_add(out, "\n");
	if (result == 0 && facts->has_ended && !is_interval)
		result = show_footer(output, count, facts, &lines, out);
	return result;
}

/* Returns the number of screen lines that a line of text takes, because the terminal wraps it.
 * Colours take no columns. */
static size_t show_terminal_lines(const char *line, size_t length, size_t width)
{
	size_t columns = 0;

	for (const char *end = line + length, *next; line < end; line = next) {
		const char *colour = memchr(line, '\033', (size_t)(end - line));
		columns += tool_columns(line, (size_t)((colour ? colour : end) - line));
		const char *colour_end =
		    colour ? memchr(colour, 'm', (size_t)(end - colour)) : NULL;
		next = colour_end ? colour_end + 1 : end;
	}
	return columns ? (columns - 1) / width + 1 : 1;
}

/* Returns the text after the first lines, which together fit into `most` screen lines. *taken gets
 * the number of screen lines of these first lines. */
static const char *show_skip_lines(const char *text, size_t most, size_t width, size_t *taken)
{
	for (*taken = 0; *text;) {
		size_t length = strcspn(text, "\n");
		size_t lines = show_terminal_lines(text, length, width);
		if (*taken + lines > most)
			break;
		*taken += lines;
		text += length + (text[length] == '\n');
	}
	return text;
}

static size_t show_count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Draws lines over those drawn before, as many as fit on the screen. If some don't fit, the last
 * line on the screen says so. */
static void show_draw(struct stat_output *output, const char *text)
{
	size_t room = output->screen.height - 1, width = output->screen.width, lines;
	const char *end = show_skip_lines(text, room, width, &lines);

	if (*end)
		end = show_skip_lines(text, room - 1, width, &lines);
	if (output->drawn_lines)
		fprintf(output->stream, "\033[%zuA\r\033[J", output->drawn_lines);
	fwrite(text, 1, (size_t)(end - text), output->stream);
	if (*end) {
		char note[96];
		snprintf(note, sizeof note,
		         "... %zu more lines: a higher terminal has room, --by shows less",
		         show_count_lines(end));
		fprintf(output->stream, "%.*s\n", (int)width, note);
		lines++;
	}
	output->drawn_lines = lines;
}

/* On a terminal, draws an interval over the previous one. */
static int show_as_text(struct stat_output *output, struct stat_count *count,
                        const struct stat_facts *facts)
{
	struct ps__buffer out = {0};
	int result = show_add_text(output, count, facts, &out);

	if (facts->interval_s > 0 && output->may_redraw && result == 0 && !out.failed) {
		show_draw(output, ps__buffer_text(&out));
		ps__buffer_clear(&out);
	}
	if (ps__buffer_finish(&out, output->stream) == PS_OK)
		return result;
	return tool_complain_detail();
}

static int show_export(struct stat_output *output, struct stat_count *count,
                       const struct stat_facts *facts)
{
	const struct stat_options *options = output->options;
	bool is_one_of_many = options->repetitions > 1 || options->interval_ms > 0 ||
	                      stat_options_tell_tasks(options) || output->regions ||
	                      options->appends;
	struct stat_fields fields;
	struct stat_metrics metrics;
	struct ps_export_options how = {.size = sizeof how,
	                                .types = stat_output_types(output),
	                                .cache_level = options->by.cache_level};

	if (output->regions)
		how.types = PS_TYPE_BIT(PS_COMPONENT_MACHINE);
	if (stat_fields_create(&fields, output, count, facts) < 0)
		return -1;
	int found = stat_metrics_find(&metrics, options, count->root, false, false);
	how.metrics = (const char *const *)metrics.names.names;
	how.metric_count = metrics.names.count;
	how.fields = fields.fields;
	how.field_count = fields.count;
	how.flags = (options->look.hides_idle ? PS_EXPORT_NO_IDLE : 0) |
	            (is_one_of_many ? PS_EXPORT_COMPACT : 0) |
	            (output->has_csv_header ? PS_EXPORT_NO_HEADER : 0);
	int code = ps_export_with(count->root, options->format, &how, output->stream);
	output->has_csv_header = true;
	stat_fields_clear(&fields);
	stat_metrics_clear(&metrics);
	return code == PS_OK ? found : tool_complain_detail();
}

int stat_show_regions_data(const struct stat_output *output, double cpu_s)
{
	const struct stat_heard *heard = &output->regions->heard;
	struct ps__buffer out = {0}, lines = {0};
	int result = stat_show_reports(output, cpu_s, &out, &lines);

	if (ps__buffer_finish(&out, output->stream) != PS_OK)
		result = tool_complain_detail();
	else if (!heard->processes || heard->silent || heard->flushed || heard->inner ||
	         heard->lacks_notes)
		tool_complain_lines(ps__buffer_text(&lines));
	ps__buffer_clear(&lines);
	return result;
}

/* Writes the reports. In JSON they are followed by perfsage's own facts about the run, for which
 * CSV has no columns. */
static int show_regions_data(struct stat_output *output, struct stat_count *count,
                             const struct stat_facts *facts)
{
	int result = stat_show_regions_data(output, show_cpu_s(count));

	return result == 0 && output->options->format == PS_FORMAT_JSON
	           ? show_export(output, count, facts)
	           : result;
}

static int show_as_data(struct stat_output *output, struct stat_count *count,
                        const struct stat_facts *facts)
{
	return output->regions ? show_regions_data(output, count, facts)
	                       : show_export(output, count, facts);
}

int stat_show(struct stat_output *output, struct stat_count *count, const struct stat_facts *facts)
{
	int result;

	/* tool_file_finish reports the failed write. Counting goes on, because the command does. */
	if (output->is_broken)
		return -1;
	if (output->options->format != PS_FORMAT_TEXT)
		result = show_as_data(output, count, facts);
	else
		result = show_as_text(output, count, facts);
	/* At the end of a run, more text follows, and all of it is written together. */
	if (!facts->has_ended || facts->repetition)
		output->is_broken = tool_file_flush(&output->file) < 0;
	return result;
}
