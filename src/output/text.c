/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree with its counters, as text: a line for each component, a column for
 * each event and metric, and at the end of the line how the numbers are known.
 * What is wider than the screen goes on in a second block of lines. What
 * nothing was counted in is left out.
 */
#include "output/text.h"

#include "base/error.h"
#include "base/os.h"
#include "output/report.h"
#include "output/wrap.h"

#define ALL_FLAGS ((unsigned)(PS_PRINT_NO_LEGEND << 1) - 1)

/* Not where the program asked for a file's tree: it knows. */
static void text_add_origin(struct ps__text *text)
{
	const struct ps_topology *topology = text->table.topology;
	struct ps__buffer line = {0};

	if (!topology->is_stand_in || text->options.flags & PS_PRINT_NO_LEGEND)
		return;
	ps__buffer_add(&line, "The tree is not this machine's: %s\n", topology->origin);
	ps__wrap_add_lines(&text->buffer, &line, PS__KNOWN_INDENT, text->options.width);
	ps__buffer_clear(&line);
}

/* Explains the signs and words of the table, and names what is not shown. */
static void text_add_legend(struct ps__text *text)
{
	size_t left_out = text->table.left_out;
	struct ps__buffer lines = {0};

	ps__buffer_add(&text->buffer, "\n");
	ps__known_add_legend(&lines, &text->known);
	if (!text->table.is_sum) {
		ps__text_add_residual(&lines, &text->table);
		ps__text_add_cost(&lines, &text->table);
	}
	if (left_out && !text->table.is_sum)
		ps__buffer_add(&lines, "%zu component%s without a count %s not shown.\n", left_out,
		               left_out == 1 ? "" : "s", left_out == 1 ? "is" : "are");
	ps__wrap_add_lines(&text->buffer, &lines, PS__KNOWN_INDENT, text->options.width);
	ps__buffer_clear(&lines);
}

static int text_add_counts(struct ps__text *text)
{
	const struct ps__table *table = &text->table;
	int code = ps__grid_create(&text->grid, table->row_count + 1,
	                           table->event_count + table->metric_count + 2);

	if (code < 0)
		return code;
	text->grid.ends_in_words = true;
	text->grid.has_colour = text->options.flags & PS_PRINT_COLOUR;
	ps__text_set_headings(text);
	for (size_t row = 0; row < table->row_count; row++)
		ps__text_set_row(text, row);
	ps__grid_add(&text->grid, &text->buffer, text->options.width);
	if (!(text->options.flags & PS_PRINT_NO_LEGEND))
		text_add_legend(text);
	return PS_OK;
}

static void text_add_bare_tree(struct ps__text *text)
{
	for (size_t row = 0; row < text->table.row_count; row++) {
		ps__text_label(text, row, true);
		ps__buffer_add(&text->buffer, "%s\n", ps__buffer_text(&text->cell));
	}
	if (!(text->options.flags & PS_PRINT_NO_LEGEND))
		ps__buffer_add(&text->buffer, "\nNothing has been counted here.\n");
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
	if (!text->branches)
		return ps__fail_memory("the printed text");
	ps__table_select(&text->table, &view);
	ps__text_find_branches(text);
	if (has_counts)
		code = text_add_counts(text);
	else
		text_add_bare_tree(text);
	if (!text->table.is_sum)
		text_add_origin(text);
	text->buffer.failed |= text->cell.failed;
	return code;
}

/* The table is given back, with fewer rows: text is only its place while it's
 * printed. */
int ps__text_add_table(struct ps__table *table, const struct ps_print_options *options,
                       struct ps__buffer *buffer)
{
	struct ps__text text = {.options = *options, .table = *table, .buffer = *buffer};
	int code = text_add(&text);

	ps__grid_clear(&text.grid);
	ps__buffer_clear(&text.cell);
	ps__os_free(text.branches);
	*table = text.table;
	*buffer = text.buffer;
	return code;
}

int ps__text_write(struct ps__report *report, struct ps__buffer *buffer)
{
	struct ps_print_options options = {.size = sizeof options,
	                                   .types = report->options->types,
	                                   .cache_level = report->options->cache_level};

	return ps__text_add_table(&report->table, &options, buffer);
}

static int text_print(struct ps_component *root, const struct ps_print_options *options,
                      FILE *stream)
{
	struct ps__buffer buffer = {0};
	struct ps__table table;
	int code = ps__table_create(&table, root, options->metrics, options->metric_count);

	if (code < 0)
		return code;
	code = ps__text_add_table(&table, options, &buffer);
	if (code == PS_OK)
		code = ps__buffer_finish(&buffer, stream);
	else
		ps__buffer_clear(&buffer);
	ps__table_clear(&table);
	return code;
}

static int text_check(const struct ps_print_options *options)
{
	struct ps__table_view view = {.types = options->types, .cache_level = options->cache_level};

	if (options->size != sizeof *options)
		return ps__fail(
		    PS_EINVAL,
		    "ps_print_with: options->size is %zu, not %zu: set it to sizeof options",
		    options->size, sizeof *options);
	if (options->flags & ~ALL_FLAGS)
		return ps__fail(PS_EINVAL,
		                "ps_print_with: options->flags has an unknown flag: 0x%x",
		                options->flags);
	int code =
	    ps__table_check_metrics(options->metrics, options->metric_count, "ps_print_with");
	return code < 0 ? code : ps__table_check_view(&view, "ps_print_with");
}

int ps_print_with(struct ps_component *root, const struct ps_print_options *options, FILE *stream)
{
	struct ps_print_options plain = {.size = sizeof plain};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_print_with: the %s is NULL",
		                root ? "stream" : "component");
	int code = options ? text_check(options) : PS_OK;
	return code < 0 ? code : text_print(root, options ? options : &plain, stream);
}

int ps_print(struct ps_component *root, FILE *stream)
{
	struct ps_print_options plain = {.size = sizeof plain};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_print: the %s is NULL",
		                root ? "stream" : "component");
	return text_print(root, &plain, stream);
}
