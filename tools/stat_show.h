/* SPDX-License-Identifier: BSD-3-Clause */
/* What `perfsage stat` prints: the counts in the format that was asked for, and what is known of the run. */
#ifndef PS_TOOLS_STAT_SHOW_H
#define PS_TOOLS_STAT_SHOW_H

#include "output/buffer.h"
#include "tools/file.h"
#include "tools/screen.h"
#include "tools/stat_count.h"

#include <sys/resource.h>

struct stat_output {
	struct tool_file file;
	FILE *stream; /* its own */
	const struct stat_options *options;
	struct tool_screen screen;
	bool may_redraw;     /* nothing else is written to the terminal: a block can take the place of the last one */
	bool has_csv_header; /* it was written */
	bool is_broken;      /* something could not be written, and that was said */
	bool has_begun;      /* something was counted */
	size_t drawn_lines;  /* of the block that the next one takes the place of */
};

/* What is known of a run, or of an interval of it. */
struct stat_facts {
	double elapsed_s;     /* since the exec, or the start */
	double interval_s;    /* of an interval; 0: the whole run */
	long long repetition; /* from 1; 0: there is only one */
	bool has_ended;       /* the run; what follows is then known */
	bool has_command;     /* exit_status and usage tell of a command that was counted */
	int exit_status;
	int signal;          /* that perfsage got during the run; 0: none */
	struct rusage usage; /* of the command and of what it waited for */
};

/* Opens what -o names, and leaves what stands there. -1 after a complaint. */
int stat_output_open(struct stat_output *output, const struct stat_options *options, struct tool_watcher *watcher);
/* Counting has begun: what stands in the file will make room. */
void stat_output_begin(struct stat_output *output);
/* What was counted takes its place. -1 after a complaint, if not all could be written. A second call does nothing. */
int stat_output_close(struct stat_output *output);

/* Which components are shown: a bit for each type, 0 for all. */
unsigned stat_output_types(const struct stat_output *output);

/* How its text is laid out: without metrics. */
struct ps_print_options stat_print_options(const struct stat_output *output);

/* A whole run, or what an interval has counted. */
int stat_show(struct stat_output *output, struct stat_count *count, const struct stat_facts *facts);

/* "make -j2", quoted where a shell needs it; of a target without a command "processes 1, 2" or "all CPUs". */
void stat_describe_target(const struct stat_options *options, struct ps__buffer *out);

static inline double stat_seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

#endif
