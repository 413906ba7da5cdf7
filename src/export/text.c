/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree with its counters, as text: a line for each component, a column for each event and metric, and at the end
 * of the line how the numbers are known. What is wider than the screen goes on in a second block of lines. What nothing
 * was counted in is left out.
 */
#include "export/text.h"

#include "base/error.h"
#include "base/os.h"
#include "export/cost.h"
#include "export/report.h"
#include "export/residual.h"

#include <string.h>

#define ALL_FLAGS ((unsigned)(PS_PRINT_NO_LEGEND << 1) - 1)

static size_t wider(size_t width, const struct ps__text *text)
{
	return text->cell.length > width ? text->cell.length : width;
}

/* As wide as the heading and every number below it. */
static void measure_column(struct ps__text *text, struct ps__text_column *column)
{
	size_t width;
	bool occurs = false;

	column->width = 1; /* so that it's one that is shown */
	ps__text_heading(text, column);
	width = text->cell.length;
	for (size_t row = 0; row < text->table.row_count; row++) {
		size_t mark = ps__text_cell(text, row, column);
		column->mark = mark > column->mark ? mark : column->mark;
		occurs |= text->cell.length > 0;
		width = wider(width, text);
	}
	column->width = occurs ? width + column->mark : 0;
}

static void measure(struct ps__text *text)
{
	const struct ps__table *table = &text->table;

	text->label_width = strlen("Component");
	for (size_t row = 0; row < table->row_count; row++) {
		ps__text_label(text, row, false);
		size_t width = ps__text_indent(text, row) + text->cell.length;
		text->label_width = width > text->label_width ? width : text->label_width;
	}
	for (size_t i = 0; i < text->column_count; i++) {
		struct ps__text_column *column = &text->columns[i];
		column->kind = i < table->event_count                         ? PS__TEXT_EVENT
		               : i < table->event_count + table->metric_count ? PS__TEXT_METRIC
		                                                              : PS__TEXT_KNOWN;
		column->index = column->kind == PS__TEXT_METRIC ? i - table->event_count : i;
		if (column->kind != PS__TEXT_EVENT || ps__table_cell(table, 0, i)->parts)
			measure_column(text, column);
	}
}

/* Metrics' estimates and what of them is unknown is explained below, too. */
static void note_all(struct ps__text *text)
{
	for (size_t row = 0; row < text->table.row_count; row++) {
		ps__text_note(text, row, &text->known);
		for (size_t i = 0; i < text->table.metric_count; i++) {
			struct ps_metric_value value;
			if (ps__table_metric(&text->table, row, i, &value))
				ps__known_note_metric(&text->known, &value);
		}
	}
}

static void add_padded(struct ps__text *text, const struct ps__text_column *column, size_t mark,
                       enum ps__text_style style)
{
	size_t length = text->cell.length + column->mark - mark;
	size_t pad = column->kind != PS__TEXT_KNOWN && column->width > length ? column->width - length : 0;

	ps__buffer_add(&text->buffer, "  %*s", (int)pad, "");
	if (!text->cell.length || text->cell.failed)
		style = PS__STYLE_PLAIN;
	ps__text_style(text, style);
	ps__buffer_add(&text->buffer, "%s", text->cell.failed ? "" : text->cell.text);
	ps__text_end_style(text, style);
	ps__buffer_add(&text->buffer, "%*s", (int)(column->mark - mark), "");
}

static enum ps__text_style style_of(const struct ps__text *text, const struct ps__text_column *column)
{
	const char *cell = text->cell.failed ? "" : text->cell.text;

	if (column->kind == PS__TEXT_KNOWN || strcmp(cell, "0") == 0)
		return PS__STYLE_FAINT;
	if (*cell == 'n')
		return PS__STYLE_UNKNOWN;
	return *cell == '~' ? PS__STYLE_ESTIMATE : PS__STYLE_PLAIN;
}

static void end_line(struct ps__text *text)
{
	ps__buffer_trim(&text->buffer);
	ps__buffer_add(&text->buffer, "\n");
}

static void add_heading(struct ps__text *text, size_t first, size_t end)
{
	ps__text_style(text, PS__STYLE_HEADING);
	ps__buffer_add(&text->buffer, "Component");
	ps__text_end_style(text, PS__STYLE_HEADING);
	ps__buffer_add(&text->buffer, "%*s", (int)(text->label_width - strlen("Component")), "");
	for (size_t i = first; i < end; i++) {
		if (!text->columns[i].width)
			continue;
		ps__text_heading(text, &text->columns[i]);
		add_padded(text, &text->columns[i], 0, PS__STYLE_HEADING);
	}
	end_line(text);
}

static void add_row(struct ps__text *text, size_t row, size_t first, size_t end)
{
	ps__text_add_branches(text, row);
	ps__text_label(text, row, false);
	size_t used = ps__text_indent(text, row) + text->cell.length;
	ps__buffer_add(&text->buffer, "%s%*s", text->cell.failed ? "" : text->cell.text,
	               (int)(text->label_width - used), "");
	for (size_t i = first; i < end; i++) {
		const struct ps__text_column *column = &text->columns[i];
		if (!column->width)
			continue;
		size_t mark = ps__text_cell(text, row, column);
		add_padded(text, column, mark, style_of(text, column));
	}
	end_line(text);
}

/* The columns that stand beside each other from `first` on: one at least. */
static size_t end_of_block(const struct ps__text *text, size_t first)
{
	size_t used = text->label_width, shown = 0, end = first;

	for (; end < text->column_count; end++) {
		if (!text->columns[end].width)
			continue;
		used += 2 + text->columns[end].width;
		if (text->options.width && used > text->options.width && shown > 0)
			break;
		shown++;
	}
	return end;
}

