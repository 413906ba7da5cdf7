/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake kernel behind the OS seam: files of /proc and /sys from memory, scripted counters, and any
 * call failing with any errno at its nth use. What a test doesn't script behaves as a quiet machine
 * with two CPUs, no PMU.
 */
#ifndef PS_TESTS_FAKE_H
#define PS_TESTS_FAKE_H

#include <linux/perf_event.h>
#include <perfsage/hooks.h>
#include <stdbool.h>
#include <stdint.h>

/* Installs the fake (ps_hooks_set) in a clean state; removes it. fake_remove fails the Check test
 * if file descriptors, mappings or allocations made through it are still alive. */
void fake_install(void);
void fake_remove(void);

/* What must never happen (a close of what isn't open, an event without close-on-exec, memory
 * released twice) is printed at once and fails the test in fake_remove. A test that provokes it on
 * purpose takes the count back to 0. */
unsigned fake_violations(void);
void fake_violations_reset(void);

/* Files. A folder exists when a file is below it. A content of NULL makes the file vanish. */
void fake_file(const char *path, const char *content);
void fake_file_error(const char *path, int error); /* open fails with this errno */
void fake_remove_cgroup(void);                     /* what was opened as one is none any more */
void fake_unmount_proc(void);                      /* nothing is below /proc, for good */
/* A machine's files from a text manifest: "== /sys/path" lines, each followed by the file's
 * content. They take the place of all files under /sys. */
void fake_machine(const char *manifest_path);

/* The calling thread, as getcpu, gettid and sched_getaffinity tell: CPU 0, its real tid and "0-1"
 * in a fresh fake. Each thread that calls into the fake is a task of its own until it ends:
 * /proc/<tid>/stat shows it. */
void fake_set_cpu(int cpu);
void fake_set_affinity(const char *cpu_list); /* "0-3" */
void fake_set_tid(pid_t tid);
/* The task (0: the caller) is switched out, and in again on the same CPU. */
void fake_switch_task(pid_t tid);
void fake_switch_out(pid_t tid);         /* it sleeps */
void fake_switch_in(pid_t tid, int cpu); /* from there on it runs, on this CPU */
/* getcpu answers these, one a call, then the last one for ever. */
void fake_script_cpus(const int *cpus, size_t count);

/* The clock. It advances by step_ns at each look (default 1000). */
void fake_set_clock(uint64_t now_ns, uint64_t step_ns);

/* Processor time, by CLOCK_THREAD_CPUTIME_ID, and context switches, by getrusage, of every thread.
 * 0 in a fresh fake. */
void fake_set_usage(uint64_t cpu_ns, long switches);

/* Calls, by name, for counting and failing. */
enum fake_call {
	FAKE_PERF_EVENT_OPEN,
	FAKE_IOCTL,
	FAKE_READ,
	FAKE_PREAD,
	FAKE_OPEN,
	FAKE_CLOSE,
	FAKE_MMAP,
	FAKE_MUNMAP,
	FAKE_LIST,
	FAKE_GETCPU,
	FAKE_GETTID,
	FAKE_GETAFFINITY,
	FAKE_CLOCK_GETTIME,
	FAKE_GETRLIMIT,
	FAKE_ALLOCATE,
	FAKE_POLL,
	FAKE_PIPE,
	FAKE_WRITE,
	FAKE_FSTAT,
	FAKE_BPF,
	FAKE_CALLS
};
/* The nth use from now (1: the next) fails with this errno, once; n = 0 takes the order back. */
void fake_fail(enum fake_call call, unsigned nth, int error);
void fake_fail_always(enum fake_call call, int error); /* every use; 0 ends it */
unsigned fake_count(enum fake_call call); /* uses since fake_install or fake_count_reset */
void fake_count_reset(void);
unsigned fake_count_resets(void); /* PERF_EVENT_IOC_RESET requests since fake_install */
bool fake_fail_happened(void);    /* did the ordered failure take place? */

/* Counters. An event is told apart by (type, config). Opening one that the machine doesn't have
 * fails with ENOENT; a fresh fake has PERF_TYPE_SOFTWARE's. */
void fake_add_event(uint32_t type, uint64_t config);
/* All configs of a type; at most `counters` in a group: EINVAL. */
void fake_add_pmu(uint32_t type, unsigned counters);
/* A core PMU: PERF_TYPE_HARDWARE, _HW_CACHE and _RAW share its counters; its folder of sysfs,
 * too. */
void fake_add_core_pmu(unsigned counters);
/* A hybrid machine: cpu_core, whose type is PERF_TYPE_RAW, and cpu_atom, each on its CPUs. In
 * generic events the upper half of config says which. */
#define FAKE_CPU_CORE 4u
#define FAKE_CPU_ATOM 10u
void fake_add_hybrid(unsigned core_counters, const char *core_cpus, unsigned atom_counters,
                     const char *atom_cpus);
void fake_lack_event(uint32_t type, uint64_t config); /* its PMU doesn't have this one */
/* msr/tsc/ as type 9: a PMU that refuses all exclude bits, and joins groups as software does. */
void fake_add_msr(void);
enum fake_pmu_flag {
	FAKE_PMU_NO_EXCLUDE = 1, /* any exclude bit: EINVAL */
	FAKE_PMU_SOFTWARE =
	    2, /* its events join any group; else a group has one PMU's events beside software's */
	FAKE_PMU_CPU_ONLY = 4 /* an uncore: a pid other than -1: EINVAL */
};
void fake_set_pmu_flags(uint32_t type, unsigned flags);
/* All open counters of an event that are enabled (their leader too) and whose target ran: count +=
 * amount. */
