/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up one reading of a Thread by event and timestamp, without a lock, while a writer may be at
 * work. readings.c lists all readings. */
#include "store/attrmap.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/hot.h"
#include "base/identity.h"
#include "base/list.h"

#include <perfsage/thread.h>
#include <string.h>

static inline const struct ps__column *attrmap_find_column(const struct ps__recording *recording,
                                                           const char *event)
{
	const struct ps__column *end = recording->column + recording->columns;
	uint16_t start = ps__name_start(event);

	for (const struct ps__column *column = recording->column; column < end; column++) {
		if (column->start == start && strcmp(column->name, event) == 0)
			return column;
	}
	return NULL;
}

/* A reader spins this often, and then sleeps. The sleep gives the CPU to a writer that waits for
 * it. */
#define MOST_SPINS 1000
#define PAUSE_NS   50000

uint64_t ps__recording_wait(const struct ps__recording *recording)
{
	for (unsigned spins = 0;; spins++) {
		uint64_t sequence =
		    atomic_load_explicit(&recording->sequence, memory_order_acquire);
		if (!(sequence & 1) || !ps__fork_is_same(recording->generation))
			return sequence;
		if (spins >= MOST_SPINS)
			ps__cancel_free_sleep(PAUSE_NS);
	}
}

ptrdiff_t ps__recording_find(const struct ps__recording *recording, const char *event)
{
	const struct ps__column *column = attrmap_find_column(recording, event);

	return column ? column - recording->column : -1;
}

const char *ps__topology_shown_name(const struct ps_topology *topology, const char *event)
{
	const char *shown = NULL;

	for (const struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		/* A shown name never means another event. */
		if (ps__recording_find(recording, event) >= 0)
			return NULL;
		for (size_t index = 0; index < recording->columns; index++) {
			const struct ps__column *column = &recording->column[index];
			if (column->added && strcmp(column->added, event) == 0)
				shown = column->name;
		}
	}
	return shown;
}

/* A mark has the same flags as a value, shifted left. */
#define FLAG_SHIFT 3
_Static_assert(PS__MARK_MOVED >> FLAG_SHIFT == PS_VALUE_MOVED, "flags in the order of values'");
_Static_assert(PS__MARK_WENT_BACK >> FLAG_SHIFT == PS_VALUE_WENT_BACK,
               "flags in the order of values'");
_Static_assert(PS__MARK_ENDED >> FLAG_SHIFT == PS_VALUE_ENDED, "flags in the order of values'");
_Static_assert(PS__MARK_INTERRUPTED >> FLAG_SHIFT == PS_VALUE_INTERRUPTED,
               "flags in the order of values'");
_Static_assert(PS__MARK_SATURATED >> FLAG_SHIFT == PS_VALUE_SATURATED,
               "flags in the order of values'");
#define VALUE_FLAGS                                                                    \
	(PS_VALUE_MOVED | PS_VALUE_WENT_BACK | PS_VALUE_ENDED | PS_VALUE_INTERRUPTED | \
	 PS_VALUE_SATURATED)

static inline uint32_t attrmap_value_flags(uint16_t mark)
{
	return (uint32_t)mark >> FLAG_SHIFT & VALUE_FLAGS;
}

/*
 * Sets the status of an event that some kind of cores lacks. On these cores the event is not
 * supported. But counts from elsewhere that were attributed to such a core (last-cpu) are shown. A
 * last-cpu value is not scaled, because time on cores that lack the event looks like time of
 * waiting for a counter.
 */
static void attrmap_settle_kind(struct ps_value *value, const char *cpus,
                                const struct ps_thread *thread)
{
	bool is_lacking = thread && thread->cpu >= 0 && !ps__list_contains(cpus, thread->cpu);

	if (is_lacking && value->raw == 0) {
		value->status = PS_STATUS_NOT_SUPPORTED;
		value->enabled_ns = 0;
		value->running_ns = 0;
	}
	if (value->attribution == PS_ATTRIBUTION_LAST_CPU && value->status == PS_STATUS_SCALED)
		ps__value_lacks(value);
}

/*
 * One row's words for one column. They are few enough for the processor's registers, so nothing is
 * stored in memory before the row is known to be complete.
 */
struct cell {
	uint64_t timestamp;
	uint64_t raw;
	uint64_t enabled_ns;
	uint64_t running_ns;
	uint16_t mark;
};

/*
 * Loads one row's words. The loads pair with the releases of the set's write.c. timestamp: the
 * row's timestamp, or 0 if it is not known yet. Returns false if there is no row, perhaps because a
 * writer changed the history meanwhile.
 */
