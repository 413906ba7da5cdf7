/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of many runs this is. */
#ifndef PS_OUTPUT_RANK_H
#define PS_OUTPUT_RANK_H

const char *ps__rank_host(void);
/* The number of the rank, if it was started by MPI; else NULL. */
const char *ps__rank_number(void);

/* The name of a file with what its patterns stand for: %r, %h, %p, %q{VARIABLE}, %%; for free().
 * PS_EINVAL, with the option's name; PS_ENOMEM. */
int ps__rank_expand(const char *option, const char *pattern, char **out);
/* The same, but %p and %% stay: an absolute pattern for this process and those that it forks, which
 * depends neither on the environment nor on the folder any more. */
int ps__rank_settle(const char *option, const char *pattern, char **out);

#endif
