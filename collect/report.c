/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the report of a process with one write, because several processes may write to the same
 * file. */
#include "collect/report.h"

#include "base/error.h"
#include "base/os.h"
#include "collect/exchange.h"
#include "collect/files.h"
#include "collect/tree.h"
#include "output/buffer.h"
#include "output/csv.h"
#include "output/destination.h"
#include "output/number.h"
#include "output/wrap.h"
#include "region/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <perfsage/metric.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_MODE 0666

struct report_text {
	char *text;
	size_t length;
};

void collect_report_sum(struct collect_report *report)
{
	const struct ps_path *root = ps_paths_root(report->paths);

	report->visits = 0;
	report->counted = 0;
	report->on_cpu_ns = 0;
	/* ps_path_visits is not used, because it adds up all paths below a path, which takes too
	 * long in a deep recursion. */
	for (const struct ps_path *path = root; path; path = ps__path_next_below(root, path)) {
		const struct ps_visits *visits = &path->visits;
		/* The time of visits that were not counted is part of another path's time. */
		uint64_t on_cpu_ns = visits->wall_ns == UINT64_MAX ? 0 : visits->on_cpu_ns;
		report->visits += visits->count;
		report->counted += visits->counted;
		if (on_cpu_ns == UINT64_MAX || report->on_cpu_ns == UINT64_MAX)
			report->on_cpu_ns = UINT64_MAX;
		else
			report->on_cpu_ns += on_cpu_ns;
	}
}

