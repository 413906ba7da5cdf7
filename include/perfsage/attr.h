/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One event with everything that perf_event_open(2) can be asked for: each field of the kernel's
 * struct perf_event_attr is set and read by its name.
 *
 * An attr is made from an event's name. A sampler (<perfsage/sampler.h>) opens it; an event set
 * counts with it. The sampler and the set keep copies, so the program may then change or destroy
 * the attr.
 */
#ifndef PERFSAGE_ATTR_H
#define PERFSAGE_ATTR_H

#include <perfsage/visibility.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ps_eventset;

/** A request to perf_event_open. */
struct ps_attr;

/** The fields of struct perf_event_attr, by the kernel's names; perf_event_open(2) explains them.
 * All fields up to Linux 6.19 are here, whatever headers the program was built with. */
enum ps_attr_field {
	PS_ATTR_TYPE = 0,
	PS_ATTR_SIZE, /* only read: the library tells the kernel the size */
	PS_ATTR_CONFIG,
	PS_ATTR_SAMPLE_PERIOD, /* a union with sample_freq; this field sets freq to 0 */
	PS_ATTR_SAMPLE_FREQ,   /* sets freq to 1 */
	PS_ATTR_SAMPLE_TYPE,
	PS_ATTR_READ_FORMAT,
	PS_ATTR_DISABLED, /* 1 in a new attr: the sampler's start enables the event */
	PS_ATTR_INHERIT,
	PS_ATTR_PINNED,
	PS_ATTR_EXCLUSIVE,
	PS_ATTR_EXCLUDE_USER,
	PS_ATTR_EXCLUDE_KERNEL,
	PS_ATTR_EXCLUDE_HV,
	PS_ATTR_EXCLUDE_IDLE,
	PS_ATTR_MMAP,
	PS_ATTR_COMM,
	PS_ATTR_FREQ,
	PS_ATTR_INHERIT_STAT,
	PS_ATTR_ENABLE_ON_EXEC,
	PS_ATTR_TASK,
	PS_ATTR_WATERMARK,
	PS_ATTR_PRECISE_IP, /* 0 to 3: the skid that is allowed */
	PS_ATTR_MMAP_DATA,
	PS_ATTR_SAMPLE_ID_ALL,
	PS_ATTR_EXCLUDE_HOST,
	PS_ATTR_EXCLUDE_GUEST,
	PS_ATTR_EXCLUDE_CALLCHAIN_KERNEL,
	PS_ATTR_EXCLUDE_CALLCHAIN_USER,
	PS_ATTR_MMAP2,
	PS_ATTR_COMM_EXEC,
	PS_ATTR_USE_CLOCKID,
	PS_ATTR_CONTEXT_SWITCH,
	PS_ATTR_WRITE_BACKWARD,
	PS_ATTR_NAMESPACES,
	PS_ATTR_KSYMBOL,
	PS_ATTR_BPF_EVENT,
	PS_ATTR_AUX_OUTPUT,
	PS_ATTR_CGROUP,
	PS_ATTR_TEXT_POKE,
	PS_ATTR_BUILD_ID,
	PS_ATTR_INHERIT_THREAD,
	PS_ATTR_REMOVE_ON_EXEC,
	PS_ATTR_SIGTRAP,
	PS_ATTR_DEFER_CALLCHAIN,
	PS_ATTR_DEFER_OUTPUT,
	PS_ATTR_WAKEUP_EVENTS, /* a union with wakeup_watermark; this field sets watermark to 0 */
	PS_ATTR_WAKEUP_WATERMARK, /* sets watermark to 1 */
	PS_ATTR_BP_TYPE,
	PS_ATTR_BP_ADDR, /* a union: bp_addr, kprobe_func, uprobe_path, config1 */
	PS_ATTR_KPROBE_FUNC,
	PS_ATTR_UPROBE_PATH,
	PS_ATTR_CONFIG1,
	PS_ATTR_BP_LEN, /* a union: bp_len, kprobe_addr, probe_offset, config2 */
	PS_ATTR_KPROBE_ADDR,
	PS_ATTR_PROBE_OFFSET,
	PS_ATTR_CONFIG2,
	PS_ATTR_BRANCH_SAMPLE_TYPE,
	PS_ATTR_SAMPLE_REGS_USER,
	PS_ATTR_SAMPLE_STACK_USER,
	PS_ATTR_CLOCKID, /* negative ids as (uint64_t)id */
	PS_ATTR_SAMPLE_REGS_INTR,
	PS_ATTR_AUX_WATERMARK,
	PS_ATTR_SAMPLE_MAX_STACK,
	PS_ATTR_AUX_SAMPLE_SIZE,
	PS_ATTR_AUX_ACTION, /* the next three fields in one word */
	PS_ATTR_AUX_START_PAUSED,
	PS_ATTR_AUX_PAUSE,
	PS_ATTR_AUX_RESUME,
	PS_ATTR_SIG_DATA,
	PS_ATTR_CONFIG3,
	PS_ATTR_CONFIG4
};

