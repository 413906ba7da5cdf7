/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be counted on this machine by this user, and what prevents it.
 *
 * The answer is a list of findings. Each finding was measured by a probe. A finding
 * names the remedy that solves the problem, and who must apply the remedy. The
 * command `perfsage doctor` prints the findings.
 */
#ifndef PERFSAGE_DIAGNOSE_H
#define PERFSAGE_DIAGNOSE_H

#include <perfsage/visibility.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The state of one finding. */
enum ps_finding_state {
	PS_FINDING_GOOD = 0, /* nothing prevents the use of what was examined */
	PS_FINDING_LIMITED,  /* a part works */
	PS_FINDING_BLOCKED,  /* something forbids or prevents the use */
	PS_FINDING_ABSENT,   /* this machine, kernel or build doesn't have it */
	PS_FINDING_UNKNOWN   /* it could not be examined; the fact says why */
};

/** Who must apply the remedy. */
enum ps_remedy_by {
	PS_REMEDY_BY_NOBODY = 0,      /* there is nothing to do, or nothing that would help */
	PS_REMEDY_BY_YOU,             /* the user, without privileges */
	PS_REMEDY_BY_ADMINISTRATOR,   /* root of this machine */
	PS_REMEDY_BY_CONTAINER_OWNER, /* the person who starts the container, or the job */
	PS_REMEDY_BY_HOST_OWNER       /* the person who runs the virtual machine's host */
};

/** One finding. Its strings are valid until visit returns; none is NULL. */
struct ps_finding {
	const char *name; /* the step: "kernel", "permission", ..., "event"; the names are stable */
	const char
	    *subject; /* in the step "event": the event's name, or "default events"; else "" */
	enum ps_finding_state state;
	int code;           /* in the steps "event" and "together": PS_OK or the error */
	const char *fact;   /* what was measured, in sentences */
	const char *remedy; /* the exact command, or else a sentence; "" if there is no remedy */
	const char *gain;   /* what the remedy brings; "" if there is no remedy */
	enum ps_remedy_by by;
	/* the command or sentence that keeps the remedy after the next boot or login; "" if the
	 * remedy lasts, if no such command is known, or if there is no remedy */
	const char *lasting;
};

/**
 * Options of ps_diagnose; all but size may be 0.
 *
 * Start with `struct ps_diagnose_options o = {.size = sizeof o};`.
 */
struct ps_diagnose_options {
	size_t size;               /* sizeof(struct ps_diagnose_options) */
	const char *const *events; /* the requested events, as ps_eventset_add takes them */
	size_t event_count;        /* 0: the events of ps_eventset_add_default */
	int asks_papi;             /* not 0: initialises PAPI, if the program has not done so;
	                            * PAPI stays initialised */
};

/**
 * "good", "limited", "blocked", "absent" or "unknown" (any other number).
 *
 * Returns a constant string, never NULL.
 */
PS_PUBLIC const char *ps_finding_state_name(enum ps_finding_state state);

/**
 * "you", "administrator", "container owner", "host owner" or "nobody".
 *
 * Any other number gives "nobody". Returns a constant string, never NULL.
 */
PS_PUBLIC const char *ps_remedy_by_name(enum ps_remedy_by by);

/**
 * Finds out what can be counted here, and calls visit with each finding.
 *
 * It checks the kernel, seccomp, container, permissions, PMUs, kinds of cores,
 * counters, NMI watchdog, user-space reads, descriptors, rings, CPUs, the tree,
 * control groups, BPF, tracepoints, PAPI and libpfm4. Then it opens and starts each requested event
 * by itself, and at last all of them together, in the calling thread. Each
 * check is one finding. Nothing is changed, and nothing stays open.
 *
 * options - NULL for the defaults
 * visit - called for each finding, in a fixed order, in the calling thread;
 *     returns 0 to go on; any other number ends the diagnosis and is returned.
 *     visit must not call ps_diagnose.
 * context - handed through to visit
 *
 * Returns PS_OK if all requested events can be counted, by themselves and
 * together, and if hwloc's variables name no tree, or a tree that can be loaded.
 *
 * Errors:
 *   PS_EINVAL - visit is NULL, options has a wrong size, an event name is NULL,
 *       or events is NULL although event_count is not 0
 *   PS_ENOMEM - out of memory
 *   the code of the first event that can't be counted, as ps_eventset_add,
 *       ps_eventset_add_default or ps_start gives it (PS_EINVAL for an empty name,
 *       PS_ENOEVNT, PS_EATTR, PS_EPERM, PS_ENOSUPP, PS_EINVAL_DOM, PS_ENOCNTR, PS_ECOUNT,
 *       PS_ESYS), or the code with which the events fail together
 *   the code of ps_topology_load, where hwloc's variables (HWLOC_XMLFILE,
 *       HWLOC_SYNTHETIC) name a tree that can't be loaded
 *
 * Any thread. Allocates, makes some hundred system calls, reads files, and
 * waits up to 20 ms for each hardware event that finds no free counter, and for
 * each number of events that doesn't fit on the counters at once.
 */
PS_PUBLIC int ps_diagnose(const struct ps_diagnose_options *options,
                          int (*visit)(const struct ps_finding *finding, void *context),
                          void *context);

#ifdef __cplusplus
}
#endif
#endif
