/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of perfsage place: the intended placement (place_intent.c), the actual one
 * (place_record.c, place_masks.c), and the comparison of both (place_show.c, place_json.c).
 */
#ifndef PS_TOOLS_PLACE_H
#define PS_TOOLS_PLACE_H

#include "output/buffer.h"
#include "tools/place_sums.h"
#include "tools/placement.h"
#include "tools/slices.h"
#include "tools/watcher.h"

#include <perfsage/record.h>
#include <perfsage/thread.h>
#include <perfsage/topology.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* An environment variable that places tasks. */
struct place_variable {
	const char *name, *value; /* point into the environment */
	char *error;              /* why the value is not understood; NULL: it is, or it wasn't
	                           * parsed */
};

#define PLACE_MOST_VARIABLES 16

struct place_intent {
	struct tool_cpus cpuset;  /* all CPUs of the tree */
	struct tool_cpus allowed; /* the affinity mask that the program starts with */
	struct place_variable variables[PLACE_MOST_VARIABLES];
	size_t variable_count;
	const char *places_of;     /* name of the variable that gives the places; NULL: none does */
	struct tool_places places; /* for OpenMP's threads */
};

/* Reads the environment that the program will inherit. A variable with an error keeps the error.
 * Returns PS_ENOMEM, or PS_ESYS if the mask is unknown. The caller clears intent, also after a
 * failure. */
int place_intent_create(struct place_intent *intent, const struct ps_component *root);
void place_intent_clear(struct place_intent *intent);

/* The first and the latest affinity mask seen of a task. */
struct place_mask {
	uint32_t tid;
	uint64_t begin_ns; /* when the task began */
	uint64_t next_look_ns;
	struct tool_cpus first, last;
	bool is_known;
	bool has_changed;
	bool has_ended; /* the task has ended */
};

struct place_masks {
	struct place_mask *list; /* sorted by tid, then begin_ns */
	size_t count, room;
};

/* Adds a task that begins. PS_ENOMEM. */
int place_masks_begin(struct place_masks *masks, uint32_t tid, uint64_t begin_ns);
/* Handles FORK and EXIT records, and reads the mask of a new task. PS_ENOMEM. */
int place_masks_hear(struct place_masks *masks, const struct ps_record *record);
/* Reads the masks of tasks whose next look is due. PS_ENOMEM. */
int place_masks_look(struct place_masks *masks, uint64_t now_ns);
/* Returns the task that had this tid at the time; NULL if it is unknown. */
struct place_mask *place_masks_find(const struct place_masks *masks, uint32_t tid, uint64_t ns);
void place_masks_clear(struct place_masks *masks);

struct place_run {
	char **command;
	struct place_intent intent;
	struct place_masks masks;
	struct tool_slices *slices;
	struct place_sums sums; /* tasks have the same indexes as in slices */
	struct ps_topology *topology;
	uint64_t lost; /* number of lost records */
	long long memory_mib;
	pid_t pid; /* the command's process */
	int exit_status;
};

/* place_record.c: runs the command and sets run->exit_status. Returns 0. Returns -1 after a
 * complaint, with perfsage's own exit status in *status. */
int place_record_run(struct place_run *run, struct tool_watcher *watcher, int *status);

/* place_spans.c: plays the slices from the exec of this process on, and sums them up. Returns the
 * codes of tool_slices_play. */
int place_spans_sum_up(struct place_run *run, pid_t exec_pid, uint64_t end_ns);

/* place_show.c, place_findings.c: add text of at most width columns (0: no limit). */
void place_show(const struct place_run *run, bool shows_all, size_t width, struct ps__buffer *out);
void place_findings_show(const struct place_run *run, size_t width, struct ps__buffer *out);
/* place_json.c */
void place_json_add(const struct place_run *run, struct ps__buffer *out);

static inline double place_elapsed_s(const struct place_run *run)
{
	return (double)(tool_slices_end_ns(run->slices) - tool_slices_begin_ns(run->slices)) / 1e9;
}

/* Returns a task's latest mask; NULL if it is unknown. */
static inline const struct tool_cpus *place_mask_of(const struct place_run *run, size_t task)
{
	const struct tool_task *about = tool_slices_task(run->slices, task);
	const struct place_mask *mask = place_masks_find(&run->masks, about->tid, about->end_ns);

	return mask && mask->is_known ? &mask->last : NULL;
}

/* Returns a task's first mask if a later look found another one; else NULL. */
static inline const struct tool_cpus *place_first_mask_of(const struct place_run *run, size_t task)
{
	const struct tool_task *about = tool_slices_task(run->slices, task);
	const struct place_mask *mask = place_masks_find(&run->masks, about->tid, about->end_ns);

	return mask && mask->has_changed ? &mask->first : NULL;
}

/* True if the task was bound after it began: a later look found another mask, or the task ran on a
 * CPU that its mask excludes. In the second case it was bound before the first look, or soon after
 * it. */
static inline bool place_was_bound_later(const struct place_run *run, size_t task)
{
	const struct place_task *ran = &run->sums.tasks[task];
	const struct tool_cpus *mask = place_mask_of(run, task);
	bool is_later = place_first_mask_of(run, task) != NULL;

	for (size_t i = 0; mask && !is_later && i < ran->share_count; i++) {
		int cpu = ps_thread_cpu(run->sums.shares[ran->first_share + i].thread);
		is_later = cpu >= 0 && !tool_cpus_contain(mask, cpu);
	}
	return is_later;
}

/* Returns the index of the place (of OpenMP's variables) that the task's mask equals; SIZE_MAX if
 * there is none. A mask of all CPUs that the program may use doesn't bind the task, even if a place
 * has the same CPUs. */
static inline size_t place_index_of(const struct place_run *run, size_t task)
{
	const struct tool_cpus *mask = place_mask_of(run, task);

	return mask && !tool_cpus_are_equal(mask, &run->intent.allowed)
	           ? tool_places_find(&run->intent.places, mask)
	           : SIZE_MAX;
}

#endif
