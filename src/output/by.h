/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that choose the components to show. */
#ifndef PS_OUTPUT_BY_H
#define PS_OUTPUT_BY_H

struct ps_component;

/* "core", "l3", "numa", ..., in upper or lower case: types and cache level as struct
 * ps_print_options has them. PS_EINVAL, with the option's name. */
int ps__by_find(const char *option, const char *word, unsigned *types, int *cache_level);
/* Which level PS_CACHE_LAST_LEVEL is below a component; 0: there are no caches. */
int ps__by_last_level(struct ps_component *root);

#endif
