/* SPDX-License-Identifier: BSD-3-Clause */
/* The software threads of a command or of processes, by hardware thread. */
#ifndef PS_TOOLS_STAT_TASKS_H
#define PS_TOOLS_STAT_TASKS_H

#include "tools/stat_show.h"
#include "tools/stat_tally.h"

/* Can the sets that were started tell their tasks apart? -1 after a complaint. */
int stat_tasks_check(const struct stat_count *count);

/* The matrix, in the output's format (text or JSON), after counting has ended. tally: of all intervals; NULL: there were
 * none. -1 after a complaint. */
int stat_tasks_show(struct stat_output *output, struct stat_count *count, const struct stat_tally *tally);

#endif
