/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns libpfm4's error number for a name without encoding into a sentence that
 * says what would be right. */
#include "base/error.h"
#include "event/names.h"
#include "event/pfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *ps__pfm_head_end(const char *name)
{
	const char *pmu_end = strstr(name, "::");
	const char *event = pmu_end ? pmu_end + 2 : name;

	return event + strcspn(event, ":.");
}

/* Collects the PMUs that have an event of this name. */
struct owners {
	const char *event; /* NULL: all PMUs of this machine, whatever they have */
	int length;
	struct ps__names pmus;
};

static bool pfm_explain_is(const char *name, const char *text, size_t length)
{
	return strncasecmp(name, text, length) == 0 && name[length] == '\0';
}

/* True if the event has the unit mask or modifier that follows its name. Otherwise the name may be
 * a tracepoint's: probe:foo is not the event PROBE. */
static bool pfm_explain_has_attribute(int index, int count, const char *behind)
{
	size_t length = *behind ? strcspn(behind + 1, ":.=") : 0;

	for (int number = 0; number < count && length; number++) {
		pfm_event_attr_info_t attribute = {.size = sizeof attribute};
		if (pfm_get_event_attr_info(index, number, PFM_OS_PERF_EVENT_EXT, &attribute) ==
		        PFM_SUCCESS &&
		    pfm_explain_is(attribute.name, behind + 1, length))
			return true;
	}
	return length == 0;
}

static bool pfm_explain_has_event(const pfm_pmu_info_t *pmu, const char *event, int length)
{
	for (int index = pmu->first_event; index >= 0; index = pfm_get_event_next(index)) {
		pfm_event_info_t info = {.size = sizeof info};
		if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &info) == PFM_SUCCESS &&
		    pfm_explain_is(info.name, event, (size_t)length) &&
		    pfm_explain_has_attribute(index, info.nattrs, event + length))
			return true;
	}
	return false;
}

static void pfm_explain_collect(struct owners *owners)
{
	for (int number = 0; number < PFM_PMU_MAX; number++) {
		pfm_pmu_info_t pmu = {.size = sizeof pmu};
		if (pfm_get_pmu_info((pfm_pmu_t)number, &pmu) != PFM_SUCCESS)
			continue;
		if (owners->event ? pfm_explain_has_event(&pmu, owners->event, owners->length)
		                  : pmu.is_present)
			ps__names_add(&owners->pmus, pmu.name);
	}
}

static bool pfm_explain_find_pmu(const char *name, int length, pfm_pmu_info_t *out)
{
	for (int number = 0; number < PFM_PMU_MAX; number++) {
		pfm_pmu_info_t pmu = {.size = sizeof pmu};
		if (pfm_get_pmu_info((pfm_pmu_t)number, &pmu) != PFM_SUCCESS ||
		    strncasecmp(pmu.name, name, (size_t)length) != 0 || pmu.name[length] != '\0')
			continue;
		*out = pmu;
		return true;
	}
	return false;
}

/* Explains PMU::EVENT if the PMU belongs to another machine or is unknown. */
static int pfm_explain_pmu(struct ps__lookup *lookup, int length)
{
	struct owners here = {.event = NULL};
	pfm_pmu_info_t pmu;
	char list[300];

	bool is_known = pfm_explain_find_pmu(lookup->name, length, &pmu);
	if (is_known && pmu.is_present)
		return PS__NOT_HERE;
	pfm_explain_collect(&here);
	ps__names_write(&here.pmus, list, sizeof list);
	if (is_known)
		return ps__fail(PS_ENOSUPP,
		                "event '%s': %s is the PMU of another machine (%s); libpfm4 finds "
		                "these here: %s",
		                lookup->name, pmu.name, pmu.desc, list);
	lookup->suspicion =
	    ps__fail(PS_ENOEVNT, "event '%s': libpfm4 knows no PMU '%.*s'; it finds these here: %s",
	             lookup->name, length, lookup->name, list);
	return PS__NOT_HERE;
}

