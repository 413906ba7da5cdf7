/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log show: the streams of a log, and its records, with each point's counts since the
 * record's first point. Points that a record keeps from an earlier one aren't shown. */
#include "output/csv.h"
#include "output/json_writer.h"
#include "output/known.h"
#include "output/wrap.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TERMINAL_ROWS 20
#define TEXT_INDENT   4

struct show {
	struct ps__buffer text;
	struct ps__json json;
	struct tool_screen screen;
	uint64_t records, rows; /* rows: most records that are printed; 0: all */
};

/* Adds the line of a stream or record to the text, wrapped, and empties `line`. */
static void put_folded(struct show *show, struct ps__buffer *line)
{
	struct ps__wrap wrap = {.indent = TEXT_INDENT,
	                        .width = show->screen.width,
	                        .charset = PS__CHARSET_UTF8,
	                        .keeps_pairs = true};

	show->text.failed |= line->failed;
	ps__wrap_add(&show->text, ps__buffer_text(line), &wrap);
	ps__buffer_restart(line);
}

static void put_names(struct show *show, const char *what, const struct ps_log_reader *reader,
                      size_t stream,
                      const char *(*name_of)(const struct ps_log_reader *, size_t, size_t))
{
	struct ps__buffer line = {0};
	const char *name;

	for (size_t index = 0; (name = name_of(reader, stream, index)); index++) {
		ps__buffer_add(&line, "%s", index ? ", " : what);
		tool_put(&line, name);
	}
	if (line.length)
		put_folded(show, &line);
	ps__buffer_clear(&line);
}

/* Adds a line for a stream. Its numbers are known only after all records have been read. */
static void put_stream(struct show *show, const struct ps_log_reader *reader, size_t stream)
{
	struct ps_log_info info = {.size = sizeof info};
	struct ps__buffer line = {0}, *text = &line;

	ps_log_describe(reader, stream, &info);
	ps__buffer_add(text, "stream %zu  ", stream);
	tool_put(text, info.type);
	ps__buffer_add(text, ", thread %d of process %d: %" PRIu64 " records", info.thread,
	               info.process, info.records);
	if (info.missing)
		ps__buffer_add(text, ", %" PRIu64 " missing", info.missing);
	if (info.dropped)
		ps__buffer_add(text, ", %" PRIu64 " older ones dropped or lost", info.dropped);
	put_folded(show, text);
	ps__buffer_clear(text);
	put_names(show, "  events  ", reader, stream, ps_log_event_name);
	put_names(show, "  points  ", reader, stream, ps_log_point_name);
	put_names(show, "  fields  ", reader, stream, ps_log_field_name);
}

/* Returns the point that was taken first for this record; of several at one time, the first in
 * order. */
static unsigned first_of(const struct tool_log *log, const struct ps_log_record *record)
{
	unsigned first = 0;
	uint64_t first_ns = UINT64_MAX;

	for (uint32_t left = record->points; left; left &= left - 1) {
		unsigned point = (unsigned)__builtin_ctz(left);
		uint64_t time_ns = ps_log_time(log->reader, point);
		if (time_ns < first_ns) {
			first = point;
			first_ns = time_ns;
		}
	}
	return first;
}

/* Adds the time and the counts since the record's first point. */
static void put_point(struct tool_log *log, struct ps__buffer *text, unsigned point, unsigned first)
{
	uint64_t time_ns = ps_log_time(log->reader, point) - ps_log_time(log->reader, first);
	const char *name = ps_log_point_name(log->reader, log->view.stream, point);

	ps__buffer_add(text, "  ");
	tool_put(text, name);
	ps__buffer_add(text, " +%" PRIu64 "ns", time_ns);
	if (point == first ||
	    ps_log_interval(log->reader, first, point, NULL, log->values, log->value_room) != PS_OK)
		return;
	for (size_t index = 0; index < log->events.count; index++) {
		struct ps__look look = log->looks[index];
		ptrdiff_t at = log->view.events[index];
		ps__buffer_add(text, index ? ", " : ": ");
		if (at >= 0)
			ps__known_add_value(text, &log->values[at], &look);
		else
			ps__buffer_add(text, "n/s");
		ps__buffer_add(text, " ");
		tool_put(text, log->events.names[index]);
	}
}