/**
 * The kernel's name of a field: "sample_period".
 *
 * field - any number; the fields are numbered from 0 on without a gap
 *
 * Returns a constant string; NULL behind the last field. Any thread; no system call.
 */
PS_PUBLIC const char *ps_attr_field_name(enum ps_attr_field field);

/**
 * Makes an attr from an event's name. Nothing is opened.
 *
 * The event's encoding and its modifiers are set; disabled is 1; all other fields are 0.
 *
 * out - receives the attr; release it with ps_attr_destroy
 * event - any name that ps_eventset_add takes
 *
 * Errors:
 *   PS_EINVAL - out or event is NULL, or the name is empty
 *   PS_ENOEVNT - there is no such event; ps_error_detail() gives the nearest names
 *   PS_EATTR - a term or modifier of the name is wrong; ps_error_detail() says which
 *   PS_ENOSUPP - only another machine's PMU has the event, or the kernel has no driver for the PMU
 *   PS_EPERM, PS_ECOUNT, PS_ESYS - a file of sysfs or tracefs can't be read
 *   PS_ENOMEM - out of memory
 *
 * Any thread. Cost: reads files under /sys for names that aren't generic; allocates.
 */
PS_PUBLIC int ps_attr_create(struct ps_attr **out, const char *event);

/**
 * Makes a copy.
 *
 * out - receives the copy; release it with ps_attr_destroy
 * model - any attr; it isn't changed
 *
 * Errors:
 *   PS_EINVAL - out or model is NULL
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_attr_clone(struct ps_attr **out, const struct ps_attr *model);

/**
 * Sets a field.
 *
 * Setting sample_period clears freq, and sample_freq sets it; wakeup_events clears watermark, and
 * wakeup_watermark sets it. If exclude_user, exclude_kernel or exclude_hv is set to any value, the
 * event does not fall back to user space. Otherwise the event falls back to user space if the
 * caller may not count the kernel, as in an event set. On a machine with several kinds of cores an
 * event can have one encoding for each kind. If a part of the encoding (type, config to config4,
 * bp_*) is set, the event has only this one encoding.
 *
 * attr - not in use by another thread
 * field - the field
 * value - within the field's width; a string's address (kprobe_func, uprobe_path) must stay valid
 *     as long as the attr, its copies, and the sets and samplers made with them
 *
 * Errors; the attr is then as before:
 *   PS_EINVAL - attr is NULL
 *   PS_EATTR - there is no such field, or the value is out of its range; ps_error_detail() names
 *       both
 *   PS_ENOSUPP - the library was built with kernel headers that lack PS_ATTR_SIG_DATA (before
 *       Linux 5.13)
 *   PS_EPERM, PS_ECOUNT, PS_ESYS - field is PS_ATTR_TYPE: a file of the PMU can't be read
 *
 * Cost: no system call, except for type: the call looks up the PMU under /sys.
 */
PS_PUBLIC int ps_attr_set(struct ps_attr *attr, enum ps_attr_field field, uint64_t value);

/**
 * Reads a field.
 *
 * sample_period and sample_freq share a place in the kernel's struct, and so do wakeup_events and
 * wakeup_watermark. The field that the flag (freq, watermark) does not choose is 0.
 *
 * attr, field - as for ps_attr_set
 * out - receives the value
 *
 * Errors:
 *   PS_EINVAL - attr or out is NULL
 *   PS_EATTR - there is no such field
 */
