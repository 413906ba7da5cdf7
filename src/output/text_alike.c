/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tree without counts as text. The first line tells the number of components of each type. "4 L3
 * 0-3 (32 MiB each)" describes components that are alike; "2 in each: CPUs 0-7" describes what is
 * below them. A line that is too long is continued on the next one.
 */
#include "output/label.h"
#include "output/text.h"

#include <string.h>

#define MOST_LINES 22 /* a terminal's 24 lines, less two for the command and the prompt */
#define INDENT     2  /* of continued lines */

struct alike_line {
	struct ps__text *text;
	size_t line;
	struct ps__buffer tree; /* all lines so far */
	struct ps__buffer part; /* the next words, which are kept on one line if possible */
	size_t used;            /* columns used in the current line */
};

static size_t alike_indent(const struct ps__text *text, size_t line)
{
	return 2 * (size_t)text->lines.lines[line].depth;
}

static void alike_begin(struct alike_line *out, enum ps__branches kind)
{
	struct ps__text *text = out->text;
	int depth = text->lines.lines[out->line].depth;

	out->used = alike_indent(text, out->line);
	if (text->options.flags & PS_PRINT_UTF8)
		ps__label_add_branches(&out->tree, text->branches[out->line], depth, kind,
		                       depth && text->options.flags & PS_PRINT_COLOUR);
	else
		ps__buffer_add(&out->tree, "%*s", 2 * depth, "");
}

static void alike_go_on_below(struct alike_line *out)
{
	ps__buffer_trim(&out->tree);
	ps__buffer_add(&out->tree, "\n");
	alike_begin(out, PS__BRANCHES_CONTINUED);
	ps__buffer_add(&out->tree, "%*s", INDENT, "");
	out->used += INDENT;
}

/* Returns the length of the part that fits, up to a comma; if no comma fits, up to the first one.
 */
static size_t alike_cut(const char *text, size_t room)
{
	size_t all = strlen(text), cut = 0;

	for (size_t i = 0; all > room && i < all; i++) {
		if (text[i] == ',' && (cut == 0 || i < room))
			cut = i + 1;
	}
	return cut ? cut : all;
}

/* Adds the part after a separator, on a new line if it doesn't fit. A list of numbers that fits on
 * no line is split at commas. */
static void alike_add_part(struct alike_line *out, const char *separator)
{
	size_t width = out->text->options.width ? out->text->options.width : SIZE_MAX;
	const char *text = ps__buffer_text(&out->part);
	size_t more = strlen(separator) + strlen(text) + strlen(" +");

	ps__buffer_add(&out->tree, "%s", separator);
	if (*separator && out->used + more > width)
		alike_go_on_below(out);
	else
		out->used += strlen(separator);
	while (*text) {
		size_t room = width > out->used + strlen(" +") ? width - out->used - 2 : 0;
		size_t cut = alike_cut(text, room);
		ps__buffer_add(&out->tree, "%.*s", (int)cut, text);
		out->used += cut;
		text += cut;
		if (*text)
			alike_go_on_below(out);
	}
	out->tree.failed |= out->part.failed;
	ps__buffer_restart(&out->part);
}

/* For each row that shares the line, finds the number of the component that is `behind` rows later.
 * Returns the count of these numbers. */
static size_t alike_find_numbers(const struct alike_line *out, size_t behind)
{
	const struct ps__text *text = out->text;
	size_t count = 0, row = text->lines.lines[out->line].top;

	for (; (row = ps__lines_next(&text->lines, out->line, row)) != PS__LINES_NONE; row++) {
		const struct ps_component *component = text->table.rows[row + behind].component;
		text->numbers[count++] = component->type == PS_COMPONENT_THREAD
		                             ? component->os_id
		                             : component->logical_id;
	}
	return count;
}

/* Adds " (0,16; 1,17; ..)": the numbers in the first two components of the line above. Adds nothing
 * if the hardware threads of each component have consecutive numbers. */
static void alike_add_first_numbers(const struct alike_line *out, size_t count,
                                    struct ps__buffer *first)
{
	size_t each = out->text->lines.lines[out->line].each;
	const int *numbers = out->text->numbers;
	bool is_sequence = true;

	for (size_t i = 0; i < count; i++)
		is_sequence &= i % each == 0 || numbers[i] == numbers[i - 1] + 1;
	if (is_sequence)
		return;
	for (size_t i = 0; i < 2 * each; i++)
		ps__buffer_add(first, "%s%d",
		               i == 0          ? " ("
		               : i % each == 0 ? "; "
		                               : ",",
		               numbers[i]);
	ps__buffer_add(first, count > 2 * each ? "; ..)" : ")");
}

