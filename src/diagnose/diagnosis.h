/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internals of the diagnosis: the draft of a finding, which each step fills in; results that later
 * steps use; and the probes that several steps use. A step reports only what its own probe, or that
 * of an earlier step, has shown.
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

/* What the user may count. Each member is 0, or the errno of opening a software event for that
 * part. */
struct ps__permissions {
	int user;   /* user space of the caller */
	int kernel; /* the caller's user space and the kernel */
	int cpu;    /* all tasks of a CPU */
};

struct ps__draft {
	struct ps_finding finding; /* its texts are in the members below */
	char fact[2048];
	char remedy[512];
	char lasting[256];
	char gain[256];
};

/* The first failure. ps_diagnose returns its code, and sets its sentence. */
struct ps__failed {
	int event_code; /* code of the first event that can't be counted by itself */
	int code;
	char sentence[1024];
};

struct ps__diagnosis {
	int (*visit)(const struct ps_finding *finding, void *context);
	void *context;
	struct ps__draft draft;

	const char *const *events; /* the events that the caller asked for, or the default events */
	size_t event_count;
	bool asks_papi;
	/* The set of the default events; NULL if there are none, or if the caller asked for
	 * events */
	struct ps_eventset *defaults;
	struct ps__failed failed;

	char status[PS__PROC_STATUS_BYTES]; /* "" if it can't be read */
	long paranoid;                      /* perf_event_paranoid, if paranoid_error is 0 */
	int paranoid_error;
	int reach; /* errno of a call with unknown flags; EINVAL: the call reaches the kernel */
	struct ps__permissions permissions;
	/* result of opening a hardware event for user space of the caller: 0, or an errno */
	int hardware;
	char core_pmu[NAME_MAX + 1]; /* the first in the alphabet; "" if there is none */
	size_t core_pmus;
	unsigned counters_fit;  /* events of the core PMU that one group takes; 0: not measured */
	unsigned counters_free; /* number of these that are on the hardware at once */
	bool counters_known;    /* true if counters_free has been measured */
};

/* Fills in diagnosis->draft. Before the call its state is GOOD and its texts are empty. */
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
/* Examines one event by itself. ps__diagnose_together examines all events together. */
void ps__diagnose_event(struct ps__diagnosis *diagnosis, const char *name);
void ps__diagnose_together(struct ps__diagnosis *diagnosis);
/* Examines the default events instead of events that the caller asked for. Returns PS_ENOMEM; any
 * other failure means that there are no default events. */
int ps__diagnose_defaults(struct ps__diagnosis *diagnosis);

/* probe.c. ps__draft_fact sets the draft's state and fact; ps__draft_add adds to the fact;
 * ps__draft_remedy sets who can remedy it, what the remedy gains, and how. */
void ps__draft_fact(struct ps__diagnosis *diagnosis, enum ps_finding_state state,
                    const char *format, ...) __attribute__((format(printf, 3, 4)));
void ps__draft_add(struct ps__diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ps__draft_remedy(struct ps__diagnosis *diagnosis, enum ps_remedy_by by, const char *gain,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Sets the remedy: a level of perf_event_paranoid, or CAP_PERFMON where capabilities count. */
void ps__draft_level(struct ps__diagnosis *diagnosis, const char *gain, long level);

/* Sets the command that keeps the remedy after the next boot. The name of a sysctl is given without
 * "kernel.". */
void ps__draft_lasting(struct ps__diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void ps__draft_lasting_sysctl(struct ps__diagnosis *diagnosis, const char *name, long value);

/* Opens an event and closes it again. Returns 0, or an errno. */
int ps__probe_event(struct perf_event_attr *attr, pid_t pid, int cpu);
static inline bool ps__probe_is_denied(int error)
{
	return error == EACCES || error == EPERM;
}
/*
 * True if a counting event, opened with read_format PS__PROBE_TIMES, gets onto the hardware after
 * this call began. Waits up to 20 ms. *is_certain becomes false if the result is only a guess.
 */
bool ps__probe_is_scheduled(int fd, bool *is_certain);
#define PS__PROBE_TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
/* Returns the attr of a counting event of this type; is_user: without the kernel and the
 * hypervisor. */
struct perf_event_attr ps__probe_attr(uint32_t type, uint64_t config, bool is_user);
/* "EACCES" and its like; other errnos in words. */
const char *ps__probe_errno(int error);

#endif
