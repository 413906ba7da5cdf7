/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses PAPI's presets (PAPI_TOT_INS), which are not names of events here. The sentence says
 * which event to use instead. */
#include "base/error.h"
#include "event/lookup.h"

#include <string.h>
#include <strings.h>

#define PREFIX "PAPI_"

struct preset {
	const char *name;
	const char *event;
	const char *unlike; /* how the event's count differs from the preset's; NULL: it doesn't */
};

#define LOADS_ALONE "loads alone"
#define LAST_LEVEL  "those of the last-level cache"

/* Found by comparing PAPI's own descriptions (papi_avail) with those of perf's generic events. */
static const struct preset presets[] = {
    {"PAPI_TOT_INS", "instructions", NULL},
    {"PAPI_TOT_CYC", "cycles", NULL},
    {"PAPI_REF_CYC", "ref-cycles", NULL},
    {"PAPI_BR_INS", "branches", NULL},
    {"PAPI_BR_MSP", "branch-misses", "all branches, not the conditional ones alone"},
    {"PAPI_L1_DCM", "L1-dcache-load-misses", LOADS_ALONE},
    {"PAPI_L1_LDM", "L1-dcache-load-misses", NULL},
    {"PAPI_L1_STM", "L1-dcache-store-misses", NULL},
    {"PAPI_L1_DCA", "L1-dcache-loads", LOADS_ALONE},
    {"PAPI_L1_DCR", "L1-dcache-loads", NULL},
    {"PAPI_L1_DCW", "L1-dcache-stores", NULL},
    {"PAPI_L1_ICM", "L1-icache-load-misses", NULL},
    {"PAPI_L1_ICA", "L1-icache-loads", NULL},
    {"PAPI_L1_ICR", "L1-icache-loads", NULL},
    {"PAPI_L3_TCM", "cache-misses", LAST_LEVEL},
    {"PAPI_L3_TCA", "cache-references", LAST_LEVEL},
    {"PAPI_L3_DCM", "LLC-load-misses", LOADS_ALONE},
    {"PAPI_L3_DCA", "LLC-loads", LOADS_ALONE},
    {"PAPI_L3_LDM", "LLC-load-misses", LAST_LEVEL},
    {"PAPI_L3_STM", "LLC-store-misses", LAST_LEVEL},
    {"PAPI_TLB_DM", "dTLB-load-misses", LOADS_ALONE},
    {"PAPI_TLB_IM", "iTLB-load-misses", NULL},
    {"PAPI_LD_INS", "L1-dcache-loads", "loads that look into the level 1 data cache"},
    {"PAPI_SR_INS", "L1-dcache-stores", "stores that look into the level 1 data cache"},
};

static const struct preset *preset_of(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++) {
		if (strlen(presets[i].name) == length &&
		    !strncasecmp(presets[i].name, name, length))
			return &presets[i];
	}
	return NULL;
}

int ps__preset_refuse(struct ps__event *event, struct ps__lookup *lookup)
{
	size_t length = strcspn(lookup->name, ":");
	const char *modifiers = lookup->name + length;

	(void)event;
	if (strncasecmp(lookup->name, PREFIX, strlen(PREFIX)) != 0)
		return PS__NOT_HERE;
	const struct preset *preset = preset_of(lookup->name, length);
	if (!preset)
		return ps__fail(
		    PS_ENOEVNT,
		    "event '%s': that is PAPI's name, and there is no generic event for it: "
		    "'perfsage list' shows the events of this machine, and "
		    "ps_eventset_from_papi(3) takes an event set of PAPI that has it",
		    lookup->name);
	if (!preset->unlike)
		return ps__fail(PS_ENOEVNT, "event '%s': that is PAPI's name; use '%s%s'",
		                lookup->name, preset->event, modifiers);
	return ps__fail(PS_ENOEVNT,
	                "event '%s': that is PAPI's name; the nearest event is '%s%s', which "
	                "counts %s",
	                lookup->name, preset->event, modifiers, preset->unlike);
}
