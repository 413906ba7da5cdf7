/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampler: one event, the ring into which the kernel writes its records, and their reader. Other
 * events may be counted in its group.
 *
 * One thread at a time reads a sampler: ps_sampler_next and ps_sampler_wait. Meanwhile any thread
 * may start and stop the sampler, and read its counts. Different samplers may be used at the same
 * time.
 *
 * In a child of fork() the calls that use the event fail with PS_ECLOST. ps_sampler_destroy
 * closes the child's copies of the descriptors.
 */
#ifndef PERFSAGE_SAMPLER_H
#define PERFSAGE_SAMPLER_H

#include <perfsage/attr.h>
#include <perfsage/record.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An event that writes records. */
struct ps_sampler;

/** The most events in the group of a sampler, the sampler's own event included. */
#define PS_SAMPLER_MOST_EVENTS 32

/** The counts of a sampler's event. */
struct ps_sampler_count {
	uint64_t value;      /* as the kernel counted it: not scaled */
	uint64_t enabled_ns; /* how long the event was enabled */
	uint64_t running_ns; /* how long it was on the hardware during this time */
	uint64_t lost;       /* records for which the ring had no room */
	int is_lost_known;   /* 0: `lost` has only the losses that the taken records tell: before
	                        Linux 6.0, and when the counter was read in user space */
};

/**
 * Opens an event as an attr describes it, with a ring for its records.
 *
 * The event is stopped, unless the attr has disabled 0 or enable_on_exec. If the caller may not
 * observe the kernel, the event is limited to user space, unless a modifier or exclude_user,
 * exclude_kernel or exclude_hv chose the privilege levels. If neither wakeup_events nor
 * wakeup_watermark is set, each record wakes the reader, which interrupts the observed thread; at a
 * high rate set one of these fields. The call sets the bits of read_format for the two times, and
 * the bit for the lost records if the kernel counts them. ps_sampler_attr gives the attr that the
 * event was opened with.
 *
 * out - receives the sampler; release it with ps_sampler_destroy
 * attr - any; the sampler keeps a copy
 * tid - 0: the calling thread; above 0: this thread; -1: all tasks of the CPU, which needs
 *     perf_event_paranoid <= 0 or CAP_PERFMON
 * cpu - the thread is observed only while it is on this CPU; -1: on any CPU
 * ring_bytes - rounded up to a power of two of pages; 0: one page. What a user may lock is limited
 *     (perf_event_mlock_kb)
 *
 * Errors; nothing is opened then:
 *   PS_EINVAL - out or attr is NULL; tid or cpu is below -1, or both are -1; there is no such
 *       CPU; ring_bytes is too large
 *   PS_ENOSUPP - the kernel refuses a field, or the event, or the library can't read the records
 *       that the attr asks for; ps_error_detail() says which
 *   PS_ECOMBO - inherit needs a CPU, and so does an event that each kind of cores of this machine
 *       counts with a counter of its own; write_backward is not read here; an event that counts
 *       for a package needs tid -1; PERF_SAMPLE_STACK_USER with a sample_stack_user of 0; inherit
 *       and a probe with path= or func=: each fork of the observed task would fail
 *   PS_EPERM - this user may not; ps_error_detail() says what permits it: a setting, CAP_PERFMON,
 *       more locked memory
 *   PS_EINVAL_DOM - the event happens in the kernel, which the attr excludes
 *   PS_ENOCNTR - every counter that could count the event is taken
 *   PS_ECOUNT - no file descriptor is left
 *   PS_ENOMEM - out of memory
 *   PS_ESYS - the thread has ended, or a system call failed
 *
 * Any thread. Cost: one descriptor, the ring, and memory for one record (at most 64 KiB).
 */
PS_PUBLIC int ps_sampler_create(struct ps_sampler **out, const struct ps_attr *attr, pid_t tid,
                                int cpu, size_t ring_bytes);

