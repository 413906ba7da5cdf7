/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines below a report by region: what is not as it should be, and what is an estimate. */
#include "output/path_table.h"
#include "region/paths.h"

#include <inttypes.h>

static void path_faults_add_one(struct ps__buffer *lines, const char *word, uint64_t count,
                                const char *meaning)
{
	if (count)
		ps__buffer_add(lines, "%-11s  %" PRIu64 " %s: %s\n", word, count,
		               count == 1 ? "time" : "times", meaning);
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

int ps__path_faults_add(const struct ps__path_table *table, struct ps__buffer *lines)
{
	struct ps_profile_faults faults = {.size = sizeof faults};
	int code = ps_profile_faults(table->profile, &faults);

	path_faults_add_one(lines, "unmatched", faults.unmatched,
	                    "a region was left that wasn't open");
	path_faults_add_one(lines, "crossed", faults.crossed,
	                    "a region was left while another one was innermost");
	path_faults_add_one(lines, "left open", faults.left_open,
	                    "a region was open when its thread ended");
	path_faults_add_one(
	    lines, "in handler", faults.in_handler,
	    "a signal handler entered or left a region, or gave a number, during another call");
	path_faults_add_one(
	    lines, "failed", faults.failed,
	    "the counters could not be read at a boundary, there was no memory, or a "
	    "mark had no name");
	if (faults.uncounted)
		ps__buffer_add(lines,
		               "%-11s  %" PRIu64 " %s: its thread's counters could not be opened: "
		               "%s\n",
		               "uncounted", faults.uncounted,
		               faults.uncounted == 1 ? "visit" : "visits",
		               faults.uncounted_why ? faults.uncounted_why : "no memory");
	path_faults_add_sampled(table, lines);
	if (faults.inside)
		ps__buffer_add(
		    lines,
		    "%-11s  %" PRIu64 " other %s inside a region: what was counted there "
		    "since the last region was entered or left is missing\n",
		    "inside", faults.inside, faults.inside == 1 ? "thread is" : "threads are");
	return code;
}
