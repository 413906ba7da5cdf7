/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of `perfsage stat`, in the order in which they are needed: options,
 * the events, what is counted, how far it can be trusted, and what is shown of
 * one run, of several, and of tasks. stat.c is the way through them.
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
	STAT_LAYOUT_AUTO, /* the tree on a terminal, else Threads */
	STAT_LAYOUT_TREE,
	STAT_LAYOUT_BY /* the components of one type */
};

/* The types that --by names. */
struct stat_by {
	unsigned types;  /* a PS_TYPE_BIT */
	int cache_level; /* as struct ps_print_options has it */
};

/* What is counted, if it isn't the command. */
struct stat_target {
	pid_t *pids;
	size_t pid_count, pid_room;
	size_t absent_count; /* behind these in the array: numbers that no process has */
	bool has_children;   /* those of the processes that run already are counted, too */
	bool is_whole_machine;
	const char *cpus;   /* of the whole machine these alone, as "0-3,8"; NULL: all */
	const char *cgroup; /* the path of a control group; NULL: none */
	enum stat_method method;
	bool is_exact; /* the split is demanded */
};

/* When counting begins and ends. */
struct stat_limits {
	long long delay_ms;       /* 0: none */
	long long timeout_ms;     /* 0: none */
	long long interval_count; /* 0: none */
};

struct stat_options {
	struct tool_names events; /* freed by stat_options_clear, as target is */
	/* Names of metrics and groups; then of the metrics that are shown, none: all that there are
	 */
	struct tool_names metrics;
	struct stat_target target;
	struct stat_limits limits;
	enum stat_layout layout;
	struct stat_by by;
	enum ps_format format; /* TEXT, JSON or CSV */
	bool appends;          /* to the output */
	char *output;          /* a file, "-" for stdout, NULL for stderr; freed, as heat is */
	char *heat;            /* the file of the heat map; NULL: none */
	const char *heat_by;   /* NULL: the first event */
	long long interval_ms; /* 0: none */
	long long repetitions; /* 1 or more */
	bool shows_processes;  /* the sums of each process's */
	bool shows_regions;    /* of the program's own marks, instead of the counts of all */
	struct {
		const char *budget; /* percent; NULL: none */
		const char *one_in; /* NULL: each visit is counted */
		const char **named; /* whose trees are shown; NULL: the table of all */
		size_t named_count, named_room;
	} of_regions;
	bool shows_tasks; /* the matrix of software threads and hardware threads */
	struct {
		bool hides_idle; /* in JSON and CSV, which have all components otherwise */
		unsigned flags;  /* that text is asked for: PS_PRINT_IDLE, PS_PRINT_EACH */
		bool is_raw;
		bool hides_metrics; /* derived values */
	} look;
	char **command; /* NULL-terminated; NULL: none */
};

/* Returns 0; or 1 with *status what to end with: after a complaint, or after
 * --help. */
int stat_options_parse(struct stat_options *options, int argc, char **argv, int *status);
void stat_options_clear(struct stat_options *options);

/* stat_conflicts.c: tells what is wrong with the options together; NULL if nothing is. */
const char *stat_options_find_conflict(const struct stat_options *options);

/* Must tasks be told apart for what is shown? */
bool stat_options_tell_tasks(const struct stat_options *options);

/* Is the command what is counted? Else it says how long to count. */
bool stat_options_counts_command(const struct stat_options *options);
/* Says why these of stat_times.h can't be known with the options; NULL: they can. */
const char *stat_options_refuse_times(const struct stat_options *options, unsigned times);

/* stat_count.c: the events in a model, of which every set is a clone; the event
 * sets of one run, and the topology that they store their readings in. */

/* The model, for ps_eventset_destroy; NULL after complaints: of all events that
 * are wrong, not just of the first. */
struct ps_eventset *stat_events_create(const struct stat_options *options);