PS_PUBLIC int ps_attr_get(const struct ps_attr *attr, enum ps_attr_field field, uint64_t *out);

/**
 * Finds out whether this kernel, PMU and user take the attr, and which field is refused if not.
 *
 * The event is opened, disabled, for the calling thread, and closed. An event of a PMU that counts
 * CPUs is opened for the thread's CPU. If the kernel refuses the event, the call puts fields back
 * to the values of ps_attr_create, until it has found the field without which the event can be
 * opened. Fields that the kernel accepts and ignores are refused, too: precise_ip of an event
 * without a PMU, and fields that need another field (branch_sample_type needs
 * PERF_SAMPLE_BRANCH_STACK in sample_type).
 *
 * attr - any
 * refused - NULL, or receives the field: with PS_ENOSUPP, PS_EPERM, PS_EINVAL_DOM, PS_ENOCNTR and
 *     PS_ECOMBO; PS_ATTR_TYPE if the event itself is refused. Else untouched
 *
 * Errors:
 *   PS_EINVAL - attr is NULL
 *   PS_ENOSUPP - the kernel or the PMU refuses the field, or the event; ps_error_detail() says
 *       which bit of a mask, and by which errno
 *   PS_EPERM - this user may not ask for the field's value; ps_error_detail() says what permits it.
 *       PS_ATTR_EXCLUDE_KERNEL: the kernel may not be observed, so exclude it
 *   PS_ECOMBO - the field has no effect without another field; or sample_type has
 *       PERF_SAMPLE_STACK_USER and sample_stack_user is 0: the kernel writes damaged samples
 *   PS_EINVAL_DOM - the attr excludes all that the event counts; or as ps_eventset_add
 *   PS_ENOCNTR - every counter that could count the event is taken; refused is PS_ATTR_TYPE
 *   PS_ECOUNT, PS_ENOMEM, PS_ESYS - the check itself failed
 *
 * Any thread. Cost: one perf_event_open if the attr is taken; else about one for each field, and
 * each bit of a mask, that was set.
 */
PS_PUBLIC int ps_attr_check(const struct ps_attr *attr, enum ps_attr_field *refused);

/**
 * The size of the running kernel's struct perf_event_attr. The kernel does not know fields beyond
 * this size.
 *
 * out - receives the size in bytes: 136 if config3 is the last field, 144 if config4 is; 128 or
 *     less on kernels before Linux 6.3
 *
 * Errors:
 *   PS_EINVAL - out is NULL
 *   PS_EPERM, PS_ENOSUPP - perf_event_open is forbidden or missing
 *   PS_ESYS - the kernel doesn't tell
 *
 * Any thread. Cost: one system call.
 */
PS_PUBLIC int ps_attr_kernel_size(size_t *out);

/**
 * Adds an event to a set as an attr describes it.
 *
 * The set decides what is inherited, when counting begins, and what a reading holds. So these
 * fields of the attr must have the values of ps_attr_create: disabled, read_format, inherit,
 * inherit_stat, inherit_thread, enable_on_exec, clockid, and all fields that make the kernel write
 * samples or other records. A sample_period may be set if sigtrap is set. An event that is pinned
 * or exclusive leads its group. If several such events are in one group (ps_eventset_group), the
 * first of them leads. A software event does not lead events of the cores' PMU.
 *
 * set - a set that isn't running
 * attr - any; the set keeps a copy. The event has the name that ps_attr_create was given
 *
 * Errors; the set is then as before:
 *   PS_EINVAL - set or attr is NULL
 *   PS_EATTR - a field differs from the value of ps_attr_create, and a set does not take this
 *       field; ps_error_detail() says which
 *   the others - as ps_eventset_add
 */
PS_PUBLIC int ps_eventset_add_attr(struct ps_eventset *set, const struct ps_attr *attr);

/** Frees an attr; NULL does nothing. */
PS_PUBLIC void ps_attr_destroy(struct ps_attr *attr);

#ifdef __cplusplus
}
#endif
#endif
