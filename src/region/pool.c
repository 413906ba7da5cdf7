/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up the paths that several processes saved.
 *
 * Each process has extrapolated its own visits of sampled regions. If a process counted none of a
 * path's visits, their counts are in the path around. They are then estimated from the counts of
 * the other processes. The estimate is added to the path, and subtracted from the path around, on
 * the hardware threads where this process has its counts in the path around.
 */
#include "base/error.h"
#include "base/os.h"
#include "region/paths.h"
#include "store/attrmap.h"

#include <math.h>

/* True if the process counted none of the path's visits. If the path has parts, an open visit was
 * counted, and the process has extrapolated it. The parent is checked, because the root path can
 * have visits in a damaged file. */
static bool pool_has_none(const struct ps_path *path)
{
	return path->parent && path->visits.count > 0 && path->visits.counted == 0 && !path->parts;
}

/* True if the path's visits must be estimated: none of them was counted, and no path around it has
 * the same lack. */
static bool pool_is_to_be_estimated(const struct ps_path *path)
{
	const struct ps_path *outer = path->parent;

	/* First the cheap check: few paths need the walk. */
	if (!pool_has_none(path))
		return false;
	while (outer && !pool_has_none(outer))
		outer = outer->parent;
	return !outer;
}

static struct ps__other_visits *pool_get_others(struct ps_path *path,
                                                const struct ps_thread *thread)
{
	struct ps__other_visits *others = path->others;

	while (others && others->thread != thread)
		others = others->next;
	if (others)
		return others;
	others = ps__os_calloc(1, sizeof *others + path->paths->events * sizeof *others->visits);
	if (!others)
		return NULL;
	*others = (struct ps__other_visits){.next = path->others, .thread = thread};
	path->others = others;
	return others;
}

static double pool_count(const struct ps_value *value)
{
	return fmax((double)value->value, 0);
}

static double pool_time(const struct ps_value *value)
{
	return (double)value->enabled_ns;
}

static double pool_one(const struct ps_value *value)
{
	(void)value;
	return 1;
}

/* Divides the visits among the parts in proportion to their counts. If all counts are 0, takes the
 * times; if these are 0, too, makes equal shares. */
static void pool_spread_event(const struct ps_path *visit, size_t event)
{
	static double (*const weights[])(const struct ps_value *value) = {pool_count, pool_time,
	                                                                  pool_one};
	const struct ps__part *parts = visit->parent->parts;
	double sum = 0;
	size_t weight = 0;

	for (; sum <= 0; weight++) {
		for (const struct ps__part *part = parts; part; part = part->next)
			sum += weights[weight](&part->values[event]);
	}
	for (const struct ps__part *part = parts; part; part = part->next) {
		struct ps__other_visits *others = pool_get_others(visit->path, part->thread);
		others->visits[event] +=
		    (double)visit->visits.count * weights[weight - 1](&part->values[event]) / sum;
	}
}

static int pool_spread(const struct ps_path *visit)
{
	const struct ps__part *parts = visit->parent->parts;

	for (const struct ps__part *part = parts; part; part = part->next) {
		struct ps__other_visits *others = pool_get_others(visit->path, part->thread);
		enum ps_attribution attribution =
		    parts->next ? PS_ATTRIBUTION_MIXED : part->values[0].attribution;
		if (!others)
			return -1;
		if (others->attribution < attribution)
			others->attribution = attribution;
	}
	for (size_t event = 0; parts && event < visit->paths->events; event++)
		pool_spread_event(visit, event);
	return 0;
}

int ps__paths_add_process(struct ps_paths *paths, struct ps_paths *process)
{
	int result = 0;

	/* Unknown times become 0: they are estimated from the times of other processes. */
	for (struct ps_path *path = process->root; path; path = path->next_made) {
		if (pool_has_none(path))
			path->visits.wall_ns = path->visits.on_cpu_ns = 0;
	}
	result = ps__paths_add(paths, process);
	for (struct ps_path *path = process->root; path && result == 0; path = path->next_made) {
		path->path->pooled += pool_has_none(path) ? 0 : path->visits.count;
		if (!pool_is_to_be_estimated(path))
			continue;
		path->path->unchosen += path->visits.count;
		result = pool_spread(path);
	}
	return result == 0 ? PS_OK : ps__fail_memory("the paths of several processes");
}

static int pool_estimate(struct ps_paths **paths)
{
	struct ps_paths *pooled = ps__paths_estimate(*paths);

	if (!pooled)
		return ps__fail_memory("the paths of several processes");
	pooled->lacks_processes = (*paths)->lacks_processes;
	ps_paths_destroy(*paths);
	*paths = pooled;
	return PS_OK;
}

int ps__paths_pool(struct ps_paths **paths)
{
	const struct ps_path *path = (*paths)->root;

	while (path && !path->unchosen)
		path = path->next_made;
	int result = path ? pool_estimate(paths) : PS_OK;
	if (result != PS_OK)
		return result;
	ps__paths_doubt_uncounted(*paths);
	ps__paths_settle(*paths);
	return PS_OK;
}
