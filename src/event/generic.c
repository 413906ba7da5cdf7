/* SPDX-License-Identifier: BSD-3-Clause */
/* perf's generic hardware and software events, and raw codes: names that need no file of this machine. */
#include "event/lookup.h"

#include <stdlib.h>
#include <string.h>

struct generic {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(name, config)                                   \
	{                                                        \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config \
	}
#define SOFTWARE(name, config)                                   \
	{                                                        \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config \
	}

static const struct generic generics[] = {
    HARDWARE("cycles", CPU_CYCLES),
    HARDWARE("cpu-cycles", CPU_CYCLES),
    HARDWARE("instructions", INSTRUCTIONS),
    HARDWARE("cache-references", CACHE_REFERENCES),
    HARDWARE("cache-misses", CACHE_MISSES),
    HARDWARE("branches", BRANCH_INSTRUCTIONS),
    HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
    HARDWARE("branch-misses", BRANCH_MISSES),
    HARDWARE("bus-cycles", BUS_CYCLES),
    HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
    HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND),
    HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
    HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND),
    HARDWARE("ref-cycles", REF_CPU_CYCLES),
    SOFTWARE("cpu-clock", CPU_CLOCK),
    SOFTWARE("task-clock", TASK_CLOCK),
    SOFTWARE("page-faults", PAGE_FAULTS),
    SOFTWARE("faults", PAGE_FAULTS),
    SOFTWARE("context-switches", CONTEXT_SWITCHES),
    SOFTWARE("cs", CONTEXT_SWITCHES),
    SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
    SOFTWARE("migrations", CPU_MIGRATIONS),
    SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
    SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
    SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
    SOFTWARE("emulation-faults", EMULATION_FAULTS),
    SOFTWARE("dummy", DUMMY),
    SOFTWARE("bpf-output", BPF_OUTPUT),
    SOFTWARE("cgroup-switches", CGROUP_SWITCHES),
};
#define GENERIC_COUNT (sizeof generics / sizeof *generics)

static void fill(struct ps__event *event, uint32_t type, uint64_t config)
{
	event->attr.type = type;
	event->attr.config = config;
	event->klass = type == PERF_TYPE_SOFTWARE ? PS__EVENT_CLASS_SOFTWARE : PS__EVENT_CLASS_CORE;
	event->scope = PS_SCOPE_THREAD;
}

/* r1a8: the code as the core PMU takes it, in at most 16 hexadecimal digits. */
static bool is_raw(const char *name, size_t length)
{
	return name[0] == 'r' && length > 1 && length <= 17 &&
	       strspn(name + 1, "0123456789abcdefABCDEF") == length - 1;
}

int ps__generic_find(struct ps__event *event, struct ps__lookup *lookup)
{
	size_t length = strcspn(lookup->name, ":");

	lookup->rest = lookup->name + length;
	if (is_raw(lookup->name, length)) {
		fill(event, PERF_TYPE_RAW, strtoull(lookup->name + 1, NULL, 16));
		return PS_OK;
	}
	for (size_t i = 0; i < GENERIC_COUNT; i++) {
		const struct generic *generic = &generics[i];
		if (strlen(generic->name) == length && !memcmp(generic->name, lookup->name, length)) {
			fill(event, generic->type, generic->config);
			return PS_OK;
		}
	}
	return PS__NOT_HERE;
}

int ps__generic_for_each(ps__name_visit *visit, void *context)
{
	int stop = 0;

	for (size_t i = 0; i < GENERIC_COUNT && !stop; i++)
		stop = visit(generics[i].name, context);
	return stop;
}
