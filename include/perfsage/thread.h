/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Thread component: one hardware thread (hwloc's PU, Linux's CPU).
 *
 * A Thread holds an attribute map: for each event the timestamped parts that were
 * counted there.
 *
 * Any thread may make these calls, also while event sets store readings: no
 * lock is taken, and a value is never torn. Only ps_thread_print allocates. A
 * look-up waits while a set is storing a reading, and sometimes sleeps. Other
 * look-ups make no system call. Not for signal handlers: a set that the handler
 * interrupted would never finish storing.
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
 * Looks up the part of an event on this Thread. If several event sets have a part
 * with this timestamp, the call adds these parts.
 *
 * thread - where to look
 * event - the name that is shown, or the one under which the event was added
 * timestamp - of the reading; 0: the latest reading that this Thread holds
 * out - receives the part; untouched on failure. A stored zero is PS_OK with
 *     value 0.
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - no event set counted such an event on this Thread
 *   PS_ENOEVST - the event was counted here, but no reading has this timestamp
 *
 * Cost for each event set that met this Thread: O(1) for the latest, O(log
 * readings) by timestamp. A name that is not the shown name costs a look at all
 * event sets in addition.
 */
PS_PUBLIC int ps_thread_reading(const struct ps_thread *thread, const char *event,
                                uint64_t timestamp, struct ps_value *out);

/**
 * Copies the parts of an event on this Thread, oldest first. Parts of several
 * sets with the same timestamp become one part.
 *
 * thread - where to look
 * event - the name that is shown, or the one under which the event was added
 * out - an array of capacity values; may be NULL if capacity is 0
 * capacity - the number of elements in out
 * count - receives the number of all parts, also of those that do not fit
 *
 * Errors:
 *   PS_EINVAL - thread, event or count is NULL; out is NULL and capacity is not 0
 *   PS_ENOEVNT - no event set counted such an event here
 *   PS_EBUF - there are more parts than capacity: the newest `capacity` parts
 *       were written, oldest first, and *count tells how many are needed
 */
PS_PUBLIC int ps_thread_readings(const struct ps_thread *thread, const char *event,
                                 struct ps_value *out, size_t capacity, size_t *count);

/**
 * The number of an event's parts on this Thread that bounded histories have dropped.
 *
 * See ps_eventset_set_history.
 */
PS_PUBLIC uint64_t ps_thread_dropped(const struct ps_thread *thread, const char *event);

/** The number of different events that this Thread has parts of. */
PS_PUBLIC size_t ps_thread_event_count(const struct ps_thread *thread);

/**
 * The name of one of the events that this Thread has parts of.
 *
 * index - 0 to ps_thread_event_count - 1; NULL is returned beyond the last
 *
 * The name lives as long as the topology, or until ps_topology_clear_readings.
 */
PS_PUBLIC const char *ps_thread_event_name(const struct ps_thread *thread, size_t index);

/**
 * Prints all parts that the Thread holds, event by event, oldest first.
 *
 * thread - the Thread
 * stream - receives a line for each part; stays open
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ESYS - the stream could not be written; ps_error_detail() says why
 *   PS_ENOMEM - out of memory
 *
 * Allocates.
 */
PS_PUBLIC int ps_thread_print(const struct ps_thread *thread, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
