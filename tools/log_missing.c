/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports what a log lacks: the numbers of some records must not look like those of all. */
#include "output/json_writer.h"
#include "snapshot/reader.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <inttypes.h>

/* Sums over all streams. */
struct amounts {
	uint64_t records, missing, dropped;
};

static struct amounts missing_add_up(const struct ps_log_reader *reader)
{
	struct amounts amounts = {.records = 0};

	for (size_t stream = 0; stream < ps_log_stream_count(reader); stream++) {
		struct ps_log_info info = {.size = sizeof info};
		ps_log_describe(reader, stream, &info);
		amounts.records += info.records;
		amounts.missing += info.missing;
		amounts.dropped += info.dropped;
	}
	return amounts;
}

static bool missing_is_known(const struct ps_log_reader *reader)
{
	return ps__log_counts_damage(reader) && !ps__log_may_lack_end(reader) &&
	       !ps__log_is_overwritten(reader);
}

bool tool_log_has_lost_all(const struct tool_log *log)
{
	struct amounts amounts = missing_add_up(log->reader);

	return amounts.records == 0 && (amounts.missing || ps_log_damaged_blocks(log->reader) ||
	                                ps_log_end(log->reader) == PS_LOG_END_CUT);
}

/* Reports that a full ring may have lost records; whether it has is unknown. */
static void complain_ring(const struct tool_log *log, uint64_t dropped)
{
	const char *path = log->options.path;

	if (!ps__log_is_overwritten(log->reader))
		return;
	if (dropped)
		tool_complain("%" PRIu64 " older record%s of '%s' made room for newer ones, or "
		              "could not be written: the log is a ring. Streams whose blocks were "
		              "all overwritten are not shown",
		              dropped, dropped == 1 ? "" : "s", path);
	else
		tool_complain("'%s' is a ring, and all of its blocks were used: streams whose "
		              "blocks were all overwritten are not shown",
		              path);
}

void tool_log_complain_missing(const struct tool_log *log)
{
	const char *path = log->options.path;
	struct amounts amounts = missing_add_up(log->reader);
	uint64_t missing = amounts.missing;
	size_t blocks = ps_log_damaged_blocks(log->reader);

	if (missing)
		tool_complain("%" PRIu64 " record%s of '%s' %s missing: there was no space for "
		              "them, or the file %s",
		              missing, missing == 1 ? "" : "s", path, missing == 1 ? "is" : "are",
		              ps_log_end(log->reader) == PS_LOG_END_CUT ? "was cut off"
		                                                        : "is damaged");
	complain_ring(log, amounts.dropped);
	if (blocks)
		tool_complain("%zu block%s of '%s' can't be read, or not all of %s: the file is "
		              "damaged. Use a whole copy",
		              blocks, blocks == 1 ? "" : "s", path, blocks == 1 ? "it" : "them");
	if (ps_log_end(log->reader) == PS_LOG_END_CUT)
		tool_complain(
		    "the end of '%s' is missing: the file was cut off. Use the whole file", path);
	else if (ps__log_may_lack_end(log->reader) && ps_log_end(log->reader) == PS_LOG_END_UNKNOWN)
		tool_complain("'%s' has no note of its end that can be read: its last records may "
		              "be missing. An older perfsage wrote it, or it is damaged",
		              path);
	else if (ps__log_may_lack_end(log->reader))
		tool_complain("'%s' was not closed: its program goes on, or was killed, and its "
		              "last records may be missing",
		              path);
	else if (ps_log_end(log->reader) == PS_LOG_END_OPEN)
		tool_complain("'%s' was not closed: its program goes on, or was killed; later "
		              "records, if any, are missing",
		              path);
}

/* Returns how the log ends; NULL if the log has no note of its end that can be read. */
static const char *missing_end(const struct tool_log *log)
{
	static const char *const ends[] = {
	    [PS_LOG_END_CLOSED] = "closed", [PS_LOG_END_OPEN] = "open", [PS_LOG_END_CUT] = "cut"};

	return ends[ps_log_end(log->reader)];
}

void tool_log_add_missing_json(const struct tool_log *log, struct ps__json *json)
{
	struct amounts amounts = missing_add_up(log->reader);

	ps__json_add_known(json, "missing", amounts.missing, missing_is_known(log->reader));
	ps__json_add_unsigned(json, "dropped", amounts.dropped);
	ps__json_add_unsigned(json, "damaged_blocks", ps_log_damaged_blocks(log->reader));
	ps__json_add_string(json, "end", missing_end(log));
}

void tool_log_add_missing_csv(const struct tool_log *log, struct ps__buffer *text)
{
	struct amounts amounts = missing_add_up(log->reader);
	const char *end = missing_end(log);

	if (missing_is_known(log->reader))
		ps__buffer_add(text, ",%" PRIu64, amounts.missing);
	else
		ps__buffer_add(text, ",");
	ps__buffer_add(text, ",%" PRIu64 ",%zu,%s", amounts.dropped,
	               ps_log_damaged_blocks(log->reader), end ? end : "");
}
