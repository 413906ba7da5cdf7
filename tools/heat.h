/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps: the tree with its counts as colours, as hwloc's XML or drawn by
 * lstopo. */
#ifndef PS_TOOLS_HEAT_H
#define PS_TOOLS_HEAT_H

#include "tools/file.h"

#include <perfsage.h>

struct tool_heat {
	struct tool_file file;
	const char *format; /* that lstopo draws; NULL: XML */
	const char *by;     /* an event or metric; NULL: the first event */
};

/*
 * Can a map be written to this file, and can one of these events or a metric
 * colour it? Looked at before anything is counted; -1 after a complaint, or if
 * a signal came.
 */
int tool_heat_open(struct tool_heat *heat, const char *path, const char *by,
                   const struct ps_eventset *model, struct tool_watcher *watcher);

/* Writes the map and closes the file; -1 after a complaint. Signals are to be
 * released. */
int tool_heat_write(struct tool_heat *heat, struct ps_component *root);

/* Leaves what stands in the file, unless the map was written. */
void tool_heat_close(struct tool_heat *heat);

#endif
