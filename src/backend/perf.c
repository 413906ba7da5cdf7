/* SPDX-License-Identifier: BSD-3-Clause */
/* The perf backend's vtable: starts, stops and reads groups, with one system call for each. */
#include "backend/perf.h"

#include "backend/perf_user.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/os.h"
#include "store/recording.h"

#include <errno.h>
#include <string.h>

static struct ps__perf *perf_of(struct ps__backend *backend)
{
	return (struct ps__perf *)backend;
}

static const struct ps__backend_ops perf_user_ops;

static int perf_open(struct ps__backend *backend, struct ps__event *events, size_t count,
                     struct ps__target target)
{
	struct ps__perf *perf = perf_of(backend);

	perf->events = events;
	perf->event_count = count;
	perf->target = target;
	for (size_t event = 0; event < count; event++)
		events[event].control.is_attached = false;
	int result = ps__perf_open_instances(perf);
	if (result == PS_OK && perf->instances[0].direct_fd >= 0 &&
	    perf->base.read_path == PS_READ_PATH_USER)
		backend->ops = &perf_user_ops;
	return result;
}

/* Repeats a call that a signal interrupted, and tells why it fails. Apart, so that perf_control
 * saves few registers: that is counted. */
static __attribute__((cold, noinline)) int
control_again(struct ps__perf *perf, const struct ps__group *group, unsigned long request)
{
	int fd = group->members[0].fd;

	do {
		int error = errno;
		if (error != EINTR && !ps__os_is_event(fd))
			return ps__perf_fail_lost(perf);
		if (error != EINTR)
			return ps__fail(PS_ESYS, "'%s': ioctl %s: %s",
			                perf->events[group->members[0].event].name,
			                request == PERF_EVENT_IOC_ENABLE ? "PERF_EVENT_IOC_ENABLE"
			                                                 : "PERF_EVENT_IOC_DISABLE",
			                strerror(error));
	} while (ps__os.ioctl(fd, request, 0) < 0);
	return PS_OK;
}

static int perf_control(struct ps__perf *perf, const struct ps__group *group, unsigned long request)
{
	int fd = group->members[0].fd;

	/* The group's CPU is offline: there is nothing to start or stop. */
	if (fd < 0)
		return PS_OK;
	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	return ps__os.ioctl(fd, request, 0) < 0 ? control_again(perf, group, request) : PS_OK;
}

static int control_instance(struct ps__perf *perf, const struct ps__instance *instance,
                            unsigned long request)
{
	bool enables = request == PERF_EVENT_IOC_ENABLE;
	bool is_timed = perf->base.residency_ns != NULL;
	int result = PS_OK;

	if (is_timed && !enables)
		result = ps__perf_control_residency(perf, instance, request);

	for (size_t index = 0; index < perf->base.groups; index++) {
		for (const struct ps__group *group = &instance->groups[index]; group;
		     group = group->next) {
			int one = perf_control(perf, group, request);
			if (one != PS_OK)
				result = one;
		}
	}
	if (!is_timed || !enables)
		return result;
	int last = ps__perf_control_residency(perf, instance, request);
	return result == PS_OK ? last : result;
}

/* Returns the instance that counts the caller; 0 if there is only one, or none counts it. */
static size_t instance_of_caller(const struct ps__perf *perf)
{
	const int *cpus = perf->target.instance_cpus;
	size_t instances = perf->base.instances, instance = 0;

	if (instances == 1 || perf->target.kind != PS__TARGET_SELF)
		return 0;
	int cpu = ps__os_getcpu();
	/* Most machines number their CPUs without gaps. */
	if (cpu >= 0 && (size_t)cpu < instances && cpus[cpu] == cpu)
		return (size_t)cpu;
	while (instance < instances - 1 && cpus[instance] != cpu)
		instance++;
	return instance;
}

/*
 * Enables or disables every group of every instance. The caller's own instance is started last and
 * stopped first: otherwise it would count the calls for the other instances. If the kernel refuses
 * one, the others are changed nevertheless, and the error is returned.
 */
