/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a stream's records in its blocks: a line for each event, point and field. Tabs
 * separate the entries of a line. A description can't change, so the records tell which events were
 * paused. */
#include "base/decimal.h"
#include "base/error.h"
#include "base/os.h"
#include "base/printable.h"
#include "snapshot/stream.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

/* A text is made twice: first with bytes NULL, for its length; then into memory. */
struct text {
	char *bytes; /* NULL: only the length is wanted */
	size_t size_bytes, length;
};

static __attribute__((format(printf, 2, 3))) void describe_add(struct text *text,
                                                               const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	char *at = text->bytes ? text->bytes + text->length : NULL;
	int length =
	    vsnprintf(at, text->bytes ? text->size_bytes - text->length : 0, format, arguments);
	va_end(arguments);
	text->length += length > 0 ? (size_t)length : 0;
}

/* Adds a name and ends the line. The name is the last entry, so tabs in it do no harm; other
 * control characters become "?". */
static void describe_add_name(struct text *text, const char *name)
{
	size_t start = text->length;

	describe_add(text, "%s", name);
	if (text->bytes)
		ps__printable_clean(text->bytes + start);
	describe_add(text, "\n");
}

static int add_event(struct text *text, const struct ps__column *column)
{
	char scale[40], group[24] = "-";
	bool is_user_only = column->flags & PS_VALUE_USER_ONLY;

	if (ps__decimal_format(scale, sizeof scale, column->scale) < 0)
		return ps__fail_memory("a locale");
	if (column->group != PS__NO_GROUP)
		snprintf(group, sizeof group, "%u", (unsigned)column->group);
	describe_add(text, "event\t%s\t%u\t%d\t%s%s%s\t%s\t%s\t%s\t", group,
	             (unsigned)column->place, (int)column->scope, is_user_only ? "u" : "",
	             column->is_estimate ? "e" : "", is_user_only || column->is_estimate ? "" : "-",
	             scale, column->unit[0] ? column->unit : "-",
	             column->cpus ? column->cpus : "-");
	describe_add_name(text, column->name);
	if (column->added) {
		describe_add(text, "added\t");
		describe_add_name(text, column->added);
	}
	return PS_OK;
}

static int write_all(struct text *text, const struct ps__recording *recording,
                     const struct ps_log_type *type)
{
	static const char *const kinds[] = {"integer", "real", "text"};
	int result = PS_OK;

	text->length = 0;
	describe_add(text, "type\t");
	describe_add_name(text, type->name);
	describe_add(text, "process\t%d\nthread\t%d\ngroups\t%zu\n", (int)getpid(),
	             (int)ps__os.gettid(), recording->groups);
	for (size_t index = 0; result == PS_OK && index < recording->columns; index++)
		result = add_event(text, &recording->column[index]);
	for (size_t index = 0; index < type->point_count; index++) {
		describe_add(text, "point\t");
		describe_add_name(text, type->points[index]);
	}
	for (size_t index = 0; index < type->field_count; index++) {
		describe_add(text, "field\t%s\t", kinds[type->fields[index].kind]);
		describe_add_name(text, type->fields[index].name);
	}
	return result;
}

int ps__log_describe_type(const struct ps__recording *recording, const struct ps_log_type *type,
                          char **out, size_t *size_bytes)
{
	struct text text = {NULL, 0, 0};
	int result = write_all(&text, recording, type);

	if (result != PS_OK)
		return result;
	*size_bytes = (text.length / sizeof(uint64_t) + 1) * sizeof(uint64_t);
	text.size_bytes = *size_bytes;
	text.bytes = ps__os_calloc(*size_bytes, 1);
	if (!text.bytes)
		return ps__fail_memory("the description of a log's records");
	result = write_all(&text, recording, type);
	if (result != PS_OK)
		ps__os_free(text.bytes);
	else
		*out = text.bytes;
	return result;
}

/* An event stays marked after its first pause. A pause closes the fast path, so a point that has
 * stayed was taken before any later pause. */
