/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event set: the events that are counted together.
 *
 * A set counts the thread that calls ps_start first (its owner), or what it was attached to. The calls here and in
 * <perfsage/read.h> are for one thread at a time; in a set of the calling thread, for the owner alone: each thread
 * of a team clones a model set. Different sets may be used at the same time without a lock.
 * A change of a set's events, target or attribution ends its readings: they stay in the topology, but are not updated any
 * more, and an old timestamp makes a new reading.
 * In a child of fork() all calls on an inherited set fail with PS_ECLOST and leave the parent's counters alone, but
 * for ps_eventset_clone, to which an inherited set may be the model, and ps_eventset_destroy, which closes the child's
 * copies of the descriptors: the kernel keeps the events as long as anybody has one.
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
	PS_SCOPE_MACHINE /* a device, a sensor, the network: only a PAPI event set has such events */
};

/** How a set is to know on which hardware thread its events happened. */
enum ps_attribution_mode {
	PS_ATTRIBUTE_AUTO =
	    0, /* pinned if the task may run on one CPU only; exact if descriptors allow; else last-cpu */
	PS_ATTRIBUTE_EXACT,   /* the kernel splits by hardware thread; ps_start fails where it can't */
	PS_ATTRIBUTE_LAST_CPU /* the cheapest in descriptors: the CPU seen at each reading */
};

/** "thread", "core", "cache", "package", "machine"; "unknown" for any other number. Never NULL. */
PS_PUBLIC const char *ps_scope_name(enum ps_scope scope);

/**
 * Makes an empty event set. out: receives it, for ps_eventset_destroy. PS_EINVAL: out is NULL. PS_ENOMEM.
 */
PS_PUBLIC int ps_eventset_create(struct ps_eventset **out);

/**
 * Adds an event by name: perf's generic names ("instructions", "L1-dcache-load-misses", "page-faults"), raw
 * codes ("r1a8"), a PMU's ("msr/tsc/", "cpu/event=0xc0,umask=1/"), tracepoints ("sched:sched_switch"), breakpoints
 * ("mem:0x1000/8:w"), or, looked for last, libpfm4's names ("INST_RETIRED:ANY_P", "perf::PAGE-FAULTS"). Modifiers follow a
 * colon: u (user), k (kernel), h (hypervisor), as in "instructions:u". Without one, user and kernel are counted, or,
 * where the caller
 * may not count the kernel, user alone: its values then carry PS_VALUE_USER_ONLY. The event is opened once and closed
 * again, to know whether it can be counted here.
 *
 * PS_EINVAL: a NULL. PS_EISRUN: the set is running. PS_ENOEVNT: there is no such event; the detail has the nearest
 * names. PS_EATTR: a term of pmu/.../ is unknown or too large, or a modifier or the syntax is wrong: the detail
 * says which and where. PS_ENOSUPP: known, but this machine can't count it, or the name of another machine's PMU.
 * PS_EPERM: not permitted to this user;
 * the detail says what would permit it. PS_EINVAL_DOM: the event can't be limited to these modifiers. PS_ECNFLCT:
 * the name is in the set already. PS_ECOUNT: no file descriptor is left. PS_ENOMEM, PS_ESYS. The set is then as before.
 */
PS_PUBLIC int ps_eventset_add(struct ps_eventset *set, const char *event);

/**
 * As ps_eventset_add, but an event that this machine or user can't count (PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM) is
 * kept: its values are PS_STATUS_NOT_SUPPORTED, and ps_error_detail() says why. Returns PS_OK then.
 */
PS_PUBLIC int ps_eventset_add_optional(struct ps_eventset *set, const char *event);

/**
 * Adds the best that this machine and user can count: with a PMU cycles, instructions, cache-references,
 * cache-misses and branch-misses; without one task-clock, page-faults, context-switches, cpu-migrations and
 * msr/tsc/. What can't be counted is left out.
 * PS_EINVAL, PS_EISRUN, PS_ENOMEM, PS_ECOUNT as ps_eventset_add. PS_EPERM, PS_ENOSUPP: not one of them can be counted.
 */
