/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists libpfm4's names for the PMUs of this machine, for the list of events and for the nearest
 * names in errors. */
#include "event/pfm.h"

#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

/* libpfm4 tells core PMUs from others, so the kernel isn't asked for each event. */
static enum ps_scope pfm_names_scope_of(const pfm_pmu_info_t *pmu)
{
	return pmu->type == PFM_PMU_TYPE_UNCORE ? PS_SCOPE_PACKAGE : PS_SCOPE_THREAD;
}

/* libpfm4 has no units. */
static const char *pfm_names_unit_of(const pfm_pmu_info_t *pmu, const char *name)
{
	struct perf_event_attr attr = {.size = sizeof attr};
	pfm_perf_encode_arg_t encoding = {.attr = &attr, .size = sizeof encoding, .cpu = -1};
	bool is_clock = pmu->type == PFM_PMU_TYPE_OS_GENERIC &&
	                pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT_EXT,
	                                          &encoding) == PFM_SUCCESS &&
	                ps__event_is_clock(&attr);

	return is_clock ? "ns" : "";
}

static int pfm_names_list_event(int index, const pfm_pmu_info_t *pmu, ps__info_visit *visit,
                                void *context)
{
	pfm_event_info_t event = {.size = sizeof event};
	char name[PS__EVENT_NAME_MAX + 1];

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
		return 0;
	snprintf(name, sizeof name, "%s::%s", pmu->name, event.name);
	struct ps_event_info info = {.size = sizeof info,
	                             .name = name,
	                             .pmu = pmu->name,
	                             .description = event.desc ? event.desc : "",
	                             .unit = pfm_names_unit_of(pmu, name),
	                             .scope = pfm_names_scope_of(pmu)};
	return visit(&info, context);
}

/* True if the PMU is here and has named events; perf_raw stands for raw codes. */
static bool pfm_names_exist(const pfm_pmu_info_t *pmu)
{
	return pmu->is_present && strcmp(pmu->name, "perf_raw") != 0;
}

static int pfm_names_list(ps__info_visit *visit, void *context)
{
	int stop = 0;

	for (int number = 0; number < PFM_PMU_MAX && !stop; number++) {
		pfm_pmu_info_t pmu = {.size = sizeof pmu};
		if (pfm_get_pmu_info((pfm_pmu_t)number, &pmu) != PFM_SUCCESS ||
		    !pfm_names_exist(&pmu))
			continue;
		for (int index = pmu.first_event; index >= 0 && !stop;
		     index = pfm_get_event_next(index))
			stop = pfm_names_list_event(index, &pmu, visit, context);
	}
	return stop;
}

int ps__pfm_list(ps__info_visit *visit, void *context)
{
	int cancel;

	if (!ps__pfm_enter(&cancel))
		return 0;
	int stop = pfm_names_list(visit, context);
	ps__pfm_leave(cancel);
	return stop;
}
