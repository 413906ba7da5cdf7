/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The getters of a component. find.c goes from one component to others. The import fills the
 * fields; afterwards they never change.
 */
#include "topology/tree.h"

#include <string.h>

enum ps_component_type ps_component_type(const struct ps_component *component)
{
	return component ? component->type : PS_COMPONENT_MACHINE;
}

const char *ps_component_type_name(enum ps_component_type type)
{
	static const char *const names[] = {
	    [PS_COMPONENT_MACHINE] = "Machine", [PS_COMPONENT_PACKAGE] = "Package",
	    [PS_COMPONENT_DIE] = "Die",         [PS_COMPONENT_NUMA] = "NUMA node",
	    [PS_COMPONENT_CACHE] = "Cache",     [PS_COMPONENT_GROUP] = "Group",
	    [PS_COMPONENT_CORE] = "Core",       [PS_COMPONENT_THREAD] = "Thread",
	};

	return (size_t)type < sizeof names / sizeof names[0] ? names[type] : "unknown";
}

int ps_component_os_id(const struct ps_component *component)
{
	return component ? component->os_id : -1;
}

int ps_component_logical_id(const struct ps_component *component)
{
	return component ? component->logical_id : -1;
}

const char *ps_component_name(const struct ps_component *component)
{
	return component ? component->name : NULL;
}

struct ps_component *ps_component_parent(const struct ps_component *component)
{
	return component ? component->parent : NULL;
}

size_t ps_component_child_count(const struct ps_component *component)
{
	return component ? component->child_count : 0;
}

struct ps_component *ps_component_child(const struct ps_component *component, size_t index)
{
	return component && index < component->child_count ? component->children[index] : NULL;
}

int ps_component_depth(const struct ps_component *component)
{
	return component ? component->depth : -1;
}

uint64_t ps_component_size_bytes(const struct ps_component *component)
{
	return component ? component->size_bytes : 0;
}

int ps_component_cache_level(const struct ps_component *component)
{
	return component ? component->cache_level : 0;
}

const char *ps_component_subtype(const struct ps_component *component)
{
	return component && component->subtype ? component->subtype : "";
}

enum ps_core_kind ps_component_core_kind(const struct ps_component *component)
{
	return component ? component->core_kind : PS_CORE_KIND_UNKNOWN;
}

const char *ps_component_attribute(const struct ps_component *component, const char *key)
{
	if (!component || !key)
		return NULL;
	for (size_t i = 0; i < component->attribute_count; i++) {
		if (strcmp(component->attributes[i].key, key) == 0)
			return component->attributes[i].value;
	}
	return NULL;
}

int ps_component_is_allowed(const struct ps_component *component)
{
	return component ? component->allowed : 0;
}

struct ps_thread *ps_component_thread(const struct ps_component *component)
{
	return component ? component->thread : NULL;
}

struct ps_topology *ps_component_topology(const struct ps_component *component)
{
	return component ? component->topology : NULL;
}

size_t ps_component_thread_count(const struct ps_component *component)
{
	return component ? component->thread_count : 0;
}

struct ps_thread *ps_component_thread_at(const struct ps_component *component, size_t index)
{
	if (!component || index >= component->thread_count)
		return NULL;
	return &component->topology->threads[component->first_thread + index];
}
