/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event set: the events that are counted together.
 *
 * A set counts the thread that first calls ps_start (its owner), or the target to which the set was
 * attached. Only one thread at a time is allowed to make the calls here and in <perfsage/read.h>.
 * If the set counts its owner, only the owner is allowed to make them: each thread of a team clones
 * a model set. Different sets can be used at the same time without a lock.
 *
 * A change of a set's events, target or attribution ends its readings. The readings stay in the
 * topology, but are no longer updated, and an old timestamp makes a new reading. On a set that
 * wraps a PAPI event set (ps_eventset_from_papi), the calls that add or remove events, attach,
 * detach or clone fail with PS_ENOSUPP.
 *
 * In a child of fork() all calls that use or change an inherited set fail with PS_ECLOST and leave
 * the parent's counters alone. There are two exceptions. An inherited set can be the model of
 * ps_eventset_clone. ps_eventset_destroy closes the child's copies of the descriptors; the kernel
 * keeps the events as long as any process has a descriptor of them.
 */
#ifndef PERFSAGE_EVENTSET_H
#define PERFSAGE_EVENTSET_H

#include <perfsage/value.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ps_component;
struct ps_eventset;

/** What one count of an event covers. */
enum ps_scope {
	PS_SCOPE_THREAD = 0, /* a hardware thread */
	PS_SCOPE_CORE,
	PS_SCOPE_CACHE, /* a last-level cache */
	PS_SCOPE_PACKAGE,
	/* a device, a sensor, the network, in a PAPI event set; a time of a run (duration_time) */
	PS_SCOPE_MACHINE
};

/** The way in which a set finds the hardware thread of its events. */
enum ps_attribution_mode {
	/* Pinned if the task may run on one CPU only; exact if migration records
	 * are permitted or there are enough descriptors; otherwise last-cpu. A
	 * process: exact, or estimated by time shares or by looks. */
	PS_ATTRIBUTE_AUTO = 0,
	/* The kernel splits the counts by hardware thread; ps_start fails if it can't. */
	PS_ATTRIBUTE_EXACT,
	PS_ATTRIBUTE_LAST_CPU, /* the cheapest in descriptors: the CPU seen at each reading */
	/* For a process; any other target counts as with AUTO: */
	PS_ATTRIBUTE_TIME_SHARE, /* one counter for all CPUs, and a clock for each CPU */
	PS_ATTRIBUTE_BPF,        /* a BPF program counts */
	PS_ATTRIBUTE_LOOKS       /* as TIME_SHARE, but each reading polls /proc for the times */
};

/** "thread", "core", "cache", "package", "machine"; otherwise "unknown". */
PS_PUBLIC const char *ps_scope_name(enum ps_scope scope);

/**
 * Makes an empty event set.
 *
 * out - receives the set; release it with ps_eventset_destroy
 *
 * Errors:
 *   PS_EINVAL - out is NULL
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_eventset_create(struct ps_eventset **out);

/**
 * Adds an event by name.
 *
 * The event is opened once and closed again, to know whether it can be counted here. Without a
 * modifier, user space and the kernel are counted. If the caller may not count the kernel, only
 * user space is counted, and the values carry PS_VALUE_USER_ONLY.
 *
 * set - a set that isn't running
 * event - a generic name of perf's ("instructions", "L1-dcache-load-misses",
 *     "page-faults"), a raw code ("r1a8"), an event of a PMU ("msr/tsc/",
 *     "cpu/event=0xc0,umask=1/"), a tracepoint ("sched:sched_switch"), a
 *     breakpoint ("mem:0x1000/8:w"), or, looked for last, a name of libpfm4's
 *     ("INST_RETIRED:ANY_P", "perf::PAGE-FAULTS"). Modifiers follow a colon: u
 *     (user), k (kernel), h (hypervisor), as in "instructions:u".
 *
 * Errors; the set is then as before:
 *   PS_EINVAL - set or event is NULL
 *   PS_EISRUN - the set is running
 *   PS_ENOEVNT - no such event; ps_error_detail() gives the nearest names
 *   PS_EATTR - a term of pmu/.../ is unknown or too large, or a modifier or the
 *       syntax is wrong; ps_error_detail() says which and where
 *   PS_ENOSUPP - the event is known, but this machine can't count it; or only
 *       another machine's PMU has it
 *   PS_EPERM - this user is not allowed to count the event; ps_error_detail() gives the remedy
 *   PS_EINVAL_DOM - the event can't be limited to these modifiers
 *   PS_ECNFLCT - the name is in the set already
 *   PS_ENOCNTR - every counter that could count the event is taken
 *   PS_ECOUNT - no file descriptor is left
 *   PS_ENOMEM - out of memory
 *   PS_ESYS - a system call failed
 */
