/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fake kernel behind the OS seam: files of /proc and /sys in memory, scripted counters, and
 * failures of any call with any errno at its nth use. What a test doesn't script behaves as an idle
 * machine with two CPUs and no PMU.
 */
#ifndef PS_TESTS_FAKE_H
#define PS_TESTS_FAKE_H

#include <linux/perf_event.h>
#include <perfsage/hooks.h>
#include <stdbool.h>
#include <stdint.h>

/* fake_install installs the fake (ps_hooks_set) in its initial state; fake_remove removes it. It
 * fails the Check test if file descriptors, mappings or allocations made through the fake still
 * exist. */
void fake_install(void);
void fake_remove(void);

/* Number of violations: closing what isn't open, an event without close-on-exec, freeing memory
 * twice and the like. Each is printed at once, and fails the test in fake_remove. A test that
 * provokes violations resets the number to 0. */
unsigned fake_violations(void);
void fake_violations_reset(void);

/* Files. A folder exists if a file is below it. content NULL: the file vanishes. */
void fake_file(const char *path, const char *content);
void fake_packages(void); /* files of sysfs: CPU 0 and 1 are a package, CPU 2 and 3 another one */
void fake_file_error(const char *path, int error); /* open fails with this errno */
void fake_remove_cgroup(void);                     /* descriptors of control groups are refused from
                                                    * now on */
void fake_unmount_proc(void);                      /* /proc is empty from now on */
/* Replaces all files under /sys by those of a text manifest: "== /sys/path" lines, each followed by
 * the file's content. */
void fake_machine(const char *manifest_path);

/* The calling thread, as getcpu, gettid and sched_getaffinity return it: initially CPU 0, its real
 * tid and "0-1". Each thread that calls the fake is a task until the thread ends; /proc/<tid>/stat
 * shows it. */
void fake_set_cpu(int cpu);
void fake_set_affinity(const char *cpu_list); /* "0-3" */
void fake_set_tid(pid_t tid);
/* The task (0: the caller) is switched out, and in again on the same CPU. */
void fake_switch_task(pid_t tid);
void fake_switch_out(pid_t tid);         /* it sleeps */
void fake_switch_in(pid_t tid, int cpu); /* it runs on this CPU from now on */
/* getcpu returns these CPUs, one for each call, then always the last one. */
void fake_script_cpus(const int *cpus, size_t count);

/* Sets the clock. It advances by step_ns (initially 1000) whenever it is read. */
void fake_set_clock(uint64_t now_ns, uint64_t step_ns);

/* Sets the CPU time (CLOCK_THREAD_CPUTIME_ID) and the context switches (getrusage) of every thread,
 * initially 0. */
void fake_set_usage(uint64_t cpu_ns, long switches);

/* Calls that can be counted and made to fail. */
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
/* Makes the nth use from now on (1: the next) fail once with this errno; n = 0 cancels this. */
void fake_fail(enum fake_call call, unsigned nth, int error);
void fake_fail_always(enum fake_call call, int error); /* every use; 0 ends it */
unsigned fake_count(enum fake_call call);              /* number of uses since fake_install or
                                                        * fake_count_reset */
void fake_count_reset(void);
unsigned fake_count_resets(void); /* number of PERF_EVENT_IOC_RESET requests since fake_install */
bool fake_fail_happened(void);    /* true if the failure took place */

/* Counters. An event is identified by (type, config). Opening an event that the machine doesn't
 * have fails with ENOENT; initially it has those of PERF_TYPE_SOFTWARE. */
void fake_add_event(uint32_t type, uint64_t config);
/* Adds a PMU with all configs of a type. A group with more than `counters` of its events fails with
 * EINVAL. */
void fake_add_pmu(uint32_t type, unsigned counters);
/* A PMU "power" of type 20, whose event energy-pkg counts each of two packages (fake_packages). */
void fake_add_package_pmu(void);
/* Adds a core PMU, with its sysfs folder: PERF_TYPE_HARDWARE, _HW_CACHE and _RAW share its
 * counters. */
void fake_add_core_pmu(unsigned counters);
/* Makes the machine hybrid: cpu_core, whose type is PERF_TYPE_RAW, and cpu_atom, each on its own
 * CPUs. The upper half of a generic event's config selects one. */
#define FAKE_CPU_CORE 4u
#define FAKE_CPU_ATOM 10u
void fake_add_hybrid(unsigned core_counters, const char *core_cpus, unsigned atom_counters,
                     const char *atom_cpus);
void fake_lack_event(uint32_t type, uint64_t config); /* removes an event of a PMU */
/* Adds msr/tsc/ with type 9: a PMU that refuses all exclude bits, and whose events join groups as
 * software events do. */
void fake_add_msr(void);
enum fake_pmu_flag {
	FAKE_PMU_NO_EXCLUDE = 1, /* EINVAL for any exclude bit */
	FAKE_PMU_SOFTWARE = 2,   /* its events join any group; otherwise a group has events of one
	                          * PMU, and software   events */
	FAKE_PMU_CPU_ONLY = 4    /* as an uncore PMU: EINVAL for a pid other than -1 */
};
void fake_set_pmu_flags(uint32_t type, unsigned flags);
/* Adds amount to all open counters of an event that are enabled, with their leader, and whose task
 * ran. */
void fake_advance(uint32_t type, uint64_t config, uint64_t amount);
/* Does the same for counters with this tid and cpu, as given to perf_event_open (pid 0 is the
 * opener's tid). */
