/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of all formats: they check the options, make the table and call the format's
 * function. */
#include "base/error.h"
#include "base/os.h"
#include "output/destination.h"
#include "output/path_label.h"
#include "output/path_table.h"
#include "output/report.h"

#include <perfsage/print.h>
#include <perfsage/report.h>
#include <string.h>

#define ALL_FLAGS ((unsigned)(PS_EXPORT_NO_IDLE << 1) - 1)

static const struct ps__format_sinks formats[] = {
    [PS_FORMAT_TEXT] = {"text", ps__text_write, ps__path_text_write, .has_colours = false},
    [PS_FORMAT_JSON] = {"json", ps__json_write, ps__path_json_write, .has_colours = false},
    [PS_FORMAT_CSV] = {"csv", ps__csv_write, ps__path_csv_write, .has_colours = false},
    [PS_FORMAT_XML] = {"xml", ps__xml_write, NULL, .has_colours = true},
};

const struct ps__format_sinks *ps__format_sinks(enum ps_format format)
{
	return (unsigned)format < sizeof formats / sizeof *formats ? &formats[format] : NULL;
}

bool ps__format_find(const char *name, enum ps_format *out)
{
	for (size_t format = 0; format < sizeof formats / sizeof *formats; format++) {
		if (strcmp(name, formats[format].name) != 0)
			continue;
		*out = (enum ps_format)format;
		return true;
	}
	return false;
}

const char *ps_format_name(enum ps_format format)
{
	const struct ps__format_sinks *sinks = ps__format_sinks(format);

	return sinks ? sinks->name : "unknown";
}

/* Size of the options before they had a timestamp. */
#define LEAST_OPTIONS (offsetof(struct ps_export_options, field_count) + sizeof(size_t))

static int export_check(struct ps_export_options *out, const struct ps_export_options *options,
                        const char *call)
{
	struct ps_export_options all = {.size = sizeof all};
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
		code = ps__report_check_fields(all.fields, all.field_count, call);
	if (code == PS_OK)
		code = ps__table_check_view(&view, call);
	if (code == PS_OK)
		*out = all;
	return code;
}

/* The source of the numbers: the readings below a component, or the counts of a path. */
struct source {
	struct ps_component *root;
	const struct ps_path *path; /* NULL: the readings below root */
	enum ps_share share;
};

/* Makes the table with the chosen metrics. The metric that chooses the colours, if any, is the last
 * one. */
static int export_make_table(struct ps__report *report, const struct source *source,
                             bool has_colours)
{
	const struct ps_export_options *options = report->options;
	const char **names = ps__os_calloc(options->metric_count + 1, sizeof(const char *));
	size_t count = 0;

	if (!names)
		return ps__fail_memory("the names of the metrics");
	for (; count < options->metric_count; count++)
		names[count] = options->metrics[count];
	if (has_colours && options->heat_by && ps_metric_unit(options->heat_by))
		names[count++] = options->heat_by;
	int code = source->path ? ps__table_create_of_path(&report->table, source->path,
	                                                   source->share, names, count)
	                        : ps__table_create_at(&report->table, source->root, names, count,
	                                              options->timestamp);
	ps__os_free(names); /* frees the array only: the caller owns the names */
	return code;
}

static int export_run(const struct source *source, enum ps_format format,
                      const struct ps_export_options *options, const struct ps__destination *to)
{
	struct ps__report report = {.options = options};
	struct ps__buffer buffer = {0};
	int code = export_make_table(&report, source, formats[format].has_colours);

	if (code < 0)
		return code;
	code = formats[format].write(&report, &buffer);
	code = ps__destination_write(to, &buffer, code);
	ps__table_clear(&report.table);
	return code;
}

static int export_to(struct ps_component *root, enum ps_format format,
                     const struct ps_export_options *options, const struct ps__destination *to,
                     const char *call)
{
	struct ps_export_options all;

	if (!root)
		return ps__fail(PS_EINVAL, "%s: the component is NULL", call);
	if (!ps__format_sinks(format))
		return ps__fail(PS_EINVAL, "%s: there is no format %d", call, (int)format);
	int code = export_check(&all, options, call);
	return code < 0 ? code : export_run(&(struct source){.root = root}, format, &all, to);
}

