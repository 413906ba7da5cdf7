/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control of a set's counters: pause them, all or one; start one event's count
 * over; count events in one group; reach the perf events of a set.
 *
 * For a set that wraps PAPI's (ps_eventset_from_papi), all calls that can fail,
 * except ps_eventset_reset_event, fail with PS_ENOSUPP. An event is named by its
 * index, in the order of adding, from 0.
 */
#ifndef PERFSAGE_COUNTER_H
#define PERFSAGE_COUNTER_H

#include <perfsage/eventset.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Stops the counters of a running set; ps_resume goes on.
 *
 * The counts are kept. Enabled and running time are kept and stand still.
 * Readings, ps_accum, ps_reset and snapshots are allowed in a pause. ps_stop
 * stops a paused set like any other set.
 *
 * set - was started; if it is paused already, nothing is done
 *
 * Errors:
 *   PS_EINVAL - set is NULL, or the caller isn't the owner
 *   PS_ENOTRUN - the set is not running: it was never started, or was stopped; or
 *       it counts from an exec on (ps_eventset_set_enable_on_exec), and this exec
 *       has not happened yet
 *   PS_ENOSUPP - the set wraps a PAPI event set
 *   PS_ECLOST, PS_ECNFLCT - as in ps_read
 *   PS_ENOMEM, PS_ESYS - the set is nevertheless paused; the next reading contains
 *       its counts. Exception: a set that counts from an exec on is read before
 *       the pause. If this reading fails, the set is not paused
 *
 * Thread: as for ps_stop. Cost: that of ps_stop, but no row is stored.
 */
PS_PUBLIC int ps_pause(struct ps_eventset *set);

/**
 * Goes on with a paused set. Events in the pause are not counted.
 *
 * set - is running or paused; if it isn't paused, nothing is done
 *
 * Errors:
 *   PS_EINVAL, PS_ENOTRUN, PS_ENOSUPP, PS_ECLOST, PS_ECNFLCT - as in ps_pause
 *   PS_ESYS - the counted task has ended, or the kernel refused; the set stays
 *       paused
 *   PS_ENOMEM - out of memory; the set stays paused
 *
 * Thread: as for ps_stop. Cost: that of ps_start.
 */
PS_PUBLIC int ps_resume(struct ps_eventset *set);

/** True between ps_pause and ps_resume or ps_stop; 0 for NULL. */
PS_PUBLIC int ps_eventset_is_paused(const struct ps_eventset *set);

/**
 * Pauses one event; the other events go on.
 *
 * The call is allowed before ps_start. The pause lasts until
 * ps_eventset_resume_event: ps_stop and ps_start don't end it. The hardware
 * counter is free in the pause. Exception: the leader of a group goes on in the
 * hardware, and its counts in the pause are left out. Usually the leader is the
 * first hardware event of the group. A pinned or exclusive event is the leader
 * instead. The times of a value are the times of the event's group, and go on.
 *
 * From the first pause on, the event's values have the flag PS_VALUE_PAUSED.
 *
 * set - any; running or not
 * event - index of an event that is counted here
 *
 * Errors:
 *   PS_EINVAL - set is NULL, or there is no such event; or the caller isn't the
 *       owner of a set that was started
 *   PS_ENOSUPP - the event can't be counted here; the set wraps a PAPI event
 *       set, keeps tasks apart (ps_eventset_set_tasks), or is counted by a BPF
 *       program (PS_ATTRIBUTE_BPF)
 *   PS_ECLOST, PS_ECNFLCT - as in ps_read
 *   PS_ESYS - the kernel refused
 *
 * Cost: one ioctl(2) for each CPU that the set has counters on; for the leader of a
 * group, and for a software event whose leader is another kind of software event,
 * a read(2) instead.
 */
PS_PUBLIC int ps_eventset_pause_event(struct ps_eventset *set, size_t event);

/**
 * Ends the pause of one event; an event that isn't paused goes on.
 *
 * Errors and cost are those of ps_eventset_pause_event.
 */
PS_PUBLIC int ps_eventset_resume_event(struct ps_eventset *set, size_t event);

/** True if the event is paused; 0 for an index beyond the last. */
PS_PUBLIC int ps_eventset_event_is_paused(const struct ps_eventset *set, size_t event);

/**
 * Restarts the count of one event from 0; the other events keep their counts.
 *
 * As with ps_reset, no perf event is reset, and the base that ps_accum made
 * stays. Times are the group's, and stay as well.
 *
 * set - was started; running, paused or stopped
 * event - its index
 *
 * Errors:
 *   PS_EINVAL - set is NULL, or there is no such event; or the caller isn't the
 *       owner
 *   PS_ENOTRUN - the set was never started, or was changed after the last start: its
 *       events, target, grouping, attribution mode, a filter or a program
 *   PS_ECLOST, PS_ECNFLCT, PS_ENOMEM, PS_ESYS - as in ps_read
 *
 * Cost: that of a reading.
 */
PS_PUBLIC int ps_eventset_reset_event(struct ps_eventset *set, size_t event);

/** The choice of groups for events. A group is on the hardware as a whole. */
enum ps_grouping {
	PS_GROUP_AUTO = 0, /* as few groups as the hardware permits; nothing is promised */
	PS_GROUP_TOGETHER, /* the events are in one group, or ps_start fails */
	PS_GROUP_WEAK,     /* as many as fit in one group; the rest in another, and so on */
	PS_GROUP_APART     /* each event in a group of its own */
};

