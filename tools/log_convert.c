/* SPDX-License-Identifier: BSD-3-Clause */
/* perfsage log convert: writes a trace of the records for viewers. Each task has a track with the
 * records as slices, and tracks with the counts as counters; so has each hardware thread that a
 * task ran on. */
#include "base/os.h"
#include "tools/command.h"
#include "tools/log_tracks.h"
#include "tools/terminal.h"
#include "topology/tree.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_ARGUMENTS (PS_LOG_MOST_FIELDS + 1)
#define ATTRIBUTION    "attribution" /* name of the argument with the attribution */
#define KNOWN_BYTES    48
#define STEP_BYTES     (2 * PS_LOG_TEXT_BYTES + sizeof " to ")

/* The record's points, sorted by the time when they were taken. */
struct moments {
	unsigned points[PS_LOG_MOST_POINTS + 2];
	size_t count;
};

struct convert {
	struct tool_log *log;
	struct tool_tracks tracks;
	struct tool_trace_file file;
	struct ps__trace *trace;
	struct moments moments;
	struct ps__trace_argument *arguments; /* the fields, and a count for each event */
	size_t field_count, argument_count;
	struct ps__buffer field_names[PS_LOG_MOST_FIELDS]; /* of fields whose own name is taken */
	const char *chosen_names[PS_LOG_MOST_FIELDS];      /* of the record's fields */
	char (*known)[KNOWN_BYTES]; /* values that aren't plain counts, as text */
	struct ps_value *values;
	uint64_t without;     /* number of records without these points */
	uint64_t overlapping; /* number of intervals that begin before the previous one's end */
	bool has_complained;  /* the complaint about events without counts by hardware thread was
	                       * printed */
};

static void add_moment(struct convert *convert, unsigned point)
{
	const struct ps_log_reader *reader = convert->log->reader;
	struct moments *moments = &convert->moments;
	size_t at = moments->count++;

	for (; at > 0 && ps_log_time(reader, moments->points[at - 1]) > ps_log_time(reader, point);
	     at--)
		moments->points[at] = moments->points[at - 1];
	moments->points[at] = point;
}

/* Finds all points that were taken for the record, or only those of the chosen interval. */
static void find_moments(struct convert *convert, const struct ps_log_record *record)
{
	struct tool_log *log = convert->log;
	uint64_t duration_ns;

	convert->moments.count = 0;
	if (log->options.from.name || log->options.to.name) {
		if (tool_log_interval(log, record, NULL, convert->values, &duration_ns) <= 0)
			return;
		add_moment(convert, log->view.from);
		if (log->view.to != log->view.from)
			add_moment(convert, log->view.to);
		return;
	}
	for (uint32_t left = record->points; left; left &= left - 1)
		add_moment(convert, (unsigned)__builtin_ctz(left));
}

/* True if a count, the attribution or one of the fields before has the name. An archive of OTF2
 * refuses two arguments of one name. */
static bool convert_has_name(const struct convert *convert, unsigned fields, const char *name)
{
	const struct tool_log *log = convert->log;
	bool is_taken = strcmp(name, ATTRIBUTION) == 0;

	for (size_t event = 0; event < log->events.count; event++)
		is_taken |= strcmp(name, log->events.names[event]) == 0;
	for (unsigned field = 0; field < fields; field++)
		is_taken |= strcmp(name, convert->chosen_names[field]) == 0;
	return is_taken;
}

/* Returns the field's name; "field NAME" if the name is taken. */
static const char *convert_name_field(struct convert *convert, unsigned field, const char *name)
{
	struct ps__buffer *longer = &convert->field_names[field];
	const char *free_name = name;

	for (size_t depth = 1; !longer->failed && convert_has_name(convert, field, free_name);
	     depth++) {
		ps__buffer_restart(longer);
		for (size_t index = 0; index < depth; index++)
			ps__buffer_add(longer, "field ");
		ps__buffer_add(longer, "%s", name);
		free_name = ps__buffer_text(longer);
	}
	convert->trace->failed |= longer->failed;
	return free_name;
}

