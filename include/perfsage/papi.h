/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PAPI event sets on the topology tree, for programs that have PAPI code: they create and configure event sets with plain
 * PAPI, and replace PAPI_read, PAPI_accum and PAPI_stop by ps_read, ps_accum and ps_stop.
 *
 * This header doesn't include papi.h, and is there whether the library was built with PAPI or not.
 */
#ifndef PERFSAGE_PAPI_H
#define PERFSAGE_PAPI_H

#include <perfsage/eventset.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Wraps a PAPI event set: its readings go to the topology as those of any event set.
 *
 * out: receives the set, for ps_eventset_destroy, which leaves the PAPI set alone, running or not; untouched on failure.
 * papi_eventset: as PAPI_create_eventset gave it; stopped or running, empty or not. It stays the caller's, and must be
 * wrapped by the thread that made it, whose set it is.
 *
 * Names, target and options are asked of PAPI here, once. What the caller changes while the PAPI set is stopped (events,
 * PAPI_attach, multiplexing) is noticed at the next start, and taken over: the readings made before are then closed off.
 *
 * Starting: ps_start calls PAPI_start. Of a set that PAPI runs already ps_start takes the counts from now on; without
 * ps_start the first ps_read, ps_accum, ps_stop or ps_reset after PAPI_start takes those since PAPI_start, as PAPI_read
 * would. ps_stop calls PAPI_stop. ps_reset and ps_accum reset nothing in PAPI. If the caller resets or restarts the PAPI set
 * meanwhile, its counts fall: they are counted anew from there, and flagged PS_VALUE_WENT_BACK.
 *
 * Codes of PAPI come through unchanged, from here and from all calls on the set; the detail has PAPI_strerror's words.
 * PS_EINVAL: out is NULL; or the PAPI library is of another version than the headers that perfsage was built with.
 * PS_ENOSUPP: perfsage was built without PAPI; or an event is a floating-point number. PS_ENOINIT: PAPI isn't initialised
 * (PAPI_library_init). PS_ENOEVST: there is no such PAPI event set. PS_ECMP_DISABLED: PAPI has switched the component off;
 * the detail has its reason. PS_ESYS: the attached thread has ended. PS_ECOUNT: no descriptor is left for its file in
 * /proc. PS_ENOMEM.
 * Cost: allocates; a few calls of PAPI for each event; of an event of a package, files of /sys.
 */
PS_PUBLIC int ps_eventset_from_papi(struct ps_eventset **out, int papi_eventset);

#ifdef __cplusplus
}
#endif
#endif