static int control_instances(struct ps__perf *perf, unsigned long request)
{
	size_t instances = perf->base.instances;
	size_t instance = instance_of_caller(perf) + (request == PERF_EVENT_IOC_ENABLE);
	int result = PS_OK;

	for (size_t count = 0; count < instances; count++, instance++) {
		instance = instance < instances ? instance : 0;
		int one = control_instance(perf, &perf->instances[instance], request);
		if (one != PS_OK)
			result = one;
	}
	return result;
}

/* A process's clocks are enabled before its events, and disabled after them. */
static int control_with_clocks(struct ps__perf *perf, unsigned long request)
{
	bool enables = request == PERF_EVENT_IOC_ENABLE;
	int result = enables ? ps__perf_control_clocks(perf, request) : PS_OK;
	int one = control_instances(perf, request);

	if (result == PS_OK)
		result = one;
	if (!enables)
		one = ps__perf_control_clocks(perf, request);
	return result == PS_OK ? one : result;
}

/* Enables or disables a process's events several times. There is a pause only between enabling:
 * most processes have ended when they are stopped. The first turn starts the instances, so the
 * pauses are no part of the start's duration. */
static __attribute__((noinline)) int control_process(struct ps__perf *perf, unsigned long request)
{
	int result = control_with_clocks(perf, request);

	if (request == PERF_EVENT_IOC_ENABLE)
		perf->base.run.start_ns = ps__os_now_ns() - perf->started_ns;
	for (unsigned turn = 1; turn < PS__PROCESS_TURNS && result == PS_OK; turn++) {
		if (request == PERF_EVENT_IOC_ENABLE)
			ps__os.poll(NULL, 0, PS__TURN_MS);
		result = control_with_clocks(perf, request);
	}
	return result;
}

static inline int control_all(struct ps__perf *perf, unsigned long request)
{
	const struct ps__group *only = perf->instances[0].groups;
	bool is_one = perf->base.instances == 1 && perf->base.groups == 1 && !only->next;

	if (__builtin_expect(perf->target.kind == PS__TARGET_PROCESS, 0))
		return control_process(perf, request);
	return is_one ? perf_control(perf, only, request) : control_instances(perf, request);
}

/* Disable first: any code before the ioctl would be counted. A CPU's stop time is read before. */
static int perf_stop(struct ps__backend *backend)
{
	struct ps__perf *perf = perf_of(backend);

	if (perf->target.kind == PS__TARGET_CPU)
		perf->base.run.stopped_ns = ps__os_now_ns();
	int result = control_all(perf, PERF_EVENT_IOC_DISABLE);
	if (perf->target.kind != PS__TARGET_CPU)
		perf->base.run.stopped_ns = ps__os_now_ns();
	perf->past_ns = ps__perf_due_ns(perf, perf->base.run.stopped_ns);
	perf->counting = false;
	/* An exec enables only once: after this stop, perf_start must enable the counters. */
	perf->target.enables_on_exec = false;
	ps__perf_note_stop(perf);
	return result;
}

/* Notes that all groups are enabled: from now on their clocks run. */
static void note_enabled(struct ps__perf *perf, uint64_t now)
{
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		for (size_t index = 0; index < perf->base.groups; index++) {
			struct ps__group *group = &perf->instances[instance].groups[index];
			for (; group; group = group->next)
				group->last_ns = now;
		}
	}
}

/* Notes how long it took to start all instances. The clocks of a CPU's groups are compared from now
 * on (perf_read.c). */
static void note_end_of_start(struct ps__perf *perf)
{
	uint64_t now = ps__os_now_ns();

	perf->base.run.start_ns = now - perf->started_ns;
	if (perf->target.kind == PS__TARGET_CPU)
		note_enabled(perf, now);
}

