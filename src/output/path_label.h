/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of a path's line of text: branches, and the innermost region. */
#ifndef PS_OUTPUT_PATH_LABEL_H
#define PS_OUTPUT_PATH_LABEL_H

#include "output/path_table.h"

/* The branches of all rows: free the array. Fails with PS_ENOMEM. */
int ps__path_label_find_branches(const struct ps__path_table *table, uint64_t **out);

/* As much of a name as there is room for; returns its columns. flags: of enum ps_paths_flag. */
size_t ps__path_label_add_name(struct ps__buffer *buffer, const char *name, size_t room,
                               unsigned flags);

/* The label of a row, but not of the root path's; returns its columns on the screen. */
size_t ps__path_label_add(struct ps__buffer *buffer, const struct ps__path_table *table, size_t row,
                          uint64_t branches);

/* A name from which its bytes can be read back: a backslash stands before "/" and itself, and
 * "\xHH" for a byte of what is no UTF-8 or can't be printed.
 */
void ps__path_label_add_escaped(struct ps__buffer *buffer, const char *name);

/* All names of a path so, outermost first, with "/" between them; or so many of the innermost. */
void ps__path_label_add_all(struct ps__buffer *buffer, const struct ps_path *path);
void ps__path_label_add_last(struct ps__buffer *buffer, const struct ps_path *path, size_t most);

#endif
