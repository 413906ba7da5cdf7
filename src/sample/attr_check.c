/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether this kernel takes an attr. If not, tells which field it refuses, and why. */
#include "sample/attr.h"

#include "backend/perf.h"
#include "base/advice.h"
#include "base/error.h"
#include "base/proc_status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A field that the kernel accepts, and that does nothing without a bit of another field. */
static const struct need {
	enum ps_attr_field field;
	enum ps_attr_field needed;
	uint64_t bits;     /* one of these is enough */
	const char *words; /* for the user */
} needs[] = {
    {PS_ATTR_BRANCH_SAMPLE_TYPE, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_BRANCH_STACK,
     "PERF_SAMPLE_BRANCH_STACK in sample_type"},
    {PS_ATTR_SAMPLE_REGS_USER, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_REGS_USER,
     "PERF_SAMPLE_REGS_USER in sample_type"},
    {PS_ATTR_SAMPLE_REGS_INTR, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_REGS_INTR,
     "PERF_SAMPLE_REGS_INTR in sample_type"},
    {PS_ATTR_SAMPLE_STACK_USER, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_STACK_USER,
     "PERF_SAMPLE_STACK_USER in sample_type"},
    {PS_ATTR_SAMPLE_MAX_STACK, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN,
     "PERF_SAMPLE_CALLCHAIN in sample_type"},
    {PS_ATTR_EXCLUDE_CALLCHAIN_KERNEL, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN,
     "PERF_SAMPLE_CALLCHAIN in sample_type"},
    {PS_ATTR_EXCLUDE_CALLCHAIN_USER, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN,
     "PERF_SAMPLE_CALLCHAIN in sample_type"},
    {PS_ATTR_DEFER_CALLCHAIN, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CALLCHAIN,
     "PERF_SAMPLE_CALLCHAIN in sample_type"},
    {PS_ATTR_AUX_SAMPLE_SIZE, PS_ATTR_SAMPLE_TYPE, PERF_SAMPLE_AUX,
     "PERF_SAMPLE_AUX in sample_type"},
    {PS_ATTR_SIG_DATA, PS_ATTR_SIGTRAP, 1, "sigtrap"},
    {PS_ATTR_CLOCKID, PS_ATTR_USE_CLOCKID, 1, "use_clockid"},
    {PS_ATTR_COMM_EXEC, PS_ATTR_COMM, 1, "comm"},
    {PS_ATTR_BUILD_ID, PS_ATTR_MMAP2, 1, "mmap2"},
    {PS_ATTR_INHERIT_STAT, PS_ATTR_INHERIT, 1, "inherit"},
};

static int attr_refuse(enum ps_attr_field *refused, enum ps_attr_field field, int code)
{
	if (refused)
		*refused = field;
	return code;
}

int ps__attr_check_stack(const struct ps_attr *attr)
{
	const struct perf_event_attr *words = &attr->event.attr;

	if (!(words->sample_type & PERF_SAMPLE_STACK_USER) || words->sample_stack_user)
		return PS_OK;
	return ps__fail(
	    PS_ECOMBO,
	    "'%s': with PERF_SAMPLE_STACK_USER in sample_type and a sample_stack_user "
	    "of 0 the kernel writes damaged samples: set sample_stack_user to 8 or more",
	    attr->event.name);
}

/* Refuses fields that the kernel accepts and ignores. */
static int check_silent(const struct ps_attr *attr, enum ps_attr_field *refused)
{
	const char *event = attr->event.name;
	union ps__attr words = ps__attr_of(&attr->event);

	if (attr->event.kernel_side && words.attr.exclude_kernel)
		return attr_refuse(refused, PS_ATTR_EXCLUDE_KERNEL,
		                   ps__fail(PS_EINVAL_DOM,
		                            "'%s' happens in the kernel, so with exclude_kernel it "
		                            "never happens",
		                            event));
	if (ps__event_excludes_all(&words.attr))
		return attr_refuse(
		    refused, PS_ATTR_EXCLUDE_USER,
		    ps__fail(PS_EINVAL_DOM,
		             "'%s' never happens with exclude_user and exclude_kernel", event));
	if (words.attr.precise_ip && attr->event.klass == PS__EVENT_CLASS_SOFTWARE)
		return attr_refuse(
		    refused, PS_ATTR_PRECISE_IP,
		    ps__fail(PS_ENOSUPP,
		             "'%s': precise_ip has no effect: no PMU takes the samples "
		             "of this event; the kernel accepts the field and ignores it",
		             event));
	if (words.attr.mmap2 && !words.attr.mmap && !words.attr.mmap_data)
		return attr_refuse(refused, PS_ATTR_MMAP2,
		                   ps__fail(PS_ECOMBO,
		                            "'%s': mmap2 has no effect without mmap or mmap_data",
		                            event));
	int result = ps__attr_check_stack(attr);
	if (result != PS_OK)
		return attr_refuse(refused, PS_ATTR_SAMPLE_STACK_USER, result);
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
		const struct need *need = &needs[i];
		if (!ps__attr_field_read(&words, need->field) ||
		    (ps__attr_field_read(&words, need->needed) & need->bits))
			continue;
		return attr_refuse(refused, need->field,
		                   ps__fail(PS_ECOMBO, "'%s': %s has no effect without %s", event,
		                            ps_attr_field_name(need->field), need->words));
	}
	return PS_OK;
}

