/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: samples and records of a process, and of all threads and processes that it creates.
 *
 * Each event is opened for each thread and each CPU, and inherited by threads and processes that
 * are created later. All events of a CPU write into one ring, but not with PS_SESSION_CLOSE. One
 * thread reads the rings and gives each record to a listener.
 *
 * ps_session_stop may be called by any thread and by signal handlers. One thread at a time calls
 * the others. In a child of fork() all calls fail with PS_ECLOST; ps_session_destroy lets go of the
 * child's copies.
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

/** The answer when the threads need more descriptors than the session may take. */
enum ps_session_shortage {
	PS_SESSION_REFUSE =
	    0, /* ps_session_start fails with PS_ECOUNT, and says how many it needs */
	/* Each event gets a ring of its own, and all descriptors but one for each CPU are closed:
	 * the events live as long as their rings. What they counted can't be read then. */
	PS_SESSION_CLOSE
};

/** Flags of options: what all events of a session record, besides their own fields. */
enum ps_session_flag {
	PS_SESSION_MAPPINGS = 1 << 0, /* MMAP2 records of code that is mapped */
	PS_SESSION_SWITCHES = 1 << 1  /* SWITCH records of all threads */
};

/** A record, and what the session knows of it. */
struct ps_session_record {
	/* Good until the listener returns. A sample of a software event that another reader
	 * samples, too, may lack PS_RECORD_HAS_TIME: time is then when all before it had been read
	 */
	const struct ps_record *record;
	size_t event; /* as counted by ps_session_add; SIZE_MAX: not of an event of the session */
	/* So many events a sample stands for; 0: not known, of a software event or a tracepoint
	 * with a frequency */
	uint64_t period;
	struct ps_thread *thread; /* the hardware thread it was written on; NULL without a root */
};

/**
 * Hears one record. It may call ps_session_stop, and no other call of the session. It should
 * return: if it is left by a jump or by its thread's cancellation, it hears the record again, which
 * is counted once.
 */
typedef void ps_session_hear(void *context, const struct ps_session_record *heard);

/** Who hears the records; a function may be NULL. */
struct ps_listener {
	size_t size;   /* sizeof(struct ps_listener), set by the caller */
	void *context; /* given to each function */
	ps_session_hear *sample;
	ps_session_hear *mmap; /* MMAP, MMAP2 */
	ps_session_hear *comm;
	ps_session_hear *fork;
	ps_session_hear *exit;
	ps_session_hear *switched;   /* SWITCH */
	ps_session_hear *lost;       /* LOST, LOST_SAMPLES: here is a hole */
	ps_session_hear *other;      /* all other types */
	void (*stop)(void *context); /* ps_session_run has read all, and returns */
};

/** The options of a session. 0 is the default of each member. */
struct ps_session_options {
	size_t size;               /* sizeof(struct ps_session_options), set by the caller */
	struct ps_component *root; /* a topology's: for `thread` and for sums; it must outlive
	                              the session */
	const struct ps_listener *listener; /* copied */
	uint32_t flags;                     /* of enum ps_session_flag */
	enum ps_session_shortage shortage;
	size_t descriptors; /* that the session may take; 0: half of the process's limit */
	size_t ring_bytes; /* of each ring; 0: 512 KiB for each CPU; 16 KiB if each event has one */
	unsigned rounds;   /* looks at the list of threads; 0: 64 */
};

