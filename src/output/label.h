/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of components and events in the text output. */
#ifndef PS_OUTPUT_LABEL_H
#define PS_OUTPUT_LABEL_H

#include "output/grid.h"

#include <perfsage/component.h>

/* Adds "NUMA node 2" or "CPU 5". */
void ps__label_add_name(struct ps__buffer *buffer, const struct ps_component *component);

/* Adds "NUMA node 2 (HBM)" or "Core 0 (efficient)"; with details also the size, and "not allowed"
 * where it applies. */
void ps__label_add_component(struct ps__buffer *buffer, const struct ps_component *component,
                             bool details);

/* Adds the type's name: "NUMA node", "CPU", "L3"; or, if count isn't 1, "NUMA nodes", "CPUs",
 * "L3". */
void ps__label_add_type(struct ps__buffer *buffer, const struct ps_component *component,
                        size_t count);

/* Adds the label of several components that are alike: "NUMA nodes 0-3 (16 GiB each)". */
void ps__label_add_alike(struct ps__buffer *buffer, const struct ps_component *component,
                         const char *numbers);

/* Adds a list such as "0-3,8,16-30:2" (":2" means every second number). Sorts numbers. */
void ps__label_add_numbers(struct ps__buffer *buffer, int *numbers, size_t count);

/* Returns "efficient" and so on; "" for an unknown kind. */
const char *ps__label_core_kind(enum ps_core_kind kind);

/* Adds "page-faults" or "task-clock (ns)". unit: "" for none. */
void ps__label_add_event(struct ps__buffer *buffer, const char *event, const char *unit);
/* Adds a metric's heading. is_also_event: a column beside it has an event of the same name. */
void ps__label_add_metric(struct ps__buffer *buffer, const char *metric, const char *unit,
                          bool is_also_event);

/* Returns the number of columns that the names of a line may take: SIZE_MAX if screen_width is 0,
 * no limit. */
size_t ps__label_width(size_t screen_width);

/* Finds the branches of a tree's line; called from the last line up. Bit d of the result is set if
 * a line of depth d follows this one and needs a branch here. *open is 0 before the first call. */
uint64_t ps__label_find_branches(uint64_t *open, int depth);

enum ps__branches {
	PS__BRANCHES_LABEL,    /* before a line's label */
	PS__BRANCHES_CONTINUED /* before the continuation of a line */
};

/* Adds box-drawing characters, two columns for each depth. */
void ps__label_add_branches(struct ps__buffer *buffer, uint64_t branches, int depth,
                            enum ps__branches kind, bool has_colour);

#endif
