/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An attribution method finds out on which hardware thread the task was when something was counted.
 * Each method is a table of functions in a file of its own. choose_method.c chooses one when the
 * events are opened; the driver in fetch.c does what all methods have in common.
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
struct ps__clock_known;
struct ps__looks;

/* One fetch: assigns to slots what was counted since the last fetch. */
struct ps__fetch {
	int cpu; /* set by read: the CPU where the task is */
	/* PS__MARK_*, for each part that assign makes. read may set some; the driver adds others */
	uint16_t flags;
	uint16_t mark; /* set by assign: attribution and flags of the part on `cpu` */
};

/* The ways in which counts are split by hardware thread. */
enum ps__split {
	PS__SPLIT_NOT,      /* one count for all CPUs; the method finds a CPU for it */
	PS__SPLIT_COUNTERS, /* a task has counters on each CPU */
	PS__SPLIT_RECORDS,  /* the kernel records a task's counts at each migration */
	/* a process's counts are divided by the times of its tasks on each CPU */
	PS__SPLIT_TIMES,
	PS__SPLIT_PLACES /* the counters belong to CPUs, not to a task */
};

struct ps__method {
	enum ps__split split;
	/* True if each part was counted on its CPU: ps_eventset_attribution then calls the set
	 * exact. False for estimates. */
	bool is_exact;
	/* The reason why the labels aren't better. NULL: they are the best. */
	const char *why;
	/* Prepares what the opening of the events needs. NULL only in a method without a rank.
	 * Returns PS_OK, or a code with a detail. */
	int (*prepare)(struct ps_eventset *set);
	/* Opens the ring of the task's context switches or migrations. NULL: not needed. Returns 0
	 * or -errno. */
	int (*open_switch_ring)(struct ps_eventset *set, pid_t tid);
	/* Called before the counters are started. NULL: nothing to do. */
	void (*start)(struct ps_eventset *set);
	/* Reads the totals. A method that assigns to slots here calls ps__set_begin_counts first.
	 * PS_OK; PS_PARTIAL if counts of some CPU are missing; or a code with a detail, and no
	 * count is lost. */
	int (*read)(struct ps_eventset *set, struct ps__fetch *fetch);
	/* Assigns to slots what was read. False if the task's own slot gets no part. */
	bool (*assign)(struct ps_eventset *set, struct ps__fetch *fetch, struct ps__slot *here);
	/* True if the next reading has this slot's label, unless the task moves. NULL: never. */
	bool (*is_label_lasting)(const struct ps_eventset *set, const struct ps__slot *slot);
	/* True if the open counters don't fit any more. NULL: they always fit. */
	bool (*has_changed)(const struct ps_eventset *set);
};

/* A slot's share of the interval that is being fetched, with per-CPU counters. Times by group. */
struct ps__interval {
	uint64_t *ran_ns;     /* running on this CPU */
	uint64_t *off_ns;     /* rest of the enabled time */
	uint64_t *enabled_ns; /* what the counts' enabled time becomes (waiting.c) */
	bool is_assigned;     /* method_per_cpu.c has assigned counts, or is about to */
};

/* State of a method that divides a process's counts among CPUs in proportion to running time. */
struct ps__time_share {
	struct ps__clock_place *places; /* array for target.clocks, ordered by root */
	struct ps__clock_known *known;  /* for each clock (attribution.h) */
	/* For each root the CPU on which it was all the time between the last two fetches.
	 * PS__STAYED_ANY: nothing was counted before. PS__STAYED_NOWHERE: it was on several CPUs,
	 * or that isn't known */
	int *stayed;
	struct ps__looks *looks; /* used for a root if its clocks prove no CPU; NULL: only clocks */
	/* counts were assigned since the counts began; `weakest` is their weakest label */
	bool is_assigned;
	unsigned weakest;
};
#define PS__STAYED_ANY     (-2) /* differs from every CPU number, and from -1, the unknown CPU */
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