void fake_advance_on(uint32_t type, uint64_t config, pid_t tid, int cpu, uint64_t amount);
void fake_set_count(uint32_t type, uint64_t config, uint64_t count); /* may be less than before */
/* Lets time pass for all enabled groups: enabled += enabled_ns, running += running_ns. */
void fake_run(uint64_t enabled_ns, uint64_t running_ns);
/* Does the same for one counter. */
void fake_run_fd(int fd, uint64_t enabled_ns, uint64_t running_ns);
void fake_set_error_state(uint32_t type, uint64_t config,
                          bool on); /* read(2) of its group returns 0 bytes */
void fake_set_error_state_on(uint32_t type, uint64_t config, int cpu, bool on);
void fake_set_waiting(uint32_t type, uint64_t config,
                      bool on); /* its group isn't on the hardware */
/* Selects the attribution methods that are possible. Without RECORDS, a recorder of migrations
 * isn't permitted (EACCES). Without PER_CPU, there is no descriptor for a task's event on one CPU
 * (EMFILE), unless the event counts nothing. */
enum fake_means {
	FAKE_MEANS_ALL,
	FAKE_MEANS_PER_CPU,
	FAKE_MEANS_RECORDS,
	FAKE_MEANS_NONE
};
void fake_set_means(enum fake_means possible);
/* Sets perf_event_paranoid: the fake forbids what Linux 6 does (level 3: Debian's), with EACCES,
 * and the file shows the level. Initially the level is 2 and the process privileged. The test
 * itself adds lines to /proc/self/status. */
void fake_set_paranoid(int level, bool privileged);
/* perf_event_open calls this for each attr that it would accept. Returns the errno to fail with, or
 * 0. */
typedef int fake_refuse_attr(const struct perf_event_attr *attr);
void fake_set_refusal(fake_refuse_attr *refuse);
/* Sets RLIMIT_NOFILE, initially 1024; the three standard descriptors count. Beyond it calls fail
 * with EMFILE. */
void fake_set_nofile(unsigned limit);
/* Takes a CPU offline (its counters stop until they are enabled again) or online. The files of /sys
 * show it. */
void fake_set_online(int cpu, bool online);

/* fake_task_end ends a task: its /proc files vanish, open descriptors of them return ESRCH, and its
 * counters freeze. */
void fake_task(pid_t tid, const char *comm,
               int cpu); /* makes or moves a task: /proc/<tid>/stat shows comm and cpu */
void fake_task_end(pid_t tid);
/* Makes the task a zombie. threads_left: number of threads in its process, with this one. */
void fake_task_zombie(pid_t tid, unsigned threads_left);
/* Lets the task end: its stat file shows this while it can still be joined, and vanishes after
 * `looks` reads. */
void fake_task_leave(pid_t tid, unsigned looks);
/* Lets the task call execve: its counters with enable_on_exec are enabled once. */
void fake_task_exec(pid_t tid);
void fake_task_affinity(pid_t tid, const char *cpu_list);

/* Makes attribution by BPF possible: adds the files that it reads. The programs aren't run. */
void fake_bpf_offer(void);
void fake_bpf_put_btf(const char *type,
                      const char *member); /* from now on the kernel describes only this type */
/* Acts as the BPF program: adds a count of the set's n'th event to the process, on this CPU. */
void fake_bpf_credit(int cpu, size_t event, uint64_t count);
void fake_bpf_run(int cpu, uint64_t enabled_ns, uint64_t running_ns); /* the same with these
                                                                       * times */
/* The program's next run on this CPU can't read an event while the process runs. */
void fake_bpf_fail_reading(int cpu);
/* From now on the words are read while a task is being switched out on this CPU. */
void fake_bpf_tear(int cpu);
/* The kernel skips the program for new processes, or the one for context switches. */
void fake_bpf_miss(bool is_child);
size_t fake_bpf_fds(int *fds, size_t capacity); /* of maps, programs and links; returns how many */
pid_t fake_bpf_process(void);                   /* the process that is counted; 0: none */
size_t fake_bpf_events(void);                   /* number of events that the program was told of */

/* Resources that exist now. */
unsigned fake_open_fds(void);
size_t fake_mapped_bytes(void);
size_t fake_allocated_bytes(void);
const struct perf_event_attr *fake_attr_of_fd(int fd); /* NULL: it isn't a counter */
uint64_t fake_later_config_of_fd(int fd, int number);  /* config3 or config4 */
/* Simulates an older kernel, whose perf_event_attr has only so many bytes. */
void fake_set_attr_size(uint32_t size_bytes);
size_t fake_counter_fds(int *fds, size_t capacity); /* returns the number of open counters; writes
                                                     * their fds, oldest first */
int fake_leader_of_fd(int fd);
void fake_target_of_fd(int fd, pid_t *tid, int *cpu); /* tid -1: any task; cpu -1: any CPU */
const char *fake_filter_of_fd(int fd);                /* as set by PERF_EVENT_IOC_SET_FILTER; "":
                                                       * none */
#define FAKE_BPF_PROGRAM 777                          /* descriptor of the only BPF program */
int fake_bpf_count(void);                             /* number of counters that have it */
bool fake_enabled_of_fd(int fd);                      /* true if it and its leader are enabled */
void *fake_ring_of_fd(int fd); /* the memory of its latest mmap; NULL if none */
/* Simulates Linux 6.0 or later: PERF_FORMAT_LOST is known. */
void fake_count_lost(void);
/* From now on poll reports these events of the counter: POLLERR, POLLNVAL. */
void fake_hang_up(int fd, short events);
/* Writes a record into the counter's ring; words include what sample_id_all appends. Returns false
 * if it has no ring, or the ring has no room. */
bool fake_put_record(int fd, uint32_t type, uint16_t misc, const uint64_t *words, size_t count);

#endif
