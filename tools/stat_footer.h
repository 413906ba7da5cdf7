/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines above and below the counts of a run. */
#ifndef PS_TOOLS_STAT_FOOTER_H
#define PS_TOOLS_STAT_FOOTER_H

#include "stat_show.h"

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts, FILE *stream);
void stat_footer(const struct stat_output *output, struct stat_count *count, const struct stat_facts *facts,
                 FILE *stream);

#endif