static void put_text_record(struct tool_log *log, struct show *show,
                            const struct ps_log_record *record)
{
	unsigned first = first_of(log, record);
	struct ps__buffer line = {0}, *text = &line;
	const char *name;

	ps__buffer_add(text, "%zu:%" PRIu64, record->stream, record->number);
	for (unsigned field = 0; (name = ps_log_field_name(log->reader, record->stream, field));
	     field++) {
		char shown[PS_LOG_TEXT_BYTES + 1];
		struct ps_log_value value;
		ps_log_value(log->reader, field, &value);
		tool_log_field_text(&value, shown, sizeof shown);
		ps__buffer_add(text, "  ");
		tool_put(text, name);
		ps__buffer_add(text, "=");
		tool_put(text, value.is_set ? shown : "-");
		if (value.is_set && !(record->fields >> field & 1))
			ps__buffer_add(text, " (kept)");
	}
	for (uint32_t left = record->points; left; left &= left - 1)
		put_point(log, text, (unsigned)__builtin_ctz(left), first);
	put_folded(show, text);
	ps__buffer_clear(text);
}

/* Adds a number. JSON has no NaN and infinity, and null means that the field was never set, so
 * these become strings, as in the text. */
static void put_json_real(struct ps__json *json, const char *name, const struct ps_log_value *value)
{
	char shown[PS_LOG_TEXT_BYTES + 1];

	if (isfinite(value->real)) {
		ps__json_add_double(json, name, value->real);
		return;
	}
	tool_log_field_text(value, shown, sizeof shown);
	ps__json_add_string(json, name, shown);
}

static void put_json_fields(struct tool_log *log, struct ps__json *json, size_t stream)
{
	const char *name;

	ps__json_open(json, "fields", '{');
	for (unsigned field = 0; (name = ps_log_field_name(log->reader, stream, field)); field++) {
		struct ps_log_value value;
		ps_log_value(log->reader, field, &value);
		if (!value.is_set)
			ps__json_add_null(json, name);
		else if (value.kind == PS_LOG_INTEGER)
			ps__json_add_integer(json, name, value.integer);
		else if (value.kind == PS_LOG_REAL)
			put_json_real(json, name, &value);
		else
			ps__json_add_string(json, name, value.text);
	}
	ps__json_close(json, '}');
}

static void put_json_points(struct tool_log *log, struct ps__json *json,
                            const struct ps_log_record *record)
{
	unsigned first = first_of(log, record);
	const char *name;

	ps__json_open(json, "points", '[');
	for (unsigned point = 0; (name = ps_log_point_name(log->reader, record->stream, point));
	     point++) {
		ps__json_open(json, NULL, '{');
		ps__json_add_string(json, "point", name);
		bool is_taken = record->points >> point & 1;
		ps__json_add_bool(json, "taken", is_taken);
		uint64_t time_ns = ps_log_time(log->reader, point);
		ps__json_add_known(json, "timestamp", time_ns, time_ns);
		ps__json_open(json, "since_first", '{');
		bool is_known = is_taken && ps_log_interval(log->reader, first, point, NULL,
		                                            log->values, log->value_room) == PS_OK;
		for (size_t index = 0; is_known && index < log->events.count; index++) {
			ptrdiff_t at = log->view.events[index];
			struct ps__look look = log->looks[index];
			ps__json_open(json, log->events.names[index], '{');
			if (at >= 0)
				ps__json_add_value(json, &log->values[at], look.unit, look.scale);
			ps__json_close(json, '}');
		}
		ps__json_close(json, '}');
		ps__json_close(json, '}');
	}
	ps__json_close(json, ']');
}

