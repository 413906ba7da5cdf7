/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines above and below the counts of a run, or of several. */
#ifndef PS_TOOLS_STAT_FOOTER_H
#define PS_TOOLS_STAT_FOOTER_H

#include "tools/stat_quality.h"
#include "tools/stat_show.h"

void stat_footer_head(const struct stat_output *output, const struct stat_facts *facts, struct ps__buffer *out);
void stat_footer(const struct stat_quality *quality, const struct stat_facts *facts, struct ps__buffer *out);

/* The lines of it that tell of several runs as of one. */
void stat_footer_quality(const struct stat_quality *quality, struct ps__buffer *out);
/* What a line begins with. */
void stat_footer_line(const char *name, struct ps__buffer *out);
/* "with status 130 (signal 2: Interrupt)". */
void stat_footer_status(int status, struct ps__buffer *out);

/* The processor time of perfsage itself. */
double stat_footer_cost_s(void);

#endif
