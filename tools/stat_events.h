/* SPDX-License-Identifier: BSD-3-Clause */
/* The events that `perfsage stat` counts, in a model of which every set is a clone. */
#ifndef PS_TOOLS_STAT_EVENTS_H
#define PS_TOOLS_STAT_EVENTS_H

#include "tools/stat_options.h"

/* The model, for ps_eventset_destroy; NULL after complaints: of all events that are wrong, not just of the first. */
struct ps_eventset *stat_events_create(const struct stat_options *options);

#endif
