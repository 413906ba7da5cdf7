/* SPDX-License-Identifier: BSD-3-Clause */
/* perf's generic hardware and software events, and raw codes: names that need
 * no file of this machine. */
#include "event/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct generic {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *about;
};

#define HARDWARE(name, config, about)                                   \
	{                                                               \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, about \
	}
#define SOFTWARE(name, config, about)                                   \
	{                                                               \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, about \
	}

static const struct generic generics[] = {
    HARDWARE("cycles", CPU_CYCLES, "cycles of the core while it is not halted"),
    HARDWARE("cpu-cycles", CPU_CYCLES, "cycles of the core while it is not halted"),
    HARDWARE("instructions", INSTRUCTIONS, "instructions retired"),
    HARDWARE("cache-references", CACHE_REFERENCES,
             "accesses to a cache, on most CPUs the last-level cache"),
    HARDWARE("cache-misses", CACHE_MISSES, "misses of a cache, on most CPUs the last-level cache"),
    HARDWARE("branches", BRANCH_INSTRUCTIONS, "branch instructions retired"),
    HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, "branch instructions retired"),
    HARDWARE("branch-misses", BRANCH_MISSES, "branches that were predicted wrongly"),
    HARDWARE("bus-cycles", BUS_CYCLES, "cycles of the bus"),
    HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND,
             "cycles in which the front end (fetch, decode) delivers nothing"),
    HARDWARE("idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
             "cycles in which the front end (fetch, decode) delivers nothing"),
    HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND,
             "cycles in which the back end (execution, memory) takes nothing"),
    HARDWARE("idle-cycles-backend", STALLED_CYCLES_BACKEND,
             "cycles in which the back end (execution, memory) takes nothing"),
    HARDWARE("ref-cycles", REF_CPU_CYCLES,
             "cycles at a constant rate, whatever the core's frequency"),
    SOFTWARE("cpu-clock", CPU_CLOCK, "time of the CPU, by its high-resolution timer"),
    SOFTWARE("task-clock", TASK_CLOCK, "time that the task was on a CPU"),
    SOFTWARE("page-faults", PAGE_FAULTS, "page faults"),
    SOFTWARE("faults", PAGE_FAULTS, "page faults"),
    SOFTWARE("context-switches", CONTEXT_SWITCHES, "context switches"),
    SOFTWARE("cs", CONTEXT_SWITCHES, "context switches"),
    SOFTWARE("cpu-migrations", CPU_MIGRATIONS, "moves of the task to another CPU"),
    SOFTWARE("migrations", CPU_MIGRATIONS, "moves of the task to another CPU"),
    SOFTWARE("minor-faults", PAGE_FAULTS_MIN, "page faults that needed no disk"),
    SOFTWARE("major-faults", PAGE_FAULTS_MAJ, "page faults that waited for a disk"),
    SOFTWARE("alignment-faults", ALIGNMENT_FAULTS,
             "unaligned accesses that the kernel carried out"),
    SOFTWARE("emulation-faults", EMULATION_FAULTS, "instructions that the kernel emulated"),
    SOFTWARE("dummy", DUMMY, "counts nothing"),
    SOFTWARE("bpf-output", BPF_OUTPUT, "outputs of BPF programs"),
    SOFTWARE("cgroup-switches", CGROUP_SWITCHES, "context switches to a task of another cgroup"),
};
#define GENERIC_COUNT (sizeof generics / sizeof *generics)

static void generic_fill(struct ps__event *event, uint32_t type, uint64_t config)
{
	event->attr.type = type;
	event->attr.config = config;
	event->klass = type == PERF_TYPE_SOFTWARE ? PS__EVENT_CLASS_SOFTWARE : PS__EVENT_CLASS_CORE;
	event->scope = PS_SCOPE_THREAD;
}

/* True for a raw code such as r1a8: the core PMU's own code in at most 16 hexadecimal digits. */
static bool generic_is_raw(const char *name, size_t length)
{
	return name[0] == 'r' && length > 1 && length <= 17 &&
	       strspn(name + 1, "0123456789abcdefABCDEF") == length - 1;
}

int ps__generic_find(struct ps__event *event, struct ps__lookup *lookup)
{
	size_t length = strcspn(lookup->name, ":");

	lookup->rest = lookup->name + length;
	if (generic_is_raw(lookup->name, length)) {
		generic_fill(event, PERF_TYPE_RAW, strtoull(lookup->name + 1, NULL, 16));
		return PS_OK;
	}
	for (size_t i = 0; i < GENERIC_COUNT; i++) {
		const struct generic *generic = &generics[i];
		if (strlen(generic->name) == length &&
		    !memcmp(generic->name, lookup->name, length)) {
			generic_fill(event, generic->type, generic->config);
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

static const char *generic_unit_of(const struct generic *generic)
{
	bool is_clock =
	    generic->type == PERF_TYPE_SOFTWARE && generic->config <= PERF_COUNT_SW_TASK_CLOCK;

	return is_clock ? "ns" : "";
}

int ps__generic_list(ps__info_visit *visit, void *context)
{
	int stop = 0;

	for (size_t i = 0; i < GENERIC_COUNT && !stop; i++) {
		const struct generic *generic = &generics[i];
		struct ps_event_info info = {.size = sizeof info,
		                             .name = generic->name,
		                             .pmu = generic->type == PERF_TYPE_SOFTWARE ? "software"
		                                                                        : "cpu",
		                             .description = generic->about,
		                             .unit = generic_unit_of(generic),
		                             .scope = PS_SCOPE_THREAD};
		stop = visit(&info, context);
	}
	return stop;
}
