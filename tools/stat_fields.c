/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a run. A stream of CSV rows has the same columns in each. */
#include "tools/stat_fields.h"

#include "tools/stat_footer.h"

static void add_text(struct stat_fields *fields, const char *name, const char *text)
{
	fields->fields[fields->count++] = (struct ps_export_field){.name = name, .text = text};
}

static void add_number(struct stat_fields *fields, const char *name, double number)
{
	fields->fields[fields->count++] = (struct ps_export_field){.name = name, .number = number};
}

/* How a value of the run is known; only a program that reads JSON has room for it. */
static void add_quality(struct stat_fields *fields)
{
	const struct stat_quality *quality = &fields->quality;
	const struct stat_uncounted *uncounted = &quality->uncounted;

	add_text(fields, "attribution", ps_attribution_name(quality->attribution));
	add_text(fields, "attribution_why", quality->why);
	add_number(fields, "coverage", quality->coverage);
	if (!quality->unknown)
		add_number(fields, "residual", (double)stat_quality_residual(quality));
	if (!uncounted->is_of_processes)
		return;
	add_number(fields, "uncounted_programs", stat_uncounted_number(uncounted));
	if (uncounted->programs)
		add_text(fields, "uncounted_first", uncounted->name);
	add_number(fields, "uncounted_children", (double)uncounted->children);
}

static void add_ending(struct stat_fields *fields, const struct stat_facts *facts)
{
	if (!facts->has_command)
		return;
	add_number(fields, "exit_status", facts->exit_status);
	add_number(fields, "user_s", stat_seconds(facts->usage.ru_utime));
	add_number(fields, "system_s", stat_seconds(facts->usage.ru_stime));
}

void stat_fields_create(struct stat_fields *fields, const struct stat_output *output, struct stat_count *count,
                        const struct stat_facts *facts)
{
	bool is_json = output->options->format == PS_FORMAT_JSON;

	*fields = (struct stat_fields){.count = 0};
	stat_describe_target(output->options, &fields->target);
	add_text(fields, "target", ps__buffer_text(&fields->target));
	if (output->options->repetitions > 1)
		add_number(fields, "repetition", (double)facts->repetition);
	add_number(fields, "elapsed_s", facts->elapsed_s);
	if (output->options->interval_ms)
		add_number(fields, "interval_s", facts->interval_s);
	else
		add_ending(fields, facts);
	if (!is_json)
		return;
	add_text(fields, "perfsage", ps_version());
	fields->has_quality = stat_quality_create(&fields->quality, count->model) == 0;
	if (fields->has_quality) {
		stat_quality_add_run(&fields->quality, count);
		add_quality(fields);
	}
	add_number(fields, "perfsage_cpu_s", stat_footer_cost_s());
}

void stat_fields_clear(struct stat_fields *fields)
{
	ps__buffer_clear(&fields->target);
	if (fields->has_quality)
		stat_quality_destroy(&fields->quality);
}
