/* SPDX-License-Identifier: BSD-3-Clause */
/* What ps_eventset_check found, below a printed tree. */
#ifndef PS_OUTPUT_RESIDUAL_H
#define PS_OUTPUT_RESIDUAL_H

#include "output/buffer.h"
#include "output/table.h"

/* A line, if the table is of a whole topology and any of its event sets was checked: the events with a residual, summed
 * over the sets, or that there is none. */
void ps__residual_add(struct ps__buffer *buffer, const struct ps__table *table);

#endif
