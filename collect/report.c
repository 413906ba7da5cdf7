/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a process, in one piece: several processes may write to the same file. */
#include "collect/report.h"

#include "base/error.h"
#include "base/os.h"
#include "collect/hush.h"
#include "output/buffer.h"
#include "output/number.h"
#include "output/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <perfsage/metric.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_COMMAND_BYTES 4096
#define NEW_MODE           0666

void collect_report_sum(struct collect_report *report)
{
	const struct ps_path *path = ps_paths_root(report->paths);

	report->visits = 0;
	report->counted = 0;
	report->on_cpu_ns = 0;
	while (path) {
		struct ps_visits visits = {.size = sizeof visits};
		if (ps_path_visits(path, &visits) == PS_OK) {
			report->visits += visits.count;
			report->counted += visits.counted;
			/* The time of visits that were not counted is in another path. */
			if (visits.wall_ns == UINT64_MAX)
				visits.on_cpu_ns = 0;
			if (visits.on_cpu_ns == UINT64_MAX || report->on_cpu_ns == UINT64_MAX)
				report->on_cpu_ns = UINT64_MAX;
			else
				report->on_cpu_ns += visits.on_cpu_ns;
		}
		const struct ps_path *next = ps_path_child(path);
		while (!next && path) {
			next = ps_path_next(path);
			path = ps_path_parent(path);
		}
		path = next;
	}
}

/* The words of the command line, as the kernel has them: each ends with a 0. The process has none
 * any more where main has called pthread_exit; its other threads do. */
static void report_add_command(struct ps__buffer *out)
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

static void report_add_cost(struct ps__buffer *out, const struct collect_report *report)
{
	if (isnan(report->visit_ns))
		return;
	ps__buffer_add(out, "%-12sabout %.0f ns a visit, ", "cost", report->visit_ns);
	ps__number_add_time(out, report->visit_ns * (double)report->counted);
	ps__buffer_add(out, " for %llu visit%s\n", (unsigned long long)report->counted,
	               report->counted == 1 ? "" : "s");
}

static void report_add_head(struct ps__buffer *out, const char *command)
{
	const char *rank = ps__rank_number();

	ps__buffer_add(out, "\nRegions of %s, process %d", command, (int)getpid());
	if (rank)
		ps__buffer_add(out, ", rank %s, host %s", rank, ps__rank_host());
	ps__buffer_add(out, "\n\n");
}

#define MOST_METRICS 32

/* Lists the metrics that the events allow. A table has no room for what happened in a second. */
struct report_metrics {
	char *names[MOST_METRICS];
	size_t count;
	bool is_text;
};

static int report_keep_metric(const char *name, void *context)
{
	struct report_metrics *metrics = context;

	if (metrics->count == MOST_METRICS)
		return 1;
	if (metrics->is_text && strcmp(ps_metric_unit(name), "1/s") == 0)
		return 0;
	metrics->names[metrics->count] = ps__os_strdup(name);
	metrics->count += metrics->names[metrics->count] != NULL;
	return 0;
}

static void report_clear_metrics(struct report_metrics *metrics)
{
	for (size_t index = 0; index < metrics->count; index++)
		ps__os_free(metrics->names[index]);
}

static int report_add_paths(const struct collect_report *report, const char *command,
                            bool is_continued, FILE *stream)
{
	const struct collect_settings *settings = report->settings;
	const char *rank = ps__rank_number();
	struct ps_export_field fields[] = {
	    {.name = "command", .text = command},
	    {.name = "process", .number = (double)getpid()},
	    {.name = "host", .text = ps__rank_host()},
	    {.name = "rank", .number = rank ? strtod(rank, NULL) : (double)NAN},
	    {.name = "elapsed_s", .number = report->elapsed_s},
	    {.name = "cost_s", .number = report->visit_ns * (double)report->counted / 1e9},
	};
	struct ps_paths_options options = {.size = sizeof options,
	                                   .flags = settings->flags | PS_PATHS_COMPACT |
	                                            (is_continued ? PS_PATHS_NO_HEADER : 0),
	                                   .types = settings->types,
	                                   .cache_level = settings->cache_level,
	                                   .width = settings->width,
	                                   .fields = fields,
	                                   .field_count = sizeof fields / sizeof fields[0]};

	struct report_metrics metrics = {.is_text = settings->format == PS_FORMAT_TEXT};

	ps_metric_for_each(report->root, report_keep_metric, &metrics);
	options.metrics = (const char *const *)metrics.names;
	options.metric_count = metrics.count;
	int result = ps_paths_export(report->paths, settings->format, &options, stream);
	report_clear_metrics(&metrics);
	return result;
}

/* All of it as text. */
static int report_make(const struct collect_report *report, bool is_continued, FILE *stream)
{
	struct ps__buffer command = {0}, around = {0};
	bool is_text = report->settings->format == PS_FORMAT_TEXT;

	report_add_command(&command);
	if (is_text)
		report_add_head(&around, ps__buffer_text(&command));
	int result = ps__buffer_finish(&around, stream);
	if (result == PS_OK)
		result = report_add_paths(report, ps__buffer_text(&command), is_continued, stream);
	around = (struct ps__buffer){0};
	if (is_text && result == PS_OK) {
		ps__buffer_add(&around, "\n");
		report_add_cost(&around, report);
		result = ps__buffer_finish(&around, stream);
	}
	ps__buffer_clear(&command);
	return result;
}

/* 0, or an errno. */
static int report_write_all(int fd, const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(fd, text, length);
		if (written < 0 && errno != EINTR)
			return errno;
		text += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
	}
	return 0;
}

static int report_put(const struct collect_report *report, int fd, const char *name)
{
	struct collect_hush hush;
	struct stat what;
	char *text = NULL;
	size_t length = 0;
	bool is_continued = fstat(fd, &what) == 0 && S_ISREG(what.st_mode) && what.st_size > 0;
	FILE *stream = open_memstream(&text, &length);

	if (!stream)
		return ps__fail_memory("a report");
	int result = report_make(report, is_continued, stream);
	if (fclose(stream) != 0 && result == PS_OK)
		result = ps__fail_memory("a report");
	collect_hush_begin(&hush);
	int error = result == PS_OK ? report_write_all(fd, text, length) : 0;
	collect_hush_end(&hush);
	free(text);
	if (error)
		return ps__fail(PS_ESYS, "'%s' can't be written: %s", name, strerror(error));
	return result;
}

int collect_report_write(const struct collect_report *report)
{
	const char *name = report->settings->output;

	if (!name)
		return report_put(report, STDERR_FILENO, "stderr");
	/* perfsage has made its file. If that is gone, nothing else by its name is the right one.
	 */
	int own = collect_settings_journal() ? O_NOFOLLOW : O_CREAT;
	int fd = open(name, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC | own, NEW_MODE);
	if (fd < 0)
		return ps__fail(PS_ESYS, "PERFSAGE_OUTPUT: '%s' can't be opened: %s", name,
		                strerror(errno));
	int result = report_put(report, fd, name);
	close(fd);
	return result;
}
