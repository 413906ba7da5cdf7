/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up system:name, as in sched:sched_switch: a place in the kernel, with the number that
 * tracefs gives for it. */
#include "base/error.h"
#include "base/os.h"
#include "event/lookup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* The mount point of tracefs; older systems have the second one. */
static const char *const roots[] = {"/sys/kernel/tracing/events",
                                    "/sys/kernel/debug/tracing/events"};
#define ROOT_COUNT (sizeof roots / sizeof *roots)

#define PATH_BYTES (2 * (NAME_MAX + 1) + 64)

struct tracepoint {
	const char *system, *name;
	size_t system_length, name_length;
};

static bool tracepoint_is_folder_name(const char *name, size_t length)
{
	return length > 0 && length <= NAME_MAX && name[0] != '.' && !memchr(name, '/', length);
}

/* Splits "sched:sched_switch" and leaves out modifiers; "cycles:u" and
 * "perf::PAGE-FAULTS" are no tracepoints. */
static bool tracepoint_split(const char *text, struct tracepoint *out)
{
	struct tracepoint point = {.system = text, .system_length = strcspn(text, ":")};

	if (text[point.system_length] != ':')
		return false;
	point.name = text + point.system_length + 1;
	point.name_length = strcspn(point.name, ":");
	if (!tracepoint_is_folder_name(point.system, point.system_length) ||
	    !tracepoint_is_folder_name(point.name, point.name_length) ||
	    ps__modifiers_are(point.name))
		return false;
	*out = point;
	return true;
}

/* Returns the name of the time that a tracepoint counts in nanoseconds (__perf_count in
 * include/trace/events/sched.h); NULL for tracepoints that count their hits. */
static const char *tracepoint_time(const char *name)
{
	static const struct {
		const char *name, *time;
	} times[] = {{"sched:sched_stat_runtime", "time that tasks ran"},
	             {"sched:sched_stat_wait", "time that tasks waited for a CPU"},
	             {"sched:sched_stat_sleep", "time that tasks slept"},
	             {"sched:sched_stat_blocked", "time that tasks were blocked"},
	             {"sched:sched_stat_iowait", "time that tasks waited for a device"}};

	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		size_t length = strlen(times[i].name);
		if (strncmp(name, times[i].name, length) == 0 &&
		    (name[length] == '\0' || name[length] == ':'))
			return times[i].time;
	}
	return NULL;
}

static int tracepoint_stop_at_first(const char *name, void *context)
{
	(void)name;
	(void)context;
	return 1;
}

/* Sets lookup->suspicion if there is a reason why no number was found: error (an errno) denied
 * access, or tracefs is not mounted. Returns PS__NOT_HERE. */
static int tracepoint_explain(struct ps__lookup *lookup, int error)
{
	if (error == EACCES || error == EPERM) {
		lookup->suspicion =
		    ps__fail(PS_EPERM,
		             "event '%s': if it is a tracepoint, its number can't be read: %s may "
		             "be entered by root alone (%s); 'mount -o remount,mode=755 "
		             "/sys/kernel/tracing' as root opens it",
		             lookup->name, roots[0], strerror(error));
		return PS__NOT_HERE;
	}
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		if (ps__os.list(roots[i], tracepoint_stop_at_first, NULL) == 1)
			return PS__NOT_HERE;
	}
	lookup->suspicion =
	    ps__fail(PS_ENOEVNT,
	             "event '%s': there is none of that name; if it is a tracepoint, tracefs is "
	             "not mounted: 'mount -t tracefs nodev /sys/kernel/tracing' as root mounts it",
	             lookup->name);
	return PS__NOT_HERE;
}