PS_PUBLIC int ps_eventset_add_default(struct ps_eventset *set);

/** Removes an event, by the name that is shown or the string that was added. PS_EINVAL: a NULL. PS_EISRUN. PS_ENOEVNT:
 * it isn't in the set. Stored readings stay. */
PS_PUBLIC int ps_eventset_remove(struct ps_eventset *set, const char *event);

/**
 * Makes a new set with the events and options of a model; neither readings nor the attachment are copied.
 *
 * It may be called by several threads for one model at the same time. So each thread of a team has a set of its own: keep it by
 * thread (pthread_setspecific, with a destructor), and not by omp_get_thread_num(), as OpenMP ends threads and creates
 * others under the same number. PS_EINVAL: a NULL. PS_ENOMEM.
 */
PS_PUBLIC int ps_eventset_clone(struct ps_eventset **out, const struct ps_eventset *model);

/**
 * Counts another software thread (of this user's processes; others need CAP_PERFMON or CAP_SYS_PTRACE).
 *
 * tid: as gettid(2) gives it. PS_EINVAL: NULL set or tid < 1. PS_EISRUN: the set is running. PS_ESYS: there is no
 * such thread.
 */
PS_PUBLIC int ps_eventset_attach_tid(struct ps_eventset *set, pid_t tid);

/**
 * Counts every thread of a process, and the threads and child processes that they create from then on, split by hardware
 * thread. Needs the permissions of ps_eventset_attach_tid.
 *
 * ps_start opens the events for each thread that there is (threads x events x CPUs file descriptors), and each
 * reading reads them all; a process that is attached before it creates threads takes one set of them. If that
 * exceeds what AUTO may take, the counts go unsplit to the CPU where the first thread was seen (last-cpu). Threads and
 * children that have ended stay in the counts. If some are created all the time while ps_start opens the events, it
 * opens them again, up to eight times, and then without groups; those that come in that moment may be counted in part.
 * From set-user-ID and unreadable programs Linux takes the events: see ps_eventset_uncounted.
 * PS_EINVAL: NULL set or pid < 1. PS_EISRUN: the set is running. PS_ESYS: there is no such process.
 */
PS_PUBLIC int ps_eventset_attach_process(struct ps_eventset *set, pid_t pid);

/**
 * Counts all that happens on one CPU, whichever task runs there. Needs perf_event_paranoid <= 0 or CAP_PERFMON:
 * without them, ps_start fails with PS_EPERM.
 *
 * If the CPU goes offline, the counts until then are kept; when it is back, the next reading goes on with
 * counting and bears PS_VALUE_INTERRUPTED.
 * PS_EINVAL: NULL set or no such CPU. PS_EISRUN: the set is running.
 */
PS_PUBLIC int ps_eventset_attach_cpu(struct ps_eventset *set, int cpu);

/**
 * Lets counting begin when the attached thread or process calls execve(2) next: ps_start then opens the events, and the
 * kernel enables them at the exec. So a program is counted from its first instruction on, and what its parent did
 * between fork and exec is not.
 *
 * on: 0, the default, or another number. It acts at each following ps_start, which opens the events anew. A child
 * process that was forked after ps_start and execs first is counted from its own exec on. PS_EINVAL: NULL.
 * PS_EISRUN: the set is running.
 * ps_start fails with PS_ECOMBO if the set is attached to neither a thread nor a process.
 */
PS_PUBLIC int ps_eventset_set_enable_on_exec(struct ps_eventset *set, int on);