uint64_t ps__log_find_paused(const struct ps_log_stream *stream, const struct ps__log_point *point)
{
	const struct ps__recording *recording = ps__set_recording(stream->source.set);
	uint64_t paused = point->paused;

	if (!recording || ps__log_point_has_stayed(point))
		return paused;
	for (size_t event = 0; event < recording->columns; event++) {
		uint64_t from = atomic_load_explicit(&recording->column[event].paused_from,
		                                     memory_order_relaxed);
		if (from && point->snapshot->timestamp >= from)
			paused |= (uint64_t)ps__log_paused_bit(event) << PS__LOG_PAUSED;
	}
	return paused;
}

static int describe_check_name(const char *name, const char *what, size_t index)
{
	if (!name || !*name)
		return ps__fail(PS_EINVAL, "ps_log_stream_create: the name of %s %zu is %s", what,
		                index, name ? "empty" : "NULL");
	if (strlen(name) > PS_LOG_TEXT_BYTES)
		return ps__fail(PS_EINVAL,
		                "ps_log_stream_create: the name of %s %zu has more than %d bytes: "
		                "%.20s...",
		                what, index, PS_LOG_TEXT_BYTES, name);
	for (const char *at = name; *at;) {
		uint32_t code;
		size_t length = ps__printable_decode(at, &code);
		if (!ps__printable_is(code))
			return ps__fail(PS_EINVAL,
			                "ps_log_stream_create: the name of %s %zu has a character "
			                "that can't be shown",
			                what, index);
		at += length;
	}
	return PS_OK;
}

static int fail_twice(const char *what, const char *name)
{
	return ps__fail(PS_EINVAL, "ps_log_stream_create: two %ss have the name '%s'", what, name);
}

static int check_points(const struct ps_log_type *type)
{
	int result = PS_OK;

	for (size_t index = 0; result == PS_OK && index < type->point_count; index++) {
		result = describe_check_name(type->points[index], "point", index);
		for (size_t other = 0; result == PS_OK && other < index; other++) {
			if (strcmp(type->points[index], type->points[other]) == 0)
				result = fail_twice("point", type->points[index]);
		}
	}
	return result;
}

static int describe_check_fields(const struct ps_log_type *type)
{
	int result = PS_OK;

	for (size_t index = 0; result == PS_OK && index < type->field_count; index++) {
		const struct ps_log_field *field = &type->fields[index];
		result = describe_check_name(field->name, "field", index);
		for (size_t other = 0; result == PS_OK && other < index; other++) {
			if (strcmp(field->name, type->fields[other].name) == 0)
				result = fail_twice("field", field->name);
		}
		if (result == PS_OK && (unsigned)field->kind > PS_LOG_TEXT)
			result = ps__fail(PS_EINVAL,
			                  "ps_log_stream_create: the field '%s' has no kind of "
			                  "enum ps_log_kind: %d",
			                  field->name, (int)field->kind);
	}
	return result;
}

int ps__log_check_type(const struct ps_log_type *type)
{
	if (type->size != sizeof *type)
		return ps__fail(PS_EINVAL,
		                "ps_log_stream_create: type->size is %zu, not %zu: set it to "
		                "sizeof(struct ps_log_type)",
		                type->size, sizeof *type);
	if (type->point_count < 1 || type->point_count > PS_LOG_MOST_POINTS || !type->points)
		return ps__fail(PS_EINVAL,
		                "ps_log_stream_create: a type has 1 to %d points, not %zu%s",
		                PS_LOG_MOST_POINTS, type->point_count,
		                type->points ? "" : ", and points is NULL");
	if (type->field_count > PS_LOG_MOST_FIELDS || (type->field_count && !type->fields))
		return ps__fail(PS_EINVAL,
		                "ps_log_stream_create: a type has up to %d fields, not %zu%s",
		                PS_LOG_MOST_FIELDS, type->field_count,
		                type->fields ? "" : ", and fields is NULL");
	int result = describe_check_name(type->name, "the type", 0);
	if (result == PS_OK)
		result = check_points(type);
	return result == PS_OK ? describe_check_fields(type) : result;
}