int ps_export_with(struct ps_component *root, enum ps_format format,
                   const struct ps_export_options *options, FILE *stream)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "ps_export_with: the stream is NULL");
	return export_to(root, format, options, &(struct ps__destination){.stream = stream},
	                 "ps_export_with");
}

int ps_export(struct ps_component *root, enum ps_format format, FILE *stream)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "ps_export: the stream is NULL");
	return export_to(root, format, NULL, &(struct ps__destination){.stream = stream},
	                 "ps_export");
}

int ps_export_to_path(struct ps_component *root, enum ps_format format,
                      const struct ps_export_options *options, const char *path)
{
	if (!path)
		return ps__fail(PS_EINVAL, "ps_export_to_path: the path is NULL");
	return export_to(root, format, options, &(struct ps__destination){.path = path},
	                 "ps_export_to_path");
}

int ps_export_to_fd(struct ps_component *root, enum ps_format format,
                    const struct ps_export_options *options, int fd)
{
	return export_to(root, format, options, &(struct ps__destination){.fd = fd},
	                 "ps_export_to_fd");
}

/* Exports with the path as the first field of "run", before the caller's fields. */
static int export_run_path(const struct source *source, enum ps_format format,
                           struct ps_export_options *options, const struct ps__destination *to)
{
	size_t count = options->field_count + 1;
	struct ps_export_field *fields = ps__os_calloc(count, sizeof *fields);
	struct ps__buffer names = {0};

	ps__path_label_add_all(&names, source->path);
	if (!fields || names.failed) {
		ps__os_free(fields);
		ps__buffer_clear(&names);
		return ps__fail_memory("the name of a path");
	}
	fields[0] = (struct ps_export_field){.name = "path", .text = ps__buffer_text(&names)};
	for (size_t field = 1; field < count; field++)
		fields[field] = options->fields[field - 1];
	options->fields = fields;
	options->field_count = count;
	int code = export_run(source, format, options, to);
	ps__os_free(fields);
	ps__buffer_clear(&names);
	return code;
}

static int export_path_to(const struct source *source, enum ps_format format,
                          const struct ps_export_options *options, const struct ps__destination *to,
                          const char *call)
{
	struct ps_export_options all;

	if (!source->path)
		return ps__fail(PS_EINVAL, "%s: the path is NULL", call);
	if (source->share != PS_SHARE_EXCLUSIVE && source->share != PS_SHARE_INCLUSIVE)
		return ps__fail(PS_EINVAL, "%s: there is no share %d", call, (int)source->share);
	if (!ps__format_sinks(format))
		return ps__fail(PS_EINVAL, "%s: there is no format %d", call, (int)format);
	int code = export_check(&all, options, call);
	if (code == PS_OK && all.timestamp)
		code = ps__fail(PS_EINVAL, "%s: options->timestamp is %llu: a path has no readings",
		                call, (unsigned long long)all.timestamp);
	return code < 0 ? code : export_run_path(source, format, &all, to);
}

int ps_path_export(const struct ps_path *path, enum ps_share share, enum ps_format format,
                   const struct ps_export_options *options, FILE *stream)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "ps_path_export: the stream is NULL");
	return export_path_to(&(struct source){.path = path, .share = share}, format, options,
	                      &(struct ps__destination){.stream = stream}, "ps_path_export");
}

int ps_path_export_to_path(const struct ps_path *path, enum ps_share share, enum ps_format format,
                           const struct ps_export_options *options, const char *file)
{
	if (!file)
		return ps__fail(PS_EINVAL, "ps_path_export_to_path: the file is NULL");
	return export_path_to(&(struct source){.path = path, .share = share}, format, options,
	                      &(struct ps__destination){.path = file}, "ps_path_export_to_path");
}

int ps_path_export_to_fd(const struct ps_path *path, enum ps_share share, enum ps_format format,
                         const struct ps_export_options *options, int fd)
{
	return export_path_to(&(struct source){.path = path, .share = share}, format, options,
	                      &(struct ps__destination){.fd = fd}, "ps_path_export_to_fd");
}
