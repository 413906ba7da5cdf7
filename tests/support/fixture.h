/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies for tests, from files in tests/fixtures/topology or from synthetic descriptions; and
 * checks that hold for any tree. */
#ifndef PS_TESTS_FIXTURE_H
#define PS_TESTS_FIXTURE_H

#include "scene.h"
#include "skip.h"

#include <string.h>

/* Returns the path of a file in the source tree, in a static buffer. */
const char *fixture_path(const char *folder, const char *name);
char *fixture_read(const char *path, size_t *size_bytes); /* to be freed */

struct ps_topology *fixture_load(const char *name); /* a file in tests/fixtures/topology; must
                                                     * load */
struct ps_topology *fixture_synthetic(const char *description);

/* Checks that numbers, ranges, parents and tables of the tree agree with each other. */
void fixture_check_tree(struct ps_topology *topology);

/* Checks the tree against "name size" lines, indented by depth. */
void fixture_check_outline(struct ps_topology *topology, const char *expected);

bool fixture_has_core_kinds(void); /* true if the hwloc in use knows them */

#endif
