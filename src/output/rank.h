/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of this host, rank and process in file names. */
#ifndef PS_OUTPUT_RANK_H
#define PS_OUTPUT_RANK_H

#include <perfsage/export.h>
#include <stddef.h>

const char *ps__rank_host(void);
/* Returns the rank's number if MPI started the process; else NULL. */
const char *ps__rank_number(void);

#define PS__RANK_FIELDS 2
/* Makes the fields "rank" and "host" of JSON and CSV. Returns their number: 0 if MPI didn't start
 * this process. */
size_t ps__rank_fields(struct ps_export_field fields[PS__RANK_FIELDS]);

/* Replaces %r, %h, %p, %q{VARIABLE} and %% in a file name. The caller frees *out. PS_EINVAL; the
 * error names the option. PS_ENOMEM. */
int ps__rank_expand(const char *option, const char *pattern, char **out);
/* Does the same as ps__rank_expand, but keeps %p and %%. The result is an absolute pattern that
 * this process and its children can expand later, even if their environment and working folder are
 * then different. */
int ps__rank_settle(const char *option, const char *pattern, char **out);

#endif
