/* SPDX-License-Identifier: BSD-3-Clause */
/* See process.h. */
#define PERFSAGE_NO_MARKS
#include "collect/process.h"

#include "base/error.h"
#include "base/os.h"
#include "collect/files.h"
#include "collect/hush.h"
#include "collect/report.h"
#include "collect/threads.h"
#include "region/profile.h"

#include <math.h>
#include <perfsage/sampling.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Writes a line to perfsage's journal: which process has marks, or which one left a report. */
__attribute__((format(printf, 2, 3))) static void process_note(const char *journal,
                                                               const char *format, ...)
{
	char line[128];
	va_list arguments;

	if (!journal)
		return;
	va_start(arguments, format);
	int length = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (collect_files_write(COLLECT_JOURNAL, journal, line, (size_t)length) != 0)
		collect_files_mark(COLLECT_JOURNAL, journal);
}

static void process_keep_files(const struct collect_settings *settings)
{
	collect_files_reserve();
	if (settings->journal)
		collect_files_keep(COLLECT_JOURNAL, settings->journal);
	if (settings->journal && settings->output)
		collect_files_keep(COLLECT_REPORTS, settings->output);
}

struct collect_earlier {
	struct ps_profile *profile;
	struct ps_topology *topology; /* NULL: the profile is released */
	struct collect_earlier *next;
};

void collect_process_retire(struct collect_process *process)
{
	struct collect_past past = process->past;
	struct collect_earlier *earlier =
	    process->profile ? ps__os_calloc(1, sizeof *earlier) : NULL;

	if (earlier) {
		*earlier =
		    (struct collect_earlier){process->profile, process->topology, past.earlier};
		past.earlier = earlier;
	}
	collect_settings_clear(&process->settings);
	*process = (struct collect_process){.past = past};
}

/* Frees what the starts have counted that count no thread any more. */
static void process_release_earlier(struct collect_earlier *earlier)
{
	for (; earlier; earlier = earlier->next) {
		if (!earlier->topology || !ps__profile_release(earlier->profile))
			continue;
		ps_topology_destroy(earlier->topology);
		earlier->topology = NULL;
	}
}

static int process_make_profile(struct collect_process *process)
{
	struct collect_earlier *earlier = process->past.earlier;
	int result = ps_topology_load(&process->topology, NULL);

	if (result == PS_OK)
		result = ps__profile_create_after(&process->profile, process->settings.model,
		                                  ps_topology_root(process->topology),
		                                  earlier ? earlier->profile : NULL);
	process_release_earlier(earlier);
	if (result == PS_OK && process->settings.budget > 0)
		result = ps_profile_set_budget(process->profile, process->settings.budget);
	if (result == PS_OK && process->settings.group)
		result = ps_profile_set_group(process->profile, process->settings.group);
	if (result == PS_OK)
		result = ps_profile_join(process->profile);
	return result;
}

/* Complains of unknown variables, once in a process. Not called under perfsage, which sets the
 * variables itself. */
static void process_complain_unknown(void)
{
	struct ps__buffer lines = {0};
	struct collect_hush hush;

	collect_settings_add_unknown(&lines);
	if (lines.length) {
		collect_hush_begin(&hush);
		dprintf(STDERR_FILENO, "%s", ps__buffer_text(&lines));
		collect_hush_end(&hush);
	}
	ps__buffer_clear(&lines);
}

static int process_begin_settings(struct collect_settings *settings, bool is_child)
{
	int result = is_child ? collect_settings_renew(settings) : collect_settings_read(settings);

	if (!is_child && !collect_settings_journal())
		process_complain_unknown();
	if (result == PS_OK)
		process_keep_files(settings);
	process_note(is_child ? settings->journal : collect_settings_journal(), "marks %d\n",
	             (int)getpid());
	return result;
}

/* The thread's clock measures the CPU time of beginning, because other threads of the program may
 * run meanwhile. */
int collect_process_begin(struct collect_process *out)
{
	struct collect_process process = {
	    .settings = out->settings, .past = out->past, .started_ns = ps__os_now_ns()};
	uint64_t cpu_ns = ps__os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	bool is_child = process.settings.model;
	int result = process_begin_settings(&process.settings, is_child);

	if (result == PS_OK)
		result = process_make_profile(&process);
	if (result == PS_OK) {
		process.begin_cpu_ns = ps__os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		if (process.past.ends)
			process.begin_cpu_ns += process.past.ended_cpu_ns;
		else if (ps_preload_earlier_cpu_ns)
			process.begin_cpu_ns += ps_preload_earlier_cpu_ns();
		*out = process;
		return PS_OK;
	}
	ps_profile_destroy(process.profile);
	ps_topology_destroy(process.topology);
	collect_files_give_up();
	if (is_child)
		out->settings = process.settings; /* for the child's own children */
	else
		collect_settings_clear(&process.settings);
	return result;
}

#define TRIED_VISITS 256

/* Makes some visits of a region that is made after the report, and returns the nanoseconds of the
 * shortest; NaN if a visit fails. */
static double process_time_visit(const struct collect_process *process)
{
	struct ps_region *region;
	double least = (double)NAN;

	/* A visit that can't be counted would add a fault to the profile, and the report would show
	 * it. */
	if (ps_profile_join(process->profile) != PS_OK ||
	    ps_region_define(&region, process->profile, "perfsage") != PS_OK)
		return least;
	for (int visit = 0; visit < TRIED_VISITS; visit++) {
		/* Every visit is counted, even if a budget makes the profile sample. */
		if (ps_region_set_one_in(region, 1) != PS_OK)
			return (double)NAN;
		uint64_t begun = ps__os_now_ns();
		if (ps_region_enter(region) != PS_OK || ps_region_leave(region) != PS_OK)
			return (double)NAN;
		double taken = (double)(ps__os_now_ns() - begun);
		if (visit == 0 || taken < least)
			least = taken;
	}
	return least;
}

