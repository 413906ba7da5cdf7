/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a report's source, which is the calling process, and the metrics that can be computed from
 * its events. */
#include "analysis/metric.h"
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "collect/report.h"
#include "output/buffer.h"
#include "output/rank.h"

#include <perfsage/metric.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define MOST_COMMAND_BYTES 4096

/* Adds the words of the command line from /proc, where each word ends with a 0. After main has
 * called pthread_exit, the process has no command line any more, but its other threads do. */
static void source_add_command(struct ps__buffer *out)
{
	char words[MOST_COMMAND_BYTES];
	ssize_t length = ps__os_read_file("/proc/thread-self/cmdline", words, sizeof words);

	if (length <= 0) {
		ps__buffer_add(out, "unknown command");
		return;
	}
	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(&words[at]) + 1) {
		ps__buffer_add(out, "%s", at ? " " : "");
		ps__buffer_add_foreign(out, &words[at], PS__CHARSET_UTF8);
	}
}

int collect_source_find(struct collect_source *out, const char *rank)
{
	struct ps__buffer command = {0};

	source_add_command(&command);
	struct collect_source source = {.process = getpid(), .processes = 1};
	bool is_named =
	    !command.failed && collect_source_name(&source, ps__buffer_text(&command), rank);
	ps__buffer_clear(&command);
	if (is_named) {
		*out = source;
		return PS_OK;
	}
	collect_source_clear(&source);
	return ps__fail_memory("a report");
}

bool collect_source_name(struct collect_source *source, const char *command, const char *rank)
{
	source->command = ps__os_strdup(command);
	source->host = ps__os_strdup(ps__rank_host());
	source->rank = rank ? ps__os_strdup(rank) : NULL;
	return source->command && source->host && (source->rank || !rank);
}

void collect_source_clear(struct collect_source *source)
{
	ps__os_free(source->command);
	ps__os_free(source->host);
	ps__os_free(source->rank);
	*source = (struct collect_source){.command = NULL};
}

int collect_metrics_add(struct collect_metrics *metrics, const char *name)
{
	for (size_t index = 0; index < metrics->count; index++) {
		if (strcmp(metrics->names[index], name) == 0)
			return 0;
	}
	if (!PS__VECTOR_GROW(&metrics->names, metrics->count, &metrics->room))
		return -1;
	metrics->names[metrics->count] = ps__os_strdup(name);
	if (!metrics->names[metrics->count])
		return -1;
	metrics->count++;
	return 0;
}

static int metrics_keep(const char *name, void *context)
{
	return ps__metric_is_assumed(name) ? 0 : collect_metrics_add(context, name);
}

/* Loads the user's own metrics, once in a process. An error is not shown, because this is the
 * program's output; perfsage stat reports a wrong file. */
static void metrics_load(void)
{
	static atomic_flag is_loaded = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&is_loaded))
		ps_metric_load(NULL);
}

int collect_metrics_find(struct collect_metrics *out, struct ps_component *root)
{
	struct collect_metrics metrics = {.count = 0};

	metrics_load();
	if (ps_metric_for_each(root, metrics_keep, &metrics) == 0) {
		*out = metrics;
		return PS_OK;
	}
	collect_metrics_clear(&metrics);
	return ps__fail_memory("a report");
}

void collect_metrics_clear(struct collect_metrics *metrics)
{
	for (size_t index = 0; index < metrics->count; index++)
		ps__os_free(metrics->names[index]);
	ps__os_free(metrics->names);
	*metrics = (struct collect_metrics){.count = 0};
}
