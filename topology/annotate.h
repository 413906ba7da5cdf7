/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The topology as hwloc's XML, with remarks on its objects: what the heat map
 * is made of. The topology itself, which never changes, keeps what hwloc made
 * of the machine; remarks are made on a copy.
 */
#ifndef PS_TOPOLOGY_ANNOTATE_H
#define PS_TOPOLOGY_ANNOTATE_H

#include "topology/tree.h"

struct ps__note; /* one object of the copy */

/*
 * Gives an object an info attribute. One of the same name may be there, from
 * what the topology was read from: lstopo takes the first that it finds, so
 * "lstopoStyle" takes its place; any other stands beside it. PS_ENOMEM.
 */
int ps__note_add(struct ps__note *note, const char *name, const char *value);

/* A box that lstopo draws inside the object: a Misc object. PS_ENOMEM. */
int ps__note_add_box(struct ps__note *note, const char *text, const char *style);

/* Called for each component and its object, parents first; another return than
 * PS_OK ends all. It may be called in a child process besides. */
typedef int ps__note_visit(const struct ps_component *component, struct ps__note *note,
                           void *context);

/*
 * Makes the XML: a string of *length bytes and a NUL, to be freed with
 * ps__os_free. What an earlier heat map left on objects (PS__NOTE_PREFIX) is
 * taken away first. PS_ENOMEM, PS_ESYS (hwloc refuses), PS_EINVAL: the topology
 * is from a damaged file.
 */
int ps__annotate_export(const struct ps_topology *topology, ps__note_visit *visit, void *context,
                        char **out, size_t *length);

/* Makes the XML for nothing, to see whether it can be made: for import.c, in a
 * child process. The same codes. */
int ps__annotate_rehearse(const struct ps_topology *topology, const char *subject);

#define PS__NOTE_PREFIX "perfsage:"

/* Releases what was kept for it. */
void ps__annotate_forget(struct ps_topology *topology);

#endif
