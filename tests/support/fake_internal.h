/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the fake kernel. fake.c: calls, clock; fake_memory.c: memory;
 * fake_tasks.c: threads and tasks; fake_files.c: /proc and /sys; fake_pmu.c, fake_counters.c,
 * fake_list.c, fake_ring.c: perf; fake_bpf.c: bpf(2); fake_view.c: queries by tests.
 */
#ifndef PS_TESTS_FAKE_INTERNAL_H
#define PS_TESTS_FAKE_INTERNAL_H

#include "fake.h"

#define FAKE_FIRST_FD 1000 /* so high that the real kernel refuses a fake descriptor */
#define FAKE_FDS      65536
#define FAKE_CPUS     8192

struct fake_task {
	struct fake_task *next;
	pid_t tid;
	char *comm;
	int cpu;
	bool ended;
	unsigned threads_left; /* threads in the process of this zombie; 0: the task isn't a
	                        * zombie */
	unsigned looks_left;   /* reads of its stat until it is gone; 0: it isn't ending */
	unsigned char mask[FAKE_CPUS / 8];
	int *script;
	size_t script_count, script_next;
};

struct fake_counter {
	struct {
		struct fake_counter *next, *before; /* oldest first: fake_list.c */
	} all, there;                               /* all open counters; those on the same CPU */
	struct fake_counter *leader;
	struct perf_event_attr attr;
	uint64_t later[2];      /* config3, config4 */
	struct fake_task *task; /* NULL: any */
	int cpu;                /* -1: any */
	int fd;
	uint64_t id, count, enabled_ns, running_ns;
	bool enabled, error_state;
	bool waiting; /* isn't on the hardware */
	char filter[64];
	bool has_bpf;
	void *ring;
	size_t ring_bytes; /* size of the ring's data */
	struct {
		uint64_t untold, total;
	} losses;          /* records that its ring lost */
	short poll_events; /* 0: as the ring's state is */
};

struct fake_fd {
	bool open;
	char *content; /* a file's content */
	size_t length, offset;
	struct fake_task *task; /* the task whose /proc/<tid>/stat this is */
	const char *stat_path;  /* a file with the task's text; NULL: made from the task */
	struct fake_counter *counter;
	bool is_cgroup; /* a control group's folder */
	enum fake_bpf {
		FAKE_NO_BPF,
		FAKE_BPF_EVENTS,
		FAKE_BPF_SUMS,
		FAKE_BPF_PIDS,
		FAKE_BPF_SWITCH, /* the program for context switches */
		FAKE_BPF_CHILD,
		FAKE_BPF_LINK
	} bpf;
	uint32_t bpf_id; /* id by the kernel */
	ino_t number;    /* inode; both ends of a pipe have the same */
	struct {
		bool is_end; /* this is an end of a pipe */
		int reader;  /* of the writing end: the reading end */
		size_t bytes;
	} pipe;
};

/* Locks the fake and counts the call. Returns true if the call must fail; the lock is then released
 * and errno set. */
bool fake__enter(enum fake_call call);
void fake__lock(void);
void fake__unlock(void);
int fake__fail(int error); /* unlocks, sets errno, returns -1 */
void fake__violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern unsigned long fake__generation; /* incremented by each fake_install and fake_remove */

/* All functions below need the lock. */
int fake__fd_new(void); /* returns -1 with errno on failure */
struct fake_fd *fake__fd(int fd);
void fake__fds_reset(void);

int fake__set_filter(struct fake_counter *counter, const char *filter); /* returns an errno or 0 */
int fake__set_bpf(struct fake_counter *counter, int program_fd);

struct fake_task *fake__self(void);
struct fake_task *fake__task_find(pid_t tid);
void fake__task_move(struct fake_task *task,
                     int cpu); /* with context-switch records in the rings of listeners */
char *fake__task_stat(const struct fake_task *task);
/* Makes the file if path is /proc/<tid>/status of a task. Each task is a process. */
void fake__task_put_status(const char *path);
void fake__tasks_reset(void);
bool fake__cpu_in_list(const char *list, int cpu);
int fake__list_last(const char *list);

const char *fake__file_content(const char *path);
void fake__file_put(const char *path, const char *content);
void fake__file_put_bytes(const char *path, const void *bytes, size_t size_bytes);
void fake__files_reset(void);

ssize_t fake__counter_read(struct fake_counter *counter, void *buffer,
                           size_t size_bytes); /* returns -errno on failure */
void fake__counter_close(struct fake_counter *counter);
void fake__counters_cpu_off(int cpu);
void fake__counters_reset(void);
struct fake_counter *fake__counters_first(void);
struct fake_counter *fake__counters_on(int cpu); /* -1: counters for any CPU */
void fake__counters_add(struct fake_counter *counter);
void fake__counters_remove(struct fake_counter *counter);
size_t fake__counter_numbers(const struct fake_counter *counter,
                             uint64_t *out); /* the numbers that read(2) gives; returns how many */
bool fake__counter_is_counting(const struct fake_counter *counter);
void fake__ring_switch(const struct fake_task *task,
                       bool out); /* the task is switched in or out on its CPU */
void fake__ring_migrate(const struct fake_task *task); /* the task was switched in on another CPU */
void fake__ring_exit(const struct fake_task *task);
bool fake__ring_put(struct fake_counter *counter, const struct perf_event_header *header,
                    const uint64_t *words);
uint64_t fake__clock_ns(void);

void fake__memory_reset(void);
void fake__bpf_reset(void);

/* Hooks that are not in fake.c. */
void *fake__mmap(void *address, size_t length_bytes, int protection, int flags, int fd,
                 off_t offset);
int fake__munmap(void *address, size_t length_bytes);
void *fake__allocate(size_t size_bytes);
void fake__release(void *memory);
int fake__perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
                          unsigned long flags);
int fake__ioctl(int fd, unsigned long request, unsigned long argument);
ssize_t fake__read(int fd, void *buffer, size_t size_bytes);
ssize_t fake__pread(int fd, void *buffer, size_t size_bytes, off_t offset);
int fake__open(const char *path, int flags);
int fake__close(int fd);
int fake__list(const char *path, int (*visit)(const char *name, void *context), void *context);
int fake__pipe(int ends[2], int flags);
int fake__fstat(int fd, struct stat *status);
ssize_t fake__write(int fd, const void *buffer, size_t size_bytes);
int fake__poll(struct pollfd *fds, nfds_t count, int timeout_ms);
int fake__bpf(int command, union bpf_attr *attr, size_t size_bytes);
void fake__clock_pass(uint64_t ns);
int fake__getcpu(void);
pid_t fake__gettid(void);
int fake__getaffinity(pid_t tid, size_t size_bytes, cpu_set_t *mask);

#endif
