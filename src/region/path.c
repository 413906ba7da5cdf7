/* SPDX-License-Identifier: BSD-3-Clause */
/* Returns the counts and the visits of paths. */
#include "base/error.h"
#include "region/paths.h"
#include "region/profile.h"
#include "store/attrmap.h"
#include "store/recording.h"

#include <string.h>

const struct ps_path *ps_paths_root(const struct ps_paths *paths)
{
	return paths ? paths->root : NULL;
}

const char *ps_path_name(const struct ps_path *path)
{
	if (!path)
		return NULL;
	return path->region ? path->region->name : "";
}

const struct ps_path *ps_path_parent(const struct ps_path *path)
{
	return path ? path->parent : NULL;
}

const struct ps_path *ps_path_child(const struct ps_path *path)
{
	return path ? path->child : NULL;
}

const struct ps_path *ps_path_next(const struct ps_path *path)
{
	return path ? path->next : NULL;
}

const struct ps_path *ps_path_find(const struct ps_path *from, const char *const *names,
                                   size_t count)
{
	if (!names && count)
		return NULL;
	for (size_t index = 0; from && index < count; index++) {
		from = names[index] ? from->child : NULL;
		while (from && strcmp(from->region->name, names[index]) != 0)
			from = from->next;
	}
	return from;
}

const struct ps_path *ps__path_next_below(const struct ps_path *top, const struct ps_path *path)
{
	if (path->child)
		return path->child;
	while (path != top && !path->next)
		path = path->parent;
	return path == top ? NULL : path->next;
}

/* The sum of one event, and the number of its parts. */
struct path_sum {
	struct ps__range range;
	size_t event;
	size_t parts;
	unsigned doubt; /* of all paths, also of those without a part in range */
	struct ps_value value;
};

static void path_add_own(struct path_sum *sum, const struct ps_path *path)
{
	sum->doubt |= path->doubt;
	for (const struct ps__part *part = path->parts; part; part = part->next) {
		size_t index = ps__thread_index(part->thread);
		if (part->threads && index >= sum->range.first && index < sum->range.end)
			ps__value_merge(&sum->value, &sum->parts, &part->values[sum->event]);
	}
}

static void path_add(struct path_sum *sum, const struct ps_path *path, enum ps_share share)
{
	if (share == PS_SHARE_EXCLUSIVE) {
		path_add_own(sum, path);
		return;
	}
	for (const struct ps_path *below = path; below; below = ps__path_next_below(path, below))
		path_add_own(sum, below);
}

static int path_check(const struct ps_path *path, const struct ps_component *component,
                      enum ps_share share, const void *out, const char *call)
{
	if (!path || !component || !out)
		return ps__fail(PS_EINVAL, "%s: the %s is NULL", call,
		                !path        ? "path"
		                : !component ? "component"
		                             : "pointer for the result");
	if (share != PS_SHARE_EXCLUSIVE && share != PS_SHARE_INCLUSIVE)
		return ps__fail(PS_EINVAL, "%s: there is no share %d", call, (int)share);
	if (component->topology != path->paths->profile->root->topology)
		return ps__fail(PS_EINVAL, "%s: the component is of another topology", call);
	return PS_OK;
}

static int path_check_scope(const struct ps_path *path, const struct ps_component *component,
                            size_t event)
{
	enum ps_scope scope = ps_eventset_event_scope(path->paths->profile->model, event);

	if (ps__component_holds(component, scope))
		return PS_OK;
	return ps__fail(PS_EINVAL_DOM,
	                "one count of '%s' covers a whole %s: ask for a component that "
	                "consists of such",
	                ps_eventset_event_name(path->paths->profile->model, event),
	                ps_scope_name(scope));
}

static int path_finish(struct path_sum *sum, const char *name, const char *call,
                       struct ps_value *out)
{
	if (!sum->parts)
		return ps__fail(PS_ENOEVST,
		                "%s: '%s' was never on a hardware thread of that component", call,
		                name);
	if (sum->doubt & PS__HAS_UNSPLIT)
		sum->value.attribution = PS_ATTRIBUTION_LAST_CPU;
	ps__value_finish(&sum->value);
	*out = sum->value;
	return PS_OK;
}

static int path_find_event(const struct ps_path *path, const char *event, size_t *index,
                           const char *call)
{
	const struct ps_eventset *model = path->paths->profile->model;

	if (!event)
		return ps__fail(PS_EINVAL, "%s: the event is NULL", call);
	for (*index = 0; *index < path->paths->events; ++*index) {
		if (strcmp(ps_eventset_event_name(model, *index), event) == 0)
			return PS_OK;
	}
	return ps__fail(PS_ENOEVNT, "%s: the profile doesn't count '%s'", call, event);
}

