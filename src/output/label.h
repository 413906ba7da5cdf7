/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of components and events in the text output. */
#ifndef PS_OUTPUT_LABEL_H
#define PS_OUTPUT_LABEL_H

#include "output/grid.h"

#include <perfsage/component.h>

/* "NUMA node 2 (HBM)", "Core 0 (efficient)"; with details also the size, and
 * whether it may be used. */
void ps__label_add_component(struct ps__buffer *buffer, const struct ps_component *component,
                             bool details);

/* "NUMA node", "CPU", "L3"; of several "NUMA nodes", "CPUs", "L3". */
void ps__label_add_type(struct ps__buffer *buffer, const struct ps_component *component,
                        size_t count);

/* Several that are alike: "NUMA nodes 0-3 (16 GiB each)". */
void ps__label_add_alike(struct ps__buffer *buffer, const struct ps_component *component,
                         const char *numbers);

/* "0-3,8,16-30:2", the last of which are 16, 18 and so on to 30; sorts them. */
void ps__label_add_numbers(struct ps__buffer *buffer, int *numbers, size_t count);

/* "efficient"; "" for an unknown kind. */
const char *ps__label_core_kind(enum ps_core_kind kind);

/* "page-faults", "task-clock (ns)"; unit: "" for none. */
void ps__label_add_event(struct ps__buffer *buffer, const char *event, const char *unit);
/* The same of a metric, whose column may stand beside that of an event of the same name. */
void ps__label_add_metric(struct ps__buffer *buffer, const char *metric, const char *unit,
                          bool is_also_event);

/* Columns of the screen that a line's names may take. */
size_t ps__label_width(size_t screen_width);

/* The branches of a tree's lines, from the last line up: by bits, at which depths lines go on below
 * this one. open: 0 before the first call. */
uint64_t ps__label_find_branches(uint64_t *open, int depth);

enum ps__branches {
	PS__BRANCHES_LABEL,    /* before a line's label */
	PS__BRANCHES_CONTINUED /* before what the line above had no room for */
};

/* Box characters, two columns for each depth. */
void ps__label_add_branches(struct ps__buffer *buffer, uint64_t branches, int depth,
                            enum ps__branches kind, bool has_colour);

#endif
