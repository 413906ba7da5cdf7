/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the topology as hwloc's XML, with remarks on its objects, for heat maps. The remarks are
 * made on a copy: the topology itself never changes.
 */
#ifndef PS_TOPOLOGY_ANNOTATE_H
#define PS_TOPOLOGY_ANNOTATE_H

#include "topology/tree.h"

struct ps__note; /* one object of the copy */

/*
 * Adds an info attribute to an object. If the topology's source had one of the
 * same name, both stay; only "lstopoStyle" is replaced, because lstopo takes the
 * first that it finds. PS_ENOMEM.
 */
int ps__note_add(struct ps__note *note, const char *name, const char *value);

/* Adds a box that lstopo draws inside the object: a Misc object. PS_ENOMEM. */
int ps__note_add_box(struct ps__note *note, const char *text, const char *style);

/* Called for each component and its object, parents first. Any result but PS_OK ends the walk. A
 * child process may call it first, as a trial. */
typedef int ps__note_visit(const struct ps_component *component, struct ps__note *note,
                           void *context);

/*
 * Makes the XML: a string of *length bytes and a NUL, to be freed with ps__os_free. First removes
 * the remarks of an earlier heat map (PS__NOTE_PREFIX). PS_ENOMEM, PS_ESYS (hwloc refuses),
 * PS_EINVAL: the topology is from a damaged file.
 */
int ps__annotate_export(const struct ps_topology *topology, ps__note_visit *visit, void *context,
                        char **out, size_t *length);

/* Makes the XML as a trial and frees it. import.c calls this in a child process. Returns the same
 * codes as ps__annotate_export. */
int ps__annotate_rehearse(const struct ps_topology *topology, const char *subject);

#define PS__NOTE_PREFIX "perfsage:"

/* Releases hwloc's topology, which was kept for annotations. */
void ps__annotate_forget(struct ps_topology *topology);

#endif
