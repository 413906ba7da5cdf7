/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of the sweep. */
#include "tools/place_sweep.h"

static bool spot_is_idle(const struct place_spot *spot)
{
	return spot->is_allowed && spot->occupied == 0 && spot->holes == 0;
}

static bool spot_is_shared(const struct place_spot *spot)
{
	if (spot->is_unknown || spot->holes)
		return false;
	return (spot->is_core ? spot->running : spot->occupied) >= 2;
}

static uint64_t spot_clock(const struct place_sweep *sweep, const struct place_spot *spot)
{
	uint64_t now_ns = spot->is_core ? sweep->core_clock_ns : sweep->thread_clock_ns;

	return spot->clock_ns + (spot_is_shared(spot) ? now_ns - spot->since_ns : 0);
}

static uint64_t watched_clock(const struct place_sweep *sweep)
{
	return sweep->watched ? spot_clock(sweep, sweep->watched) : 0;
}

/* Brings the spot's clocks up to now. Called before the spot's numbers of tasks change. */
static void spot_settle(struct place_sweep *sweep, struct place_spot *spot)
{
	uint64_t watched_ns = watched_clock(sweep);

	if (spot_is_idle(spot)) {
		spot->idle_ns += watched_ns - spot->idle_since_ns;
		*(spot->is_core ? &sweep->idle_cores : &sweep->idle_threads) -= 1;
	}
	spot->clock_ns = spot_clock(sweep, spot);
	spot->since_ns = spot->is_core ? sweep->core_clock_ns : sweep->thread_clock_ns;
}

/* Restarts the spot's clocks. Called after the spot's numbers of tasks have changed. */
static void spot_resume(struct place_sweep *sweep, struct place_spot *spot)
{
	if (!spot_is_idle(spot))
		return;
	spot->idle_since_ns = watched_clock(sweep);
	*(spot->is_core ? &sweep->idle_cores : &sweep->idle_threads) += 1;
}

static void change_core(struct place_sweep *sweep, struct place_spot *core, enum place_kind kind,
                        int by)
{
	if (!core)
		return;
	spot_settle(sweep, core);
	unsigned *count = kind == PLACE_STAY  ? &core->occupied
	                  : kind == PLACE_RUN ? &core->running
	                                      : &core->holes;
	*count += (unsigned)by;
	spot_resume(sweep, core);
}

static void change_thread(struct place_sweep *sweep, struct place_spot *thread,
                          enum place_kind kind, int by)
{
	unsigned before = kind == PLACE_RUN ? thread->running : thread->occupied;

	spot_settle(sweep, thread);
	unsigned *count = kind == PLACE_STAY  ? &thread->occupied
	                  : kind == PLACE_RUN ? &thread->running
	                                      : &thread->holes;
	*count += (unsigned)by;
	spot_resume(sweep, thread);
	/* Counts of a core are numbers of hardware threads, not of tasks. */
	if (kind == PLACE_HOLE || (before == 0) != (*count == 0))
		change_core(sweep, thread->core, kind, by);
}

static void sweep_advance(struct place_sweep *sweep, uint64_t ns)
{
	uint64_t passed_ns = ns - sweep->now_ns;

	if (sweep->idle_threads && !sweep->open_holes)
		sweep->thread_clock_ns += passed_ns;
	if (sweep->idle_cores)
		sweep->core_clock_ns += passed_ns;
	sweep->now_ns = ns;
}

static void sweep_apply(struct place_sweep *sweep, const struct place_event *event)
{
	const struct place_segment *segment = event->segment;
	struct place_entry *entry = event->kind == PLACE_HOLE || segment->entry == SIZE_MAX
	                                ? NULL
	                                : &sweep->entries[segment->entry];

	sweep_advance(sweep, event->ns);
	if (entry && !event->is_begin)
		entry->ns += spot_clock(sweep, entry->spot) - entry->since_ns;
	if (event->kind == PLACE_HOLE)
		sweep->open_holes += event->is_begin ? 1 : (size_t)-1;
	change_thread(sweep, &sweep->threads[segment->thread], event->kind,
	              event->is_begin ? 1 : -1);
	if (entry && event->is_begin)
		entry->since_ns = spot_clock(sweep, entry->spot);
}

static void spots_reset(struct place_spot *spots, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		spots[i].clock_ns = spots[i].since_ns = 0;
		spots[i].idle_ns = spots[i].idle_since_ns = 0;
	}
}

static void spots_start(struct place_sweep *sweep, struct place_spot *spots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		spot_resume(sweep, &spots[i]);
}

static void spots_finish(struct place_sweep *sweep, struct place_spot *spots, size_t count)
{
	for (size_t i = 0; i < count; i++)
		spot_settle(sweep, &spots[i]);
}

/* After a sweep all counts are 0 again, so another one may follow. */
void place_sweep_run(struct place_sweep *sweep, const struct place_spot *watched)
{
	sweep->watched = watched;
	sweep->thread_clock_ns = sweep->core_clock_ns = 0;
	sweep->now_ns = sweep->event_count ? sweep->events[0].ns : 0;
	/* Reset all clocks before the first is read. */
	spots_reset(sweep->threads, sweep->thread_count);
	spots_reset(sweep->cores, sweep->core_count);
	spots_start(sweep, sweep->threads, sweep->thread_count);
	spots_start(sweep, sweep->cores, sweep->core_count);
	for (size_t i = 0; i < sweep->entry_count; i++)
		sweep->entries[i].ns = 0;
	for (size_t i = 0; i < sweep->event_count; i++)
		sweep_apply(sweep, &sweep->events[i]);
	spots_finish(sweep, sweep->threads, sweep->thread_count);
	spots_finish(sweep, sweep->cores, sweep->core_count);
}