int ps__tracepoint_find(struct ps__event *event, struct ps__lookup *lookup)
{
	char path[PATH_BYTES];
	struct tracepoint point;
	long id;
	int denied = 0;

	if (!tracepoint_split(lookup->name, &point))
		return PS__NOT_HERE;
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		snprintf(path, sizeof path, "%s/%.*s/%.*s/id", roots[i], (int)point.system_length,
		         point.system, (int)point.name_length, point.name);
		int error = -ps__os_read_long(path, &id);
		if (error == EACCES || error == EPERM)
			denied = error;
		else if (error && error != ENOENT && error != ENOTDIR)
			return ps__event_fail_file(lookup->name, path, error);
		if (error)
			continue;
		event->attr.type = PERF_TYPE_TRACEPOINT;
		event->attr.config = (uint64_t)id;
		event->klass = PS__EVENT_CLASS_SOFTWARE;
		event->scope = PS_SCOPE_THREAD;
		if (tracepoint_time(lookup->name))
			snprintf(event->unit, sizeof event->unit, "ns");
		lookup->rest = point.name + point.name_length;
		return PS_OK;
	}
	return tracepoint_explain(lookup, denied);
}

struct system_visit {
	const char *system;
	int length;
	ps__name_visit *visit;
	void *context;
};

/* Skips the two files in a system's folder that are no tracepoints. */
static int tracepoint_visit_name(const char *name, void *context)
{
	struct system_visit *system = context;
	char full[PATH_BYTES];

	if (!strcmp(name, "enable") || !strcmp(name, "filter"))
		return 0;
	snprintf(full, sizeof full, "%.*s:%s", system->length, system->system, name);
	return system->visit(full, system->context);
}

int ps__tracepoint_for_each(const char *name, ps__name_visit *visit, void *context)
{
	char path[PATH_BYTES];
	struct tracepoint point;
	int stop = 0;

	if (!tracepoint_split(name, &point))
		return 0;
	struct system_visit system = {point.system, (int)point.system_length, visit, context};
	for (size_t i = 0; i < ROOT_COUNT && !stop; i++) {
		snprintf(path, sizeof path, "%s/%.*s", roots[i], (int)point.system_length,
		         point.system);
		stop = ps__os.list(path, tracepoint_visit_name, &system) > 0;
	}
	return stop;
}

struct listing {
	const char *root;
	ps__info_visit *visit;
	void *context;
	int stop;
};

/* Events without a number are ftrace's own records, which can't be counted. */
static int tracepoint_list_point(const char *name, void *context)
{
	struct listing *listing = context;
	const char *time = tracepoint_time(name);
	struct ps_event_info info = {.size = sizeof info,
	                             .name = name,
	                             .pmu = "tracepoint",
	                             .description = time ? time : "",
	                             .unit = time ? "ns" : "",
	                             .scope = PS_SCOPE_THREAD};
	char path[PATH_BYTES];
	const char *colon = strchr(name, ':');
	long id;

	snprintf(path, sizeof path, "%s/%.*s/%s/id", listing->root, (int)(colon - name), name,
	         colon + 1);
	int error = -ps__os_read_long(path, &id);
	if (error && !ps__event_is_shortage(error))
		return 0;
	listing->stop = error ? ps__event_fail_file(name, path, error)
	                      : listing->visit(&info, listing->context);
	return listing->stop != 0;
}

static int tracepoint_list_system(const char *name, void *context)
{
	struct listing *listing = context;
	struct system_visit system = {name, (int)strlen(name), tracepoint_list_point, listing};
	char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/%s", listing->root, name);
	if (ps__os.list(path, tracepoint_visit_name, &system) < 0 && ps__event_is_shortage(errno))
		listing->stop = ps__event_fail_file(name, path, errno);
	return listing->stop != 0;
}

int ps__tracepoint_list(ps__info_visit *visit, void *context)
{
	struct listing listing = {.visit = visit, .context = context};

	for (size_t i = 0; i < ROOT_COUNT; i++) {
		listing.root = roots[i];
		if (ps__os.list(roots[i], tracepoint_list_system, &listing) >= 0)
			break;
		if (ps__event_is_shortage(errno))
			return ps__event_fail_file("the list of tracepoints", roots[i], errno);
	}
	return listing.stop;
}
