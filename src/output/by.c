/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the components that a word names. Knows also words of perf, numactl and other tools. */
#include "output/by.h"

#include "base/error.h"

#include <perfsage/print.h>
#include <strings.h>

static const struct {
	const char *word;
	enum ps_component_type type;
	int cache_level;
} words[] = {
    {"cpu", PS_COMPONENT_THREAD, 0},      {"thread", PS_COMPONENT_THREAD, 0},
    {"core", PS_COMPONENT_CORE, 0},       {"cache", PS_COMPONENT_CACHE, PS_CACHE_LAST_LEVEL},
    {"l1", PS_COMPONENT_CACHE, 1},        {"l2", PS_COMPONENT_CACHE, 2},
    {"l3", PS_COMPONENT_CACHE, 3},        {"l4", PS_COMPONENT_CACHE, 4},
    {"numa", PS_COMPONENT_NUMA, 0},       {"node", PS_COMPONENT_NUMA, 0},
    {"die", PS_COMPONENT_DIE, 0},         {"package", PS_COMPONENT_PACKAGE, 0},
    {"socket", PS_COMPONENT_PACKAGE, 0},  {"group", PS_COMPONENT_GROUP, 0},
    {"machine", PS_COMPONENT_MACHINE, 0},
};

int ps__by_find(const char *option, const char *word, unsigned *types, int *cache_level)
{
	for (size_t index = 0; index < sizeof words / sizeof words[0]; index++) {
		if (strcasecmp(words[index].word, word) != 0)
			continue;
		*types = PS_TYPE_BIT(words[index].type);
		*cache_level = words[index].cache_level;
		return PS_OK;
	}
	return ps__fail(PS_EINVAL,
	                "%s takes cpu, core, cache, l1, l2, l3, l4, numa, die, package, group or "
	                "machine, not '%s'",
	                option, word);
}

static int raise_level(struct ps_component *component, void *context)
{
	int *level = context, found = ps_component_cache_level(component);

	*level = found > *level ? found : *level;
	return 0;
}

int ps__by_last_level(struct ps_component *root)
{
	int level = 0;

	ps_component_for_each(root, raise_level, &level);
	return level;
}
