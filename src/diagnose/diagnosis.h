/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the diagnosis: one draft that each step fills in, what earlier steps measured, and
 * the probes that several steps use. A step only says what a probe of its own, or of a step before
 * it, has shown.
 */
#ifndef PS_DIAGNOSE_DIAGNOSIS_H
#define PS_DIAGNOSE_DIAGNOSIS_H

#include "base/proc_status.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <perfsage/diagnose.h>
#include <perfsage/error.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What the user may count, tried by opening a software event for each part. 0, or an errno. */
struct ps__permissions {
	int user;   /* user space of the caller */
	int kernel; /* the kernel on its behalf, too */
	int cpu;    /* all tasks of a CPU */
};

struct ps__draft {
	struct ps_finding finding; /* without its texts, which follow */
	char fact[2048];
	char remedy[512];
	char lasting[256];
	char gain[256];
};

/* The first failure: ps_diagnose returns its code, with its sentence. */
struct ps__failed {
	int event_code; /* of the first event that can't be counted by itself */
	int code;
	char sentence[1024];
};

struct ps__diagnosis {
	int (*visit)(const struct ps_finding *finding, void *context);
	void *context;
	struct ps__draft draft;

	const char *const *events; /* those that were asked for, or the default ones */
	size_t event_count;
	bool asks_papi;
	/* Owns the default ones; NULL: there are none, or others were asked for */
	struct ps_eventset *defaults;
	struct ps__failed failed;

	char status[PS__PROC_STATUS_BYTES]; /* "" if it can't be read */
	long paranoid;                      /* perf_event_paranoid, if paranoid_error is 0 */
	int paranoid_error;
	int reach; /* the errno of a call that the kernel itself answers with EINVAL */
	struct ps__permissions permissions;
	/* result of opening a hardware event for user space of the caller: 0, or an errno */
	int hardware;
	char core_pmu[NAME_MAX + 1]; /* the first in the alphabet; "" if there is none */
	size_t core_pmus;
	unsigned counters_fit;  /* events of the core PMU that one group takes; 0: not measured */
	unsigned counters_free; /* number of these that are on the hardware at once */
	bool counters_known;    /* counters_free has been measured */
};

/* A step fills in diagnosis->draft, whose state is GOOD and whose texts are
 * empty before. */
typedef void ps__step(struct ps__diagnosis *diagnosis);

ps__step ps__diagnose_kernel, ps__diagnose_seccomp, ps__diagnose_container;     /* kernel.c */
ps__step ps__diagnose_permission;                                               /* permission.c */
ps__step ps__diagnose_pmu, ps__diagnose_hybrid;                                 /* pmu.c */
ps__step ps__diagnose_counters, ps__diagnose_watchdog, ps__diagnose_user_reads; /* counters.c */
ps__step ps__diagnose_descriptors, ps__diagnose_rings;                          /* limits.c */
ps__step ps__diagnose_cpus, ps__diagnose_tree;                                  /* cpus.c */
ps__step ps__diagnose_cgroup, ps__diagnose_bpf;                                 /* methods.c */
ps__step ps__diagnose_tracepoints, ps__diagnose_pfm;                            /* sources.c */
ps__step ps__diagnose_papi;                                                     /* papi.c */

/* events.c: notes that an event can't be counted, or that the tree can't be loaded. Keeps the code
 * and the sentence of the first failure. */
void ps__diagnosis_fail(struct ps__diagnosis *diagnosis, int code);
/* Examines one event by itself; all events together. */
void ps__diagnose_event(struct ps__diagnosis *diagnosis, const char *name);
void ps__diagnose_together(struct ps__diagnosis *diagnosis);
/* Makes the default events the ones to examine. PS_ENOMEM; any other failure means that there are
 * none. */
int ps__diagnose_defaults(struct ps__diagnosis *diagnosis);

/* probe.c. These write texts of the draft: state and fact; more of the fact; who can fix it, what
 * the fix gains, and how. */
void ps__draft_fact(struct ps__diagnosis *diagnosis, enum ps_finding_state state,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));
void ps__draft_add(struct ps__diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ps__draft_remedy(struct ps__diagnosis *diagnosis, enum ps_remedy_by by, const char *gain,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The remedy is a level of perf_event_paranoid, or CAP_PERFMON where that counts. */
void ps__draft_level(struct ps__diagnosis *diagnosis, const char *gain, long level);

/* Sets the command that keeps the remedy. name of a sysctl is without "kernel.". */
void ps__draft_lasting(struct ps__diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ps__draft_lasting_sysctl(struct ps__diagnosis *diagnosis, const char *name, long value);

/* Opens an event and closes it again: 0, or an errno. */
int ps__probe_event(struct perf_event_attr *attr, pid_t pid, int cpu);
static inline bool ps__probe_is_denied(int error)
{
	return error == EACCES || error == EPERM;
}
/*
 * True if a counting event, opened with read_format PS__PROBE_TIMES, gets onto the hardware from
 * now on. Waits up to 20 ms. *is_certain is false if neither answer is certain.
 */
bool ps__probe_is_scheduled(int fd, bool *is_certain);
#define PS__PROBE_TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
/* Returns the attr of a counting event of this type; is_user: without the kernel and the
 * hypervisor. */
struct perf_event_attr ps__probe_attr(uint32_t type, uint64_t config, bool is_user);
/* "EACCES" and its like; other errnos in words. */
const char *ps__probe_errno(int error);

#endif
