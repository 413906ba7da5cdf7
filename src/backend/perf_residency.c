/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures how long a task was on each CPU. If groups take turns on the hardware, they wait, and
 * the kernel's times of an event for one CPU don't tell waiting there from being on another CPU. A
 * dummy event beside the groups never waits: its running time is the task's residency. The
 * residency less a group's running time is how long the group waited there.
 *
 * The dummy is enabled after the groups, and disabled and read before them. So the running time of
 * a group that never waited is not less than the residency.
 */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <string.h>

static size_t count_hardware_groups(const struct ps__perf *perf)
{
	size_t count = 0;

	for (size_t group = 0; group < perf->base.groups; group++)
		count += perf->base.is_hardware[group];
	return count;
}

/* True if residency must be measured. A single group has the hardware to itself, and its times are
 * enough. Events of control groups and of whole CPUs have no time on other CPUs. */
static bool needs_residency(const struct ps__perf *perf)
{
	return perf->target.instance_count > 0 && perf->target.kind != PS__TARGET_CGROUP &&
	       perf->target.kind != PS__TARGET_CPUS && count_hardware_groups(perf) > 1;
}

int ps__perf_open_dummy(const struct ps__instance *instance)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
	                               .size = sizeof attr,
	                               .config = PERF_COUNT_SW_DUMMY,
	                               .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
	                                              PERF_FORMAT_TOTAL_TIME_RUNNING,
	                               .exclude_kernel = 1,
	                               .exclude_hv = 1,
	                               .disabled = !instance->place.counts_at_once,
	                               .inherit = instance->place.inherit,
	                               .enable_on_exec = instance->place.enables_on_exec};

	return ps__os_open_event(&attr, instance->place.pid, instance->place.cpu, -1, 0);
}

int ps__perf_open_residency(struct ps__perf *perf)
{
	if (!needs_residency(perf))
		return PS_OK;
	perf->base.residency_ns =
	    ps__os_calloc(perf->base.instances, sizeof *perf->base.residency_ns);
	if (!perf->base.residency_ns)
		return ps__fail_memory("groups of events");
	for (size_t index = 0; index < perf->base.instances; index++)
		perf->instances[index].residency_fd = -1;
	for (size_t index = 0; index < perf->base.instances; index++) {
		struct ps__instance *instance = &perf->instances[index];
		instance->residency_fd = ps__perf_open_dummy(instance);
		if (instance->residency_fd < 0)
			return ps__perf_explain_event(perf, instance->groups[0].members[0].event,
			                              instance->place.pid, -instance->residency_fd);
		instance->residency_id = ps__os_event_id(instance->residency_fd);
	}
	return PS_OK;
}

void ps__perf_close_residency(struct ps__perf *perf, bool abandon)
{
	for (size_t index = 0; perf->base.residency_ns && index < perf->base.instances; index++)
		ps__os_close_event(perf->instances[index].residency_fd,
		                   perf->instances[index].residency_id, abandon);
	ps__os_free(perf->base.residency_ns);
	perf->base.residency_ns = NULL;
}

static int dummy_fail(const struct ps__dummy *dummy, const char *call, int error)
{
	return ps__fail(PS_ESYS,
	                "the clock of CPU %d (-1: of any) of thread %d (0: the set's own): %s: %s",
	                dummy->cpu, (int)dummy->tid, call, error ? strerror(error) : "too little");
}

int ps__perf_control_dummy(struct ps__perf *perf, struct ps__dummy dummy, unsigned long request)
{
	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	/* The program may have opened an event of its own under this number. */
	if (!ps__os_is_event_of(dummy.fd, dummy.id))
		return ps__perf_fail_lost(perf);
	while (ps__os.ioctl(dummy.fd, request, 0) < 0) {
		if (errno != EINTR)
			return dummy_fail(&dummy, "ioctl", errno);
	}
	return PS_OK;
}

int ps__perf_read_dummy(struct ps__perf *perf, struct ps__dummy dummy, uint64_t *words)
{
	const ssize_t size_bytes = PS__DUMMY_WORDS * sizeof *words;

	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	ssize_t length = ps__os_read_retried(dummy.fd, words, (size_t)size_bytes);
	int error = length < 0 ? errno : 0;
	/* The program may have opened a file under this number, which was read. */
	bool is_own = ps__os_is_event_of(dummy.fd, dummy.id);
	if (is_own && length == size_bytes)
		return PS_OK;
	return is_own ? dummy_fail(&dummy, "read", error) : ps__perf_fail_lost(perf);
}

static struct ps__dummy residency_dummy(const struct ps__instance *instance)
{
	return (struct ps__dummy){instance->residency_fd, instance->place.cpu, instance->place.pid,
	                          instance->residency_id};
}

int ps__perf_control_residency(struct ps__perf *perf, const struct ps__instance *instance,
                               unsigned long request)
{
	return ps__perf_control_dummy(perf, residency_dummy(instance), request);
}

int ps__perf_read_residency(struct ps__perf *perf, size_t instance)
{
	uint64_t words[PS__DUMMY_WORDS];

	if (!perf->base.residency_ns)
		return PS_OK;
	int result = ps__perf_read_dummy(perf, residency_dummy(&perf->instances[instance]), words);
	if (result == PS_OK)
		perf->base.residency_ns[instance] = words[2];
	return result;
}
