/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps: the tree with its counts as colours, as hwloc's XML or drawn by lstopo. */
#ifndef PS_TOOLS_HEAT_H
#define PS_TOOLS_HEAT_H

#include <perfsage.h>

/* Can a map be written to this file, and can one of these events or a metric colour it (by; NULL: the first event)? Looked at
 * before anything is counted; -1 after a complaint. */
int tool_heat_check(const char *path, const struct ps_eventset *model, const char *by);

/* Writes the map. by: an event or metric; NULL: the first event. -1 after a complaint. */
int tool_heat_write(struct ps_component *root, const char *path, const char *by);

#endif
