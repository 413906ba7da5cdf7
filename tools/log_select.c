/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects records of a log, and intervals between their points. */
#include "base/os.h"
#include "output/number.h"
#include "snapshot/reader.h"
#include "tools/command.h"
#include "tools/log.h"
#include "tools/terminal.h"

#include <math.h>
#include <string.h>

#define PREVIOUS "previous:"

struct tool_log_point tool_log_parse_point(const char *text)
{
	size_t length = strlen(PREVIOUS);
	bool is_previous = strncmp(text, PREVIOUS, length) == 0;

	return (struct tool_log_point){is_previous ? text + length : text, is_previous};
}

static ptrdiff_t find_name(const struct ps_log_reader *reader, size_t stream, const char *name,
                           const char *(*name_of)(const struct ps_log_reader *, size_t, size_t))
{
	const char *each;

	for (size_t index = 0; (each = name_of(reader, stream, index)); index++) {
		if (strcmp(each, name) == 0)
			return (ptrdiff_t)index;
	}
	return -1;
}

static void add_names(struct ps__buffer *text, const struct ps_log_reader *reader, size_t stream,
                      const char *(*name_of)(const struct ps_log_reader *, size_t, size_t))
{
	const char *each;

	for (size_t index = 0; (each = name_of(reader, stream, index)); index++)
		ps__buffer_add(text, "%s'%s'", index ? ", " : "", each);
}

/* Complains about an unknown name, and lists the known names. */
static int complain_name(const struct ps_log_reader *reader, size_t stream, const char *what,
                         const char *name,
                         const char *(*name_of)(const struct ps_log_reader *, size_t, size_t))
{
	struct ps_log_info info = {.size = sizeof info};
	struct ps__buffer text = {0};

	ps_log_describe(reader, stream, &info);
	add_names(&text, reader, stream, name_of);
	if (text.length)
		tool_complain("the records '%s' have no %s '%s': there are %s", info.type, what,
		              name, ps__buffer_text(&text));
	else
		tool_complain("the records '%s' have no %ss", info.type, what);
	ps__buffer_clear(&text);
	return -1;
}

static int view_point(const struct tool_log *log, size_t stream, const struct tool_log_point *point,
                      size_t otherwise, unsigned *out)
{
	ptrdiff_t index = point->name
	                      ? find_name(log->reader, stream, point->name, ps_log_point_name)
	                      : (ptrdiff_t)otherwise;

	if (index < 0)
		return complain_name(log->reader, stream, "point", point->name, ps_log_point_name);
	*out = (unsigned)index | (point->is_previous ? PS_LOG_PREVIOUS : 0);
	return 0;
}

static int view_field(const struct tool_log *log, size_t stream, const char *name, unsigned *out)
{
	ptrdiff_t index = find_name(log->reader, stream, name, ps_log_field_name);

	if (index < 0)
		return complain_name(log->reader, stream, "field", name, ps_log_field_name);
	*out = (unsigned)index;
	return 0;
}

/* Finds the field with the longest name at the beginning of the condition: a name may contain
 * '='. */
static ptrdiff_t select_find_field(const struct tool_log *log, size_t stream,
                                   struct tool_log_condition *condition)
{
	const char *name;
	size_t longest = 0;
	ptrdiff_t found = -1;

	for (size_t index = 0; (name = ps_log_field_name(log->reader, stream, index)); index++) {
		size_t length = strlen(name);
		if (length <= longest || strncmp(condition->whole, name, length) != 0 ||
		    !tool_log_split_condition(condition, length))
			continue;
		longest = length;
		found = (ptrdiff_t)index;
	}
	return found;
}

static int view_condition(struct tool_log *log, size_t stream, size_t index)
{
	struct tool_log_condition *condition = &log->options.conditions[index];
	ptrdiff_t field = select_find_field(log, stream, condition);
	char name[256];

	snprintf(name, sizeof name, "%.*s", (int)condition->name_length, condition->whole);
	if (field < 0)
		return complain_name(log->reader, stream, "field", name, ps_log_field_name);
	if (log->reader->sources[stream].kinds[field] != PS_LOG_TEXT && !condition->is_number)
		return tool_complain("'%s': the field '%s' holds numbers", condition->whole, name);
	log->view.conditions[index] = (unsigned)field;
	return 0;
}

static int view_work(struct tool_log *log, size_t stream, size_t index)
{
	const char *name = log->options.work.names[index];
	unsigned *field = &log->view.work[index];

	if (view_field(log, stream, name, field) < 0)
		return -1;
	if (log->reader->sources[stream].kinds[*field] == PS_LOG_TEXT)
		return tool_complain("the field '%s' of '%s' holds texts: --work takes numbers",
		                     name, log->options.path);
	return 0;
}

