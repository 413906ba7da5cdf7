/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extrapolates the counts of sampled regions.
 *
 * The factor f of a path is the number of its visits that could have been counted, divided by the
 * number of its visits that were counted. The counts of the path and of the paths below it are
 * multiplied by f. The counts of the uncounted visits are in the path around, and are subtracted
 * there. So the sum of all paths stays what the kernel counted. Sampled regions may nest: counts
 * below two of them are multiplied by both factors.
 *
 * A path that was sampled at several rates, or that is inside such paths, comes here as several raw
 * paths, one for each combination of rates. If a raw path has no counted visit, its counts are
 * estimated from the path's other raw paths.
 *
 * Processes are a sample, too (pool.c): f is then the number of visits in all processes, divided by
 * the number of visits in the processes that counted some. The counts that are added for the other
 * processes go to the hardware threads where those have their counts.
 */
#include "region/paths.h"
#include "region/profile.h"
#include "store/attrmap.h"

#include <math.h>

/* Returns a value of a raw path, multiplied by `factor`. */
static struct ps_value estimate_value(const struct ps_value *raw, double factor)
{
	struct ps_value value = *raw;

	value.value = llround((double)raw->value * factor);
	/* running_ns is not multiplied: so the coverage shows the share of counted visits, too. */
	value.enabled_ns = (uint64_t)llround((double)raw->enabled_ns * factor);
	value.flags |= PS_VALUE_SAMPLED;
	if (value.status == PS_STATUS_COUNTED)
		value.status = PS_STATUS_SCALED;
	return value;
}

/* Returns the negative value that is added to the path around. Its raw count and times are 0. */
static struct ps_value estimate_excess(const struct ps_value *raw, double factor)
{
	struct ps_value value = estimate_value(raw, -factor);

	value.raw = 0;
	value.enabled_ns = 0;
	value.running_ns = 0;
	return value;
}

static void estimate_add_times(struct ps_path *path, const struct ps_path *raw, double factor)
{
	/* A loaded path's times may be below 0. */
	path->estimate.wall_ns += factor * (double)(int64_t)raw->visits.wall_ns;
	path->estimate.on_cpu_ns += raw->visits.on_cpu_ns == UINT64_MAX
	                                ? (double)NAN
	                                : factor * (double)(int64_t)raw->visits.on_cpu_ns;
}

static int estimate_make_spread_parts(const struct ps_path *raw, const struct ps_path *inner)
{
	for (const struct ps__other_visits *spread = inner->others; spread; spread = spread->next) {
		if (!ps__paths_get_part(raw->path, spread->thread) ||
		    !ps__paths_get_part(inner->parent->path, spread->thread))
			return -1;
	}
	return 0;
}

static struct ps_value estimate_whole(const struct ps_path *raw, size_t event)
{
	struct ps_value whole = {0};
	size_t parts = 0;

	for (const struct ps__part *part = raw->parts; part; part = part->next)
		ps__value_merge(&whole, &parts, &part->values[event]);
	return whole;
}

static void estimate_spread_event(const struct ps_path *raw, const struct ps_path *inner,
                                  double excess, size_t event)
{
	struct ps_value whole = estimate_whole(raw, event);
	double visits = 0;

	for (const struct ps__other_visits *spread = inner->others; spread; spread = spread->next)
		visits += spread->visits[event];
	for (const struct ps__other_visits *spread = inner->others; spread; spread = spread->next) {
		double factor = excess * spread->visits[event] / visits;
		struct ps_value off = estimate_excess(&whole, factor), more = off;
		if (off.attribution < spread->attribution)
			off.attribution = more.attribution = spread->attribution;
		more.value = -off.value;
		more.enabled_ns = estimate_value(&whole, factor).enabled_ns;
		ps__paths_merge(ps__paths_get_part(raw->path, spread->thread), event, &more);
		ps__paths_merge(ps__paths_get_part(inner->parent->path, spread->thread), event,
		                &off);
	}
}

/* Adds to raw's path the counts for the visits of processes that counted none of inner's visits,
 * and subtracts these counts from the path around inner. Both happen on the hardware threads where
 * these processes have their counts in the path around inner. 0, or -1 if out of memory. */