struct stat_count {
	struct ps_topology *topology;
	struct ps_component *root;
	const struct ps_eventset *model;
	struct ps_eventset **sets;
	size_t set_count;
	bool tells_tasks;
	bool has_intervals; /* each reading holds what was counted since the one before */
	bool has_complained;
	bool has_doubt; /* something was attributed by an estimate, or to the CPU of a reading */
	double delay_s; /* after the command's start counting began; 0: with it */
	struct stat_uncounted uncounted;
	struct stat_how how;
	struct tool_cgroup cgroup;      /* made for the command */
	struct tool_cgroup_named named; /* of --cgroup */
	struct ps_eventset *times;      /* what stat_times_store stored; NULL: nothing */
	char *online; /* the CPUs that were, where no others are counted; NULL: all are */
};

/* Loads the topology. -1 after a complaint, as all here. model must outlive
 * it. */
int stat_count_create(struct stat_count *count, const struct ps_eventset *model,
                      const struct stat_options *options);
void stat_count_destroy(struct stat_count *count);

/* The counts begin at 0 again: what was counted until now is in none of
 * them. */
int stat_count_restart(struct stat_count *count);

/* Stores what was counted since the last time, as a reading of its own. */
void stat_count_take(struct stat_count *count);

/* Ends counting and stores the rest. usage: the ended command's; NULL without one. */
void stat_count_stop(struct stat_count *count, const struct rusage *usage);

/* stat_trust.c: to be called after each reading. */
void stat_trust_note(struct stat_count *count);
/* The weakest attribution of all sets, and why it is no better. */
enum ps_attribution stat_count_attribution(const struct stat_count *count, const char **why);

/* The residual of each of the model's events, over all sets, into an array of
 * theirs; -1 if it can't be told. */
int stat_count_check(struct stat_count *count, long long *residual);

/* The least part of the time that an event was on the hardware; 1.0 if none was
 * multiplexed. */
double stat_count_coverage(const struct stat_count *count);
bool stat_count_has_missed(const struct stat_count *count);

/* stat_start.c: what is counted is opened. */

/*
 * What is to be counted: a child that waits for its exec; running processes; or
 * CPUs that are online; or a control group. Opens the events and starts; a
 * command's counters wait for the exec.
 */
int stat_start_command(struct stat_count *count, pid_t pid, const struct stat_target *target);
int stat_start_processes(struct stat_count *count, const struct stat_target *target);
int stat_start_cpus(struct stat_count *count, const char *cpus); /* NULL: all */
int stat_start_cgroup(struct stat_count *count, const char *path);

/* stat_show.c: the output, and the counts of one run or interval. */

/* stat_footer.c: the lines above and below the counts. */

/* How far counts can be trusted, of one run or of several together: the weakest
 * of each. */
struct stat_quality {
	const struct ps_eventset *model;
	enum ps_attribution attribution;
	char *why; /* the attribution is no better; "" if there is no reason */
	double coverage;
	double delay_s; /* see struct stat_count */
	size_t event_count;
	long long *residual; /* of each event, over all runs */
	struct stat_uncounted uncounted;
	struct stat_how how;
	struct ps_value *sums; /* the Machine's, of each event; NULL: not known */
	char *origin;          /* of the tree, if it isn't this machine's; else NULL */
	char *unknown;         /* why the residual can't be told; NULL if it can */
	bool has_missed;       /* a value is a lower bound, or its counter was off for a while */
	bool is_of_regions;    /* of the whole run's CPU time: each report tells its own quality */
};

/* -1 after a complaint. */
int stat_quality_create(struct stat_quality *quality, const struct ps_eventset *model);
void stat_quality_destroy(struct stat_quality *quality);

/* Adds what an interval tells: its coverage. Adds the rest when a run has
 * ended. */
void stat_quality_add_interval(struct stat_quality *quality, const struct stat_count *count);
void stat_quality_add_run(struct stat_quality *quality, struct stat_count *count);

/* The sum of all events'. */
long long stat_quality_residual(const struct stat_quality *quality);

struct stat_output {
	struct tool_file file;
	FILE *stream; /* its own */
	const struct stat_options *options;
	struct tool_screen screen;
	/* Nothing else is written to the terminal: a block can take the place of the last one */
	bool may_redraw;
	bool has_csv_header;          /* it was written */
	bool is_broken;               /* something could not be written, which is said at the end */
	bool has_begun;               /* something was counted */
	struct stat_regions *regions; /* whose reports are shown; NULL: none */
	size_t drawn_lines;           /* of the block that the next one takes the place of */
	struct ps__buffer left_out;   /* what was said of columns without room */
};