PS__INLINE bool load_cell(struct ps__history_row row, const struct ps__column *column,
                          uint64_t timestamp, struct cell *out)
{
	if (__builtin_expect(!row.words, 0)) {
		*out = (struct cell){0};
		return false;
	}
	const _Atomic uint64_t *times = row.words + column->times;
	out->mark = atomic_load_explicit(row.mark, memory_order_acquire);
	/* The newest row is never gone. */
	if (timestamp && __builtin_expect(out->mark & PS__MARK_GONE, 0)) {
		*out = (struct cell){0};
		return false;
	}
	out->timestamp =
	    timestamp ? timestamp : atomic_load_explicit(&row.words[0], memory_order_acquire);
	out->raw = atomic_load_explicit(&row.words[column->word], memory_order_acquire);
	out->enabled_ns = atomic_load_explicit(&times[0], memory_order_acquire);
	out->running_ns = atomic_load_explicit(&times[1], memory_order_acquire);
	return true;
}

/* Sets status, value and flags: from the group's times, and from the column unless ps_store stored
 * the value. */
static __attribute__((noinline)) void attrmap_qualify(const struct ps__history *history,
                                                      const struct ps__column *column,
                                                      uint16_t mark, struct ps_value *out)
{
	uint64_t paused_from = atomic_load_explicit(&column->paused_from, memory_order_relaxed);

	if (paused_from && out->timestamp >= paused_from)
		out->flags |= PS_VALUE_PAUSED;
	if (column->group == PS__NO_GROUP) {
		out->enabled_ns = 0;
		out->running_ns = 0;
	}
	if (out->running_ns < out->enabled_ns) {
		ps__value_estimate(out);
		if (mark & PS__MARK_TOOK_TURNS && out->attribution < PS_ATTRIBUTION_MIXED)
			out->attribution = PS_ATTRIBUTION_MIXED;
	}
	if (mark & PS__MARK_STORED)
		return;
	if (column->is_estimate)
		out->status = PS_STATUS_SCALED;
	if (column->group == PS__NO_GROUP || column->place != history->place)
		out->status = PS_STATUS_NOT_SUPPORTED;
	if (column->cpus)
		attrmap_settle_kind(out, column->cpus, history->thread);
	if (ps__value_is_known(out) && mark & PS__MARK_INCOMPLETE)
		ps__value_lacks(out);
}

PS__INLINE void show_cell(const struct cell *cell, const struct ps__history *history,
                          const struct ps__column *column, struct ps_value *out)
{
	out->timestamp = cell->timestamp;
	out->raw = cell->raw;
	out->enabled_ns = cell->enabled_ns;
	out->running_ns = cell->running_ns;
	out->attribution = (enum ps_attribution)(cell->mark & PS__MARK_ATTRIBUTION);
	out->flags = attrmap_value_flags(cell->mark) | column->flags;
	out->value = (long long)cell->raw;
	out->status = PS_STATUS_COUNTED;
	/* Most values are complete here. */
	uint32_t plain = atomic_load_explicit(&column->plain, memory_order_relaxed);
	if (__builtin_expect(history->place != plain || out->running_ns < out->enabled_ns ||
	                         cell->mark & PS__MARK_INCOMPLETE,
	                     0))
		attrmap_qualify(history, column, cell->mark, out);
}

bool ps__history_show(const struct ps__history *history, struct ps__history_row row, size_t column,
                      struct ps_value *out)
{
	const struct ps__column *what = &history->recording->column[column];
	struct cell cell;

	if (!load_cell(row, what, 0, &cell))
		return false;
	show_cell(&cell, history, what, out);
	return true;
}

bool ps__recording_value(const struct ps__history *history, size_t row, size_t column,
                         struct ps_value *out)
{
	return ps__history_show(history,
	                        ps__history_row_of(history, ps__history_chunk(history, row), row),
	                        column, out);
}
/* Tries once to load the newest part in one history. */
PS__INLINE bool load_newest(const struct ps__history *history, const struct ps__column *column,
                            struct cell *out)
{
	size_t count = atomic_load_explicit(&history->count, memory_order_acquire);
	struct ps__chunk *chunk = count ? ps__history_chunk(history, count - 1) : NULL;

	return load_cell(ps__history_row_of(history, chunk, count - 1), column, 0, out);
}

/* Loads the part with this timestamp (0: the newest) in one history. False if there is none. */
static __attribute__((noinline)) bool read_cell(const struct ps__history *history,
                                                const struct ps__column *column, uint64_t timestamp,
                                                struct cell *out)
{
	uint64_t sequence;
	bool found;

	do {
		sequence = ps__recording_read_begin(history->recording);
		found = timestamp ? load_cell(ps__history_row_at(history, timestamp), column,
		                              timestamp, out)
		                  : load_newest(history, column, out);
	} while (__builtin_expect(ps__recording_read_retry(history->recording, sequence), 0));
	return found;
}

static int attrmap_find_reading(const struct ps_thread *thread, const char *event,
                                uint64_t timestamp, struct ps_value *out);

