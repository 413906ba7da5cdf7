/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines above and below the counts of a run, or of several. */
#ifndef PS_TOOLS_STAT_FOOTER_H
#define PS_TOOLS_STAT_FOOTER_H

#include "tools/stat_quality.h"
#include "tools/stat_show.h"

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts, FILE *stream);
void stat_footer(const struct stat_quality *quality, const struct stat_facts *facts, FILE *stream);

/* The lines of it that tell of several runs as of one. */
void stat_footer_quality(const struct stat_quality *quality, FILE *stream);
/* What a line begins with. */
void stat_footer_line(const char *name, FILE *stream);
/* "with status 130 (signal 2: Interrupt)". */
void stat_footer_status(int status, FILE *stream);

/* The processor time of perfsage itself. */
double stat_footer_cost_s(void);

#endif