static void add_fields(struct convert *convert, const struct ps_log_record *record,
                       struct ps_log_value fields[PS_LOG_MOST_FIELDS])
{
	const struct ps_log_reader *reader = convert->log->reader;
	const char *name;

	convert->argument_count = 0;
	for (unsigned field = 0; (name = ps_log_field_name(reader, record->stream, field));
	     field++) {
		struct ps_log_value *value = &fields[field];
		ps_log_value(reader, field, value);
		/* Chosen for a field that isn't set, too, so that all records have the same names.
		 */
		convert->chosen_names[field] = name = convert_name_field(convert, field, name);
		if (!value->is_set)
			continue;
		convert->arguments[convert->argument_count++] = (struct ps__trace_argument){
		    .name = name,
		    .kind = value->kind == PS_LOG_INTEGER ? PS__TRACE_INTEGER
		            : value->kind == PS_LOG_REAL  ? PS__TRACE_REAL
		                                          : PS__TRACE_TEXT,
		    .integer = value->integer,
		    .real = value->real,
		    .text = value->text};
	}
	convert->field_count = convert->argument_count;
}

static void write_known(const struct ps_value *value, const struct ps__look *look,
                        char out[KNOWN_BYTES])
{
	struct ps__buffer text = {0};

	ps__known_add_value(&text, value, look);
	snprintf(out, KNOWN_BYTES, "%s", ps__buffer_text(&text));
	ps__buffer_clear(&text);
}

/* Adds counts after the fields. A plain count is a number; any other value is text with its sign:
 * "~42". component: a hardware thread; NULL: all of them. */
static void convert_add_counts(struct convert *convert, const struct ps_component *component)
{
	const struct tool_log *log = convert->log;
	enum ps_attribution attribution = PS_ATTRIBUTION_EXACT;
	char *how = convert->known[log->events.count];
	uint32_t flags = 0;

	convert->argument_count = convert->field_count;
	for (size_t event = 0; event < log->events.count; event++) {
		const struct ps_value *value = &convert->values[event];
		struct ps__look look = log->looks[event];
		look.is_share = component && ps__known_is_share(value, component, false);
		bool is_count = value->status == PS_STATUS_COUNTED &&
		                !(value->flags & PS_VALUE_SATURATED) && !look.is_share;
		if (!is_count)
			write_known(value, &look, convert->known[event]);
		flags |= value->flags;
		if (value->attribution > attribution)
			attribution = value->attribution;
		convert->arguments[convert->argument_count++] =
		    (struct ps__trace_argument){.name = log->events.names[event],
		                                .kind = !is_count         ? PS__TRACE_TEXT
		                                        : look.scale == 1 ? PS__TRACE_INTEGER
		                                                          : PS__TRACE_REAL,
		                                .integer = value->value,
		                                .real = (double)value->value * look.scale,
		                                .text = convert->known[event]};
	}
	snprintf(how, KNOWN_BYTES, "%s%s", ps_attribution_name(attribution),
	         flags & PS_VALUE_USER_ONLY ? ", user space" : "");
	convert->arguments[convert->argument_count++] =
	    (struct ps__trace_argument){.name = ATTRIBUTION, .kind = PS__TRACE_TEXT, .text = how};
}

/* Reads the counts between two points. Returns 1; 0 if there are no counts of the component; -1
 * after a complaint. */
static int convert_read_counts(struct convert *convert, unsigned from, unsigned to,
                               struct ps_component *component)
{
	struct tool_log *log = convert->log;
	int code = ps_log_interval(log->reader, from, to, component, log->values, log->value_room);

	if (code == PS_EINVAL_DOM) {
		if (!convert->has_complained)
			tool_complain("counts by hardware thread are not in the trace: %s",
			              ps_error_detail());
		convert->has_complained = true;
		return 0;
	}
	if (code != PS_OK)
		return code == PS_ENOEVST ? 0 : tool_complain_detail();
	tool_log_choose(log, convert->values);
	return 1;
}

/* True if a counter ran, or has a count although its times are unknown. */
static bool convert_has_counts(const struct convert *convert)
{
	for (size_t event = 0; event < convert->log->events.count; event++) {
		if (convert->values[event].enabled_ns || convert->values[event].value)
			return true;
	}
	return false;
}

