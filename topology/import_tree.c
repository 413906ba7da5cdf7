/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes our tree from hwloc's. One walk from the root down makes a component of each object and
 * numbers it. import_component.c copies the object's own data.
 */
#include "base/error.h"
#include "topology/import.h"

#include <hwloc.h>
#include <stdio.h>

#define CACHE_LEVELS 6 /* hwloc knows L1 to L5 */
#define TYPES        (PS_COMPONENT_THREAD + 1)

struct builder {
	struct ps_topology *topology;
	hwloc_topology_t hwloc;
	const char *subject;
	size_t thread_limit; /* room in topology->threads, without the unknown Thread */
	int next_id[TYPES][CACHE_LEVELS]; /* next logical number, by type and cache level */
};

static int tree_fail_damaged(const struct builder *builder, const char *reason, int number)
{
	return ps__fail(PS_EINVAL, "%s makes no sense: %s (%d)", builder->subject, reason, number);
}

static int tree_set_name(struct ps_component *component)
{
	char name[64];
	const char *type = ps_component_type_name(component->type);

	if (component->type == PS_COMPONENT_MACHINE)
		snprintf(name, sizeof name, "%s", type);
	else if (component->type == PS_COMPONENT_THREAD)
		snprintf(name, sizeof name, "%s %d", type, component->os_id);
	else if (component->type == PS_COMPONENT_CACHE)
		snprintf(name, sizeof name, "L%d %d", component->cache_level,
		         component->logical_id);
	else
		snprintf(name, sizeof name, "%s %d", type, component->logical_id);
	component->name = ps__arena_strdup(&component->topology->arena, name);
	return component->name ? PS_OK : PS_ENOMEM;
}

static bool tree_is_allowed(hwloc_topology_t hwloc, hwloc_obj_t object)
{
	if (object->type == HWLOC_OBJ_NUMANODE)
		return hwloc_bitmap_isset(hwloc_topology_get_allowed_nodeset(hwloc),
		                          object->os_index) != 0;
	return object->cpuset && hwloc_bitmap_intersects(
				     object->cpuset, hwloc_topology_get_allowed_cpuset(hwloc)) != 0;
}

/* Puts a Thread component into the topology's array and the table by CPU
 * number. */
static int tree_add_thread(struct builder *builder, struct ps_component *component)
{
	struct ps_topology *topology = builder->topology;
	int cpu = component->os_id;

	if (cpu < 0 || cpu >= topology->cpu_limit ||
	    topology->thread_count >= builder->thread_limit)
		return tree_fail_damaged(builder, "a hardware thread has no usable CPU number",
		                         cpu);
	if (topology->by_cpu[cpu])
		return tree_fail_damaged(builder, "two hardware threads have the same CPU number",
		                         cpu);
	struct ps_thread *thread = &topology->threads[topology->thread_count++];
	thread->component = component;
	thread->cpu = cpu;
	component->thread = thread;
	topology->by_cpu[cpu] = thread;
	return PS_OK;
}

static size_t tree_count_children(hwloc_obj_t object)
{
	size_t count = 0;

	for (hwloc_obj_t child = object->memory_first_child; child; child = child->next_sibling)
		count++;
	for (hwloc_obj_t child = object->first_child; child; child = child->next_sibling)
		count++;
	return count;
}

static int tree_build(struct builder *builder, hwloc_obj_t object, struct ps_component *component);

static int tree_build_children(struct builder *builder, hwloc_obj_t first,
                               struct ps_component *parent)
{
	for (hwloc_obj_t object = first; object; object = object->next_sibling) {
		struct ps_component *child =
		    ps__arena_calloc(&builder->topology->arena, 1, sizeof *child);
		if (!child)
			return PS_ENOMEM;
		child->parent = parent;
		child->depth = parent->depth + 1;
		parent->children[parent->child_count++] = child;
		int code = tree_build(builder, object, child);
		if (code < 0)
			return code;
	}
	return PS_OK;
}

/* Sets the Threads of a component, and of its NUMA nodes, which have the same Threads. Called when
 * all components below are built, because then the Threads are known. */
static void tree_set_thread_range(struct ps_component *component, size_t first_thread,
                                  size_t thread_count)
{
	component->first_thread = first_thread;
	component->thread_count = thread_count;
	for (size_t i = 0; i < component->child_count; i++) {
		if (component->children[i]->type == PS_COMPONENT_NUMA)
			tree_set_thread_range(component->children[i], first_thread, thread_count);
	}
}

/* Fills a component, whose parent and depth are set, and builds all components below. PS_ENOMEM
 * comes without a detail sentence. */
