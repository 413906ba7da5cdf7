/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose tasks are counted separately, on the scene's four CPUs. The tests write records
 * into the set's rings, as Linux does, and keep what the set reports of the tasks.
 */
#ifndef PS_TESTS_TASK_RECORDS_H
#define PS_TESTS_TASK_RECORDS_H

#include "scene.h"

#include <linux/perf_event.h>
#include <perfsage/task.h>

#define PROCESS   500
#define EVENTS    2 /* page-faults and task-clock */
#define TASK_CPUS 4

/* Returns a started set of these events, attached to the process. The records' clock begins at
 * 1000. */
struct ps_eventset *records_start_set(void);
void records_set_time(uint64_t time);

/* Return the descriptors of a CPU's notes, for FORK, EXIT and COMM records, and of its sideband
 * event, which writes what ended tasks counted. */
int records_notes(int cpu);
int records_sideband(int cpu);
uint64_t records_id_of(int fd);

/* Writes a record of the event `fd` into the ring of the event `ring_fd`. words: the content
 * between header and trailer. */
void records_put(int ring_fd, uint32_t type, int fd, const uint64_t *words, size_t count);
uint64_t records_pair(pid_t low, pid_t high);

void put_fork(int cpu, pid_t pid, pid_t tid, pid_t parent);
void put_exit(int cpu, pid_t pid, pid_t tid);
void put_name(int cpu, pid_t pid, pid_t tid, const char *name);
/* Writes a COMM record of an exec. */
void put_exec(int cpu, pid_t pid, const char *name);
/* Writes what an ended task counted on a CPU. */
void put_share(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock);
/* Does the same, and writes that it counted nothing on the other CPUs. */
void put_counts(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock);

/* Set the process's counts; count_all: 100 faults and 1000 ns on CPU 1, 50 and 500 on CPU 3. */
void count_on(int cpu, uint64_t faults, uint64_t clock);
void count_all(void);

/* Walks over the tasks and keeps a row for each report. Returns the number of rows, which
 * check_told compares. */
size_t walk_tasks(struct ps_eventset *set);
void check_told(size_t row, pid_t tid, const char *name, int cpu, long long faults,
                long long clock);
pid_t told_pid(size_t row);
/* Checks numbers that the set uses only once. */
void check_numbers(size_t row, size_t task, size_t process);
/* Checks that all rows say that records were lost. */
void check_lost(void);
/* Checks that the sum over the tasks is what the set counted, whatever the records say. */
void check_sum(const char *event, int index);

#endif
