/* SPDX-License-Identifier: BSD-3-Clause */
/* The perf backend's vtable: groups started, stopped and read, one system call each. */
#include "backend/perf.h"

#include "backend/perf_user.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/os.h"
#include "store/recording.h"

#include <errno.h>
#include <string.h>

/* Enabled time and the clock are looked at one after the other, and a thread may wait for its CPU
 * in between. */
#define TOLERANCE_NS 2000000u

static struct ps__perf *perf_of(struct ps__backend *backend)
{
	return (struct ps__perf *)backend;
}

static int perf_open(struct ps__backend *backend, struct ps__event *events, size_t count,
                     struct ps__target target)
{
	struct ps__perf *perf = perf_of(backend);

	perf->events = events;
	perf->event_count = count;
	perf->target = target;
	return ps__perf_open_instances(perf);
}

/* Once it is known nothing more is read: it would be taken out of a pipe of the program's. */
static __attribute__((cold, noinline)) int fail_lost(struct ps__perf *perf)
{
	perf->is_lost = true;
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		perf->instances[instance].direct_fd = -1;
		perf->instances[instance].direct_user = NULL;
	}
	return ps__fail(
	    PS_ECLOST, "the program has closed descriptors of the event set, which are perfsage's, "
		       "and may have opened files of its own under their numbers: start sets after "
		       "a loop that closes all descriptors, or leave out what it didn't open; "
		       "destroy this set, and count with a clone (ps_eventset_clone)");
}

static int control(struct ps__perf *perf, const struct ps__group *group, unsigned long request)
{
	int fd = group->members[0].fd;

	/* Its CPU is offline: there is nothing to start or stop. */
	if (fd < 0)
		return PS_OK;
	if (__builtin_expect(perf->is_lost, 0))
		return fail_lost(perf);
	while (ps__os.ioctl(fd, request, 0) < 0) {
		int error = errno;
		if (error != EINTR && !ps__os_is_event(fd))
			return fail_lost(perf);
		if (error != EINTR)
			return ps__fail(PS_ESYS, "'%s': ioctl %s: %s",
			                perf->events[group->members[0].event].name,
			                request == PERF_EVENT_IOC_ENABLE ? "PERF_EVENT_IOC_ENABLE"
			                                                 : "PERF_EVENT_IOC_DISABLE",
			                strerror(error));
	}
	return PS_OK;
}

static int control_instance(struct ps__perf *perf, const struct ps__instance *instance,
                            unsigned long request)
{
	bool enables = request == PERF_EVENT_IOC_ENABLE;
	int result = enables ? PS_OK : ps__perf_control_residency(perf, instance, request);

	for (size_t index = 0; index < perf->base.groups; index++) {
		for (const struct ps__group *group = &instance->groups[index]; group;
		     group = group->next) {
			int one = control(perf, group, request);
			if (one != PS_OK)
				result = one;
		}
	}
	if (!enables)
		return result;
	int last = ps__perf_control_residency(perf, instance, request);
	return result == PS_OK ? last : result;
}

/* The instance that counts the caller; any if that is only one, or none. */
static size_t instance_of_caller(const struct ps__perf *perf)
{
	const int *cpus = perf->target.instance_cpus;
	size_t instances = perf->base.instances, instance = 0;

	if (instances == 1 || perf->target.kind != PS__TARGET_SELF)
		return 0;
	int cpu = ps__os_getcpu();
	/* Most machines number their CPUs without holes. */
	if (cpu >= 0 && (size_t)cpu < instances && cpus[cpu] == cpu)
		return (size_t)cpu;
	while (instance < instances - 1 && cpus[instance] != cpu)
		instance++;
	return instance;
}

