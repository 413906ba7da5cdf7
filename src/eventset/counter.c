/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives programs the kernel's counters of a set. Also sets what the kernel does at each hit of an
 * event: a tracepoint's filter, or an eBPF program. Both are kept with the event, and applied to
 * each of its descriptors when that is opened (perf_event.c).
 */
#include "base/error.h"
#include "base/os.h"
#include "eventset/control.h"

#include <linux/perf_event.h>
#include <perfsage/counter.h>
#include <string.h>

struct walk {
	int (*visit)(const struct ps_counter *counter, void *context);
	void *context;
	const struct ps_eventset *set;
};

static int counter_visit(size_t event, pid_t tid, int cpu, int fd, void *context)
{
	const struct walk *walk = context;
	struct ps_counter counter = {
	    .size = sizeof counter, .event = event, .tid = tid, .cpu = cpu, .fd = fd};

	if (ps__os.ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&counter.id) < 0)
		return ps__fail(PS_ESYS, "'%s': ioctl PERF_EVENT_IOC_ID: %s",
		                walk->set->events.list[event].name, strerror(errno));
	return walk->visit(&counter, walk->context);
}

static int counter_check(const struct ps_eventset *set)
{
	if (set->counters.papi)
		return ps__fail(
		    PS_ENOSUPP,
		    "ps_eventset_for_each_counter: PAPI doesn't tell the descriptors of "
		    "event set %d",
		    set->counters.papi->id);
	if (set->state == PS__SET_NEW || !set->counters.backend)
		return ps__fail(PS_ENOTRUN, "ps_eventset_for_each_counter: no counters are open: "
		                            "call ps_start first");
	return PS_OK;
}

int ps_eventset_for_each_counter(struct ps_eventset *set,
                                 int (*visit)(const struct ps_counter *counter, void *context),
                                 void *context)
{
	struct walk walk = {.visit = visit, .context = context, .set = set};
	int result = ps__set_enter(set, "ps_eventset_for_each_counter");

	if (result != PS_OK)
		return result;
	result = visit ? counter_check(set)
	               : ps__fail(PS_EINVAL, "ps_eventset_for_each_counter: visit is NULL");
	if (result == PS_OK)
		result = set->counters.backend->ops->visit_counters(set->counters.backend,
		                                                    counter_visit, &walk);
	ps__set_leave(set);
	return result;
}

static int counter_check_event(const struct ps_eventset *set, size_t event, const char *call,
                               bool takes_probes)
{
	int result = ps__set_check_index(set, event, call);

	if (result != PS_OK)
		return result;
	const struct ps__event *what = &set->events.list[event];
	if (what->unsupported)
		return ps__fail(PS_ENOSUPP, "%s: '%s' can't be counted here", call, what->name);
	if (what->attr.type == PERF_TYPE_TRACEPOINT || (takes_probes && what->is_probe))
		return PS_OK;
	return ps__fail(
	    PS_ENOSUPP,
	    takes_probes ? "%s: '%s' is no tracepoint, kprobe or uprobe: only these take a program"
			 : "%s: '%s' is no tracepoint: only tracepoints take a filter",
	    call, what->name);
}

static int counter_set_filter(struct ps_eventset *set, size_t event, const char *filter)
{
	int result = counter_check_event(set, event, "ps_eventset_set_filter", false);

	if (result != PS_OK)
		return result;
	struct ps__event tried = set->events.list[event];
	tried.control.filter = NULL;
	if (filter && *filter) {
		tried.control.filter = ps__os_strdup(filter);
		result = tried.control.filter ? ps__perf_probe_filter(&tried)
		                              : ps__fail_memory("the filter of an event");
	}
	if (result != PS_OK) {
		ps__os_free(tried.control.filter);
		return result;
	}
	ps__set_close(set);
	ps__os_free(set->events.list[event].control.filter);
	set->events.list[event].control.filter = tried.control.filter;
	return PS_OK;
}

static int counter_set_bpf(struct ps_eventset *set, size_t event, int program_fd)
{
	int result = counter_check_event(set, event, "ps_eventset_set_bpf", true);

	if (result != PS_OK)
		return result;
	if (program_fd < -1)
		return ps__fail(PS_EINVAL,
		                "ps_eventset_set_bpf: %d is no descriptor: was the program loaded? "
		                "-1 detaches",
		                program_fd);
	struct ps__event tried = set->events.list[event];
	tried.control.has_bpf = program_fd >= 0;
	tried.control.bpf_fd = program_fd;
	if (program_fd >= 0)
		result = ps__perf_probe_bpf(&tried);
	if (result != PS_OK)
		return result;
	ps__set_close(set);
	set->events.list[event].control = tried.control;
	return PS_OK;
}

int ps_eventset_set_filter(struct ps_eventset *set, size_t event, const char *filter)
{
	int result = ps__set_enter_own(set, "ps_eventset_set_filter",
	                               "make a set with ps_eventset_create, which has filters");

	if (result != PS_OK)
		return result;
	result = counter_set_filter(set, event, filter);
	ps__set_leave(set);
	return result;
}

int ps_eventset_set_bpf(struct ps_eventset *set, size_t event, int program_fd)
{
	int result = ps__set_enter_own(set, "ps_eventset_set_bpf",
	                               "make a set with ps_eventset_create, which has programs");

	if (result != PS_OK)
		return result;
	result = counter_set_bpf(set, event, program_fd);
	ps__set_leave(set);
	return result;
}
