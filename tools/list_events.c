/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers the events that are known here, and opens each for a moment. */
#include "tools/list_events.h"

#include "base/hash.h"
#include "base/os.h"
#include "base/vector.h"
#include "event/event.h"
#include "tools/options.h"
#include "tools/terminal.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT "EVENT" /* stands for the event's name in a reason */

/* Most tracepoints that are opened. Opening and closing one takes the kernel about 60 ms, because
 * it waits for all CPUs (RCU), and there are thousands. A tracepoint that the kernel refuses takes
 * no time, so it isn't counted here. */
#define MOST_TRACEPOINTS 8

static bool list_events_has_word(const struct ps_event_info *info, const char *word)
{
	if (word && tool_name_is_pattern(word))
		return fnmatch(word, info->name, FNM_CASEFOLD) == 0;
	return !word || strcasestr(info->name, word) || strcasestr(info->description, word);
}

static bool list_events_is_tracepoint(const char *pmu)
{
	return strcmp(pmu, "tracepoint") == 0;
}

static size_t list_events_group_of(const struct list *list, const char *pmu)
{
	/* Events of one PMU mostly come together, so the search begins at the last event. */
	for (size_t index = list->count; index-- > 0;) {
		if (strcmp(list->events[index].pmu, pmu) == 0)
			return list->events[index].group;
	}
	size_t group = 0;
	for (size_t index = 0; index < list->count; index++) {
		if (list->events[index].group >= group)
			group = list->events[index].group + 1;
	}
	return group;
}

static void list_events_clear_event(struct list_event *event)
{
	ps__os_free(event->name);
	ps__os_free(event->pmu);
	ps__os_free(event->description);
	ps__os_free(event->unit);
}

static int list_events_append(const struct ps_event_info *info, void *context)
{
	struct list *list = context;
	struct list_event event = {.scope = info->scope};

	list->has_tracepoints |= list_events_is_tracepoint(info->pmu);
	if (!list_events_has_word(info, list->word))
		return 0;
	if (!PS__VECTOR_GROW(&list->events, list->count, &list->room))
		return PS_ENOMEM;
	event.name = ps__os_strdup(info->name);
	event.pmu = ps__os_strdup(info->pmu);
	event.description = ps__os_strdup(info->description);
	event.unit = ps__os_strdup(info->unit);
	if (!event.name || !event.pmu || !event.description || !event.unit) {
		list_events_clear_event(&event);
		return PS_ENOMEM;
	}
	event.group = list_events_group_of(list, event.pmu);
	list->events[list->count++] = event;
	return 0;
}

