/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Thread component: one hardware thread (hwloc's PU, Linux's CPU), and its attribute map: for each event
 * the timestamped parts that were counted there.
 *
 * All calls may be made from any thread, also while event sets store readings: no lock is taken, and a value is
 * never torn. None allocates or makes a system call, but for printing. Not for signal handlers: a look-up waits for a
 * reading that is being written, and a handler may have interrupted it.
 */
#ifndef PERFSAGE_THREAD_H
#define PERFSAGE_THREAD_H

#include <perfsage/component.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The CPU number; -1 for the unknown Thread and for NULL. */
PS_PUBLIC int ps_thread_cpu(const struct ps_thread *thread);

/** The component of the Thread; NULL for NULL. */
PS_PUBLIC struct ps_component *ps_thread_component(const struct ps_thread *thread);

/**
 * One part: what a reading counted of an event on this Thread.
 *
 * event: the name under which it was added. timestamp: of the reading; 0: the latest that this Thread holds.
 * out: untouched on failure.
 * PS_EINVAL: a NULL. PS_ENOEVNT: no event set counted such an event on this Thread. PS_ENOEVST: the event was
 * counted here, but no reading has this timestamp. A stored zero is PS_OK with value 0.
 * Cost: the latest O(1), by timestamp O(log readings), for each event set that met this Thread.
 */
PS_PUBLIC int ps_thread_reading(const struct ps_thread *thread, const char *event, uint64_t timestamp,
                                struct ps_value *out);

/**
 * All parts of an event on this Thread, oldest first.
 *
 * out: an array of capacity values; may be NULL if capacity is 0. count: receives how many there are.
 * PS_EINVAL: a NULL thread, event or count. PS_ENOEVNT: no event set counted such an event here. PS_EBUF: there
 * are more than capacity: the newest `capacity` ones were written, and *count says how many are needed.
 */
PS_PUBLIC int ps_thread_readings(const struct ps_thread *thread, const char *event, struct ps_value *out,
                                 size_t capacity, size_t *count);

/** How many readings of an event were dropped here by a bounded history (ps_eventset_set_history). */
PS_PUBLIC uint64_t ps_thread_dropped(const struct ps_thread *thread, const char *event);

/** How many different events this Thread has parts of. */
PS_PUBLIC size_t ps_thread_event_count(const struct ps_thread *thread);

/** The name of the index'th of them, in the order in which they came; NULL beyond the last. */
PS_PUBLIC const char *ps_thread_event_name(const struct ps_thread *thread, size_t index);

/**
 * Prints all parts that the Thread holds, event by event, oldest first, a line each.
 *
 * PS_EINVAL: a NULL. PS_ESYS: the stream could not be written; the detail says why. PS_ENOMEM. Allocates.
 */
PS_PUBLIC int ps_thread_print(const struct ps_thread *thread, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