static int path_value(const struct ps_path *path, const struct ps_component *component,
                      size_t event, enum ps_share share, struct ps_value *out, const char *call)
{
	struct path_sum sum = {.range = ps__component_range(component), .event = event};
	int result = path_check_scope(path, component, event);

	if (result != PS_OK)
		return result;
	path_add(&sum, path, share);
	return path_finish(&sum, ps_path_name(path), call, out);
}

int ps_path_value(const struct ps_path *path, const struct ps_component *component,
                  const char *event, enum ps_share share, struct ps_value *out)
{
	size_t index;
	int result = path_check(path, component, share, out, "ps_path_value");

	if (result == PS_OK)
		result = path_find_event(path, event, &index, "ps_path_value");
	return result == PS_OK ? path_value(path, component, index, share, out, "ps_path_value")
	                       : result;
}

int ps_path_values(const struct ps_path *path, const struct ps_component *component,
                   enum ps_share share, struct ps_value *values, size_t count)
{
	int result = path_check(path, component, share, values, "ps_path_values");

	if (result == PS_OK && count < path->paths->events)
		result = ps__fail(PS_EBUF,
		                  "ps_path_values: the array holds %zu values, and the profile "
		                  "has %zu events",
		                  count, path->paths->events);
	for (size_t event = 0; result == PS_OK && event < path->paths->events; event++)
		result =
		    path_value(path, component, event, share, &values[event], "ps_path_values");
	return result;
}

/* An estimate may be below 0: see estimate.c. */
static uint64_t path_least_time(uint64_t time_ns)
{
	return time_ns == UINT64_MAX || (int64_t)time_ns >= 0 ? time_ns : 0;
}

struct ps_visits ps__path_known_visits(const struct ps_path *path)
{
	struct ps_visits visits = path->visits;

	visits.wall_ns = path_least_time(visits.wall_ns);
	visits.on_cpu_ns = path_least_time(visits.on_cpu_ns);
	if (path->parent && visits.count == 0 && visits.wall_ns == 0)
		visits.wall_ns = visits.on_cpu_ns = UINT64_MAX;
	return visits;
}

int ps_path_visits(const struct ps_path *path, struct ps_visits *out)
{
	struct ps_visits visits;

	if (!path || !out)
		return ps__fail(PS_EINVAL, "ps_path_visits: the %s is NULL",
		                path ? "pointer for the result" : "path");
	if (out->size != sizeof *out)
		return ps__fail(PS_EINVAL,
		                "ps_path_visits: out->size is %zu, not %zu: set it to sizeof *out",
		                out->size, sizeof *out);
	visits = ps__path_known_visits(path);
	visits.size = sizeof visits;
	for (const struct ps_path *below = ps__path_next_below(path, path); below;
	     below = ps__path_next_below(path, below))
		visits.inside_ns += below->visits.wall_ns == UINT64_MAX ? 0 : below->visits.wall_ns;
	/* Keeps wall_ns + inside_ns equal to the measured time if a negative wall_ns is shown as
	 * 0. */
	if (visits.wall_ns != UINT64_MAX)
		visits.inside_ns += path->visits.wall_ns - visits.wall_ns;
	visits.inside_ns = path_least_time(visits.inside_ns);
	*out = visits;
	return PS_OK;
}

/* True if the path's innermost region has this name, without or with a number ("[level=3]"). */
static bool path_is_of(const struct ps_path *path, const char *name)
{
	const struct ps_region *base =
	    path->region ? atomic_load_explicit(&path->region->base, memory_order_acquire) : NULL;

	return strcmp(ps_path_name(path), name) == 0 || (base && strcmp(base->name, name) == 0);
}

static bool path_is_inside(const struct ps_path *path, const char *name)
{
	for (path = path->parent; path; path = path->parent) {
		if (path_is_of(path, name))
			return true;
	}
	return false;
}

int ps_paths_region_value(const struct ps_paths *paths, const char *name,
                          const struct ps_component *component, const char *event,
                          enum ps_share share, struct ps_value *out)
{
	static const char call[] = "ps_paths_region_value";
	struct path_sum sum = {0};
	int result = path_check(ps_paths_root(paths), component, share, out, call);

	if (result == PS_OK && !name)
		result = ps__fail(PS_EINVAL, "%s: the name is NULL", call);
	if (result == PS_OK)
		result = path_find_event(paths->root, event, &sum.event, call);
	if (result == PS_OK)
		result = path_check_scope(paths->root, component, sum.event);
	if (result != PS_OK)
		return result;
	sum.range = ps__component_range(component);
	bool was_entered = false;
	for (const struct ps_path *path = paths->root; path; path = path->next_made) {
		if (!path_is_of(path, name))
			continue;
		was_entered = true;
		if (share == PS_SHARE_EXCLUSIVE || !path_is_inside(path, name))
			path_add(&sum, path, share);
	}
	if (!was_entered)
		return ps__fail(PS_ENOEVST, "%s: no thread has entered a region '%s'", call, name);
	return path_finish(&sum, name, call, out);
}
