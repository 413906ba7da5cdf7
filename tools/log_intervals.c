/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log intervals: counts between two points, over all records. */
#include "tools/log_intervals.h"

#include "base/os.h"
#include "snapshot/reader.h"
#include "store/sum.h"
#include "tools/command.h"
#include "tools/terminal.h"

#include <stdlib.h>

static void intervals_put_one(struct interval_output *output, struct interval_row row,
                              struct tool_log_sum *sum, interval_put *put)
{
	row.sum = sum;
	if (sum->count)
		tool_log_sum_up(sum, &row.statistics);
	if (sum->count && row.component)
		row.look.is_share =
		    ps__known_is_share(&sum->total, row.component, output->has_elsewhere);
	if (sum->count || sum->unknown)
		put(output, &row);
}

/* Sorts by sum, largest first; components without a sum come last; equal ones in the tree's
 * order. */
static int compare_places(const void *one, const void *other)
{
	const struct interval_place *a = one, *b = other;

	if (a->is_known != b->is_known)
		return a->is_known ? -1 : 1;
	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return (a->component > b->component) - (a->component < b->component);
}

/* Finds the components that have an interval of the group, in the tree's order, or sorted if not
 * all are shown. Returns their number. */
static size_t find_places(struct interval_output *output, const struct tool_log_group *group)
{
	const struct tool_log_groups *all = &output->groups;
	size_t count = 0;

	for (size_t index = 0; index < all->component_count; index++) {
		const struct tool_log_sum *sums = &group->sums[index * all->event_count];
		bool is_there = false;
		for (size_t event = 0; event < all->event_count; event++)
			is_there |= sums[event].count || sums[event].unknown;
		struct ps_value total = sums->total;
		ps__value_finish(&total);
		if (is_there)
			output->places[count++] =
			    (struct interval_place){index, sums->count > 0, total.value};
	}
	if (count <= output->most_components)
		return count;
	if (count - output->most_components > output->left_out)
		output->left_out = count - output->most_components;
	qsort(output->places, count, sizeof *output->places, compare_places);
	return output->most_components;
}

static void intervals_put_group(struct interval_output *output, struct tool_log_group *group,
                                interval_put *put)
{
	const struct tool_log_groups *all = &output->groups;
	struct interval_row row = {.group = group, .look = {.unit = "ns", .scale = 1}};
	size_t count = find_places(output, group);

	intervals_put_one(output, row, &group->time, put);
	for (size_t index = 0; index < count; index++) {
		size_t component = output->places[index].component;
		row.component = all->components[component];
		for (size_t event = 0; event < all->event_count; event++) {
			row.event = output->log->events.names[event];
			row.look = output->log->looks[event];
			intervals_put_one(output, row,
			                  &group->sums[component * all->event_count + event], put);
		}
	}
}

static void intervals_put_all(struct interval_output *output, interval_put *put)
{
	for (size_t group = 0; group < output->groups.count && group < output->most_groups; group++)
		intervals_put_group(output, &output->groups.groups[group], put);
}

static int intervals_put_text(struct interval_output *output)
{
	if (log_intervals_begin_text(output) < 0)
		return TOOL_FAILED;
	intervals_put_all(output, log_intervals_put_text);
	log_intervals_end_text(output);
	if (output->log->options.has_histogram)
		intervals_put_all(output, log_intervals_put_histogram);
	return TOOL_OK;
}

/* True if any stream has counts on a hardware thread that isn't known. */
static bool intervals_has_elsewhere(const struct ps_log_reader *reader)
{
	for (size_t stream = 0; stream < reader->source_count; stream++) {
		const struct ps__log_source *source = &reader->sources[stream];
		for (size_t index = 0; index < source->place_count; index++) {
			int cpu = source->places[index].cpu;
			if (ps__topology_thread(reader->topology, cpu)->cpu < 0)
				return true;
		}
	}
	return false;
}

static int intervals_put(struct interval_output *output)
{
	output->has_elsewhere = intervals_has_elsewhere(output->log->reader);
	output->places = ps__os_calloc(output->groups.component_count, sizeof *output->places);
	if (!output->places)
		return tool_complain_memory("the intervals of the log");
	output->most_groups = output->groups.count;
	output->most_components = output->groups.component_count;
	if (output->log->options.format == TOOL_LOG_TEXT)
		return intervals_put_text(output);
	if (output->log->options.format == TOOL_LOG_JSON) {
		log_intervals_begin_json(output);
		intervals_put_all(output, log_intervals_put_json);
		log_intervals_end_json(output);
		return TOOL_OK;
	}
	ps__buffer_add(&output->text,
	               "group,component,event,unit,intervals,unknown,sum,mean,min,p50,p90,p99,"
	               "max,status,attribution,flags,group_is_set" TOOL_LOG_MISSING_COLUMNS "\n");
	intervals_put_all(output, log_intervals_put_csv);
	return TOOL_OK;
}

int tool_log_intervals(struct tool_log *log)
{
	struct interval_output output = {.log = log};
	int status = tool_log_groups_create(&output.groups, log);

	if (status == TOOL_OK)
		status = tool_log_groups_collect(&output.groups, log);
	if (status == TOOL_OK && output.groups.count == 0)
		tool_complain("no record has such an interval");
	if (status == TOOL_OK)
		status = intervals_put(&output);
	if (status == TOOL_OK)
		status = tool_write(&output.text, stdout);
	ps__buffer_clear(&output.text);
	ps__os_free(output.places);
	tool_log_groups_clear(&output.groups);
	return status;
}
