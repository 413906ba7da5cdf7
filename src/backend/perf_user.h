/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of hardware events that are read in user space: their pages are mapped when they are
 * opened, and perf.c asks here before it makes a system call.
 */
#ifndef PS_BACKEND_PERF_USER_H
#define PS_BACKEND_PERF_USER_H

#include "backend/perf.h"

/* Decides whether the set may be read so, before its events are opened: fills in user_config1 and
 * why_path. */
void ps__perf_user_prepare(struct ps__perf *perf);

/* Maps the pages of all groups that can be read so, and tells the path. What can't be mapped is
 * read by read(2). */
void ps__perf_user_map(struct ps__perf *perf);

/* A sampler's event, the set's only one, in a group of this one member: may it be read so? page: it
 * is mapped already, and stays so as long as the group. */
void ps__perf_user_adopt(struct ps__perf *perf, struct ps__group *group,
                         struct perf_event_mmap_page *page);

/* Before the descriptors are closed. abandon: in a forked child, which has no copies of the
 * pages. */
void ps__perf_user_unmap(struct ps__group *group, bool abandon);

/*
 * The totals of a group that is on the hardware: of one moment, as read(2)'s are. False if it
 * isn't, or was moved each time that it was looked at; then times are untouched, and values hold
 * nothing of use. Hot; async-signal-safe. To be called by the thread that the group counts.
 */
bool ps__perf_user_read(struct ps__group *group, uint64_t *times, uint64_t *values);

/* A backend's read_direct, where instances may be read so: in user space, or else as
 * ps__perf_read_direct. */
int ps__perf_user_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals);

/* Reads what a group in the error state counted before it was taken from the hardware. */
void ps__perf_user_read_last(const struct ps__group *group, uint64_t *values);

#endif