void fake_advance(uint32_t type, uint64_t config, uint64_t amount);
/* The same for one target: pid and cpu as they were given to perf_event_open (pid 0: resolved to
 * the opener's tid). */
void fake_advance_on(uint32_t type, uint64_t config, pid_t tid, int cpu, uint64_t amount);
void fake_set_count(uint32_t type, uint64_t config, uint64_t count); /* also backwards */
/* Time passes for all enabled groups: enabled += enabled_ns, running += running_ns. */
void fake_run(uint64_t enabled_ns, uint64_t running_ns);
/* The same for one counter alone. */
void fake_run_fd(int fd, uint64_t enabled_ns, uint64_t running_ns);
void fake_set_error_state(uint32_t type, uint64_t config,
                          bool on); /* read(2) of its group gives 0 bytes */
void fake_set_error_state_on(uint32_t type, uint64_t config, int cpu, bool on);
void fake_set_waiting(uint32_t type, uint64_t config,
                      bool on); /* its group is not on the hardware */
/* So that a test can choose among the means of attribution: a recorder of migrations is not
 * permitted (EACCES); for a task's event on one CPU there is no descriptor (EMFILE), but for one
 * that counts nothing. */
enum fake_means {
	FAKE_MEANS_ALL,
	FAKE_MEANS_PER_CPU,
	FAKE_MEANS_RECORDS,
	FAKE_MEANS_NONE
};
void fake_set_means(enum fake_means possible);
/* What perf_event_paranoid forbids, by the rules of Linux 6 (level 3: Debian's), with EACCES; the
 * file shows the level. A fresh fake is level 2 and privileged. Files in /proc/self/status are the
 * test's to add. */
void fake_set_paranoid(int level, bool privileged);
/* perf_event_open asks this about each attr that it would take; what it returns is the errno, or
 * 0. */
typedef int fake_refuse_attr(const struct perf_event_attr *attr);
void fake_set_refusal(fake_refuse_attr *refuse);
/* RLIMIT_NOFILE, 1024 in a fresh fake; standard input and the two outputs count. Beyond it:
 * EMFILE. */
void fake_set_nofile(unsigned limit);
/* A CPU goes offline (its counters stop until they are enabled again) or online; the files of /sys
 * show it. */
void fake_set_online(int cpu, bool online);

/* The fake task of a tid ends: its /proc files vanish, kept descriptors answer ESRCH, its counters
 * freeze. */
void fake_task(pid_t tid, const char *comm,
               int cpu); /* makes or moves it: /proc/<tid>/stat shows comm and cpu */
void fake_task_end(pid_t tid);
/* It ends, but nobody has waited for it yet; its process then has so many threads, itself among
 * them. */
void fake_task_zombie(pid_t tid, unsigned threads_left);
/* It is ending: its file says so as long as a joiner may see it, and it is gone when it was read so
 * often. */
void fake_task_leave(pid_t tid, unsigned looks);
/* It calls execve: its counters with enable_on_exec are enabled, once. */
void fake_task_exec(pid_t tid);
void fake_task_affinity(pid_t tid, const char *cpu_list);

/* Attribution by BPF can be had: the files that it reads are there. The programs aren't run. */
void fake_bpf_offer(void);
void fake_bpf_put_btf(const char *type,
                      const char *member); /* the kernel tells of this one alone */
/* The program credits so much of the set's n'th event to the process, on this CPU. */
void fake_bpf_credit(int cpu, size_t event, uint64_t count);
void fake_bpf_run(int cpu, uint64_t enabled_ns, uint64_t running_ns); /* and these times */
/* The next run of the program there can't read an event, while the process runs. */
void fake_bpf_fail_reading(int cpu);
/* From now on a task is being switched out there as the words are read. */
void fake_bpf_tear(int cpu);
/* The kernel leaves out the program of new processes, or that of context switches. */
void fake_bpf_miss(bool is_child);
size_t fake_bpf_fds(int *fds, size_t capacity); /* of maps, programs, links; how many */
pid_t fake_bpf_process(void);                   /* that is counted; 0: none */
size_t fake_bpf_events(void);                   /* that the program was told of */

/* What is open now. */
unsigned fake_open_fds(void);
size_t fake_mapped_bytes(void);
size_t fake_allocated_bytes(void);
const struct perf_event_attr *fake_attr_of_fd(int fd); /* NULL: not a counter */
uint64_t fake_later_config_of_fd(int fd, int number);  /* its config3 or config4 */
/* An older kernel: its perf_event_attr has only so many bytes. */
void fake_set_attr_size(uint32_t size_bytes);
size_t fake_counter_fds(int *fds,
                        size_t capacity); /* how many counters are open; their fds, oldest first */
int fake_leader_of_fd(int fd);
void fake_target_of_fd(int fd, pid_t *tid, int *cpu); /* tid -1: any task; cpu -1: any CPU */
const char *fake_filter_of_fd(int fd);                /* of PERF_EVENT_IOC_SET_FILTER; "": none */
#define FAKE_BPF_PROGRAM 777                          /* the descriptor of the one that there is */
int fake_bpf_count(void);                             /* how many counters have it */
bool fake_enabled_of_fd(int fd);                      /* is it counting, its leader too? */
void *fake_ring_of_fd(int fd); /* the memory of its latest mmap; NULL if none */
/* A kernel since Linux 6.0: PERF_FORMAT_LOST is known. */
void fake_count_lost(void);
/* poll says this of it from now on: POLLERR, POLLNVAL. */
void fake_hang_up(int fd, short events);
/* A record written by hand into its ring: what sample_id_all appends is among the words. False: it
 * has no ring, or the ring no room. */
bool fake_put_record(int fd, uint32_t type, uint16_t misc, const uint64_t *words, size_t count);

#endif
