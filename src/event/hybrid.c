/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Encodes a core event on machines with several kinds of cores (P and E cores, big and little
 * ones), where each kind has a PMU of its own. Finds the PMUs that have the event, its encoding for
 * each, and the CPUs that can count it. Called by parse.c for core events.
 */
#include "base/error.h"
#include "base/os.h"
#include "base/vector.h"
#include "event/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 8192

/* The search for the core PMUs. */
struct kinds {
	struct ps__event *event;
	const struct ps__lookup *lookup;
	size_t room; /* of event->variants */
	int code;
};

/* True for perf's generic names, which all CPUs have. The upper half of config says which PMU is
 * meant; 0: any. */
static bool hybrid_is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* Encodes, for this PMU, an alias that several core PMUs have. */
static bool hybrid_encode_alias(const struct kinds *kinds, const struct ps__pmu *pmu,
                                struct ps__variant *out)
{
	const char *name = kinds->lookup->name;
	struct ps__event probe = {.scale = 1};
	struct ps__pmu_query query = {
	    .event = &probe, .name = name, .terms = name, .end = kinds->lookup->rest, .pmu = *pmu};

	if (ps__pmu_query_apply(&query) != PS_OK)
		return false;
	out->type = pmu->type;
	out->config = probe.attr.config;
	out->config1 = probe.attr.config1;
	out->config2 = probe.attr.config2;
	memcpy(out->later, probe.later, sizeof out->later);
	return true;
}

/* Encodes the event for this PMU. False if the name means another PMU, or the PMU doesn't have the
 * event. */
static bool hybrid_encode(const struct kinds *kinds, const struct ps__pmu *pmu,
                          struct ps__variant *out)
{
	const struct perf_event_attr *attr = &kinds->event->attr;

	*out = (struct ps__variant){.pmu_type = pmu->type,
	                            .type = attr->type,
	                            .config = attr->config,
	                            .config1 = attr->config1,
	                            .config2 = attr->config2};
	memcpy(out->later, kinds->event->later, sizeof out->later);
	if (hybrid_is_generic(attr)) {
		uint32_t named = (uint32_t)(attr->config >> 32);
		out->config |= (uint64_t)pmu->type << 32;
		return named == 0 || named == pmu->type;
	}
	if (kinds->lookup->is_shared)
		return hybrid_encode_alias(kinds, pmu, out);
	if (kinds->lookup->has_pmu)
		return attr->type == pmu->type;
	out->type = pmu->type;
	return true;
}

static int hybrid_add_kind(struct kinds *kinds, const struct ps__pmu *pmu, const char *cpus)
{
	struct ps__event *event = kinds->event;
	struct ps__variant variant;

	event->kind_count++;
	if (!hybrid_encode(kinds, pmu, &variant))
		return PS_OK;
	if (!PS__VECTOR_GROW(&event->variants, event->variant_count, &kinds->room))
		return ps__fail_memory("an event of several kinds of cores");
	variant.cpus = ps__os_strdup(cpus);
	if (!variant.cpus)
		return ps__fail_memory("an event of several kinds of cores");
	event->variants[event->variant_count++] = variant;
	return PS_OK;
}

static int hybrid_visit_pmu(const char *name, void *context)
{
	struct kinds *kinds = context;
	struct ps__pmu pmu;
	char cpus[LIST_BYTES];

	/* Only a PMU for one kind of cores has this list. Other PMUs have none; nor has the core
	 * PMU of a machine whose cores are all alike. */
	ssize_t length = ps__pmu_read_cpus(name, cpus, sizeof cpus);
	if (length < 0 && ps__event_is_shortage((int)-length))
		kinds->code =
		    ps__event_fail_file(kinds->lookup->name, "the CPUs of a PMU", (int)-length);
	if (length <= 0)
		return kinds->code != PS_OK;
	int code = ps__pmu_find(&pmu, name, strlen(name), kinds->lookup->name);
	if (code == PS_OK)
		code = hybrid_add_kind(kinds, &pmu, cpus);
	kinds->code = code == PS__NOT_HERE ? PS_OK : code;
	return kinds->code != PS_OK;
}

/* Sorts by PMU, because sysfs lists its folders in no order. */
static void hybrid_sort(struct ps__event *event)
{
	for (size_t i = 1; i < event->variant_count; i++) {
		struct ps__variant moved = event->variants[i];
		size_t at = i;
		for (; at > 0 && event->variants[at - 1].pmu_type > moved.pmu_type; at--)
			event->variants[at] = event->variants[at - 1];
		event->variants[at] = moved;
	}
}

/* Sets the CPUs that can count the event, if not all can. */
static int hybrid_settle_cpus(struct ps__event *event)
{
	size_t bytes = 1;

	ps__os_free(event->cpus);
	event->cpus = NULL;
	if (event->variant_count == event->kind_count)
		return PS_OK;
	for (size_t i = 0; i < event->variant_count; i++)
		bytes += strlen(event->variants[i].cpus) + 1;
	event->cpus = ps__os_calloc(bytes, 1);
	if (!event->cpus)
		return ps__fail_memory("an event of several kinds of cores");
	for (size_t i = 0; i < event->variant_count; i++) {
		strcat(event->cpus, i ? "," : "");
		strcat(event->cpus, event->variants[i].cpus);
	}
	return PS_OK;
}

int ps__hybrid_expand(struct ps__event *event, const struct ps__lookup *lookup)
{
	struct kinds kinds = {.event = event, .lookup = lookup};

	if (ps__pmu_for_each(hybrid_visit_pmu, &kinds) < 0 && !kinds.code &&
	    ps__event_is_shortage(errno))
		return ps__event_fail_file(lookup->name, "the list of PMUs", errno);
	if (kinds.code)
		return kinds.code;
	if (event->kind_count < 2 || event->variant_count == 0) {
		ps__hybrid_clear(event);
		return PS_OK;
	}
	hybrid_sort(event);
	return hybrid_settle_cpus(event);
}

int ps__event_drop_variant(struct ps__event *event, size_t index)
{
	ps__os_free(event->variants[index].cpus);
	event->variant_count--;
	memmove(&event->variants[index], &event->variants[index + 1],
	        (event->variant_count - index) * sizeof *event->variants);
	return hybrid_settle_cpus(event);
}

int ps__hybrid_copy(struct ps__event *event, const struct ps__event *model)
{
	event->variants = NULL;
	event->variant_count = 0;
	event->cpus = NULL;
	if (model->variant_count == 0)
		return PS_OK;
	event->variants = ps__os_calloc(model->variant_count, sizeof *event->variants);
	if (!event->variants)
		return PS_ENOMEM;
	for (size_t i = 0; i < model->variant_count; i++) {
		char *cpus = ps__os_strdup(model->variants[i].cpus);
		if (!cpus)
			return PS_ENOMEM;
		event->variants[i] = model->variants[i];
		event->variants[i].cpus = cpus;
		event->variant_count++;
	}
	return hybrid_settle_cpus(event);
}

void ps__hybrid_clear(struct ps__event *event)
{
	for (size_t i = 0; i < event->variant_count; i++)
		ps__os_free(event->variants[i].cpus);
	ps__os_free(event->variants);
	ps__os_free(event->cpus);
	event->variants = NULL;
	event->variant_count = 0;
	event->kind_count = 0;
	event->cpus = NULL;
}
