/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology: the tree of components of a machine, and the owner of all
 * readings that were stored in it.
 *
 * The tree is built with hwloc (https://www.open-mpi.org/projects/hwloc/), and
 * does not change after loading.
 */
#ifndef PERFSAGE_TOPOLOGY_H
#define PERFSAGE_TOPOLOGY_H

#include <perfsage/component.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of ps_topology_load. */
enum ps_topology_flag {
	/* also CPUs and NUMA nodes that the cpuset forbids (is_allowed: 0), but not offline ones */
	PS_TOPOLOGY_WHOLE_MACHINE = 1 << 0
};

/**
 * Options of ps_topology_load; all but size may be 0.
 *
 * Start with `struct ps_topology_options o = {.size = sizeof o};`.
 */
struct ps_topology_options {
	size_t size;    /* sizeof(struct ps_topology_options) */
	unsigned flags; /* OR of enum ps_topology_flag */
};

/**
 * Loads the tree of this machine.
 *
 * hwloc's environment variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC, HWLOC_FSROOT,
 * ...) can replace this tree by another tree. If such a variable is set, a child
 * process first loads the tree as a trial, as with ps_topology_load_xml.
 * ps_topology_origin tells whether the tree was replaced.
 *
 * out - receives the topology; release it with ps_topology_destroy; untouched
 *     on failure
 * options - NULL for the defaults
 *
 * Errors:
 *   PS_EINVAL - out is NULL; options has a wrong size or an unknown flag; the
 *       tree of hwloc's variables is damaged or too large, or hwloc refuses the
 *       values of the variables
 *   PS_ENOMEM - out of memory
 *   PS_ESYS - hwloc could not read the machine; ps_error_detail() gives its
 *       reason
 *   PS_EPERM - a seccomp filter refuses sched_getaffinity
 *   PS_ECOUNT - the process has fewer than 3 free file descriptors, or the
 *       system's table of open files is full
 *
 * Any thread. Allocates. Cost: little more than hwloc's own time (about 1 ms on a
 * small machine).
 */
PS_PUBLIC int ps_topology_load(struct ps_topology **out, const struct ps_topology_options *options);

/**
 * Loads a tree from an XML file that hwloc wrote (lstopo,
 * hwloc-gather-topology).
 *
 * A damaged file can crash hwloc itself. Therefore a child process first loads the
 * file and uses the tree, and the call waits for the child. The limits of the child
 * are 1 GB of memory, 15 s of CPU time and 120 s in all. The tree also has the CPUs
 * that were not allowed to the process that wrote the file.
 *
 * out - receives the topology; untouched on failure
 * path - the file
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; or the file isn't hwloc's XML, is damaged,
 *       has 64 MiB or more, or the child reached a limit
 *   PS_ESYS - the file can't be read (ps_error_detail() names the path and the
 *       reason), or no child process could be created
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_topology_load_xml(struct ps_topology **out, const char *path);

/**
 * Builds a tree from hwloc's synthetic description.
 *
 * A description of more than 4096 Threads, or with attributes in parentheses,
 * is first tried in a child process, as a file is.
 *
 * out - receives the topology; untouched on failure
 * description - such as "pack:2 l3:2 core:8 pu:2"
 *
 * Errors:
 *   PS_EINVAL - an argument is NULL; the tree has more than 32768 Threads; it
 *       takes hwloc more than 1 GB of memory or 15 s of CPU time; or hwloc
 *       refuses the description, which ps_error_detail() repeats
 *   PS_ESYS - no child process could be created
 *   PS_ENOMEM - out of memory
 */
PS_PUBLIC int ps_topology_load_synthetic(struct ps_topology **out, const char *description);

/**
 * Releases the tree and all readings in it.
 *
 * Event sets that still refer to the topology stay valid, and may be destroyed
 * later. New readings of these sets into this topology fail with PS_EINVAL.
 *
 * topology - NULL is ignored. No other thread may use the topology or its
 *     components during the call.
 */
PS_PUBLIC void ps_topology_destroy(struct ps_topology *topology);

/**
 * Drops the readings of all event sets that were destroyed, and releases their
 * memory.
 *
 * After the call, these readings are in no total, look-up or output. Names that
 * ps_thread_event_name gave are invalid. Sets that are not destroyed keep all
 * their readings, and running sets go on counting.
 *
 * topology - no other thread may be in a call on the topology, on its components,
 *     or on a set that has readings in the topology
 *
 * Errors:
 *   PS_EINVAL - topology is NULL
 *   PS_ECLOST - the topology was inherited by fork()
 *
 * Cost: O(hardware threads + event sets that ever stored a reading there). Not
 * for signal handlers.
 */
PS_PUBLIC int ps_topology_clear_readings(struct ps_topology *topology);

/**
 * Where the tree comes from.
 *
 * Returns the path after ps_topology_load_xml, and the description after
 * ps_topology_load_synthetic. Returns hwloc's environment variables if they replaced this
 * machine's tree at ps_topology_load, such as "HWLOC_XMLFILE=server.xml". Otherwise, and for NULL,
 * returns NULL. The string lives as long as the topology.
 */
PS_PUBLIC const char *ps_topology_origin(const struct ps_topology *topology);

/** The Machine component; NULL for NULL. */
PS_PUBLIC struct ps_component *ps_topology_root(const struct ps_topology *topology);

/**
 * The Thread of an operating system's CPU number, in O(1).
 *
 * cpu - the number; if the tree has no such CPU, the unknown Thread is returned
 *
 * NULL if topology is NULL.
 */
PS_PUBLIC struct ps_thread *ps_topology_thread(const struct ps_topology *topology, int cpu);

/**
 * The Thread that holds the counts of CPUs that the tree doesn't know.
 *
 * Its CPU number is -1. NULL if topology is NULL.
 */
PS_PUBLIC struct ps_thread *ps_topology_unknown_thread(const struct ps_topology *topology);

#ifdef __cplusplus
}
#endif
#endif
