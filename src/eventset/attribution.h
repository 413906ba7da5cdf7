/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice among the attribution methods, and functions that several of them share: they tell
 * where a set's task is and was. */
#ifndef PS_EVENTSET_ATTRIBUTION_H
#define PS_EVENTSET_ATTRIBUTION_H

#include "eventset/eventset.h"

/* A set has so many methods with a rank at most: the room of ps__set_rank_methods. */
#define PS__METHOD_RANKS 3

/* attribution.c: which methods that split the counts are to be tried, best first. */
size_t ps__set_rank_methods(struct ps_eventset *set,
                            const struct ps__method *ranks[PS__METHOD_RANKS]);
/* One of them is prepared, before the events are opened; ps__set_forget_method undoes it, whether
 * it could be or not. */
int ps__set_choose_method(struct ps_eventset *set, const struct ps__method *method);
void ps__set_forget_method(struct ps_eventset *set);
void ps__set_settle_for_plain(struct ps_eventset *set, const char *why);
/* Without a switch ring, a task's whereabouts between readings are unknown: labels fall back, and
 * instances are all read. */
int ps__set_open_switch_ring(struct ps_eventset *set);
/* Drops what the switch ring tells of the time until now; the task must be looked at after it. */
void ps__set_skip_visits(struct ps_eventset *set);
/* choose_papi.c: the same choice for a set that wraps PAPI's. */
void ps__set_choose_for_papi(struct ps_eventset *set);

/* budget.c: takes the descriptors that the set needs, beside those that it has. PS_ECOUNT if
 * has_budget, and AUTO's budget has no room for them. */
int ps__set_charge(struct ps_eventset *set, bool has_budget);
void ps__set_release(struct ps_eventset *set);
/* Before anything is opened: PS_ECOUNT if the process may not have as many descriptors at all. */
int ps__set_check_limit(const struct ps_eventset *set);
bool ps__set_is_within_budget(size_t needed);

/* task_cpus.c: the one CPU that the task may run on; -1: several. */
int ps__set_only_cpu(const struct ps_eventset *set);
/* The thread that the set is attached to; 0: the caller, for a set that counts one task. */
static inline pid_t ps__set_sole_tid(const struct ps_eventset *set)
{
	return set->counters.target.kind == PS__TARGET_TID ? set->counters.target.tid : 0;
}
/* To weigh costs by: as many as there were when the process first asked. */
size_t ps__set_count_present_cpus(void);
/* The kernel's answer, kept in known, which is 0 before: each file costs as much as an event. While
 * a test stands in for the kernel's files, it is asked each time. */
int ps__set_ask_once(_Atomic int *known, int (*ask)(void));
/* For methods: the CPUs that counters are to be opened on; are there others now? Would another
 * method be chosen now? */
int ps__set_list_cpus(struct ps_eventset *set);
bool ps__set_has_other_cpus(const struct ps_eventset *set);
/* One is online now, and is not among the set's. */
bool ps__set_has_new_cpu(const struct ps_eventset *set);
bool ps__set_mask_changed(const struct ps_eventset *set);

/* find_cpu.c: where the task is. The caller is the owner, or may take an ended owner's counts:
 * these are where it was. */
int ps__set_find_other_cpu(struct ps_eventset *set);
static inline int ps__set_find_cpu(struct ps_eventset *set)
{
	/* The caller's own counters are running: what comes before they are read is counted. */
	if (__builtin_expect(set->counters.target.kind == PS__TARGET_SELF && !set->is_ended, 1))
		return ps__os_getcpu();
	return ps__set_find_other_cpu(set);
}
/* locate.c: the same, with how that is known, for any caller. */
int ps__set_locate(struct ps_eventset *set, int *cpu, uint16_t *mark);
/* The CPU of an attached task, or where it was seen last; notices its end. */
int ps__set_look_at_task(struct ps_eventset *set);
/* Flags: what the calling thread did since it was on that CPU is not known to be there, if it is
 * elsewhere by now. */
uint16_t ps__set_moved_mark(const struct ps_eventset *set, int cpu);

/* method_per_cpu.c: an instance's counts, and its times. */
void ps__set_assign_instance(struct ps_eventset *set, struct ps__slot *slot, uint16_t mark);

/* The mode is for a process alone. */
static inline bool ps__set_demands_bpf(const struct ps_eventset *set)
{
	return set->attribution.mode == PS_ATTRIBUTE_BPF &&
	       set->counters.target.kind == PS__TARGET_PROCESS;
}

/* method_cgroup.c: instances that are counted for a set on their CPUs. The CPU of the reading is
 * the method's to find. */
int ps__set_read_places(struct ps_eventset *set);
bool ps__set_label_places(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here);

/* method_mixed.c: counts that can't be split, and the times on each CPU. */
/* Where the switch ring says that the task has been, and how long; cpu: where it is. False if that
 * isn't known. */
bool ps__set_follow(struct ps_eventset *set, int cpu);
void ps__set_share_counts(struct ps_eventset *set, size_t instance, uint64_t spent_ns,
                          uint16_t mark);
uint64_t ps__set_time_spent(const struct ps_eventset *set);
void ps__set_forget_times(struct ps_eventset *set);
/* is_label_lasting of methods whose switch ring tells where the task stays. */
bool ps__set_is_stay_lasting(const struct ps_eventset *set, const struct ps__slot *slot);

/* time_share.c: would a created task take so many copies of per-CPU counters that a cheaper method
 * is worth an estimate? Clocks are cheap if they are few, and prove what they can. */
bool ps__set_is_costly(const struct ps_eventset *set);
bool ps__set_has_few_clocks(const struct ps_eventset *set);
int ps__set_prepare_clocks(struct ps_eventset *set);
int ps__set_prepare_looks(struct ps_eventset *set);
void ps__set_forget_clocks(struct ps_eventset *set);
/* method_time_share.c */
/* The clocks were read for another than the next fetch: what they prove then is too little. */
void ps__set_doubt_clocks(struct ps_eventset *set);

/* method_bound.c: was a task elsewhere that had one CPU when its set was started? */
void ps__set_look_for_migration(struct ps_eventset *set);

#endif
