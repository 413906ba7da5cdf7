/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates an event whose encoding was changed by ps_attr_set after its name was looked up. */
#include "event/pmu.h"

#include "base/os.h"

#include <string.h>

static int recode_class(const struct ps__event *event, enum ps__event_class *klass,
                        enum ps_scope *scope)
{
	struct ps__pmu pmu;

	*scope = PS_SCOPE_THREAD;
	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		*klass = PS__EVENT_CLASS_SOFTWARE;
		return PS_OK;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		*klass = PS__EVENT_CLASS_CORE;
		return PS_OK;
	default:
		break;
	}
	int result = ps__pmu_find_type(&pmu, event->attr.type, event->name);
	*klass = PS__EVENT_CLASS_SOFTWARE;
	/* If sysfs shows no such PMU, opening the event will fail. */
	if (result != PS_OK)
		return result == PS__NOT_HERE ? PS_OK : result;
	*klass = ps__pmu_class(&pmu);
	return ps__pmu_scope(&pmu, event->name, scope);
}

int ps__event_retype(struct ps__event *event)
{
	enum ps__event_class klass;
	enum ps_scope scope;
	int result = recode_class(event, &klass, &scope);

	if (result != PS_OK)
		return result;
	event->klass = klass;
	event->scope = scope;
	/* The unit and the scale were the old PMU's. */
	event->scale = 1;
	event->unit[0] = '\0';
	event->is_probe = false;
	return PS_OK;
}

void ps__event_recode(struct ps__event *event)
{
	ps__hybrid_clear(event);
	if (event->attr.type == PERF_TYPE_SOFTWARE)
		strcpy(event->unit, ps__event_is_clock(&event->attr) ? "ns" : "");
	if (event->probe && event->attr.config1 != (uintptr_t)event->probe) {
		ps__os_free(event->probe);
		event->probe = NULL;
	}
	event->kernel_side =
	    (event->is_probe && event->kernel_side) || ps__event_is_kernel_side(&event->attr);
}
