/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree with its counters, as text: a line for each component, a column for each event and
 * metric, and at the end of the line how the numbers are known. Columns that don't fit on the
 * screen are left out, and so are components where nothing was counted.
 */
#include "output/text.h"

#include "base/error.h"
#include "base/os.h"
#include "output/destination.h"
#include "output/report.h"
#include "output/wrap.h"

#include <string.h>

#define ALL_FLAGS ((unsigned)(PS_PRINT_RAW << 1) - 1)

/* Tells where the tree comes from if it isn't this machine's, unless the program asked for it
 * itself. */
static void text_add_origin(const struct ps__text *text, struct ps__buffer *lines)
{
	const struct ps_topology *topology = text->table.topology;

	if (topology->is_stand_in && !text->table.is_sum)
		ps__buffer_add(lines, "The tree is not this machine's: %s\n", topology->origin);
}

/* Names the metrics that the command's user chose and that have no number in any line, although
 * their events are counted. */
static void text_add_unknown(const struct ps__text *text, struct ps__buffer *lines)
{
	const struct ps__grid_column *columns = text->grid.columns + text->grid.first_derived;

	if (!(text->options.flags & PS__PRINT_UNKNOWN))
		return;
	for (size_t metric = 0; metric < text->table.metric_count; metric++) {
		if (columns[metric].width == 0)
			ps__known_add_unknown(lines, text->table.metrics[metric].name);
	}
}

/* Explains the table's signs and words, and names what is not shown. */
static void text_explain(struct ps__text *text, struct ps__buffer *lines, bool is_report)
{
	size_t left_out = text->table.left_out;

	/* A report has no need of these words: its last lines describe exact counts, and its
	 * command has ended. */
	if (is_report) {
		text->known.attributions &= ~(1u << PS_ATTRIBUTION_EXACT);
		text->known.flags &= ~(uint32_t)PS_VALUE_ENDED;
		text->known.is_whole = !text->has_last_cpu;
	}
	ps__known_add_legend(lines, &text->known);
	if (text->has_empty)
		ps__buffer_add(lines, "%-11s  no count was attributed to it\n", "-");
	text_add_unknown(text, lines);
	if (text->lines.folded)
		ps__buffer_add(lines, "%-11s  of these CPUs has a count in this range%s\n", "each",
		               is_report ? "; --each shows them all" : "");
	if (!text->table.is_sum && !text->table.timestamp) {
		ps__text_add_residual(lines, &text->table);
		ps__text_add_cost(lines, &text->table);
	}
	if (left_out)
		ps__buffer_add(lines, "%zu component%s without a count %s not shown%s.\n", left_out,
		               left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are",
		               is_report ? ": --idle shows them" : "");
	/* A report tells the origin in its last lines. */
	if (!is_report)
		text_add_origin(text, lines);
}

static void text_add_legend(struct ps__text *text)
{
	bool is_report = text->options.flags & PS__PRINT_REPORT;
	struct ps__buffer lines = {0};

	ps__grid_add_only_words(&text->grid, &lines);
	ps__grid_add_left_out(&text->grid, text->left_out ? text->left_out : &lines,
	                      text->options.width, is_report ? " (--csv and --json have all)" : "");
	if (!(text->options.flags & PS_PRINT_NO_LEGEND))
		text_explain(text, &lines, is_report);
	if (lines.length && !(text->options.flags & PS_PRINT_NO_LEGEND))
		ps__buffer_add(&text->buffer, "\n");
	ps__wrap_add_lines(&text->buffer, &lines, PS__KNOWN_INDENT, text->options.width);
	ps__buffer_clear(&lines);
}

/* Returns the number of metrics that are left out last: all that the user chose; else only IPC, the
 * first one.
 */
static size_t text_kept_metrics(const struct ps__text *text)
{
	const struct ps__table *table = &text->table;

	if (!(text->options.flags & PS__PRINT_ALL_METRICS) || table->metric_count == 0)
		return table->metric_count;
	return strcmp(table->metrics[0].ask.metric->name, "IPC") == 0;
}

static int text_add_counts(struct ps__text *text)
{
	const struct ps__table *table = &text->table;
	int code = ps__grid_create(&text->grid, text->lines.count + 1,
	                           table->event_count + table->metric_count + 2);

	if (code < 0)
		return code;
	text->grid.first_derived = 1 + table->event_count;
	text->grid.kept_derived = text_kept_metrics(text);
	text->grid.ends_in_words = true;
	text->grid.has_colour = text->options.flags & PS_PRINT_COLOUR;
	ps__text_set_headings(text);
	for (size_t line = 0; line < text->lines.count; line++)
		ps__text_set_line(text, line);
	ps__grid_add(&text->grid, &text->buffer, text->options.width);
	text_add_legend(text);
	return PS_OK;
}

static void text_add_bare_tree(struct ps__text *text)
{
	bool is_alike = text->lines.layout == PS__LAYOUT_ALIKE;
	struct ps__buffer lines = {0};

	for (size_t line = 0; !is_alike && line < text->lines.count; line++) {
		ps__text_label(text, line, true);
		ps__buffer_add(&text->buffer, "%s\n", ps__buffer_text(&text->grid.cell));
	}
	if (is_alike)
		ps__text_add_alike(text);
	if (!(text->options.flags & PS_PRINT_NO_LEGEND)) {
		ps__buffer_add(&text->buffer, "\nNothing has been counted here.\n");
		text_add_origin(text, &lines);
	}
	ps__wrap_add_lines(&text->buffer, &lines, PS__KNOWN_INDENT, text->options.width);
	ps__buffer_clear(&lines);
}