static struct ps_component *component_of(const struct tool_branch *branch)
{
	return branch->thread ? branch->thread->component : NULL;
}

static void convert_begin(struct convert *convert, uint64_t track, unsigned point, const char *name)
{
	const struct ps__trace_event event = {.track = track,
	                                      .time_ns = ps_log_time(convert->log->reader, point),
	                                      .name = name,
	                                      .arguments = convert->arguments,
	                                      .argument_count = convert->argument_count};

	if (convert->moments.count == 1)
		convert->trace->format->mark(convert->trace, &event);
	else
		convert->trace->format->begin(convert->trace, &event);
}

static void name_step(const struct convert *convert, unsigned from, unsigned to,
                      char name[STEP_BYTES])
{
	const struct tool_log *log = convert->log;

	snprintf(name, STEP_BYTES, "%s to %s",
	         ps_log_point_name(log->reader, log->view.stream, from & ~PS_LOG_PREVIOUS),
	         ps_log_point_name(log->reader, log->view.stream, to & ~PS_LOG_PREVIOUS));
}

/* Begins a slice for the step between two points, inside the record's slice. */
static int begin_step(struct convert *convert, uint64_t track, size_t at)
{
	const struct moments *moments = &convert->moments;
	char name[STEP_BYTES];
	unsigned from = moments->points[at], to = moments->points[at + 1];
	int found = convert_read_counts(convert, from, to, NULL);

	if (found < 0)
		return -1;
	if (found > 0)
		convert_add_counts(convert, NULL);
	name_step(convert, from, to, name);
	convert_begin(convert, track, from, name);
	return 0;
}

/* Sets the counters to the totals, which are right even after missing records. */
static int convert_count(struct convert *convert, struct tool_branch *branch, unsigned point)
{
	uint64_t time_ns = ps_log_time(convert->log->reader, point);
	int found = convert_read_counts(convert, PS_LOG_START, point, component_of(branch));

	if (found > 0)
		tool_tracks_count(&convert->tracks, branch, time_ns, convert->values);
	return found < 0 ? -1 : 0;
}

/* Puts the record on one track. Returns -1 after a complaint. */
static int put_branch(struct convert *convert, struct tool_branch *branch, const char *type)
{
	const struct moments *moments = &convert->moments;
	size_t last = moments->count - 1;
	bool has_steps = moments->count > 2 && !component_of(branch);
	int found = convert_read_counts(convert, moments->points[0], moments->points[last],
	                                component_of(branch));

	if (found < 0)
		return -1;
	/* Skip this track: the task didn't run on the hardware thread during the record. */
	if (component_of(branch) && (!found || !convert_has_counts(convert)))
		return 0;
	convert->argument_count = convert->field_count;
	if (found)
		convert_add_counts(convert, component_of(branch));
	uint64_t track = tool_tracks_slices(&convert->tracks, branch);
	convert_begin(convert, track, moments->points[0], type);
	for (size_t at = 0; at <= last; at++) {
		uint64_t time_ns = ps_log_time(convert->log->reader, moments->points[at]);
		if (has_steps && at > 0)
			convert->trace->format->end(convert->trace, track, time_ns);
		if (has_steps && at < last && begin_step(convert, track, at) < 0)
			return -1;
		if (at == last && last > 0)
			convert->trace->format->end(convert->trace, track, time_ns);
		if (convert_count(convert, branch, moments->points[at]) < 0)
			return -1;
	}
	return 0;
}

static int put_branches(struct convert *convert, const struct ps_log_record *record,
                        struct tool_stream_tracks *tracks)
{
	const struct tool_log_options *options = &convert->log->options;
	const struct moments *moments = &convert->moments;
	struct ps_log_value fields[PS_LOG_MOST_FIELDS];
	struct ps_log_info info = {.size = sizeof info};
	char name[STEP_BYTES];

	ps_log_describe(convert->log->reader, record->stream, &info);
	snprintf(name, sizeof name, "%s", info.type);
	if (options->from.name || options->to.name)
		name_step(convert, moments->points[0], moments->points[moments->count - 1], name);
	add_fields(convert, record, fields);
	int result = put_branch(convert, &tracks->all, name);
	for (size_t index = 0; result == 0 && index < tracks->branch_count; index++)
		result = put_branch(convert, &tracks->branches[index], name);
	return result;
}

