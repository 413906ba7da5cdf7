/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process whose tasks are told apart, on the scene's four CPUs: records are written into the
 * set's rings by hand, as Linux does, and what the set tells of the tasks is kept.
 */
#ifndef PS_TESTS_TASK_RECORDS_H
#define PS_TESTS_TASK_RECORDS_H

#include "scene.h"

#include <linux/perf_event.h>
#include <perfsage/task.h>

#define PROCESS   500
#define EVENTS    2 /* page-faults and task-clock */
#define TASK_CPUS 4

/* An attached set of those events that was started. The clock of records begins at 1000. */
struct ps_eventset *records_start_set(void);
void records_set_time(uint64_t time);

/* Descriptors: of a CPU's notes, and of the teller of its group. */
int records_notes(int cpu);
int records_teller(int cpu);
uint64_t records_id_of(int fd);

/* A record of the event `fd`, in the ring of the event `ring_fd`. words: what stands between header
 * and trailer. */
void records_put(int ring_fd, uint32_t type, int fd, const uint64_t *words, size_t count);
uint64_t records_pair(pid_t low, pid_t high);

void put_fork(int cpu, pid_t pid, pid_t tid, pid_t parent);
void put_exit(int cpu, pid_t pid, pid_t tid);
void put_name(int cpu, pid_t pid, pid_t tid, const char *name);
/* A program that begins: its name. */
void put_exec(int cpu, pid_t pid, const char *name);
/* What an ended task counted on a CPU. */
void put_share(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock);
/* That, and that it counted nothing on the others. */
void put_counts(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock);

/* What the process counts: on CPU 1 100 faults and 1000 ns, on CPU 3 50 and 500. */
void count_on(int cpu, uint64_t faults, uint64_t clock);
void count_all(void);

/* Walks over the tasks; then the rows that were told are these. */
size_t walk_tasks(struct ps_eventset *set);
void check_told(size_t row, pid_t tid, const char *name, int cpu, long long faults,
                long long clock);
pid_t told_pid(size_t row);
/* Those that the set uses once. */
void check_numbers(size_t row, size_t task, size_t process);
/* All of them say that records were lost. */
void check_lost(void);
/* Whatever the records say: the sum over the tasks is what the set counted. */
void check_sum(const char *event, int index);

#endif
