/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice among the attribution methods, and functions that several methods share: where a set's
 * task is, and where it was. */
#ifndef PS_EVENTSET_ATTRIBUTION_H
#define PS_EVENTSET_ATTRIBUTION_H

#include "eventset/eventset.h"

/* State of one clock (see method_time_share.c) after the last fetch. */
struct ps__clock_known {
	struct ps__clock_time last;
	bool has_run;     /* its root ran on its CPU in the interval before that fetch */
	bool is_doubtful; /* the part of its CPU may lack counts */
};

/* With fewer CPUs, an instance for each CPU is opened in less time than migration records. */
#define PS__CPUS_FOR_RECORDS 4

/* At most this many methods have a rank for a set: the size of ps__set_rank_methods' array. */
#define PS__METHOD_RANKS 3

/* choose_method.c: lists the methods to try, best first. Returns their number; 0: don't split. */
size_t ps__set_rank_methods(struct ps_eventset *set,
                            const struct ps__method *ranks[PS__METHOD_RANKS]);
/* Prepares a method, before the events are opened. ps__set_forget_method undoes this; call it also
 * after a failure. */
int ps__set_choose_method(struct ps_eventset *set, const struct ps__method *method);
void ps__set_forget_method(struct ps_eventset *set);
void ps__set_settle_for_plain(struct ps_eventset *set, const char *why);
/* Opens the switch ring if the method wants one. A set without a ring doesn't know where its task
 * is between readings: labels are weaker, and all instances are read. */
int ps__set_open_switch_ring(struct ps_eventset *set);
/* Drops the records that the ring has now. The caller must then look up the task's CPU. */
void ps__set_skip_visits(struct ps_eventset *set);
/* choose_papi.c: makes the same choice for a set that wraps PAPI's. */
void ps__set_choose_for_papi(struct ps_eventset *set);

/* budget.c: charges the descriptors that the set needs, beyond those already charged. PS_ECOUNT if
 * has_budget, and AUTO's budget has no room for them. */
int ps__set_charge(struct ps_eventset *set, bool has_budget);
void ps__set_release(struct ps_eventset *set);
/* Before anything is opened: PS_ECOUNT if the set needs more descriptors than the limit. */
int ps__set_check_limit(const struct ps_eventset *set);
bool ps__set_is_within_budget(size_t needed);

/* task_cpus.c: returns the one CPU on which the task may run; -1: several. */
int ps__set_only_cpu(const struct ps_eventset *set);
/* The thread to which a set of one task is attached; 0: the caller. */
static inline pid_t ps__set_sole_tid(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_TID ? set->counters.target.tid : 0;
}
/* The number of CPUs when the process first asked; for the comparison of costs. */
size_t ps__set_count_present_cpus(void);
/* Returns ask()'s answer. Keeps it in *known (0: not asked yet), because ask reads a file, which
 * costs as much as an event. If a test replaces the file calls, ask is called each time. */
int ps__set_ask_once(_Atomic int *known, int (*ask)(void));
/* Two functions for methods. The first lists the CPUs on which counters are to be opened. The
 * second is true if other CPUs are online now than when the set was opened. */
int ps__set_list_cpus(struct ps_eventset *set);
bool ps__set_has_other_cpus(const struct ps_eventset *set);
/* True if a CPU is online that is not among the set's. */
bool ps__set_has_new_cpu(const struct ps_eventset *set);
bool ps__set_mask_changed(const struct ps_eventset *set);

/* find_cpu.c: returns the CPU where the task is; for an ended owner, the CPU where the owner was
 * last seen. The caller is the owner, or a thread that may take an ended owner's counts. */
