/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints all parts that one Thread component has: event by event, oldest first. */
#include "base/error.h"
#include "base/os.h"
#include "output/buffer.h"
#include "output/known.h"
#include "output/label.h"
#include "store/attrmap.h"

#include <inttypes.h>
#include <perfsage/thread.h>

/* Returns an upper bound of the number of an event's parts. */
static size_t text_thread_count_parts(const struct ps_thread *thread, const char *event)
{
	size_t count = 0;

	for (const struct ps__history *history = ps__thread_first_history(thread); history;
	     history = history->next_in_thread) {
		if (ps__recording_find(history->recording, event) >= 0)
			count += atomic_load_explicit(&history->count, memory_order_acquire) -
			         atomic_load_explicit(&history->first, memory_order_acquire);
	}
	return count;
}

/* Fetches all parts of an event. If a counting set adds parts meanwhile, so that the array is too
 * small, tries again. */
static int text_thread_fetch(const struct ps_thread *thread, const char *event,
                             struct ps_value **out, size_t *count)
{
	for (;;) {
		size_t room = text_thread_count_parts(thread, event) + PS__CHUNK_ROWS;
		struct ps_value *values = ps__os_calloc(room, sizeof *values);
		if (!values)
			return ps__fail_memory("the readings to be printed");
		int code = ps_thread_readings(thread, event, values, room, count);
		if (code == PS_OK) {
			*out = values;
			return PS_OK;
		}
		ps__os_free(values);
		if (code != PS_EBUF)
			return code;
	}
}

/* Returns the notation of an event, from the newest set that counted it on this Thread. */
static struct ps__look text_thread_look_of(const struct ps_thread *thread, const char *event)
{
	for (const struct ps__history *history = ps__thread_first_history(thread); history;
	     history = history->next_in_thread) {
		ptrdiff_t column = ps__recording_find(history->recording, event);
		if (column >= 0)
			return (struct ps__look){.unit = history->recording->column[column].unit,
			                         .scale = history->recording->column[column].scale};
	}
	return (struct ps__look){.unit = "", .scale = 1};
}

static void text_thread_add_part(struct ps__buffer *buffer, const struct ps_value *value,
                                 const struct ps__look *look, struct ps__known *all)
{
	struct ps__known known = {0};
	struct ps__buffer cell = {0};
	struct ps__look look_of_part = *look;

	look_of_part.is_share = value->attribution == PS_ATTRIBUTION_MIXED;
	ps__known_note(&known, value);
	ps__known_note(all, value);
	ps__known_add_value(&cell, value, &look_of_part);
	ps__buffer_add(buffer, "    %20" PRIu64 "  %20s%s  ", value->timestamp,
	               cell.failed ? "" : cell.text,
	               ps__known_is_user_only(value->status, value->flags) ? "" : " ");
	ps__known_add_words(buffer, &known);
	ps__buffer_add(buffer, "\n");
	buffer->failed |= cell.failed;
	ps__os_free(cell.text);
}

static int text_thread_add_event(struct ps__buffer *buffer, const struct ps_thread *thread,
                                 const char *event, struct ps__known *all)
{
	uint64_t dropped = ps_thread_dropped(thread, event);
	struct ps__look look = text_thread_look_of(thread, event);
	struct ps_value *values = NULL;
	size_t count;
	int code = text_thread_fetch(thread, event, &values, &count);

	if (code < 0)
		return code;
	ps__buffer_add(buffer, "  ");
	ps__label_add_event(buffer, event, look.unit);
	ps__buffer_add(buffer, "\n    %20s  %20s   %s\n", "Timestamp (ns)", "Value", "Attribution");
	for (size_t i = 0; i < count; i++)
		text_thread_add_part(buffer, &values[i], &look, all);
	if (dropped)
		ps__buffer_add(buffer, "    %" PRIu64 " older reading%s dropped.\n", dropped,
		               dropped == 1 ? " was" : "s were");
	ps__os_free(values);
	return PS_OK;
}

int ps_thread_print(const struct ps_thread *thread, FILE *stream)
{
	struct ps__buffer buffer = {0};
	struct ps__known all = {0};
	const char *event;
	int code = PS_OK;

	if (!thread || !stream)
		return ps__fail(PS_EINVAL, "ps_thread_print: the %s is NULL",
		                thread ? "stream" : "Thread");
	ps__label_add_component(&buffer, thread->component, true);
	ps__buffer_add(&buffer, "\n");
	for (size_t i = 0; code == PS_OK && (event = ps_thread_event_name(thread, i)); i++)
		code = text_thread_add_event(&buffer, thread, event, &all);
	if (!ps_thread_event_name(thread, 0))
		ps__buffer_add(&buffer, "  Nothing has been counted here.\n");
	else
		ps__buffer_add(&buffer, "\n");
	ps__known_add_legend(&buffer, &all);
	if (code < 0) {
		ps__os_free(buffer.text);
		return code;
	}
	return ps__buffer_finish(&buffer, stream);
}
