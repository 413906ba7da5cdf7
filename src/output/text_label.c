/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The beginning of a line of the printed tree: branches, and the names of the components whose
 * counts it shows. "A + B" are components with the same counts: all that A counted was counted in
 * B.
 */
#include "output/label.h"
#include "output/text.h"

#define MOST_IN_LINE 64

void ps__text_find_branches(struct ps__text *text)
{
	uint64_t open = 0;

	for (size_t line = text->lines.count; line-- > 0;)
		text->branches[line] =
		    ps__label_find_branches(&open, text->lines.lines[line].depth);
}

struct label_chain {
	const struct ps_component *component[MOST_IN_LINE];
	size_t count;
};

static void label_add_to_chain(struct label_chain *chain, const struct ps_component *component)
{
	chain->count -= chain->count == MOST_IN_LINE;
	chain->component[chain->count++] = component;
}

/* Lists the components of a line, outermost first, each followed by the memory beside it. */
static void label_find_chain(const struct ps__text *text, const struct ps__line *line,
                             struct label_chain *chain)
{
	const struct ps__row *rows = text->table.rows;
	const size_t *end = text->lines.end;

	for (size_t row = line->top; row <= line->row; row++) {
		if (end[row] < end[line->row])
			continue;
		label_add_to_chain(chain, rows[row].component);
		if (text->lines.layout != PS__LAYOUT_TREE || row == 0)
			continue;
		for (size_t below = row + 1; below < end[row]; below = end[below]) {
			if (rows[below].component->type == PS_COMPONENT_NUMA)
				label_add_to_chain(chain, rows[below].component);
		}
	}
}

/* Adds the names of the chain, but leaves out `without` names before the last one. */
static void label_add_names(struct ps__buffer *buffer, const struct label_chain *chain,
                            size_t without, bool details)
{
	for (size_t i = 0; i < chain->count; i++) {
		bool is_last = i + 1 == chain->count;
		if (!is_last && i + 1 + without >= chain->count)
			continue;
		if (is_last && without)
			ps__buffer_add(buffer, " + ..");
		ps__buffer_add(buffer, "%s", i ? " + " : "");
		ps__label_add_component(buffer, chain->component[i], details);
	}
}

/* Adds as many names as fit, but at least the first and the last. If the user chose types, all
 * names are added. */
static void label_add_chain(struct ps__text *text, const struct ps__line *line, bool details)
{
	struct label_chain chain = {0};
	struct ps__buffer names = {0};
	size_t without = 0;

	label_find_chain(text, line, &chain);
	label_add_names(&names, &chain, without, details);
	while (text->lines.layout != PS__LAYOUT_TYPES &&
	       names.length > ps__label_width(text->options.width) && without + 2 < chain.count) {
		ps__buffer_restart(&names);
		label_add_names(&names, &chain, ++without, details);
	}
	ps__buffer_add(&text->grid.cell, "%s", ps__buffer_text(&names));
	text->grid.cell.failed |= names.failed;
	ps__buffer_clear(&names);
}

/* Adds "24 CPUs 0-11,24-35, each"; the list is left out if it is too long. */
static void label_add_alike(struct ps__text *text, size_t line)
{
	struct ps__buffer list = {0};
	size_t count = 0;

	for (size_t row = 0; (row = ps__lines_next(&text->lines, line, row)) != PS__LINES_NONE;
	     row++)
		text->numbers[count++] = text->table.rows[row].component->os_id;
	ps__label_add_numbers(&list, text->numbers, count);
	bool has_room =
	    list.length + sizeof " 1000 CPUs, each" <= ps__label_width(text->options.width);
	ps__buffer_add(&text->grid.cell, "%zu CPUs%s%s, each", count, has_room ? " " : "",
	               has_room ? ps__buffer_text(&list) : "");
	text->grid.cell.failed |= list.failed;
	ps__buffer_clear(&list);
}

size_t ps__text_label(struct ps__text *text, size_t line, bool details)
{
	const struct ps__line *about = &text->lines.lines[line];
	int depth = text->options.flags & PS_PRINT_FLAT ? 0 : about->depth;

	ps__buffer_restart(&text->grid.cell);
	if (depth && text->options.flags & PS_PRINT_UTF8)
		ps__label_add_branches(&text->grid.cell, text->branches[line], depth,
		                       PS__BRANCHES_LABEL, text->options.flags & PS_PRINT_COLOUR);
	else
		ps__buffer_add(&text->grid.cell, "%*s", 2 * depth, "");
	size_t before = text->grid.cell.length;
	if (about->alike)
		label_add_alike(text, line);
	else
		label_add_chain(text, about, details);
	return 2 * (size_t)depth + text->grid.cell.length - before;
}