static enum ps__layout text_layout(const struct ps__text *text, bool has_counts)
{
	bool is_each = text->options.flags & PS_PRINT_EACH;

	if (!has_counts)
		return is_each || text->options.flags & PS_PRINT_FLAT ? PS__LAYOUT_BARE
		                                                      : PS__LAYOUT_ALIKE;
	if (is_each)
		return PS__LAYOUT_EACH;
	if (text->options.flags & PS_PRINT_FLAT)
		return PS__LAYOUT_LIST;
	return text->options.types ? PS__LAYOUT_TYPES : PS__LAYOUT_TREE;
}

static int text_add(struct ps__text *text)
{
	bool has_counts = text->table.rows[0].counted;
	int code = PS_OK;
	struct ps__table_view view = {
	    .types = text->options.types,
	    .cache_level = text->options.cache_level,
	    .idle = !has_counts || text->options.flags & PS_PRINT_IDLE,
	};

	text->branches = ps__os_calloc(text->table.row_count, sizeof *text->branches);
	text->numbers = ps__os_calloc(text->table.row_count, sizeof *text->numbers);
	if (!text->branches || !text->numbers)
		return ps__fail_memory("the printed text");
	ps__table_select(&text->table, &view);
	code = ps__lines_create(&text->lines, &text->table, text_layout(text, has_counts));
	if (code < 0)
		return code;
	ps__text_find_branches(text);
	if (has_counts)
		code = text_add_counts(text);
	else
		text_add_bare_tree(text);
	text->buffer.failed |= text->grid.cell.failed;
	return code;
}

/* text works on copies of the table and the buffer; they are copied back at the end. */
int ps__text_add_table(struct ps__table *table, const struct ps_print_options *options,
                       struct ps__buffer *buffer, struct ps__buffer *left_out)
{
	struct ps__text text = {
	    .options = *options, .table = *table, .buffer = *buffer, .left_out = left_out};
	int code = text_add(&text);

	ps__grid_clear(&text.grid);
	ps__lines_clear(&text.lines);
	ps__os_free(text.branches);
	ps__os_free(text.numbers);
	*table = text.table;
	*buffer = text.buffer;
	return code;
}

int ps__text_write(struct ps__report *report, struct ps__buffer *buffer)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .types = report->options->types,
	                                   .cache_level = report->options->cache_level};

	return ps__text_add_table(&report->table, &options, buffer, NULL);
}

static int text_print(struct ps_component *root, const struct ps_print_options *options,
                      const struct ps__destination *to)
{
	struct ps__buffer buffer = {0};
	struct ps__table table;
	int code = ps__table_create_at(&table, root, options->metrics, options->metric_count,
	                               options->timestamp);

	if (code < 0)
		return code;
	code = ps__text_add_table(&table, options, &buffer, NULL);
	code = ps__destination_write(to, &buffer, code);
	ps__table_clear(&table);
	return code;
}

/* Size of the options before they had a timestamp. */
#define LEAST_OPTIONS (offsetof(struct ps_print_options, metric_count) + sizeof(size_t))

static int text_check(struct ps_print_options *out, const struct ps_print_options *options,
                      const char *call)
{
	struct ps_print_options all = {.size = sizeof all};
	int code = options ? ps__table_take_options(&all, sizeof all, options, LEAST_OPTIONS, call)
	                   : PS_OK;
	struct ps__table_view view = {.types = all.types, .cache_level = all.cache_level};

	if (code < 0)
		return code;
	if (all.flags & ~ALL_FLAGS)
		return ps__fail(PS_EINVAL, "%s: options->flags has an unknown flag: 0x%x", call,
		                all.flags);
	code = ps__table_check_metrics(all.metrics, all.metric_count, call);
	if (code == PS_OK)
		code = ps__table_check_view(&view, call);
	if (code == PS_OK)
		*out = all;
	return code;
}

static int text_print_to(struct ps_component *root, const struct ps_print_options *options,
                         const struct ps__destination *to, const char *call)
{
	struct ps_print_options all;

	if (!root)
		return ps__fail(PS_EINVAL, "%s: the component is NULL", call);
	int code = text_check(&all, options, call);
	return code < 0 ? code : text_print(root, &all, to);
}

int ps_print_with(struct ps_component *root, const struct ps_print_options *options, FILE *stream)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "ps_print_with: the stream is NULL");
	return text_print_to(root, options, &(struct ps__destination){.stream = stream},
	                     "ps_print_with");
}

int ps_print(struct ps_component *root, FILE *stream)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "ps_print: the stream is NULL");
	return text_print_to(root, NULL, &(struct ps__destination){.stream = stream}, "ps_print");
}

int ps_print_to_path(struct ps_component *root, const struct ps_print_options *options,
                     const char *path)
{
	if (!path)
		return ps__fail(PS_EINVAL, "ps_print_to_path: the path is NULL");
	return text_print_to(root, options, &(struct ps__destination){.path = path},
	                     "ps_print_to_path");
}

int ps_print_to_fd(struct ps_component *root, const struct ps_print_options *options, int fd)
{
	return text_print_to(root, options, &(struct ps__destination){.fd = fd}, "ps_print_to_fd");
}