static inline void note_start(struct ps__perf *perf)
{
	perf->counting = true;
	perf->started_ns = ps__os_now_ns();
	perf->base.run.started_ns = perf->started_ns;
	perf->past_ns = (perf->started_ns - ps__perf_due_ns(perf, perf->started_ns)) | PS__COUNTING;
	note_enabled(perf, perf->started_ns);
	ps__perf_note_start(perf);
}

/* Notes the start of counters that count since they were opened. */
static __attribute__((cold, noinline)) int start_enabled(struct ps__perf *perf)
{
	note_start(perf);
	note_end_of_start(perf);
	return PS_OK;
}

/* Enables the counters as the last step, because code after it would be counted. Only the clock may
 * be read after it. */
static int perf_start(struct ps__backend *backend)
{
	struct ps__perf *perf = perf_of(backend);

	if (__builtin_expect(perf->base.counts_when_open, 0) && !perf->started_ns)
		return start_enabled(perf);
	note_start(perf);
	if (perf->target.enables_on_exec)
		return PS_OK;
	bool is_timed = perf->target.kind == PS__TARGET_CPU ||
	                (perf->base.instances > 1 && perf->target.kind != PS__TARGET_PROCESS);
	int result = control_all(perf, PERF_EVENT_IOC_ENABLE);
	if (__builtin_expect(is_timed, 0))
		note_end_of_start(perf);
	if (__builtin_expect(result == PS_OK, 1))
		return PS_OK;
	control_all(perf, PERF_EVENT_IOC_DISABLE);
	perf->past_ns = ps__perf_due_ns(perf, perf->started_ns);
	perf->counting = false;
	return result;
}

static int perf_read(struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	struct ps__perf *perf = perf_of(backend);
	bool is_user = perf->instances[instance].direct_user != NULL;
	int result = __builtin_expect(is_user, 0)
	                 ? ps__perf_user_read_direct(backend, instance, totals)
	                 : ps__perf_read_direct(backend, instance, totals);

	if (__builtin_expect(result != PS__NOT_DIRECT, 1))
		return result;
	/* A group was in the error state: from now on its times have to be put together. */
	perf->instances[instance].direct_fd = -1;
	perf->instances[instance].direct_user = NULL;
	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	return ps__perf_read_groups(perf, instance, totals);
}

static void perf_close(struct ps__backend *backend, bool abandon)
{
	ps__perf_close_instances(perf_of(backend), abandon);
	ps__os_free_apart(backend);
}

static const struct ps__backend_ops perf_ops = {.open = perf_open,
                                                .start = perf_start,
                                                .begin_run = ps__perf_begin_run,
                                                .read = perf_read,
                                                .read_direct = ps__perf_read_direct,
                                                .peek = ps__perf_peek,
                                                .stop = perf_stop,
                                                .pause_event = ps__perf_pause_event,
                                                .visit_counters = ps__perf_visit_counters,
                                                .read_clocks = ps__perf_read_clocks,
                                                .take_tasks = ps__perf_take_tasks,
                                                .take_uncounted = ps__perf_take_uncounted,
                                                .drain = ps__perf_drain,
                                                .close = perf_close};

static const struct ps__backend_ops perf_user_ops = {.open = perf_open,
                                                     .start = perf_start,
                                                     .begin_run = ps__perf_begin_run,
                                                     .read = perf_read,
                                                     .read_direct = ps__perf_user_read_direct,
                                                     .peek = ps__perf_peek,
                                                     .stop = perf_stop,
                                                     .pause_event = ps__perf_pause_event,
                                                     .visit_counters = ps__perf_visit_counters,
                                                     .read_clocks = ps__perf_read_clocks,
                                                     .drain = ps__perf_drain,
                                                     .close = perf_close};

struct ps__backend *ps__perf_create(void)
{
	struct ps__perf *perf = ps__os_calloc_apart(1, sizeof *perf);

	if (!perf)
		return NULL;
	perf->base.ops = &perf_ops;
	return &perf->base;
}
