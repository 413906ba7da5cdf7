/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment's settings: PERFSAGE_EVENTS and others, see ps_collect(3). */
#ifndef PS_COLLECT_SETTINGS_H
#define PS_COLLECT_SETTINGS_H

#include "output/buffer.h"

#include <perfsage/eventset.h>
#include <perfsage/report.h>
#include <stdbool.h>
#include <stddef.h>

struct collect_settings {
	struct ps_eventset *model; /* the events */
	char *pattern;             /* pattern of the output's name: %p is the process */
	char *output;              /* a file; NULL: stderr */
	/* perfsage's journal, if perfsage reads the report; NULL: none */
	char *journal;
	char *group;    /* numbers that group visits (ps_profile_set_group); NULL: none */
	char *rank;     /* as MPI gave it; NULL: none */
	char **regions; /* regions whose trees are shown; NULL: the table of all paths */
	size_t region_count;
	enum ps_format format;
	unsigned types; /* as in struct ps_print_options, like cache_level */
	int cache_level;
	unsigned flags;     /* of enum ps_paths_flag */
	bool hides_metrics; /* hides derived values */
	bool hides_idle;    /* a tree in JSON or CSV leaves out components without a count */
	bool has_each;      /* a tree in text has a line for each component */
	size_t width;
	double budget;   /* percent; 0: none */
	uint64_t one_in; /* of each region, one in this number of visits is counted; 1: all */
	double flush_s;  /* seconds between two interim reports; 0: none */
};

/* Reads the environment. The detail sentence of PS_EINVAL names the variable. On failure the caller
 * has nothing to free. */
int collect_settings_read(struct collect_settings *out);
/* Renews a forked child's copy of its parent's settings: the child gets an output name of its own.
 * The environment isn't read again, because the program may have changed it. PS_ENOMEM: the
 * settings are unchanged. */
int collect_settings_renew(struct collect_settings *settings);
/* Adds a copy of the name of a region whose tree is to be shown. PS_ENOMEM. */
int collect_settings_add_region(struct collect_settings *settings, const char *name);
void collect_settings_clear(struct collect_settings *settings);
/* Adds a line for each environment variable that is named like a setting but isn't one. */
void collect_settings_add_unknown(struct ps__buffer *lines);

/* Returns the name of perfsage's journal, in which processes note what they counted; NULL: none.
 * Also works if the settings can't be read. */
const char *collect_settings_journal(void);

#endif