static int list_events_compare(const void *one, const void *other)
{
	const struct list_event *a = one, *b = other;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Returns the sentence with EVENT in place of the name, so that events that fail in the same way
 * share a reason. The caller frees it. */
static char *list_events_generalise(const char *sentence, const char *name)
{
	size_t length = strlen(name), bytes = 0;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	while (*sentence) {
		bool is_name = length && strncmp(sentence, name, length) == 0;
		if (is_name)
			fputs(EVENT, stream);
		else
			fputc(*sentence, stream);
		sentence += is_name ? length : 1;
	}
	return fclose(stream) == 0 ? text : NULL;
}

static int list_events_note_reason(struct list *list, struct list_event *event)
{
	char *text = list_events_generalise(ps_error_detail(), event->name);

	for (size_t index = 0; text && index < list->reason_count; index++) {
		if (strcmp(list->reasons[index].text, text) != 0)
			continue;
		free(text);
		list->reasons[index].count++;
		event->reason = index;
		return 0;
	}
	if (!text || !PS__VECTOR_GROW(&list->reasons, list->reason_count, &list->reason_room)) {
		free(text);
		return -1;
	}
	event->reason = list->reason_count;
	list->reasons[list->reason_count++] =
	    (struct list_reason){.text = text, .code = event->code, .count = 1};
	return 0;
}

static bool list_events_is_left_out(const struct list *list, const struct list_event *event,
                                    size_t tracepoints)
{
	return !list->is_thorough && tracepoints >= MOST_TRACEPOINTS &&
	       list_events_is_tracepoint(event->pmu);
}

static uint64_t list_events_hash(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *byte = bytes;

	for (size_t index = 0; index < count; index++)
		hash = ps__hash_add(hash, byte[index]);
	return hash;
}

/* Returns a hash of everything that is passed to the kernel; 0 if the name can't be encoded
 * here. */
static uint64_t list_events_encoding(const char *name)
{
	struct ps__event event = {.scale = 1};
	uint64_t hash = PS__HASH_EMPTY;

	if (ps__event_parse(&event, name) != PS_OK)
		return 0;
	hash = list_events_hash(hash, &event.attr, sizeof event.attr);
	hash = list_events_hash(hash, event.later, sizeof event.later);
	for (size_t index = 0; index < event.variant_count; index++) {
		const struct ps__variant *variant = &event.variants[index];
		uint64_t parts[] = {variant->pmu_type, variant->type, variant->config,
		                    variant->config1, variant->config2};
		hash = list_events_hash(hash, parts, sizeof parts);
		hash = list_events_hash(hash, variant->later, sizeof variant->later);
	}
	ps__event_clear(&event);
	return hash;
}

/* Links each name to the next name of the same event. Both have the same PMU; the list is sorted by
 * PMU and name. */
static void list_events_link_aliases(struct list *list)
{
	for (size_t index = 0; index < list->count; index++) {
		struct list_event *last = &list->events[index];
		for (size_t other = index + 1; last->encoding && other < list->count; other++) {
			struct list_event *next = &list->events[other];
			if (next->group != last->group)
				break;
			if (next->encoding != last->encoding)
				continue;
			next->is_alias = true;
			last->next_alias = other;
			break;
		}
	}
}

/* Opens the event as ps_start would, and closes it. */
static int list_events_probe(struct list *list, struct list_event *event, struct ps_eventset *set)
{
	event->is_probed = true;
	event->encoding = list_events_encoding(event->name);
	list->probed++;
	event->code = ps_eventset_add(set, event->name);
	if (event->code != PS_OK)
		return list_events_note_reason(list, event);
	event->scope = ps_eventset_event_scope(set, 0);
	event->is_user_only = ps_eventset_event_is_user_only(set, 0);
	list->available++;
	list->user_only += event->is_user_only;
	ps_eventset_remove(set, event->name);
	return 0;
}

static int list_events_probe_all(struct list *list)
{
	struct ps_eventset *set;
	size_t tracepoints = 0; /* number of tracepoints that could be opened */
	int result = 0;

	if (ps_eventset_create(&set) != PS_OK)
		return tool_complain_detail();
	for (size_t index = 0; result == 0 && index < list->count; index++) {
		struct list_event *event = &list->events[index];
		if (list_events_is_left_out(list, event, tracepoints))
			continue;
		result = list_events_probe(list, event, set);
		tracepoints += event->code == PS_OK && list_events_is_tracepoint(event->pmu);
	}
	if (result < 0)
		tool_complain("out of memory");
	ps_eventset_destroy(set);
	return result;
}

int list_gather(struct list *list)
{
	int code = ps_event_for_each(list_events_append, list);

	if (code != 0)
		return tool_complain("%s", code == PS_ENOMEM ? "out of memory" : ps_error_detail());
	if (list->count)
		qsort(list->events, list->count, sizeof *list->events, list_events_compare);
	if (list_events_probe_all(list) < 0)
		return -1;
	list_events_link_aliases(list);
	return 0;
}

void list_clear(struct list *list)
{
	for (size_t index = 0; index < list->count; index++)
		list_events_clear_event(&list->events[index]);
	for (size_t index = 0; index < list->reason_count; index++)
		free(list->reasons[index].text);
	ps__os_free(list->events);
	ps__os_free(list->reasons);
}
