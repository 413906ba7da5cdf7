/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the machine's tree with the counts of a region's paths. */
#include "collect/tree.h"

#include "base/error.h"
#include "output/path_label.h"
#include "output/table.h"
#include "output/text.h"
#include "region/paths.h"

#include <string.h>

#define MOST_LISTED 10 /* names of regions in a sentence */

/* Counts the names in `wanted`, which are separated by slashes. A slash within a name has a
 * backslash before it. */
static size_t tree_count_names(const char *wanted)
{
	size_t count = 1;

	for (; *wanted; wanted++) {
		if (*wanted == '\\' && wanted[1])
			wanted++;
		else
			count += *wanted == '/';
	}
	return count;
}

static bool tree_has_own(const struct ps_path *path)
{
	const struct ps__part *part = path->parts;

	while (part && !part->threads)
		part = part->next;
	return part || path->visits.count || path->open || path->uncounted;
}

/* True if the path, or one below it, has a visit or a count. If the first mark in all visits is the
 * number that tells them apart, they are paths with a number, and the path without it is empty. */
static bool tree_is_used(const struct ps_path *path)
{
	const struct ps_path *below = path;

	while (below && !tree_has_own(below))
		below = ps__path_next_below(path, below);
	return below;
}

/* True if the path is used, and its last names are those of `wanted`. Compares only these, because
 * a path may be very deep. */
static bool tree_ends_in(const struct ps_path *path, const char *wanted)
{
	struct ps__buffer names = {0};

	if (!tree_is_used(path))
		return false;
	ps__path_label_add_last(&names, path, tree_count_names(wanted));
	bool ends = !names.failed && strcmp(ps__buffer_text(&names), wanted) == 0;
	ps__buffer_clear(&names);
	return ends;
}

static bool tree_is_wanted(const struct collect_report *report, const struct ps_path *path)
{
	const struct collect_settings *settings = report->settings;

	for (size_t index = 0; index < settings->region_count; index++) {
		if (tree_ends_in(path, settings->regions[index]))
			return true;
	}
	return false;
}

static int tree_add_text(const struct collect_report *report, const struct ps_path *path,
                         const char *names, const struct collect_run *run, FILE *stream)
{
	const struct collect_settings *settings = report->settings;
	struct ps_print_options how = {
	    .size = sizeof how,
	    .types = settings->types,
	    .cache_level = settings->cache_level,
	    .width = settings->width,
	    .flags = PS__PRINT_UNKNOWN | (settings->flags & PS_PATHS_RAW ? PS_PRINT_RAW : 0) |
	             (settings->flags & PS_PATHS_UTF8 ? PS_PRINT_UTF8 : 0) |
	             (settings->flags & PS_PATHS_COLOUR ? PS_PRINT_COLOUR : 0) |
	             (settings->flags & PS_PATHS_IDLE ? PS_PRINT_IDLE : 0) |
	             (settings->has_each ? PS_PRINT_EACH : 0) |
	             (settings->types ? PS_PRINT_FLAT | PS_PRINT_EACH : 0)};
	struct ps__buffer text = {0};
	struct ps__table table;
	int result = ps__table_create_of_path(&table, path, PS_SHARE_INCLUSIVE, run->metrics,
	                                      run->metric_count);

	if (result != PS_OK)
		return result;
	ps__buffer_add(&text, "%s%s, with the regions in it\n\n", run->is_continued ? "\n" : "",
	               names);
	result = ps__text_add_table(&table, &how, &text, NULL);
	ps__table_clear(&table);
	int written = ps__buffer_finish(&text, stream);
	return result == PS_OK ? written : result;
}

