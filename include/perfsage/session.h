/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: samples and records of a process, and of all threads and processes that it creates.
 *
 * Each event is opened for each thread and each CPU, and inherited by threads and processes that
 * are created later. All events of a CPU write into one ring, but not with PS_SESSION_CLOSE. One
 * thread reads the rings and gives each record to a listener.
 *
 * ps_session_stop may be called by any thread and by signal handlers. Only one thread at a time may
 * call the other functions. In a child of fork() the calls fail with PS_ECLOST, except
 * ps_session_missed. ps_session_destroy releases the child's copies.
 */
#ifndef PERFSAGE_SESSION_H
#define PERFSAGE_SESSION_H

#include <perfsage/attr.h>
#include <perfsage/component.h>
#include <perfsage/record.h>
#include <perfsage/thread.h>
#include <perfsage/value.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The readers of a process's rings. */
struct ps_session;

/** The action of a session whose threads need more descriptors than it may take. */
enum ps_session_shortage {
	PS_SESSION_REFUSE =
	    0, /* ps_session_start fails with PS_ECOUNT, and says how many are needed */
	/* Each event gets a ring of its own, and all descriptors but one for each CPU are closed:
	 * the events live as long as their rings. ps_session_count can't read the counts. */
	PS_SESSION_CLOSE
};

/** Flags of options: what all events of a session record, besides their own fields. */
enum ps_session_flag {
	PS_SESSION_MAPPINGS = 1 << 0, /* MMAP2 records of code that is mapped */
	PS_SESSION_SWITCHES = 1 << 1  /* SWITCH records of all threads */
};

/** A record, and what the session knows of it. */
struct ps_session_record {
	/* Valid until the listener returns. If another reader samples the same software event, a
	 * sample can lack PS_RECORD_HAS_TIME: its time is then that of the previous record, or the
	 * latest time at which the ring was read empty */
	const struct ps_record *record;
	size_t event; /* in the order of ps_session_add; SIZE_MAX: not one of these events */
	/* The number of events that a sample stands for; 0: not known, for a software event or a
	 * tracepoint with a frequency */
	uint64_t period;
	struct ps_thread *thread; /* the hardware thread it was written on; NULL without a root */
};

/**
 * Hears one record. This function may call ps_session_stop, and must make no other call on the
 * session. It should return: if it is left by a jump or by its thread's cancellation, it hears the
 * record again. The record is counted once.
 */
typedef void ps_session_hear(void *context, const struct ps_session_record *heard);

/** The functions that hear the records; each may be NULL. */
struct ps_listener {
	size_t size;   /* sizeof(struct ps_listener), set by the caller */
	void *context; /* given to each function */
	ps_session_hear *sample;
	ps_session_hear *mmap; /* MMAP, MMAP2 */
	ps_session_hear *comm;
	ps_session_hear *fork;
	ps_session_hear *exit;
	ps_session_hear *switched;   /* SWITCH */
	ps_session_hear *lost;       /* LOST, LOST_SAMPLES: records are missing here */
	ps_session_hear *other;      /* all other types */
	void (*stop)(void *context); /* ps_session_run has read all, and returns */
};

/** The options of a session. 0 is the default of each member. */
struct ps_session_options {
	size_t size;               /* sizeof(struct ps_session_options), set by the caller */
	struct ps_component *root; /* a topology's root, for `thread` and for sums; it must
	                              outlive the session */
	const struct ps_listener *listener; /* copied */
	uint32_t flags;                     /* of enum ps_session_flag */
	enum ps_session_shortage shortage;
	size_t descriptors; /* most that the session may take; 0: half of the process's limit */
	size_t ring_bytes; /* of each ring; 0: 512 KiB for each CPU; 16 KiB if each event has one */
	unsigned rounds;   /* how often the list of threads is read at most; 0: 64 */
};

/** The work of a session so far. */
struct ps_session_stats {
	size_t size;      /* sizeof(struct ps_session_stats), set by the caller */
	uint64_t records; /* that were read, with LOST; without damaged and unassigned records */
	uint64_t samples;
	uint64_t lost;    /* records for which a ring had no room, samples lost by the hardware */
	uint64_t damaged; /* records that were refused */
	/* With PS_SESSION_CLOSE: rings where it is possible that records were lost and not
	 * reported. These records are not in lost. Otherwise 0, because the kernel counts the lost
	 * records */
	uint64_t full_rings;
	/* Samples with the id of another session's or sampler's event, if several events of this
	 * session can have written them: neither given to the listener nor in a sum */
	uint64_t unassigned;
	/* Threads for which events were opened; other threads inherit the events */
	size_t threads;
	size_t rings;
	size_t descriptors; /* number of descriptors that the session has open */
};

