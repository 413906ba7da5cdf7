/* SPDX-License-Identifier: BSD-3-Clause */
/* A set makes its recordings and binds each to a topology, which then frees it. The set itself
 * frees a recording that was never bound. */
#include "store/recording.h"

#include "base/error.h"
#include "base/identity.h"
#include "base/os.h"
#include "store/aggregate.h"

struct ps__recording *ps__recording_create(size_t columns, size_t groups)
{
	struct ps__recording *recording =
	    ps__os_calloc_apart(1, sizeof *recording + columns * sizeof(struct ps__column));

	if (!recording)
		return NULL;
	recording->columns = columns;
	recording->groups = groups;
	recording->generation = ps__fork_generation();
	ps__pool_init(&recording->pool, 1 + ps__recording_width(recording));
	return recording;
}

int ps__column_set_name(struct ps__column *column, const char *name, const char *added)
{
	column->start = ps__name_start(name);
	column->name = ps__os_strdup(name);
	column->added = added ? ps__os_strdup(added) : NULL;
	return column->name && (!added || column->added) ? 0 : -1;
}

void ps__column_settle(const struct ps__recording *recording, struct ps__column *column)
{
	bool has_group = column->group != PS__NO_GROUP;

	column->word = (uint32_t)(1 + 2 * recording->groups + (size_t)(column - recording->column));
	column->times = has_group ? 1 + 2 * column->group : 0;
	bool is_plain = has_group && !column->is_estimate && !column->cpus &&
	                atomic_load_explicit(&column->paused_from, memory_order_relaxed) == 0;
	atomic_init(&column->plain, is_plain ? column->place : UINT32_MAX);
}

int ps__column_copy(struct ps__column *out, const struct ps__column *model)
{
	*out = *model;
	out->cpus = NULL;
	if (ps__column_set_name(out, model->name, model->added) < 0)
		return -1;
	if (model->cpus)
		out->cpus = ps__os_strdup(model->cpus);
	return model->cpus && !out->cpus ? -1 : 0;
}

void ps__recording_free(struct ps__recording *recording)
{
	struct ps__history *history =
	    atomic_load_explicit(&recording->histories, memory_order_relaxed);

	while (history) {
		struct ps__history *next = history->next_in_recording;
		ps__history_clear(history);
		ps__os_free_apart(history);
		history = next;
	}
	ps__pool_clear(&recording->pool);
	for (size_t index = 0; index < recording->columns; index++) {
		ps__os_free(recording->column[index].name);
		ps__os_free(recording->column[index].added);
		ps__os_free(recording->column[index].cpus);
	}
	ps__os_free_apart(recording);
}

static void recording_list_current(struct ps_topology *topology, struct ps__recording *recording)
{
	struct ps__recording *next =
	    atomic_load_explicit(&topology->readings.current, memory_order_relaxed);

	/* Pairs with the acquire of totals: a reader that sees the recording sees its columns. */
	do
		atomic_store_explicit(&recording->next_current, next, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&topology->readings.current, &next, recording,
	                                              memory_order_release, memory_order_relaxed));
}

/* Frees all readings of a topology. */
static void recording_release_all(struct ps_topology *topology)
{
	struct ps__recording *recording =
	    atomic_load_explicit(&topology->readings.recordings, memory_order_relaxed);

	ps__aggregate_free(topology);
	while (recording) {
		struct ps__recording *next = recording->next;
		ps__recording_free(recording);
		recording = next;
	}
}

int ps__recording_bind(struct ps__recording *recording, struct ps_topology *topology,
                       struct ps__recording *older)
{
	if (!ps__topology_hold(topology))
		return ps__fail(
		    PS_EINVAL,
		    "the topology was destroyed: load one that lives as long as its event sets");
	/* This store has no pair: the thread that frees the topology has acquired what all holders
	 * stored before. */
	atomic_store_explicit(&topology->readings.release, recording_release_all,
	                      memory_order_relaxed);
	recording->topology = topology;
	recording->older = older;
	recording->next =
	    atomic_load_explicit(&topology->readings.recordings, memory_order_relaxed);
	/* Pairs with the acquire of threads that walk the list: a reader that sees the recording
	 * sees its columns. */
	while (!atomic_compare_exchange_weak_explicit(&topology->readings.recordings,
	                                              &recording->next, recording,
	                                              memory_order_release, memory_order_relaxed))
		;
	if (!older) {
		recording_list_current(topology, recording);
		return PS_OK;
	}
	ps__change_begin(topology);
	recording_list_current(topology, recording);
	atomic_store_explicit(&older->newer, recording, memory_order_release);
	ps__change_end(topology);
	atomic_fetch_add_explicit(&topology->readings.passed, 1, memory_order_relaxed);
	return PS_OK;
}

struct ps__history *ps__recording_add_history(struct ps__recording *recording)
{
	struct ps__history *history = ps__os_calloc_apart(1, sizeof *history);

	if (!history)
		return NULL;
	if (ps__history_init(history, &recording->pool, 1 + ps__recording_width(recording)) < 0) {
		ps__os_free_apart(history);
		return NULL;
	}
	history->recording = recording;
	history->next_in_recording =
	    atomic_load_explicit(&recording->histories, memory_order_relaxed);
	/* Pairs with the acquire of totals: a reader that sees the history sees it empty, but
	 * whole. */
	atomic_store_explicit(&recording->histories, history, memory_order_release);
	return history;
}

void ps__recording_attach_history(struct ps__recording *recording, struct ps__history *history,
                                  int cpu)
{
	struct ps_thread *thread = ps__topology_thread(recording->topology, cpu);

	/* The history may be in the list already: a handler may have left an earlier call of this
	 * function by a jump (src/eventset/recover.c). */
	for (struct ps__history *one =
	         history->thread ? atomic_load_explicit(&thread->histories, memory_order_relaxed)
	                         : NULL;
	     one; one = one->next_in_thread) {
		if (one == history)
			goto attached;
	}
	/*
	 * A reader that reaches the history through the recording looks at the thread only after it
	 * saw a row; the row's count is released later than this. A reader that reaches it through
	 * the thread acquires what is stored below.
	 */
	history->thread = thread;
	atomic_signal_fence(memory_order_seq_cst);
	history->next_in_thread = atomic_load_explicit(&thread->histories, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&thread->histories, &history->next_in_thread,
	                                              history, memory_order_release,
	                                              memory_order_relaxed))
		;
attached:
	atomic_signal_fence(memory_order_seq_cst);
	history->is_attached = true;
}
