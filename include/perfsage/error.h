/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error codes and the sentence that goes with a failure.
 *
 * The codes are PAPI's, by name and by value, so that code written for PAPI
 * keeps its error handling.
 */
#ifndef PERFSAGE_ERROR_H
#define PERFSAGE_ERROR_H

#include <perfsage/visibility.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ps_error {
	PS_OK = 0,           /* no error */
	PS_EINVAL = -1,      /* an argument is invalid */
	PS_ENOMEM = -2,      /* out of memory */
	PS_ESYS = -3,        /* a system call or the C library failed */
	PS_ECMP = -4,        /* a component (backend, PMU) failed */
	PS_ECLOST = -5,      /* the counters are the parent process's, or were closed */
	PS_EBUG = -6,        /* a defect of the library */
	PS_ENOEVNT = -7,     /* no such event, or no reading of it */
	PS_ECNFLCT = -8,     /* the event or the call conflicts with what is in progress */
	PS_ENOTRUN = -9,     /* the event set is not running */
	PS_EISRUN = -10,     /* the event set is running */
	PS_ENOEVST = -11,    /* no such event set or reading */
	PS_ENOTPRESET = -12, /* the event is not a preset */
	PS_ENOCNTR = -13,    /* the hardware has no counter for this */
	PS_EMISC = -14,      /* an unknown error */
	PS_EPERM = -15,      /* permission is missing */
	PS_ENOINIT = -16,    /* PAPI has not been initialised */
	PS_ENOCMP = -17,     /* no such component of PAPI */
	PS_ENOSUPP = -18,    /* not supported on this machine or in this build */
	PS_ENOIMPL = -19,    /* not implemented */
	PS_EBUF = -20,       /* a buffer is too small */
	PS_EINVAL_DOM =
	    -21,         /* the domain (user, kernel, hypervisor) is not available for this event */
	PS_EATTR = -22,  /* an event attribute is invalid */
	PS_ECOUNT = -23, /* too many events or attributes, or no file descriptor is left */
	PS_ECOMBO = -24, /* this combination of features is impossible */
	PS_ECMP_DISABLED = -25, /* the component is disabled */
	PS_EDELAY_INIT = -26,   /* the component initialises itself later */
	PS_EMULPASS = -27,      /* the event needs several passes */
	PS_PARTIAL = -28        /* part of the work was done; the detail says which part was not */
};

/**
 * The meaning of a code, as a short English phrase.
 *
 * code - one of enum ps_error; any other number gives "unknown error code"
 *
 * Returns a constant string, never NULL. Any thread, any time; no allocation,
 * lock or system call.
 */
PS_PUBLIC const char *ps_strerror(int code);

/**
 * The calling thread's last failure as one sentence to act on.
 *
 * The sentence names the event, call, errno and setting, and the command that
 * helps, as far as these matter. It is one line of UTF-8. In a quoted name, '?'
 * replaces characters that must not be sent to a terminal.
 *
 * Returns a string owned by the library, never NULL; "" if nothing has failed
 * in this thread yet. The string stays valid and unchanged until the next perfsage
 * call in the same thread that fails, or that contains a failed attempt.
 * No system call.
 */
PS_PUBLIC const char *ps_error_detail(void);

#ifdef __cplusplus
}
#endif
#endif
