/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree with its counters, as text. */
#ifndef PERFSAGE_PRINT_H
#define PERFSAGE_PRINT_H

#include <perfsage/component.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Prints the tree below a component, with a column for each event: what ps_component_total gives for every
 * component, and on Threads how it is known. Components without a count below them are left out, and
 * counted in a last line; a tree without any reading is printed whole.
 *
 * root: a Machine or any other component. stream: stays open. Plain ASCII, lines of any length.
 * PS_EINVAL: a NULL. PS_ESYS: the stream could not be written; the detail says why. PS_ENOMEM.
 * Any thread, also while sets are counting. Allocates.
 */
PS_PUBLIC int ps_print(struct ps_component *root, FILE *stream);

#ifdef __cplusplus
}
#endif
#endif
