/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics that the command knows: those of the library, of the installation, and the user's. */
#ifndef PS_TOOLS_METRICS_H
#define PS_TOOLS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* Loads all of them. Complains of a file that is wrong; the others are there. */
void tool_metrics_load(void);

/* Complains, if there is one, with the nearest name of a metric or group. Returns whether it did.
 */
bool tool_metrics_complain_unknown(const char *word);

/* list_metrics.c: `perfsage list --metrics`. The exit status. */
int tool_list_metrics(const char *word, bool is_json);

/* own_path.c: a file or folder of the installation, by the prefix that the command has now: make
 * install may have had another one than configure. folder: as configure has it, PS_LIBDIR or the
 * like. False if it isn't there. */
bool tool_find_installed(const char *folder, const char *name, char *path, size_t size_bytes);
/* The folder of the command itself; false if it isn't known. */
bool tool_find_own_folder(char *path, size_t size_bytes);

#endif