static void report_add_head(struct ps__buffer *out, const struct collect_report *report)
{
	const struct collect_source *source = report->source;
	struct ps__buffer line = {0};

	ps__buffer_add(&line, "Regions of %s, ", source->command);
	if (source->process)
		ps__buffer_add(&line, "process %d", (int)source->process);
	else
		ps__buffer_add(&line, "sums over %zu process%s", source->processes,
		               source->processes == 1 ? "" : "es");
	if (source->runs)
		ps__buffer_add(&line, " of %lld runs", source->runs);
	if (source->run)
		ps__buffer_add(&line, ", run %lld", source->run);
	if (source->rank)
		ps__buffer_add(&line, ", rank %s, host %s", source->rank, source->host);
	if (report->is_flushed && source->process) {
		ps__buffer_add(&line, ", only the first ");
		ps__number_add_duration(&line, report->elapsed_s);
	}
	ps__buffer_add(&line, "\n");
	ps__buffer_add(out, "\n");
	ps__wrap_add_lines(out, &line, 0, report->settings->width);
	ps__buffer_add(out, "\n");
	ps__buffer_clear(&line);
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

/* Lists the metrics to write. A text table has no room for metrics per second. */
static size_t report_list_metrics(const struct collect_report *report, const char **names)
{
	bool is_text = report->settings->format == PS_FORMAT_TEXT;
	size_t count = 0;

	if (report->settings->hides_metrics)
		return 0;
	for (size_t index = 0; index < report->metrics->count; index++) {
		const char *name = report->metrics->names[index];
		const char *unit = ps_metric_unit(name);
		if (unit && !(is_text && strcmp(unit, "1/s") == 0))
			names[count++] = name;
	}
	return count;
}

static int report_add_paths(const struct collect_report *report, bool is_continued, FILE *stream)
{
	const struct collect_source *source = report->source;
	double process = source->process ? (double)source->process : (double)NAN;
	struct ps_export_field fields[] = {
	    {.name = "command", .text = source->command},
	    {.name = "process", .number = process},
	    {.name = "host", .text = source->host},
	    {.name = "rank", .number = source->rank ? strtod(source->rank, NULL) : (double)NAN},
	    {.name = "elapsed_s", .number = report->elapsed_s},
	    {.name = "complete", .number = !report->is_flushed && !report->paths->lacks_processes},
	    {.name = "cost_s", .number = report->cost_ns / 1e9},
	    {.name = "unmarked_cpu_s", .number = report->unmarked_s},
	    {.name = "threads", .number = report->threads},
	    {.name = "unmarked_threads", .number = report->unmarked_threads},
	    {.name = "processes", .number = (double)source->processes},
	    {.name = "repetition", .number = source->run ? (double)source->run : (double)NAN},
	    {.name = "runs", .number = source->runs ? (double)source->runs : 1},
	};
	size_t repeated = source->run || source->runs ? 0 : 2; /* fields of a repeated command */
	const char **names = ps__os_calloc(report->metrics->count + 1, sizeof *names);

	if (!names)
		return ps__fail_memory("a report");
	struct collect_run run = {.metrics = names,
	                          .metric_count = report_list_metrics(report, names),
	                          .fields = fields,
	                          .field_count = sizeof fields / sizeof fields[0] - repeated,
	                          .is_continued = is_continued};
	int result = report->settings->regions ? collect_tree_write(report, &run, stream)
	                                       : report_add_table(report, &run, stream);
	ps__os_free(names);
	return result;
}

int collect_report_make(const struct collect_report *report, bool is_continued, FILE *stream)
{
	struct ps__buffer around = {0};
	bool is_text = report->settings->format == PS_FORMAT_TEXT;

	if (is_text)
		report_add_head(&around, report);
	int result = ps__buffer_finish(&around, stream);
	if (result == PS_OK)
		result = report_add_paths(report, is_continued, stream);
	around = (struct ps__buffer){0};
	if (is_text && result == PS_OK) {
		ps__buffer_add(&around, "\n");
		collect_report_add_lines(&around, report);
		result = ps__buffer_finish(&around, stream);
	}
	return result;
}

/* With a journal, perfsage reads the reports of all processes and joins them. Otherwise the report
 * is written for the user. */
static int report_write_to(const struct collect_report *report, bool is_continued, FILE *stream)
{
	return report->settings->journal ? collect_exchange_write(report, stream)
	                                 : collect_report_make(report, is_continued, stream);
}

/* Makes the whole text before the descriptor is used. Making it takes milliseconds, in which
 * another thread of the program could put its own file under the descriptor. */
static int report_compose(const struct collect_report *report, bool is_continued,
                          struct report_text *out)
{
	struct report_text made = {.text = NULL};
	FILE *stream = open_memstream(&made.text, &made.length);

	if (!stream)
		return ps__fail_memory("a report");
	int result = report_write_to(report, is_continued, stream);
	if (fclose(stream) != 0 && result == PS_OK)
		result = ps__fail_memory("a report");
	if (result == PS_OK)
		*out = made;
	else
		free(made.text);
	return result;
}

static int report_fail(const char *name, int error)
{
	return ps__fail(PS_ESYS, "'%s' can't be written: %s", name, strerror(error));
}

bool collect_report_has_file(const struct collect_settings *settings)
{
	struct stat what;

	return settings->output && (stat(settings->output, &what) < 0 || S_ISREG(what.st_mode));
}

/* Returns the name "OUTPUT.PID.BEGAN.end"; NULL if out of memory. */
static char *report_name_beside(const struct collect_report *report, const char *end)
{
	struct ps__buffer name = {0};

	ps__buffer_add(&name, "%s.%d.%" PRIu64 ".%s", report->settings->output, (int)getpid(),
	               report->began_ns, end);
	char *copy = name.failed ? NULL : ps__os_strdup(ps__buffer_text(&name));
	ps__buffer_clear(&name);
	return copy;
}

/* Creates a file and writes the report to it. Returns 0, or an errno. */
static int report_put_new(const char *name, int flags, const struct report_text *report)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | flags, NEW_MODE);

	if (fd < 0)
		return errno;
	int error = collect_files_put(fd, report->text, report->length);
	close(fd);
	return error;
}

static int report_flush_to(const struct report_text *report, const char *whole, const char *begun)
{
	unlink(begun);
	int error = report_put_new(begun, O_EXCL | O_NOFOLLOW, report);
	if (!error && rename(begun, whole) < 0)
		error = errno;
	if (!error)
		return PS_OK;
	unlink(begun);
	return report_fail(whole, error);
}

