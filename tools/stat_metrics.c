/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage stat -M: turns metrics and groups into events to count and columns to show. Without -M
 * all metrics whose events are counted are shown. */
#include "tools/stat_metrics.h"

#include "analysis/metric.h"
#include "analysis/metric_file.h"
#include "tools/metrics.h"
#include "tools/stat_footer.h"
#include "tools/stat_times.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct asked {
	struct stat_options *options;
	struct ps_eventset *events; /* all events that the metrics need */
	struct tool_names metrics;  /* the metrics that can be counted */
};

/* True if the metric could be counted with the times of a run. Then the options are the only reason
 * why it can't. */
static bool asked_lacks_times(const struct ps__metric_ask *ask)
{
	struct ps__metric_ask with_times = *ask;
	struct ps_eventset *tried;

	if (ps_eventset_create(&tried) != PS_OK)
		return false;
	with_times.has_run_times = true;
	bool can_count = ps__metric_add_events(tried, &with_times) == PS_OK;
	ps_eventset_destroy(tried);
	return can_count;
}

/* Complains that a metric can't be counted. refusal: why the options exclude the times of a run;
 * NULL if they don't. If only the times are missing, shows `refusal`, else the error's detail. */
static void asked_complain(const struct ps__metric_ask *ask, const char *refusal)
{
	char detail[512];

	snprintf(detail, sizeof detail, "%s", ps_error_detail());
	if (refusal && asked_lacks_times(ask))
		tool_complain("-M: %s%s is left out: %s", ask->metric->name, ask->modifier,
		              refusal);
	else
		tool_complain("-M: %s", detail);
}

/* Returns the times of a run that any of the metric's formulas uses, as bits of stat_times_bit. */
static unsigned asked_times(const struct ps__metric *metric)
{
	unsigned times = 0;

	for (; metric; metric = metric->next_formula) {
		for (size_t operand = 0; operand < metric->count; operand++) {
			const char *const *name = metric->operands[operand].names;
			for (; *name; name++)
				times |= stat_times_bit(*name);
		}
	}
	return times;
}

/* Keeps a metric whose events can be counted here; complains about one that can't be counted. */
static int asked_add_metric(struct asked *asked, const struct ps__metric_ask *ask)
{
	struct ps__metric_ask with_times = *ask;
	char name[PS__METRIC_NAME_BYTES];

	const char *refusal = stat_options_refuse_times(asked->options, asked_times(ask->metric));
	with_times.has_run_times = !refusal;
	int code = ps__metric_add_events(asked->events, &with_times);
	if (code != PS_OK)
		return asked_complain(ask, refusal), 0;
	snprintf(name, sizeof name, "%s%s", ask->metric->name, ask->modifier);
	for (size_t index = 0; index < asked->metrics.count; index++) {
		if (strcmp(asked->metrics.names[index], name) == 0)
			return 0;
	}
	return tool_names_append(&asked->metrics, name);
}

static int asked_add_group(struct asked *asked, const char *group)
{
	int result = 0;

	for (const struct ps__metric *metric = ps__metric_next(NULL); metric && result == 0;
	     metric = ps__metric_next(metric)) {
		if (ps__metric_is_in(metric, group))
			result = asked_add_metric(
			    asked, &(struct ps__metric_ask){.metric = metric, .modifier = ""});
	}
	return result;
}

/* Adds a group or a metric. If both have the name, adds the group, because -M GROUP is the common
 * form. */
static int asked_add_word(struct asked *asked, const char *word)
{
	struct ps__metric_ask ask;

	if (ps__metric_has_group(word))
		return asked_add_group(asked, word);
	if (ps__metric_find(word, &ask) == PS_OK)
		return asked_add_metric(asked, &ask);
	if (tool_metrics_complain_unknown(word) == 0)
		tool_complain("-M: %s", ps_error_detail());
	return -1;
}