/* Facts about a run, or about an interval of it. */
struct stat_facts {
	double elapsed_s;     /* since the exec, or the start */
	double interval_s;    /* of an interval; 0: the whole run */
	long long repetition; /* from 1; 0: there is only one */
	bool has_ended;       /* the run; what follows is then known */
	bool has_command;     /* exit_status and usage tell of a command that was counted */
	int exit_status;
	pid_t pid;           /* of the command that is counted; 0: none */
	int signal;          /* that perfsage got during the run; 0: none */
	size_t gone;         /* of the processes of -p, those that ended before counting did */
	struct rusage usage; /* of the command and of what it waited for */
};

/* Opens what -o names, and leaves what stands there. -1 after a complaint. */
int stat_output_open(struct stat_output *output, const struct stat_options *options,
                     struct tool_watcher *watcher);
/* Counting has begun: what stands in the file will make room. */
void stat_output_begin(struct stat_output *output);
/* What was counted takes its place. -1 after a complaint, if not all could be
 * written. A second call does nothing. */
int stat_output_close(struct stat_output *output);

/* The components that are shown: a bit for each type, 0 for all. */
unsigned stat_output_types(const struct stat_output *output);

/* The options of its text output, without metrics. */
struct ps_print_options stat_print_options(const struct stat_output *output);

/* Adds the reports of --regions, and lines of the footer that tell what was heard. cpu_s: see
 * stat_regions_describe. -1 after a complaint. */
int stat_show_reports(const struct stat_output *output, double cpu_s, struct ps__buffer *out,
                      struct ps__buffer *lines);
/* The same as JSON or CSV; says what wasn't heard on stderr. */
int stat_show_regions_data(const struct stat_output *output, double cpu_s);

/* A whole run, or what an interval has counted. */
int stat_show(struct stat_output *output, struct stat_count *count, const struct stat_facts *facts);

/* "make -j2", quoted where a shell needs it; of a target without a command
 * "processes 1, 2" or "all CPUs". */
void stat_describe_target(const struct stat_options *options, struct ps__buffer *out);

static inline double stat_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

#define STAT_FOOTER_INDENT 12 /* columns of a line's name */

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts,
                      struct ps__buffer *out);
/* A line above a table, folded, and a blank one below it. Uses the line up. */
void stat_add_heading(struct ps__buffer *line, const struct stat_output *output,
                      struct ps__buffer *out);
void stat_footer(const struct stat_quality *quality, const struct stat_facts *facts,
                 const struct stat_target *target, struct ps__buffer *lines);

/* The lines of it that tell of several runs as of one. */
void stat_footer_quality(const struct stat_quality *quality, struct ps__buffer *out);

/* Adds the beginning of a line: its name. */
static inline void stat_footer_line(const char *name, struct ps__buffer *out)
{
	ps__buffer_add(out, "%-*s", STAT_FOOTER_INDENT, name);
}

/* Adds lines of the footer, folded to the screen's width, and empties them. */
void stat_footer_fold(struct ps__buffer *lines, const struct stat_output *output,
                      struct ps__buffer *out);

/* "with status 130 (signal 2: Interrupt)". */
void stat_footer_status(int status, struct ps__buffer *out);

/* The processor time of perfsage itself. */
double stat_footer_cost_s(void);

/* stat_rates.c: what happened per second. */

/* Take the Machine's sums: of a run; of several intervals or runs together. */
void stat_rates_take_run(struct stat_quality *quality, const struct stat_count *count);
void stat_rates_take_table(struct stat_quality *quality, const struct ps__table *table);

/* The lines of the CPUs in use and of the events for which there is a rate, if the CPU time is
 * known. elapsed_s: of all runs. */
void stat_rates_show(const struct stat_quality *quality, double elapsed_s, struct ps__buffer *out);
/* Do these lines have the metric, where its events and the CPU time are known? */
bool stat_rates_tell(const char *metric);
/* The CPU time by the elapsed time; NaN if the CPU time isn't known. */
double stat_rates_cpus(const struct stat_quality *quality, double elapsed_s);

