/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI event sets on the topology tree, for programs that have PAPI code.
 *
 * Such a program creates and configures event sets with plain PAPI, and replaces
 * PAPI_read, PAPI_accum and PAPI_stop by ps_read, ps_accum and ps_stop. This
 * header doesn't include papi.h. The header is installed whether the library was
 * built with PAPI or not.
 */
#ifndef PERFSAGE_PAPI_H
#define PERFSAGE_PAPI_H

#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Wraps a PAPI event set: its readings go to the topology as those of any set.
 *
 * The call asks PAPI for names, target and options, once. If the caller changes
 * the stopped PAPI set (events, PAPI_attach, multiplexing), the next start notices
 * the change and takes it over. Earlier readings are then not updated any more.
 *
 * ps_start calls PAPI_start. If PAPI runs the set already, ps_start takes the
 * counts from now on. Without ps_start, perfsage takes the set over at the first
 * of these calls after PAPI_start: ps_read, ps_accum, ps_stop, ps_reset,
 * ps_snapshot_take, ps_eventset_reset_event, ps_eventset_check. ps_read, ps_accum
 * and ps_stop store the counts since PAPI_start; ps_reset drops them. The hardware
 * thread of these counts is known only for a pinned thread (ps_papi(3)). ps_stop
 * calls PAPI_stop. After a PAPI_stop before the take-over, ps_stop fails with
 * PS_ENOTRUN. ps_reset and ps_accum reset nothing in PAPI.
 * If the caller resets or restarts the PAPI set meanwhile, its counts fall. The
 * next reading counts anew from the lower number, with the flag
 * PS_VALUE_WENT_BACK.
 *
 * out - receives the set; untouched on failure. Release it with
 *     ps_eventset_destroy, which leaves the PAPI set alone, running or not.
 * papi_eventset - as PAPI_create_eventset gave it; stopped or running, empty or
 *     not. It stays the caller's. The thread that made it must wrap it, and
 *     owns the set.
 *
 * Errors; PAPI's codes come through unchanged, from here and from all calls on
 * the set, and ps_error_detail() gives PAPI_strerror's words:
 *   PS_EINVAL - out is NULL, or the PAPI library is of another version than the
 *       headers that perfsage was built with
 *   PS_ENOSUPP - perfsage was built without PAPI, or an event is a
 *       floating-point number
 *   PS_ENOINIT - PAPI isn't initialised (PAPI_library_init)
 *   PS_ENOEVST - there is no such PAPI event set
 *   PS_ECMP_DISABLED - PAPI has switched the component off; ps_error_detail() gives its reason
 *   PS_ESYS - the attached thread has ended
 *   PS_ECOUNT - no descriptor is left for the attached thread's file in /proc
 *   PS_ENOMEM - out of memory
 *
 * Cost: allocates; a few calls of PAPI for each event; files of /sys for an
 * event of a package.
 */
PS_PUBLIC int ps_eventset_from_papi(struct ps_eventset **out, int papi_eventset);

#ifdef __cplusplus
}
#endif
#endif
