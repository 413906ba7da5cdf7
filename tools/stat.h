/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `perfsage stat`, in the order in which they are used: options, events, counting,
 * trust in the counts, and output of one run, of several, and of tasks. stat.c calls them.
 */
#ifndef PS_TOOLS_STAT_H
#define PS_TOOLS_STAT_H

#include "output/buffer.h"
#include "output/table.h"
#include "tools/cgroup.h"
#include "tools/file.h"
#include "tools/options.h"
#include "tools/stat_method.h"
#include "tools/stat_metrics.h"
#include "tools/stat_regions.h"
#include "tools/stat_uncounted.h"
#include "tools/terminal.h"

#include <perfsage.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* stat_options.c */

/* The layout of the counts. */
enum stat_layout {
	STAT_LAYOUT_AUTO, /* the tree on a terminal, else a list of Threads */
	STAT_LAYOUT_TREE,
	STAT_LAYOUT_BY /* the components of one type */
};

/* The types that --by names. */
struct stat_by {
	unsigned types;  /* a PS_TYPE_BIT */
	int cache_level; /* as in struct ps_print_options */
};

/* The target of the counts, and how they are split. */
struct stat_target {
	pid_t *pids;
	size_t pid_count, pid_room;
	size_t absent_count; /* number of pids after these in the array that don't exist */
	bool has_children;   /* also count children that already run */
	bool is_whole_machine;
	const char *cpus;   /* for whole machine: only these CPUs, as "0-3,8"; NULL: all */
	const char *cgroup; /* the path of a control group; NULL: none */
	enum stat_method method;
	bool is_exact; /* the user demands an exact split */
};

/* When counting begins and ends. */
struct stat_limits {
	long long delay_ms;       /* 0: none */
	long long timeout_ms;     /* 0: none */
	long long interval_count; /* 0: none */
};

struct stat_options {
	struct tool_names events; /* target and events are freed by stat_options_clear */
	/* Names of metrics and groups; stat_metrics_resolve leaves names of metrics only. None:
	 * show all
	 */
	struct tool_names metrics;
	struct stat_target target;
	struct stat_limits limits;
	enum stat_layout layout;
	struct stat_by by;
	enum ps_format format; /* TEXT, JSON or CSV */
	bool appends;          /* append to the output */
	char *output;          /* a file, "-" for stdout, NULL for stderr; freed */
	char *heat;            /* the file of the heat map, freed; NULL: none */
	const char *heat_by;   /* NULL: the first event */
	long long interval_ms; /* 0: none */
	long long repetitions; /* 1 or more */
	bool shows_processes;  /* show the sum of each process */
	bool shows_regions;    /* show regions by the program's own marks, not the counts of
	                        * everything */
	struct {
		const char *budget; /* percent; NULL: none */
		const char *one_in; /* NULL: each visit is counted */
		const char **named; /* regions whose trees are shown; NULL: the table of all */
		size_t named_count, named_room;
	} of_regions;
	bool shows_tasks; /* show the matrix of software threads and hardware threads */
	struct {
		bool hides_idle; /* JSON and CSV leave out components without counts */
		unsigned flags;  /* for text: PS_PRINT_IDLE, PS_PRINT_EACH */
		bool is_raw;
		bool hides_metrics; /* no derived values */
	} look;
	char **command; /* NULL-terminated; NULL: none */
};

/* Returns 0; or 1, after a complaint or --help, with the exit status in *status. */
int stat_options_parse(struct stat_options *options, int argc, char **argv, int *status);
void stat_options_clear(struct stat_options *options);

/* stat_conflicts.c: returns what is wrong with the combination of options; NULL if nothing is. */
const char *stat_options_find_conflict(const struct stat_options *options);

/* True if the output needs the counts of each task. */
bool stat_options_tell_tasks(const struct stat_options *options);

/* True if the command is counted. If not, the command only determines how long to count. */
bool stat_options_counts_command(const struct stat_options *options);
/* Returns why these times (bits of stat_times.h) can't be known with the options; NULL: they
 * can. */