/* stat_export.c: what programs read. perfsage-stat(1) describes its members. */

/* Facts about a run as fields of JSON ("run") and columns of CSV. */
struct stat_fields {
	struct ps_export_field *fields;
	size_t count, room;
	struct ps_export_field *task_columns; /* process, task, cpu; NULL: there are none */
	bool has_failed;                      /* memory was used up: some are missing */
	struct ps__buffer target;             /* fields point at it */
	struct stat_quality quality;
	bool has_quality;
};

/* -1 after a complaint; then there is nothing to clear. */
int stat_fields_create(struct stat_fields *fields, const struct stat_output *output,
                       struct stat_count *count, const struct stat_facts *facts);
void stat_fields_clear(struct stat_fields *fields);

/* stat_aggregate.c: sums over the intervals of a run, or means and deviations
 * over several runs. */

struct stat_aggregate {
	/* That of the first run, once this run is over: the rows are its components */
	struct ps_topology *topology;
	struct ps__table table; /* sums: values only after stat_aggregate_finish */
	/* For each row all events; a run that had nothing there is a 0 */
	struct ps__spread *spreads;
	/* So: has one of the tables no number there which isn't 0? */
	bool *has_unknown;
	struct ps__spread elapsed;
	struct stat_metrics metrics;
	struct stat_quality quality;
	const struct stat_options *options; /* which metrics are shown: see stat_metrics_find */
	bool is_for_people;                 /* the same */
};

/* Others that are added must be of the same machine. -1 after a complaint. */
int stat_aggregate_create(struct stat_aggregate *aggregate, const struct stat_output *output,
                          const struct stat_count *count);
void stat_aggregate_destroy(struct stat_aggregate *aggregate);

/* Adds the latest reading of each component: of an interval, or with has_ended
 * of the end of a run. -1 after a complaint. */
int stat_aggregate_add(struct stat_aggregate *aggregate, struct stat_count *count, bool has_ended);

/* A run is over: takes its topology, if the rows are components of it. */
void stat_aggregate_keep(struct stat_aggregate *aggregate, struct stat_count *count);

/* The sum of a row and event as it is known by now. */
struct ps_value stat_aggregate_total(const struct stat_aggregate *aggregate, size_t row,
                                     size_t event);

/* All has been added: makes values of the sums. is_mean: means are shown, not
 * sums. */
void stat_aggregate_finish(struct stat_aggregate *aggregate, bool is_mean);
/* The elapsed time of all runs together, in seconds. */
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
	long long first; /* its number, from 1 */
};

struct stat_runs {
	struct stat_run_kind kinds[STAT_MOST_KINDS]; /* those that are not 0 */
	size_t kind_count;
	long long others; /* runs of still other statuses */
	long long failed;
	long long counted;
	long long interrupted; /* the number of the run that is left out; 0: none */
	int signal;            /* by which it was */
};

/* A run that has ended. Returns whether it is to be counted: not if perfsage
 * got a signal in it. */
bool stat_runs_add(struct stat_runs *runs, const struct stat_facts *facts);

/* A line for each status that isn't 0, and for the run that is left out. */
void stat_runs_show(const struct stat_runs *runs, struct ps__buffer *out);

/* Means, with the deviation of one run. -1 after a complaint, as the three below. */
int stat_means_show(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                    const struct stat_output *output);
/* All intervals together. */
int stat_total_show(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                    const struct stat_output *output);

int stat_export_means(struct stat_aggregate *aggregate, const struct stat_runs *runs,
                      const struct stat_output *output);
int stat_export_total(struct stat_aggregate *aggregate, const struct stat_facts *facts,
                      const struct stat_output *output);

/* stat_tasks.c: the software threads of a command or of processes, by hardware
 * thread. */

/* Can the sets that were started tell their tasks apart? -1 after a
 * complaint. */
int stat_tasks_check(const struct stat_count *count);

/* The matrix, in the output's format, after counting has ended. aggregate: of all intervals; NULL:
 * there were none. -1 after a complaint. */
int stat_tasks_show(struct stat_output *output, struct stat_count *count,
                    const struct stat_facts *facts, const struct stat_aggregate *aggregate);

#endif
