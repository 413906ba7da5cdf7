/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether the kernel takes what the user attaches to an event, and visits all descriptors of
 * a set. */
#include "backend/perf.h"
#include "base/error.h"
#include "base/os.h"

#include <string.h>
#include <unistd.h>

/* Opens the event on this thread, with filter and program, and closes it. Returns 0 or -errno. */
static int try_control(const struct ps__event *event)
{
	struct ps__event tried = *event;

	/* A program that another descriptor has attached is one that the event takes. */
	tried.control.is_attached = true;
	int fd = ps__perf_open_settled(&tried, (struct ps__place){.pid = 0, .cpu = -1}, -1);
	if (fd < 0)
		return fd;
	ps__os.close(fd);
	return 0;
}

static int counter_explain(const struct ps__event *event, int error)
{
	struct ps__target target = {.kind = PS__TARGET_SELF, .cpu = -1};

	return ps__perf_explain(event, target, error, 1);
}

/* The kernel answers a filter that it doesn't understand with EINVAL, EPERM, ENOENT and others. So
 * any error is about the filter if the event can be opened without it. */
int ps__perf_probe_filter(const struct ps__event *event)
{
	int error = -try_control(event);
	struct ps__event plain = *event;

	if (!error)
		return PS_OK;
	plain.control.filter = NULL;
	/* The kernel copies a filter into one page, with the NUL behind it. */
	size_t length = strlen(event->control.filter), most = (size_t)sysconf(_SC_PAGESIZE) - 1;
	if (length > most)
		return ps__fail(PS_EATTR,
		                "'%s': the filter has %zu bytes, and the kernel takes at most %zu",
		                event->name, length, most);
	bool is_short_of = error == EMFILE || error == ENFILE || error == ENOMEM;
	if (!is_short_of && (error == EINVAL || try_control(&plain) == 0))
		return ps__fail(
		    PS_EATTR,
		    "'%s': the kernel doesn't understand the filter '%s': the file "
		    "events/SYSTEM/NAME/format of tracefs lists the tracepoint's fields; a "
		    "filter of sched:sched_switch is \"prev_pid == 0 && next_prio < 100\"",
		    event->name, event->control.filter);
	return counter_explain(event, error);
}

int ps__perf_probe_bpf(const struct ps__event *event)
{
	int error = -try_control(event);

	if (error == EINVAL || error == EBADF)
		return ps__fail(
		    PS_EINVAL,
		    "'%s': descriptor %d is no eBPF program that this event takes (%s): "
		    "load one with bpf(2) of the type of a tracepoint or kprobe",
		    event->name, event->control.bpf_fd, strerror(error));
	return error ? counter_explain(event, error) : PS_OK;
}

static int visit_group(struct ps__perf *perf, const struct ps__instance *instance,
                       const struct ps__group *group, ps__counter_visit *visit, void *context)
{
	pid_t tid = instance->place.is_cgroup ? -1 : instance->place.pid;
	int result = 0;

	for (size_t place = 0; result == 0 && place < group->count; place++) {
		const struct ps__member *member = &group->members[place];
		bool has_event = member->fd >= 0 && !group->stands_in &&
		                 !perf->events[member->event].unsupported;
		if (has_event && !ps__os_is_event_of(member->fd, member->id))
			return ps__perf_fail_lost(perf);
		if (has_event)
			result =
			    visit(member->event, tid, instance->place.cpu, member->fd, context);
	}
	return result;
}

int ps__perf_visit_counters(struct ps__backend *backend, ps__counter_visit *visit, void *context)
{
	struct ps__perf *perf = (struct ps__perf *)backend;
	int result = 0;

	if (ps__perf_is_lost(perf))
		return ps__perf_fail_lost(perf);
	for (size_t index = 0; index < perf->base.instances; index++) {
		const struct ps__instance *instance = &perf->instances[index];
		for (size_t number = 0; number < perf->base.groups; number++) {
			for (const struct ps__group *group = &instance->groups[number];
			     group && result == 0; group = group->next)
				result = visit_group(perf, instance, group, visit, context);
		}
	}
	return result;
}