int ps__set_find_other_cpu(struct ps_eventset *set);
static inline int ps__set_find_cpu(struct ps_eventset *set)
{
	/* The caller's own counters are running: code before they are read is counted. */
	if (__builtin_expect(set->counters.target.kind == PS__TARGET_SELF && !set->is_ended, 1))
		return ps__os_getcpu();
	return ps__set_find_other_cpu(set);
}
/* locate.c: the same for any caller, with a label that says how the CPU is known. */
int ps__set_locate(struct ps_eventset *set, int *cpu, uint16_t *mark);
/* Returns the CPU of an attached task, or where it was last seen. Notes if the task has ended. */
int ps__set_look_at_task(struct ps_eventset *set);
/* Returns PS__MARK_MOVED if the calling thread has left `cpu`: some of the counts just read may
 * belong to another CPU. Otherwise 0. */
uint16_t ps__set_moved_mark(const struct ps_eventset *set, int cpu);

/* A task that moves while its counters are read is followed this many times; later moves belong to
 * the next reading. */
#define PS__LARGEST_FOLLOW 4
/* fetch.c: reads the only instance while the task doesn't move, if that is possible. follow: called
 * before each attempt, to take what the switch ring tells. A move after the last look at the ring
 * belongs to the next reading. */
int ps__set_read_still(struct ps_eventset *set, void (*follow)(struct ps_eventset *set));
/* method_per_cpu.c: assigns the counts and times of the slot's instance to the slot. */
void ps__set_assign_instance(struct ps_eventset *set, struct ps__slot *slot);

/* True if BPF is to count. The mode has an effect only for a process. */
static inline bool ps__set_demands_bpf(const struct ps_eventset *set)
{
	return set->attribution.mode == PS_ATTRIBUTE_BPF &&
	       set->counters.target.kind == PS__TARGET_PROCESS;
}

/* method_cgroup.c: read and label instances that count on their CPUs for a control group or
 * process. The method that calls them finds the reading's CPU itself. */
int ps__set_read_places(struct ps_eventset *set);
bool ps__set_label_places(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here);

/* method_mixed.c: counts that can't be split, and the task's time on each CPU. */
/* Adds to the slots the times that the switch ring tells. cpu: where the task is. False if the
 * times aren't known. */
bool ps__set_follow(struct ps_eventset *set, int cpu);
void ps__set_share_counts(struct ps_eventset *set, size_t instance, uint64_t spent_ns,
                          uint16_t mark);
uint64_t ps__set_time_spent(const struct ps_eventset *set);
void ps__set_forget_times(struct ps_eventset *set);
/* Notes that the slots have all counts until this time: later counts are shared out by the time
 * from then on. */
static inline void ps__set_note_assigned(struct ps_eventset *set, uint64_t until_ns)
{
	if (set->attribution.stay.since_ns < until_ns)
		set->attribution.stay.since_ns = until_ns;
}
/* Implements is_label_lasting for methods whose switch ring tells where the task stays. */
bool ps__set_is_stay_lasting(const struct ps_eventset *set, const struct ps__slot *slot);

/* time_share.c: ps__set_is_costly is true if a created task would copy so many per-CPU counters
 * that a cheaper method is preferred, even if it estimates. ps__set_has_few_clocks is true if
 * clocks are cheap; they may prove where the counts belong. */
bool ps__set_is_costly(const struct ps_eventset *set);
bool ps__set_has_few_clocks(const struct ps_eventset *set);
int ps__set_prepare_clocks(struct ps_eventset *set);
int ps__set_prepare_looks(struct ps_eventset *set);
void ps__set_forget_clocks(struct ps_eventset *set);
/* method_time_share.c */
/* Notes that the clocks were read outside a fetch: the next fetch can't prove by them where the
 * counts belong. */
void ps__set_doubt_clocks(struct ps_eventset *set);

/* slot.c: marks all counts as a lower bound: others are missing, and may belong to any part. */
void ps__set_mark_incomplete(struct ps_eventset *set);

/* method_bound.c: notes if a task that had one CPU when its set was started was elsewhere. */
void ps__set_look_for_migration(struct ps_eventset *set);

#endif
