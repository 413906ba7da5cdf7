/* SPDX-License-Identifier: BSD-3-Clause */
/* What perfsage stat is asked for. */
#ifndef PS_TOOLS_STAT_OPTIONS_H
#define PS_TOOLS_STAT_OPTIONS_H

#include "tools/options.h"
#include "tools/stat_method.h"

#include <perfsage.h>
#include <stdbool.h>
#include <sys/types.h>

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
	size_t absent_count; /* number of pids that don't exist; they follow the others in the array
	                      */
	bool has_children;   /* also count children that already run */
	bool is_whole_machine;
	char *cpus;         /* whole machine: only these CPUs, as "0-3,8"; NULL: all */
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
	/* Names of metrics and groups; stat_metrics_resolve replaces groups by their metrics. None:
	 * show all metrics */
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
	bool shows_regions;    /* show the counts of regions that the program marks, not the counts
	                        * of the whole program */
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

/* Returns TOOL_OPTIONS_END; after a complaint or --help the exit status. */
int stat_options_parse(struct stat_options *options, int argc, char **argv);
void stat_options_clear(struct stat_options *options);

/* stat_conflicts.c: returns what is wrong with the combination of options; NULL if nothing is. */
const char *stat_options_find_conflict(const struct stat_options *options);

/* True if the output needs the counts of each task. */
bool stat_options_tell_tasks(const struct stat_options *options);

/* True if the command is counted. If not, the command only determines how long to count. */
bool stat_options_counts_command(const struct stat_options *options);
/* Returns why these times (bits of stat_times.h) can't be known with the options; NULL if they
 * can. */
const char *stat_options_refuse_times(const struct stat_options *options, unsigned times);

#endif