/* Adds the events after those of -e, without duplicates. */
static int asked_take_events(struct asked *asked)
{
	struct tool_names *names = &asked->options->events;
	size_t before = names->count;

	for (size_t index = 0; index < ps_eventset_event_count(asked->events); index++) {
		const char *name = ps_eventset_event_name(asked->events, index);
		bool is_there = false;
		for (size_t other = 0; other < before && !is_there; other++)
			is_there = strcmp(names->names[other], name) == 0;
		if (!is_there && tool_names_append(names, name) < 0)
			return -1;
	}
	return 0;
}

static int asked_resolve(struct asked *asked)
{
	const struct tool_names *words = &asked->options->metrics;
	int result = 0;

	for (size_t index = 0; index < words->count && result == 0; index++)
		result = asked_add_word(asked, words->names[index]);
	if (result == 0 && asked->metrics.count == 0)
		result = tool_complain("-M: none of these metrics can be counted here; perfsage "
		                       "list --metrics tells of each why");
	return result == 0 ? asked_take_events(asked) : result;
}

int stat_metrics_resolve(struct stat_options *options)
{
	struct asked asked = {.options = options};

	tool_metrics_load();
	if (options->metrics.count == 0)
		return 0;
	if (ps_eventset_create(&asked.events) != PS_OK)
		return tool_complain_detail();
	int result = asked_resolve(&asked);
	ps_eventset_destroy(asked.events);
	if (result == 0) {
		tool_names_clear(&options->metrics);
		options->metrics = asked.metrics;
	} else {
		tool_names_clear(&asked.metrics);
	}
	return result;
}

/* True if the metric needs CPU time and whole CPUs are counted. Clocks of whole CPUs go on while
 * the CPU is idle, so they don't show CPU time. */
static bool metrics_lack_time(const char *name, const struct ps_metric_value *value)
{
	const char *unit = ps_metric_unit(name);
	bool needs_time = strcmp(unit, "GHz") == 0 || strcmp(unit, "GFLOP/s") == 0 ||
	                  strcmp(unit, "1/s") == 0 ||
	                  strncmp(name, "time-share", strlen("time-share")) == 0;

	return needs_time && value->attribution == PS_ATTRIBUTION_ATTACHED;
}

/* Keeps a metric that has a value. Metrics whose events were not counted are left out. */
static int metrics_keep_known(const char *name, void *context)
{
	struct stat_metrics *metrics = context;
	struct ps_metric_value value;

	/* Some rates are shown in lines below the table, not in its columns. */
	if (metrics->is_for_people && strcmp(ps_metric_unit(name), "1/s") == 0 &&
	    stat_rates_tell(name))
		return 0;
	if (ps__metric_is_assumed(name))
		return 0;
	if (ps_component_metric(metrics->root, name, &value) != PS_OK ||
	    metrics_lack_time(name, &value))
		return 0;
	if (isnan(value.value) && !metrics->has_unknown)
		return 0;
	metrics->lacks_name |= tool_names_append(&metrics->names, name) < 0;
	return metrics->lacks_name;
}

/* Moves IPC to the front, because the first metric fits on any screen. */
static void metrics_put_ipc_first(struct tool_names *names)
{
	for (size_t index = 1; index < names->count; index++) {
		char *name = names->names[index];
		if (strcmp(name, "IPC") != 0)
			continue;
		memmove(&names->names[1], &names->names[0], index * sizeof *names->names);
		names->names[0] = name;
	}
}

int stat_metrics_find(struct stat_metrics *metrics, const struct stat_options *options,
                      const struct ps_component *root, bool is_for_people, bool has_unknown)
{
	*metrics = (struct stat_metrics){
	    .root = root, .is_for_people = is_for_people, .has_unknown = has_unknown};
	const struct tool_names *asked = &options->metrics;
	if (asked->count == 0 && !options->look.hides_metrics)
		ps_metric_for_each(root, metrics_keep_known, metrics);
	if (asked->count == 0 && is_for_people)
		metrics_put_ipc_first(&metrics->names);
	for (size_t index = 0; index < asked->count; index++)
		metrics->lacks_name |= tool_names_append(&metrics->names, asked->names[index]) < 0;
	return metrics->lacks_name ? -1 : 0;
}

void stat_metrics_clear(struct stat_metrics *metrics)
{
	tool_names_clear(&metrics->names);
}