static int estimate_spread(const struct ps_path *raw, const struct ps_path *inner, double excess)
{
	if (!raw->parts)
		return 0;
	if (estimate_make_spread_parts(raw, inner) < 0)
		return -1;
	for (size_t event = 0; event < raw->paths->events; event++)
		estimate_spread_event(raw, inner, excess, event);
	for (const struct ps__other_visits *spread = inner->others; spread; spread = spread->next) {
		ps__paths_get_part(raw->path, spread->thread)->threads++;
		ps__paths_get_part(inner->parent->path, spread->thread)->threads++;
	}
	return 0;
}

/* Returns the factor by which counts inside `inner` are subtracted from the path around it, which
 * contains the uncounted visits of `inner`. */
static double estimate_excess_factor(const struct ps_path *inner)
{
	return fmax(inner->parent->estimate.whole * (inner->estimate.factor - 1), 0);
}

/* Returns the value for the raw path's own path: the count, and all that is subtracted from the
 * paths around. These numbers are rounded already, so the sum over all paths stays the same. */
static struct ps_value estimate_own(const struct ps_path *raw, const struct ps_value *value,
                                    double factor)
{
	struct ps_value own = factor > 1 ? estimate_value(value, factor) : *value;

	own.value = value->value;
	for (const struct ps_path *inner = raw; factor > 1 && inner->parent;
	     inner = inner->parent) {
		if (!inner->others)
			own.value -= estimate_excess(value, estimate_excess_factor(inner)).value;
	}
	return own;
}

/* Returns the value for a path around. */
static struct ps_value estimate_outer(const struct ps_path *raw, const struct ps_value *value,
                                      double excess)
{
	(void)raw;
	return estimate_excess(value, excess);
}

/* Adds what `of` makes of the raw path's values. 0, or -1 if out of memory. */
static int estimate_add_parts(struct ps_path *path, const struct ps_path *raw, double factor,
                              struct ps_value (*of)(const struct ps_path *raw,
                                                    const struct ps_value *value, double factor))
{
	for (const struct ps__part *from = raw->parts; from; from = from->next) {
		struct ps__part *part = ps__paths_get_part(path, from->thread);
		if (!part)
			return -1;
		for (size_t event = 0; event < path->paths->events; event++) {
			struct ps_value value = of(raw, &from->values[event], factor);
			ps__paths_merge(part, event, &value);
		}
		part->threads += from->threads;
	}
	return 0;
}

/* Adds a raw path to its estimated path. Subtracts the extrapolated counts from each path around it
 * that contains counts of uncounted visits. */
static int estimate_add(const struct ps_path *raw)
{
	double factor = 1; /* for parts that stay on their hardware threads */
	int result = 0;

	estimate_add_times(raw->path, raw, raw->estimate.whole);
	if (raw->unchosen || raw->open)
		raw->parent->path->estimate.has_others = true;
	for (const struct ps_path *inner = raw; inner->parent && result == 0;
	     inner = inner->parent) {
		const struct ps_path *outer = inner->parent;
		double excess = estimate_excess_factor(inner);
		if (excess <= 0)
			continue;
		estimate_add_times(outer->path, raw, -excess);
		factor += inner->others ? 0 : excess;
		result = inner->others
		             ? estimate_spread(raw, inner, excess)
		             : estimate_add_parts(outer->path, raw, excess, estimate_outer);
	}
	return result == 0 ? estimate_add_parts(raw->path, raw, factor, estimate_own) : result;
}

static double estimate_counted(const struct ps_path *raw)
{
	return fmax((double)(raw->pooled ? raw->pooled : raw->visits.counted), 1);
}

/* True if a visit was counted; an open visit with counts is enough. */
static bool estimate_has_counted(const struct ps_path *raw)
{
	return raw->pooled || raw->visits.counted || raw->parts;
}

static double estimate_factor(const struct ps_path *raw)
{
	bool is_over = raw->unchosen || raw->pooled || raw->visits.counted;
	double counted = estimate_counted(raw);

	return (counted + (double)(is_over ? raw->unchosen : raw->open)) / counted;
}

/* Returns a factor for all raw paths of a path: the number of their visits, divided by the number
 * of visits of those raw paths that have a counted visit. The visits of each raw path are
 * multiplied by the factors of the paths around it. */
static double estimate_share(const struct ps_path *path)
{
	double visits = 0, known = 0;

	for (const struct ps_path *raw = path->estimate.same; raw; raw = raw->estimate.same) {
		double around = raw->parent ? raw->parent->estimate.whole : 1;
		bool has_counted = estimate_has_counted(raw);
		double own = has_counted ? estimate_counted(raw) * estimate_factor(raw)
		                         : (double)raw->unchosen;
		visits += around * own;
		known += has_counted ? around * own : 0;
	}
	return known > 0 ? visits / known : 1;
}