static int tree_add(const struct collect_report *report, const struct ps_path *path,
                    const char *names, const struct collect_run *run, FILE *stream)
{
	const struct collect_settings *settings = report->settings;
	struct ps_export_options options = {
	    .size = sizeof options,
	    .flags = PS_EXPORT_COMPACT | (settings->hides_idle ? PS_EXPORT_NO_IDLE : 0) |
	             (run->is_continued ? PS_EXPORT_NO_HEADER : 0),
	    .types = settings->types,
	    .cache_level = settings->cache_level,
	    .metrics = run->metrics,
	    .metric_count = run->metric_count,
	    .fields = run->fields,
	    .field_count = run->field_count};

	if (settings->format == PS_FORMAT_TEXT)
		return tree_add_text(report, path, names, run, stream);
	return ps_path_export(path, PS_SHARE_INCLUSIVE, settings->format, &options, stream);
}

/* Adds the names of regions, each once, in the form in which a user gives them. */
static void tree_list_names(struct ps__buffer *out, const struct collect_report *report)
{
	const struct ps_path *root = ps_paths_root(report->paths);
	const char *listed[MOST_LISTED];
	size_t count = 0, before;

	for (const struct ps_path *path = ps__path_next_below(root, root); path;
	     path = ps__path_next_below(root, path)) {
		const char *name = ps_path_name(path);
		for (before = 0; before < count && strcmp(listed[before], name) != 0; before++)
			;
		if (before < count || !tree_is_used(path))
			continue;
		if (count == MOST_LISTED) {
			ps__buffer_add(out, " and others");
			return;
		}
		listed[count++] = name;
		ps__buffer_add(out, "%s'", count > 1 ? ", " : "; there are ");
		ps__path_label_add_last(out, path, 1);
		ps__buffer_add(out, "'");
	}
}

static bool tree_has(const struct collect_report *report, const char *wanted)
{
	const struct ps_path *root = ps_paths_root(report->paths);

	for (const struct ps_path *path = root; path; path = ps__path_next_below(root, path)) {
		if (tree_ends_in(path, wanted))
			return true;
	}
	return false;
}

void collect_tree_find_missing(const struct collect_report *report, struct ps__buffer *out)
{
	const struct collect_settings *settings = report->settings;

	for (size_t index = 0; index < settings->region_count; index++) {
		if (tree_has(report, settings->regions[index]))
			continue;
		ps__buffer_add(out, "no path of regions ends in '");
		ps__buffer_add_foreign(out, settings->regions[index], PS__CHARSET_UTF8);
		ps__buffer_add(out, "'");
		tree_list_names(out, report);
		ps__buffer_add(out, "\n");
	}
}

static int tree_say_missing(const struct collect_report *report, bool is_continued, FILE *stream)
{
	struct ps__buffer missing = {0}, text = {0};

	collect_tree_find_missing(report, &missing);
	if (missing.length)
		ps__buffer_add(&text, "%s%s", is_continued ? "\n" : "", ps__buffer_text(&missing));
	text.failed |= missing.failed;
	ps__buffer_clear(&missing);
	return ps__buffer_finish(&text, stream);
}

static int tree_add_path(const struct collect_report *report, const struct ps_path *path,
                         const struct collect_run *run, FILE *stream)
{
	struct ps__buffer names = {0};

	ps__path_label_add_all(&names, path);
	int result = names.failed ? ps__fail_memory("the name of a path")
	                          : tree_add(report, path, ps__buffer_text(&names), run, stream);
	ps__buffer_clear(&names);
	return result;
}

int collect_tree_write(const struct collect_report *report, const struct collect_run *run,
                       FILE *stream)
{
	const struct ps_path *root = ps_paths_root(report->paths);
	struct collect_run next = *run;
	int result = PS_OK;

	next.is_continued &= report->settings->format == PS_FORMAT_CSV;
	for (const struct ps_path *path = root; path && result == PS_OK;
	     path = ps__path_next_below(root, path)) {
		if (!tree_is_wanted(report, path))
			continue;
		result = tree_add_path(report, path, &next, stream);
		next.is_continued = true;
	}
	if (result == PS_OK && report->settings->format == PS_FORMAT_TEXT)
		result = tree_say_missing(report, next.is_continued, stream);
	return result;
}
