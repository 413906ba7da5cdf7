/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of components and events in the text output. */
#ifndef PS_OUTPUT_LABEL_H
#define PS_OUTPUT_LABEL_H

#include "output/buffer.h"

#include <perfsage/component.h>

/* "NUMA node 2 (HBM)", "Core 0 (efficient)"; with details also the size, and
 * whether it may be used. */
void ps__label_add_component(struct ps__buffer *buffer, const struct ps_component *component,
                             bool details);

/* "efficient"; "" for an unknown kind. */
const char *ps__label_core_kind(enum ps_core_kind kind);

/* "page-faults", "task-clock (ns)"; unit: "" for none. */
void ps__label_add_event(struct ps__buffer *buffer, const char *event, const char *unit);

#endif