/**
 * Opens another event in the group of the sampler's event. The added event counts at the same times
 * as the sampler's event, on the same tasks and CPU. Each sample has the count of the added event.
 *
 * The attr of the sampler needs PERF_SAMPLE_READ in sample_type and PERF_FORMAT_GROUP in
 * read_format. Then ps_record_count gives the counts of a sample: number 0 is the sampler's event,
 * and the others follow in the order in which they were added. The kernel counts a group as a whole
 * or not at all: if the group waited for counters, running_ns is less than enabled_ns. The clock,
 * inherit, inherit_thread and read_format are those of the sampler's event.
 *
 * attr - an event that writes no records of its own: sample_period and sample_freq are 0
 *
 * Errors; the sampler is as before then:
 *   PS_EINVAL - an argument is NULL
 *   PS_ECOMBO - the sampler's attr has no PERF_SAMPLE_READ or no PERF_FORMAT_GROUP; the attr has a
 *       sample_period, a sample_freq, pinned or exclusive; the sampler is of any CPU, and each kind
 *       of cores has a counter of its own for the event; it is a probe with path= or func=, and
 *       the sampler's attr has inherit: each fork of the observed task would fail
 *   PS_EISRUN - the sampler is running, was started before, or waits for an exec
 *   PS_ECNFLCT - the group has PS_SAMPLER_MOST_EVENTS already
 *   PS_ENOCNTR - the event can be counted alone, and not in this group: there are not enough
 *       counters, or two PMUs that the kernel can't have in a group; or every counter that could
 *       count the event is taken
 *   PS_ECLOST - the sampler was made by the parent process, or the program has closed its
 *       descriptor
 *   as ps_sampler_create - PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM, PS_ECOUNT, PS_ENOMEM, PS_ESYS
 *
 * No other thread may be in a call on the sampler. Cost: one descriptor; with each sample a read of
 * the counter, and 16 to 24 bytes in the ring.
 */
PS_PUBLIC int ps_sampler_add(struct ps_sampler *sampler, const struct ps_attr *attr);

/**
 * Lets the event count, and write records.
 *
 * Errors:
 *   PS_EINVAL - sampler is NULL
 *   PS_EISRUN - the sampler is running, also if disabled was 0 or enable_on_exec waits for an exec
 *   PS_ECLOST - the sampler was made by the parent process, or the program has closed its
 *       descriptor
 *   PS_ESYS - a system call failed
 *
 * Any thread. Cost: two system calls.
 */
PS_PUBLIC int ps_sampler_start(struct ps_sampler *sampler);

/**
 * Stops the event. Records that are in the ring stay in the ring. A thread in ps_sampler_wait gets
 * these records, and then PS_ENOTRUN within 100 ms.
 *
 * Errors:
 *   PS_EINVAL - sampler is NULL
 *   PS_ENOTRUN - the sampler is not running; or enable_on_exec waits for an exec, which would start
 *       the event again: the sampler then stays running
 *   PS_ECLOST - the sampler was made by the parent process, or the program has closed its
 *       descriptor
 *   PS_ESYS - a system call failed
 *
 * Any thread; async-signal-safe unless it fails. Cost: two system calls; with enable_on_exec also a
 * read.
 */
PS_PUBLIC int ps_sampler_stop(struct ps_sampler *sampler);

/**
 * Takes the oldest record out of the ring, without copying it unless it wraps at the ring's end.
 *
 * out - receives the record. What it points at is valid until the next call of ps_sampler_next,
 *     ps_sampler_wait or ps_sampler_destroy: the kernel gets the place back then. Untouched on
 *     failure
 *
 * Errors:
 *   PS_ENOEVST - there is no record now
 *   PS_EINVAL - an argument is NULL
 *   PS_EMISC - the record is damaged, and was counted and skipped: call again
 *   PS_ECLOST - the sampler was made by the parent process
 *
 * The reading thread. Cost: no system call, no lock; some loads and stores.
 */
PS_PUBLIC int ps_sampler_next(struct ps_sampler *sampler, struct ps_record *out);

