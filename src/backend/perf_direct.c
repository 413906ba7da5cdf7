/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the totals of an instance by one read(2). Notices descriptors that no longer belong to
 * perfsage. Reads totals for another thread; this changes nothing that the counted thread uses. */
#include "arch/arch.h"
#include "backend/perf.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Larger groups aren't peeked at, because the values are read onto the stack. */
#define MOST_MEMBERS 64

/* From this call on nothing is read: a read could take bytes out of a pipe of the program's. */
__attribute__((cold, noinline)) int ps__perf_fail_lost(struct ps__perf *perf)
{
	perf->losses = PS__PERF_LOST;
	for (size_t instance = 0; instance < perf->base.instances; instance++) {
		perf->instances[instance].direct_fd = -1;
		perf->instances[instance].direct_user = NULL;
	}
	return ps__fail(
	    PS_ECLOST,
	    "the program has closed descriptors of the event set, which are perfsage's, "
	    "and may have opened files of its own under their numbers: start sets after "
	    "a loop that closes all descriptors, or leave out what it didn't open; "
	    "destroy this set, and count with a clone (ps_eventset_clone); a thread of a "
	    "profile leaves it, and joins anew (ps_profile_leave, ps_profile_join)");
}

static bool direct_has_group(const struct ps__perf *perf, const struct ps__group *group)
{
	for (size_t index = 0; index < ps__perf_member_count(perf, group); index++) {
		const struct ps__member *member = &group->members[index];
		if (member->fd >= 0 && !ps__os_is_event_of(member->fd, member->id))
			return false;
	}
	return true;
}

static bool direct_has_instance(const struct ps__perf *perf, const struct ps__instance *instance)
{
	for (size_t number = 0; instance->groups && number < perf->base.groups; number++) {
		for (const struct ps__group *group = &instance->groups[number]; group;
		     group = group->next) {
			if (!direct_has_group(perf, group))
				return false;
		}
	}
	return !perf->base.residency_ns || instance->residency_fd < 0 ||
	       ps__os_is_event_of(instance->residency_fd, instance->residency_id);
}

/* Checks all descriptors: the loss may be of another set, or of a call that is still in progress.
 * Recorders aren't checked: their events live as long as their rings are mapped, whatever happens
 * to the descriptors. */
__attribute__((cold, noinline)) bool ps__perf_look(struct ps__perf *perf)
{
	uint64_t losses = atomic_load(&ps__os_losses);
	bool has_all = perf->losses != PS__PERF_LOST;

	for (size_t index = 0; has_all && index < perf->base.instances; index++)
		has_all = direct_has_instance(perf, &perf->instances[index]);
	for (size_t index = 0; has_all && index < perf->base.clock_count; index++) {
		const struct ps__clock_time *clock = &perf->base.clocks[index];
		has_all = clock->fd < 0 || ps__os_is_event_of(clock->fd, clock->id);
	}
	has_all = has_all && ps__perf_has_tasks(perf);
	perf->losses = has_all ? ps__kept_over(losses) : PS__PERF_LOST;
	return !has_all;
}

__attribute__((cold)) int ps__perf_fail_read(struct ps__perf *perf, const struct ps__group *group)
{
	int error = errno;

	if (!ps__os_is_event(group->members[0].fd))
		return ps__perf_fail_lost(perf);
	const char *name = perf->events[group->members[0].event].name;
	if (error == ECHILD)
		return ps__fail(PS_ESYS,
		                "'%s': read: a child process has inherited a part of the "
		                "event's group only; it may be readable later",
		                name);
	return ps__fail(PS_ESYS, "'%s': read: %s", name, strerror(error));
}

/* Explains a short read. A group in the error state gives no bytes: PS__NOT_DIRECT. */
static __attribute__((cold, noinline)) int refuse_direct(struct ps__perf *perf, size_t instance,
                                                         ssize_t length)
{
	if (length < 0)
		return ps__perf_fail_read(perf, &perf->instances[instance].groups[0]);
	return !ps__os_is_event(perf->instances[instance].direct_fd) ? ps__perf_fail_lost(perf)
	                                                             : PS__NOT_DIRECT;
}

/* Reads inline, without a call, if no test has replaced read(2). After a system call the CPU
 * predicts the returns to earlier callers wrongly, which costs 8 ns on Zen. */
PS__INLINE ssize_t direct_read(int fd, void *buffer, size_t size_bytes)
{
	if (__builtin_expect(ps__os.read == ps__os_real_read, 1)) {
		long length = ps__arch_read(fd, buffer, size_bytes);
		if (__builtin_expect(length >= 0, 1))
			return length;
	}
	return ps__os_read_retried(fd, buffer, size_bytes);
}

PS__HOT int ps__perf_read_direct(struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	int fd = perf->instances[instance].direct_fd;

	if (__builtin_expect(fd < 0, 0))
		return PS__NOT_DIRECT;
	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	ssize_t length = direct_read(fd, totals - 1, perf->direct_bytes);
	if (__builtin_expect(
		length == (ssize_t)perf->direct_bytes && totals[-1] == perf->direct_members, 1))
		return PS_OK;
	return refuse_direct(perf, instance, length);
}

/* Reads a group's values for another thread. The program may put a file of its own under the
 * descriptor's number at any time, and that must not be read. So this reads from a duplicate, whose
 * number the program doesn't know, after checking it. Returns the length, or -1. */
static ssize_t direct_peek(const struct ps__member *leader, void *buffer, size_t size_bytes)
{
	bool is_real = ps__os.read == ps__os_real_read;
	int fd = is_real ? fcntl(leader->fd, F_DUPFD_CLOEXEC, 0) : leader->fd;
	ssize_t length = -1;

	if (fd >= 0 && ps__os_is_event_of(fd, leader->id))
		length = ps__os_read_retried(fd, buffer, size_bytes);
	if (fd >= 0 && is_real)
		ps__os.close(fd);
	return length;
}

static int peek_group(const struct ps__group *group, uint64_t *times, uint64_t *values)
{
	uint64_t buffer[3 + MOST_MEMBERS];
	size_t members = group->count + group->extras;
	size_t wanted_bytes = (3 + members) * sizeof buffer[0];

	if (group->next || group->stands_in || members > MOST_MEMBERS || group->members[0].fd < 0)
		return PS__NOT_DIRECT;
	if (direct_peek(&group->members[0], buffer, wanted_bytes) != (ssize_t)wanted_bytes ||
	    buffer[0] != members)
		return PS__NOT_DIRECT;
	for (size_t place = 0; place < group->count; place++)
		values[group->members[place].event] =
		    ps__perf_member_total(&group->members[place], buffer[3 + place]);
	times[0] = buffer[1] + group->carry_enabled;
	times[1] = buffer[2] + group->carry_running;
	return PS_OK;
}

/* PS__NOT_DIRECT if groups take turns: only the counted thread knows how long each waited. */
int ps__perf_peek(const struct ps__backend *backend, size_t instance, uint64_t *totals)
{
	const struct ps__perf *perf = (const struct ps__perf *)backend;
	uint64_t *values = totals + 2 * backend->groups;
	int result = backend->residency_ns ? PS__NOT_DIRECT : PS_OK;

	for (size_t index = 0; result == PS_OK && index < backend->groups; index++)
		result = peek_group(&perf->instances[instance].groups[index], totals + 2 * index,
		                    values);
	return result;
}