/**
 * Chooses how events are grouped.
 *
 * Events of one group count over the same time, so their ratio is true even if
 * groups take turns on the hardware. PS_GROUP_TOGETHER is tried at once, on the
 * calling thread, and again at ps_start. An event that can't be counted here is
 * left out of the group. ps_eventset_event_group tells the group of each event.
 * If some of the events are pinned or exclusive, the first of these leads the group.
 *
 * set - a set that isn't running
 * events - n indices; each event leaves the grouping that it had
 * n - how many indices; at least 1. A group of one event is also possible
 * how - the grouping. That of a new event is PS_GROUP_AUTO
 *
 * Errors; the set is then as before:
 *   PS_EINVAL - set or events is NULL, n is 0, an index is beyond the last or
 *       given twice, or there is no such grouping
 *   PS_EISRUN - the set is running
 *   PS_ENOCNTR - the events can't be counted together: they are of different PMUs, or
 *       there are too few counters. The detail names the event that doesn't fit
 *   PS_ENOSUPP - the set wraps a PAPI event set
 *   PS_ENOMEM, PS_ECOUNT, PS_ESYS - as in ps_start
 */
PS_PUBLIC int ps_eventset_group(struct ps_eventset *set, const size_t *events, size_t n,
                                enum ps_grouping how);

/** A perf event that a set has open. */
struct ps_counter {
	size_t size;  /* the library's sizeof; later versions can have more members */
	size_t event; /* index of the event */
	pid_t tid;    /* the thread that is counted; 0: the set's owner, -1: all tasks */
	int cpu;      /* the CPU where it counts; -1: wherever the task is */
	int fd;       /* borrowed: see below */
	uint64_t id;  /* the kernel's number of the perf event, also in records of other tools */
};

/**
 * Visits the perf events that a set has open for its events, in any order.
 *
 * The descriptors are the set's. Never close them. The caller can give them to
 * epoll(7) and read(2), and use ioctl(2) requests that change no count. The
 * descriptors are valid until the set's events, target or grouping change, or the
 * set is started again or destroyed. An ioctl that resets or disables a counter
 * makes the set's counts wrong. A group can have further events of the library's own,
 * which come last in the numbers of read(2).
 *
 * set - was started
 * visit - is called with each perf event; any other result than 0 ends the visits.
 *     The struct is valid during the call only
 * context - is passed on
 *
 * Returns PS_OK, or what visit returned.
 *
 * Errors:
 *   PS_EINVAL - set or visit is NULL
 *   PS_ENOTRUN - the set has no counters open: it was never started, it was changed
 *       after the last start (as in ps_eventset_reset_event), or the last ps_start
 *       could not open the counters
 *   PS_ENOSUPP - the set wraps a PAPI event set
 *   PS_ECLOST, PS_ECNFLCT - as in ps_read
 *   PS_ESYS - the kernel doesn't tell an id
 *
 * visit must not use the set. Cost: two ioctl(2) for each perf event.
 */
PS_PUBLIC int ps_eventset_for_each_counter(struct ps_eventset *set,
                                           int (*visit)(const struct ps_counter *counter,
                                                        void *context),
                                           void *context);

/**
 * Counts only those hits of a tracepoint for which a filter is true.
 *
 * The kernel evaluates the filter, for example "prev_pid == 0 && next_prio < 100".
 * The file events/SYSTEM/NAME/format of tracefs lists the tracepoint's fields. The
 * set's readings end, as when an event is added.
 *
 * set - a set that isn't running
 * event - index of a tracepoint
 * filter - copied; NULL or "": every hit counts, as at first
 *
 * Errors; the set is then as before:
 *   PS_EINVAL - set is NULL, or there is no such event
 *   PS_EISRUN - the set is running
 *   PS_EATTR - the kernel doesn't understand the filter, or the tracepoint has
 *       no such field
 *   PS_ENOSUPP - the event is no tracepoint, or can't be counted here; or the set
 *       wraps a PAPI event set
 *   PS_EPERM, PS_ECOUNT, PS_ENOMEM, PS_ESYS - as in ps_eventset_add
 */
PS_PUBLIC int ps_eventset_set_filter(struct ps_eventset *set, size_t event, const char *filter);

/**
 * Attaches an eBPF program to a tracepoint, kprobe or uprobe.
 *
 * While the set's counters are open, Linux runs the program at every hit of the
 * event, by any task. If the program returns 0 for a hit, neither this set nor
 * any other perf event on the same tracepoint counts the hit. The set's readings
 * end, as when an event is added.
 *
 * set - a set that isn't running
 * event - its index
 * program_fd - the program's descriptor, from bpf(2). It stays the caller's, and must
 *     stay open until the set is started for the last time. -1: none, as at first
 *
 * Errors; the set is then as before:
 *   PS_EINVAL - set is NULL, or there is no such event; or program_fd is no
 *       program for this kind of event
 *   PS_EISRUN - the set is running
 *   PS_ENOSUPP - the event takes no program, or can't be counted here; or the set
 *       wraps a PAPI event set
 *   PS_EPERM, PS_ECOUNT, PS_ENOMEM, PS_ESYS - as in ps_eventset_add
 */
PS_PUBLIC int ps_eventset_set_bpf(struct ps_eventset *set, size_t event, int program_fd);

#ifdef __cplusplus
}
#endif
#endif