static int view_fields(struct tool_log *log, size_t stream)
{
	const struct tool_log_options *options = &log->options;
	struct tool_log_view *view = &log->view;
	unsigned group = 0;
	int result = options->group ? view_field(log, stream, options->group, &group) : 0;

	view->group = options->group ? (ptrdiff_t)group : -1;
	for (size_t index = 0; result == 0 && index < options->condition_count; index++)
		result = view_condition(log, stream, index);
	for (size_t index = 0; result == 0 && index < options->work.count; index++)
		result = view_work(log, stream, index);
	return result;
}

static int view_stream(struct tool_log *log, size_t stream)
{
	struct ps_log_info info = {.size = sizeof info};
	struct tool_log_view *view = &log->view;

	ps_log_describe(log->reader, stream, &info);
	view->stream = stream;
	view->taken_before = 0;
	view->is_chosen = !log->options.type || strcmp(log->options.type, info.type) == 0;
	if (!view->is_chosen)
		return 0;
	for (size_t index = 0; index < log->events.count; index++)
		view->events[index] =
		    find_name(log->reader, stream, log->events.names[index], ps_log_event_name);
	int result = view_point(log, stream, &log->options.from, 0, &view->from);
	if (result == 0)
		result = view_point(log, stream, &log->options.to, info.point_count - 1, &view->to);
	return result == 0 ? view_fields(log, stream) : result;
}

static size_t select_find_event(const struct tool_log *log, size_t stream, const char *name)
{
	return (size_t)find_name(log->reader, stream, name, ps_log_event_name);
}

/* Complains about a name that no chosen stream has. */
static int check_events(const struct tool_log *log)
{
	for (size_t index = 0; index < log->options.events.count; index++) {
		const char *name = log->options.events.names[index];
		size_t streams = ps_log_stream_count(log->reader), stream = 0;
		while (stream < streams && select_find_event(log, stream, name) == SIZE_MAX)
			stream++;
		if (stream == streams && streams)
			return complain_name(log->reader, 0, "event", name, ps_log_event_name);
	}
	return 0;
}

static bool select_has_event(const struct tool_log *log, const char *name)
{
	size_t index = 0;

	while (index < log->events.count && strcmp(log->events.names[index], name) != 0)
		index++;
	return index < log->events.count;
}

/* Adds the events of --of, each once. */
static int select_add_named(struct tool_log *log)
{
	for (size_t index = 0; index < log->options.events.count; index++) {
		const char *name = log->options.events.names[index];
		if (select_has_event(log, name))
			tool_complain("'%s' is named twice: it is shown once", name);
		else if (tool_names_append(&log->events, name) < 0)
			return -1;
	}
	return 0;
}

static int select_add_events(struct tool_log *log, size_t stream)
{
	const char *name;

	for (size_t index = 0; (name = ps_log_event_name(log->reader, stream, index)); index++) {
		if (!select_has_event(log, name) && tool_names_append(&log->events, name) < 0)
			return -1;
	}
	return 0;
}

/* Complains if the streams have several types, whose intervals can't be compared. */
static int check_types(struct tool_log *log)
{
	struct ps_log_info info = {.size = sizeof info}, first = {.size = sizeof first};
	bool is_found = false;

	for (size_t stream = 0; stream < ps_log_stream_count(log->reader); stream++) {
		ps_log_describe(log->reader, stream, &info);
		if (log->options.type && strcmp(info.type, log->options.type) != 0)
			continue;
		if (is_found && !log->options.may_mix && strcmp(info.type, first.type) != 0)
			return tool_complain(
			    "the log has records '%s' and '%s': choose with --type", first.type,
			    info.type);
		is_found = true;
		first = info;
		if (!log->options.events.count && select_add_events(log, stream) < 0)
			return -1;
	}
	if (!is_found && log->options.type)
		return tool_complain("the log '%s' has no records '%s'", log->options.path,
		                     log->options.type);
	return check_events(log);
}

static struct ps__look find_look(const struct tool_log *log, size_t event)
{
	for (size_t stream = 0; stream < log->reader->source_count; stream++) {
		ptrdiff_t at =
		    find_name(log->reader, stream, log->events.names[event], ps_log_event_name);
		if (at < 0)
			continue;
		const struct ps__column *column =
		    &log->reader->sources[stream].recording->column[at];
		return (struct ps__look){.unit = column->unit, .scale = column->scale};
	}
	return (struct ps__look){.unit = "", .scale = 1};
}

