/* SPDX-License-Identifier: BSD-3-Clause */
#include "task_records.h"
#include "support/unmarked.h"

#include "base/os.h"

#include <stdio.h>

#define MOST_TOLD 16

/* For each CPU a leader and a member; the root's anchor; then for each CPU notes and a sideband
 * event. */
#define WRITERS (TASK_CPUS * EVENTS + 1)
static int fds[64];
static uint64_t now;

struct told {
	pid_t pid, tid;
	char name[16];
	int cpu;
	size_t task, process;
	int has_lost;
	long long counts[EVENTS];
};
static struct told told[MOST_TOLD];
static size_t told_count;

struct ps_eventset *records_start_set(void)
{
	struct ps_eventset *set = scene_set("page-faults", "task-clock", NULL);

	fake_task(PROCESS, "solver", 1);
	fake_file("/proc/500/task/500/stat", "500 (solver) R 1\n");
	fake_file("/proc/500/task/500/comm", "solver\n");
	check_ok(ps_eventset_attach_process(set, PROCESS));
	check_ok(ps_eventset_set_tasks(set, 1));
	check_ok(ps_start(set));
	ck_assert_uint_eq(fake_counter_fds(fds, 64), TASK_CPUS * (EVENTS + 2) + 1);
	now = 1000;
	return set;
}

void records_set_time(uint64_t time)
{
	now = time;
}

int records_notes(int cpu)
{
	return fds[WRITERS + 2 * cpu];
}

int records_sideband(int cpu)
{
	return fds[WRITERS + 2 * cpu + 1];
}

uint64_t records_id_of(int fd)
{
	uint64_t id = 0;

	ck_assert_int_eq(ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&id), 0);
	return id;
}

void records_put(int ring_fd, uint32_t type, int fd, const uint64_t *words, size_t count)
{
	uint64_t all[32];

	memcpy(all, words, count * sizeof *words);
	all[count] = now++;
	all[count + 1] = records_id_of(fd);
	ck_assert(fake_put_record(ring_fd, type, 0, all, count + 2));
}

uint64_t records_pair(pid_t low, pid_t high)
{
	return (uint64_t)(uint32_t)low | (uint64_t)(uint32_t)high << 32;
}

static void put_note(int cpu, uint32_t type, const uint64_t *words)
{
	records_put(records_notes(cpu), type, records_notes(cpu), words, 3);
}

void put_fork(int cpu, pid_t pid, pid_t tid, pid_t parent)
{
	put_note(cpu, PERF_RECORD_FORK,
	         (uint64_t[]){records_pair(pid, PROCESS), records_pair(tid, parent), 0});
}

void put_exit(int cpu, pid_t pid, pid_t tid)
{
	put_note(cpu, PERF_RECORD_EXIT,
	         (uint64_t[]){records_pair(pid, PROCESS), records_pair(tid, PROCESS), 0});
}

void put_name(int cpu, pid_t pid, pid_t tid, const char *name)
{
	uint64_t words[3] = {records_pair(pid, tid)};

	memcpy(words + 1, name, strlen(name));
	put_note(cpu, PERF_RECORD_COMM, words);
}

/* Whichever thread begins it, its number is the process's from then on. */
void put_exec(int cpu, pid_t pid, const char *name)
{
	uint64_t words[5] = {records_pair(pid, pid), 0, 0, now++,
	                     records_id_of(records_notes(cpu))};

	memcpy(words + 1, name, strlen(name));
	ck_assert(fake_put_record(records_notes(cpu), PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
	                          words, 5));
}

/* The group's two events, the notes and the sideband event itself; times first. */
void put_share(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock)
{
	records_put(records_sideband(cpu), PERF_RECORD_READ, records_sideband(cpu),
	            (uint64_t[]){records_pair(pid, tid), EVENTS + 2, 9, 9, faults, clock, 0, 0}, 8);
}

void put_counts(int cpu, pid_t pid, pid_t tid, uint64_t faults, uint64_t clock)
{
	for (int other = 0; other < TASK_CPUS; other++) {
		if (other != cpu)
			put_share(other, pid, tid, 0, 0);
	}
	put_share(cpu, pid, tid, faults, clock);
}

static int note(const struct ps_task *task, void *context)
{
	ck_assert_ptr_eq(context, &told_count);
	ck_assert_uint_lt(told_count, MOST_TOLD);
	told[told_count] = (struct told){.pid = task->pid,
	                                 .tid = task->tid,
	                                 .cpu = task->cpu,
	                                 .task = task->task,
	                                 .process = task->process,
	                                 .has_lost = task->has_lost,
	                                 .counts = {task->counts[0], task->counts[1]}};
	snprintf(told[told_count++].name, sizeof told[0].name, "%s", task->name);
	return 0;
}

size_t walk_tasks(struct ps_eventset *set)
{
	told_count = 0;
	check_ok(ps_eventset_for_each_task(set, note, &told_count));
	return told_count;
}

void check_sum(const char *event, int index)
{
	long long sum = 0;

	for (size_t row = 0; row < told_count; row++)
		sum += told[row].counts[index];
	ck_assert_int_eq(sum, scene_total(event).value);
}

pid_t told_pid(size_t row)
{
	ck_assert_uint_lt(row, told_count);
	return told[row].pid;
}

void check_lost(void)
{
	ck_assert_uint_gt(told_count, 0);
	for (size_t row = 0; row < told_count; row++)
		ck_assert(told[row].has_lost);
}

void check_numbers(size_t row, size_t task, size_t process)
{
	ck_assert_uint_lt(row, told_count);
	ck_assert_uint_eq(told[row].task, task);
	ck_assert_uint_eq(told[row].process, process);
}

void check_told(size_t row, pid_t tid, const char *name, int cpu, long long faults, long long clock)
{
	ck_assert_uint_lt(row, told_count);
	ck_assert_int_eq(told[row].tid, tid);
	ck_assert_str_eq(told[row].name, name);
	ck_assert_int_eq(told[row].cpu, cpu);
	ck_assert_int_eq(told[row].counts[0], faults);
	ck_assert_int_eq(told[row].counts[1], clock);
}

void count_on(int cpu, uint64_t faults, uint64_t clock)
{
	fake_advance_on(PAGE_FAULTS, PROCESS, cpu, faults);
	fake_advance_on(TASK_CLOCK, PROCESS, cpu, clock);
}

/* The fake counts where its task is. */
void count_all(void)
{
	fake_task(PROCESS, "solver", 1);
	count_on(1, 100, 1000);
	fake_task(PROCESS, "solver", 3);
	count_on(3, 50, 500);
}
