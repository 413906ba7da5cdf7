/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An attribution method: how a set knows on which hardware thread the task was when something was
 * counted. Each method is a table of functions in a file of its own. attribution.c chooses one when
 * the events are opened; the driver in fetch.c does what all methods have in common.
 */
#ifndef PS_EVENTSET_METHOD_H
#define PS_EVENTSET_METHOD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct ps_eventset;
struct ps__slot;
struct ps__switch_ring;
struct ps__clock_place;
struct ps__clock_time;
struct ps__looks;

/* One fetch: what was counted since the last one goes to slots. */
struct ps__fetch {
	int cpu; /* set by read: where the task is */
	/* PS__MARK_*, for each part that assign makes; read may set some, and the driver adds
	 * more */
	uint16_t flags;
	uint16_t mark; /* set by assign: attribution and flags of the part on that CPU */
};

/* The ways in which counts are split by hardware thread. */
enum ps__split {
	PS__SPLIT_NOT,      /* the counts are read as a whole, and a CPU is found for them */
	PS__SPLIT_COUNTERS, /* a task has counters on each CPU */
	PS__SPLIT_RECORDS,  /* the kernel records a task's counts at each migration */
	PS__SPLIT_TIMES,    /* a process's counts are shared out by its tasks' times on each CPU */
	PS__SPLIT_PLACES    /* the counters belong to CPUs, not to a task */
};

struct ps__method {
	enum ps__split split;
	/* True if each part was counted on its CPU: ps_eventset_attribution calls the set exact. An
	 * estimate leaves it out. */
	bool is_exact;
	/* Why its labels aren't better. NULL: they are the best. */
	const char *why;
	/* Before the events are opened: what they need. NULL only in a method without a rank. A
	 * code, with a detail. */
	int (*prepare)(struct ps_eventset *set);
	/* Opens the ring of the task's context switches or migrations. NULL: not needed. 0 or
	 * -errno. */
	int (*open_switch_ring)(struct ps_eventset *set, pid_t tid);
	/* Before the counters are started. NULL: nothing. */
	void (*start)(struct ps_eventset *set);
	/* Reads the totals. A method that assigns slots here calls ps__set_begin_counts first.
	 * PS_OK, PS_PARTIAL if some CPU lacks counts, or a code with a detail; nothing is lost
	 * then. */
	int (*read)(struct ps_eventset *set, struct ps__fetch *fetch);
	/* Assigns what was read to slots. False if the task's own slot has no part of it. */
	bool (*assign)(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here);
	/* True if a reading of a task that did not move since would be labelled as this slot is.
	 * NULL: never. */
	bool (*is_label_lasting)(const struct ps_eventset *set, const struct ps__slot *slot);
	/* True if what is open doesn't fit any more. NULL: it always does. */
	bool (*has_changed)(const struct ps_eventset *set);
};

/* The state of a process that shares its counts out by time. */
struct ps__time_share {
	struct ps__clock_place *places; /* what target.clocks points at: of one root side by side */
	struct ps__clock_time *known;   /* of each clock, at the last fetch */
	/* For each root the CPU on which it was all the time between the last two fetches;
	 * PS__STAYED_ANY: nothing was counted before; PS__STAYED_NOWHERE: on several, or not
	 * known */
	int *stayed;
	struct ps__looks *looks; /* they tell the times; NULL: the clocks do */
	bool is_assigned;        /* something since the counts began, with this label at worst */
	unsigned weakest;
};
#define PS__STAYED_ANY     (-2) /* a CPU's number isn't negative, and -1 is an unknown one's */
#define PS__STAYED_NOWHERE (-3)

extern const struct ps__method ps__method_last_cpu;   /* method_last_cpu.c */
extern const struct ps__method ps__method_bound;      /* method_bound.c */
extern const struct ps__method ps__method_mixed;      /* method_mixed.c */
extern const struct ps__method ps__method_per_cpu;    /* method_per_cpu.c */
extern const struct ps__method ps__method_records;    /* method_records.c */
extern const struct ps__method ps__method_cgroup;     /* method_cgroup.c */
extern const struct ps__method ps__method_bpf;        /* method_bpf.c */
extern const struct ps__method ps__method_places;     /* method_places.c */
extern const struct ps__method ps__method_time_share; /* method_time_share.c */
extern const struct ps__method ps__method_looks;      /* method_time_share.c */

#endif
