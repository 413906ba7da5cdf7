/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds an event to an event set as an attr describes the event. The set decides some fields
 * itself. */
#include "sample/attr.h"

#include "base/error.h"
#include "eventset/parts.h"

#include <perfsage/error.h>

#define SAMPLER "it makes the kernel write records, which a set doesn't read: see ps_sampler(3)"
#define RECORDS "the set has no records that it could be in: see ps_sampler(3)"

/* A field that must be as ps_attr_create made it, and why. */
static const struct refusal {
	enum ps_attr_field field;
	const char *why;
} refusals[] = {
    {PS_ATTR_DISABLED, "ps_start and ps_stop decide when the set counts"},
    {PS_ATTR_ENABLE_ON_EXEC, "the set decides when it counts: see ps_eventset_set_enable_on_exec"},
    {PS_ATTR_READ_FORMAT, "the set decides what a reading holds"},
    {PS_ATTR_INHERIT, "the target decides it: attach the set with ps_eventset_attach_process"},
    {PS_ATTR_INHERIT_STAT, "the set decides it"},
    {PS_ATTR_INHERIT_THREAD, "the target decides what is inherited: see ps_attach(3)"},
    {PS_ATTR_SAMPLE_TYPE, SAMPLER},
    {PS_ATTR_SAMPLE_ID_ALL, RECORDS},
    {PS_ATTR_PRECISE_IP, RECORDS},
    {PS_ATTR_MMAP, SAMPLER},
    {PS_ATTR_MMAP_DATA, SAMPLER},
    {PS_ATTR_MMAP2, SAMPLER},
    {PS_ATTR_BUILD_ID, SAMPLER},
    {PS_ATTR_COMM, SAMPLER},
    {PS_ATTR_COMM_EXEC, SAMPLER},
    {PS_ATTR_TASK, SAMPLER},
    {PS_ATTR_CONTEXT_SWITCH, SAMPLER},
    {PS_ATTR_NAMESPACES, SAMPLER},
    {PS_ATTR_KSYMBOL, SAMPLER},
    {PS_ATTR_BPF_EVENT, SAMPLER},
    {PS_ATTR_CGROUP, SAMPLER},
    {PS_ATTR_TEXT_POKE, SAMPLER},
    {PS_ATTR_WATERMARK, RECORDS},
    {PS_ATTR_WAKEUP_EVENTS, RECORDS},
    {PS_ATTR_WAKEUP_WATERMARK, RECORDS},
    {PS_ATTR_WRITE_BACKWARD, RECORDS},
    {PS_ATTR_EXCLUDE_CALLCHAIN_KERNEL, RECORDS},
    {PS_ATTR_EXCLUDE_CALLCHAIN_USER, RECORDS},
    {PS_ATTR_DEFER_CALLCHAIN, RECORDS},
    {PS_ATTR_DEFER_OUTPUT, SAMPLER},
    {PS_ATTR_USE_CLOCKID, RECORDS},
    {PS_ATTR_CLOCKID, RECORDS},
    {PS_ATTR_BRANCH_SAMPLE_TYPE, RECORDS},
    {PS_ATTR_SAMPLE_REGS_USER, RECORDS},
    {PS_ATTR_SAMPLE_REGS_INTR, RECORDS},
    {PS_ATTR_SAMPLE_STACK_USER, RECORDS},
    {PS_ATTR_SAMPLE_MAX_STACK, RECORDS},
    {PS_ATTR_AUX_OUTPUT, RECORDS},
    {PS_ATTR_AUX_WATERMARK, RECORDS},
    {PS_ATTR_AUX_SAMPLE_SIZE, RECORDS},
    {PS_ATTR_AUX_ACTION, RECORDS},
};

static int add_attr_fail_field(const struct ps_attr *attr, enum ps_attr_field field,
                               const char *why)
{
	return ps__fail(PS_EATTR, "'%s': an event set can't count with %s: %s", attr->event.name,
	                ps_attr_field_name(field), why);
}

static int add_attr_check_fields(const struct ps_attr *attr)
{
	union ps__attr words = ps__attr_of(&attr->event);

	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		const struct refusal *refusal = &refusals[i];
		if (ps__attr_field_read(&words, refusal->field) !=
		    ps__attr_field_read(&attr->made, refusal->field))
			return add_attr_fail_field(attr, refusal->field, refusal->why);
	}
	/* In a set, which has no ring, a period only makes the signals of sigtrap. */
	if (words.attr.freq ||
	    (words.attr.sample_period && !ps__event_has_flag(&attr->event, PS__FLAG_SIGTRAP)))
		return add_attr_fail_field(
		    attr, words.attr.freq ? PS_ATTR_SAMPLE_FREQ : PS_ATTR_SAMPLE_PERIOD,
		    "it samples, and a set counts; with sigtrap a sample_period may be "
		    "set; see ps_sampler(3)");
	return PS_OK;
}

int ps_eventset_add_attr(struct ps_eventset *set, const struct ps_attr *attr)
{
	if (!set || !attr)
		return ps__fail(PS_EINVAL, "ps_eventset_add_attr: %s is NULL",
		                set ? "the attr" : "the event set");
	int result = add_attr_check_fields(attr);

	return result == PS_OK ? ps__set_add_event(set, &attr->event) : result;
}
