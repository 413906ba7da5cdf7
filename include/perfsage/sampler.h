/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sampler: one event, the ring into which the kernel writes its records, and their reader. Other
 * events may be counted in its group.
 *
 * One thread at a time reads a sampler: ps_sampler_next and ps_sampler_wait. Any thread may start,
 * stop and count at the same time. Different samplers may be used at the same time.
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

/** So many events has the group of a sampler at most, its own among them. */
#define PS_SAMPLER_MOST_EVENTS 32

/** The counts of a sampler's event. Its samples are taken of these. */
struct ps_sampler_count {
	uint64_t value;      /* as the kernel counted it: not scaled */
	uint64_t enabled_ns; /* how long the event was enabled */
	uint64_t running_ns; /* and how long of that on the hardware */
	uint64_t lost;       /* records for which the ring had no room */
	int is_lost_known;   /* 0: `lost` is what the records that were taken tell: before Linux
	                        6.0, and when the counter was read in user space */
};

/**
 * Opens an event as an attr describes it, with a ring for its records.
 *
 * The event is stopped, unless the attr has disabled 0 or enable_on_exec. If the caller may not
 * observe the kernel, the event is limited to user space, unless a modifier or exclude_user,
 * exclude_kernel or exclude_hv chose the privilege levels. If neither wakeup_events nor
 * wakeup_watermark is set, each record wakes the reader, which interrupts the observed thread; at a
 * high rate set one of them. The bits of read_format for the two times are set, and the one for the
 * lost records if the kernel counts them. ps_sampler_attr gives what the event was opened with.
 *
 * out - receives the sampler; release it with ps_sampler_destroy
 * attr - any; the sampler keeps a copy
 * tid - 0: the calling thread; a thread; -1: all tasks of the CPU, which needs
 *     perf_event_paranoid <= 0 or CAP_PERFMON
 * cpu - only while on this CPU; -1: on any
 * ring_bytes - rounded up to a power of two of pages; 0: one page. What a user may lock is limited
 *     (perf_event_mlock_kb)
 *
 * Errors; nothing is opened then:
 *   PS_EINVAL - out or attr is NULL; tid or cpu is below -1, or both are -1; there is no such
 *       CPU; ring_bytes is too large
 *   PS_ENOSUPP - the kernel refuses a field, or the event, or the library can't read the records
 *       that it asks for; ps_error_detail() says which
 *   PS_ECOMBO - inherit needs a CPU; write_backward is not read here; an event that counts for a
 *       package needs tid -1
 *   PS_EPERM - this user may not; ps_error_detail() says what permits it: a setting, CAP_PERFMON,
 *       more locked memory
 *   PS_EINVAL_DOM - the event happens in the kernel, which the attr excludes
 *   PS_ENOCNTR - every counter that could count it is taken
 *   PS_ECOUNT - no file descriptor is left
 *   PS_ENOMEM - out of memory
 *   PS_ESYS - the thread has ended, or a system call failed
 *
 * Any thread. Cost: one descriptor, the ring, and memory for one record (at most 64 KiB).
 */
PS_PUBLIC int ps_sampler_create(struct ps_sampler **out, const struct ps_attr *attr, pid_t tid,
                                int cpu, size_t ring_bytes);

/**
 * Opens another event in the group of the sampler's event: it counts while that one does, on the
 * same tasks and CPU, and its count stands in each sample.
 *
 * The attr of the sampler needs PERF_SAMPLE_READ in sample_type and PERF_FORMAT_GROUP in
 * read_format. Then ps_record_count gives the counts of a sample: number 0 is the sampler's event,
 * and the others follow in the order in which they were added. The kernel counts a group as a whole
 * or not at all: where it waited for counters, running_ns is less than enabled_ns. The clock,
 * inherit, inherit_thread and read_format are those of the sampler's event.
 *
 * attr - an event that writes no records of its own: sample_period and sample_freq are 0
 *
 * Errors; the sampler is as before then:
 *   PS_EINVAL - an argument is NULL
 *   PS_ECOMBO - the sampler's attr has no PERF_SAMPLE_READ or no PERF_FORMAT_GROUP; the attr has a
 *       sample_period, a sample_freq, pinned or exclusive
 *   PS_EISRUN - the sampler is running, or waits for an exec
 *   PS_ECNFLCT - the group has PS_SAMPLER_MOST_EVENTS already
 *   PS_ENOCNTR - the event can be counted alone, and not in this group: there are not enough
 *       counters, or two PMUs that the kernel can't have in a group
 *   PS_ECLOST - the sampler was made by the parent process, or the program has closed its
 *       descriptor
 *   as ps_sampler_create - PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM, PS_ECOUNT, PS_ENOMEM, PS_ESYS
 *
 * No other thread is in a call on the sampler. Cost: one descriptor; with each sample a read of the
 * counter, and 16 to 24 bytes in the ring.
 */