/*
 * For every group of every instance. The caller's own instance is started last and stopped first,
 * or else it would count the calls for the others. One that refuses is no reason to leave out the
 * others; the refusal is returned.
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

static inline int control_all(struct ps__perf *perf, unsigned long request)
{
	const struct ps__group *only = perf->instances[0].groups;
	bool is_one = perf->base.instances == 1 && perf->base.groups == 1 && !only->next;

	return is_one ? control(perf, only, request) : control_instances(perf, request);
}

/* Nothing comes before what disables the counters that needn't: it would be counted. */
static int perf_stop(struct ps__backend *backend)
{
	struct ps__perf *perf = perf_of(backend);

	if (perf->target.kind == PS__TARGET_CPU)
		perf->stopped_ns = ps__os_now_ns();
	int result = control_all(perf, PERF_EVENT_IOC_DISABLE);
	if (perf->counting && perf->target.kind == PS__TARGET_CPU)
		perf->past_ns += perf->stopped_ns - perf->started_ns;
	perf->counting = false;
	ps__perf_note_stop(perf);
	return result;
}

/* Enabling brings a group out of the error state, if the hardware has room for it now; and from now
 * on its clock goes. */
static void note_enabled(struct ps__perf *perf, uint64_t now)
{
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		for (size_t index = 0; index < perf->base.groups; index++) {
			struct ps__group *group = &perf->instances[instance].groups[index];
			for (; group; group = group->next) {
				group->blind_since = 0;
				group->last_ns = now;
			}
		}
	}
}

/* How long it took to start all instances; and of a CPU's groups, how late it is. */
static void note_end_of_start(struct ps__perf *perf)
{
	uint64_t now = ps__os_now_ns();

	perf->base.start_ns = now - perf->started_ns;
	if (perf->target.kind == PS__TARGET_CPU)
		note_enabled(perf, now);
}

/* Nothing but the return follows what enables the counters, or a look at the clock: it would be
 * counted. */
static int perf_start(struct ps__backend *backend)
{
	struct ps__perf *perf = perf_of(backend);

	perf->counting = true;
	perf->started_ns = ps__os_now_ns();
	perf->base.started_ns = perf->started_ns;
	note_enabled(perf, perf->started_ns);
	ps__perf_note_start(perf);
	if (perf->target.enables_on_exec)
		return PS_OK;
	bool is_timed = perf->base.instances > 1 || perf->target.kind == PS__TARGET_CPU;
	int result = control_all(perf, PERF_EVENT_IOC_ENABLE);
	if (__builtin_expect(is_timed, 0))
		note_end_of_start(perf);
	if (__builtin_expect(result == PS_OK, 1))
		return PS_OK;
	control_all(perf, PERF_EVENT_IOC_DISABLE);
	perf->counting = false;
	return result;
}

/* The kernel tells no times of a group in the error state: all the time since it was started was
 * without counting, so that its values show as never scheduled, or as scaled, and not as 0. */
static int fail_group_error(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                            uint64_t *values)
{
	uint64_t now = ps__os_now_ns();
	uint64_t blind_ns = now - (group->blind_since ? group->blind_since : perf->started_ns);

	if (group->is_user_read)
		ps__perf_user_read_last(group, values);
	times[0] += blind_ns;
	group->carry_enabled += blind_ns;
	group->blind_since = now;
	return ps__fail(
	    PS_PARTIAL,
	    "'%s' and the %zu other events of its group could not be counted: the counter is in "
	    "the error state, as a pinned event is when no hardware counter is free for it",
	    perf->events[group->members[0].event].name, group->count - 1);
}

int ps__perf_store_group(struct ps__perf *perf, const struct ps__group *group, uint64_t *times,
                         uint64_t *values)
{
	if (__builtin_expect(perf->buffer[0] != group->count + group->extras, 0))
		return ps__fail(PS_PARTIAL, "'%s': of its group of %zu events the kernel read %llu",
		                perf->events[group->members[0].event].name, group->count,
		                (unsigned long long)perf->buffer[0]);
	for (size_t place = 0; place < group->count; place++)
		values[group->members[place].event] =
		    perf->buffer[3 + place] + group->members[place].carry;
	times[0] = perf->buffer[1] + group->carry_enabled;
	times[1] = perf->buffer[2] + group->carry_running;
	return PS_OK;
}

/* Does only the clock tell whether the group's CPU was offline? Its own stands still then. */
static bool is_known_by_clock(const struct ps__perf *perf, const struct ps__group *group)
{
	return perf->target.kind == PS__TARGET_CPU && group->count == 1;
}

/*
 * Has the group's CPU been offline? The kernel then takes groups apart; of a single event its clock
 * stood still while time went on: from after the last read until sure_ns, before this one, so that
 * a thread that had to wait between a read and a look at the clock takes no harm.
 */
static bool is_detached(const struct ps__perf *perf, struct ps__group *group, uint64_t sure_ns)
{
	/* A control group's clock stands still while none of its tasks runs. */
	if (perf->target.kind != PS__TARGET_CPU && perf->target.kind != PS__TARGET_CGROUP)
		return false;
	if (!is_known_by_clock(perf, group))
		return perf->buffer[0] != group->count;
	int64_t passed = (int64_t)(sure_ns - group->last_ns);
	uint64_t enabled = perf->buffer[1] - group->last_enabled;
	group->last_ns = ps__os_now_ns();
	group->last_enabled = perf->buffer[1];
	return passed > 0 && enabled + TOLERANCE_NS + (uint64_t)passed / 64 < (uint64_t)passed;
}

/* The totals of a group that was detached: what was carried over. */
static int store_carried(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                         uint64_t *values)
{
	ps__perf_recover(perf, group);
	for (size_t place = 0; place < group->count; place++)
		values[group->members[place].event] = group->members[place].carry;
	times[0] = group->carry_enabled;
	times[1] = group->carry_running;
	return PS_OK;
}

static int fail_read(struct ps__perf *perf, const struct ps__group *group)
{
	int error = errno;

	if (!ps__os_is_event(group->members[0].fd))
		return fail_lost(perf);
	errno = error;
	return ps__fail(PS_ESYS, "'%s': read: %s", perf->events[group->members[0].event].name,
	                strerror(errno));
}

/* Has it the shape that is asked for? */
static bool is_group(const struct ps__perf *perf, const struct ps__group *group, size_t length)
{
	uint64_t members = group->count + group->extras;

	return length == (3 + members) * sizeof *perf->buffer && perf->buffer[0] == members;
}

static int read_group(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                      uint64_t *values)
{
	if (__builtin_expect(group->members[0].fd < 0, 0))
		return store_carried(perf, group, times, values);
	uint64_t sure_ns = 0;
	if (is_known_by_clock(perf, group))
		sure_ns = perf->counting ? ps__os_now_ns() : perf->stopped_ns;
	ssize_t length =
	    ps__os_read_retried(group->members[0].fd, perf->buffer, perf->buffer_bytes);
	if (__builtin_expect(length < 0, 0))
		return fail_read(perf, group);
	if (__builtin_expect(!is_group(perf, group, (size_t)length), 0) &&
	    !ps__os_is_event(group->members[0].fd))
		return fail_lost(perf);
	if (__builtin_expect(length < (ssize_t)(3 * sizeof(uint64_t)), 0))
		return fail_group_error(perf, group, times, values);
	if (__builtin_expect(is_detached(perf, group, sure_ns), 0))
		return store_carried(perf, group, times, values);
	return ps__perf_store_group(perf, group, times, values);
}

/* For each kind of cores one, of which that counts where the task is: they add up. What one can't
 * tell now stays as it was told last. */
