/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The topology as an object: who holds it, and when it goes. The loaders are in import.c; event sets take references
 * of their own while they are bound to it.
 */
#include "base/os.h"
#include "topology/annotate.h"
#include "topology/attrmap.h"
#include "topology/tree.h"

#include <assert.h>

struct ps_topology *ps__topology_create(void)
{
	struct ps_topology *topology = ps__os_calloc(1, sizeof *topology);

	if (!topology)
		return NULL;
	if (pthread_mutex_init(&topology->lock, NULL) != 0) {
		ps__os_free(topology);
		return NULL;
	}
	topology->references = 1;
	return topology;
}

void ps__topology_free(struct ps_topology *topology)
{
	ps__attrmap_free(topology);
	ps__annotate_forget(topology);
	ps__arena_free(&topology->arena);
	pthread_mutex_destroy(&topology->lock);
	ps__os_free(topology);
}

void ps__topology_release(struct ps_topology *topology)
{
	pthread_mutex_lock(&topology->lock);
	assert(topology->references > 0);
	size_t left = --topology->references;
	pthread_mutex_unlock(&topology->lock);
	if (left == 0)
		ps__topology_free(topology);
}

void ps_topology_destroy(struct ps_topology *topology)
{
	if (!topology)
		return;
	pthread_mutex_lock(&topology->lock);
	topology->destroyed = true;
	/* Event sets may keep the memory for a while: a root pointer that the user kept must not pass for a live one. */
	topology->root->magic = 0;
	pthread_mutex_unlock(&topology->lock);
	ps__topology_release(topology);
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