static int attr_explain_denied(const struct ps_attr *attr, const struct ps__blame *blame,
                               const char *field)
{
	struct ps__privilege privilege = ps__proc_privilege();

	if (blame->field == PS_ATTR_EXCLUDE_KERNEL)
		return ps__fail(PS_EPERM,
		                "'%s': this user may not observe the kernel: set exclude_kernel to "
		                "1, or as %s: " PS__ADVICE_LEVEL ", or %s",
		                attr->event.name, privilege.root, 1L, privilege.gain);
	return ps__fail(PS_EPERM, "'%s': this user may not set %s (%s), as %s; as %s: %s",
	                attr->event.name, field, strerror(blame->error), privilege.lack,
	                privilege.root, privilege.gain);
}

/* Explains E2BIG: the kernel only says that some field is behind the end of its struct. */
static int attr_explain_size(const struct ps_attr *attr, const char *field,
                             enum ps_attr_field which)
{
	return ps__fail(PS_ENOSUPP,
	                "'%s': this kernel is too old for %s: its perf_event_attr ends after %u "
	                "bytes, and %s stands after %u",
	                attr->event.name, field, ps__perf_kernel_attr_size(), field,
	                ps__attr_field(which)->offset);
}

#define UNKNOWN_VALUE "it doesn't know the value, or not for this event or with its other fields"

/* Returns the usual cause of EINVAL for a bit of sample_type. Three bits need a mask that tells
 * what to sample. */
static const char *find_sample_hint(const struct perf_event_attr *words, int bit)
{
	uint64_t type = bit < 0 ? 0 : UINT64_C(1) << bit;

	if (type == PERF_SAMPLE_REGS_USER && !words->sample_regs_user)
		return "set sample_regs_user, which is 0";
	if (type == PERF_SAMPLE_REGS_INTR && !words->sample_regs_intr)
		return "set sample_regs_intr, which is 0";
	if (type == PERF_SAMPLE_BRANCH_STACK && !words->branch_sample_type)
		return "set branch_sample_type, which is 0";
	return UNKNOWN_VALUE;
}

/* Returns the usual cause of EINVAL. */
static const char *find_hint(const struct ps_attr *attr, const struct ps__blame *blame)
{
	switch (blame->field) {
	case PS_ATTR_SAMPLE_TYPE:
		return find_sample_hint(&attr->event.attr, blame->bit);
	case PS_ATTR_SIGTRAP:
		return "it needs remove_on_exec, and a task to signal";
	case PS_ATTR_INHERIT_THREAD:
		return "it needs inherit";
	case PS_ATTR_SAMPLE_FREQ:
		return "kernel.perf_event_max_sample_rate is the most";
	case PS_ATTR_SAMPLE_MAX_STACK:
		return "kernel.perf_event_max_stack is the most";
	case PS_ATTR_BRANCH_SAMPLE_TYPE:
		return "it needs a kind of branches beside the levels of privilege";
	default:
		return UNKNOWN_VALUE;
	}
}

