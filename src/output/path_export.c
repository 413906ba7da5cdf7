/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of reports by region: they check the options, make the table of paths and call
 * the format's function. */
#include "base/error.h"
#include "output/destination.h"
#include "output/path_table.h"
#include "output/report.h"

#include <perfsage/print.h>
#include <stdio.h>
#include <string.h>

#define ALL_FLAGS ((unsigned)(PS_PATHS_IDLE << 1) - 1)

static int path_export_check_values(const struct ps_paths_options *options, enum ps_format format,
                                    const char *call)
{
	if (options->flags & ~ALL_FLAGS)
		return ps__fail(PS_EINVAL, "%s: options->flags has an unknown flag: 0x%x", call,
		                options->flags);
	if (options->share != PS_SHARE_EXCLUSIVE && options->share != PS_SHARE_INCLUSIVE)
		return ps__fail(PS_EINVAL, "%s: options->share: there is no share %d", call,
		                (int)options->share);
	if (format == PS_FORMAT_TEXT && options->types & (options->types - 1))
		return ps__fail(PS_EINVAL,
		                "%s: options->types is 0x%x: a text has columns of one type; "
		                "print one for each type",
		                call, options->types);
	return PS_OK;
}

static int path_export_check(struct ps_paths_options *out, const struct ps_paths_options *options,
                             enum ps_format format, const char *call)
{
	struct ps_paths_options all = {.size = sizeof all};
	int code =
	    options ? ps__table_take_options(&all, sizeof all, options, sizeof all, call) : PS_OK;
	struct ps__table_view view = {.types = all.types, .cache_level = all.cache_level};

	if (code == PS_OK)
		code = path_export_check_values(&all, format, call);
	if (code == PS_OK)
		code = ps__table_check_metrics(all.metrics, all.metric_count, call);
	if (code == PS_OK)
		code = ps__report_check_fields(all.fields, all.field_count, call);
	if (code == PS_OK)
		code = ps__table_check_view(&view, call);
	if (code == PS_OK)
		*out = all;
	return code;
}

bool ps__path_format_find(const char *name, enum ps_format *out)
{
	enum ps_format found;

	if (!ps__format_find(name, &found) || !ps__format_sinks(found)->write_paths)
		return false;
	*out = found;
	return true;
}

static int path_export_fail_format(const struct ps__format_sinks *refused, const char *call)
{
	const struct ps__format_sinks *sinks;
	char names[80] = "";

	for (int format = 0; (sinks = ps__format_sinks((enum ps_format)format)); format++) {
		size_t length = strlen(names);
		if (sinks->write_paths)
			snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
			         sinks->name);
	}
	return ps__fail(PS_ENOSUPP,
	                "%s: the format %s has no paths, and these have: %s; ps_path_export writes "
	                "one path as %s",
	                call, refused->name, names, refused->name);
}

static int path_export_run(const struct ps_paths *paths, ps__path_sink *write,
                           const struct ps_paths_options *options, const struct ps__destination *to)
{
	struct ps__path_table table;
	struct ps__buffer buffer = {0};
	int code = ps__path_table_create(&table, paths, options);

	if (code == PS_OK)
		code = write(&table, &buffer);
	code = ps__destination_write(to, &buffer, code);
	ps__path_table_clear(&table);
	return code;
}

static int path_export_to(const struct ps_paths *paths, enum ps_format format,
                          const struct ps_paths_options *options, const struct ps__destination *to,
                          const char *call)
{
	const struct ps__format_sinks *sinks = ps__format_sinks(format);
	struct ps_paths_options all;

	if (!paths)
		return ps__fail(PS_EINVAL, "%s: paths is NULL", call);
	if (!sinks)
		return ps__fail(PS_EINVAL, "%s: there is no format %d", call, (int)format);
	if (!sinks->write_paths)
		return path_export_fail_format(sinks, call);
	int code = path_export_check(&all, options, format, call);
	return code < 0 ? code : path_export_run(paths, sinks->write_paths, &all, to);
}

int ps_paths_export(const struct ps_paths *paths, enum ps_format format,
                    const struct ps_paths_options *options, FILE *stream)
{
	if (!stream)
		return ps__fail(PS_EINVAL, "ps_paths_export: the stream is NULL");
	return path_export_to(paths, format, options, &(struct ps__destination){.stream = stream},
	                      "ps_paths_export");
}

int ps_paths_export_to_path(const struct ps_paths *paths, enum ps_format format,
                            const struct ps_paths_options *options, const char *path)
{
	if (!path)
		return ps__fail(PS_EINVAL, "ps_paths_export_to_path: the path is NULL");
	return path_export_to(paths, format, options, &(struct ps__destination){.path = path},
	                      "ps_paths_export_to_path");
}

int ps_paths_export_to_fd(const struct ps_paths *paths, enum ps_format format,
                          const struct ps_paths_options *options, int fd)
{
	return path_export_to(paths, format, options, &(struct ps__destination){.fd = fd},
	                      "ps_paths_export_to_fd");
}
