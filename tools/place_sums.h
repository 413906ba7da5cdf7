/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage place: computes the actual placement from spans and the tree. For each task: how long it
 * ran on which hardware thread, and how often it left its NUMA node. For each hardware thread and
 * core: how long tasks shared it while another one was idle.
 *
 * Other programs are not seen. "Idle" means that no observed task ran there or waited for its turn.
 */
#ifndef PS_TOOLS_PLACE_SUMS_H
#define PS_TOOLS_PLACE_SUMS_H

#include "tools/placement.h"
#include "tools/slices.h"

#include <perfsage/component.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A time in which a task ran on a CPU. If waits: it was preempted there and could have run. */
struct place_span {
	size_t task;
	uint64_t begin_ns, end_ns;
	int cpu;
	bool waits;
};

/* The input, which is not changed. */
struct place_input {
	const struct ps_component *root;
	const struct place_span *spans; /* in any order; those of one task don't overlap */
	size_t span_count;
	size_t task_count;
	const struct tool_hole *holes;
	size_t hole_count;
	const struct tool_cpus *allowed; /* the CPUs that the program may use */
};

/* The time that a task ran on one hardware thread. */
struct place_share {
	const struct ps_thread *thread; /* the unknown Thread if the tree doesn't have the CPU */
	int cpu; /* the CPU's number, even if it isn't in the tree because it came online
	          * later */
	uint64_t run_ns;
};

struct place_task {
	uint64_t run_ns;
	uint64_t wait_ns;
	uint64_t moves;  /* migrations to another hardware thread */
	uint64_t leaves; /* moves that left the NUMA node */
	/* Time on a hardware thread, and on a core, that the task shared while another one was
	 * idle */
	uint64_t shared_thread_ns, shared_core_ns;
	size_t first_share, share_count; /* sorted, longest time first */
};

/* A task or a component, and a time. */
struct place_part {
	size_t task;                          /* of a member: index of the task */
	const struct ps_component *component; /* of an idle component */
	uint64_t ns;
};

/* A hardware thread or core that tasks shared while others of its type were idle. */
struct place_finding {
	const struct ps_component *component;
	uint64_t ns;
	size_t first_member, member_count; /* the tasks that shared it, longest time first */
	size_t first_idle, idle_count;     /* what was idle meanwhile, longest time first */
	bool has_idle; /* false: idle components weren't determined, as there are too many
	                * findings */
};

struct place_sums {
	struct place_task *tasks; /* indexed as in the spans */
	struct place_share *shares;
	struct place_finding *findings; /* sorted, longest time first */
	struct place_part *members;
	struct place_part *idles;
	size_t task_count, share_count, finding_count, member_count, idle_count;
	size_t finding_room, member_room, idle_room;
};

/* Number of findings for which the idle components are determined. */
#define PLACE_MOST_IDLE 16

/* Returns PS_ENOMEM if memory runs out; *out then needs no clearing. O(n log n) for n spans. */
int place_sums_create(struct place_sums *out, const struct place_input *input);
void place_sums_clear(struct place_sums *sums);

/* A time that a task spent on a hardware thread. Used only by place_sums.c and its helpers. */
struct place_segment {
	uint64_t begin_ns, end_ns;
	size_t thread; /* index in the tree; the one after the last is the unknown Thread */
	int cpu;
	size_t task;
	size_t entry; /* used by place_sharing.c */
};

/* runs: times in which tasks ran. stays: the same, and the waits after a preemption. */
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
