/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backends count. A backend opens a set's events on a target, and gives their running totals on
 * demand; baselines, readings and hardware threads are the set's.
 */
#ifndef PS_BACKEND_BACKEND_H
#define PS_BACKEND_BACKEND_H

#include "event/event.h"
#include "locate/locate.h"

#include <perfsage/cost.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ps__target_kind {
	PS__TARGET_SELF, /* the thread that opens */
	PS__TARGET_TID,
	PS__TARGET_CPU,
	PS__TARGET_CPUS,    /* all that runs on instance_cpus: bpf.c's own */
	PS__TARGET_PROCESS, /* all its threads, and what they create from now on */
	PS__TARGET_CGROUP   /* a control group's tasks, by CPU: its instances are those that are
	                       online */
};

/* A clock of a process: how long the tasks below one of its roots were on a CPU. */
struct ps__clock_place {
	size_t root;
	int cpu; /* or PS__CLOCK_ANY */
};
#define PS__CLOCK_ANY (-1)

struct ps__clock_time {
	uint64_t enabled_ns; /* on any CPU */
	uint64_t running_ns; /* on that one */
	uint64_t earlier_ns; /* of any CPU: the same, before the root's other clocks were read */
	uint64_t id;         /* the kernel's, of fd */
	int fd;              /* the backend's */
};

/* An instance of a set's groups is opened for one CPU, or for any; of a process, for each root. */
struct ps__target {
	enum ps__target_kind kind;
	pid_t tid;                /* of TID; the process of PROCESS */
	int cpu;                  /* of CPU; else -1 */
	struct ps__cgroup cgroup; /* of CGROUP; the set's */
	/* Where the kernel is to split a task's counts: an instance for each of these CPUs. None:
	 * one instance for all. */
	const int *instance_cpus;
	size_t instance_count;
	/* The threads of a PROCESS. Instance r * instance_count + c is root r's on CPU c
	 * (without a list of CPUs: instance r). */
	const pid_t *roots;
	size_t root_count;
	/* The clocks that are wanted, by root; the set's. For a PROCESS without a list of CPUs */
	const struct ps__clock_place *clocks;
	size_t clock_count;
	bool is_ungrouped; /* each event is a group of its own */
	bool tells_tasks;  /* of PROCESS: what take_tasks tells is wanted. Needs instance_cpus */
	/* The kernel enables the events at the task's next exec; start doesn't */
	bool enables_on_exec;
	bool has_records; /* the groups leave their counts at each migration of the task: see drain
	                   */
};

/* Records tell what became of the software threads of a process. */
enum ps__task_record_kind {
	PS__TASK_CREATED, /* pid, tid, parent_tid */
	PS__TASK_NAMED,   /* pid, tid, name: by itself */
	PS__TASK_BEGUN,   /* pid, tid, name: a program, by exec */
	PS__TASK_ENDED,   /* pid, tid: its events did; a PS__TASK_COUNTED may follow */
	PS__TASK_COUNTED, /* pid, tid, instance, event, count: its whole share, when it has ended */
	PS__TASK_LOST     /* some of these were lost, nobody knows how many */
};

struct ps__task_record {
	enum ps__task_record_kind kind;
	pid_t pid;
	pid_t tid;
	pid_t parent_tid;
	char name[16];
	size_t instance;
	uint32_t event;
	uint64_t count;
};

typedef void ps__task_visit(const struct ps__task_record *record, void *context);

/* Programs of a process from which the kernel took the counters when they began. */
struct ps__uncounted {
	size_t programs;
	pid_t pid; /* of the first */
	char name[16];
	char why_unknown[160]; /* why there may be others; "" if there are none */
	bool tells_created;
	long created; /* tasks since the start, less those that have ended since */
};

struct ps__backend;

#define PS__NOT_DIRECT 1

/* The CPU to which the task was moved. */
typedef void ps__backend_visit(int cpu, void *context);

/* One of an event's descriptors; other than 0 ends the visits. tid 0: the thread that opened it. */
typedef int ps__counter_visit(size_t event, pid_t tid, int cpu, int fd, void *context);

typedef int ps__read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals);

