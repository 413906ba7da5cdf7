/* SPDX-License-Identifier: BSD-3-Clause */
/* Other rooms ask here for an event set's parts. They don't see its struct. */
#ifndef PS_EVENTSET_PARTS_H
#define PS_EVENTSET_PARTS_H

#include "event/event.h"

struct ps_eventset;

/* Valid until the set's events change; NULL if it has no such event. */
const struct ps__event *ps__set_event(const struct ps_eventset *set, size_t index);

/* Neither attached to a target, nor PAPI's. */
bool ps__set_counts_its_caller(const struct ps_eventset *set);

/* Counts the groups of hardware events of a set that was opened: several take turns. */
size_t ps__set_count_hardware_groups(const struct ps_eventset *set);

/* Tasks left the control group that a running set counts: its counts are the least that there can
 * have been, from the next fetch to the next start. */
void ps__set_note_missing(struct ps_eventset *set);

/* reading.c: what was counted goes to slots; *slot is the task's. PS_OK, PS_PARTIAL, or a code with
 * a detail. */
struct ps__slot;
int ps__set_collect(struct ps_eventset *set, struct ps__slot **slot);

/* event_names.c: as ps__set_find_event, one name after the other; the set is only read. */
ptrdiff_t ps__set_look_up_event(const struct ps_eventset *set, const char *name);

#endif
