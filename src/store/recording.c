/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a series: made by a set, bound to a topology, released with it. */
#include "store/recording.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "store/aggregate.h"

#include <time.h>

struct ps__series *ps__series_create(size_t columns, size_t groups)
{
	struct ps__series *series = ps__os_calloc_apart(1, sizeof *series + columns * sizeof(struct ps__column));

	if (!series)
		return NULL;
	series->columns = columns;
	series->groups = groups;
	series->generation = ps__fork_generation();
	ps__pool_init(&series->pool, 1 + ps__series_width(series));
	return series;
}

int ps__column_set_name(struct ps__column *column, const char *name)
{
	column->name = ps__os_strdup(name);
	if (!column->name)
		return -1;
	column->start = ps__name_start(name);
	return 0;
}

void ps__column_settle(const struct ps__series *series, struct ps__column *column)
{
	bool has_group = column->group != PS__NO_GROUP;

	column->word = (uint32_t)(1 + 2 * series->groups + (size_t)(column - series->column));
	column->times = has_group ? 1 + 2 * column->group : 0;
	column->plain = has_group && !column->is_estimate && !column->cpus ? column->place : UINT32_MAX;
}

int ps__column_copy(struct ps__column *out, const struct ps__column *model)
{
	*out = *model;
	out->cpus = NULL;
	if (ps__column_set_name(out, model->name) < 0)
		return -1;
	if (model->cpus)
		out->cpus = ps__os_strdup(model->cpus);
	return model->cpus && !out->cpus ? -1 : 0;
}

void ps__series_free(struct ps__series *series)
{
	struct ps__log *log = atomic_load_explicit(&series->logs, memory_order_relaxed);

	while (log) {
		struct ps__log *next = log->next_in_series;
		ps__log_clear(log);
		ps__os_free_apart(log);
		log = next;
	}
	ps__pool_clear(&series->pool);
	for (size_t index = 0; index < series->columns; index++) {
		ps__os_free(series->column[index].name);
		ps__os_free(series->column[index].cpus);
	}
	ps__os_free_apart(series);
}

/* Spins before it sleeps, and how long it sleeps: a writer that has to wait for the reader's CPU gets it. */
#define MOST_SPINS 1000
#define PAUSE_NS   50000

uint64_t ps__series_wait(const struct ps__series *series)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};

	for (unsigned spins = 0;; spins++) {
		uint64_t sequence = atomic_load_explicit(&series->sequence, memory_order_acquire);
		if (!(sequence & 1) || !ps__fork_is_same(series->generation))
			return sequence;
		if (spins < MOST_SPINS)
			continue;
		int cancel = ps__cancel_hold();
		nanosleep(&pause, NULL);
		ps__cancel_release(cancel);
	}
}

static void list_current(struct ps_topology *topology, struct ps__series *series)
{
	struct ps__series *next = atomic_load_explicit(&topology->readings.current, memory_order_relaxed);

	/* Pairs with the acquire of totals: who sees it sees its columns. */
	do
		atomic_store_explicit(&series->next_current, next, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&topology->readings.current, &next, series,
	                                              memory_order_release, memory_order_relaxed));
}

/* All readings of a topology. */
static void series_release_all(struct ps_topology *topology)
{
	struct ps__series *series = atomic_load_explicit(&topology->readings.series, memory_order_relaxed);

	ps__aggregate_free(topology);
	while (series) {
		struct ps__series *next = series->next;
		ps__series_free(series);
		series = next;
	}
}

int ps__series_bind(struct ps__series *series, struct ps_topology *topology, struct ps__series *older)
{
	if (!ps__topology_hold(topology))
		return ps__fail(PS_EINVAL,
		                "the topology was destroyed: load one that lives as long as its event sets");
	/* No pair: who frees the topology has acquired what its holders did. */
	atomic_store_explicit(&topology->readings.release, series_release_all, memory_order_relaxed);
	series->topology = topology;
	series->older = older;
	series->next = atomic_load_explicit(&topology->readings.series, memory_order_relaxed);
	/* Pairs with the acquire of those who walk the list: who sees it sees its columns. */
	while (!atomic_compare_exchange_weak_explicit(&topology->readings.series, &series->next, series,
	                                              memory_order_release, memory_order_relaxed))
		;
	if (!older) {
		list_current(topology, series);
		return PS_OK;
	}
	ps__change_begin(topology);
	list_current(topology, series);
	atomic_store_explicit(&older->newer, series, memory_order_release);
	ps__change_end(topology);
	atomic_fetch_add_explicit(&topology->readings.passed, 1, memory_order_relaxed);
	return PS_OK;
}

struct ps__log *ps__series_add_log(struct ps__series *series)
{
	struct ps__log *log = ps__os_calloc_apart(1, sizeof *log);

	if (!log)
		return NULL;
	if (ps__log_init(log, &series->pool, 1 + ps__series_width(series)) < 0) {
		ps__os_free_apart(log);
		return NULL;
	}
	log->series = series;
	log->next_in_series = atomic_load_explicit(&series->logs, memory_order_relaxed);
	/* Pairs with the acquire of the roll-up: who sees the log sees it empty, but whole. */
	atomic_store_explicit(&series->logs, log, memory_order_release);
	return log;
}

void ps__series_attach_log(struct ps__series *series, struct ps__log *log, int cpu)
{
	struct ps_thread *thread = ps__topology_thread(series->topology, cpu);

	/* If a call was left in here (src/set/recover.c), it may have come so far or not. */
	for (struct ps__log *one = log->thread ? atomic_load_explicit(&thread->logs, memory_order_relaxed) : NULL;
	     one; one = one->next_in_thread) {
		if (one == log)
			goto attached;
	}
	/* Readers that come by the series look at the thread only after they saw a row, whose count is released
	 * later; those that come by the thread acquire what is stored below. */
	log->thread = thread;
	atomic_signal_fence(memory_order_seq_cst);
	log->next_in_thread = atomic_load_explicit(&thread->logs, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&thread->logs, &log->next_in_thread, log, memory_order_release,
	                                              memory_order_relaxed))
		;
attached:
	atomic_signal_fence(memory_order_seq_cst);
	log->is_attached = true;
}
