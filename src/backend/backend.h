/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Backends count. A backend opens a set's events on a target, and gives their running totals on
 * demand. Baselines, readings and hardware threads are the set's work.
 */
#ifndef PS_BACKEND_BACKEND_H
#define PS_BACKEND_BACKEND_H

#include "event/event.h"
#include "locate/locate.h"

#include <perfsage/cost.h>
#include <perfsage/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ps__target_kind {
	PS__TARGET_SELF, /* the thread that opens the events */
	PS__TARGET_TID,
	PS__TARGET_CPU,
	PS__TARGET_CPUS,    /* all that runs on instance_cpus; only for bpf.c */
	PS__TARGET_PROCESS, /* all its threads, and the tasks that they create from now on */
	/* tasks of a control group; an instance for each CPU that is online */
	PS__TARGET_CGROUP
};

/* A clock of a process measures how long the tasks below one of its roots were on a CPU. */
struct ps__clock_place {
	size_t root;
	int cpu; /* or PS__CLOCK_ANY */
};
#define PS__CLOCK_ANY (-1)

struct ps__clock_time {
	uint64_t enabled_ns; /* time on any CPU */
	uint64_t running_ns; /* time on the clock's CPU */
	/* of a clock for any CPU: running_ns before the root's other clocks were read */
	uint64_t earlier_ns;
	uint64_t id; /* kernel's id of fd */
	int fd;      /* owned by the backend */
};

/* What is counted. An instance is the set's groups, opened for one CPU or for any CPU; for a
 * process, once for each root. */
struct ps__target {
	enum ps__target_kind kind;
	pid_t tid;                /* for TID; for PROCESS, the process */
	int cpu;                  /* for CPU; otherwise -1 */
	struct ps__cgroup cgroup; /* for CGROUP; owned by the set */
	/* CPUs, with an instance for each, if the kernel is to split a task's counts. None: one
	 * instance for all CPUs. */
	const int *instance_cpus;
	size_t instance_count;
	/* The threads of a PROCESS. Instance r * instance_count + c is that of root r on CPU c.
	 * Without a list of CPUs: instance r is that of root r. */
	const pid_t *roots;
	size_t root_count;
	/* Clocks to open, by root; owned by the set. For a PROCESS without a list of CPUs */
	const struct ps__clock_place *clocks;
	size_t clock_count;
	bool is_ungrouped; /* each event is a group of its own */
	bool tells_tasks;  /* for PROCESS: take_tasks is going to be called. Needs instance_cpus */
	/* The kernel enables the events at the task's next exec; start doesn't */
	bool enables_on_exec;
	/* the groups record their counts at each migration of the task: see drain */
	bool has_records;
};

/* A record's news of a software thread of a process, with the fields that are set. */
enum ps__task_record_kind {
	PS__TASK_CREATED, /* pid, tid, parent_tid */
	PS__TASK_NAMED,   /* pid, tid, name: the task changed its name */
	PS__TASK_BEGUN,   /* pid, tid, name: the task began a program, by exec */
	PS__TASK_ENDED,   /* pid, tid: its events ended; a PS__TASK_COUNTED may follow */
	/* pid, tid, instance, event, count: the task's share, after it has ended */
	PS__TASK_COUNTED,
	PS__TASK_LOST /* an unknown number of these records was lost */
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

/* Programs of a process from which the kernel removed the counters when the programs began. */
struct ps__uncounted {
	size_t programs;
	pid_t pid; /* pid and name are those of the first */
	char name[16];
	char why_unknown[160]; /* reason why there may be others; "": there are none */
	bool tells_created;
	long created; /* tasks created since the start, less those that have ended */
};

struct ps__backend;

#define PS__NOT_DIRECT 1

/* Called with the CPU to which the task was moved. */
typedef void ps__backend_visit(int cpu, void *context);

/* Called with one of an event's descriptors. A result other than 0 ends the visits. tid 0: the
 * thread that opened it. */
typedef int ps__counter_visit(size_t event, pid_t tid, int cpu, int fd, void *context);

typedef int ps__read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals);

/* Joins the results of several reads: PS_PARTIAL doesn't hide that another one failed. */
static inline int ps__result_join(int result, int one)
{
	if (__builtin_expect(one == PS_OK, 1))
		return result;
	return result == PS_OK || one != PS_PARTIAL ? one : result;
}

