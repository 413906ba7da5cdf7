/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology: the tree of components of a machine, and the owner of all readings that were stored in it.
 *
 * Built with hwloc (https://www.open-mpi.org/projects/hwloc/). It never changes after load.
 */
#ifndef PERFSAGE_TOPOLOGY_H
#define PERFSAGE_TOPOLOGY_H

#include <perfsage/component.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ps_topology_flag {
	PS_TOPOLOGY_WHOLE_MACHINE = 1 << 0 /* show CPUs and NUMA nodes that the cpuset forbids, too (is_allowed: 0) */
};

/** Start with `struct ps_topology_options o = {.size = sizeof o};`: fields that are left out are 0. */
struct ps_topology_options {
	size_t size;    /* sizeof(struct ps_topology_options) */
	unsigned flags; /* OR of enum ps_topology_flag */
};

/**
 * Loads the tree of this machine.
 *
 * out: receives the topology, to be released with ps_topology_destroy; untouched on failure. options: NULL for
 * the defaults. PS_EINVAL: out is NULL, options has a wrong size or an unknown flag. PS_ENOMEM. PS_ESYS: hwloc
 * could not read the machine; the detail gives its reason. PS_EPERM: sched_getaffinity is refused, by a seccomp filter.
 * hwloc's environment variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT, ...) may put another tree in its place, which
 * is then tried in a child process as a file is; PS_EINVAL: it is damaged or too large. ps_topology_origin tells.
 * Any thread. Cost: hwloc's own (about 1 ms on a small machine) and a small share on top; allocates.
 */
PS_PUBLIC int ps_topology_load(struct ps_topology **out, const struct ps_topology_options *options);

/**
 * Loads a tree from an XML file that hwloc wrote (lstopo FILE.xml, hwloc-gather-topology).
 *
 * A damaged file can crash hwloc itself, so all that will be done with it is first done in a child process, which is
 * waited for, and which may take 1 GB of memory and 15 s of CPU time.
 * PS_EINVAL: a NULL, or a file that isn't hwloc's XML, is damaged or needs more than that. PS_ESYS: the file can't be read (the detail
 * names the path and the reason), or no child process could be made. PS_ENOMEM. out is untouched on failure.
 */
PS_PUBLIC int ps_topology_load_xml(struct ps_topology **out, const char *path);

/**
 * Builds a tree from hwloc's synthetic description, such as "pack:2 l3:2 core:8 pu:2".
 *
 * What may be large is first tried in a child process, as a file is.
 * PS_EINVAL: a NULL, more than 32768 Threads, what takes hwloc more than 1 GB of memory or 15 s of CPU time, or
 * a description that hwloc refuses; the detail repeats it. PS_ESYS: no child process could be made. PS_ENOMEM.
 */
PS_PUBLIC int ps_topology_load_synthetic(struct ps_topology **out, const char *description);

/**
 * Releases the tree and all readings in it. NULL is ignored.
 *
 * Event sets that still refer to it stay valid, and may be destroyed later: their readings into this
 * topology then fail with PS_EINVAL. No other thread may be using the topology or its components.
 */
PS_PUBLIC void ps_topology_destroy(struct ps_topology *topology);

/**
 * What the tree was made from, if it isn't this machine's: the path of a file, a synthetic description, or hwloc's environment
 * variables that put another tree in this one's place, as "HWLOC_XMLFILE=server.xml". NULL if the tree is this
 * machine's, and for NULL. Lives as long as the topology.
 */
PS_PUBLIC const char *ps_topology_origin(const struct ps_topology *topology);

/** The Machine component; NULL for NULL. */
PS_PUBLIC struct ps_component *ps_topology_root(const struct ps_topology *topology);

/** The Thread of an operating system's CPU number, in O(1); the unknown Thread if the tree has no such CPU. */
PS_PUBLIC struct ps_thread *ps_topology_thread(const struct ps_topology *topology, int cpu);

/** The Thread that holds what was counted on CPUs that the tree doesn't know. Its CPU number is -1. */
PS_PUBLIC struct ps_thread *ps_topology_unknown_thread(const struct ps_topology *topology);

#ifdef __cplusplus
}
#endif
#endif
