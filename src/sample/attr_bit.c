/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's names of the bits of perf_event_attr's masks, up to Linux 6.18. */
#include "sample/attr.h"

#include <stdio.h>

static const char *const sample_types[] = {"IP",
                                           "TID",
                                           "TIME",
                                           "ADDR",
                                           "READ",
                                           "CALLCHAIN",
                                           "ID",
                                           "CPU",
                                           "PERIOD",
                                           "STREAM_ID",
                                           "RAW",
                                           "BRANCH_STACK",
                                           "REGS_USER",
                                           "STACK_USER",
                                           "WEIGHT",
                                           "DATA_SRC",
                                           "IDENTIFIER",
                                           "TRANSACTION",
                                           "REGS_INTR",
                                           "PHYS_ADDR",
                                           "AUX",
                                           "CGROUP",
                                           "DATA_PAGE_SIZE",
                                           "CODE_PAGE_SIZE",
                                           "WEIGHT_STRUCT"};

static const char *const read_formats[] = {"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID",
                                           "GROUP", "LOST"};

static const char *const branch_types[] = {
    "USER",     "KERNEL",    "HV",        "ANY",      "ANY_CALL",   "ANY_RETURN", "IND_CALL",
    "ABORT_TX", "IN_TX",     "NO_TX",     "COND",     "CALL_STACK", "IND_JUMP",   "CALL",
    "NO_FLAGS", "NO_CYCLES", "TYPE_SAVE", "HW_INDEX", "PRIV_SAVE",  "COUNTERS"};

static const struct mask {
	enum ps_attr_field field;
	const char *prefix;
	const char *const *names;
	unsigned count;
} masks[] = {
    {PS_ATTR_SAMPLE_TYPE, "PERF_SAMPLE_", sample_types, sizeof sample_types / sizeof *sample_types},
    {PS_ATTR_READ_FORMAT, "PERF_FORMAT_", read_formats, sizeof read_formats / sizeof *read_formats},
    {PS_ATTR_BRANCH_SAMPLE_TYPE, "PERF_SAMPLE_BRANCH_", branch_types,
     sizeof branch_types / sizeof *branch_types},
    {PS_ATTR_SAMPLE_REGS_USER, "", NULL, 0},
    {PS_ATTR_SAMPLE_REGS_INTR, "", NULL, 0},
};

static const struct mask *find_mask(enum ps_attr_field field)
{
	for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
		if (masks[i].field == field)
			return &masks[i];
	}
	return NULL;
}

bool ps__attr_is_mask(enum ps_attr_field field)
{
	return find_mask(field) != NULL;
}

void ps__attr_bit_name(enum ps_attr_field field, unsigned bit, char name[PS__ATTR_BIT_NAME])
{
	const struct mask *mask = find_mask(field);

	if (mask && bit < mask->count)
		snprintf(name, PS__ATTR_BIT_NAME, "%s%s", mask->prefix, mask->names[bit]);
	else
		snprintf(name, PS__ATTR_BIT_NAME, "bit %u", bit);
}
