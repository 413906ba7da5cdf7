/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PS_OUTPUT_COST_H
#define PS_OUTPUT_COST_H

#include "output/buffer.h"
#include "output/table.h"

/* A line, if the table is of a whole topology and ps_eventset_overhead was asked for any of its event sets: how many readings
 * they made, and what these took in all. */
void ps__cost_add(struct ps__buffer *buffer, const struct ps__table *table);

#endif
