/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that choose the components to show. */
#ifndef PS_OUTPUT_BY_H
#define PS_OUTPUT_BY_H

struct ps_component;

/* Sets types and cache_level, as in struct ps_print_options, from a word in upper or lower case:
 * "core", "l3", "numa", ... Returns PS_EINVAL for an unknown word; the error names the option. */
int ps__by_find(const char *option, const char *word, unsigned *types, int *cache_level);
/* Returns the cache level that PS_CACHE_LAST_LEVEL means below a component; 0 if it has no
 * caches. */
int ps__by_last_level(struct ps_component *root);

#endif
