/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer of aggregates: a thread that destroys an event set. See
 * aggregate.h. */
#include "store/aggregate.h"

#include "base/cancel.h"
#include "base/identity.h"
#include "base/os.h"
#include "store/attrmap.h"

#include <string.h>

/* Time for which a reader sleeps while a change is under way. A change takes some stores, or a walk
 * over a set's events. */
#define PAUSE_NS 20000
/* The list is pruned only if at least this many of its recordings no longer count. */
#define LEAST_PRUNED ((size_t)8)

/* A value as words; the last one is status, attribution and flags. */
enum {
	WORD_TIMESTAMP,
	WORD_VALUE,
	WORD_RAW,
	WORD_ENABLED,
	WORD_RUNNING,
	WORD_HOW,
	WORDS
};
#define ATTRIBUTION_SHIFT 8
#define FLAGS_SHIFT       32

struct ps__aggregate_part {
	_Atomic uint64_t words[1]; /* WORDS for each column */
};

static uint64_t aggregate_load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static void aggregate_store(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_release);
}

static bool aggregate_unpack(const _Atomic uint64_t *words, struct ps_value *out)
{
	uint64_t how = aggregate_load(&words[WORD_HOW]);

	*out =
	    (struct ps_value){.timestamp = aggregate_load(&words[WORD_TIMESTAMP]),
	                      .value = (long long)aggregate_load(&words[WORD_VALUE]),
	                      .raw = aggregate_load(&words[WORD_RAW]),
	                      .enabled_ns = aggregate_load(&words[WORD_ENABLED]),
	                      .running_ns = aggregate_load(&words[WORD_RUNNING]),
	                      .status = (enum ps_status)(how & 0xff),
	                      .attribution = (enum ps_attribution)(how >> ATTRIBUTION_SHIFT & 0xff),
	                      .flags = (uint32_t)(how >> FLAGS_SHIFT)};
	return out->timestamp != 0;
}

static void aggregate_pack(_Atomic uint64_t *words, const struct ps_value *value)
{
	aggregate_store(&words[WORD_TIMESTAMP], value->timestamp);
	aggregate_store(&words[WORD_VALUE], (uint64_t)value->value);
	aggregate_store(&words[WORD_RAW], value->raw);
	aggregate_store(&words[WORD_ENABLED], value->enabled_ns);
	aggregate_store(&words[WORD_RUNNING], value->running_ns);
	aggregate_store(&words[WORD_HOW], (uint64_t)value->status |
	                                      (uint64_t)value->attribution << ATTRIBUTION_SHIFT |
	                                      (uint64_t)value->flags << FLAGS_SHIFT);
}

static struct ps__aggregate_part *part_at(const struct ps__aggregate *aggregate, size_t index)
{
	return atomic_load_explicit(&aggregate->parts[index], memory_order_acquire);
}

bool ps__aggregate_value(const struct ps__aggregate *aggregate, size_t index, size_t column,
                         struct ps_value *out)
{
	const struct ps__aggregate_part *part = part_at(aggregate, index);

	return part && aggregate_unpack(&part->words[column * WORDS], out);
}

uint64_t ps__change_wait(const struct ps_topology *topology)
{
	while (aggregate_load(&topology->readings.changers) != 0 &&
	       ps__fork_is_same(topology->generation))
		ps__cancel_free_sleep(PAUSE_NS);
	return aggregate_load(&topology->readings.changes);
}

bool ps__change_came(const struct ps_topology *topology, uint64_t changes)
{
	bool is_changing = aggregate_load(&topology->readings.changers) != 0 &&
	                   ps__fork_is_same(topology->generation);

	return is_changing || aggregate_load(&topology->readings.changes) != changes;
}

static bool aggregate_is_same_column(const struct ps__column *one, const struct ps__column *other)
{
	return one->scope == other->scope && strcmp(one->name, other->name) == 0;
}

static bool aggregate_has_same_columns(const struct ps__recording *one,
                                       const struct ps__recording *other)
{
	size_t column = 0;

	if (one->columns != other->columns)
		return false;
	while (column < one->columns &&
	       aggregate_is_same_column(&one->column[column], &other->column[column]))
		column++;
	return column == one->columns;
}

/* True if the newer recording has all events of the older one. */
static bool aggregate_covers(const struct ps__recording *newer, const struct ps__recording *older)
{
	size_t column = 0;

	if (aggregate_has_same_columns(newer, older))
		return true;
	while (column < older->columns &&
	       ps__recording_find(newer, older->column[column].name) >= 0)
		column++;
	return column == older->columns;
}