/** The work of a session so far. */
struct ps_session_stats {
	size_t size;      /* sizeof(struct ps_session_stats), set by the caller */
	uint64_t records; /* read, LOST among them; not: damaged, unassigned */
	uint64_t samples;
	uint64_t lost;    /* records for which a ring had no room, samples lost by the hardware */
	uint64_t damaged; /* records that were refused */
	/* With PS_SESSION_CLOSE: rings that may have had no room for records, of which no record
	 * tells. Those are not in lost. Else 0: the kernel's count tells */
	uint64_t full_rings;
	/* Samples that the kernel gave the id of another session's or sampler's event, while
	 * several events of this session may have written them: neither heard nor in a sum */
	uint64_t unassigned;
	size_t threads; /* that were opened one by one; others inherit */
	size_t rings;
	size_t descriptors; /* that the session has */
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
 *       not that of a struct of this library; ring_bytes is too large
 *   PS_ESYS - there is no such process, or /proc/PID/status can't be read; or no /proc of this
 *       PID namespace is mounted, so that its threads can't be listed
 *   PS_ECOUNT - no file descriptor is left
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_session_create(struct ps_session **out, pid_t pid,
                                const struct ps_session_options *options);

/**
 * Adds an event. The session keeps a copy, which also gets inherit, the clock CLOCK_MONOTONIC,
 * sample_id_all, in sample_type IDENTIFIER, TID, TIME and CPU, with a frequency, or for a
 * tracepoint with a period of 1, PERIOD, too, and in read_format the two times and, if the kernel
 * has it, LOST.
 *
 * attr - with a sample_period or a sample_freq; without either it counts and writes no samples.
 *     A period of cpu-clock or task-clock is at least 10000 (nanoseconds), as the kernel's timers
 *     go off no more often; a shorter one, or a higher frequency, becomes that.
 *     PERF_SAMPLE_PERIOD with a sample_period makes the kernel write a sample of a software
 *     event each time: the session knows the period without it. As with ps_sampler_create it may
 *     fall back to user space: ps_session_sum tells by PS_VALUE_USER_ONLY
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_EISRUN - the session was started
 *   PS_ECNFLCT - the session has an event of that name; or it samples the same software event by
 *       another name, also one with other modifiers: Linux gives the samples of both names one id
 *   PS_ECOMBO - the event counts for more than a task, or has a field that a session can't have;
 *       ps_error_detail() says which
 *   PS_ENOSUPP - it asks for records that the library can't read
 *   PS_EINVAL_DOM - the event happens in the kernel, which the attr excludes
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_session_add(struct ps_session *session, const struct ps_attr *attr);

/**
 * Opens the events for all threads. From then on the events write records. Reads the list of
 * threads until all of them are observed, at most `rounds` times. A thread that was being created
 * while the events of its creator were opened may inherit the events or not: it is missed.
 *
 * A session without events observes tasks alone.
 *
 * Errors; with PS_PARTIAL the session is started, with all others nothing is open:
 *   PS_EINVAL - session is NULL
 *   PS_EISRUN - it was started before
 *   PS_PARTIAL - some threads are missed: they were being created, a ring was full, or the rounds
 *       were too few. ps_session_missed gives them, but not what those made that have ended since
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
 * ps_session_run and ps_session_poll may find more of them: also a task that began a program which
 * the kernel doesn't observe (see ps_session_count), if it is still there when they read of it. A
 * missed task stays missed, and the tasks that it creates may be missed, too.
 *
 * tids - receives up to `capacity` numbers; that of a process is its first thread's
 *
 * Returns how many there are; 0 for NULL. Not while another thread runs the session.
 */
PS_PUBLIC size_t ps_session_missed(const struct ps_session *session, pid_t *tids, size_t capacity);

/**
 * Gives records to the listener until ps_session_stop or until the process has ended, and then all
 * that are left. One call of ps_session_stop ends one ps_session_run, be it earlier or later. May
 * be called again: the events go on meanwhile.
 *
 * Records of one CPU come in the order of time, but not with PS_SESSION_CLOSE; of two CPUs in any
 * order.
 *
 * Errors:
 *   PS_EINVAL - session is NULL
 *   PS_ENOTRUN - it was not started
 *   PS_ECLOST - a descriptor was closed by the program, or it is the parent's session
 *   PS_ESYS - poll failed
 */
PS_PUBLIC int ps_session_run(struct ps_session *session);

/**
 * For a loop of one's own: waits for records, and gives to the listener what is there.
 *
 * timeout_ms - 0: doesn't wait; negative: until there is a record, a stop, or the process has ended
 *
 * Returns PS_OK, also if none came in time.
 *
 * Errors; those of ps_session_run and:
 *   PS_ENOTRUN - ps_session_stop was called, which is forgotten then; or the process has ended and
 *       there are no more records
 */
PS_PUBLIC int ps_session_poll(struct ps_session *session, int timeout_ms);

/**
 * Lets ps_session_run return. Any thread; async-signal-safe. It doesn't wait.
 *
 * Errors:
 *   PS_EINVAL - session is NULL
 *   PS_ECLOST - the program has closed the descriptor that wakes the run, or it is the parent's
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
 *       so that what the kernel lost can't be asked
 */
PS_PUBLIC int ps_session_stats(const struct ps_session *session, struct ps_session_stats *out);

/**
 * Reads the kernel's count of an event in all threads. The samples are taken of these.
 *
 * The count begins when the event has its ring: of what happens meanwhile, some microseconds,
 * samples may be written that are not in the count. Linux ends the observation of a task that
 * begins a program which is set-user-ID, has capabilities or can't be read: the count has what came
 * before.
 *
 * event - as counted by ps_session_add, from 0
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - there is no such event
 *   PS_ENOTRUN - the session was not started
 *   PS_ENOSUPP - the descriptors are closed (PS_SESSION_CLOSE)
 *   PS_ENOCNTR - the event had no counter for some of the time that its threads ran, or none at
 *       all, as too many hardware events share them; ps_error_detail() gives both times. Or it is
 *       pinned and couldn't be kept on the hardware
 *   PS_ECLOST - a descriptor was closed by the program, or it is the parent's session
 *   PS_ESYS - read failed
 */
PS_PUBLIC int ps_session_count(const struct ps_session *session, size_t event, uint64_t *out);

/**
 * The sum of the samples' periods below a component: an estimate of what was counted there. While
 * an event has no counter it writes no samples: ps_session_count tells.
 *
 * value - receives the sum; raw is the number of samples, status PS_STATUS_SCALED, and flags has
 *     PS_VALUE_SAMPLED. Untouched on failure.
 * component - of the topology of the options' root. NULL: the options' root, which is all hardware
 *     threads if it is the Machine, with the unknown Thread
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; the session has no root; the component is of another topology
 *   PS_ENOEVNT - there is no such event
 *   PS_ENOEVST - there is no sample of it below the component
 *   PS_ENOSUPP - the event has a frequency, and is a tracepoint or a software event other than
 *       cpu-clock and task-clock: the kernel doesn't tell how many events a sample stands for
 *   PS_ECLOST - it is the parent's session
 */
PS_PUBLIC int ps_session_sum(const struct ps_session *session, size_t event,
                             const struct ps_component *component, struct ps_value *value);

/**
 * Stores the sums of all samples since the start as a new reading. Each hardware thread with a
 * sample gets a part. The event's name in the tree is "sampled NAME": totals of NAME therefore do
 * not contain samples. The values have PS_STATUS_SCALED and PS_VALUE_SAMPLED; ps_component_total
 * gives them, and all formats show them. The readings outlive the session. An event for which
 * ps_session_sum fails is not stored.
 *
 * timestamp - NULL, or receives the reading's, in nanoseconds of CLOCK_MONOTONIC; untouched on
 *     failure
 *
 * Not while another thread runs the session. Others may read the tree meanwhile.
 *
 * Errors:
 *   PS_EINVAL - session is NULL, has no root, or its topology was destroyed
 *   PS_ENOTRUN - it was not started
 *   PS_ENOEVST - there is no sample yet of an event that ps_session_sum can add up
 *   PS_ENOMEM - out of memory; nothing is stored, and the sums stay
 *   PS_ECLOST - it is the parent's session
 *
 * Cost: no system call; some stores for each hardware thread and event.
 */
PS_PUBLIC int ps_session_store(struct ps_session *session, uint64_t *timestamp);

/** Closes all and frees the session; NULL does nothing. No other thread may use it. */
PS_PUBLIC void ps_session_destroy(struct ps_session *session);

#ifdef __cplusplus
}
#endif
#endif
