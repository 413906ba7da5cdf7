/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Empties a tree of the readings whose event sets are gone. Meanwhile no thread may read the tree
 * and no set may store a reading there, so the lists' entries are freed at once.
 */
#include "base/error.h"
#include "store/aggregate.h"

#include <perfsage/topology.h>

/* Removes the histories of destroyed sets. The rest stay in order, the newest first. */
static void clear_thread(struct ps_thread *thread)
{
	struct ps__history *kept = NULL, **last = &kept;
	struct ps__history *history =
	    atomic_load_explicit(&thread->histories, memory_order_acquire);

	for (; history; history = history->next_in_thread) {
		if (history->recording->is_left)
			continue;
		*last = history;
		last = &history->next_in_thread;
	}
	*last = NULL;
	atomic_store_explicit(&thread->histories, kept, memory_order_release);
}

/* Frees the recordings of destroyed sets. Must come last, because the lists of Threads and of
 * totals point to them. The older recordings of a living set are kept. */
static void clear_recordings(struct ps_topology *topology)
{
	struct ps__recording *kept = NULL, **last = &kept, *next;
	struct ps__recording *recording = ps__recording_first(topology);

	for (; recording; recording = next) {
		next = recording->next;
		if (recording->is_left) {
			ps__recording_free(recording);
			continue;
		}
		*last = recording;
		last = &recording->next;
	}
	*last = NULL;
	atomic_store_explicit(&topology->readings.recordings, kept, memory_order_release);
}

int ps_topology_clear_readings(struct ps_topology *topology)
{
	if (!topology)
		return ps__fail(PS_EINVAL, "ps_topology_clear_readings: the topology is NULL");
	if (!ps__aggregate_clear(topology))
		return ps__fail(PS_ECLOST, "the topology was inherited by fork(), or destroyed: "
		                           "load one of this process's own");
	/* The unknown Thread is the last. */
	for (size_t index = 0; index <= topology->thread_count; index++)
		clear_thread(&topology->threads[index]);
	clear_recordings(topology);
	return PS_OK;
}
