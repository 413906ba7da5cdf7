/* SPDX-License-Identifier: BSD-3-Clause */
/* Machines with several kinds of cores, each with a PMU of its own: which kinds there are, and an
 * event's encoding on each. */
#include "backend/perf.h"
#include "base/error.h"
#include "base/list.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>

void ps__perf_specialise(struct ps__event *event, struct ps__place place)
{
	struct perf_event_attr *attr = &event->attr;

	if (place.stands_in) {
		*attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
		                                 .config = PERF_COUNT_SW_DUMMY,
		                                 .exclude_kernel = 1,
		                                 .exclude_hv = 1};
		memset(event->later, 0, sizeof event->later);
		return;
	}
	for (size_t index = 0; index < event->variant_count; index++) {
		const struct ps__variant *variant = &event->variants[index];
		if (variant->pmu_type != place.pmu_type)
			continue;
		attr->type = variant->type;
		attr->config = variant->config;
		attr->config1 = variant->config1;
		attr->config2 = variant->config2;
		memcpy(event->later, variant->later, sizeof event->later);
	}
}

/* The kernel's answers for an event that a PMU doesn't have. */
static bool is_absent(int error)
{
	return error == ENOENT || error == EINVAL || error == EOPNOTSUPP;
}

/* A kind of cores that lacks the event is left out, if another one has it. */
int ps__perf_probe_variants(struct ps__event *event)
{
	struct ps__target target = {.kind = PS__TARGET_SELF, .cpu = -1};

	for (size_t index = event->variant_count; index-- > 0;) {
		struct ps__place place = {
		    .pid = 0, .cpu = -1, .pmu_type = event->variants[index].pmu_type};
		int fd = ps__perf_open_settled(event, place, -1);
		if (fd >= 0) {
			ps__os.close(fd);
			continue;
		}
		if (!is_absent(-fd) || event->variant_count == 1)
			return ps__perf_explain(event, target, -fd, 1);
		int result = ps__event_drop_variant(event, index);
		if (result != PS_OK)
			return result;
	}
	return PS_OK;
}

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
