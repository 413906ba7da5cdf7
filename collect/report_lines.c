/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the lines below the table of a report: CPU time and threads that were not counted, and the
 * cost of a visit. */
#include "collect/report.h"
#include "output/buffer.h"
#include "output/number.h"
#include "output/wrap.h"
#include "region/paths.h"

#include <math.h>
#include <perfsage/error.h>
#include <perfsage/region.h>

#define NAME_COLUMNS 12 /* width of the column with the lines' names */

static void report_add_cost(struct ps__buffer *out, const struct collect_report *report)
{
	if (isnan(report->cost_ns) || report->cost_visits == 0)
		return;
	ps__buffer_add(out, "%-*sabout %.0f ns, ", NAME_COLUMNS, "visit cost",
	               report->cost_ns / (double)report->cost_visits);
	ps__number_add_time(out, report->cost_ns);
	ps__buffer_add(out, " for %llu visit%s: the program's own time\n",
	               (unsigned long long)report->cost_visits,
	               report->cost_visits == 1 ? "" : "s");
}

/* Less time is not shown, because the two clocks differ by the time of a context switch, and by the
 * work for the report. */
#define UNMARKED_S    0.01
#define UNMARKED_PART 0.1

static void report_add_unmarked_time(struct ps__buffer *out, const struct collect_report *report,
                                     const char *whose)
{
	ps__number_add_duration(out, report->unmarked_s);
	ps__buffer_add(out, " of the %s ", whose);
	ps__number_add_duration(out, report->cpu_s);
	ps__buffer_add(out, " CPU time: of threads without a mark, or before their first or after "
	                    "their last one");
}

static void report_add_unmarked_threads(struct ps__buffer *out, const struct collect_report *report,
                                        const char *whose)
{
	ps__buffer_add(out,
	               "%.0f of the %s %.0f threads passed no mark: the table, also its total, has "
	               "no count of %s",
	               report->unmarked_threads, whose, report->threads,
	               report->unmarked_threads > 1 ? "them" : "it");
}

/* True if counts were refused. They are in no visit either, and marks at other places would not
 * change that. */
static bool report_has_refused(const struct collect_report *report)
{
	struct ps_profile_faults faults = {.size = sizeof faults};

	return ps_profile_faults(report->paths->profile, &faults) == PS_OK && faults.uncounted > 0;
}

/* Adds a line about time and threads that were not counted. A region around a parallel construct
 * counts only the first thread, but looks as if it counted the whole team. So the line has a remedy
 * if threads worked without a mark, and if their number isn't known. Libraries such as MPI's have
 * more threads, which only wait. Threads without a mark are always shown; without them, a small
 * time may be only the difference of the clocks. */
static void report_add_unmarked(struct ps__buffer *out, const struct collect_report *report)
{
	size_t processes = report->source->processes;
	const char *whose = processes == 1 ? "process's" : "processes'";
	bool has_time =
	    report->unmarked_s >= UNMARKED_S * (double)processes + UNMARKED_PART * report->cpu_s;
	bool has_threads = report->unmarked_threads > 0;

	if (!has_time && !has_threads)
		return;
	ps__buffer_add(out, "%-*s", NAME_COLUMNS, "uncounted");
	if (has_time)
		report_add_unmarked_time(out, report, whose);
	ps__buffer_add(out, "%s", has_time && has_threads ? "; " : "");
	if (has_threads)
		report_add_unmarked_threads(out, report, whose);
	if (has_time && report->unmarked_threads != 0 && !report_has_refused(report))
		ps__buffer_add(out, ". A region around a parallel construct counts the calling "
		                    "thread alone: put it inside");
	ps__buffer_add(out, "\n");
}

void collect_report_add_lines(struct ps__buffer *out, const struct collect_report *report)
{
	struct ps__buffer lines = {0};

	report_add_unmarked(&lines, report);
	report_add_cost(&lines, report);
	ps__wrap_add_lines(out, &lines, NAME_COLUMNS, report->settings->width);
	ps__buffer_clear(&lines);
}