/**
 * Makes a session of a process; nothing is opened yet.
 *
 * out - receives the session; release it with ps_session_destroy
 * pid - the process; 0: the caller's
 * options - NULL: all defaults
 *
 * Errors:
 *   PS_EINVAL - out is NULL; pid is negative, or a thread that isn't a process's first; a size is
 *       not that of a struct of this library; ring_bytes is too large; flags or shortage has a
 *       value that this version doesn't know; the topology was destroyed
 *   PS_ESYS - there is no such process, or /proc/PID/status can't be read; or no /proc of this
 *       PID namespace is mounted, so that its threads can't be listed; or the list of CPUs in
 *       /sys can't be read
 *   PS_ECOUNT - no file descriptor is left
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_session_create(struct ps_session **out, pid_t pid,
                                const struct ps_session_options *options);

/**
 * Adds an event. The session keeps a copy of the attr. In the copy it sets inherit, the clock
 * CLOCK_MONOTONIC and sample_id_all. In sample_type it sets IDENTIFIER, TID, TIME and CPU; also
 * PERIOD with a frequency, or for a tracepoint with a period of 1. In read_format it sets the two
 * times and, if the kernel has it, LOST.
 *
 * attr - with a sample_period or a sample_freq; without either the event counts and writes no
 *     samples. A period of cpu-clock or task-clock is at least 10000 (nanoseconds), because the
 *     kernel's timers are no faster; the session raises a shorter period to 10000, and lowers a
 *     higher frequency to 100000 Hz. PERF_SAMPLE_PERIOD with a sample_period makes the kernel
 *     write a sample of a software event each time: the session knows the period without this
 *     bit. As with ps_sampler_create the event can be limited to user space: the value of
 *     ps_session_sum then has PS_VALUE_USER_ONLY
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_EISRUN - the session was started
 *   PS_ECNFLCT - the session has an event of that name; or it samples the same software event by
 *       another name, also one with other modifiers: Linux gives the samples of both names one id
 *   PS_ECOMBO - the event counts for more than a task, or has a field that a session can't have;
 *       ps_error_detail() says which. Or the event is a probe with path= or func=: each fork of
 *       the process would fail
 *   PS_ENOSUPP - the event asks for records that the library can't read
 *   PS_EINVAL_DOM - the event happens in the kernel, which the attr excludes; or the attr excludes
 *       both user space and the kernel
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_session_add(struct ps_session *session, const struct ps_attr *attr);

/**
 * Opens the events for all threads. From then on the events write records. Reads the list of
 * threads until all of them are observed, at most `rounds` times. If a thread was being created
 * while the events of its creator were opened, it is not known whether the thread inherits the
 * events: the thread is missed. The call then closes all events and begins again, if enough rounds
 * are left.
 *
 * A session without events observes only tasks, and takes no samples.
 *
 * Errors; with PS_PARTIAL the session is started, with all others nothing is open:
 *   PS_EINVAL - session is NULL
 *   PS_EISRUN - the session was started before
 *   PS_PARTIAL - some threads are missed: they were being created, a ring was full, or the rounds
 *       were too few. ps_session_missed gives the missed threads, but not always the tasks
 *       that a missed thread created
 *   PS_ECOUNT - the descriptors that the session may take, the process's or the system's don't
 *       suffice; ps_error_detail() gives which, and how many are needed
 *   PS_EPERM - this user may not observe the process, or lock so much memory
 *   PS_ESYS - the process has ended, or a system call failed
 *   PS_ENOMEM - out of memory; or, with PS_SESSION_CLOSE, out of mappings (vm.max_map_count)
 *   others - the kernel refuses an event: as ps_sampler_create
 *
 * Cost: some system calls for each event, thread and CPU.
 */
PS_PUBLIC int ps_session_start(struct ps_session *session);

/**
 * The missed tasks: threads and child processes that are not known to be observed.
 *
 * ps_session_run and ps_session_poll can find more missed tasks: also a task that began a program
 * which the kernel doesn't observe (see ps_session_count), if the task still exists when its EXIT
 * record is read. A missed task stays missed. It is possible that the tasks which it creates are
 * missed, too.
 *
 * tids - receives up to `capacity` numbers; the number of a process is that of its first thread
 *
 * Returns the number of missed tasks; 0 for NULL. Not while another thread runs the session.
 */
PS_PUBLIC size_t ps_session_missed(const struct ps_session *session, pid_t *tids, size_t capacity);

/**
 * Gives records to the listener until ps_session_stop or until the process has ended, and then all
 * remaining records. One call of ps_session_stop ends one ps_session_run: the present run or the
 * next one. The session may be run again: the events go on after the run.
 *
 * Records of one CPU come in the order of time, but not with PS_SESSION_CLOSE; of two CPUs in any
 * order.
 *
 * Errors:
 *   PS_EINVAL - session is NULL
 *   PS_ENOTRUN - the session was not started
 *   PS_ECLOST - a descriptor was closed by the program, or it is the parent's session
 *   PS_ESYS - poll failed
 */
PS_PUBLIC int ps_session_run(struct ps_session *session);