static int pfm_explain_absent(struct ps__lookup *lookup)
{
	struct owners owners = {.event = lookup->name,
	                        .length = (int)(ps__pfm_head_end(lookup->name) - lookup->name)};
	const char *delimiter = strstr(lookup->name, "::");
	char list[300];

	if (delimiter)
		return pfm_explain_pmu(lookup, (int)(delimiter - lookup->name));
	pfm_explain_collect(&owners);
	if (owners.pmus.count == 0)
		return PS__NOT_HERE;
	ps__names_write(&owners.pmus, list, sizeof list);
	return ps__fail(
	    PS_ENOSUPP,
	    "event '%s' is known to libpfm4 for other machines, with the PMUs %s, and not for this "
	    "one (a newer libpfm4 may know more CPUs; 'perfsage list' shows what there is here)",
	    lookup->name, list);
}

/* Lists the unit masks and modifiers of the event that a name begins with, for the sentence about a
 * wrong or missing one. */
static void pfm_explain_list_attributes(const char *name, struct ps__names *masks,
                                        struct ps__names *modifiers)
{
	char head[PS__EVENT_NAME_MAX + 1];
	pfm_event_info_t event = {.size = sizeof event};

	snprintf(head, sizeof head, "%.*s", (int)(ps__pfm_head_end(name) - name), name);
	int index = pfm_find_event(head);
	if (index < 0 || pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return;
	for (int number = 0; number < event.nattrs; number++) {
		pfm_event_attr_info_t attribute = {.size = sizeof attribute};
		if (pfm_get_event_attr_info(index, number, PFM_OS_PERF_EVENT, &attribute) !=
		    PFM_SUCCESS)
			continue;
		ps__names_add(attribute.type == PFM_ATTR_UMASK ? masks : modifiers, attribute.name);
	}
}

static int pfm_explain_fail_attributes(const char *name, const char *what)
{
	struct ps__names masks = {.count = 0}, modifiers = {.count = 0};
	char mask_list[400], modifier_list[200];

	pfm_explain_list_attributes(name, &masks, &modifiers);
	ps__names_write(&masks, mask_list, sizeof mask_list);
	ps__names_write(&modifiers, modifier_list, sizeof modifier_list);
	return ps__fail(
	    PS_EATTR,
	    "event '%s': %s; unit masks of '%.*s': %s; its modifiers, each after a colon: %s", name,
	    what, (int)(ps__pfm_head_end(name) - name), name, mask_list, modifier_list);
}

int ps__pfm_explain(struct ps__lookup *lookup, int error)
{
	const char *name = lookup->name;

	switch (error) {
	case PFM_ERR_NOTFOUND:
		return pfm_explain_absent(lookup);
	case PFM_ERR_ATTR:
		return pfm_explain_fail_attributes(name, "it has no such unit mask or modifier");
	case PFM_ERR_UMASK:
		return pfm_explain_fail_attributes(name, "it needs a unit mask");
	case PFM_ERR_ATTR_VAL:
		return pfm_explain_fail_attributes(
		    name, "the value of a modifier is missing, wrong or too large");
	case PFM_ERR_ATTR_SET:
		return pfm_explain_fail_attributes(
		    name, "a modifier is given twice, with different values");
	case PFM_ERR_FEATCOMB:
		return pfm_explain_fail_attributes(
		    name, "these unit masks or modifiers don't go together");
	case PFM_ERR_NOMEM:
		return ps__fail(PS_ENOMEM, "event '%s': libpfm4 is out of memory", name);
	case PFM_ERR_INVAL:
		return PS__NOT_HERE;
	default:
		return ps__fail(PS_ENOSUPP,
		                "event '%s': libpfm4 can't encode it for this kernel: %s", name,
		                pfm_strerror(error));
	}
}