int collect_report_flush(const struct collect_report *report)
{
	char *whole = report_name_beside(report, "part");
	char *begun = report_name_beside(report, "begun");
	struct report_text made = {.text = NULL};
	int result = whole && begun ? report_compose(report, false, &made)
	                            : ps__fail_memory("a report's name");

	if (result == PS_OK)
		result = report_flush_to(&made, whole, begun);
	free(made.text);
	ps__os_free(whole);
	ps__os_free(begun);
	return result;
}

static void report_drop_flushed(const struct collect_report *report)
{
	char *whole =
	    collect_report_has_file(report->settings) ? report_name_beside(report, "part") : NULL;

	if (whole)
		unlink(whole);
	ps__os_free(whole);
}

static bool report_is_filled(const struct stat *what)
{
	return S_ISREG(what->st_mode) && what->st_size > 0;
}

static bool report_is_filled_fd(int fd)
{
	struct stat what;

	return fstat(fd, &what) == 0 && report_is_filled(&what);
}

/* An output file that is read through its own descriptor. Closing another descriptor of the file
 * would end the lock. */
struct report_past {
	int fd;
	off_t offset;
};

static ssize_t report_read_past(void *cookie, char *bytes, size_t size)
{
	struct report_past *past = cookie;
	ssize_t got = pread(past->fd, bytes, size, past->offset);

	past->offset += got > 0 ? got : 0;
	return got;
}

/* Returns the length of the report's heading if the file's last heading is the same, so that it
 * isn't written again. Returns 0 otherwise, and if the file can't be read. */
static size_t report_find_heading(int fd, const struct report_text *report)
{
	struct report_past past = {.fd = fd};
	FILE *stream =
	    report_is_filled_fd(fd)
		? fopencookie(&past, "r", (cookie_io_functions_t){.read = report_read_past})
		: NULL;
	char *heading = stream ? ps__csv_read_heading(stream) : NULL;
	size_t length = heading ? strlen(heading) : 0;

	if (stream)
		fclose(stream);
	if (length > report->length || memcmp(report->text, heading ? heading : "", length) != 0)
		length = 0;
	free(heading);
	return length;
}

/* Opens the output. A pipe is opened only for writing, because this process must not become a
 * reader of it. */
static int report_open(const struct collect_report *report, const char *name)
{
	int flags = O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC;
	int fd = -1;

	if (report->settings->format == PS_FORMAT_CSV && collect_report_has_file(report->settings))
		fd = open(name, O_RDWR | flags, NEW_MODE);
	return fd >= 0 ? fd : open(name, O_WRONLY | flags, NEW_MODE);
}

/* Writes the report to an output that other processes may share. Only the first of them writes the
 * heading of a file. Opens a pipe only once, because its reader sees the end when the first writer
 * closes it. */
static int report_write_shared(const struct collect_report *report, const char *name)
{
	struct report_text made;
	int result = report_compose(report, false, &made);

	if (result != PS_OK)
		return result;
	int fd = report_open(report, name);
	int error = fd < 0 ? errno : 0;
	if (fd >= 0) {
		ps__destination_lock(fd, F_WRLCK);
		size_t skipped =
		    report->settings->format == PS_FORMAT_CSV ? report_find_heading(fd, &made) : 0;
		error = collect_files_put(fd, made.text + skipped, made.length - skipped);
		ps__destination_lock(fd, F_UNLCK);
		close(fd);
	}
	free(made.text);
	return error ? report_fail(name, error) : PS_OK;
}

static int report_write_given(const struct collect_report *report, const char *name)
{
	struct report_text made;
	int result = report_compose(report, !name && report_is_filled_fd(STDERR_FILENO), &made);

	if (result != PS_OK)
		return result;
	int error = name ? collect_files_write(COLLECT_REPORTS, name, made.text, made.length)
	                 : collect_files_put(STDERR_FILENO, made.text, made.length);
	free(made.text);
	return error ? report_fail(name ? name : "stderr", error) : PS_OK;
}

int collect_report_write(const struct collect_report *report)
{
	const char *name = report->settings->output;
	int result = name && !report->settings->journal ? report_write_shared(report, name)
	                                                : report_write_given(report, name);

	if (result == PS_OK && name)
		report_drop_flushed(report);
	return result;
}
