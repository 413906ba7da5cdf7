/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage place: the actual placement, as a function of spans and of the tree. For each task how
 * long it ran on which hardware thread, and how often it left its NUMA node; for each hardware
 * thread and core, how long tasks shared it while another was idle.
 *
 * Other programs are not seen. "Idle" means that no task of the observed ones ran there or waited
 * for its turn.
 */
#ifndef PS_TOOLS_PLACE_SUMS_H
#define PS_TOOLS_PLACE_SUMS_H

#include "tools/placement.h"
#include "tools/slices.h"

#include <perfsage/component.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A task ran on a CPU; or it could have run, and waited there for its turn after a preemption. */
struct place_span {
	size_t task;
	uint64_t begin_ns, end_ns;
	int cpu;
	bool waits;
};

/* What is given; all of it is only read. */
struct place_input {
	const struct ps_component *root;
	const struct place_span *spans; /* in any order; those of one task don't overlap */
	size_t span_count;
	size_t task_count;
	const struct tool_hole *holes;
	size_t hole_count;
	const struct tool_cpus *allowed; /* the CPUs that the program may use */
};

/* A task's time on one hardware thread. */
struct place_share {
	const struct ps_thread
	    *thread; /* the unknown Thread for a CPU that the tree doesn't have */
	int cpu;     /* its number, also if it came online later and is not in the tree */
	uint64_t run_ns;
};

struct place_task {
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t moves;  /* to another hardware thread */
	uint64_t leaves; /* of these, to another NUMA node */
	/* While another one was idle: it shared a hardware thread; it ran on a core beside others
	 */
	uint64_t shared_thread_ns, shared_core_ns;
	size_t first_share, share_count; /* the longest first */
};

/* A task, or a component, and for how long. */
struct place_part {
	size_t task;                          /* a member's index in tasks */
	const struct ps_component *component; /* an idle one */
	uint64_t ns;
};

/* A hardware thread or core that tasks shared while others of its type were idle. */
struct place_finding {
	const struct ps_component *component;
	uint64_t ns;
	size_t first_member, member_count; /* who shared it: the longest first */
	size_t first_idle, idle_count;     /* what was idle meanwhile: the longest first */
	bool has_idle; /* else these aren't known: there were too many findings */
};

struct place_sums {
	struct place_task *tasks; /* as the spans count them */
	struct place_share *shares;
	struct place_finding *findings; /* the longest first */
	struct place_part *members;
	struct place_part *idles;
	size_t task_count, share_count, finding_count, member_count, idle_count;
	size_t finding_room, member_room, idle_room;
};

/* So many findings tell what was idle. */
#define PLACE_MOST_IDLE 16

/* PS_ENOMEM, and then there is nothing to clear. O(n log n) for n spans. */
int place_sums_create(struct place_sums *out, const struct place_input *input);
void place_sums_clear(struct place_sums *sums);

/* A task's place at a time. For the files of place_sums alone. */
struct place_segment {
	uint64_t begin_ns, end_ns;
	size_t thread; /* the index in the tree; that behind the last is the unknown Thread */
	int cpu;
	size_t task;
	size_t entry; /* of place_sharing.c */
};

/* Where tasks ran, and where they were: that is also where they waited after a preemption. */
struct place_segments {
	struct place_segment *runs, *stays;
	size_t run_count, stay_count;
};

static inline int place_compare(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

/* place_sharing.c: adds the findings. PS_ENOMEM. */
int place_sharing_find(struct place_sums *sums, const struct place_input *input,
                       struct place_segments *segments);

#endif
