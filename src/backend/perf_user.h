/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of hardware events that are read in user space. Their pages are mapped when they are
 * opened. perf.c calls these functions before it makes a system call.
 */
#ifndef PS_BACKEND_PERF_USER_H
#define PS_BACKEND_PERF_USER_H

#include "backend/perf.h"

/* Decides, before the events are opened, whether the set may be read in user space. Sets
 * user_config1, or why_path. */
void ps__perf_user_prepare(struct ps__perf *perf);

/* Maps the pages of all groups that can be read in user space, and sets the read path. Other groups
 * are read by read(2). */
void ps__perf_user_map(struct ps__perf *perf);

/* Lets a sampler's event be read in user space if that is possible. It is the set's only event, in
 * a group with this one member. page: already mapped, at least as long as the group exists. */
void ps__perf_user_adopt(struct ps__perf *perf, struct ps__group *group,
                         struct perf_event_mmap_page *page);

/* Unmaps the pages, before the descriptors are closed. abandon: in a forked child, which has no
 * copies of the pages. */
void ps__perf_user_unmap(struct ps__group *group, bool abandon);

/*
 * Reads the totals of a group that is on the hardware, all of one moment, as read(2) does. False if
 * the group is not on the hardware, or was moved at each attempt: times are untouched then, and
 * values are undefined. Hot; async-signal-safe. Only for the thread that the group counts.
 */
bool ps__perf_user_read(struct ps__group *group, uint64_t *times, uint64_t *values);

/* A backend's read_direct for instances that may be read in user space. If one can't now, does what
 * ps__perf_read_direct does. */
int ps__perf_user_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals);

/* Reads what a group in the error state had counted before it was taken off the hardware, and for
 * how long. */
void ps__perf_user_read_last(const struct ps__group *group, uint64_t *times, uint64_t *values);

#endif