const char *stat_options_refuse_times(const struct stat_options *options, unsigned times);

/* stat_count.c: the model with the events, which every set clones; the event sets of one run, and
 * the topology for their readings. */

/* Returns the model, for ps_eventset_destroy. NULL after complaints about all events that are
 * wrong, not only the first. */
struct ps_eventset *stat_events_create(const struct stat_options *options);

struct stat_count {
	struct ps_topology *topology;
	struct ps_component *root;
	const struct ps_eventset *model;
	struct ps_eventset **sets;
	size_t set_count;
	bool tells_tasks;
	bool has_intervals; /* each reading has the counts since the previous one */
	bool has_complained;
	bool has_doubt; /* something was attributed by an estimate, or to the CPU seen at a
	                 * reading */
	double delay_s; /* time from the command's start to the beginning of counting; 0: none */
	struct stat_uncounted uncounted;
	struct stat_how how;
	struct tool_cgroup cgroup;      /* the group made for the command */
	struct tool_cgroup_named named; /* the group of --cgroup */
	struct ps_eventset *times;      /* the set of stat_times_store; NULL: none */
	char *online; /* CPUs that were online at the start, if only they are counted; NULL: all */
};

/* Loads the topology. model must outlive count. Like the functions below, returns -1 after a
 * complaint. */
int stat_count_create(struct stat_count *count, const struct ps_eventset *model,
                      const struct stat_options *options);
void stat_count_destroy(struct stat_count *count);

/* Begins to count at 0 again: earlier counts are dropped. */
int stat_count_restart(struct stat_count *count);

/* Stores what was counted since the last call, as a new reading. */
void stat_count_take(struct stat_count *count);

/* Ends counting and stores the rest. usage: the ended command's; NULL if there is none. */
void stat_count_stop(struct stat_count *count, const struct rusage *usage);

/* stat_trust.c: stat_trust_note is called after each reading. */
void stat_trust_note(struct stat_count *count);
/* Returns the weakest attribution of all sets; *why gets the reason why it is no better. */
enum ps_attribution stat_count_attribution(const struct stat_count *count, const char **why);

/* Writes the residual of each of the model's events, over all sets, into an array. Returns -1 if it
 * is unknown. */
int stat_count_check(struct stat_count *count, long long *residual);

/* Returns the smallest coverage of an event; 1.0 if none was multiplexed. */
double stat_count_coverage(const struct stat_count *count);
bool stat_count_has_missed(const struct stat_count *count);

/* stat_start.c: opens the event sets. */

/*
 * Open the events and start them: for a child that waits for its exec (its counters start at the
 * exec), for running processes, for CPUs that are online, or for a control group.
 */
int stat_start_command(struct stat_count *count, pid_t pid, const struct stat_target *target);
int stat_start_processes(struct stat_count *count, const struct stat_target *target);
int stat_start_cpus(struct stat_count *count, const char *cpus); /* NULL: all */
int stat_start_cgroup(struct stat_count *count, const char *path);

/* stat_footer.c: the lines above and below the counts. */

/* How far the counts of one run, or of several together, can be trusted: the weakest value of each
 * fact. */
struct stat_quality {
	const struct ps_eventset *model;
	enum ps_attribution attribution;
	char *why; /* why the attribution is no better; "" if there is no reason */
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
	bool has_missed;       /* a value is a lower bound, or its counter was off for a while */
	bool is_of_regions;    /* --regions: describes only the run's CPU time, as each report
	                        * describes its own quality */
};

/* Returns -1 after a complaint. */
int stat_quality_create(struct stat_quality *quality, const struct ps_eventset *model);
void stat_quality_destroy(struct stat_quality *quality);

/* Add an interval's coverage, and the rest of the quality when a run has ended. */
void stat_quality_add_interval(struct stat_quality *quality, const struct stat_count *count);
void stat_quality_add_run(struct stat_quality *quality, struct stat_count *count);

/* Returns the sum over all events. */
long long stat_quality_residual(const struct stat_quality *quality);

