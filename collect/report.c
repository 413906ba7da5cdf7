/* SPDX-License-Identifier: BSD-3-Clause */
/* The report of a process, in one piece: several processes may write to the same file. */
#include "collect/report.h"

#include "base/error.h"
#include "base/os.h"
#include "collect/hush.h"
#include "collect/tree.h"
#include "output/buffer.h"
#include "output/number.h"
#include "output/rank.h"
#include "output/wrap.h"

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
#define NAME_COLUMNS       12 /* of a line below the table */

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
	ps__buffer_add(out, "%-*sabout %.0f ns a visit, ", NAME_COLUMNS, "cost", report->visit_ns);
	ps__number_add_time(out, report->visit_ns * (double)report->counted);
	ps__buffer_add(out, " for %llu visit%s\n", (unsigned long long)report->counted,
	               report->counted == 1 ? "" : "s");
}

/* The clocks differ by what a switch takes, and by what was done for the report. */
#define UNMARKED_S    0.01
#define UNMARKED_PART 0.1

/* CPU time in which no thread counted: each counts from its first mark to its last one, the calling
 * thread to the end. NaN: not known. */
static double report_unmarked_s(const struct collect_report *report)
{
	if (report->on_cpu_ns == UINT64_MAX || report->is_flushed)
		return (double)NAN;
	return report->cpu_ns > report->on_cpu_ns
	           ? (double)(report->cpu_ns - report->on_cpu_ns) / 1e9
	           : 0;
}

/* A region around a parallel construct is the first thread's alone: that would look as if it were
 * the whole team's. */
static void report_add_unmarked(struct ps__buffer *out, const struct collect_report *report)
{
	double unmarked_s = report_unmarked_s(report);

	if (isnan(unmarked_s) ||
	    unmarked_s < UNMARKED_S + UNMARKED_PART * (double)report->cpu_ns / 1e9)
		return;
	ps__buffer_add(out, "%-*s", NAME_COLUMNS, "uncounted");
	ps__number_add_duration(out, unmarked_s);
	ps__buffer_add(out, " of the process's ");
	ps__number_add_duration(out, (double)report->cpu_ns / 1e9);
	ps__buffer_add(out, " CPU time: of threads without a mark, or before their first or after "
	                    "their last one. A region around a parallel construct counts the "
	                    "calling thread alone: put it inside\n");
}

static void report_add_head(struct ps__buffer *out, const struct collect_report *report,
                            const char *command)
{
	const char *rank = ps__rank_number();

	ps__buffer_add(out, "\nRegions of %s, process %d", command, (int)getpid());
	if (rank)
		ps__buffer_add(out, ", rank %s, host %s", rank, ps__rank_host());
	if (report->is_flushed) {
		ps__buffer_add(out, ", only the first ");
		ps__number_add_duration(out, report->elapsed_s);
	}
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

static int report_add_table(const struct collect_report *report, const struct collect_run *run,
                            FILE *stream)
{
	const struct collect_settings *settings = report->settings;
	struct ps_paths_options options = {.size = sizeof options,
	                                   .flags = settings->flags | PS_PATHS_COMPACT |
	                                            (run->is_continued ? PS_PATHS_NO_HEADER : 0),
	                                   .types = settings->types,
	                                   .cache_level = settings->cache_level,
	                                   .width = settings->width,
	                                   .metrics = run->metrics,
	                                   .metric_count = run->metric_count,
	                                   .fields = run->fields,
	                                   .field_count = run->field_count};

	return ps_paths_export(report->paths, settings->format, &options, stream);
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
	    {.name = "complete", .number = !report->is_flushed},
	    {.name = "cost_s", .number = report->visit_ns * (double)report->counted / 1e9},
	    {.name = "unmarked_cpu_s", .number = report_unmarked_s(report)},
	};
	struct report_metrics metrics = {.is_text = settings->format == PS_FORMAT_TEXT};

	ps_metric_for_each(report->root, report_keep_metric, &metrics);
	struct collect_run run = {.metrics = (const char *const *)metrics.names,
	                          .metric_count = metrics.count,
	                          .fields = fields,
	                          .field_count = sizeof fields / sizeof fields[0],
	                          .is_continued = is_continued};
	int result = settings->region ? collect_tree_write(report, &run, stream)
	                              : report_add_table(report, &run, stream);
	report_clear_metrics(&metrics);
	return result;
}

/* Folded to the screen, as the table above is. */
static void report_add_around(struct ps__buffer *out, const struct collect_report *report)
{
	struct ps__buffer lines = {0};

	report_add_unmarked(&lines, report);
	report_add_cost(&lines, report);
	ps__wrap_add_lines(out, &lines, NAME_COLUMNS, report->settings->width);
	ps__buffer_clear(&lines);
}

/* All of it as text. */
static int report_make(const struct collect_report *report, bool is_continued, FILE *stream)
{
	struct ps__buffer command = {0}, around = {0};
	bool is_text = report->settings->format == PS_FORMAT_TEXT;

	report_add_command(&command);
	if (is_text)
		report_add_head(&around, report, ps__buffer_text(&command));
	int result = ps__buffer_finish(&around, stream);
	if (result == PS_OK)
		result = report_add_paths(report, ps__buffer_text(&command), is_continued, stream);
	around = (struct ps__buffer){0};
	if (is_text && result == PS_OK) {
		ps__buffer_add(&around, "\n");
		report_add_around(&around, report);
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

/* "OUTPUT.PID.part"; NULL for lack of memory, or if the report goes to no file. */
static char *report_name_beside(const struct collect_report *report, const char *end)
{
	struct ps__buffer name = {0};
	struct stat what;

	if (!report->settings->output ||
	    (stat(report->settings->output, &what) == 0 && !S_ISREG(what.st_mode)))
		return NULL;
	ps__buffer_add(&name, "%s.%d.%s", report->settings->output, (int)getpid(), end);
	char *copy = name.failed ? NULL : strdup(ps__buffer_text(&name));
	ps__buffer_clear(&name);
	return copy;
}

static int report_flush_to(const struct collect_report *report, const char *whole,
                           const char *begun)
{
	unlink(begun);
	int fd = open(begun, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, NEW_MODE);
	if (fd < 0)
		return ps__fail(PS_ESYS, "'%s' can't be opened: %s", begun, strerror(errno));
	int result = report_put(report, fd, begun);
	close(fd);
	if (result == PS_OK && rename(begun, whole) < 0)
		result = ps__fail(PS_ESYS, "'%s' can't be written: %s", whole, strerror(errno));
	if (result != PS_OK)
		unlink(begun);
	return result;
}

int collect_report_flush(const struct collect_report *report)
{
	char *whole = report_name_beside(report, "part");
	char *begun = report_name_beside(report, "begun");
	int result = PS_ENOSUPP;

	if (whole && begun)
		result = report_flush_to(report, whole, begun);
	free(whole);
	free(begun);
	return result;
}

static void report_drop_flushed(const struct collect_report *report)
{
	char *whole = report_name_beside(report, "part");

	if (whole)
		unlink(whole);
	free(whole);
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
	if (result == PS_OK)
		report_drop_flushed(report);
	return result;
}
