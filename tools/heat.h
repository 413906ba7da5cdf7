/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps: the tree with its counts as colours, written as hwloc's XML or drawn by lstopo. */
#ifndef PS_TOOLS_HEAT_H
#define PS_TOOLS_HEAT_H

#include "tools/file.h"

#include <perfsage.h>

struct tool_heat {
	struct tool_file file;
	const char *format; /* the picture's format for lstopo; NULL: XML */
	const char *by;     /* event or metric that chooses the colours; NULL: the first event */
};

/*
 * Checks, before anything is counted, that the map can be written to the file, and that an event or
 * a metric of the set can choose the colours. Returns -1 after a complaint, or if a signal came.
 */
int tool_heat_open(struct tool_heat *heat, const char *path, const char *by,
                   const struct ps_eventset *model, struct tool_watcher *watcher);

/* Writes the map and closes the file. Returns -1 after a complaint. Signals must not be held. */
int tool_heat_write(struct tool_heat *heat, struct ps_component *root);

/* Closes the file; its old content stays unless the map was written. */
void tool_heat_close(struct tool_heat *heat);

#endif
