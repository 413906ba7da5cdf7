/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the counts of perfsage stat can be trusted, and the lines above and below them. */
#ifndef PS_TOOLS_STAT_FOOTER_H
#define PS_TOOLS_STAT_FOOTER_H

#include "output/buffer.h"
#include "output/table.h"
#include "tools/stat_count.h"
#include "tools/stat_output.h"

#include <perfsage.h>
#include <stdbool.h>
#include <sys/time.h>

/* How far the counts of one run, or of several together, can be trusted: the weakest value of each
 * fact. */
struct stat_quality {
	const struct ps_eventset *model;
	enum ps_attribution attribution;
	char *why; /* why the attribution is no better; "" if no reason is known */
	double coverage;
	double delay_s; /* see struct stat_count */
	size_t event_count;
	long long *residual; /* of each event, over all runs */
	struct stat_uncounted uncounted;
	struct stat_how how;
	struct ps_value *sums; /* the Machine's sum of each event; NULL: unknown */
	char *origin;          /* where the tree comes from, if it isn't this machine's; else
	                        * NULL */
	char *unknown;         /* why the residual is unknown; NULL if it is known */
	bool has_missed;       /* a value is a lower bound, or its counter didn't run all the time
	                        */
	bool is_running;       /* an interval that isn't the last: the residual, and the number of
	                        * tasks that still run at the end, aren't known yet */
	bool is_of_regions;    /* --regions: describes only the CPU time of the run; each report
	                        * describes the quality of its counts */
};

/* Returns -1 after a complaint. */
int stat_quality_create(struct stat_quality *quality, const struct ps_eventset *model);
void stat_quality_destroy(struct stat_quality *quality);

/* Add an interval's coverage, and the rest of the quality when a run has ended. */
void stat_quality_add_interval(struct stat_quality *quality, const struct stat_count *count);
void stat_quality_add_run(struct stat_quality *quality, struct stat_count *count);

/* Returns the sum over all events. */
long long stat_quality_residual(const struct stat_quality *quality);

/* Adds "make -j2", quoted as a shell needs it; without a command "processes 1, 2" or "all CPUs". */
void stat_describe_target(const struct stat_options *options, struct ps__buffer *out);

static inline double stat_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

#define STAT_FOOTER_INDENT 12 /* columns for the name of a footer's line */

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts,
                      struct ps__buffer *out);
/* Adds a heading, wrapped, and a blank line after it. Clears line. */
void stat_add_heading(struct ps__buffer *line, const struct stat_output *output,
                      struct ps__buffer *out);
void stat_footer(const struct stat_quality *quality, const struct stat_facts *facts,
                 const struct stat_target *target, struct ps__buffer *lines);

/* Adds the lines of the footer that describe one or several runs. */
void stat_footer_quality(const struct stat_quality *quality, struct ps__buffer *out);

/* Adds the name at the beginning of a line. */
static inline void stat_footer_line(const char *name, struct ps__buffer *out)
{
	ps__buffer_add(out, "%-*s", STAT_FOOTER_INDENT, name);
}

/* Adds lines of the footer, wrapped to the screen's width, and empties them. */
void stat_footer_fold(struct ps__buffer *lines, const struct stat_output *output,
                      struct ps__buffer *out);

/* Adds "with status 130 (signal 2: Interrupt)". */
void stat_footer_status(int status, struct ps__buffer *out);

/* Returns the CPU time of perfsage itself. */
double stat_footer_cost_s(void);

/* stat_rates.c: rates per second. */

/* These functions take the Machine's sums from a run, or from a table of several intervals or
 * runs. */
void stat_rates_take_run(struct stat_quality *quality, const struct stat_count *count);
void stat_rates_take_table(struct stat_quality *quality, const struct ps__table *table);

/* Adds lines with the number of CPUs in use and the rates of events, if the CPU time is known.
 * elapsed_s: elapsed time of all runs. */
void stat_rates_show(const struct stat_quality *quality, double elapsed_s, struct ps__buffer *out);
/* True if these lines show the metric when its events and the CPU time are known. */
bool stat_rates_tell(const char *metric);
/* Returns CPU time divided by elapsed time; NaN if the CPU time is unknown. */
double stat_rates_cpus(const struct stat_quality *quality, double elapsed_s);

#endif
