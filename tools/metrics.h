/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics that the command knows: the library's, those of the installation, and the user's
 * own. */
#ifndef PS_TOOLS_METRICS_H
#define PS_TOOLS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* Loads all metrics. Complains about a file with errors and goes on with the others. */
void tool_metrics_load(void);

/* Complains that a metric or group is unknown, and suggests the nearest name if one is near.
 * Returns false, without a complaint, if there are no metrics at all.
 */
bool tool_metrics_complain_unknown(const char *word);

/* list_metrics.c: `perfsage list --metrics`. Returns the exit status. */
int tool_list_metrics(const char *word, bool is_json);

/* own_path.c: finds an installed file or folder relative to the command, because make install may
 * have used another prefix than configure. folder: PS_LIBDIR or the like. Returns false if the file
 * doesn't exist. */
bool tool_find_installed(const char *folder, const char *name, char *path, size_t size_bytes);
/* Gives the folder of the command itself. Returns false if it is unknown. */
bool tool_find_own_folder(char *path, size_t size_bytes);
/* Lets advice about capabilities name the command's own file, which opens the events. */
void tool_advise_itself(void);

#endif