static int select_allocate(struct tool_log *log)
{
	struct tool_log_view *view = &log->view;

	view->conditions =
	    ps__os_calloc(log->options.condition_count + 1, sizeof *view->conditions);
	view->events = ps__os_calloc(log->events.count + 1, sizeof *view->events);
	view->work = ps__os_calloc(log->options.work.count + 1, sizeof *view->work);
	for (size_t stream = 0; stream < ps_log_stream_count(log->reader); stream++) {
		struct ps_log_info info = {.size = sizeof info};
		ps_log_describe(log->reader, stream, &info);
		if (info.event_count > log->value_room)
			log->value_room = info.event_count;
	}
	log->values = ps__os_calloc(log->value_room + 1, sizeof *log->values);
	log->looks = ps__os_calloc(log->events.count + 1, sizeof *log->looks);
	view->stream = SIZE_MAX;
	if (!view->conditions || !view->events || !view->work || !log->values || !log->looks)
		return tool_complain("there is no memory to read the log");
	for (size_t event = 0; event < log->events.count; event++)
		log->looks[event] = find_look(log, event);
	return 0;
}

int tool_log_open(struct tool_log *log)
{
	if (ps_log_open(&log->reader, log->options.path) != PS_OK)
		return tool_complain_detail();
	if (select_add_named(log) < 0)
		return -1;
	return check_types(log) < 0 ? -1 : select_allocate(log);
}

void tool_log_close(struct tool_log *log)
{
	ps__os_free(log->options.conditions);
	tool_names_clear(&log->options.events);
	tool_names_clear(&log->options.work);
	ps__os_free(log->options.output);
	tool_names_clear(&log->events);
	ps__os_free(log->view.conditions);
	ps__os_free(log->view.events);
	ps__os_free(log->view.work);
	ps__os_free(log->values);
	ps__os_free(log->looks);
	ps_log_close(log->reader);
}

void tool_log_field_text(const struct ps_log_value *value, char *text, size_t size_bytes)
{
	struct ps__buffer number = {0};

	text[0] = '\0';
	if (value->kind == PS_LOG_REAL && value->is_set && isfinite(value->real))
		ps__number_add_exact(&number, value->real);
	else if (value->kind == PS_LOG_REAL && value->is_set)
		ps__buffer_add(&number, "%s",
		               isnan(value->real) ? "nan"
		               : value->real > 0  ? "inf"
		                                  : "-inf");
	if (number.length)
		snprintf(text, size_bytes, "%s", ps__buffer_text(&number));
	else if (value->kind == PS_LOG_INTEGER && value->is_set)
		snprintf(text, size_bytes, "%lld", value->integer);
	else if (value->kind == PS_LOG_TEXT)
		snprintf(text, size_bytes, "%s", value->text);
	ps__buffer_clear(&number);
}

static bool is_wanted(const struct tool_log *log)
{
	for (size_t index = 0; index < log->options.condition_count; index++) {
		struct ps_log_value value;
		if (ps_log_value(log->reader, log->view.conditions[index], &value) != PS_OK ||
		    !tool_log_is_met(&log->options.conditions[index], &value))
			return false;
	}
	return true;
}

int tool_log_each(struct tool_log *log, tool_log_visit *visit, void *context)
{
	struct ps_log_record record = {.size = sizeof record};
	int result = 0, code;

	while (result == 0 && (code = ps_log_next(log->reader, &record)) == PS_OK) {
		if (record.stream != log->view.stream)
			result = view_stream(log, record.stream);
		if (result == 0 && log->view.is_chosen && is_wanted(log))
			result = visit(log, &record, context);
		log->view.taken_before = record.points;
	}
	if (result == 0 && code != PS_ENOEVST)
		return tool_complain_detail();
	tool_log_complain_missing(log);
	return result;
}

void tool_log_choose(const struct tool_log *log, struct ps_value *values)
{
	for (size_t index = 0; index < log->events.count; index++) {
		ptrdiff_t at = log->view.events[index];
		values[index] = at >= 0 ? log->values[at]
		                        : (struct ps_value){.status = PS_STATUS_NOT_SUPPORTED};
	}
}

int tool_log_interval(struct tool_log *log, const struct ps_log_record *record,
                      const struct ps_component *component, struct ps_value *values,
                      uint64_t *duration_ns)
{
	const struct tool_log_view *view = &log->view;
	unsigned to = view->to & ~PS_LOG_PREVIOUS;
	uint32_t taken = view->to & PS_LOG_PREVIOUS ? view->taken_before : record->points;

	/* A point that was kept from an earlier record ended that record's interval. */
	if (!(taken & UINT32_C(1) << to))
		return 0;
	int code = ps_log_interval(log->reader, view->from, view->to, component, log->values,
	                           log->value_room);
	if (code != PS_OK)
		return code == PS_ENOEVST ? 0 : tool_complain_detail();
	*duration_ns = ps_log_time(log->reader, view->to) - ps_log_time(log->reader, view->from);
	tool_log_choose(log, values);
	return 1;
}
