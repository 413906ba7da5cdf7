/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of stat's --tasks and --processes: stat_task_rows.c fills them and adds them up,
 * stat_tasks.c shows them. */
#ifndef PS_TOOLS_STAT_TASKS_H
#define PS_TOOLS_STAT_TASKS_H

#include "tools/stat.h"

struct task_row {
	pid_t pid;
	pid_t tid; /* 0: of tasks that can't be told apart */
	/* The event set, and its numbers: they tell apart what had the same pid or tid */
	size_t set, task, process;
	char name[16];
	int cpu;
	/* The hardware thread; of a sum the component that it is part of */
	const struct ps_component *where;
	size_t place;      /* in the list; of a process its first row's */
	long long *counts; /* owned */
};

enum matrix_kind {
	MATRIX_OF_THREADS,    /* a row is a task on a hardware thread */
	MATRIX_OF_COMPONENTS, /* a row is a task on a component; its cpu says nothing */
	MATRIX_OF_PROCESSES   /* a row is a process; its tid and cpu say nothing */
};

struct matrix {
	const struct ps_eventset *model;
	struct ps_topology *topology;
	/* For each event, all tasks together: the tasks' counts are known in the same way */
	struct ps_value *totals;
	struct task_row *rows;
	size_t count;
	size_t room;
	size_t set;    /* of the rows that are being added */
	bool has_lost; /* records, so that the others may have ended */
	enum matrix_kind kind;
};

/* -1 after a complaint; then there is nothing to clear. aggregate: see stat_tasks_show. */
int stat_matrix_fill(struct matrix *matrix, struct stat_count *count,
                     const struct stat_aggregate *aggregate);
void stat_matrix_clear(struct matrix *matrix);

/* Adds up the rows of each process. Its name is its first thread's. */
void stat_matrix_sum_processes(struct matrix *matrix);

/* A matrix of its own: each task's rows, added up on the components of --by. -1 after a
 * complaint. */
int stat_matrix_sum_components(struct matrix *out, const struct matrix *matrix,
                               const struct stat_by *by);

/* The largest counts of the first event come first. */
void stat_matrix_sort(struct matrix *matrix);

/* As text; a terminal gets the largest rows unless each is asked for. They are sorted then. -1
 * after a complaint. */
int stat_matrix_show(const struct stat_output *output, struct matrix *matrix);

/* A row's value: as the event's total is known, with the row's count. */
struct ps_value stat_matrix_value(const struct matrix *matrix, const struct task_row *row,
                                  size_t event);

#endif
