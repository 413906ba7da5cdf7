/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up names of libpfm4: PMU::EVENT:UNIT_MASK:modifier, or the same without the PMU. This
 * source is asked last, because the kernel's own names need no table.
 *
 * libpfm4 itself reads /proc/cpuinfo and /sys/bus/event_source/devices, to know the CPU and the
 * number of an uncore PMU. It bypasses the OS seam, so tests choose the PMU by libpfm4's
 * environment variables.
 */
#include "event/pfm.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "event/pmu.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool ps__pfm_enter(int *cancel)
{
	*cancel = ps__cancel_hold();
	ps__lock_take(PS__LOCK_PFM);
	if (pfm_initialize() == PFM_SUCCESS)
		return true;
	ps__pfm_leave(*cancel);
	return false;
}

void ps__pfm_leave(int cancel)
{
	ps__lock_release(PS__LOCK_PFM);
	ps__cancel_release(cancel);
}

/* True if the name has this modifier, as in ":u" or ":u=0". libpfm4 takes small
 * letters and capitals, colons and points. */
static bool pfm_says(const char *name, const char *modifier)
{
	size_t length = strlen(modifier);

	for (const char *at = ps__pfm_head_end(name); *at; at += strcspn(at, ":.")) {
		at++;
		if (!strncasecmp(at, modifier, length) && strchr(":.=", at[length]))
			return true;
	}
	return false;
}

/* Refuses sampling attributes: a counter would ignore them. */
static int pfm_refuse_sampling(const char *name, const struct perf_event_attr *attr, int cpu)
{
	if (attr->precise_ip || attr->sample_period || attr->freq || pfm_says(name, "hw_smpl"))
		return ps__fail(PS_EATTR,
		                "event '%s': precise, period, freq and hw_smpl are for sampling, "
		                "and this counts: leave them out",
		                name);
	if (cpu >= 0)
		return ps__fail(PS_EATTR,
		                "event '%s': an event has no CPU of its own here: leave cpu= out, "
		                "and attach the set with ps_eventset_attach_cpu",
		                name);
	if (attr->exclusive)
		return ps__fail(PS_EATTR,
		                "event '%s': exclusive use of the PMU (excl) is not supported; "
		                "pinned keeps the event on the hardware",
		                name);
	return PS_OK;
}

/* Counts all domains if the name doesn't say which, as perf's names do. */
static void pfm_settle_domain(struct ps__event *event, const char *name)
{
	struct perf_event_attr *attr = &event->attr;

	event->explicit_domain = pfm_says(name, "u") || pfm_says(name, "k") || pfm_says(name, "h");
	if (!event->explicit_domain) {
		attr->exclude_user = 0;
		attr->exclude_kernel = 0;
		attr->exclude_hv = 0;
	}
	if (!pfm_says(name, "mg") && !pfm_says(name, "mh")) {
		attr->exclude_guest = 0;
		attr->exclude_host = 0;
	}
}

/* The search for the kernel's alias with the same encoding. The alias has the unit and the scale,
 * which libpfm4 lacks. */
struct by_encoding {
	struct ps__event *event;
	const struct ps__pmu *pmu;
	const char *event_name;
};

static int pfm_match_encoding(const char *name, void *context)
{
	struct by_encoding *search = context;
	struct ps__event probe = {.scale = 1};
	struct ps__pmu_query query = {.event = &probe,
	                              .name = search->event_name,
	                              .terms = "",
	                              .end = "",
	                              .pmu = *search->pmu};
	struct ps__term term = {.name = name, .name_length = (int)strlen(name)};
	const struct perf_event_attr *attr = &search->event->attr;

	query.end = query.terms;
	if (ps__pmu_alias_apply(&query, &term) != PS_OK || probe.attr.config != attr->config ||
	    probe.attr.config1 != attr->config1 || probe.attr.config2 != attr->config2 ||
	    memcmp(probe.later, search->event->later, sizeof probe.later) != 0)
		return 0;
	search->event->scale = probe.scale;
	memcpy(search->event->unit, probe.unit, sizeof probe.unit);
	return 1;
}