/* Writes the text when there is enough of it: a log may be larger than the memory. */
static int show_flush(struct show *show)
{
	if (show->text.length < 65536)
		return 0;
	return tool_write(&show->text, stdout);
}

static int show_put_record(struct tool_log *log, const struct ps_log_record *record, void *context)
{
	struct show *show = context;

	show->records++;
	if (log->options.format != TOOL_LOG_JSON) {
		if (!show->rows || show->records <= show->rows)
			put_text_record(log, show, record);
		return show_flush(show);
	}
	ps__json_open_line(&show->json, NULL, '{');
	ps__json_add_unsigned(&show->json, "stream", record->stream);
	ps__json_add_unsigned(&show->json, "number", record->number);
	put_json_fields(log, &show->json, record->stream);
	put_json_points(log, &show->json, record);
	ps__json_close_line(&show->json, '}');
	return show_flush(show);
}

static void put_json_stream(struct ps__json *json, const struct ps_log_reader *reader,
                            size_t stream)
{
	struct ps_log_info info = {.size = sizeof info};

	ps_log_describe(reader, stream, &info);
	ps__json_open_line(json, NULL, '{');
	ps__json_add_unsigned(json, "stream", stream);
	ps__json_add_string(json, "type", info.type);
	ps__json_add_integer(json, "process", info.process);
	ps__json_add_integer(json, "thread", info.thread);
	ps__json_add_unsigned(json, "records", info.records);
	ps__json_add_unsigned(json, "missing", info.missing);
	ps__json_add_unsigned(json, "dropped", info.dropped);
	ps__json_close_line(json, '}');
}

static void put_json_end(struct tool_log *log, struct show *show)
{
	ps__json_close(&show->json, ']');
	ps__json_open(&show->json, "streams", '[');
	for (size_t stream = 0; stream < ps_log_stream_count(log->reader); stream++)
		put_json_stream(&show->json, log->reader, stream);
	ps__json_close(&show->json, ']');
	tool_log_add_missing_json(log, &show->json);
	ps__json_close(&show->json, '}');
}

static void put_text_end(struct tool_log *log, struct show *show)
{
	size_t streams = ps_log_stream_count(log->reader);
	struct ps__buffer line = {0};

	if (show->rows && show->records > show->rows) {
		ps__buffer_add(
		    &line, "and %" PRIu64 " more record%s: --rows shows more, --json all",
		    show->records - show->rows, show->records - show->rows == 1 ? "" : "s");
		put_folded(show, &line);
	}
	ps__buffer_clear(&line);
	if (streams)
		ps__buffer_add(&show->text, "\n");
	for (size_t stream = 0; stream < streams; stream++)
		put_stream(show, log->reader, stream);
}

int tool_log_show(struct tool_log *log)
{
	struct show show = {.screen = tool_screen_of(STDOUT_FILENO),
	                    .rows = (uint64_t)log->options.rows};
	bool is_json = log->options.format == TOOL_LOG_JSON;

	if (log->options.format == TOOL_LOG_CSV)
		return tool_complain("perfsage log show has no CSV: records of several types have "
		                     "different columns. --json shows them");
	if (!show.rows && show.screen.is_terminal)
		show.rows = TERMINAL_ROWS;
	show.json = ps__json_create(&show.text, false);
	if (is_json) {
		ps__json_open(&show.json, NULL, '{');
		ps__json_add_string(&show.json, "log", log->options.path);
		ps__json_open(&show.json, "records", '[');
	}
	int result = tool_log_each(log, show_put_record, &show);
	if (result == 0 && is_json)
		put_json_end(log, &show);
	else if (result == 0)
		put_text_end(log, &show);
	if (result == 0)
		result = tool_write(&show.text, stdout);
	ps__buffer_clear(&show.text);
	return result;
}