static int attr_explain(const struct ps_attr *attr, const struct ps__blame *blame)
{
	char field[128], bit[PS__ATTR_BIT_NAME], other[96] = "";
	const char *name = ps_attr_field_name(blame->field);

	if (blame->bit >= 0)
		ps__attr_bit_name(blame->field, (unsigned)blame->bit, bit);
	snprintf(field, sizeof field, blame->bit >= 0 ? "%2$s in %1$s" : "%s", name, bit);
	if (blame->has_other)
		snprintf(other, sizeof other, ", at least together with %s",
		         ps_attr_field_name(blame->other));
	switch (blame->error) {
	case EACCES:
	case EPERM:
		return attr_explain_denied(attr, blame, field);
	case E2BIG:
		return attr_explain_size(attr, field, blame->field);
	case EOPNOTSUPP:
		return ps__fail(PS_ENOSUPP, "'%s': the event's PMU has no %s%s (%s)",
		                attr->event.name, field, other, strerror(EOPNOTSUPP));
	case EINVAL:
	case EOVERFLOW:
		return ps__fail(PS_ENOSUPP, "'%s': this kernel refuses %s%s (%s): %s",
		                attr->event.name, field, other, strerror(blame->error),
		                find_hint(attr, blame));
	case ENOENT:
		return ps__fail(PS_ENOSUPP, "'%s': no PMU has such an event: %s (%s)",
		                attr->event.name, field, strerror(ENOENT));
	default:
		return ps__fail(PS_ENOSUPP, "'%s': this kernel refuses %s%s (%s)", attr->event.name,
		                field, other, strerror(blame->error));
	}
}

/* Explains a refusal as for an event set: the event itself is refused, or no field can be
 * blamed. */
static int attr_explain_event(const struct ps_attr *attr, int error, enum ps_attr_field *refused)
{
	int code = ps__perf_explain(&attr->event, ps__attr_target(&attr->event), error, 1);

	if (code != PS_ECOUNT && code != PS_ENOMEM && code != PS_ESYS && refused)
		*refused = PS_ATTR_TYPE;
	return code;
}

/* Opens the attr for the calling thread, and closes it again. Returns PS_OK, or the error of
 * ps_attr_check. */
static int attr_open_or_explain(const struct ps_attr *attr, enum ps_attr_field *refused)
{
	struct ps__blame blame;
	union ps__attr words = ps__attr_of(&attr->event);
	int error = ps__attr_try(&attr->event, &words);

	if (!error)
		return PS_OK;
	int shortage = ps__attr_find_blame(attr, &words, error, &blame);
	if (shortage)
		return attr_explain_event(attr, shortage, NULL);
	if (!blame.is_found) {
		error = ps__attr_try_event(&attr->event);
		return attr_explain_event(attr, error ? error : blame.error, refused);
	}
	return attr_refuse(refused, blame.field, attr_explain(attr, &blame));
}

/* True if perf_event_paranoid is the reason: at this level an unprivileged user can't open any
 * event for a whole CPU. */
static bool is_cpu_denied(struct ps__target target, int error)
{
	long level = 0;

	return target.kind == PS__TARGET_CPU && error == EACCES &&
	       ps__os_read_long(PS__PARANOID_FILE, &level) == 0 && level > 0;
}

int ps__attr_explain_open(const struct ps_attr *attr, const struct ps__event *opened,
                          struct ps__target target, int error, size_t needed)
{
	bool is_place = error == ESRCH || error == ENODEV || error == EMFILE || error == ENFILE ||
	                error == ENOMEM || error == EBUSY || error == ENOSPC ||
	                is_cpu_denied(target, error);
	int result = is_place ? PS_OK : attr_open_or_explain(attr, NULL);

	return result == PS_OK ? ps__perf_explain(opened, target, error, needed) : result;
}

int ps_attr_check(const struct ps_attr *attr, enum ps_attr_field *refused)
{
	if (!attr)
		return ps__fail(PS_EINVAL, "ps_attr_check: attr is NULL");
	int result = attr_open_or_explain(attr, refused);

	return result == PS_OK ? check_silent(attr, refused) : result;
}

int ps_attr_kernel_size(size_t *out)
{
	if (!out)
		return ps__fail(PS_EINVAL, "ps_attr_kernel_size: out is NULL");
	int size = ps__perf_ask_attr_size();
	if (size > 0) {
		*out = (size_t)size;
		return PS_OK;
	}
	struct ps__event event = {.name = (char *)"dummy",
	                          .klass = PS__EVENT_CLASS_SOFTWARE,
	                          .attr = {.exclude_kernel = 1}};
	return ps__perf_explain(&event, (struct ps__target){.kind = PS__TARGET_SELF, .cpu = -1},
	                        -size, 1);
}