static int tree_build(struct builder *builder, hwloc_obj_t object, struct ps_component *component)
{
	size_t first_thread = builder->topology->thread_count;

	component->magic = PS__COMPONENT_MAGIC;
	component->topology = builder->topology;
	component->allowed = tree_is_allowed(builder->hwloc, object);
	int code = ps__import_component(component, object);
	if (code < 0)
		return code;
	if (component->type == PS_COMPONENT_NUMA &&
	    (component->os_id < 0 || component->os_id >= PS__CPU_LIMIT))
		return tree_fail_damaged(builder, "a NUMA node has no usable number",
		                         component->os_id);
	if (component->cache_level < 0 || component->cache_level >= CACHE_LEVELS)
		return tree_fail_damaged(builder, "a cache has no such level",
		                         component->cache_level);
	component->logical_id = builder->next_id[component->type][component->cache_level]++;
	code = tree_set_name(component);
	if (code == PS_OK && component->type == PS_COMPONENT_THREAD)
		code = tree_add_thread(builder, component);
	if (code < 0)
		return code;
	component->children = ps__arena_calloc(
	    &builder->topology->arena, tree_count_children(object), sizeof(struct ps_component *));
	if (!component->children)
		return PS_ENOMEM;
	code = tree_build_children(builder, object->memory_first_child, component);
	if (code == PS_OK)
		code = tree_build_children(builder, object->first_child, component);
	tree_set_thread_range(component, first_thread,
	                      builder->topology->thread_count - first_thread);
	return code;
}

/* Adds the unknown Thread. It belongs to the Machine but is not one of its children, so walks don't
 * visit it and counts don't include it. */
static int tree_add_unknown(struct ps_topology *topology)
{
	struct ps_component *component = ps__arena_calloc(&topology->arena, 1, sizeof *component);
	struct ps_thread *thread = &topology->threads[topology->thread_count];

	if (!component)
		return PS_ENOMEM;
	component->name = ps__arena_strdup(&topology->arena, "unknown Thread");
	if (!component->name)
		return PS_ENOMEM;
	component->magic = PS__COMPONENT_MAGIC;
	component->topology = topology;
	component->parent = topology->root;
	component->depth = 1;
	component->type = PS_COMPONENT_THREAD;
	component->os_id = -1;
	component->logical_id = -1;
	component->thread = thread;
	component->first_thread = topology->thread_count;
	component->thread_count = 1;
	thread->component = component;
	thread->cpu = -1;
	topology->unknown = component;
	return PS_OK;
}

/* Allocates room for all Threads and all CPU numbers that hwloc has. */
static int tree_make_tables(struct builder *builder)
{
	struct ps_topology *topology = builder->topology;
	unsigned highest = 0;
	int count = hwloc_get_nbobjs_by_type(builder->hwloc, HWLOC_OBJ_PU);

	if (count < 1 || count > PS__CPU_LIMIT)
		return tree_fail_damaged(builder, "the number of its hardware threads", count);
	for (unsigned i = 0; i < (unsigned)count; i++) {
		unsigned cpu = hwloc_get_obj_by_type(builder->hwloc, HWLOC_OBJ_PU, i)->os_index;
		highest = cpu > highest ? cpu : highest;
	}
	if (highest >= PS__CPU_LIMIT)
		return tree_fail_damaged(builder, "a hardware thread has no usable CPU number",
		                         (int)highest);
	builder->thread_limit = (size_t)count;
	topology->cpu_limit = (int)highest + 1;
	topology->threads =
	    ps__arena_calloc(&topology->arena, (size_t)count + 1, sizeof *topology->threads);
	topology->by_cpu =
	    ps__arena_calloc(&topology->arena, highest + 1, sizeof(struct ps_thread *));
	return topology->threads && topology->by_cpu ? PS_OK : PS_ENOMEM;
}

static int tree_build_all(struct builder *builder)
{
	struct ps_topology *topology = builder->topology;
	int code = tree_make_tables(builder);

	if (code < 0)
		return code;
	topology->root = ps__arena_calloc(&topology->arena, 1, sizeof *topology->root);
	if (!topology->root)
		return PS_ENOMEM;
	code = tree_build(builder, hwloc_get_root_obj(builder->hwloc), topology->root);
	if (code == PS_OK)
		code = tree_add_unknown(topology);
	if (code == PS_OK)
		code = ps__import_core_kinds(topology, builder->hwloc);
	return code;
}

int ps__import_tree(struct ps_topology **out, struct hwloc_topology *hwloc, const char *subject)
{
	struct builder builder = {
	    .topology = ps__topology_create(), .hwloc = hwloc, .subject = subject};

	if (!builder.topology)
		return ps__fail_memory("the topology");
	int code = tree_build_all(&builder);
	if (code < 0) {
		ps__topology_free(builder.topology);
		return code == PS_ENOMEM ? ps__fail_memory("the topology") : code;
	}
	*out = builder.topology;
	return PS_OK;
}