static bool aggregate_has_reading(const struct ps__recording *recording)
{
	return aggregate_load(&recording->latest) != 0;
}

/*
 * Finds the recording of a set that is to be added to an aggregate: the newest one with a reading.
 * *out is NULL if the set has no reading. Returns false if one recording is not enough, because an
 * older one has a reading of events that the newest one lacks.
 */
static bool aggregate_find_last(const struct ps__recording *recording,
                                const struct ps__recording **out)
{
	*out = NULL;
	for (; recording; recording = recording->older) {
		if (!aggregate_has_reading(recording))
			continue;
		if (*out && !aggregate_covers(*out, recording))
			return false;
		*out = *out ? *out : recording;
	}
	return true;
}

static struct ps__aggregate *aggregate_find(struct ps_topology *topology,
                                            const struct ps__recording *recording)
{
	struct ps__aggregate *first =
	    atomic_load_explicit(&topology->readings.aggregates, memory_order_relaxed);
	struct ps__aggregate *aggregate = first;

	while (aggregate && !aggregate_has_same_columns(aggregate->model, recording))
		aggregate = aggregate->next;
	if (aggregate)
		return aggregate;
	aggregate = ps__os_calloc(1, sizeof *aggregate +
	                                 (topology->thread_count + 1) * sizeof aggregate->parts[0]);
	if (!aggregate)
		return NULL;
	aggregate->model = recording;
	aggregate->next = first;
	atomic_store_explicit(&topology->readings.aggregates, aggregate, memory_order_release);
	return aggregate;
}

/* Returns the index of the Thread at which a part is added: the part's own Thread, or for a wider
 * scope the first Thread that the count covers. */
static size_t aggregate_index_of(const struct ps__history *history, const struct ps__column *column)
{
	const struct ps_component *thread = history->thread->component;

	if (column->scope == PS_SCOPE_THREAD)
		return ps__thread_index(history->thread);
	return ps__component_range(ps__component_covered(thread, column->scope)).first;
}

/* Allocates the words of every Thread at which a count will be added. Afterwards nothing can
 * fail. */
static bool aggregate_make_parts(struct ps__aggregate *aggregate,
                                 const struct ps__recording *recording)
{
	for (const struct ps__history *history = ps__recording_first_history(recording); history;
	     history = history->next_in_recording) {
		for (size_t column = 0; history->thread && column < recording->columns; column++) {
			size_t index = aggregate_index_of(history, &recording->column[column]);
			if (part_at(aggregate, index))
				continue;
			struct ps__aggregate_part *part =
			    ps__os_calloc(recording->columns * WORDS, sizeof part->words[0]);
			if (!part)
				return false;
			atomic_store_explicit(&aggregate->parts[index], part, memory_order_release);
		}
	}
	return true;
}

static void aggregate_add_part(struct ps__aggregate *aggregate, size_t index, size_t column,
                               const struct ps_value *value)
{
	_Atomic uint64_t *words = &part_at(aggregate, index)->words[column * WORDS];
	struct ps_value sum;
	size_t parts = aggregate_unpack(words, &sum);

	ps__value_merge(&sum, &parts, value);
	aggregate_pack(words, &sum);
}

/* Keeps the newest value instead of adding, because all sets see the same counter of a package. */
static void aggregate_take_newest(struct ps__aggregate *aggregate,
                                  const struct ps__recording *recording, size_t index,
                                  size_t column)
{
	_Atomic uint64_t *words = &part_at(aggregate, index)->words[column * WORDS];
	const struct ps_component *thread = recording->topology->threads[index].component;
	struct ps__range range =
	    ps__component_range(ps__component_covered(thread, recording->column[column].scope));
	struct ps_value value;

	if (ps__recording_sum(recording, column, range, 0, &value) > 0 &&
	    value.timestamp > aggregate_load(&words[WORD_TIMESTAMP]))
		aggregate_pack(words, &value);
}

static void aggregate_add_history(struct ps__aggregate *aggregate,
                                  const struct ps__recording *recording,
                                  const struct ps__history *history)
{
	size_t count = aggregate_load(&history->count);

	for (size_t column = 0; column < recording->columns; column++) {
		struct ps_value value;
		if (count == 0 || !ps__recording_value(history, count - 1, column, &value) ||
		    value.timestamp != aggregate_load(&recording->latest))
			continue;
		size_t index = aggregate_index_of(history, &recording->column[column]);
		if (recording->column[column].scope == PS_SCOPE_THREAD)
			aggregate_add_part(aggregate, index, column, &value);
		else
			aggregate_take_newest(aggregate, recording, index, column);
	}
}