struct ps__backend_ops {
	/*
	 * Opens all events, or none. They don't count yet, unless counts_when_open is set. On
	 * success groups is known, and group_of[i] is the group of event i. It is PS__NO_GROUP
	 * (store/recording.h) if the event is not supported.
	 */
	int (*open)(struct ps__backend *backend, struct ps__event *events, size_t count,
	            struct ps__target target);
	int (*start)(struct ps__backend *backend);
	/*
	 * Called after a start, for each instance, with its totals of the last read: later reads go
	 * on from there. What groups counted before the start, and no read could give, is dropped.
	 * PS_OK, or a code with a detail. The entry is NULL if off.has_unread is never set.
	 */
	int (*begin_run)(struct ps__backend *backend, size_t instance, const uint64_t *totals);
	/*
	 * Reads the running totals of an instance: for each group enabled and running nanoseconds,
	 * then a value for each event. The backend may write to the word before them and to the
	 * word after them. If a group can't be read (its counter is in the error state), its
	 * entries are left as they are, and PS_PARTIAL is returned with a detail. Hot:
	 * async-signal-safe unless it fails.
	 */
	int (*read)(struct ps__backend *backend, size_t instance, uint64_t *totals);
	/*
	 * Does what read does, if one system call or none gives the totals as they are. Otherwise
	 * returns PS__NOT_DIRECT. The entry is NULL if the backend never can. Hot.
	 */
	ps__read_direct *read_direct;
	/*
	 * Reads the totals as read does, for another thread than the counted one, which may read
	 * them at the same time. Returns PS_OK, or PS__NOT_DIRECT if the totals can't be read this
	 * way now. The entry is NULL if the backend never can.
	 */
	int (*peek)(const struct ps__backend *backend, size_t instance, uint64_t *totals);
	int (*stop)(struct ps__backend *backend);
	/* Stops an event's total, or lets it continue from where it stopped. The entry is NULL if
	 * the backend can't. A failure changes nothing. */
	int (*pause_event)(struct ps__backend *backend, size_t event, bool pauses);
	/* Visits the descriptors, instance by instance. The entry is NULL if there are none. */
	int (*visit_counters)(struct ps__backend *backend, ps__counter_visit *visit, void *context);
	/* Updates `clocks`, for a target that has clocks. PS_OK, or a code with a detail. */
	int (*read_clocks)(struct ps__backend *backend);
	/* Visits the records of tasks since the last call, in the order of time. Only for a target
	 * with tells_tasks. */
	void (*take_tasks)(struct ps__backend *backend, ps__task_visit *visit, void *context);
	/* Returns the programs of a process that aren't counted, as far as the kernel has told;
	 * valid until close. NULL: they aren't watched. The entry is NULL if the backend never
	 * watches them. */
	const struct ps__uncounted *(*take_uncounted)(struct ps__backend *backend);
	/*
	 * Visits the migrations since the last drain, oldest first, at which the group was on the
	 * hardware. Before each visit, writes the group's totals of that moment to totals, and
	 * leaves the entries of other groups as they are. False if records may be missing. Only for
	 * a target with has_records. Async-signal-safe if visit is.
	 */
	bool (*drain)(struct ps__backend *backend, size_t group, uint64_t *totals,
	              ps__backend_visit *visit, void *context);
	/* Releases everything, after an open that succeeded or failed. abandon: true in a forked
	 * child; then closes the child's copies of the descriptors, and leaves the parent's
	 * counters alone. */
	void (*close)(struct ps__backend *backend, bool abandon);
};

#define PS__LOST_LEADER (-1)

struct ps__backend {
	const struct ps__backend_ops *ops;
	size_t instances;
	size_t groups;      /* in each instance */
	uint32_t *group_of; /* by event; owned by the backend */
	/* By group: it uses hardware counters, and may have to wait; owned by the backend */
	bool *is_hardware;
	/* Instance 0's totals when it was opened (those of other instances are 0); with PAPI, the
	 * totals when it was started. Owned by the backend */
	uint64_t *origin;
	enum ps_read_path read_path;
	char why_path[256]; /* why the path isn't a cheaper one; "" if it is the cheapest */
	/* Words after the totals that read_direct may write to, beyond the first */
	size_t spare;
	/* Totals may fall: some are differences or estimates. The backend itself detects resets */
	bool may_fall;
	bool interrupted; /* set by read: counting was off for some time. The set clears it */
	/* Set by read: a counter was reset, and is counted from there. The set clears it */
	bool went_back;
	/* Set by read: some counts of the process are missing, or may be. Never cleared */
	bool has_gaps;
	/* The events count since they were opened; the first start enables nothing */
	bool counts_when_open;
	/* Noted by read, of groups whose counter was in the error state */
	struct {
		/* They may have counts that could not be read: the next start must be followed by
		 * begin_run, which clears this */
		bool has_unread;
		/* It isn't known how long the tasks ran meanwhile, so the groups' enabled time is
		 * too short. The set clears this */
		bool is_time_unknown;
	} off;
	/* The thread whose end made open fail; 0: none. PS__LOST_LEADER: a group's leader ended
	 * with another thread, because Linux had exchanged the events of the two threads */
	pid_t ended_tid;
	/* By instance: nanoseconds for which the task was on the instance's CPU, at the last read.
	 * NULL unless several groups take turns on the hardware. Owned by the backend. */
	uint64_t *residency_ns;
	/* Times of the target's clocks at the last read_clocks. Owned by the backend */
	struct ps__clock_time *clocks;
	size_t clock_count;
	/* Noted by the perf backend; CLOCK_MONOTONIC */
	struct {
		uint64_t started_ns; /* time before the last start */
		uint64_t start_ns;   /* duration of that start, first to last instance */
		uint64_t stopped_ns; /* time after the last stop; for a CPU's counters, before it */
	} run;
};

/* Makes a backend that uses perf_event_open directly. NULL if out of memory. */
struct ps__backend *ps__perf_create(void);
/* Makes a backend for a process, which a BPF program counts. NULL if out of memory. */
struct ps__backend *ps__bpf_create(void);

/*
 * Opens an event and closes it, to know whether this user can count it here. Settles the domain: if
 * the event's name doesn't set it, and only user space is permitted, the event is limited to user
 * space (user_only). PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM, PS_ECOUNT, PS_ESYS, each with a detail.
 */
int ps__perf_probe(struct ps__event *event);

/* Opens only these events, on the calling thread, and closes them, to know whether they fit in the
 * groups that are asked for. Errors: PS_ENOCNTR, and those of open. The events are not changed. */
int ps__perf_probe_groups(const struct ps__event *events, size_t count);

/* perf_counter.c: opens the event and closes it, to know whether the kernel takes its filter, or
 * its program. PS_EATTR, PS_EINVAL, and the errors of opening the event. */
int ps__perf_probe_filter(const struct ps__event *event);
int ps__perf_probe_bpf(const struct ps__event *event);

#endif