static void add_blocks(struct ps__text *text)
{
	size_t end;

	for (size_t first = 0; first < text->column_count; first = end) {
		end = end_of_block(text, first);
		if (first > 0)
			ps__buffer_add(&text->buffer, "\n");
		add_heading(text, first, end);
		for (size_t row = 0; row < text->table.row_count; row++)
			add_row(text, row, first, end);
	}
}

/* Not where the program asked for a file's tree: it knows. */
static void add_origin(struct ps__text *text)
{
	const struct ps_topology *topology = text->table.topology;
	struct ps__buffer line = {0};

	if (!topology->is_stand_in || text->options.flags & PS_PRINT_NO_LEGEND)
		return;
	ps__buffer_add(&line, "The tree is not this machine's: %s\n", topology->origin);
	ps__text_add_wrapped(&text->buffer, &line, PS__KNOWN_INDENT, text->options.width);
	ps__buffer_clear(&line);
}

static void add_counts(struct ps__text *text)
{
	size_t left_out = text->table.left_out;
	struct ps__buffer legend = {0};

	measure(text);
	add_blocks(text);
	if (text->options.flags & PS_PRINT_NO_LEGEND)
		return;
	note_all(text);
	ps__buffer_add(&text->buffer, "\n");
	ps__known_add_legend(&legend, &text->known);
	ps__residual_add(&legend, &text->table);
	ps__cost_add(&legend, &text->table);
	if (left_out)
		ps__buffer_add(&legend, "%zu component%s without a count %s not shown.\n", left_out,
		               left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
	ps__text_add_wrapped(&text->buffer, &legend, PS__KNOWN_INDENT, text->options.width);
	ps__buffer_clear(&legend);
}

static void add_bare_tree(struct ps__text *text)
{
	for (size_t row = 0; row < text->table.row_count; row++) {
		ps__text_add_branches(text, row);
		ps__text_label(text, row, true);
		ps__buffer_add(&text->buffer, "%s\n", text->cell.failed ? "" : text->cell.text);
	}
	if (!(text->options.flags & PS_PRINT_NO_LEGEND))
		ps__buffer_add(&text->buffer, "\nNothing has been counted here.\n");
}

static int make(struct ps__text *text)
{
	bool has_counts = text->table.rows[0].counted;
	struct ps__table_view view = {
	    .types = text->options.types,
	    .cache_level = text->options.cache_level,
	    .idle = !has_counts || text->options.flags & PS_PRINT_IDLE,
	};

	text->column_count = text->table.event_count + text->table.metric_count + 1;
	text->columns = ps__os_calloc(text->column_count, sizeof *text->columns);
	text->branches = ps__os_calloc(text->table.row_count, sizeof *text->branches);
	if (!text->columns || !text->branches)
		return ps__fail_memory("the printed text");
	ps__table_select(&text->table, &view);
	ps__text_find_branches(text);
	if (has_counts)
		add_counts(text);
	else
		add_bare_tree(text);
	add_origin(text);
	text->buffer.failed |= text->cell.failed;
	return PS_OK;
}

/* The table is given back, with fewer rows: text is only its place while it's printed. */
static int write_text(struct ps__table *table, const struct ps_print_options *options, struct ps__buffer *buffer)
{
	struct ps__text text = {.options = *options, .table = *table};
	int code = make(&text);

	ps__os_free(text.cell.text);
	ps__os_free(text.branches);
	ps__os_free(text.columns);
	*table = text.table;
	*buffer = text.buffer;
	return code;
}

int ps__text_write(struct ps__report *report, struct ps__buffer *buffer)
{
	struct ps_print_options options = {
	    .size = sizeof options, .types = report->options->types, .cache_level = report->options->cache_level};

	return write_text(&report->table, &options, buffer);
}

static int print(struct ps_component *root, const struct ps_print_options *options, FILE *stream)
{
	struct ps__buffer buffer = {0};
	struct ps__table table;
	int code = ps__table_create(&table, root, options->metrics, options->metric_count);

	if (code < 0)
		return code;
	code = write_text(&table, options, &buffer);
	if (code == PS_OK)
		code = ps__buffer_finish(&buffer, stream);
	ps__table_clear(&table);
	return code;
}

static int check(const struct ps_print_options *options)
{
	struct ps__table_view view = {.types = options->types, .cache_level = options->cache_level};

	if (options->size != sizeof *options)
		return ps__fail(PS_EINVAL, "ps_print_with: options->size is %zu, not %zu: set it to sizeof options",
		                options->size, sizeof *options);
	if (options->flags & ~ALL_FLAGS)
		return ps__fail(PS_EINVAL, "ps_print_with: options->flags has an unknown flag: 0x%x", options->flags);
	int code = ps__table_check_metrics(options->metrics, options->metric_count, "ps_print_with");
	return code < 0 ? code : ps__table_check_view(&view, "ps_print_with");
}

int ps_print_with(struct ps_component *root, const struct ps_print_options *options, FILE *stream)
{
	struct ps_print_options plain = {.size = sizeof plain};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_print_with: the %s is NULL", root ? "stream" : "component");
	int code = options ? check(options) : PS_OK;
	return code < 0 ? code : print(root, options ? options : &plain, stream);
}

int ps_print(struct ps_component *root, FILE *stream)
{
	struct ps_print_options plain = {.size = sizeof plain};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_print: the %s is NULL", root ? "stream" : "component");
	return print(root, &plain, stream);
}
