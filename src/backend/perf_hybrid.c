/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines with several kinds of cores, each with its own PMU: finds the kinds. */
#include "backend/perf.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"

static ptrdiff_t kind_of_type(const struct ps__perf *perf, uint32_t pmu_type)
{
	for (size_t kind = 0; kind < perf->kind_count; kind++) {
		if (perf->kinds[kind].pmu_type == pmu_type)
			return (ptrdiff_t)kind;
	}
	return -1;
}

int ps__perf_find_kinds(struct ps__perf *perf)
{
	perf->kinds[PS__KIND_ANY] = (struct ps__kind){0};
	perf->kind_count = 1;
	for (size_t index = 0; index < perf->event_count; index++) {
		const struct ps__event *event = &perf->events[index];
		for (size_t i = 0; !event->unsupported && i < event->variant_count; i++) {
			const struct ps__variant *variant = &event->variants[i];
			if (kind_of_type(perf, variant->pmu_type) >= 0)
				continue;
			if (perf->kind_count == PS__KINDS_MAX)
				return ps__fail(
				    PS_ENOSUPP,
				    "'%s': this machine has more than %d kinds of cores",
				    event->name, PS__KINDS_MAX - 1);
			perf->kinds[perf->kind_count++] =
			    (struct ps__kind){variant->pmu_type, variant->cpus};
		}
	}
	return PS_OK;
}

uint32_t ps__perf_kinds_of(const struct ps__perf *perf, const struct ps__event *event)
{
	uint32_t kinds = event->variant_count ? 0 : UINT32_C(1) << PS__KIND_ANY;

	for (size_t i = 0; i < event->variant_count; i++)
		kinds |= UINT32_C(1) << kind_of_type(perf, event->variants[i].pmu_type);
	return kinds;
}

bool ps__perf_has_kind(const struct ps__perf *perf, const struct ps__instance *instance,
                       size_t kind)
{
	return kind == PS__KIND_ANY || instance->place.cpu < 0 ||
	       ps__list_contains(perf->kinds[kind].cpus, instance->place.cpu);
}
