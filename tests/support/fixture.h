/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies for tests: files of tests/fixtures/topology, synthetic descriptions, and what must
 * hold for any tree. */
#ifndef PS_TESTS_FIXTURE_H
#define PS_TESTS_FIXTURE_H

#include "scene.h"
#include "skip.h"

#include <string.h>

/* The path of a file in the source tree, in a static buffer. */
const char *fixture_path(const char *folder, const char *name);
char *fixture_read(const char *path, size_t *size_bytes); /* to be freed */

struct ps_topology *fixture_load(const char *name); /* of tests/fixtures/topology; must load */
struct ps_topology *fixture_synthetic(const char *description);

/* Numbers, ranges, parents and tables of a tree must agree with each other. */
void fixture_check_tree(struct ps_topology *topology);

/* The tree as "name size" lines, indented by depth, must be this. */
void fixture_check_outline(struct ps_topology *topology, const char *expected);

bool fixture_has_core_kinds(void); /* does the hwloc that is linked know them? */

#endif
