/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PS_EXPORT_COST_H
#define PS_EXPORT_COST_H

#include "export/buffer.h"
#include "export/table.h"

/* A line, if the table is of a whole topology and ps_eventset_overhead was asked for any of its event sets: how many readings
 * they made, and what these took in all. */
void ps__cost_add(struct ps__buffer *buffer, const struct ps__table *table);

#endif