PS_PUBLIC int ps_eventset_add(struct ps_eventset *set, const char *event);

/**
 * Adds an event, and keeps it if this machine or user can't count it.
 *
 * In that case (PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM, PS_ENOCNTR) the call returns PS_OK, the
 * event's values are PS_STATUS_NOT_SUPPORTED, and ps_error_detail() says why.
 *
 * set, event - as for ps_eventset_add
 *
 * Errors: all other errors of ps_eventset_add.
 */
PS_PUBLIC int ps_eventset_add_optional(struct ps_eventset *set, const char *event);

/**
 * Adds the best events that this machine and user can count.
 *
 * With a PMU these are cycles, instructions, cache-references, cache-misses and branch-misses;
 * without a PMU task-clock, page-faults, context-switches and cpu-migrations. Events that can't be
 * counted are left out: context-switches and cpu-migrations happen in the kernel, and need
 * permission to count the kernel.
 *
 * set - a set that isn't running
 *
 * Errors; the set is then as before:
 *   PS_EINVAL, PS_EISRUN, PS_ENOMEM, PS_ECOUNT - as for ps_eventset_add
 *   PS_EPERM, PS_ENOSUPP - not one of the events can be counted
 */
PS_PUBLIC int ps_eventset_add_default(struct ps_eventset *set);

/**
 * Removes an event. Stored readings stay.
 *
 * set - a set that isn't running
 * event - the name that is shown or the string that was added
 *
 * Errors:
 *   PS_EINVAL - set or event is NULL
 *   PS_EISRUN - the set is running
 *   PS_ENOEVNT - the event isn't in the set
 */
PS_PUBLIC int ps_eventset_remove(struct ps_eventset *set, const char *event);

/**
 * Makes a new set with the events and options of a model.
 *
 * Neither readings nor the attachment are copied. Several threads are allowed to clone one model at
 * the same time, so that each thread of a team has a set of its own. Keep the set by thread
 * (pthread_setspecific, with a destructor), and not by omp_get_thread_num(): OpenMP ends threads,
 * and gives their numbers to new threads.
 *
 * out - receives the set; release it with ps_eventset_destroy
 * model - any set
 *
 * Errors:
 *   PS_EINVAL - out or model is NULL
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_eventset_clone(struct ps_eventset **out, const struct ps_eventset *model);

/**
 * Counts another software thread.
 *
 * Threads of other users' processes need CAP_PERFMON or CAP_SYS_PTRACE.
 *
 * set - a set that isn't running
 * tid - as gettid(2) gives it
 *
 * Errors:
 *   PS_EINVAL - set is NULL or tid < 1
 *   PS_EISRUN - the set is running
 *   PS_ESYS - there is no such thread, or /proc hides it from this user
 *   PS_ECOUNT - no descriptor is left; the set keeps one for the thread
 */
PS_PUBLIC int ps_eventset_attach_tid(struct ps_eventset *set, pid_t tid);