/* stat_output.c: where it is shown, and of which components. */

struct stat_output {
	struct tool_file file;
	FILE *stream; /* the file's stream */
	const struct stat_options *options;
	struct tool_screen screen;
	/* Only perfsage writes to the terminal, so a block may be drawn over the previous one */
	bool may_redraw;
	bool has_csv_header;          /* it was written */
	bool is_broken;               /* a write failed, which is reported at the end */
	bool has_begun;               /* something was counted */
	struct stat_regions *regions; /* whose reports are shown; NULL: none */
	size_t drawn_lines;           /* number of lines of the block that the next one replaces */
	struct ps__buffer left_out;   /* columns that were reported as left out */
};

/* Facts about a run or an interval. */
struct stat_facts {
	double elapsed_s;     /* since the exec, or the start */
	double interval_s;    /* length of the interval; 0: the whole run */
	long long repetition; /* from 1; 0: there is only one */
	bool has_ended;       /* the run has ended; the fields below are valid only then */
	bool has_command;     /* a command was counted: exit_status and usage are its own */
	int exit_status;
	pid_t pid;           /* the counted command; 0: none */
	int signal;          /* the signal that perfsage got during the run; 0: none */
	size_t gone;         /* number of processes of -p that ended before counting did */
	struct rusage usage; /* of the command and the children that it waited for */
};

/* Opens the file of -o, and keeps its old content. Returns -1 after a complaint. */
int stat_output_open(struct stat_output *output, const struct stat_options *options,
                     struct tool_watcher *watcher);
/* Called when counting begins: the old content will be replaced. */
void stat_output_begin(struct stat_output *output);
/* Replaces the file's old content by the new one. Returns -1 after a complaint if something could
 * not be written. A second call does nothing. */
int stat_output_close(struct stat_output *output);

/* Returns the types of components that are shown, as PS_TYPE_BITs; 0: all. */
unsigned stat_output_types(const struct stat_output *output);

/* Returns the options for text output, without metrics. */
struct ps_print_options stat_print_options(const struct stat_output *output);

/* stat_show.c: the counts of one run or interval. */

/* Adds the reports of --regions, and lines of the footer about how much they cover. cpu_s: see
 * stat_regions_describe. Returns -1 after a complaint. */
int stat_show_reports(const struct stat_output *output, double cpu_s, struct ps__buffer *out,
                      struct ps__buffer *lines);
/* Writes the reports as JSON or CSV; complains on stderr about missing ones. */
int stat_show_regions_data(const struct stat_output *output, double cpu_s);

/* Shows a whole run, or the counts of an interval. */
int stat_show(struct stat_output *output, struct stat_count *count, const struct stat_facts *facts);

/* stat_footer.c, too. */

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

/* Take the Machine's sums from a run, or from a table of several intervals or runs. */
void stat_rates_take_run(struct stat_quality *quality, const struct stat_count *count);
void stat_rates_take_table(struct stat_quality *quality, const struct ps__table *table);

/* Adds lines with the CPUs in use and the rates of events, if the CPU time is known. elapsed_s: of
 * all runs. */
void stat_rates_show(const struct stat_quality *quality, double elapsed_s, struct ps__buffer *out);
/* True if these lines show the metric whenever its events and the CPU time are known. */
bool stat_rates_tell(const char *metric);
/* Returns CPU time divided by elapsed time; NaN if the CPU time is unknown. */
double stat_rates_cpus(const struct stat_quality *quality, double elapsed_s);

/* stat_export.c: output for programs. perfsage-stat(1) describes its members. */

/* Facts about a run as fields of JSON ("run") and columns of CSV. */
struct stat_fields {
	struct ps_export_field *fields;
	size_t count, room;
	struct ps_export_field *task_columns; /* process, task, cpu; NULL: not needed */
	bool has_failed;                      /* memory ran out: some fields are missing */
	struct ps__buffer target;             /* fields point at it */
	struct stat_quality quality;
	bool has_quality;
};