static int convert_put_record(struct tool_log *log, const struct ps_log_record *record,
                              void *context)
{
	struct convert *convert = context;
	const struct moments *moments = &convert->moments;

	find_moments(convert, record);
	if (moments->count == 0) {
		convert->without++;
		return 0;
	}
	struct tool_stream_tracks *tracks = tool_tracks_of(&convert->tracks, record->stream);
	if (!tracks)
		return -1;
	/* Slices of one track may be nested, but must not overlap. */
	if (ps_log_time(log->reader, moments->points[0]) < tracks->all.last_ns) {
		convert->overlapping++;
		return 0;
	}
	tracks->all.last_ns = ps_log_time(log->reader, moments->points[moments->count - 1]);
	/* A failed write is reported when the file is closed. */
	int result = put_branches(convert, record, tracks);
	return result == 0 ? tool_trace_flush(&convert->file) : result;
}

static int convert_allocate(struct convert *convert)
{
	size_t events = convert->log->events.count;

	convert->arguments = ps__os_calloc(events + MOST_ARGUMENTS, sizeof *convert->arguments);
	convert->known = ps__os_calloc(events + 1, sizeof *convert->known);
	convert->values = ps__os_calloc(events + 1, sizeof *convert->values);
	return convert->arguments && convert->known && convert->values
	           ? 0
	           : tool_complain_memory("the trace");
}

static void complain_left_out(const struct convert *convert)
{
	const struct tool_log_options *options = &convert->log->options;
	bool is_chosen = options->from.name || options->to.name;
	uint64_t without = convert->without, overlapping = convert->overlapping;

	if (without)
		tool_complain("not in the trace: %" PRIu64 " record%s %s", without,
		              without == 1 ? "" : "s",
		              is_chosen ? "without this interval" : "for which no point was taken");
	if (overlapping)
		tool_complain("not in the trace: %" PRIu64
		              " record%s that would begin before the previous one has ended",
		              overlapping, overlapping == 1 ? "" : "s");
}

/* Puts all records into the trace. If all records are lost, this is a failure, because an empty
 * trace would look like the trace of an empty log. Returns -1 after a complaint. */
static int convert_put_records(struct convert *convert)
{
	struct tool_log *log = convert->log;

	if (tool_log_each(log, convert_put_record, convert) != 0)
		return -1;
	if (tool_log_has_lost_all(log))
		return tool_complain("nothing can be read of the records of '%s', so there is no "
		                     "trace: use a whole copy of the log, or write it anew",
		                     log->options.path);
	complain_left_out(convert);
	return 0;
}

/* True if output and log are the same file: the trace would destroy the log. */
static bool replaces_log(const struct tool_log_options *options)
{
	struct stat log, output;

	return stat(options->path, &log) == 0 && stat(options->output, &output) == 0 &&
	       log.st_dev == output.st_dev && log.st_ino == output.st_ino;
}

int tool_log_convert(struct tool_log *log)
{
	struct convert convert = {.log = log};
	const struct tool_log_options *options = &log->options;
	int status = TOOL_FAILED;

	if (replaces_log(options))
		return tool_complain("'%s' is the log itself: give -o another file",
		                     options->output);
	if (convert_allocate(&convert) == 0 &&
	    tool_trace_open(&convert.file, options->trace_format, options->output, NULL) == 0) {
		convert.trace = convert.file.trace;
		tool_tracks_create(&convert.tracks, log, convert.trace);
		bool is_whole = convert_put_records(&convert) == 0;
		if (tool_trace_close(&convert.file, is_whole) == 0 && is_whole)
			status = TOOL_OK;
		tool_tracks_clear(&convert.tracks);
	}
	for (size_t field = 0; field < PS_LOG_MOST_FIELDS; field++)
		ps__buffer_clear(&convert.field_names[field]);
	ps__os_free(convert.arguments);
	ps__os_free(convert.known);
	ps__os_free(convert.values);
	return status;
}
