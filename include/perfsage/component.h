/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A component: one node of the topology tree.
 *
 * The tree never changes after it was loaded, so any thread may make these
 * calls without a lock. All returned pointers are valid as long as the topology.
 * No call here allocates or makes a system call, with one exception:
 * ps_component_total and ps_component_reading can sleep while a set is storing.
 * NULL where a component is expected is a programmer's error and gives the "none"
 * answer (NULL, -1, 0).
 */
#ifndef PERFSAGE_COMPONENT_H
#define PERFSAGE_COMPONENT_H

#include <perfsage/value.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ps_component;
struct ps_thread;
struct ps_topology;

enum ps_component_type {
	PS_COMPONENT_MACHINE = 0,
	PS_COMPONENT_PACKAGE,
	PS_COMPONENT_DIE,
	PS_COMPONENT_NUMA,
	PS_COMPONENT_CACHE,
	PS_COMPONENT_GROUP,
	PS_COMPONENT_CORE,
	PS_COMPONENT_THREAD
};

/** The kind of a Core or Thread, where the machine has several kinds. */
enum ps_core_kind {
	PS_CORE_KIND_UNKNOWN = 0, /* one kind only, or not known */
	PS_CORE_KIND_EFFICIENT,   /* the least powerful kind (E core, LITTLE) */
	PS_CORE_KIND_MIDDLE,      /* any kind between these two */
	PS_CORE_KIND_PERFORMANCE  /* the most powerful kind (P core, big) */
};

/** The type of a component; PS_COMPONENT_MACHINE for NULL. */
PS_PUBLIC enum ps_component_type ps_component_type(const struct ps_component *component);

/**
 * "Machine", "Package", "Die", "NUMA node", "Cache", "Group", "Core" or
 * "Thread".
 *
 * Returns a constant string, never NULL: "unknown" for any other number.
 */
PS_PUBLIC const char *ps_component_type_name(enum ps_component_type type);

/**
 * The operating system's number of a component; -1 if the component has none.
 *
 * For a Thread it is the CPU number, and for a NUMA node the node number.
 */
PS_PUBLIC int ps_component_os_id(const struct ps_component *component);

/**
 * The number among the components of the same type, in tree order, from 0.
 *
 * Caches are numbered within their level. The unknown Thread has -1.
 */
PS_PUBLIC int ps_component_logical_id(const struct ps_component *component);

/**
 * A name to show: "Package 1", "L3 0", "NUMA node 0", "Thread 5".
 *
 * Returns NULL only for NULL.
 */
PS_PUBLIC const char *ps_component_name(const struct ps_component *component);

/** The parent; NULL for the Machine. */
PS_PUBLIC struct ps_component *ps_component_parent(const struct ps_component *component);

/**
 * The number of children.
 *
 * The local NUMA nodes come first, then the other children, in tree order.
 */
PS_PUBLIC size_t ps_component_child_count(const struct ps_component *component);

/**
 * A child of a component; NULL beyond the last.
 *
 * index - 0 to ps_component_child_count - 1
 */
PS_PUBLIC struct ps_component *ps_component_child(const struct ps_component *component,
                                                  size_t index);

/** The number of steps from the Machine, whose depth is 0; -1 for NULL. */
PS_PUBLIC int ps_component_depth(const struct ps_component *component);

/**
 * The size of a cache or NUMA node in bytes; 0 if there is none or if unknown.
 */
PS_PUBLIC uint64_t ps_component_size_bytes(const struct ps_component *component);

/**
 * The level of a cache, 1 to 5; 0 for all other types.
 */
PS_PUBLIC int ps_component_cache_level(const struct ps_component *component);

/**
 * The subtype that hwloc gives ("MCDRAM", "HBM", "Module"), or "". Never NULL.
 */
PS_PUBLIC const char *ps_component_subtype(const struct ps_component *component);

/** The kind of a Core or Thread; PS_CORE_KIND_UNKNOWN for other types. */
PS_PUBLIC enum ps_core_kind ps_component_core_kind(const struct ps_component *component);

/**
 * The value of an attribute from hwloc or the firmware; NULL if there is none.
 *
 * key - the attribute's name, such as "CPUModel" or "DMIProductName"
 */
PS_PUBLIC const char *ps_component_attribute(const struct ps_component *component, const char *key);

/**
 * True if this process may use the component, or one of its CPUs.
 *
 * It is false for the unknown Thread, and for CPUs and NUMA nodes outside the
 * cpuset. In the tree of a file this is the cpuset of the process that wrote the
 * file.
 */
PS_PUBLIC int ps_component_is_allowed(const struct ps_component *component);

/** The Thread of a Thread component; NULL for other types. */
PS_PUBLIC struct ps_thread *ps_component_thread(const struct ps_component *component);