/* Removes recordings that no longer count from the list, and returns how many are left. A removed
 * recording keeps its next pointer, so a reader that is at it can go on. */
static size_t aggregate_prune(struct ps_topology *topology)
{
	_Atomic(struct ps__recording *) *link = &topology->readings.current;
	struct ps__recording *recording = atomic_load_explicit(link, memory_order_acquire);
	size_t kept = 0;

	while (recording) {
		struct ps__recording *next =
		    atomic_load_explicit(&recording->next_current, memory_order_acquire);
		struct ps__recording *found = recording;
		if (ps__recording_is_current(recording)) {
			link = &recording->next_current;
			kept++;
		} else if (!atomic_compare_exchange_strong_explicit(
			       link, &found, next, memory_order_acq_rel, memory_order_acquire)) {
			/* Sets were bound meanwhile: their recordings are now in front of this
			 * one. */
			while (found != recording) {
				link = &found->next_current;
				found = atomic_load_explicit(link, memory_order_acquire);
			}
			continue;
		}
		recording = next;
	}
	return kept;
}

static void aggregate_retire(struct ps_topology *topology, struct ps__recording *recording)
{
	const struct ps__recording *last;
	struct ps__aggregate *aggregate = NULL;

	if (!aggregate_find_last(recording, &last))
		return;
	if (last) {
		aggregate = aggregate_find(topology, last);
		if (!aggregate || !aggregate_make_parts(aggregate, last))
			return;
	}
	ps__change_begin(topology);
	for (const struct ps__history *history = last ? ps__recording_first_history(last) : NULL;
	     history; history = history->next_in_recording) {
		if (history->thread)
			aggregate_add_history(aggregate, last, history);
	}
	atomic_store_explicit(&recording->is_retired, true, memory_order_release);
	ps__change_end(topology);
	atomic_fetch_add_explicit(&topology->readings.passed, 1, memory_order_relaxed);
}

/* Returns false for a destroyed topology, because nobody asks for its totals. Also false in a
 * forked child, where the lock's holder may be a thread that doesn't exist. */
static bool aggregate_try_lock(struct ps_topology *topology)
{
	if (ps__topology_is_destroyed(topology) || !ps__fork_is_same(topology->generation))
		return false;
	return pthread_mutex_lock(&topology->readings.lock) == 0;
}

/* Prunes the list each time as many recordings stopped counting as were left by the last prune. So
 * each recording costs one or two steps of a walk. */
static void aggregate_unlock(struct ps_topology *topology)
{
	size_t passed = atomic_load_explicit(&topology->readings.passed, memory_order_relaxed);

	if (passed >= LEAST_PRUNED && passed >= topology->readings.kept) {
		topology->readings.kept = aggregate_prune(topology);
		atomic_fetch_sub_explicit(&topology->readings.passed, passed, memory_order_relaxed);
	}
	pthread_mutex_unlock(&topology->readings.lock);
}

void ps__aggregate_retire(struct ps__recording *recording)
{
	struct ps_topology *topology = recording->topology;

	for (struct ps__recording *one = recording; one; one = one->older)
		one->is_left = true;
	if (!aggregate_try_lock(topology))
		return;
	aggregate_retire(topology, recording);
	aggregate_unlock(topology);
}

void ps__aggregate_tidy(struct ps_topology *topology)
{
	if (aggregate_try_lock(topology))
		aggregate_unlock(topology);
}

void ps__aggregate_free(struct ps_topology *topology)
{
	struct ps__aggregate *aggregate =
	    atomic_load_explicit(&topology->readings.aggregates, memory_order_relaxed);

	while (aggregate) {
		struct ps__aggregate *next = aggregate->next;
		for (size_t index = 0; index <= topology->thread_count; index++)
			ps__os_free(part_at(aggregate, index));
		ps__os_free(aggregate);
		aggregate = next;
	}
}

bool ps__aggregate_clear(struct ps_topology *topology)
{
	if (!aggregate_try_lock(topology))
		return false;
	ps__aggregate_free(topology);
	atomic_store_explicit(&topology->readings.aggregates, NULL, memory_order_release);
	for (struct ps__recording *recording = ps__recording_first(topology); recording;
	     recording = recording->next) {
		if (recording->is_left)
			atomic_store_explicit(&recording->is_retired, true, memory_order_release);
	}
	topology->readings.kept = aggregate_prune(topology);
	atomic_store_explicit(&topology->readings.passed, 0, memory_order_relaxed);
	pthread_mutex_unlock(&topology->readings.lock);
	return true;
}
