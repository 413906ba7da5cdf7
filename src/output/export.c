/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls of all formats: what is asked for is checked, the table is
 * made, and a format's function called. */
#include "base/error.h"
#include "base/os.h"
#include "output/report.h"

#include <perfsage/print.h>

#define ALL_FLAGS ((unsigned)(PS_EXPORT_NO_IDLE << 1) - 1)

static const struct {
	const char *name;
	ps__sink *write;
} sinks[] = {
    [PS_FORMAT_TEXT] = {"text", ps__text_write},
    [PS_FORMAT_JSON] = {"json", ps__json_write},
    [PS_FORMAT_CSV] = {"csv", ps__csv_write},
    [PS_FORMAT_XML] = {"xml", ps__xml_write},
};

static bool export_is_format(enum ps_format format)
{
	return (unsigned)format < sizeof sinks / sizeof *sinks;
}

const char *ps_format_name(enum ps_format format)
{
	return export_is_format(format) ? sinks[format].name : "unknown";
}

static int export_check_arrays(const struct ps_export_options *options)
{
	int code =
	    ps__table_check_metrics(options->metrics, options->metric_count, "ps_export_with");

	if (code < 0)
		return code;
	if (options->field_count && !options->fields)
		return ps__fail(PS_EINVAL,
		                "ps_export_with: options->fields is NULL, but field_count is %zu",
		                options->field_count);
	for (size_t i = 0; i < options->field_count; i++) {
		if (!options->fields[i].name || !*options->fields[i].name)
			return ps__fail(PS_EINVAL,
			                "ps_export_with: options->fields[%zu] has no name", i);
	}
	return PS_OK;
}

static int export_check(const struct ps_export_options *options)
{
	struct ps__table_view view = {.types = options->types, .cache_level = options->cache_level};

	if (options->size != sizeof *options)
		return ps__fail(
		    PS_EINVAL,
		    "ps_export_with: options->size is %zu, not %zu: set it to sizeof options",
		    options->size, sizeof *options);
	if (options->flags & ~ALL_FLAGS)
		return ps__fail(PS_EINVAL,
		                "ps_export_with: options->flags has an unknown flag: 0x%x",
		                options->flags);
	int code = export_check_arrays(options);
	return code < 0 ? code : ps__table_check_view(&view, "ps_export_with");
}

/* The metrics that are asked for, and last the one that colours. */
static int export_make_table(struct ps__report *report, struct ps_component *root, bool is_heat)
{
	const struct ps_export_options *options = report->options;
	const char **names = ps__os_calloc(options->metric_count + 1, sizeof(const char *));
	size_t count = 0;

	if (!names)
		return ps__fail_memory("the names of the metrics");
	for (; count < options->metric_count; count++)
		names[count] = options->metrics[count];
	if (is_heat && options->heat_by && ps_metric_unit(options->heat_by))
		names[count++] = options->heat_by;
	int code = ps__table_create(&report->table, root, names, count);
	ps__os_free(names); /* the names themselves are the caller's */
	return code;
}

static int export_run(struct ps_component *root, enum ps_format format,
                      const struct ps_export_options *options, FILE *stream)
{
	struct ps__report report = {.options = options};
	struct ps__buffer buffer = {0};
	int code = export_make_table(&report, root, format == PS_FORMAT_XML);

	if (code < 0)
		return code;
	code = sinks[format].write(&report, &buffer);
	if (code == PS_OK)
		code = ps__buffer_finish(&buffer, stream);
	else
		ps__os_free(buffer.text);
	ps__table_clear(&report.table);
	return code;
}

int ps_export_with(struct ps_component *root, enum ps_format format,
                   const struct ps_export_options *options, FILE *stream)
{
	struct ps_export_options plain = {.size = sizeof plain};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_export_with: the %s is NULL",
		                root ? "stream" : "component");
	if (!export_is_format(format))
		return ps__fail(PS_EINVAL, "ps_export_with: there is no format %d", (int)format);
	int code = options ? export_check(options) : PS_OK;
	return code < 0 ? code : export_run(root, format, options ? options : &plain, stream);
}

int ps_export(struct ps_component *root, enum ps_format format, FILE *stream)
{
	struct ps_export_options plain = {.size = sizeof plain};

	if (!root || !stream)
		return ps__fail(PS_EINVAL, "ps_export: the %s is NULL",
		                root ? "stream" : "component");
	if (!export_is_format(format))
		return ps__fail(PS_EINVAL, "ps_export: there is no format %d", (int)format);
	return export_run(root, format, &plain, stream);
}