/** The topology that the component belongs to. */
PS_PUBLIC struct ps_topology *ps_component_topology(const struct ps_component *component);

/**
 * The number of Threads below a component.
 *
 * It is 1 for a Thread. For a NUMA node it is the number of Threads that the
 * node is local to. The unknown Thread is below no component, but its counts
 * are in the Machine's total.
 */
PS_PUBLIC size_t ps_component_thread_count(const struct ps_component *component);

/**
 * A Thread below a component, in tree order; NULL beyond the last.
 *
 * index - 0 to ps_component_thread_count - 1
 */
PS_PUBLIC struct ps_thread *ps_component_thread_at(const struct ps_component *component,
                                                   size_t index);

/** The number of components of a type below a component, itself included. */
PS_PUBLIC size_t ps_component_count(const struct ps_component *component,
                                    enum ps_component_type type);

/**
 * Finds a component by its type and operating system's number.
 *
 * component - the call searches this component and all components below it
 * type - the type
 * os_id - the number that ps_component_os_id gives
 *
 * Returns NULL if there is none.
 */
PS_PUBLIC struct ps_component *ps_component_find(const struct ps_component *component,
                                                 enum ps_component_type type, int os_id);

/**
 * Finds a component by its type and logical number.
 *
 * component - the call searches this component and all components below it
 * type - the type
 * cache_level - the level of a cache, as caches are numbered within it; else 0
 * logical_id - the number that ps_component_logical_id gives
 *
 * Returns NULL if there is none.
 */
PS_PUBLIC struct ps_component *ps_component_find_logical(const struct ps_component *component,
                                                         enum ps_component_type type,
                                                         int cache_level, int logical_id);

/**
 * The nth ancestor of a type.
 *
 * component - where to begin; a component isn't its own ancestor
 * type - the ancestor's type; for PS_COMPONENT_NUMA the call gives the first
 *     node local to the component (n=1), or a further node (HBM beside DDR)
 * n - 1 is the nearest ancestor, 2 the next ancestor above
 *
 * Returns NULL if there is none.
 */
PS_PUBLIC struct ps_component *ps_component_ancestor(const struct ps_component *component,
                                                     enum ps_component_type type, unsigned n);

/**
 * Calls visit for the component and for all below it, parents first.
 *
 * component - where to begin
 * visit - returns 0 to go on; any other number ends the walk and is returned
 * context - handed through to visit
 *
 * Returns 0 after a whole walk.
 *
 * Errors:
 *   PS_EINVAL - component or visit is NULL
 */
PS_PUBLIC int ps_component_for_each(struct ps_component *component,
                                    int (*visit)(struct ps_component *component, void *context),
                                    void *context);

/**
 * Adds up an event over all Threads below a component.
 *
 * For each event set that counted the event, the parts of the set's latest reading
 * are added. An event whose scope is wider than a hardware thread counts once for
 * each core, cache or package.
 *
 * component - any
 * event - the name that is shown, or the one under which the event was added
 * out - receives the sum, with the newest timestamp of the parts and their
 *     weakest status and attribution; untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL
 *   PS_ENOEVNT - nothing was counted under that name below the component
 *   PS_EINVAL_DOM - the event's scope is wider than the component: the energy
 *       of a package, asked of a core
 *
 * Any thread, also while sets are counting: a sum never mixes two readings of
 * one set. No lock, no allocation. Not for signal handlers (see
 * <perfsage/thread.h>). Cost: O(living event sets x hardware threads they met).
 * The last counts of destroyed sets are kept as one sum for each hardware
 * thread.
 */
PS_PUBLIC int ps_component_total(const struct ps_component *component, const char *event,
                                 struct ps_value *out);

/**
 * Adds up an event over all Threads below a component, of the readings with one
 * timestamp.
 *
 * If several event sets have readings with this timestamp, all of these readings
 * are added up; ps_eventset_reading gives the reading of one set. An event whose
 * scope is wider than a hardware thread counts once for each core, cache or package.
 *
 * component - any
 * event - the name that is shown, or the one under which the event was added
 * timestamp - the timestamp of the readings; not 0
 * out - receives the sum, with the weakest status and attribution of the parts;
 *     untouched on failure
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL, or timestamp is 0
 *   PS_ENOEVNT - no event set has counted such an event
 *   PS_ENOEVST - the event was counted, but no reading with this timestamp has
 *       a part of the event below the component
 *   PS_EINVAL_DOM - the event's scope is wider than the component
 *
 * Threads as for ps_component_total. Cost: O(log readings) for each pair of an
 * event set that ever stored a reading here, and a hardware thread that it met.
 */
PS_PUBLIC int ps_component_reading(const struct ps_component *component, const char *event,
                                   uint64_t timestamp, struct ps_value *out);

#ifdef __cplusplus
}
#endif
#endif