struct ps__backend_ops {
	/*
	 * Opens the events, all or none, not counting yet unless counts_when_open is set. On
	 * success groups is known, and group_of[i] is the group of event i, PS__NO_GROUP
	 * (store/recording.h) for one that is not supported.
	 */
	int (*open)(struct ps__backend *backend, struct ps__event *events, size_t count,
	            struct ps__target target);
	int (*start)(struct ps__backend *backend);
	/*
	 * The running totals of an instance: for each group enabled and running nanoseconds, then a
	 * value for each event. The words before the first and behind the last are the backend's to
	 * write to. Entries that could not be read are left as they are, and PS_PARTIAL is returned
	 * with a detail: the group's counter is in the error state. Hot: async-signal-safe unless
	 * it fails.
	 */
	int (*read)(struct ps__backend *backend, size_t instance, uint64_t *totals);
	/*
	 * As read where one system call, or none, brings the totals as they are; PS__NOT_DIRECT,
	 * and nothing has changed, where it takes more. NULL: it always does. Hot.
	 */
	ps__read_direct *read_direct;
	/*
	 * The totals as read gives them, for another thread than the one that is counted, which may
	 * read them at the same time. PS_OK, or PS__NOT_DIRECT where that can't be had. NULL: it
	 * never can.
	 */
	int (*peek)(const struct ps__backend *backend, size_t instance, uint64_t *totals);
	int (*stop)(struct ps__backend *backend);
	/* From now on an event's total stands still, or goes on from where it stood. NULL: it can't
	 * be had. On failure all is as it was. */
	int (*pause_event)(struct ps__backend *backend, size_t event, bool pauses);
	/* Visits descriptors by instance. NULL: there are none. */
	int (*visit_counters)(struct ps__backend *backend, ps__counter_visit *visit, void *context);
	/* Reads `clocks` anew, for a target that has them. PS_OK, or a code with a detail. */
	int (*read_clocks)(struct ps__backend *backend);
	/* Tells what has become of tasks since the last time, in the order of time. Only for a
	 * target that tells_tasks. */
	void (*take_tasks)(struct ps__backend *backend, ps__task_visit *visit, void *context);
	/* The programs of a process that aren't counted, as far as the kernel told until now; valid
	 * until close. NULL: they aren't watched. NULL in the place of the function: they never
	 * are. */
	const struct ps__uncounted *(*take_uncounted)(struct ps__backend *backend);
	/*
	 * Only for a target with has_records. For each migration since the last drain that the
	 * group was on its CPU for, oldest first, it gives the group's totals of that moment
	 * (entries of other groups are left as they are), then a visit. False if some may be
	 * missing. Async-signal-safe if visit is.
	 */
	bool (*drain)(struct ps__backend *backend, size_t group, uint64_t *totals,
	              ps__backend_visit *visit, void *context);
	/* Releases all, once, open or not. abandon: in a forked child, which closes its copies of
	 * the descriptors; the parent's counters must not be touched. */
	void (*close)(struct ps__backend *backend, bool abandon);
};

#define PS__LOST_LEADER (-1)

struct ps__backend {
	const struct ps__backend_ops *ops;
	size_t instances;
	size_t groups;      /* in each instance */
	uint32_t *group_of; /* by event; owned by the backend */
	/* By group: it may have to wait for the hardware; owned by the backend */
	bool *is_hardware;
	/* Instance 0's totals when it was opened (the others' are 0), PAPI's when it is started;
	 * owned by the backend */
	uint64_t *origin;
	enum ps_read_path read_path;
	char why_path[256]; /* why it isn't a cheaper one; "" if it is the cheapest */
	/* Words behind the totals that read_direct may write to, beside the one that is there */
	size_t spare;
	/* Totals that fall are meant so: differences, estimates. It looks for resets itself */
	bool may_fall;
	bool interrupted; /* set by read: counting was off for a while. Cleared by the set */
	/* The same: a counter was reset behind our back, and is counted anew from there */
	bool went_back;
	/* The same, not cleared: some of the process's counts are missing, or may be */
	bool has_gaps;
	/* It counts since it was opened, and the first start changes nothing */
	bool counts_when_open;
	/* The thread because of which open failed; 0: none. PS__LOST_LEADER: a group's leader ended
	 * with a thread that the observed one had exchanged its events with, as Linux does */
	pid_t ended_tid;
	/* By instance, nanoseconds as of its last read: how long the task was on the instance's
	 * CPU. NULL unless several groups take turns on the hardware. Owned by the backend. */
	uint64_t *residency_ns;
	/* The clocks as of the last read_clocks, for a target that has them. The backend's */
	struct ps__clock_time *clocks;
	size_t clock_count;
	/* The perf backend notes them, by CLOCK_MONOTONIC */
	struct {
		uint64_t started_ns; /* before the last start */
		uint64_t start_ns;   /* that took so long from the first instance to the last */
		uint64_t stopped_ns; /* behind the last stop; of a CPU's counters, before it */
	} run;
};

/* perf_event_open, directly. NULL for lack of memory. */
struct ps__backend *ps__perf_create(void);
/* A process, counted by a BPF program at each context switch. NULL for lack of memory. */
struct ps__backend *ps__bpf_create(void);

/*
 * Can this event be counted here, by this user? Opens and closes it. Settles the domain: an event
 * whose name leaves it open is limited to user space (user_only) if that is all that is permitted.
 * PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM, PS_ECOUNT, PS_ESYS, each with a detail.
 */
int ps__perf_probe(struct ps__event *event);

/* Opens these events alone and closes them, on the caller: can they be grouped as they are to be?
 * PS_ENOCNTR, and whatever open fails with. They are not changed. */
int ps__perf_probe_groups(const struct ps__event *events, size_t count);

/* perf_counter.c: does the kernel take the event's filter, its program? PS_EATTR, PS_EINVAL, and
 * whatever opening the event fails with. */
int ps__perf_probe_filter(const struct ps__event *event);
int ps__perf_probe_bpf(const struct ps__event *event);

#endif
