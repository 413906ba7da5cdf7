/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a process's tasks. Two kinds of dummy events write them, as the last members of
 * groups:
 *
 * Notes: an event in each instance records tasks that are created, named or end on its CPU.
 *
 * Sideband events: when a task ends, an event in each group of each instance records what the
 * task's copy of the group counted (PERF_RECORD_READ).
 *
 * A task writes notes only to the ring of the CPU where it is. But when it ends, it writes its
 * counts to the rings of all CPUs. A ring allows one writer at a time: two CPUs at once can damage
 * it, block it for ever, or lose records. While the kernel writes counts, it holds a lock that a
 * root's sideband event shares with its copies, so each sideband event has a ring of its own. The
 * notes of a CPU are written only on that CPU, so the notes of all roots share a ring. A sideband
 * event is the last member of its group: a task's events end one by one from the last one on, and
 * each record has only the members that are left.
 *
 * Each root also has an anchor: a dummy event that is not inherited. At a context switch Linux
 * exchanges the events of two tasks if they are copies of the same events. Then it gives each task
 * its counts back, event by event, in the order of two lists. A root's list is in the order of
 * opening, but its children's lists are ordered by CPU and PMU, so counts of one event would be
 * added to another. Also, a leader that was exchanged ends with the other task while its group is
 * still being opened. Events of a root with an anchor aren't exchanged, because the anchor has no
 * copies. It is the first event that the root gets.
 */
#ifndef PS_BACKEND_PERF_TASKS_H
#define PS_BACKEND_PERF_TASKS_H

#include "backend/perf.h"
#include "backend/perf_queue.h"

/* An event that writes records. */
struct ps__writer {
	uint64_t id; /* kernel's id of fd */
	int fd;
	size_t instance;
	size_t ring;
	struct ps__group *group; /* the group whose last member it is */
	bool tells;              /* it records that group's counts; otherwise it writes notes */
};

struct ps__anchor {
	uint64_t id; /* kernel's id of fd */
	int fd;
};

struct ps__perf_tasks {
	/* one ring of notes for each CPU; then one of counts for each instance and group */
	struct ps__ring *rings;
	size_t ring_count;
	struct ps__anchor *anchors; /* one for each root */
	size_t anchor_count;
	struct ps__writer *writers; /* ordered by id */
	size_t writer_count;
	struct ps__queue queue; /* the records of one emptying of the rings */
	bool has_lost;          /* records of any kind were lost */
	bool has_lost_notes;    /* notes were lost */
};

/* A PERF_RECORD_READ. Its values are those of the group's members in their order, and then those of
 * the dummies after them. */
struct ps__read_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t entries;
	uint64_t enabled, running;
	uint64_t values[];
};

#endif
