/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of `perfsage stat`; stat_options.c handles their arguments. */
#ifndef PS_TOOLS_STAT_USAGE_H
#define PS_TOOLS_STAT_USAGE_H

#include "tools/options.h"

/* Options without a letter. */
enum {
	OPTION_APPEND = 256,
	OPTION_BUDGET,
	OPTION_BY,
	/* perf's names for --by with a type. */
	OPTION_BY_CACHE,
	OPTION_BY_CORE,
	OPTION_BY_DIE,
	OPTION_BY_NODE,
	OPTION_BY_SOCKET,
	OPTION_BY_CPU = 'A',
	OPTION_METHOD = OPTION_BY_SOCKET + 1,
	OPTION_EXACT,
	OPTION_REGION,
	OPTION_CGROUP,
	OPTION_CHILDREN,
	OPTION_CSV,
	OPTION_HEAT,
	OPTION_HEAT_BY,
	OPTION_INTERVAL_COUNT,
	OPTION_JSON,
	OPTION_OF_PERF,
	OPTION_IDLE,
	OPTION_EACH,
	OPTION_NO_IDLE,
	OPTION_ONE_IN,
	OPTION_PROCESSES,
	OPTION_NO_METRICS,
	OPTION_RAW,
	OPTION_REGIONS,
	OPTION_TASKS,
	OPTION_TIMEOUT,
	OPTION_TREE
};

extern const struct tool_usage stat_usage;

#endif