static int pfm_settle_pmu(struct ps__event *event, const char *name)
{
	struct ps__pmu pmu;
	int result = ps__pmu_find_type(&pmu, event->attr.type, name);

	if (result == PS__NOT_HERE)
		return ps__fail(PS_ENOSUPP,
		                "event '%s': its PMU is not in /sys/bus/event_source/devices",
		                name);
	if (result != PS_OK)
		return result;
	event->klass = ps__pmu_class(&pmu);
	if (event->klass != PS__EVENT_CLASS_OTHER)
		return PS_OK;
	struct by_encoding same = {event, &pmu, name};
	ps__pmu_for_each_alias(pmu.name, pfm_match_encoding, &same);
	return ps__pmu_scope(&pmu, name, &event->scope);
}

static bool pfm_is_of_type(int index, pfm_pmu_type_t type)
{
	pfm_event_info_t event = {.size = sizeof event};
	pfm_pmu_info_t pmu = {.size = sizeof pmu};

	return pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS &&
	       pfm_get_pmu_info(event.pmu, &pmu) == PFM_SUCCESS && pmu.type == type;
}

static int pfm_settle_class(struct ps__event *event, const char *name, int index)
{
	event->scope = PS_SCOPE_THREAD;
	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		event->klass = PS__EVENT_CLASS_SOFTWARE;
		return PS_OK;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		/* An uncore PMU has a PMU number of its own. If the kernel has no driver for it,
		 * libpfm4 gives the core PMU's number. */
		if (pfm_is_of_type(index, PFM_PMU_TYPE_UNCORE))
			return ps__fail(PS_ENOSUPP,
			                "event '%s': the kernel has no driver for its PMU", name);
		event->klass = PS__EVENT_CLASS_CORE;
		return PS_OK;
	default:
		return pfm_settle_pmu(event, name);
	}
}

static int pfm_find(struct ps__event *event, struct ps__lookup *lookup)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	pfm_perf_encode_arg_t encoding = {.attr = &attr, .size = sizeof encoding, .cpu = -1};

	int error = pfm_get_os_event_encoding(lookup->name, PFM_PLM0 | PFM_PLM3,
	                                      PFM_OS_PERF_EVENT_EXT, &encoding);
	if (error != PFM_SUCCESS)
		return ps__pfm_explain(lookup, error);
	int code = pfm_refuse_sampling(lookup->name, &attr, encoding.cpu);
	if (code)
		return code;
	attr.size = event->attr.size;
	attr.disabled = 0;
	event->attr = attr;
	lookup->rest = "";
	pfm_settle_domain(event, lookup->name);
	/* Generic names and raw codes are not tied to one kind of cores. */
	lookup->has_pmu = attr.type != PERF_TYPE_HARDWARE && attr.type != PERF_TYPE_HW_CACHE &&
	                  pfm_is_of_type(encoding.idx, PFM_PMU_TYPE_CORE);
	return pfm_settle_class(event, lookup->name, encoding.idx);
}

int ps__pfm_find(struct ps__event *event, struct ps__lookup *lookup)
{
	int cancel;

	/* libpfm4 takes a comma for the beginning of the next event. */
	if (strpbrk(lookup->name, ",/") || !ps__pfm_enter(&cancel))
		return PS__NOT_HERE;
	int code = pfm_find(event, lookup);
	ps__pfm_leave(cancel);
	return code;
}

/* Finds the PMU in which libpfm4 finds a name without a PMU. */
static bool pfm_find_pmu(const char *name, pfm_pmu_info_t *out)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	pfm_perf_encode_arg_t encoding = {.attr = &attr, .size = sizeof encoding, .cpu = -1};
	pfm_event_info_t event = {.size = sizeof event};

	return pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT,
	                                 &encoding) == PFM_SUCCESS &&
	       pfm_get_event_info(encoding.idx, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS &&
	       pfm_get_pmu_info(event.pmu, out) == PFM_SUCCESS;
}

bool ps__pfm_prefix(char *out, size_t size_bytes, const char *name)
{
	pfm_pmu_info_t pmu = {.size = sizeof pmu};
	int cancel;

	if (strpbrk(name, ",/") || strstr(name, "::") || !ps__pfm_enter(&cancel))
		return false;
	/* pmu.name belongs to libpfm4, so it is read before ps__pfm_leave. */
	bool is_known = pfm_find_pmu(name, &pmu) &&
	                snprintf(out, size_bytes, "%s::%s", pmu.name, name) < (int)size_bytes;
	ps__pfm_leave(cancel);
	return is_known;
}