static int read_chain(struct ps__perf *perf, struct ps__group *first, uint64_t *times,
                      uint64_t *values)
{
	int result = PS_OK;

	times[0] = 0;
	times[1] = 0;
	for (size_t place = 0; place < first->count; place++)
		values[first->members[place].event] = 0;
	for (struct ps__group *group = first; group; group = group->next) {
		int one = read_group(perf, group, group->own, group->own + 2);
		if (one != PS_OK && (result == PS_OK || one != PS_PARTIAL))
			result = one;
		times[0] = group->own[0] > times[0] ? group->own[0] : times[0];
		times[1] += group->own[1];
		for (size_t place = 0; place < group->count; place++)
			values[group->members[place].event] +=
			    group->own[2 + group->members[place].event];
	}
	return result;
}

/* In user space if the group can be read so and is on the hardware, else by read(2). */
static int read_cheapest(struct ps__perf *perf, struct ps__group *group, uint64_t *times,
                         uint64_t *values)
{
	if (!group->is_user_read || !ps__perf_user_read(group, times, values))
		return read_group(perf, group, times, values);
	times[0] += group->carry_enabled;
	times[1] += group->carry_running;
	return PS_OK;
}

/* Group by group. */
static int read_groups(struct ps__perf *perf, size_t instance, uint64_t *totals)
{
	const struct ps__backend *backend = &perf->base;
	uint64_t *values = totals + 2 * backend->groups;
	int result = ps__perf_read_residency(perf, instance);

	if (__builtin_expect(result != PS_OK, 0))
		return result;
	for (size_t index = 0; index < backend->groups; index++) {
		struct ps__group *group = &perf->instances[instance].groups[index];
		int one = __builtin_expect(group->next != NULL, 0)
		              ? read_chain(perf, group, totals + 2 * index, values)
		              : read_cheapest(perf, group, totals + 2 * index, values);
		if (__builtin_expect(one != PS_OK, 0) && (result == PS_OK || one != PS_PARTIAL))
			result = one;
	}
	return result;
}

/* A group in the error state gives nothing. */
static __attribute__((cold, noinline)) int refuse_direct(struct ps__perf *perf, size_t instance,
                                                         ssize_t length)
{
	if (length < 0)
		return fail_read(perf, &perf->instances[instance].groups[0]);
	return !ps__os_is_event(perf->instances[instance].direct_fd) ? fail_lost(perf)
	                                                             : PS__NOT_DIRECT;
}

PS__HOT int ps__perf_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	struct ps__perf *perf = perf_of(backend);
	int fd = perf->instances[instance].direct_fd;

	if (__builtin_expect(fd < 0, 0))
		return PS__NOT_DIRECT;
	ssize_t length = ps__os_read_retried(fd, totals - 1, perf->direct_bytes);
	if (__builtin_expect(
		length == (ssize_t)perf->direct_bytes && totals[-1] == perf->direct_members, 1))
		return PS_OK;
	return refuse_direct(perf, instance, length);
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
	/* A group that was in the error state has times to be added from then on. */
	perf->instances[instance].direct_fd = -1;
	perf->instances[instance].direct_user = NULL;
	if (__builtin_expect(perf->is_lost, 0))
		return fail_lost(perf);
	return read_groups(perf, instance, totals);
}

static void perf_close(struct ps__backend *backend, bool abandon)
{
	ps__perf_close_instances(perf_of(backend), abandon);
	ps__os_free_apart(backend);
}

static const struct ps__backend_ops perf_ops = {.open = perf_open,
                                                .start = perf_start,
                                                .read = perf_read,
                                                .read_direct = ps__perf_read_direct,
                                                .stop = perf_stop,
                                                .take_tasks = ps__perf_take_tasks,
                                                .take_uncounted = ps__perf_take_uncounted,
                                                .drain = ps__perf_drain,
                                                .close = perf_close};

const struct ps__backend_ops ps__perf_user_ops = {.open = perf_open,
                                                  .start = perf_start,
                                                  .read = perf_read,
                                                  .read_direct = ps__perf_user_read_direct,
                                                  .stop = perf_stop,
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
