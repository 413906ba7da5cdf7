/* SPDX-License-Identifier: BSD-3-Clause */
/* Translates hwloc's data of one object (type, size, level, attributes) and the kinds of cores. */
#include "base/error.h"
#include "topology/import.h"

#include <hwloc.h>
#include <limits.h>

static enum ps_component_type import_type_of(hwloc_obj_type_t type)
{
	if (hwloc_obj_type_is_cache(type))
		return PS_COMPONENT_CACHE;
	switch (type) {
	case HWLOC_OBJ_MACHINE:
		return PS_COMPONENT_MACHINE;
	case HWLOC_OBJ_PACKAGE:
		return PS_COMPONENT_PACKAGE;
	case HWLOC_OBJ_DIE:
		return PS_COMPONENT_DIE;
	case HWLOC_OBJ_NUMANODE:
		return PS_COMPONENT_NUMA;
	case HWLOC_OBJ_CORE:
		return PS_COMPONENT_CORE;
	case HWLOC_OBJ_PU:
		return PS_COMPONENT_THREAD;
	default: /* types that newer versions of hwloc may put between these */
		return PS_COMPONENT_GROUP;
	}
}

static int import_copy_attributes(struct ps_component *component, const struct hwloc_obj *object)
{
	struct ps__arena *arena = &component->topology->arena;

	component->attributes =
	    ps__arena_calloc(arena, object->infos_count, sizeof *component->attributes);
	if (!component->attributes)
		return PS_ENOMEM;
	for (unsigned i = 0; i < object->infos_count; i++) {
		struct ps__attribute *attribute =
		    &component->attributes[component->attribute_count];
		attribute->key = ps__arena_strdup(arena, object->infos[i].name);
		attribute->value = ps__arena_strdup(arena, object->infos[i].value);
		if (!attribute->key || !attribute->value)
			return PS_ENOMEM;
		component->attribute_count++;
	}
	return PS_OK;
}

int ps__import_component(struct ps_component *component, const struct hwloc_obj *object)
{
	component->type = import_type_of(object->type);
	component->os_id = object->os_index <= INT_MAX ? (int)object->os_index : -1;
	if (component->type == PS_COMPONENT_CACHE) {
		component->cache_level = (int)object->attr->cache.depth;
		component->size_bytes = object->attr->cache.size;
	}
	if (component->type == PS_COMPONENT_NUMA)
		component->size_bytes = object->attr->numanode.local_memory;
	if (object->subtype)
		component->subtype = ps__arena_strdup(&component->topology->arena, object->subtype);
	if (object->subtype && !component->subtype)
		return PS_ENOMEM;
	return object->infos_count ? import_copy_attributes(component, object) : PS_OK;
}

#if HWLOC_API_VERSION >= 0x00020400

static void import_set_kind(struct ps_topology *topology, hwloc_const_bitmap_t cpus,
                            enum ps_core_kind kind)
{
	for (size_t i = 0; i < topology->thread_count; i++) {
		struct ps_thread *thread = &topology->threads[i];
		if (!hwloc_bitmap_isset(cpus, (unsigned)thread->cpu))
			continue;
		thread->component->core_kind = kind;
		struct ps_component *core =
		    ps_component_ancestor(thread->component, PS_COMPONENT_CORE, 1);
		if (core)
			core->core_kind = kind;
	}
}

static enum ps_core_kind import_kind_of_rank(int rank, int ranks)
{
	if (rank == 0)
		return PS_CORE_KIND_EFFICIENT;
	return rank == ranks - 1 ? PS_CORE_KIND_PERFORMANCE : PS_CORE_KIND_MIDDLE;
}

int ps__import_core_kinds(struct ps_topology *topology, struct hwloc_topology *hwloc)
{
	int kinds = hwloc_cpukinds_get_nr(hwloc, 0);

	if (kinds < 2)
		return PS_OK;
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
	if (!cpus)
		return PS_ENOMEM;
	for (int i = 0; i < kinds; i++) {
		int rank; /* from the least powerful kind up; -1 if hwloc doesn't know the order */
		if (hwloc_cpukinds_get_info(hwloc, (unsigned)i, cpus, &rank, NULL, NULL, 0) == 0 &&
		    rank >= 0)
			import_set_kind(topology, cpus, import_kind_of_rank(rank, kinds));
	}
	hwloc_bitmap_free(cpus);
	return PS_OK;
}

#else

int ps__import_core_kinds(struct ps_topology *topology, struct hwloc_topology *hwloc)
{
	(void)topology;
	(void)hwloc;
	return PS_OK; /* hwloc knows kinds of cores only from version 2.4 on */
}

#endif
