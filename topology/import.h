/* SPDX-License-Identifier: BSD-3-Clause */
/* What import.c, which calls hwloc, needs from its helpers. */
#ifndef PS_TOPOLOGY_IMPORT_H
#define PS_TOPOLOGY_IMPORT_H

#include "topology/tree.h"

struct hwloc_topology; /* hwloc.h's hwloc_topology_t points to it */
struct hwloc_obj;

/* A tree with more Threads, or a higher CPU number, is taken for damaged. Linux
 * itself stops at 8192. */
#define PS__CPU_LIMIT (1 << 20)

/* Largest number of Threads in a description: more would take hwloc minutes and
 * gigabytes. */
#define PS__SYNTHETIC_LIMIT (1 << 15)

/* Fails with PS_EINVAL if the description has more Threads than PS__SYNTHETIC_LIMIT. */
int ps__import_check_synthetic(const char *description);

/* True if hwloc surely builds the description at once: it has few Threads and no attributes, which
 * can be costly. */
bool ps__import_is_small(const char *description);

/* Writes the environment variables that may put another tree in the place of
 * this machine's, as "NAME=value NAME=value"; false if none is set. */
bool ps__import_variables(char *text, size_t size_bytes);
/* True if one of these variables names an XML file or a description, unless HWLOC_THISSYSTEM says
 * that this tree is this machine's. */
bool ps__import_variables_replace(void);
/* Writes the command that unsets these variables: "unset NAME NAME". */
void ps__import_unset(char *text, size_t size_bytes);

/* Builds our tree from a loaded hwloc topology. PS_EINVAL: the topology makes no sense (the detail
 * sentence names `subject`, its source). */
int ps__import_tree(struct ps_topology **out, struct hwloc_topology *hwloc, const char *subject);

/* Copies hwloc's data of one object into a component, but not the object's position in the tree and
 * its number. PS_ENOMEM. */
int ps__import_component(struct ps_component *component, const struct hwloc_obj *object);

/* Sets the kinds of the Cores and Threads if hwloc knows several kinds. PS_ENOMEM. */
int ps__import_core_kinds(struct ps_topology *topology, struct hwloc_topology *hwloc);

/* Reads a file: its bytes followed by a NUL, to be freed with ps__os_free.
 * PS_ESYS, PS_EINVAL (too large), PS_ENOMEM. */
int ps__import_read_file(char **out, size_t *size_bytes, const char *path);

#endif
