/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens an event that is to be added, and closes it, to know whether it can be counted here. */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>

/* True if the errno means that a PMU doesn't have the event. */
static bool is_absent(int error)
{
	return error == ENOENT || error == EINVAL || error == EOPNOTSUPP;
}

/* Drops the kinds of cores that lack the event, if another kind has it. */
static int probe_variants(struct ps__event *event)
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

/* True if the event can only happen where it is not counted. It would always read 0, and is
 * refused, so that nobody believes the 0. */
static bool is_always_zero(const struct ps__event *event)
{
	return event->kernel_side && event->attr.exclude_kernel;
}

int ps__perf_probe(struct ps__event *event)
{
	struct ps__target target = {.kind = PS__TARGET_SELF, .cpu = -1};
	struct ps__place place = {.pid = 0, .cpu = -1};

	if (event->is_run_time)
		return ps__run_time_refuse(event);
	if (is_always_zero(event))
		return ps__fail(PS_EINVAL_DOM,
		                "'%s' happens in the kernel, so counting user space alone would "
		                "always read 0: leave the modifier out",
		                event->name);
	if (ps__event_excludes_all(&event->attr))
		return ps__fail(PS_EINVAL_DOM,
		                "'%s' happens in user space and in the kernel, and both are left "
		                "out: it would always read 0; add u or k to the modifiers",
		                event->name);
	if (event->variant_count)
		return probe_variants(event);
	if (event->klass == PS__EVENT_CLASS_OTHER) {
		target = (struct ps__target){.kind = PS__TARGET_CPU, .cpu = ps__os.getcpu()};
		place = (struct ps__place){.pid = -1, .cpu = target.cpu};
	}
	int fd = ps__perf_open_settled(event, place, -1);
	if (fd < 0)
		return ps__perf_explain(event, target, -fd, 1);
	ps__os.close(fd);
	return PS_OK;
}

static bool is_of_cpu(const struct ps__event *events, size_t count)
{
	for (size_t index = 0; index < count; index++) {
		if (events[index].klass == PS__EVENT_CLASS_OTHER && !events[index].unsupported)
			return true;
	}
	return false;
}

/* Opening may limit events to user space, so copies are opened. */
int ps__perf_probe_groups(const struct ps__event *events, size_t count)
{
	struct ps__target target = {.kind = PS__TARGET_SELF, .cpu = -1};
	struct ps__event *tried = ps__os_calloc(count, sizeof *tried);
	struct ps__backend *backend = tried ? ps__perf_create() : NULL;
	int result = backend ? PS_OK : ps__fail_memory("a group of events");

	if (is_of_cpu(events, count))
		target = (struct ps__target){.kind = PS__TARGET_CPU, .cpu = ps__os.getcpu()};
	if (result == PS_OK) {
		memcpy(tried, events, count * sizeof *tried);
		result = backend->ops->open(backend, tried, count, target);
		backend->ops->close(backend, false);
	}
	ps__os_free(tried);
	return result;
}
