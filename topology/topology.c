/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The topology as an object: who holds it, and when it is freed. The loaders are in import.c. Each
 * event set holds the topology to which it is bound.
 */
#include "base/identity.h"
#include "base/os.h"
#include "topology/annotate.h"
#include "topology/tree.h"

#include <assert.h>

struct ps_topology *ps__topology_create(void)
{
	struct ps_topology *topology = ps__os_calloc(1, sizeof *topology);

	if (!topology)
		return NULL;
	atomic_init(&topology->holders, PS__HOLDER);
	topology->generation = ps__fork_generation();
	pthread_mutex_init(&topology->readings.lock, NULL);
	return topology;
}

void ps__topology_free(struct ps_topology *topology)
{
	void (*release)(struct ps_topology * topology) =
	    atomic_load_explicit(&topology->readings.release, memory_order_relaxed);

	if (release)
		release(topology);
	pthread_mutex_destroy(&topology->readings.lock);
	ps__annotate_forget(topology);
	ps__arena_free(&topology->arena);
	ps__os_free(topology);
}

bool ps__topology_hold(struct ps_topology *topology)
{
	size_t holders = atomic_load_explicit(&topology->holders, memory_order_relaxed);

	do {
		if (holders & PS__DESTROYED)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&topology->holders, &holders,
	                                                holders + PS__HOLDER, memory_order_relaxed,
	                                                memory_order_relaxed));
	return true;
}

void ps__topology_release(struct ps_topology *topology)
{
	/* The thread that frees the topology sees all stores that other holders made before they
	 * released it. */
	size_t holders =
	    atomic_fetch_sub_explicit(&topology->holders, PS__HOLDER, memory_order_acq_rel);

	assert(holders >= PS__HOLDER);
	if (holders - PS__HOLDER < PS__HOLDER)
		ps__topology_free(topology);
}

void ps_topology_destroy(struct ps_topology *topology)
{
	if (!topology)
		return;
	/* Event sets may keep the memory for a while, but calls with a root pointer that the user
	 * kept must fail. */
	topology->root->magic = 0;
	atomic_fetch_or_explicit(&topology->holders, PS__DESTROYED, memory_order_release);
	ps__topology_release(topology);
}

const char *ps_topology_origin(const struct ps_topology *topology)
{
	return topology ? topology->origin : NULL;
}

struct ps_component *ps_topology_root(const struct ps_topology *topology)
{
	return topology ? topology->root : NULL;
}

struct ps_thread *ps_topology_thread(const struct ps_topology *topology, int cpu)
{
	return topology ? ps__topology_thread(topology, cpu) : NULL;
}

struct ps_thread *ps_topology_unknown_thread(const struct ps_topology *topology)
{
	return topology ? &topology->threads[topology->thread_count] : NULL;
}