/* Adds "CPUs 0-31 (0,16; 1,17; ..)". */
static void alike_add_many(struct alike_line *out, const struct ps_component *component,
                           size_t count, bool tells_first)
{
	struct ps__buffer list = {0}, first = {0};

	if (tells_first)
		alike_add_first_numbers(out, count, &first);
	ps__label_add_numbers(&list, out->text->numbers, count);
	ps__label_add_alike(&out->part, component, ps__buffer_text(&list));
	ps__buffer_add(&out->part, "%s", ps__buffer_text(&first));
	out->part.failed |= list.failed || first.failed;
	ps__buffer_clear(&list);
	ps__buffer_clear(&first);
}

static void alike_add_row(struct alike_line *out, size_t row)
{
	const struct ps__line *line = &out->text->lines.lines[out->line];
	const struct ps_component *component = out->text->table.rows[row].component;
	const char *separator = row == line->top ? "" : " + ";

	if (!line->alike) {
		ps__label_add_component(&out->part, component, true);
		alike_add_part(out, separator);
		return;
	}
	if (row == line->top && line->each)
		ps__buffer_add(&out->part, "%zu in each: ", line->each);
	else if (row == line->top)
		ps__buffer_add(&out->part, "%zu ", line->alike);
	alike_add_many(out, component, alike_find_numbers(out, row - line->top),
	               line->each > 1 && component->type == PS_COMPONENT_THREAD);
	alike_add_part(out, separator);
}

/* Adds the components of a chain, each followed by the memory beside it. */
static void alike_add_chain(struct alike_line *out)
{
	struct ps__text *text = out->text;
	const struct ps__line *line = &text->lines.lines[out->line];
	const size_t *end = text->lines.end;
	size_t count = 0;

	for (size_t row = line->top; row <= line->row; row++) {
		if (end[row] < end[line->row])
			continue;
		alike_add_row(out, row);
		for (size_t below = row + 1; below < end[row]; below = end[below]) {
			if (ps__lines_is_beside(&text->table, below))
				alike_add_row(out, below);
		}
	}
	if (!line->ends_in_cpus)
		return;
	for (size_t row = line->row + 1; row < end[line->row]; row++)
		text->numbers[count++] = text->table.rows[row].component->os_id;
	alike_add_many(out, text->table.rows[line->row + 1].component, count, false);
	alike_add_part(out, " + ");
}

/* The order of the summary. Each cache level is a type of its own. */
static const struct alike_type {
	enum ps_component_type type;
	int cache_level;
} types[] = {
    {PS_COMPONENT_PACKAGE, 0}, {PS_COMPONENT_DIE, 0},    {PS_COMPONENT_GROUP, 0},
    {PS_COMPONENT_NUMA, 0},    {PS_COMPONENT_CACHE, 5},  {PS_COMPONENT_CACHE, 4},
    {PS_COMPONENT_CACHE, 3},   {PS_COMPONENT_CACHE, 2},  {PS_COMPONENT_CACHE, 1},
    {PS_COMPONENT_CORE, 0},    {PS_COMPONENT_THREAD, 0},
};

/* Adds "Machine: 2 packages, 2 NUMA nodes, ...". */
static void alike_add_summary(struct alike_line *out)
{
	const struct ps__table *table = &out->text->table;
	const char *separator = ": ";

	ps__label_add_component(&out->part, table->rows[0].component, true);
	alike_add_part(out, "");
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		const struct ps_component *one = NULL;
		size_t count = 0;
		for (size_t row = 1; row < table->row_count; row++) {
			const struct ps_component *component = table->rows[row].component;
			if (component->type != types[i].type ||
			    component->cache_level != types[i].cache_level)
				continue;
			one = component;
			count++;
		}
		if (!count)
			continue;
		ps__buffer_add(&out->part, "%zu ", count);
		ps__label_add_type(&out->part, one, count);
		alike_add_part(out, separator);
		separator = ", ";
	}
}

/* Returns the number of lines on the screen. */
static size_t alike_add_lines(struct alike_line *out)
{
	struct ps__text *text = out->text;
	size_t count = 0;

	ps__buffer_restart(&out->tree);
	for (out->line = 0; out->line < text->lines.count; out->line++) {
		alike_begin(out, PS__BRANCHES_LABEL);
		if (out->line == 0)
			alike_add_summary(out);
		else
			alike_add_chain(out);
		ps__buffer_add(&out->tree, "\n");
	}
	for (const char *at = ps__buffer_text(&out->tree); (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

void ps__text_add_alike(struct ps__text *text)
{
	struct alike_line out = {.text = text};

	ps__lines_find_kinds(&text->lines, &text->table);
	for (int folds = 0; folds <= PS__LINES_MOST_FOLDS; folds++) {
		ps__lines_add_alike(&text->lines, &text->table, folds);
		ps__text_find_branches(text);
		if (alike_add_lines(&out) <= MOST_LINES)
			break;
	}
	ps__buffer_add(&text->buffer, "%s", ps__buffer_text(&out.tree));
	text->buffer.failed |= out.tree.failed || out.part.failed;
	ps__buffer_clear(&out.tree);
	ps__buffer_clear(&out.part);
}