/**
 * As ps_sampler_next, but waits for a record if there is none.
 *
 * timeout_ms - milliseconds; 0: doesn't wait; below 0: for ever. Signals don't end the wait
 *
 * Errors: those of ps_sampler_next, and
 *   PS_ENOEVST - no record came in time
 *   PS_ENOTRUN - there is no record, and none will come: the sampler is not running
 *   PS_ESYS - there is no record, and none will come: the observed thread has ended, or an exec has
 *       removed the event; or a system call failed
 *   PS_ENOCNTR - the event is pinned, and the kernel couldn't keep it on the hardware: the event no
 *       longer counts
 *   PS_ECLOST - also: the program has closed the sampler's descriptor
 *
 * The reading thread.
 */
PS_PUBLIC int ps_sampler_wait(struct ps_sampler *sampler, int timeout_ms, struct ps_record *out);

/**
 * The event's descriptor, for poll(2), epoll(7) and ioctls of one's own.
 *
 * The descriptor is readable when records have come, and hung up when the observed thread has
 * ended. Take records until PS_ENOEVST before you wait again. The sampler owns the descriptor:
 * don't close it.
 *
 * sampler - NULL gives -1
 */
PS_PUBLIC int ps_sampler_fd(const struct ps_sampler *sampler);

/**
 * The number of records that are lost so far: records for which the ring had no room, and samples
 * that the hardware dropped (LOST_SAMPLES).
 *
 * Since Linux 6.0 the kernel counts the lost records, and the number is up to date. On older
 * kernels the number has only the losses that the taken LOST records tell. UINT64_MAX: not known,
 * because the program has closed the sampler's descriptor.
 *
 * sampler - NULL gives 0
 *
 * Any thread. Cost: two system calls.
 */
PS_PUBLIC uint64_t ps_sampler_lost(const struct ps_sampler *sampler);

/** The number of records that were damaged, and skipped. sampler - NULL gives 0 */
PS_PUBLIC uint64_t ps_sampler_damaged(const struct ps_sampler *sampler);

/**
 * Reads the event's count since the sampler was made.
 *
 * The call reads in user space, without a system call, if the calling thread made the sampler with
 * tid 0 and without inherit, the event is on a hardware counter, and the kernel permits it. `lost`
 * then has only the losses that the taken records tell.
 *
 * out - receives the count; untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOCNTR - the event is pinned and couldn't be kept on the hardware
 *   PS_ECLOST - the sampler was made by the parent process; or the program has closed its
 *       descriptor, which a read in user space doesn't notice
 *   PS_ESYS - a system call failed
 *
 * Any thread.
 */
PS_PUBLIC int ps_sampler_read(struct ps_sampler *sampler, struct ps_sampler_count *out);

/**
 * Reads the counts of the sampler's event and of the events that were added, all of one moment.
 *
 * out - receives the counts, in the order of ps_sampler_add, the sampler's event first; untouched
 *     on failure. Only the sampler's event writes records, and has a `lost` above 0
 * count - the size of the array: 1, and 1 for each event that was added
 *
 * Errors; those of ps_sampler_read and:
 *   PS_EINVAL - count is not the number of events in the group
 *
 * Any thread. Cost: two system calls.
 */
PS_PUBLIC int ps_sampler_read_group(struct ps_sampler *sampler, struct ps_sampler_count *out,
                                    size_t count);

/**
 * Returns the attr that the event was opened with: the user's, and the sampler's additions.
 *
 * Returns an attr that lives as long as the sampler; NULL for NULL.
 */
PS_PUBLIC const struct ps_attr *ps_sampler_attr(const struct ps_sampler *sampler);

/**
 * Gives the configuration that ps_record_parse needs to parse this sampler's records, if the
 * program has copied the records to memory of its own.
 *
 * out - receives the configuration
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 */
PS_PUBLIC int ps_sampler_record_config(const struct ps_sampler *sampler,
                                       struct ps_record_config *out);

/** Closes the events, and drops the records that are still in the ring. NULL does nothing. No other
 * thread may be in a call on the sampler. */
PS_PUBLIC void ps_sampler_destroy(struct ps_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif
