/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of a process by BPF. Events count whole CPUs, and a program in the kernel reads them at
 * each context switch. bpf.c is the backend; bpf_open.c calls the kernel; bpf_code.c writes the
 * programs; bpf_explain.c explains refusals; btf.c reads the kernel's description of its types.
 */
#ifndef PS_BACKEND_BPF_H
#define PS_BACKEND_BPF_H

#include "backend/backend.h"

#include <linux/bpf.h>
#include <stddef.h>

/*
 * The words that the program keeps for each CPU. The words of the events follow.
 *
 * The map has one value with these words for each CPU, and after all of these a second one for each
 * CPU: the copy. The program may write to the first value while another CPU reads it, so a count
 * could be read with times from before the last switch. Only a reading writes to the copy, by
 * running the program on the CPU itself: no switch interrupts that run, and it interrupts no
 * switch.
 */
enum {
	PS__BPF_LEFT, /* 1 if the task that left the CPU last belongs to the process */
	/* number of failed reads on all CPUs; only in the map's last value */
	PS__BPF_FAILED,
	PS__BPF_HEAD
};
/* For each event: count, enabled and running time as read last; then the process's share of
 * each. */
#define PS__BPF_EVENT_WORDS 6
/* The offset in an instruction reaches this many events. */
#define PS__BPF_EVENTS_MAX 512

static inline size_t ps__bpf_known_word(size_t event)
{
	return PS__BPF_HEAD + event * PS__BPF_EVENT_WORDS;
}
static inline size_t ps__bpf_sum_word(size_t event)
{
	return ps__bpf_known_word(event) + 3;
}

/* The map of pids has a byte for each pid: 1 if it is counted. A value has PS__BPF_BYTES bytes. */
#define PS__BPF_BYTES      64
#define PS__BPF_BYTES_LOG  6
#define PS__BPF_PIDS_LIMIT 4194304 /* the kernel's PID_MAX_LIMIT */

static inline size_t ps__bpf_copy_key(size_t cpu_limit, size_t cpu)
{
	return cpu_limit + cpu;
}
static inline size_t ps__bpf_failed_key(size_t cpu_limit)
{
	return 2 * cpu_limit;
}

/* A map, a program or a link in the kernel. The kernel numbers each of these types separately. */
struct ps__bpf_object {
	int fd; /* -1: none */
	uint32_t type, id;
};

struct ps__bpf_kernel {
	struct ps__bpf_object events; /* map of the events' descriptors, by CPU and event */
	struct ps__bpf_object sums;   /* map of the words above, by CPU */
	struct ps__bpf_object pids;   /* map of the bytes above, by pid */
	struct ps__bpf_object switch_program, child_program;
	/* the programs run while their links are open */
	struct ps__bpf_object switch_link, child_link;
	/* number of CPUs in the maps; first member after the objects, for PS__BPF_DESCRIPTORS */
	size_t cpu_limit;
	size_t event_count;
	size_t words; /* number of words for a CPU in sums */
};

/* The descriptors of a set beside those of its events: one for each object. */
#define PS__BPF_DESCRIPTORS \
	(offsetof(struct ps__bpf_kernel, cpu_limit) / sizeof(struct ps__bpf_object))

/* A program that is being written. list NULL: only count its instructions. */
struct ps__bpf_code {
	struct bpf_insn *list;
	size_t count;
};
/* Writes the program that runs when a task leaves a CPU, or for a reading. is_late[i]: event i
 * counts a switch after the program has run. */
void ps__bpf_write_switch(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel,
                          const bool *is_late);
/* Writes the program that runs when a task is created. pid_offset: bytes from the beginning of the
 * kernel's task_struct. */
void ps__bpf_write_child(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel,
                         size_t pid_offset);

/* bpf_open.c: makes the maps and the programs, which run from then on. The caller has set cpu_limit
 * and event_count. On failure everything is closed. PS_OK, or a code with a detail. */
int ps__bpf_open(struct ps__bpf_kernel *kernel, const bool *is_late);
/* Checks whether BPF works: opens both programs as for one event, runs one as for a reading (Linux
 * 5.10), and closes them. PS_OK, or a code with a detail. */
int ps__bpf_try(void);
void ps__bpf_close(struct ps__bpf_kernel *kernel);
int ps__bpf_set_event(const struct ps__bpf_kernel *kernel, int cpu, size_t event, int fd);
/* Begins to count a process, with the processes that it creates. Closes the map of pids. */
int ps__bpf_set_process(struct ps__bpf_kernel *kernel, pid_t pid);
/* Runs the program on a CPU: it adds to the sums what the CPU's task has counted until now, and
 * makes the copy. PS_PARTIAL, without a detail: the CPU is offline. */
int ps__bpf_flush(const struct ps__bpf_kernel *kernel, int cpu);
/* Reads the words of a key. */
int ps__bpf_read(const struct ps__bpf_kernel *kernel, size_t key, uint64_t *words);
/* Checks the descriptors before a reading. PS_ECLOST: the user's program has closed some. */
int ps__bpf_check(const struct ps__bpf_kernel *kernel);
/* Counts the cases in which the kernel skipped a program because it ran on that CPU already
 * (recursion_misses, Linux 5.12). */
int ps__bpf_count_misses(const struct ps__bpf_kernel *kernel, uint64_t *misses);

/* bpf_explain.c: returns a code, with a sentence for an errno. what: the object for which bpf(2)
 * was called. */
int ps__bpf_explain(enum bpf_cmd command, const char *what, int error);
/* Explains why perf_event_open refused events of whole CPUs. The perf backend has set a sentence
 * already, but what that asks for is not enough for BPF. Returns PS_EPERM. */
int ps__bpf_explain_events(void);
/* Checks that this process sees the kernel's own pids. PS_ENOSUPP if not, PS_ESYS if that can't be
 * found out. */
int ps__bpf_check_namespace(void);

/* btf.c: returns the bytes from the beginning of a struct to a member; -1 if there is no such
 * struct or member, or btf is damaged. */
long ps__btf_offset(const void *btf, size_t size_bytes, const char *type, const char *member);
#define PS__BTF_FILE "/sys/kernel/btf/vmlinux"
/* Does the same for the running kernel. PS_OK, or a code with a detail. */
int ps__btf_find_offset(const char *type, const char *member, size_t *offset);

#endif
