/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's tree of a region's paths. */
#include "collect/tree.h"

#include "base/error.h"
#include "output/path_label.h"
#include "output/table.h"
#include "output/text.h"
#include "region/paths.h"

#include <string.h>

/* The names between slashes; a backslash stands before one within a name. */
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

/* Only its last names are looked at: a path may be very deep. */
static bool tree_is_wanted(const struct ps_path *path, const char *wanted, size_t count)
{
	struct ps__buffer names = {0};

	ps__path_label_add_last(&names, path, count);
	bool is_wanted = !names.failed && strcmp(ps__buffer_text(&names), wanted) == 0;
	ps__buffer_clear(&names);
	return is_wanted;
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
	    .flags = (settings->flags & PS_PATHS_RAW ? PS_PRINT_RAW : 0) |
	             (settings->flags & PS_PATHS_UTF8 ? PS_PRINT_UTF8 : 0) |
	             (settings->flags & PS_PATHS_COLOUR ? PS_PRINT_COLOUR : 0) |
	             (settings->types ? PS_PRINT_FLAT | PS_PRINT_EACH : 0)};
	struct ps__buffer text = {0};
	struct ps__table table;
	int result = ps__table_create_of_path(&table, path, PS_SHARE_INCLUSIVE, run->metrics,
	                                      run->metric_count);

	if (result != PS_OK)
		return result;
	ps__buffer_add(&text, "%s%s, with the regions in it\n\n", run->is_continued ? "\n" : "",
	               names);
	result = ps__text_add_table(&table, &how, &text);
	ps__table_clear(&table);
	int written = ps__buffer_finish(&text, stream);
	return result == PS_OK ? written : result;
}

static int tree_add(const struct collect_report *report, const struct ps_path *path,
                    const char *names, const struct collect_run *run, FILE *stream)
{
	const struct collect_settings *settings = report->settings;
	struct ps_export_options options = {.size = sizeof options,
	                                    .flags = PS_EXPORT_COMPACT |
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

static int tree_say_none(const struct collect_report *report, FILE *stream)
{
	struct ps__buffer text = {0};

	if (report->settings->format != PS_FORMAT_TEXT)
		return PS_OK;
	ps__buffer_add(&text, "no path of regions ends in '");
	ps__buffer_add_foreign(&text, report->settings->region, PS__CHARSET_UTF8);
	ps__buffer_add(&text, "'\n");
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
	const char *wanted = report->settings->region;
	const struct ps_path *root = ps_paths_root(report->paths);
	struct collect_run next = *run;
	size_t found = 0, count = tree_count_names(wanted);
	int result = PS_OK;

	next.is_continued &= report->settings->format == PS_FORMAT_CSV;
	for (const struct ps_path *path = root; path && result == PS_OK;
	     path = ps__path_next_below(root, path)) {
		if (!tree_is_wanted(path, wanted, count))
			continue;
		result = tree_add_path(report, path, &next, stream);
		next.is_continued = true;
		found++;
	}
	return result == PS_OK && !found ? tree_say_none(report, stream) : result;
}
