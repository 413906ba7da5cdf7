/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places that a program was told to use: sets of CPUs, and the OpenMP variables that define
 * them. For perfsage place.
 */
#ifndef PS_TOOLS_PLACEMENT_H
#define PS_TOOLS_PLACEMENT_H

#include "output/buffer.h"

#include <perfsage/component.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A set of CPU numbers, sorted, without duplicates. */
struct tool_cpus {
	int *numbers;
	size_t count, room;
};

/* Functions that return int leave the set unchanged if they fail. They fail only by PS_ENOMEM,
 * unless the comment names another error. */
int tool_cpus_add(struct tool_cpus *cpus, int cpu);
int tool_cpus_copy(struct tool_cpus *cpus, const struct tool_cpus *other);
/* Gets the CPUs that a task may run on now. PS_ESYS if the task has ended. */
int tool_cpus_of_task(struct tool_cpus *cpus, pid_t tid);
void tool_cpus_remove(struct tool_cpus *cpus, int cpu);
bool tool_cpus_contain(const struct tool_cpus *cpus, int cpu);
bool tool_cpus_are_equal(const struct tool_cpus *one, const struct tool_cpus *other);
/* Adds "0-3,8"; "none" for an empty set. */
void tool_cpus_show(const struct tool_cpus *cpus, struct ps__buffer *out);
void tool_cpus_clear(struct tool_cpus *cpus);

struct tool_places {
	struct tool_cpus *list;
	size_t count, room;
	/* CPU numbers in the text that the program may not use. OpenMP libraries ignore them. */
	struct tool_cpus refused;
};

/*
 * OMP_PLACES, by the grammar of OpenMP 5.2: an abstract name with or without a number in
 * parentheses, or a list of places with intervals and exclusions.
 *
 * root - the tree that abstract names stand for
 * allowed - the CPUs that the program may use; a place without any of them is left out
 *
 * Errors; the detail names the variable and the place in its text:
 *   PS_EINVAL - the grammar doesn't allow it
 *   PS_ENOSUPP - the tree has no components of this kind
 *   PS_ENOMEM - no memory
 */
int tool_places_parse(struct tool_places *out, const char *text, const struct ps_component *root,
                      const struct tool_cpus *allowed);
/* placement_gomp.c: parses GOMP_CPU_AFFINITY, "0 3 1-2 4-15:2": each CPU is a place. Same
 * errors. */
int tool_places_parse_gomp(struct tool_places *out, const char *text,
                           const struct tool_cpus *allowed);
void tool_places_clear(struct tool_places *places);
/* Returns the index of the place with exactly these CPUs; SIZE_MAX if there is none. */
size_t tool_places_find(const struct tool_places *places, const struct tool_cpus *cpus);
/* Adds "{0-3} {4-7}". If all places take more than `columns` columns, adds only the first and the
 * last ones. */
void tool_places_show(const struct tool_places *places, size_t columns, struct ps__buffer *out);

/* For the two parsers: adds a place with those of its CPUs that are allowed; adds nothing if none
 * is. PS_ENOMEM. */
int tool_places_add(struct tool_places *places, const struct tool_cpus *cpus,
                    const struct tool_cpus *allowed);

/* Larger numbers in the text are refused as typing errors. */
#define TOOL_LARGEST_CPU  (1 << 20)
#define TOOL_MOST_NUMBERS (1 << 16)

/* placement_gomp.c: OMP_PROC_BIND. */
enum tool_bind {
	TOOL_BIND_FALSE,
	TOOL_BIND_TRUE,
	TOOL_BIND_PRIMARY, /* or its old name, master */
	TOOL_BIND_CLOSE,
	TOOL_BIND_SPREAD
};

/* placement_gomp.c: gets the policy of the outermost parallel region. PS_EINVAL if the text is
 * neither true, false nor a list of the other policies. */
int tool_bind_parse(enum tool_bind *out, const char *text);

#endif
