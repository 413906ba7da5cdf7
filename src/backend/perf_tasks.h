/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a process's tasks. Two kinds of dummies are the last members of groups and write them:
 *
 * notes, one in each instance: what its CPU sees of tasks that come, take a name and end;
 * sideband events, one in each group of each instance: what a task's copy of the group counted,
 * when that ends (PERF_RECORD_READ).
 *
 * A task writes its notes on the CPU where it is, but what it counted into the rings of all CPUs,
 * from where it is. A ring bears one writer at a time: two CPUs at once leave it damaged, or stuck
 * for ever, or without the records of one. The kernel locks a sideband event of a root, for itself
 * and its copies, while it tells: so each has a ring of its own. The notes of a CPU are written
 * there alone, so those of all roots share a ring. In a group it is the last, because a task's
 * events end from the last one on, and each record tells of those that are left.
 *
 * And each root has an anchor: a dummy that is not inherited. Linux exchanges the events of two
 * tasks at a context switch if they are copies of the same ones, and then gives each task its
 * counts back, event by event as they stand in two lists. Those of a root stand as they were
 * opened, those of its children by CPU and PMU: counts of one event would end up in another. And a
 * leader that was exchanged ends with the other task, while its group is still being opened. A root
 * with an anchor has no copies: it is the first event that the root gets.
 */
#ifndef PS_BACKEND_PERF_TASKS_H
#define PS_BACKEND_PERF_TASKS_H

#include "backend/perf.h"
#include "backend/perf_queue.h"

/* An event that writes records. */
struct ps__writer {
	uint64_t id; /* the kernel's */
	int fd;
	size_t instance;
	size_t ring;
	struct ps__group *group; /* whose last member it is */
	bool tells;              /* that group's counts; else it writes notes */
};

struct ps__anchor {
	uint64_t id; /* the kernel's */
	int fd;
};

struct ps__perf_tasks {
	struct ps__ring *rings; /* for each CPU one of notes; then for each instance and group */
	size_t ring_count;
	struct ps__anchor *anchors; /* for each root */
	size_t anchor_count;
	struct ps__writer *writers; /* by rising id */
	size_t writer_count;
	struct ps__queue queue; /* of one emptying of the rings */
	bool has_lost;          /* records of any kind */
	bool has_lost_notes;    /* among them notes */
};

/* A PERF_RECORD_READ: the values are those of the group's members in their order, and then of the
 * dummies behind them. */
struct ps__read_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t entries;
	uint64_t enabled, running;
	uint64_t values[];
};

#endif