/**
 * For a loop of one's own: waits for records, and gives all present records to the listener.
 *
 * timeout_ms - 0: doesn't wait; negative: until there is a record, a stop, or the process has ended
 *
 * Returns PS_OK, also if no record came in time.
 *
 * Errors; those of ps_session_run and:
 *   PS_ENOTRUN - ps_session_stop was called: only one ps_session_poll fails for each stop; or the
 *       process has ended and there are no more records
 */
PS_PUBLIC int ps_session_poll(struct ps_session *session, int timeout_ms);

/**
 * Ends one ps_session_run or ps_session_poll. Any thread; async-signal-safe. The call doesn't wait.
 *
 * Errors:
 *   PS_EINVAL - session is NULL
 *   PS_ECLOST - the program has closed the descriptor that wakes the run, or it is the parent's
 *       session
 */
PS_PUBLIC int ps_session_stop(struct ps_session *session);

/**
 * Tells the work of the session so far. Not while another thread runs it.
 *
 * out - its size is set by the caller
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or the size is wrong
 *   PS_ECLOST - it is the parent's session; or the program has closed descriptors of the session,
 *       so that the number of lost records can't be read
 */
PS_PUBLIC int ps_session_stats(const struct ps_session *session, struct ps_session_stats *out);

/**
 * Reads the kernel's count of an event in all threads.
 *
 * The count begins some microseconds after the event has got its ring. In these microseconds Linux
 * can already write samples. The occurrences for which these samples stand are not in the count.
 *
 * Linux ends the observation of a task that begins a program which is set-user-ID or set-group-ID,
 * has capabilities or can't be read by the user: the count contains the events before this moment.
 *
 * event - as counted by ps_session_add, from 0
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - there is no such event
 *   PS_ENOTRUN - the session was not started
 *   PS_ENOSUPP - the descriptors are closed (PS_SESSION_CLOSE)
 *   PS_ENOCNTR - the event had no counter for some or all of the time that its threads ran, because
 *       too many hardware events share the counters; ps_error_detail() gives both times. Or the
 *       event is pinned and has lost its counter
 *   PS_ECLOST - a descriptor was closed by the program, or it is the parent's session
 *   PS_ESYS - read failed
 */
PS_PUBLIC int ps_session_count(const struct ps_session *session, size_t event, uint64_t *out);

/**
 * The sum of the samples' periods below a component: an estimate of what was counted there. While
 * an event has no counter it writes no samples: ps_session_count then fails with PS_ENOCNTR.
 *
 * value - receives the sum; raw is the number of samples, status PS_STATUS_SCALED, and flags has
 *     PS_VALUE_SAMPLED. PS_STATUS_INCOMPLETE: samples may be missing, so the sum is a lower bound:
 *     records were lost, damaged or unassigned, tasks are missed, or Linux throttled the event.
 *     Untouched on failure.
 * component - of the topology of the options' root. NULL: the options' root, which is all hardware
 *     threads if it is the Machine, with the unknown Thread
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; the session has no root; the component is of another topology
 *   PS_ENOEVNT - there is no such event
 *   PS_ENOEVST - there is no sample of the event below the component
 *   PS_ENOSUPP - the event has a frequency, and is a tracepoint or a software event other than
 *       cpu-clock and task-clock: the kernel doesn't tell how many events a sample stands for
 *   PS_ECLOST - it is the parent's session
 */
PS_PUBLIC int ps_session_sum(const struct ps_session *session, size_t event,
                             const struct ps_component *component, struct ps_value *value);

/**
 * Stores the sums of all samples since the start as a new reading. Each hardware thread with a
 * sample gets a part. The event's name in the tree is "sampled NAME": totals of NAME therefore do
 * not contain samples. The values have the status of ps_session_sum and PS_VALUE_SAMPLED;
 * ps_component_total gives them, and all formats show them. The readings outlive the session. An
 * event for which ps_session_sum fails is not stored.
 *
 * timestamp - NULL, or receives the reading's, in nanoseconds of CLOCK_MONOTONIC; untouched on
 *     failure
 *
 * Not while another thread runs the session. Others may read the tree meanwhile.
 *
 * Errors:
 *   PS_EINVAL - session is NULL, has no root, or its topology was destroyed
 *   PS_ENOTRUN - the session was not started
 *   PS_ENOEVST - there is no sample yet of an event that ps_session_sum can add up
 *   PS_ENOMEM - out of memory; nothing is stored, and the sums stay
 *   PS_ECLOST - it is the parent's session
 *
 * Cost: no system call; some stores for each hardware thread and event.
 */
PS_PUBLIC int ps_session_store(struct ps_session *session, uint64_t *timestamp);

/** Closes and frees the session; NULL does nothing. No other thread may use the session. */
PS_PUBLIC void ps_session_destroy(struct ps_session *session);

#ifdef __cplusplus
}
#endif
#endif
