/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds components from another one: down by type and number, up by type, or all in a walk. All
 * functions only read the finished tree; recursion is as deep as the tree.
 */
#include "base/error.h"
#include "topology/tree.h"

int ps_component_for_each(struct ps_component *component,
                          int (*visit)(struct ps_component *component, void *context),
                          void *context)
{
	if (!component || !visit)
		return ps__fail(PS_EINVAL, "ps_component_for_each: the %s is NULL",
		                component ? "function to call" : "component");
	int result = visit(component, context);
	for (size_t i = 0; result == 0 && i < component->child_count; i++)
		result = ps_component_for_each(component->children[i], visit, context);
	return result;
}

size_t ps_component_count(const struct ps_component *component, enum ps_component_type type)
{
	if (!component)
		return 0;
	if (type == PS_COMPONENT_THREAD)
		return component->thread_count;
	size_t count = component->type == type;
	for (size_t i = 0; i < component->child_count; i++)
		count += ps_component_count(component->children[i], type);
	return count;
}

static bool find_is_below(const struct ps_component *component, const struct ps_thread *thread)
{
	size_t index = (size_t)(thread - component->topology->threads);

	return index >= component->first_thread &&
	       index - component->first_thread < component->thread_count;
}

static struct ps_component *find_thread(const struct ps_component *component, int cpu)
{
	struct ps_thread *thread = ps__topology_thread(component->topology, cpu);

	return thread->cpu == cpu && find_is_below(component, thread) ? thread->component : NULL;
}

/* Threads stand in the topology's array in the order of their logical
 * numbers. */
static struct ps_component *find_thread_logical(const struct ps_component *component,
                                                size_t logical_id)
{
	const struct ps_topology *topology = component->topology;

	/* The unknown Thread is in the array, too, but has no logical number. */
	if (logical_id >= topology->thread_count ||
	    !find_is_below(component, &topology->threads[logical_id]))
		return NULL;
	return topology->threads[logical_id].component;
}

struct ps_component *ps_component_find(const struct ps_component *component,
                                       enum ps_component_type type, int os_id)
{
	if (!component || os_id < 0)
		return NULL;
	if (type == PS_COMPONENT_THREAD)
		return find_thread(component, os_id);
	if (component->type == type && component->os_id == os_id)
		return (struct ps_component *)component;
	for (size_t i = 0; i < component->child_count; i++) {
		struct ps_component *found = ps_component_find(component->children[i], type, os_id);
		if (found)
			return found;
	}
	return NULL;
}

struct ps_component *ps_component_find_logical(const struct ps_component *component,
                                               enum ps_component_type type, int cache_level,
                                               int logical_id)
{
	if (!component || logical_id < 0)
		return NULL;
	if (type == PS_COMPONENT_THREAD)
		return find_thread_logical(component, (size_t)logical_id);
	if (component->type == type && component->cache_level == cache_level &&
	    component->logical_id == logical_id)
		return (struct ps_component *)component;
	for (size_t i = 0; i < component->child_count; i++) {
		struct ps_component *found = ps_component_find_logical(component->children[i], type,
		                                                       cache_level, logical_id);
		if (found)
			return found;
	}
	return NULL;
}

/* Finds a NUMA node that is local to a component. Such a node is not above the component: it is a
 * child of the component, or of one above. */
static struct ps_component *find_local_node(const struct ps_component *component, unsigned n)
{
	for (const struct ps_component *place = component; place; place = place->parent) {
		for (size_t i = 0; i < place->child_count; i++) {
			struct ps_component *child = place->children[i];
			if (child->type == PS_COMPONENT_NUMA && child != component && --n == 0)
				return child;
		}
	}
	return NULL;
}

struct ps_component *ps_component_ancestor(const struct ps_component *component,
                                           enum ps_component_type type, unsigned n)
{
	if (!component || n == 0)
		return NULL;
	if (type == PS_COMPONENT_NUMA)
		return find_local_node(component, n);
	struct ps_component *ancestor = component->parent;
	while (ancestor && (ancestor->type != type || --n > 0))
		ancestor = ancestor->parent;
	return ancestor;
}
