/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines below a report by region: faults that happened, and which numbers are estimates. */
#include "output/path_table.h"
#include "region/paths.h"
#include "region/profile.h"

#include <inttypes.h>
#include <string.h>

static const struct {
	const char *word;
	const char *meaning;
} kinds[] = {
    [PS__FAULT_UNMATCHED] = {"unmatched", "a region was left that wasn't open"},
    [PS__FAULT_CROSSED] = {"crossed", "a region was left while another one was innermost"},
    [PS__FAULT_LEFT_OPEN] = {"left open", "a region was open when its thread ended"},
    [PS__FAULT_IN_HANDLER] = {"in handler",
                              "a signal handler entered or left a region, or gave a number, during "
                              "another call"},
    [PS__FAULT_UNREAD] = {"failed", "the counters could not be read at a boundary"},
    [PS__FAULT_NO_MEMORY] = {"failed",
                             "there was no memory for a region, a path, a number or a report"},
    [PS__FAULT_NO_NAME] = {"failed", "a mark had no name"},
    [PS__FAULT_JUMP] = {"failed", "a jump left a call that was adding counts to a path"},
    [PS__FAULT_UNREPORTED] = {"failed", "a visit that may have been slow was not reported, "
                                        "or could not be written to the log"},
};

static void path_faults_add_kinds(struct ps_profile *profile, struct ps__buffer *lines)
{
	for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
		uint64_t count = atomic_load(&profile->faults[kind]);
		if (count)
			ps__buffer_add(lines, "%-11s  %" PRIu64 " %s: %s\n", kinds[kind].word,
			               count, count == 1 ? "time" : "times", kinds[kind].meaning);
	}
}

static void path_faults_add_sampled(const struct ps__path_table *table, struct ps__buffer *lines)
{
	uint64_t visits = 0, counted = 0;

	for (size_t row = 0; row < table->row_count; row++) {
		visits += table->rows[row].path->visits.count;
		counted += table->rows[row].path->visits.counted;
	}
	if (counted < visits)
		ps__buffer_add(lines,
		               "%-11s  %" PRIu64 " of %" PRIu64 " visits were counted: the counts "
		               "and times of their regions are estimates\n",
		               "visits", counted, visits);
}

int ps__path_faults_find(struct ps_profile *profile, struct ps__path_fault out[PS__PATH_FAULTS],
                         const char **why)
{
	struct ps_profile_faults faults = {.size = sizeof faults};
	int code = ps_profile_faults(profile, &faults);

	if (code < 0)
		return code;
	const struct ps__path_fault all[PS__PATH_FAULTS] = {
	    {"unmatched", faults.unmatched}, {"crossed", faults.crossed},
	    {"left_open", faults.left_open}, {"in_handler", faults.in_handler},
	    {"failed", faults.failed},       {"uncounted", faults.uncounted},
	    {"inside", faults.inside},
	};
	memcpy(out, all, sizeof all);
	if (why)
		*why = faults.uncounted_why;
	return PS_OK;
}

int ps__path_faults_add(const struct ps__path_table *table, struct ps__buffer *lines)
{
	struct ps_profile_faults faults = {.size = sizeof faults};
	int code = ps_profile_faults(table->profile, &faults);

	path_faults_add_kinds(table->profile, lines);
	if (faults.uncounted)
		ps__buffer_add(lines,
		               "%-11s  %" PRIu64 " %s: its thread's counters could not be opened: "
		               "%s\n",
		               "uncounted", faults.uncounted,
		               faults.uncounted == 1 ? "visit or number" : "visits and numbers",
		               faults.uncounted_why ? faults.uncounted_why : "no memory");
	path_faults_add_sampled(table, lines);
	if (faults.inside)
		ps__buffer_add(lines,
		               "%-11s  %" PRIu64
		               " other %s: what was counted there since the last region "
		               "was entered or left is missing\n",
		               "inside", faults.inside,
		               faults.inside == 1 ? "thread goes on" : "threads go on");
	return code;
}
