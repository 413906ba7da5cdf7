/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perfsage place inside: the intended places (place_intent.c), what it did (place_record.c,
 * place_masks.c), and both beside each other (place_show.c, place_json.c).
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

/* A variable that places tasks. */
struct place_variable {
	const char *name, *value; /* of the environment */
	char *error;              /* why it is not understood; NULL: it is, or nobody looked */
};

#define PLACE_MOST_VARIABLES 16

struct place_intent {
	struct tool_cpus cpuset;  /* the CPUs of the tree */
	struct tool_cpus allowed; /* the affinity mask that the program begins with */
	struct place_variable variables[PLACE_MOST_VARIABLES];
	size_t variable_count;
	const char *places_of;     /* the variable that gives the places; NULL: none does */
	struct tool_places places; /* of OpenMP's threads */
};

/* Looks at the environment, which the program inherits. What is wrong in it is kept as an error.
 * PS_ENOMEM, PS_ESYS: the mask isn't known; to be cleared all the same. */
int place_intent_create(struct place_intent *intent, const struct ps_component *root);
void place_intent_clear(struct place_intent *intent);

/* The affinity mask of a task, at two looks. */
struct place_mask {
	uint32_t tid;
	uint64_t begin_ns; /* of the task */
	uint64_t next_look_ns;
	struct tool_cpus first, last;
	bool is_known;
	bool has_changed;
	bool has_ended; /* the task */
};

struct place_masks {
	struct place_mask *list; /* by tid and begin_ns */
	size_t count, room;
};

/* A task begins. PS_ENOMEM. */
int place_masks_begin(struct place_masks *masks, uint32_t tid, uint64_t begin_ns);
/* Takes FORK and EXIT records, and reads the mask of a new task. PS_ENOMEM. */
int place_masks_hear(struct place_masks *masks, const struct ps_record *record);
/* Reads the masks of those whose turn it is. PS_ENOMEM. */
int place_masks_look(struct place_masks *masks, uint64_t now_ns);
/* Finds the task that had this number at a time; NULL if nothing was heard of it. */
struct place_mask *place_masks_find(const struct place_masks *masks, uint32_t tid, uint64_t ns);
void place_masks_clear(struct place_masks *masks);

struct place_run {
	char **command;
	struct place_intent intent;
	struct place_masks masks;
	struct tool_slices *slices;
	struct place_sums sums; /* its tasks are those of the slices */
	struct ps_topology *topology;
	uint64_t lost; /* records */
	long long memory_mib;
	pid_t pid; /* of the command */
	int exit_status;
};

/* place_record.c: runs the command. Returns 0, with its exit status in the run; or, after a
 * complaint, -1: *status is then perfsage's own. */
int place_record_run(struct place_run *run, struct tool_watcher *watcher, int *status);

/* place_spans.c: plays the slices from the exec of this process on, and sums them up. The codes of
 * tool_slices_play. */
int place_spans_sum_up(struct place_run *run, pid_t exec_pid, uint64_t end_ns);

/* place_show.c, place_findings.c: text, in so many columns (0: any number). */
void place_show(const struct place_run *run, bool shows_all, size_t width, struct ps__buffer *out);
void place_findings_show(const struct place_run *run, size_t width, struct ps__buffer *out);
/* place_json.c */
void place_json_add(const struct place_run *run, struct ps__buffer *out);

static inline double place_elapsed_s(const struct place_run *run)
{
	return (double)(tool_slices_end_ns(run->slices) - tool_slices_begin_ns(run->slices)) / 1e9;
}

/* Gives a task's; NULL if it isn't known. */
static inline const struct tool_cpus *place_mask_of(const struct place_run *run, size_t task)
{
	const struct tool_task *about = tool_slices_task(run->slices, task);
	const struct place_mask *mask = place_masks_find(&run->masks, about->tid, about->end_ns);

	return mask && mask->is_known ? &mask->last : NULL;
}

/* The first one, if two looks found different ones; else NULL. */
static inline const struct tool_cpus *place_first_mask_of(const struct place_run *run, size_t task)
{
	const struct tool_task *about = tool_slices_task(run->slices, task);
	const struct place_mask *mask = place_masks_find(&run->masks, about->tid, about->end_ns);

	return mask && mask->has_changed ? &mask->first : NULL;
}

/* A task that bound itself before the first look, or right behind it, is told by where it ran: on a
 * CPU that the mask excludes. */
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

/* The place of OpenMP's variables that the task is bound to, as its mask tells; SIZE_MAX: none is.
 * The mask of all CPUs that the program may use is no binding, also where a place has them all. */
static inline size_t place_index_of(const struct place_run *run, size_t task)
{
	const struct tool_cpus *mask = place_mask_of(run, task);

	return mask && !tool_cpus_are_equal(mask, &run->intent.allowed)
	           ? tool_places_find(&run->intent.places, mask)
	           : SIZE_MAX;
}

#endif