/* Returns -1 after a complaint; there is then nothing to clear. */
int stat_fields_create(struct stat_fields *fields, const struct stat_output *output,
                       struct stat_count *count, const struct stat_facts *facts);
void stat_fields_clear(struct stat_fields *fields);

/* stat_aggregate.c: sums over the intervals of a run, or means and deviations over several runs. */

struct stat_aggregate {
	/* The topology of the first run, taken when this run is over: the rows are its
	 * components */
	struct ps_topology *topology;
	struct ps__table table; /* sums; has values only after stat_aggregate_finish */
	/* For each row and event: samples of all runs; a run without counts there has a 0 */
	struct ps__spread *spreads;
	/* For each row and event: a run's value there is unknown */
	bool *has_unknown;
	struct ps__spread elapsed;
	struct stat_metrics metrics;
	struct stat_quality quality;
	const struct stat_options *options; /* which metrics are shown: see stat_metrics_find */
	bool is_for_people;                 /* the same */
};

/* Runs that are added later must be of the same machine. Returns -1 after a complaint. */
int stat_aggregate_create(struct stat_aggregate *aggregate, const struct stat_output *output,
                          const struct stat_count *count);
void stat_aggregate_destroy(struct stat_aggregate *aggregate);

/* Adds the latest reading of each component: of an interval, or, if has_ended, of the end of a run.
 * Returns -1 after a complaint. */
int stat_aggregate_add(struct stat_aggregate *aggregate, struct stat_count *count, bool has_ended);

/* Called when a run is over: takes ownership of its topology if the rows are its components. */
void stat_aggregate_keep(struct stat_aggregate *aggregate, struct stat_count *count);

/* Returns the sum of a row and event so far. */
struct ps_value stat_aggregate_total(const struct stat_aggregate *aggregate, size_t row,
                                     size_t event);

/* Computes the values when everything has been added. is_mean: means are shown, not sums. */
void stat_aggregate_finish(struct stat_aggregate *aggregate, bool is_mean);
/* Returns the elapsed time of all runs together, in seconds. */
static inline double stat_aggregate_s(const struct stat_aggregate *aggregate)
{
	return aggregate->elapsed.mean * (double)aggregate->elapsed.samples;
}

/* Counts how the runs of a command ended; shown beside their means. */

#define STAT_MOST_KINDS 8

/* Runs that ended with the same status. */
struct stat_run_kind {
	int status;
	long long count;
	long long first; /* number of the first such run, from 1 */
};

struct stat_runs {
	struct stat_run_kind kinds[STAT_MOST_KINDS]; /* statuses other than 0 */
	size_t kind_count;
	long long others; /* number of runs with further statuses */
	long long failed;
	long long counted;
	long long interrupted; /* number of the run that is left out because of a signal; 0: none */
	int signal;            /* the signal that interrupted it */
};

/* Adds a run that has ended. Returns false if it must not be counted, because perfsage got a signal
 * in it. */
bool stat_runs_add(struct stat_runs *runs, const struct stat_facts *facts);

/* Adds a line for each status other than 0, and for the run that is left out. */
void stat_runs_show(const struct stat_runs *runs, struct ps__buffer *out);

/* Shows means, with the standard deviation of one run. Like the three functions below, returns -1
 * after a complaint. */
int stat_means_show(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                    const struct stat_output *output);
/* Shows the sum of all intervals. */
int stat_total_show(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                    const struct stat_output *output);

int stat_export_means(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                      const struct stat_output *output);
int stat_export_total(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                      const struct stat_output *output);

/* stat_tasks.c: the software threads of a command or of processes, by hardware thread. */

/* Checks that the started sets can tell their tasks apart. Returns -1 after a complaint. */
int stat_tasks_check(const struct stat_count *count);

/* Shows the matrix in the output's format, after counting has ended. aggregate: sums of all
 * intervals; NULL: there were none. Returns -1 after a complaint. */
int stat_tasks_show(struct stat_output *output, struct stat_count *count,
                    const struct stat_facts *facts, const struct stat_aggregate *aggregate);

#endif