/* Measures a visit. Then leaves the profile, to close the descriptors of the thread's counters,
 * because the report needs descriptors. */
static double process_try_visits(const struct collect_process *process)
{
	double taken_ns = process_time_visit(process);

	ps_profile_leave(process->profile);
	return taken_ns;
}

/* A report and the objects that it points at. */
struct process_report {
	struct ps_paths *paths;
	struct collect_source source;
	struct collect_metrics metrics;
	struct collect_report report;
};

static void process_clear_report(struct process_report *made)
{
	ps_paths_destroy(made->paths);
	collect_source_clear(&made->source);
	collect_metrics_clear(&made->metrics);
}

/* Returns the CPU time in which no thread counted; NaN: not known. A thread counts from its first
 * mark to its last one, the calling thread until the end. */
static double process_unmarked_s(const struct collect_report *report)
{
	if (report->on_cpu_ns == UINT64_MAX || report->is_flushed)
		return (double)NAN;
	return fmax(report->cpu_s - (double)report->on_cpu_ns / 1e9, 0);
}

/* Returns the number of threads that passed a mark since the first start. */
static uint64_t process_marked_threads(const struct collect_process *process)
{
	const struct collect_past *past = &process->past;

	return past->ends ? past->marked_threads + ps__profile_new_threads(process->profile)
	                  : ps__profile_threads(process->profile);
}

static void process_add_threads(const struct collect_process *process,
                                struct collect_report *report)
{
	/* Read first: the number of all threads includes each thread before it can pass a mark. */
	double marked = (double)process_marked_threads(process);
	unsigned own_threads = process->past.own_threads + process->own_threads;

	if (!ps_preload_threads)
		return;
	report->threads = (double)(1 + ps_preload_threads()) - own_threads;
	report->unmarked_threads = fmax(report->threads - marked, 0);
}

/* Makes a report. Counts of other threads are included up to the last time that they entered or
 * left a region. */
static int process_make_report(const struct collect_process *process, bool is_flushed,
                               struct process_report *out)
{
	struct ps_component *root = ps_topology_root(process->topology);
	uint64_t cpu_ns = ps__os_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process->begin_cpu_ns;

	*out = (struct process_report){.paths = NULL};
	int result = ps_paths_create(&out->paths, process->profile);
	if (result == PS_OK)
		result = collect_source_find(&out->source, process->settings.rank);
	if (result == PS_OK)
		result = collect_metrics_find(&out->metrics, root);
	if (result != PS_OK) {
		process_clear_report(out);
		return result;
	}
	out->report = (struct collect_report){
	    .settings = &process->settings,
	    .source = &out->source,
	    .metrics = &out->metrics,
	    .paths = out->paths,
	    .root = root,
	    .is_flushed = is_flushed,
	    .began_ns = process->started_ns,
	    .cost_ns = (double)NAN,
	    .threads = (double)NAN,
	    .unmarked_threads = (double)NAN,
	    .reported = process->past.reported,
	    .cpu_s = (double)cpu_ns / 1e9,
	    .elapsed_s = (double)(ps__os_now_ns() - process->started_ns) / 1e9};
	collect_report_sum(&out->report);
	out->report.unmarked_s = process_unmarked_s(&out->report);
	process_add_threads(process, &out->report);
	return PS_OK;
}

static void process_note_report(const char *what, const struct collect_report *report)
{
	process_note(report->settings->journal, "%s %d.%llu %llu %llu %llu\n", what, (int)getpid(),
	             (unsigned long long)report->began_ns, (unsigned long long)report->visits,
	             (unsigned long long)report->on_cpu_ns,
	             (unsigned long long)report->reported.reports);
}

static int process_report(const struct collect_process *process, bool measures,
                          struct collect_reported *reported)
{
	struct process_report made;

	/* Ends the regions that are open in the calling thread. If the thread's counters are gone,
	 * the profile keeps the earlier counts and has noted a fault. */
	ps_profile_leave(process->profile);
	collect_files_give_up();
	int result = process_make_report(process, false, &made);
	if (result != PS_OK)
		return result;
	if (measures) {
		made.report.cost_visits = made.report.counted;
		made.report.cost_ns = process_try_visits(process) * (double)made.report.counted;
	}
	result = collect_report_write(&made.report);
	if (result == PS_OK) {
		process_note_report("heard", &made.report);
		*reported =
		    (struct collect_reported){.reports = reported->reports + 1,
		                              .threads = made.report.threads,
		                              .unmarked_threads = made.report.unmarked_threads};
	}
	process_clear_report(&made);
	return result;
}

int collect_process_report(struct collect_process *process, bool measures)
{
	struct collect_past past = process->past;
	int result = process_report(process, measures, &past.reported);

	past.marked_threads = process_marked_threads(process);
	past.own_threads += process->own_threads;
	past.ended_cpu_ns = ps__os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	past.ends++;
	process->past = past;
	process->own_threads = 0;
	return result;
}

void collect_process_flush(const struct collect_process *process)
{
	struct process_report made;

	if (!collect_report_has_file(&process->settings))
		return;
	collect_files_give_up();
	if (process_make_report(process, true, &made) == PS_OK) {
		if (collect_report_flush(&made.report) == PS_OK)
			process_note_report("flushed", &made.report);
		process_clear_report(&made);
	}
	collect_files_reserve();
}