/**
 * Counts all tasks of a control group (and of the groups below it), those to come included, split by hardware thread. It
 * needs perf_event_paranoid <= 0 or CAP_PERFMON: without them, ps_start fails with PS_EPERM.
 *
 * path: absolute, or below the mount point of the hierarchy that perf knows: the one of cgroup with the controller
 * perf_event, or cgroup2. The library moves no process into it: whoever starts the program does
 * (systemd-run --scope, a batch system, or `echo PID >.../cgroup.procs`).
 * One group of events for each CPU that is online at ps_start; nothing is inherited, so threads and children cost
 * nothing when they are created (as they do in ps_eventset_attach_process). Each reading reads all CPUs. The
 * mode of attribution is not concerned. A single event on a CPU that goes offline isn't counted any more until the next
 * ps_start; a group of several is opened anew, and its values bear PS_VALUE_INTERRUPTED.
 * PS_EINVAL: NULL set, no path. PS_EISRUN: the set is running. PS_ESYS: there is no such control group, or no such file
 * system is mounted. PS_ECOUNT: no descriptor is left; one is kept. PS_ENOMEM. ps_start: PS_EINVAL if it is no
 * control group.
 */
PS_PUBLIC int ps_eventset_attach_cgroup(struct ps_eventset *set, const char *path);

/** Counts the thread that starts it, again. PS_EINVAL: NULL. PS_EISRUN: the set is running. */
PS_PUBLIC int ps_eventset_detach(struct ps_eventset *set);

/**
 * Chooses how the set knows where its events happened; PS_ATTRIBUTE_AUTO is the default. It acts at the next ps_start. A
 * set that is attached to a CPU is not concerned.
 *
 * Exact attribution opens every event once for each CPU of the machine (events x CPUs file descriptors, and one),
 * of which the kernel counts with the one where the task is: one set of hardware counters is in use at a time.
 * AUTO uses it while the library's event sets take no more than half of the process's descriptors (RLIMIT_NOFILE).
 * CPUs that are offline are counted when they come; one that was not even present at ps_start is not.
 * Where kernel-side events are permitted (perf_event_paranoid <= 1 or CAP_PERFMON) and the machine has 4 CPUs or more,
 * AUTO lets the kernel record one task's counts at each migration instead: it takes two descriptors more than there are
 * events, whatever the number of CPUs, and opens much faster. If more migrations come between two readings than
 * the records' ring holds (64 at least, some 200 for one event), all parts of that reading are last-cpu. Several
 * hardware groups, which take turns, and machines with several kinds of cores are not counted so. EXACT does it only
 * if there aren't descriptors enough for all CPUs.
 * A set of one task that is exact or pinned maps a ring of five pages (perf_event_mlock_kb): without one, AUTO gives
 * last-cpu, and EXACT reads all CPUs at each reading. A pinned set takes two descriptors more than its events.
 * PS_EINVAL: NULL set or no such mode. PS_EISRUN: the set is running.
 */
PS_PUBLIC int ps_eventset_set_attribution(struct ps_eventset *set, enum ps_attribution_mode mode);

/**
 * The attribution that the set's counts have at best, as it was chosen when ps_start opened the events: at the first
 * start, and at a later one if the task has become or ceased to be pinned meanwhile, or there is room for the descriptors
 * by then that there wasn't.
 *
 * why: may be NULL; receives a sentence on why it isn't a better one ("" if it is the best), which lives as long as
 * the set and changes at ps_start. Before the first ps_start and for NULL: PS_ATTRIBUTION_LAST_CPU.
 */
PS_PUBLIC enum ps_attribution ps_eventset_attribution(const struct ps_eventset *set, const char **why);

/**
 * Conservation: what the kernel counted, less what the set has credited to hardware threads.
 *
 * residual: n numbers, in the order of the events; 0 where nothing is amiss. On a running set, what was counted so far is
 * credited first; but what is counted while it is checked shows, as instructions do. n: the number of events.
 * PS_EINVAL: a NULL, or another n. PS_ENOTRUN: never started. PS_ESYS as ps_read. Cost: one read(2) for each
 * group and CPU.
 */
PS_PUBLIC int ps_eventset_check(struct ps_eventset *set, long long *residual, int n);

