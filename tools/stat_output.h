/* SPDX-License-Identifier: BSD-3-Clause */
/* The file or terminal that perfsage stat writes to, and the facts about a run that are shown
 * beside its counts. */
#ifndef PS_TOOLS_STAT_OUTPUT_H
#define PS_TOOLS_STAT_OUTPUT_H

#include "output/buffer.h"
#include "tools/file.h"
#include "tools/stat_options.h"
#include "tools/stat_regions.h"
#include "tools/terminal.h"

#include <perfsage.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

struct stat_output {
	struct tool_file file;
	FILE *stream; /* the file's stream */
	const struct stat_options *options;
	struct tool_screen screen;
	/* Only perfsage writes to the terminal, so a block may be drawn over the previous one */
	bool may_redraw;
	bool has_csv_header;          /* the heading of CSV was written */
	bool is_broken;               /* a write failed, which is reported at the end */
	bool has_begun;               /* something was counted */
	struct stat_regions *regions; /* the regions whose reports are shown; NULL: none */
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
	size_t gone;         /* number of processes of -p that ended before counting ended */
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

#endif