/**
 * Counts a process: the threads that it has at ps_start, and all tasks that these threads create
 * later.
 *
 * The counts are split by hardware thread. ps_start opens the events for each thread of the process
 * (threads x events x CPUs file descriptors), and each reading reads all of these descriptors. If
 * the descriptors are too many for AUTO, or if created tasks would have to copy 256 events or more,
 * AUTO divides the counts in proportion to the time on each CPU. Clocks measure this time (threads
 * x (events + CPUs) descriptors). If the clocks are also too many, readings poll /proc for the
 * times (threads x events descriptors): see ps_attribution(3). Linux does not count set-user-ID
 * programs and unreadable programs: see ps_eventset_uncounted. Without /proc of this PID namespace
 * the values are PS_STATUS_INCOMPLETE.
 *
 * set - a set that isn't running
 * pid - the process, or any of its threads; it needs the permissions of ps_eventset_attach_tid
 *
 * Errors:
 *   PS_EINVAL - set is NULL or pid < 1
 *   PS_EISRUN - the set is running
 *   PS_ESYS - there is no such process, /proc hides it from this user, or /proc/PID/status can't
 *       be read
 *   PS_ECOUNT - no descriptor is left; the set keeps one for the process
 */
PS_PUBLIC int ps_eventset_attach_process(struct ps_eventset *set, pid_t pid);

/**
 * Counts all that happens on one CPU, whichever task runs there.
 *
 * The caller needs perf_event_paranoid <= 0 or CAP_PERFMON; otherwise ps_start fails with PS_EPERM.
 * If the CPU goes offline, the counts until then are kept. When the CPU is back, the next reading
 * starts counting again and has the flag PS_VALUE_INTERRUPTED.
 *
 * set - a set that isn't running
 * cpu - the CPU number
 *
 * Errors:
 *   PS_EINVAL - set is NULL, or there is no such CPU
 *   PS_EISRUN - the set is running
 */
PS_PUBLIC int ps_eventset_attach_cpu(struct ps_eventset *set, int cpu);

/**
 * Lets counting begin when the attached thread or process next calls execve(2).
 *
 * A program is therefore counted from its first instruction on, without the work
 * between fork and exec. ps_attach(3) tells more.
 *
 * set - attached to a thread or a process; otherwise ps_start fails with
 *     PS_ECOMBO
 * on - 0 (the default): no; any other number: yes. It takes effect at each
 *     following ps_start, which opens the events anew.
 *
 * Errors:
 *   PS_EINVAL - set is NULL
 *   PS_EISRUN - the set is running
 */
PS_PUBLIC int ps_eventset_set_enable_on_exec(struct ps_eventset *set, int on);

/**
 * Counts all tasks of a control group and of the groups below it, also tasks that join later.
 *
 * The counts are split by hardware thread. The caller needs perf_event_paranoid <= 0 or
 * CAP_PERFMON; otherwise ps_start fails with PS_EPERM. The library moves no process into the group.
 * There is one group of events for each CPU that is online at ps_start. Created tasks copy no
 * counters. Each reading reads all CPUs. If another CPU comes online, values are
 * PS_STATUS_INCOMPLETE until the next ps_start. The attribution mode has no effect. ps_attach(3)
 * tells more.
 *
 * set - a set that isn't running
 * path - absolute, or below the mount point of the hierarchy that perf knows:
 *     cgroup with the controller perf_event, otherwise cgroup2. If path is no
 *     control group, ps_start fails with PS_EINVAL
 *
 * Errors:
 *   PS_EINVAL - set is NULL; or path is NULL, empty or too long
 *   PS_EISRUN - the set is running
 *   PS_ESYS - there is no directory at path, or no such file system is mounted
 *   PS_ECOUNT - no descriptor is left; the set keeps one for the group
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_eventset_attach_cgroup(struct ps_eventset *set, const char *path);

/**
 * Undoes an attachment: the set counts the thread that starts it, as a new set does.
 *
 * set - a set that isn't running
 *
 * Errors:
 *   PS_EINVAL - set is NULL
 *   PS_EISRUN - the set is running
 */
PS_PUBLIC int ps_eventset_detach(struct ps_eventset *set);

/**
 * Chooses how the set knows on which hardware thread its events happened.
 *
 * Exact attribution takes events x CPUs file descriptors, and one more. With migration records, it
 * takes two descriptors more than there are events. AUTO stays below half of the process's
 * descriptors (RLIMIT_NOFILE). A pinned set takes two descriptors more than its events. A set of
 * one task that is exact or pinned maps a ring of five pages (perf_event_mlock_kb).
 * ps_attribution(3) explains the methods and how they are chosen.
 *
 * set - a set that isn't running; a set that is attached to a CPU needs no mode
 * mode - PS_ATTRIBUTE_AUTO is the default; it takes effect at the next ps_start
 *
 * Errors:
 *   PS_EINVAL - set is NULL, or there is no such mode
 *   PS_EISRUN - the set is running
 *   PS_ENOSUPP - mode is PS_ATTRIBUTE_EXACT, and the set wraps a PAPI event set
 */
PS_PUBLIC int ps_eventset_set_attribution(struct ps_eventset *set, enum ps_attribution_mode mode);

/**
 * Tells how the set's counts are attributed at present. A single part can have another label,
 * better or weaker, in its ps_value.
 *
 * The library chooses the attribution when it opens the events: at the first ps_start, ps_store or
 * ps_eventset_overhead. If the set is pinned, mixed or last-cpu, a later ps_start chooses again if
 * the task was bound or unbound since, or if missing descriptors have become available.
 * ps_attribution(3) has all cases.
 *
 * set - any; NULL gives PS_ATTRIBUTION_LAST_CPU, as does a set whose events are
 *     not open
 * why - may be NULL; receives a sentence on why the attribution isn't a better
 *     one, or what limits it; "" if there is nothing to say. It belongs to the
 *     set, and may change at ps_start, at a reading, and at each call that
 *     changes the set.
 */
PS_PUBLIC enum ps_attribution ps_eventset_attribution(const struct ps_eventset *set,
                                                      const char **why);

/**
 * Checks conservation: what the kernel counted, minus what the set has attributed.
 *
 * On a stopped set each residual must be 0. On a running set the call first attributes the counts
 * so far. The residual then has the events that happen during the check, such as instructions.
 *
 * set - a set that was started
 * residual - receives n numbers, in the order of the events
 * n - the number of events
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; n is not the number of events; or the set counts another
 *       thread, which is alive, and is running or has unread counts
 *   PS_ENOTRUN - the set was never started, or was changed after the last start; or its last
 *       ps_start failed
 *   PS_PARTIAL (residual was filled), PS_ESYS - as for ps_read
 *
 * Cost: one read(2) for each group and CPU.
 */
PS_PUBLIC int ps_eventset_check(struct ps_eventset *set, long long *residual, int n);

/**
 * Looks up one reading of this set: the sum of its parts below a component.
 *
 * If several sets have readings with the same timestamp, ps_thread_reading adds up
 * these readings. ps_eventset_reading takes only the reading of this set.
 *
 * set - the set
 * component - any component of the topology in which the set has its readings;
 *     for one hardware thread, the result of ps_thread_component
 * event - the name that is shown, or the one under which the event was added
 * timestamp - the reading's; 0: the set's latest
 * out - receives the sum, with the weakest status and attribution of the parts;
 *     untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or the set has no reading in the
 *       component's topology
 *   PS_ENOEVNT - the set has not counted such an event
 *   PS_ENOEVST - the set has no reading with this timestamp, or none of its
 *       parts is below the component
 *   PS_EINVAL_DOM - the event's scope is wider than the component
 *
 * Any thread, also while the set counts, but not while another thread adds or removes events,
 * starts the set or destroys the set. Not for signal handlers (see <perfsage/thread.h>). No lock,
 * no allocation. Cost: O(log readings) for each hardware thread that the set has met.
 */
PS_PUBLIC int ps_eventset_reading(const struct ps_eventset *set,
                                  const struct ps_component *component, const char *event,
                                  uint64_t timestamp, struct ps_value *out);

/**
 * Allocates, and faults in, the storage of the next `rows` parts. A second call doesn't add to the
 * first call.
 *
 * A reading that fits into this storage allocates nothing; for exceptions see ps_reading(3).
 *
 * set - a set with its events
 * rows - parts to be stored, over all hardware threads; each takes 8 x (events + 2 x groups) bytes
 *     and 10 more. A reading that was accumulated and then read takes two parts when another
 *     reading follows. If readings are updated that are not the latest, up to twice as many parts
 *     are needed.
 *
 * Errors:
 *   PS_EINVAL - set is NULL or has no event
 *   PS_ENOMEM - out of memory. If the set's events aren't open yet, ps_start
 *       allocates the storage, and this call only tries to map that much memory
 */
PS_PUBLIC int ps_eventset_reserve(struct ps_eventset *set, size_t rows);

/**
 * Keeps at most `rows` parts on each hardware thread.
 *
 * The oldest parts are dropped, and counted (ps_thread_dropped).
 *
 * set - a set that isn't running
 * rows - rounded up to a multiple of 64; 0, the default, keeps all
 *
 * Errors:
 *   PS_EINVAL - set is NULL
 *   PS_EISRUN - the set is running
 */
PS_PUBLIC int ps_eventset_set_history(struct ps_eventset *set, size_t rows);

/** The number of events in the set; 0 for NULL. */
PS_PUBLIC size_t ps_eventset_event_count(const struct ps_eventset *set);

/**
 * The name of an event: the term name= of the event if it has one; otherwise as it was added.
 *
 * index - in the order of adding, from 0; NULL is returned beyond the last
 *
 * The name lives until the event is removed or the set destroyed.
 */
PS_PUBLIC const char *ps_eventset_event_name(const struct ps_eventset *set, size_t index);

/** The scope of the index'th event; PS_SCOPE_THREAD beyond the last. */
PS_PUBLIC enum ps_scope ps_eventset_event_scope(const struct ps_eventset *set, size_t index);

/** The index'th event's unit; "" for a plain count. Valid as long as the event's name. */
PS_PUBLIC const char *ps_eventset_event_unit(const struct ps_eventset *set, size_t index);

/** The factor from a count to that unit; 1 for a plain count. */
PS_PUBLIC double ps_eventset_event_scale(const struct ps_eventset *set, size_t index);

/** Says whether the index'th event is counted: PS_STATUS_COUNTED, or
 * PS_STATUS_NOT_SUPPORTED, also for an index beyond the last. */
PS_PUBLIC enum ps_status ps_eventset_event_status(const struct ps_eventset *set, size_t index);

/**
 * True if the index'th event is counted in user space only, for lack of permission.
 */
PS_PUBLIC int ps_eventset_event_is_user_only(const struct ps_eventset *set, size_t index);

/**
 * The number of groups into which the events were split; 0 while no events are
 * open, as before the first start.
 *
 * The events of one group are on the hardware at the same time and are read in one system call.
 */
PS_PUBLIC size_t ps_eventset_group_count(const struct ps_eventset *set);

/** The index'th event's group, from 0; -1: not supported, or no events are open. */
PS_PUBLIC int ps_eventset_event_group(const struct ps_eventset *set, size_t index);

/** True between ps_start and ps_stop, also while paused; 0 for NULL. */
PS_PUBLIC int ps_eventset_is_running(const struct ps_eventset *set);

/** True from the reading on that found the counted task ended, even if not yet reaped. */
PS_PUBLIC int ps_eventset_is_ended(const struct ps_eventset *set);

/** Stops and releases the set; its readings stay. NULL is ignored. PS_OK. */
PS_PUBLIC int ps_eventset_destroy(struct ps_eventset *set);

#ifdef __cplusplus
}
#endif
#endif