PS_PUBLIC int ps_sampler_add(struct ps_sampler *sampler, const struct ps_attr *attr);

/**
 * Lets the event count, and write records.
 *
 * Errors:
 *   PS_EINVAL - sampler is NULL
 *   PS_EISRUN - it is running, also if disabled was 0 or enable_on_exec waits for an exec
 *   PS_ECLOST - it was made by the parent process, or the program has closed its descriptor
 *   PS_ESYS - a system call failed
 *
 * Any thread. Cost: one system call.
 */
PS_PUBLIC int ps_sampler_start(struct ps_sampler *sampler);

/**
 * Stops the event. Records that are in the ring stay there. A thread in ps_sampler_wait gets them,
 * and then PS_ENOTRUN: within 100 ms.
 *
 * Errors:
 *   PS_EINVAL - sampler is NULL
 *   PS_ENOTRUN - it is not running; or enable_on_exec waits for an exec, which would start the
 *       event again: it runs on
 *   PS_ECLOST - it was made by the parent process, or the program has closed its descriptor
 *   PS_ESYS - a system call failed
 *
 * Any thread; async-signal-safe unless it fails. Cost: one system call; with enable_on_exec also a
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
 *   PS_ENOEVST - there is none now
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
 *   PS_ENOCNTR - the event is pinned, and the kernel couldn't keep it on the hardware: it no longer
 *       counts
 *   PS_ECLOST - also: the program has closed the sampler's descriptor
 *
 * The reading thread.
 */
PS_PUBLIC int ps_sampler_wait(struct ps_sampler *sampler, int timeout_ms, struct ps_record *out);

/**
 * The event's descriptor, for poll(2), epoll(7) and ioctls of one's own.
 *
 * It is readable when records have come, and hung up when the observed thread has ended. Take
 * records until PS_ENOEVST before waiting again. The sampler owns it: don't close it.
 *
 * sampler - NULL gives -1
 */
PS_PUBLIC int ps_sampler_fd(const struct ps_sampler *sampler);

/**
 * Records that are lost so far: those for which the ring had no room, and samples that the hardware
 * dropped (LOST_SAMPLES).
 *
 * Where the kernel counts them (Linux 6.0) the number is of this moment; on older ones it is what
 * the LOST records that were taken tell. UINT64_MAX: not known, as the program has closed the
 * sampler's descriptor.
 *
 * sampler - NULL gives 0
 *
 * Any thread. Cost: one system call.
 */
PS_PUBLIC uint64_t ps_sampler_lost(const struct ps_sampler *sampler);

/** Records that were damaged, and skipped. sampler - NULL gives 0 */
PS_PUBLIC uint64_t ps_sampler_damaged(const struct ps_sampler *sampler);

/**
 * Reads the event's count since the sampler was made.
 *
 * In user space, without a system call, if the calling thread made the sampler with tid 0 and
 * without inherit, the event is on a hardware counter, and the kernel permits it; `lost` is then as
 * ps_sampler_next knows it.
 *
 * out - receives the count; untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOCNTR - the event is pinned and couldn't be kept on the hardware
 *   PS_ECLOST - the sampler was made by the parent process, or the program has closed its
 *       descriptor
 *   PS_ESYS - a system call failed
 *
 * Any thread.
 */
PS_PUBLIC int ps_sampler_read(struct ps_sampler *sampler, struct ps_sampler_count *out);

/**
 * Reads the counts of the sampler's event and of those that were added to it, all of one moment.
 *
 * out - receives the counts, in the order of ps_sampler_add, the sampler's event first; untouched
 *     on failure. Only the sampler's event writes records, and has a `lost` above 0
 * count - the places in out: 1, and 1 for each event that was added
 *
 * Errors; those of ps_sampler_read and:
 *   PS_EINVAL - count is another number
 *
 * Any thread. Cost: one system call.
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

/** Closes the events; the records that are in the ring are gone. NULL does nothing. No thread is in
 * a call on the sampler. */
PS_PUBLIC void ps_sampler_destroy(struct ps_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif
