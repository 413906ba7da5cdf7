/* SPDX-License-Identifier: BSD-3-Clause */
/* The beginning of a path's line: branches, and the name of the innermost region. */
#ifndef PS_OUTPUT_PATH_LABEL_H
#define PS_OUTPUT_PATH_LABEL_H

#include "output/path_table.h"

/* Finds the branches of all rows. The caller frees the array. Fails with PS_ENOMEM. */
int ps__path_label_find_branches(const struct ps__path_table *table, uint64_t **out);

/* Adds a name, cut to room columns. Returns the columns that it takes. flags: bits of enum
 * ps_paths_flag. */
size_t ps__path_label_add_name(struct ps__buffer *buffer, const char *name, size_t room,
                               unsigned flags);

/* Adds the label of a row, which must not be the root path's. Returns the columns that it takes. */
size_t ps__path_label_add(struct ps__buffer *buffer, const struct ps__path_table *table, size_t row,
                          uint64_t branches);

/* Adds a name so that its bytes can be recovered: a backslash precedes "/" and "\", and "\xHH"
 * stands for a byte that isn't UTF-8 or can't be printed.
 */
void ps__path_label_add_escaped(struct ps__buffer *buffer, const char *name);

/* Add the escaped names of a path, outermost first, with "/" between them: all of them, or only the
 * innermost ones (most is their number). */
void ps__path_label_add_all(struct ps__buffer *buffer, const struct ps_path *path);
void ps__path_label_add_last(struct ps__buffer *buffer, const struct ps_path *path, size_t most);

#endif
