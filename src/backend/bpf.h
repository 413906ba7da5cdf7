/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of a process by BPF: events of whole CPUs, which a program in the kernel reads at each
 * context switch. Shared by the files that do it: bpf.c is the backend, bpf_open.c asks the kernel,
 * bpf_code.c writes the programs, bpf_explain.c has the words for refusals, btf.c reads the
 * kernel's description of itself.
 */
#ifndef PS_BACKEND_BPF_H
#define PS_BACKEND_BPF_H

#include "backend/backend.h"

#include <linux/bpf.h>

/*
 * The words that the program keeps for each CPU; those of events follow.
 *
 * The map has a value of them for each CPU, then another one for each: the copy that a reading
 * takes there. The program may write to the first while it is read from elsewhere: a task's count
 * could be read with the times of before its last switch. Nothing but a reading writes to the copy.
 * Its program runs on the CPU itself, where it isn't interrupted by a switch, nor a switch by it.
 */
enum {
	PS__BPF_LEFT,   /* does the task that left the CPU last belong to the process? */
	PS__BPF_FAILED, /* of the value behind all CPUs': reads that failed, of all CPUs */
	PS__BPF_HEAD
};
/* For each event: count, enabled and running time as read last; then what is the process's of
 * each. */
#define PS__BPF_EVENT_WORDS 6
/* An instruction reaches so many words. */
#define PS__BPF_EVENTS_MAX 512

static inline size_t ps__bpf_known_word(size_t event)
{
	return PS__BPF_HEAD + event * PS__BPF_EVENT_WORDS;
}
static inline size_t ps__bpf_sum_word(size_t event)
{
	return ps__bpf_known_word(event) + 3;
}

/* Whether a process is counted is a byte, by its number; a map's value has so many of them. */
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

/* Something in the kernel, which numbers its maps, its programs and its links, each by
 * themselves. */
struct ps__bpf_object {
	int fd; /* -1: none */
	uint32_t type, id;
};

struct ps__bpf_kernel {
	struct ps__bpf_object events; /* a map: by CPU and event the event's descriptor */
	struct ps__bpf_object sums;   /* a map: the words above */
	struct ps__bpf_object pids;   /* a map: those bytes */
	struct ps__bpf_object switch_program, child_program;
	struct ps__bpf_object switch_link,
	    child_link; /* as long as they are open the programs run */
	size_t cpu_limit;
	size_t event_count;
	size_t words; /* of a CPU in sums */
};

/* One program as it is written; list NULL: it is only measured. */
struct ps__bpf_code {
	struct bpf_insn *list;
	size_t count;
};
/* Runs as a task leaves a CPU, or for a reading. is_late[i]: event i counts a switch after the
 * program has run. */
void ps__bpf_write_switch(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel,
                          const bool *is_late);
/* Runs as a task is created. pid_offset: bytes in the kernel's task_struct. */
void ps__bpf_write_child(struct ps__bpf_code *code, const struct ps__bpf_kernel *kernel,
                         size_t pid_offset);

/* bpf_open.c: maps and programs, which run from then on. kernel has its counts; what failed is all
 * closed. PS_OK, or a code with a detail. */
int ps__bpf_open(struct ps__bpf_kernel *kernel, const bool *is_late);
/* Opens both programs as for one event, runs one as for a reading (Linux 5.10), and closes them.
 * PS_OK, or a code with a detail. */
int ps__bpf_try(void);
void ps__bpf_close(struct ps__bpf_kernel *kernel);
int ps__bpf_set_event(const struct ps__bpf_kernel *kernel, int cpu, size_t event, int fd);
/* From here on it is counted, with what it creates. The map is closed. */
int ps__bpf_set_process(struct ps__bpf_kernel *kernel, pid_t pid);
/* Adds to the sums what the CPU's task has counted until now. PS_PARTIAL, without a detail: the CPU
 * is offline. */
int ps__bpf_flush(const struct ps__bpf_kernel *kernel, int cpu);
/* Takes the words of a key. */
int ps__bpf_read(const struct ps__bpf_kernel *kernel, size_t key, uint64_t *words);
/* Before a reading. PS_ECLOST: the program has closed what it needs. */
int ps__bpf_check(const struct ps__bpf_kernel *kernel);
/* Counts the cases in which the kernel left out one of the programs where it should have run,
 * because it ran there already (recursion_misses, Linux 5.12). */
int ps__bpf_count_misses(const struct ps__bpf_kernel *kernel, uint64_t *misses);

/* bpf_explain.c: a code and a sentence for an errno. what: for which part of it bpf(2) was
 * called. */
int ps__bpf_explain(enum bpf_cmd command, const char *what, int error);
/* perf_event_open refuses events of whole CPUs, and has said why: PS_EPERM. What permits those
 * alone is not enough. */
int ps__bpf_explain_events(void);
/* The numbers of processes must be the kernel's own: PS_ENOSUPP if they are not, PS_ESYS if that is
 * not known. */
int ps__bpf_check_namespace(void);

/* btf.c: bytes from the beginning of a struct to a member. -1: there is no such thing in it, or it
 * is damaged. */
long ps__btf_offset(const void *btf, size_t size_bytes, const char *type, const char *member);
#define PS__BTF_FILE "/sys/kernel/btf/vmlinux"
/* The same of the running kernel. PS_OK, or a code with a detail. */
int ps__btf_find_offset(const char *type, const char *member, size_t *offset);

#endif