/* Computes the factors of a path's raw paths. The path around must have its factors already. */
static void estimate_weigh(struct ps_path *path)
{
	double share = estimate_share(path);

	for (struct ps_path *raw = path->estimate.same; raw; raw = raw->estimate.same) {
		raw->estimate.factor = share * estimate_factor(raw);
		raw->estimate.whole =
		    raw->estimate.factor * (raw->parent ? raw->parent->estimate.whole : 1);
	}
}

/* Labels all parts as sampled: each may have counts of uncounted visits, even after the
 * subtraction. */
static void estimate_label(struct ps_path *path)
{
	for (struct ps__part *part = path->parts; part; part = part->next) {
		for (size_t event = 0; event < path->paths->events; event++) {
			struct ps_value *value = &part->values[event];
			value->flags |= PS_VALUE_SAMPLED;
			if (value->status == PS_STATUS_COUNTED)
				value->status = PS_STATUS_SCALED;
		}
	}
}

/* Rounds an estimated time. A negative time is kept, modulo 2^64, so that the sum over all paths is
 * what was measured. Getters return 0 for it. Only an unknown time (NaN) becomes UINT64_MAX: -1
 * becomes 0. */
static uint64_t estimate_time(double time_ns)
{
	int64_t rounded = isnan(time_ns) ? -1 : (int64_t)llround(time_ns);

	return rounded == -1 && !isnan(time_ns) ? 0 : (uint64_t)rounded;
}

/* Makes the times of a path unknown: visits have ended, and none of them was counted. Adds the
 * times of an open visit to the path around. */
static void estimate_hide_times(struct ps_path *path)
{
	struct ps_path *outer = path->parent;
	uint64_t on_cpu_ns = estimate_time(path->estimate.on_cpu_ns);

	while (outer->parent && outer->visits.wall_ns == UINT64_MAX)
		outer = outer->parent;
	outer->visits.wall_ns += estimate_time(path->estimate.wall_ns);
	if (outer->visits.on_cpu_ns != UINT64_MAX)
		outer->visits.on_cpu_ns =
		    on_cpu_ns == UINT64_MAX ? UINT64_MAX : outer->visits.on_cpu_ns + on_cpu_ns;
	path->visits.wall_ns = UINT64_MAX;
	path->visits.on_cpu_ns = UINT64_MAX;
}

/* Sets a path's labels and times. The path around must be finished already. */
static void estimate_finish(struct ps_path *path)
{
	if (path->estimate.has_others) {
		path->doubt |= PS__HAS_UNCHOSEN;
		estimate_label(path);
	}
	if (path->visits.count && !path->visits.counted) {
		estimate_hide_times(path);
		return;
	}
	path->visits.wall_ns = estimate_time(path->estimate.wall_ns);
	path->visits.on_cpu_ns = estimate_time(path->estimate.on_cpu_ns);
}

static int estimate_make_path(struct ps_paths *paths, struct ps_path *raw)
{
	struct ps_path *above = raw->parent;

	raw->path = ps__paths_get_path(paths, above ? above->path : NULL, raw->region, NULL);
	if (!raw->path)
		return -1;
	raw->estimate.same = raw->path->estimate.same;
	raw->path->estimate.same = raw;
	ps__paths_add_visits(raw->path, raw);
	/* Numbers are added in each visit, counted or not, so they are not extrapolated. */
	for (const struct ps__value_sum *from = raw->values; from; from = from->next) {
		struct ps__value_sum *sum = ps__value_sum_get(raw->path, from->name);
		if (!sum)
			return -1;
		sum->sum += from->sum;
		sum->count += from->count;
	}
	return 0;
}

struct ps_paths *ps__paths_estimate(struct ps_paths *raw)
{
	struct ps_paths *paths = ps__paths_make(raw->profile, raw->events);
	int result = paths ? 0 : -1;

	for (struct ps_path *path = raw->root; path && result == 0; path = path->next_made)
		result = estimate_make_path(paths, path);
	for (struct ps_path *path = result == 0 ? paths->root : NULL; path; path = path->next_made)
		estimate_weigh(path);
	for (struct ps_path *path = raw->root; path && result == 0; path = path->next_made)
		result = estimate_add(path);
	if (result < 0) {
		ps_paths_destroy(paths);
		return NULL;
	}
	for (struct ps_path *path = paths->root; path; path = path->next_made)
		estimate_finish(path);
	return paths;
}
