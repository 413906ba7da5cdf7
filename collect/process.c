/* SPDX-License-Identifier: BSD-3-Clause */
/* See process.h. */
#define PERFSAGE_NO_MARKS
#include "collect/process.h"

#include "base/error.h"
#include "base/os.h"
#include "collect/hush.h"
#include "collect/report.h"

#include <fcntl.h>
#include <math.h>
#include <perfsage/sampling.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A line for perfsage: which process has marks, and which one left a report. */
__attribute__((format(printf, 1, 2))) static void process_note(const char *format, ...)
{
	const char *name = collect_settings_journal();
	int fd = name ? open(name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
	struct collect_hush hush;
	va_list arguments;

	if (fd < 0)
		return;
	collect_hush_begin(&hush);
	va_start(arguments, format);
	vdprintf(fd, format, arguments);
	va_end(arguments);
	collect_hush_end(&hush);
	close(fd);
}

static int process_make_profile(struct collect_process *process)
{
	const char *group = collect_settings_group();
	int result = ps_topology_load(&process->topology, NULL);

	if (result == PS_OK)
		result = ps_profile_create(&process->profile, process->settings.model,
		                           ps_topology_root(process->topology));
	if (result == PS_OK && process->settings.budget > 0)
		result = ps_profile_set_budget(process->profile, process->settings.budget);
	if (result == PS_OK && group)
		result = ps_profile_set_group(process->profile, group);
	if (result == PS_OK)
		result = ps_profile_join(process->profile);
	return result;
}

int collect_process_begin(struct collect_process *out)
{
	struct collect_process process = {.started_ns = ps__os_now_ns()};
	int result = collect_settings_read(&process.settings);

	process_note("marks %d\n", (int)getpid());
	if (result == PS_OK)
		result = process_make_profile(&process);
	if (result == PS_OK) {
		process.started_cpu_ns = ps__os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		*out = process;
		return PS_OK;
	}
	ps_profile_destroy(process.profile);
	ps_topology_destroy(process.topology);
	collect_settings_clear(&process.settings);
	return result;
}

#define TRIED_VISITS 256

/* Measures a visit here and now, of a region that is in no report any more. NaN if it can't be
 * tried. */
static double process_try_visits(const struct collect_process *process)
{
	struct ps_region *region;
	double least = (double)NAN;

	if (ps_region_define(&region, process->profile, "perfsage") != PS_OK)
		return least;
	for (int visit = 0; visit < TRIED_VISITS; visit++) {
		/* Not sampled, whatever the budget. */
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

/* What other threads counted is there up to their last boundary. */
static int process_make_report(const struct collect_process *process, struct collect_report *report,
                               struct ps_paths **paths)
{
	int result = ps_paths_create(paths, process->profile);

	if (result != PS_OK)
		return result;
	*report = (struct collect_report){
	    .settings = &process->settings,
	    .paths = *paths,
	    .root = ps_topology_root(process->topology),
	    .visit_ns = (double)NAN,
	    .cpu_ns = ps__os_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - process->started_cpu_ns,
	    .elapsed_s = (double)(ps__os_now_ns() - process->started_ns) / 1e9};
	collect_report_sum(report);
	return PS_OK;
}

static void process_note_report(const char *what, const struct collect_report *report)
{
	process_note("%s %d %llu %llu\n", what, (int)getpid(), (unsigned long long)report->visits,
	             (unsigned long long)report->on_cpu_ns);
}

int collect_process_report(const struct collect_process *process, bool measures)
{
	struct collect_report report;
	struct ps_paths *paths;

	/* Regions that are open in the calling thread end here. If its counters are gone, what was
	 * counted before is there, and it is a fault of the profile's. */
	ps_profile_leave(process->profile);
	int result = process_make_report(process, &report, &paths);
	if (result != PS_OK)
		return result;
	if (measures)
		report.visit_ns = process_try_visits(process);
	result = collect_report_write(&report);
	if (result == PS_OK)
		process_note_report("heard", &report);
	ps_paths_destroy(paths);
	return result;
}

void collect_process_flush(const struct collect_process *process)
{
	struct collect_report report;
	struct ps_paths *paths;

	if (process_make_report(process, &report, &paths) != PS_OK)
		return;
	report.is_flushed = true;
	if (collect_report_flush(&report) == PS_OK)
		process_note_report("flushed", &report);
	ps_paths_destroy(paths);
}
