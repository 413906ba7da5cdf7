/* SPDX-License-Identifier: BSD-3-Clause */
/* The labels of paths. A name that is too long for the screen is cut, and a very deep path is not
 * indented further. */
#include "output/path_label.h"

#include "base/error.h"
#include "base/os.h"
#include "base/printable.h"
#include "output/label.h"

#include <string.h>

#define MOST_LEVELS 16 /* levels of indentation; deeper paths show their depth: "[17] walk" */
#define LEAST_NAME  16 /* columns that a name gets at least, at any depth */

/* Returns the level of indentation; 0 for outermost regions. */
static int path_label_level(const struct ps__path_table *table, size_t row)
{
	size_t level = table->rows[row].depth - 1;

	return level < MOST_LEVELS ? (int)level : MOST_LEVELS;
}

int ps__path_label_find_branches(const struct ps__path_table *table, uint64_t **out)
{
	uint64_t open = 0, *branches = ps__os_calloc(table->row_count, sizeof *branches);

	if (!branches)
		return ps__fail_memory("the printed text");
	for (size_t row = table->row_count; row-- > 1;)
		branches[row] = ps__label_find_branches(&open, path_label_level(table, row));
	*out = branches;
	return PS_OK;
}

size_t ps__path_label_add_name(struct ps__buffer *buffer, const char *name, size_t room,
                               unsigned flags)
{
	enum ps__charset charset = flags & PS_PATHS_UTF8 ? PS__CHARSET_UTF8 : PS__CHARSET_ASCII;
	bool is_cut = ps__printable_columns(name, strlen(name), charset) > room;
	size_t columns = 0;
	struct ps__glyph glyph;

	for (room -= is_cut ? 2 : 0; (glyph = ps__printable_next(name, charset)).taken;
	     name += glyph.taken) {
		if (columns + glyph.columns > room)
			break;
		ps__buffer_add(buffer, "%.*s", (int)glyph.length, glyph.text);
		columns += glyph.columns;
	}
	ps__buffer_add(buffer, "%s", is_cut ? ".." : "");
	return columns + (is_cut ? 2 : 0);
}

size_t ps__path_label_add(struct ps__buffer *buffer, const struct ps__path_table *table, size_t row,
                          uint64_t branches)
{
	unsigned flags = table->options->flags;
	int level = path_label_level(table, row);
	size_t before = 2 * (size_t)level, most = ps__label_width(table->options->width);

	if (level && flags & PS_PATHS_UTF8)
		ps__label_add_branches(buffer, branches, level, PS__BRANCHES_LABEL,
		                       flags & PS_PATHS_COLOUR);
	else
		ps__buffer_add(buffer, "%*s", (int)before, "");
	if (level == MOST_LEVELS) {
		size_t bytes = buffer->length;
		ps__buffer_add(buffer, "[%zu] ", table->rows[row].depth);
		before += buffer->length - bytes;
	}
	return before + ps__path_label_add_name(
			    buffer, ps_path_name(table->rows[row].path),
			    most > before + LEAST_NAME ? most - before : LEAST_NAME, flags);
}

void ps__path_label_add_escaped(struct ps__buffer *buffer, const char *name)
{
	uint32_t code;

	for (size_t length; (length = ps__printable_decode(name, &code)); name += length) {
		if (code == PS__NO_CHARACTER || !ps__printable_is(code)) {
			for (size_t byte = 0; byte < length; byte++)
				ps__buffer_add(buffer, "\\x%02x", (unsigned char)name[byte]);
			continue;
		}
		ps__buffer_add(buffer, "%s%.*s", code == '/' || code == '\\' ? "\\" : "",
		               (int)length, name);
	}
}

static size_t path_label_depth(const struct ps_path *path)
{
	size_t depth = 0;

	for (; path && ps_path_parent(path); path = ps_path_parent(path))
		depth++;
	return depth;
}

/* This isn't recursive, because a path may be deeper than the stack allows. */
void ps__path_label_add_last(struct ps__buffer *buffer, const struct ps_path *path, size_t most)
{
	size_t depth = path_label_depth(path), levels = depth < most ? depth : most;
	const struct ps_path **list = ps__os_calloc(levels + 1, sizeof *list);

	buffer->failed |= !list;
	for (size_t level = levels; list && level-- > 0; path = ps_path_parent(path))
		list[level] = path;
	for (size_t level = 0; list && level < levels; level++) {
		ps__buffer_add(buffer, "%s", level ? "/" : "");
		ps__path_label_add_escaped(buffer, ps_path_name(list[level]));
	}
	ps__os_free(list);
}

void ps__path_label_add_all(struct ps__buffer *buffer, const struct ps_path *path)
{
	ps__path_label_add_last(buffer, path, SIZE_MAX);
}
