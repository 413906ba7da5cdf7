/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A component: one node of the topology tree.
 *
 * The tree never changes after it was loaded, so all of this may be called from any thread without a lock.
 * What is returned lives as long as the topology. No call here allocates or makes a system call. NULL where
 * a component is expected is a programmer's error and gives the "none" answer (NULL, -1, 0).
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

/** What kind of core a Core or Thread is, where the machine has several kinds. */
enum ps_core_kind {
	PS_CORE_KIND_UNKNOWN = 0, /* one kind only, or not known */
	PS_CORE_KIND_EFFICIENT,   /* the least powerful kind (E core, LITTLE) */
	PS_CORE_KIND_MIDDLE,      /* any kind between the two */
	PS_CORE_KIND_PERFORMANCE  /* the most powerful kind (P core, big) */
};

PS_PUBLIC enum ps_component_type ps_component_type(const struct ps_component *component);

/** "Machine", "Package", "Die", "NUMA node", "Cache", "Group", "Core", "Thread"; never NULL. */
PS_PUBLIC const char *ps_component_type_name(enum ps_component_type type);

/** The operating system's number: the CPU number of a Thread, the node of a NUMA node; -1 where it has none. */
PS_PUBLIC int ps_component_os_id(const struct ps_component *component);

/** The number among the components of the same type (caches: of the same level), in tree order, from 0. */
PS_PUBLIC int ps_component_logical_id(const struct ps_component *component);

/** A name to show: "Package 1", "L3 0", "NUMA node 0", "Thread 5". Never NULL but for NULL. */
PS_PUBLIC const char *ps_component_name(const struct ps_component *component);

/** The parent; NULL for the Machine. */
PS_PUBLIC struct ps_component *ps_component_parent(const struct ps_component *component);

/** How many children: first the NUMA nodes that hang there, then the others, in tree order. */
PS_PUBLIC size_t ps_component_child_count(const struct ps_component *component);

/** The child at index, 0 to child_count - 1; NULL beyond that. */
PS_PUBLIC struct ps_component *ps_component_child(const struct ps_component *component, size_t index);

/** The number of steps from the Machine, whose depth is 0; -1 for NULL. */
PS_PUBLIC int ps_component_depth(const struct ps_component *component);

/** A cache's or NUMA node's size in bytes; 0 where there is none or it isn't known. */
PS_PUBLIC uint64_t ps_component_size_bytes(const struct ps_component *component);

/** A cache's level, 1 to 4 (5 where there is one); 0 for all other types. */
PS_PUBLIC int ps_component_cache_level(const struct ps_component *component);

/** The subtype that hwloc gives ("MCDRAM", "HBM", "Module"), or "". Never NULL. */
PS_PUBLIC const char *ps_component_subtype(const struct ps_component *component);

/** The kind of a Core or Thread; UNKNOWN for other types. */
PS_PUBLIC enum ps_core_kind ps_component_core_kind(const struct ps_component *component);

/** The value of an attribute that hwloc or firmware gave ("CPUModel", "DMIProductName"); NULL if there is none. */
PS_PUBLIC const char *ps_component_attribute(const struct ps_component *component, const char *key);

/** Is it online and usable by this process? False for CPUs that are offline or outside the cpuset. */
PS_PUBLIC int ps_component_is_allowed(const struct ps_component *component);

/** The Thread of a Thread component; NULL for other types. */
PS_PUBLIC struct ps_thread *ps_component_thread(const struct ps_component *component);

/** The topology that the component belongs to. */
PS_PUBLIC struct ps_topology *ps_component_topology(const struct ps_component *component);

/** How many Threads are below (a Thread: 1; a NUMA node: the Threads it is local to). The unknown Thread is below none,
 * but its counts are in the Machine's total. */
PS_PUBLIC size_t ps_component_thread_count(const struct ps_component *component);

/** The index'th Thread below, in tree order; NULL beyond the last. */
PS_PUBLIC struct ps_thread *ps_component_thread_at(const struct ps_component *component, size_t index);

/** How many components of a type are in the tree below (the component itself included). */
PS_PUBLIC size_t ps_component_count(const struct ps_component *component, enum ps_component_type type);

/** The component below (itself included) of this type and operating-system number; NULL if there is none. */
PS_PUBLIC struct ps_component *ps_component_find(const struct ps_component *component, enum ps_component_type type,
                                                 int os_id);

/** As ps_component_find, by logical number. For caches that is the number within one level: give the level, else 0. */
PS_PUBLIC struct ps_component *ps_component_find_logical(const struct ps_component *component,
                                                         enum ps_component_type type, int cache_level,
                                                         int logical_id);

/**
 * The nth ancestor of a type: n = 1 is the nearest one, n = 2 the one above it. A component isn't its own
 * ancestor. For a NUMA node: the first (n = 1) or further (HBM beside DDR) node local to the component.
 * NULL if there is none.
 */
PS_PUBLIC struct ps_component *ps_component_ancestor(const struct ps_component *component,
                                                     enum ps_component_type type, unsigned n);

/**
 * Calls visit for the component and for all below, parents first.
 *
 * visit: returns 0 to go on; any other number ends the walk and is returned. context is handed through.
 * Returns 0 after a whole walk; PS_EINVAL for NULL.
 */
PS_PUBLIC int ps_component_for_each(struct ps_component *component,
                                    int (*visit)(struct ps_component *component, void *context), void *context);

/**
 * The total of an event over all Threads below: for each event set that counted it, the parts of its latest
 * reading; an event whose scope is wider than a hardware thread counts once for each core, cache or package.
 *
 * component: any. event: the name under which it was added. out: untouched on failure; its timestamp is the
 * newest of the parts, its status and attribution the weakest.
 * PS_EINVAL: a NULL. PS_ENOEVNT: nothing was counted under that name below the component. PS_EINVAL_DOM: the
 * event's scope is wider than the component (energy of a package, asked of a core).
 * Any thread, also while sets are counting: a sum never mixes two readings of one set. No lock, no allocation. Not for
 * signal handlers (see <perfsage/thread.h>).
 * Cost: O(event sets that are alive x hardware threads they met). Sets that were destroyed cost nothing each: what they
 * counted last is added up, by hardware thread.
 */
PS_PUBLIC int ps_component_total(const struct ps_component *component, const char *event, struct ps_value *out);

#ifdef __cplusplus
}
#endif
#endif
