/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of --tasks and --processes: stat_task_rows.c makes and adds them up, stat_tasks.c shows
 * them. */
#ifndef PS_TOOLS_STAT_TASKS_H
#define PS_TOOLS_STAT_TASKS_H

#include "tools/stat_aggregate.h"

struct task_row {
	pid_t pid;
	pid_t tid; /* 0: tasks that can't be told apart */
	/* Index of the event set, and the set's numbers of the task and the process. They
	 * distinguish tasks that had the same pid or tid */
	size_t set, task, process;
	char name[16];
	int cpu;
	/* The hardware thread; for a sum, the component */
	const struct ps_component *where;
	size_t place;      /* index in the list; of a process: index of its first row */
	long long *counts; /* owned */
};

enum matrix_kind {
	MATRIX_OF_THREADS,    /* a row is a task on a hardware thread */
	MATRIX_OF_COMPONENTS, /* a row is a task on a component; cpu isn't used */
	MATRIX_OF_PROCESSES   /* a row is a process; tid and cpu aren't used */
};

struct matrix {
	const struct ps_eventset *model;
	struct ps_topology *topology;
	/* For each event the sum of all tasks, with its status and attribution */
	struct ps_value *totals;
	struct task_row *rows;
	size_t count;
	size_t room;
	size_t set;    /* index of the set whose rows are being added */
	bool has_lost; /* records were lost, so other tasks may have ended */
	enum matrix_kind kind;
};

/* Returns -1 after a complaint; there is then nothing to clear. aggregate: see stat_tasks_show. */
int stat_matrix_fill(struct matrix *matrix, struct stat_count *count,
                     const struct stat_aggregate *aggregate);
void stat_matrix_clear(struct matrix *matrix);

/* Adds up the rows of each process. A process has the name of its first thread. */
void stat_matrix_sum_processes(struct matrix *matrix);

/* Makes a new matrix: each task's rows, added up on the components of --by. Returns -1 after a
 * complaint. */
int stat_matrix_sum_components(struct matrix *out, const struct matrix *matrix,
                               const struct stat_by *by);

/* Sorts the rows by the first event's counts, largest first. */
void stat_matrix_sort(struct matrix *matrix);

/* Shows the matrix as text. On a terminal only the largest rows are shown, sorted, unless the user
 * wants all. Returns -1 after a complaint. */
int stat_matrix_show(const struct stat_output *output, struct matrix *matrix);

/* Returns a row's count, with the status of the event's total. */
struct ps_value stat_matrix_value(const struct matrix *matrix, const struct task_row *row,
                                  size_t event);

/* Checks that the started sets can tell their tasks apart. Returns -1 after a complaint. */
int stat_tasks_check(const struct stat_count *count);

/* Shows the matrix in the output's format, after counting has ended. aggregate: sums of all
 * intervals; NULL: there were none. Returns -1 after a complaint. */
int stat_tasks_show(struct stat_output *output, struct stat_count *count,
                    const struct stat_facts *facts, const struct stat_aggregate *aggregate);

#endif