/* Looks up an event that is not shown under this name. The event may have been added under this
 * name, and be shown under another one. */
static __attribute__((cold)) int attrmap_find_added(const struct ps_thread *thread,
                                                    const char *event, uint64_t timestamp,
                                                    struct ps_value *out)
{
	const char *shown = ps__topology_shown_name(thread->component->topology, event);

	if (shown)
		return attrmap_find_reading(thread, shown, timestamp, out);
	return ps__fail(PS_ENOEVNT, "no event set has counted '%s' on CPU %d", event, thread->cpu);
}

static int attrmap_fail_reading(const struct ps_thread *thread, const char *event,
                                uint64_t timestamp)
{
	return ps__fail(PS_ENOEVST, "'%s' has no reading with timestamp %llu on CPU %d", event,
	                (unsigned long long)timestamp, thread->cpu);
}

/* Finds the part with this timestamp (0: the newest) in all histories. Adds up the parts of several
 * histories that have the same timestamp. */
static __attribute__((noinline)) int attrmap_find_reading(const struct ps_thread *thread,
                                                          const char *event, uint64_t timestamp,
                                                          struct ps_value *out)
{
	struct ps_value sum;
	size_t parts = 0;
	bool is_known = false;

	for (const struct ps__history *history = ps__thread_first_history(thread); history;
	     history = history->next_in_thread) {
		const struct ps__column *column = attrmap_find_column(history->recording, event);
		struct ps_value part;
		struct cell cell;
		if (!column)
			continue;
		is_known = true;
		if (!read_cell(history, column, timestamp, &cell) ||
		    (parts && cell.timestamp < sum.timestamp))
			continue;
		show_cell(&cell, history, column, &part);
		if (parts && part.timestamp > sum.timestamp)
			parts = 0;
		ps__value_merge(&sum, &parts, &part);
	}
	if (!is_known)
		return attrmap_find_added(thread, event, timestamp, out);
	if (parts == 0)
		return attrmap_fail_reading(thread, event, timestamp);
	ps__value_finish(&sum);
	*out = sum;
	return PS_OK;
}

/* Looks once more in the thread's only history, because a writer may have been at work during the
 * first attempt. column: NULL if the history doesn't have the event. */
static __attribute__((noinline)) int read_again(const struct ps__history *history,
                                                const struct ps__column *column, const char *event,
                                                uint64_t timestamp, struct ps_value *out)
{
	struct cell cell;

	if (!column)
		return attrmap_find_added(history->thread, event, timestamp, out);
	if (!read_cell(history, column, timestamp, &cell))
		return attrmap_fail_reading(history->thread, event, timestamp);
	show_cell(&cell, history, column, out);
	return PS_OK;
}

/* Reads the thread's only history. A loop is avoided, because the compiler would keep all of the
 * loop's variables for the next round. */
PS__INLINE int read_once(const struct ps__history *history, const char *event, uint64_t timestamp,
                         bool is_newest, struct ps_value *out)
{
	const struct ps__recording *recording = history->recording;
	const struct ps__column *column = attrmap_find_column(recording, event);
	uint64_t sequence = atomic_load_explicit(&recording->sequence, memory_order_acquire);
	struct cell cell;
	bool found = column && !(sequence & 1) &&
	             (is_newest ? load_newest(history, column, &cell)
	                        : load_cell(ps__history_row_at(history, timestamp), column,
	                                    timestamp, &cell));

	if (__builtin_expect(!found || ps__recording_read_retry(recording, sequence), 0))
		return read_again(history, column, event, timestamp, out);
	show_cell(&cell, history, column, out);
	return PS_OK;
}

/* Two functions, as they need different registers. */
static __attribute__((noinline)) int read_newest(const struct ps__history *history,
                                                 const char *event, struct ps_value *out)
{
	return read_once(history, event, 0, true, out);
}

static __attribute__((noinline)) int read_at(const struct ps__history *history, const char *event,
                                             uint64_t timestamp, struct ps_value *out)
{
	return read_once(history, event, timestamp, false, out);
}

int ps_thread_reading(const struct ps_thread *thread, const char *event, uint64_t timestamp,
                      struct ps_value *out)
{
	if (__builtin_expect(!thread || !event || !out, 0))
		return ps__fail(PS_EINVAL,
		                "ps_thread_reading: thread, event and out must not be NULL");
	/* If only one event set has counted here, there is nothing to sum up, so nothing is
	 * copied. */
	const struct ps__history *history = ps__thread_first_history(thread);
	if (__builtin_expect(!history || history->next_in_thread, 0))
		return attrmap_find_reading(thread, event, timestamp, out);
	return timestamp ? read_at(history, event, timestamp, out)
	                 : read_newest(history, event, out);
}