/**
 * One reading of this set: the sum of its parts below a component. Where several sets have readings of one timestamp,
 * ps_thread_reading adds them up; this call names the set.
 *
 * component: any of the topology in which the set has its readings; for one hardware thread, ps_thread_component's. event: the
 * name under which it was added. timestamp: of the reading; 0: the set's latest. out: untouched on failure; its status and
 * attribution are the weakest of the parts'.
 * PS_EINVAL: a NULL, or the set has no reading in the component's topology. PS_ENOEVNT: the set has not counted such an event.
 * PS_ENOEVST: the set has no reading with this timestamp, or none of its parts is below the component. PS_EINVAL_DOM: the event's
 * scope is wider than the component.
 * Any thread, also while the set counts; but not while another one adds or removes events, starts the set or destroys it.
 * Not for signal handlers (see <perfsage/thread.h>). Cost: O(log readings) for each hardware thread that the set has met; no
 * lock, no allocation.
 */
PS_PUBLIC int ps_eventset_reading(const struct ps_eventset *set, const struct ps_component *component,
                                  const char *event, uint64_t timestamp, struct ps_value *out);

/**
 * Allocates, and faults in, the storage of `rows` more readings, so that none of them allocates.
 *
 * rows: parts to be stored, over all hardware threads; 8 x (events + 4) bytes each at most. A reading that was
 * accumulated and then read takes two when another one follows; those that are updated when they are not the latest take up
 * to as many more. The set's events must have been added before. PS_EINVAL: NULL set or an empty one. PS_ENOMEM; of a
 * set whose events aren't open yet, if so much can't be had in any case.
 */
PS_PUBLIC int ps_eventset_reserve(struct ps_eventset *set, size_t rows);

/**
 * Keeps at most `rows` parts on each hardware thread (rounded up to 64); the oldest are dropped, and counted
 * (ps_thread_dropped). 0, the default, keeps all. PS_EINVAL: NULL. PS_EISRUN: the set is running.
 */
PS_PUBLIC int ps_eventset_set_history(struct ps_eventset *set, size_t rows);

/** How many events are in the set; 0 for NULL. */
PS_PUBLIC size_t ps_eventset_event_count(const struct ps_eventset *set);

/** The name of the index'th event, as it was added or its term name= has it; NULL beyond the last. Lives until the event
 * is removed. */
PS_PUBLIC const char *ps_eventset_event_name(const struct ps_eventset *set, size_t index);

/** The scope of the index'th event; PS_SCOPE_THREAD beyond the last. */
PS_PUBLIC enum ps_scope ps_eventset_event_scope(const struct ps_eventset *set, size_t index);

/** The unit of the index'th event: "ns", "Joules"; "" for a plain count, and beyond the last. Lives as its name. */
PS_PUBLIC const char *ps_eventset_event_unit(const struct ps_eventset *set, size_t index);

/** count * scale is in that unit; 1 for a plain count, and beyond the last. */
PS_PUBLIC double ps_eventset_event_scale(const struct ps_eventset *set, size_t index);

/** What is known of the index'th event before it counts: COUNTED, or NOT_SUPPORTED (ps_eventset_add_optional; beyond the
 * last). */
PS_PUBLIC enum ps_status ps_eventset_event_status(const struct ps_eventset *set, size_t index);

/** True if the index'th event is counted in user space only, for lack of permission. */
PS_PUBLIC int ps_eventset_event_is_user_only(const struct ps_eventset *set, size_t index);

/**
 * Into how many groups the events were split: those of one group are on the hardware at the same time and are
 * read in one system call. 0 before the first ps_start.
 */
PS_PUBLIC size_t ps_eventset_group_count(const struct ps_eventset *set);

/** The group, from 0, in which the index'th event is counted; -1 if none (not supported, or not started yet). */
PS_PUBLIC int ps_eventset_event_group(const struct ps_eventset *set, size_t index);

/** Is the set between ps_start and ps_stop? 0 for NULL. */
PS_PUBLIC int ps_eventset_is_running(const struct ps_eventset *set);

/** Has the thread or process that the set counts been seen to have ended, waited for or not? Its last totals can still
 * be read. */
PS_PUBLIC int ps_eventset_is_ended(const struct ps_eventset *set);

/** Stops and releases the set; its readings stay in the topology. NULL is ignored. Returns PS_OK. */
PS_PUBLIC int ps_eventset_destroy(struct ps_eventset *set);

#ifdef __cplusplus
}
#endif
#endif
