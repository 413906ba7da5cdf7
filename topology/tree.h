/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structs of the tree: components, Threads, and the topology that owns them. import.c writes
 * them while loading; afterwards the tree is only read.
 */
#ifndef PS_TOPOLOGY_TREE_H
#define PS_TOPOLOGY_TREE_H

#include "base/hot.h"
#include "topology/arena.h"

#include <perfsage/topology.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hwloc_topology;
struct ps_topology;

/* The store's objects (src/store: recording.h, history.h, aggregate.h). The
 * tree holds the heads of their lists and nothing else. */
struct ps__aggregate;
struct ps__history;
struct ps__recording;

struct ps__attribute {
	char *key;
	char *value;
};

struct ps_component {
	uint64_t magic; /* PS__COMPONENT_MAGIC while alive: detects foreign pointers */
	struct ps_topology *topology;
	struct ps_component *parent;
	struct ps_component **children; /* NUMA nodes first */
	size_t child_count;
	struct ps_thread *thread; /* NULL unless this is a Thread component */
	/* The Threads below the component: topology->threads[first_thread .. + thread_count) */
	size_t first_thread;
	size_t thread_count;
	enum ps_component_type type;
	enum ps_core_kind core_kind;
	int os_id;
	int logical_id;
	int depth;
	int cache_level;
	bool allowed;
	uint64_t size_bytes;
	char *name;
	char *subtype;
	struct ps__attribute *attributes;
	size_t attribute_count;
};

#define PS__COMPONENT_MAGIC UINT64_C(0x7065726673616765)

/* A hardware thread. The list of its histories, one for each event set that counted there, grows
 * until ps_topology_clear_readings. */
struct ps_thread {
	struct ps_component *component;
	int cpu;
	/* Newest first; pushed with release by recording.c, followed with
	 * acquire. */
	_Atomic(struct ps__history *) histories;
};

/* What the store keeps for a topology. All zero until the first event set is
 * bound to it. */
struct ps__readings {
	_Atomic(struct ps__recording *)
	    recordings; /* newest first; pushed with release, followed with acquire */
	/* The counts that totals look at (aggregate.h): the recordings of sets that are alive, and
	 * the last counts of destroyed sets. */
	_Atomic(struct ps__recording *) current;
	_Atomic(struct ps__aggregate *) aggregates;
	_Atomic uint64_t changers; /* number of changes under way */
	_Atomic uint64_t changes;  /* number of changes that were made */
	/* Held by threads that write aggregates, or remove recordings from the list `current` */
	pthread_mutex_t lock;
	/* number of recordings that stopped counting since `current` was last pruned */
	_Atomic size_t passed;
	size_t kept; /* length of `current` after that; under the lock */
	/* Frees all of the above. The store registers it when a set is bound; NULL before. */
	void (*_Atomic release)(struct ps_topology *topology);
};

#define PS__DESTROYED ((size_t)1) /* the user has destroyed the topology */
#define PS__HOLDER    ((size_t)2)

struct ps_topology {
	struct ps_component *root;
	/* In tree order; the unknown Thread is the last, at threads[thread_count] */
	struct ps_thread *threads;
	size_t thread_count;
	struct ps_thread **by_cpu; /* by CPU number; NULL where the tree has none */
	int cpu_limit;             /* entries of by_cpu */
	struct ps_component *unknown;
	struct ps__arena arena; /* all of the tree above: components, Threads, names, attributes */

	/* hwloc's topology, from which the tree was made, for annotate.c; NULL while the tree is
	 * built. Only read. */
	struct hwloc_topology *hwloc;
	bool is_foreign; /* from a file, or from hwloc's variables: hwloc may crash on it */

	char *origin;     /* ps_topology_origin */
	bool is_stand_in; /* hwloc's variables put another tree in this machine's place */

	struct ps__readings readings;
	uint64_t generation; /* of the process that made it: ps__fork_generation */
	/*
	 * The sum of PS__HOLDER for the user and for each bound event set, and of PS__DESTROYED. No
	 * lock protects it: readings may be made in signal handlers, which must not wait for the
	 * thread that they interrupt.
	 */
	_Atomic size_t holders;
};

/* Creates an empty topology; the loader fills it. ps__topology_free releases it, also if it is
 * partly built. */
struct ps_topology *ps__topology_create(void);
void ps__topology_free(struct ps_topology *topology);

/* Adds a holder. False if the user has destroyed the topology. */
bool ps__topology_hold(struct ps_topology *topology);

static inline bool ps__topology_is_destroyed(const struct ps_topology *topology)
{
	/*
	 * Relaxed: no other data depends on it. Written as the kernel's READ_ONCE, because
	 * compilers make more instructions of atomic_load_explicit.
	 */
#ifdef PS__HAS_THREAD_SANITIZER
	return atomic_load_explicit(&topology->holders, memory_order_relaxed) & PS__DESTROYED;
#else
	return *(const volatile size_t *)&topology->holders & PS__DESTROYED;
#endif
}

/* import.c: loads a tree from hwloc's XML in memory. A NUL must follow the bytes. subject: name of
 * the XML in messages. Returns the errors of ps_topology_load_xml. */
int ps__topology_load_text(struct ps_topology **out, const char *xml, size_t size_bytes,
                           const char *subject);

/* Removes a holder; the last one frees the topology. */
void ps__topology_release(struct ps_topology *topology);

/* Returns the Thread of a CPU number, or the unknown Thread if the tree doesn't have the CPU. */
static inline struct ps_thread *ps__topology_thread(const struct ps_topology *topology, int cpu)
{
	if (cpu >= 0 && cpu < topology->cpu_limit && topology->by_cpu[cpu])
		return topology->by_cpu[cpu];
	return &topology->threads[topology->thread_count];
}

#endif
