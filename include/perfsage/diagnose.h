/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be counted on this machine by this user, and what stands in the way: a list of findings, each measured by a
 * probe, with the step that mends it and who must take it. The command `perfsage doctor` prints it.
 */
#ifndef PERFSAGE_DIAGNOSE_H
#define PERFSAGE_DIAGNOSE_H

#include <perfsage/visibility.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How things stand with one finding. */
enum ps_finding_state {
	PS_FINDING_GOOD = 0, /* nothing stands in the way */
	PS_FINDING_LIMITED,  /* it works, but not all of it */
	PS_FINDING_BLOCKED,  /* it is there, and something forbids or prevents its use */
	PS_FINDING_ABSENT,   /* this machine, kernel or build doesn't have it */
	PS_FINDING_UNKNOWN   /* it could not be looked at; the fact says why */
};

/** Who must take the step that mends a finding. */
enum ps_remedy_by {
	PS_REMEDY_BY_NOBODY = 0,      /* there is nothing to mend, or nothing that would */
	PS_REMEDY_BY_YOU,             /* the user, without privileges */
	PS_REMEDY_BY_ADMINISTRATOR,   /* root of this machine */
	PS_REMEDY_BY_CONTAINER_OWNER, /* whoever starts the container, or the job */
	PS_REMEDY_BY_HOST_OWNER       /* whoever runs the host of the virtual machine */
};

/** One finding. Its strings are valid until visit returns; none is NULL. */
struct ps_finding {
	const char *name;    /* which: "kernel", "permission", ..., "event"; these names are stable */
	const char *subject; /* of an "event": its name; else "" */
	enum ps_finding_state state;
	int code;           /* of an "event" and of "together": PS_OK, or the code with which it fails */
	const char *fact;   /* what was measured: a sentence or several */
	const char *remedy; /* the exact command, or the step where there is no command; "" if there is none */
	const char *gain;   /* what the remedy brings; "" if there is none */
	enum ps_remedy_by by;
};

/** Start with `struct ps_diagnose_options o = {.size = sizeof o};`: fields that are left out are 0. */
struct ps_diagnose_options {
	size_t size;               /* sizeof(struct ps_diagnose_options) */
	const char *const *events; /* the events that are asked for, as ps_eventset_add takes them */
	size_t event_count;        /* 0: those of ps_eventset_add_default */
	int asks_papi;             /* not 0: PAPI, if nobody has initialised it, is for as long as it is asked */
};

/** "good", "limited", "blocked", "absent", "unknown"; "unknown" for any other number. Never NULL. */
PS_PUBLIC const char *ps_finding_state_name(enum ps_finding_state state);

/** "nobody", "you", "administrator", "container owner", "host owner"; "nobody" for any other number. Never NULL. */
PS_PUBLIC const char *ps_remedy_by_name(enum ps_remedy_by by);

/**
 * Looks at the kernel, permissions, seccomp, container, PMUs, kinds of cores, counters, NMI watchdog, user-space
 * reads, descriptors, rings, CPUs, tracepoints, PAPI and libpfm4, then opens and starts each asked event for itself,
 * and at last all of them together, in the calling thread. Each look is one finding. Nothing is changed, and nothing
 * stays open.
 *
 * options: NULL for the defaults. visit: called for each finding, in a fixed order, in the calling thread; it returns
 * 0 to go on; any other number ends the diagnosis and is returned. It must not call ps_diagnose. context is handed
 * through.
 * PS_OK: all asked events can be counted, each and together. Else the code of the first event that can't, as
 * ps_eventset_add or ps_start gives it (PS_ENOEVNT, PS_EATTR, PS_EPERM, PS_ENOSUPP, PS_EINVAL_DOM, PS_ENOCNTR,
 * PS_ECOUNT, PS_ESYS), or with which all of them fail together, with its sentence in ps_error_detail().
 * PS_EINVAL: visit is NULL, options has a wrong size, or one of its names is NULL. PS_ENOMEM: no memory.
 * Any thread. Allocates; some hundred system calls and files, and for each hardware event that finds no counter
 * free up to 20 ms of waiting for one.
 */
PS_PUBLIC int ps_diagnose(const struct ps_diagnose_options *options,
                          int (*visit)(const struct ps_finding *finding, void *context), void *context);

#ifdef __cplusplus
}
#endif
#endif
