/* SPDX-License-Identifier: BSD-3-Clause */
/* What `perfsage stat` was asked for. */
#ifndef PS_TOOLS_STAT_OPTIONS_H
#define PS_TOOLS_STAT_OPTIONS_H

#include "tools/names.h"

#include <perfsage.h>
#include <stdbool.h>
#include <sys/types.h>

/* How the counts are laid out. */
enum stat_layout {
	STAT_LAYOUT_AUTO, /* the tree on a terminal, else Threads */
	STAT_LAYOUT_TREE,
	STAT_LAYOUT_BY /* the components of one type */
};

struct stat_options {
	struct tool_names events; /* freed by stat_options_clear */
	pid_t *pids;
	size_t pid_count;
	bool is_whole_machine;
	enum stat_layout layout;
	unsigned types;        /* of BY: a PS_TYPE_BIT */
	int cache_level;       /* of BY: as struct ps_print_options has it */
	enum ps_format format; /* TEXT, JSON or CSV */
	const char *output;    /* a file, "-" for stdout, NULL for stderr */
	const char *heat;      /* the file of the heat map; NULL: none */
	const char *heat_by;   /* NULL: the first event */
	long long interval_ms; /* 0: none */
	long long timeout_ms;  /* 0: none */
	long long repetitions; /* 1 or more */
	bool shows_tasks;      /* the matrix of software threads and hardware threads */
	bool hides_idle;
	bool is_raw;
	char **command; /* NULL-terminated; NULL: none */
};

/* Returns 0; or 1 with *status what to end with: after a complaint, or after --help. */
int stat_options_parse(struct stat_options *options, int argc, char **argv, int *status);
void stat_options_clear(struct stat_options *options);

#endif
