/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the numbers of a log's intervals, by group, component and event. */
#include "tools/log_sums.h"

#include "base/hash.h"
#include "base/os.h"
#include "base/vector.h"
#include "output/by.h"
#include "store/attrmap.h"
#include "tools/terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A field with more values than this is a measure, not a kind of work: --where can select ranges of
 * it. */
#define MOST_GROUPS 10000
#define PLACES      32768u /* size of the hash table: a power of two; most slots stay empty */

int tool_log_sum_add(struct tool_log_sum *sum, const struct ps_value *value)
{
	if (!ps__known_has_number(value->status)) {
		sum->unknown++;
		return 0;
	}
	if (!PS__VECTOR_GROW(&sum->numbers, sum->count, &sum->room))
		return tool_complain_memory("the intervals of the log");
	sum->numbers[sum->count] = value->value;
	ps__known_note(&sum->known, value);
	ps__value_merge(&sum->total, &sum->count, value);
	return 0;
}

static int groups_compare_numbers(const void *one, const void *other)
{
	long long a = *(const long long *)one, b = *(const long long *)other;

	return (a > b) - (a < b);
}

static size_t bin_of(long long number)
{
	return number <= 0 ? 0 : 1 + (size_t)(63 - __builtin_clzll((unsigned long long)number));
}

void tool_log_sum_up(struct tool_log_sum *sum, struct tool_log_statistics *out)
{
	static const size_t ranks[] = {50, 90, 99};

	long double total = 0;

	*out = (struct tool_log_statistics){0};
	ps__value_finish(&sum->total);
	qsort(sum->numbers, sum->count, sizeof *sum->numbers, groups_compare_numbers);
	for (size_t index = 0; index < sum->count; index++) {
		total += (long double)sum->numbers[index];
		out->bins[bin_of(sum->numbers[index])]++;
	}
	out->mean = (double)(total / (long double)sum->count);
	out->least = sum->numbers[0];
	out->most = sum->numbers[sum->count - 1];
	for (size_t index = 0; index < 3; index++)
		out->percentiles[index] = sum->numbers[(sum->count * ranks[index] + 99) / 100 - 1];
}

struct choice {
	struct tool_log_groups *all;
	unsigned types;
	int level; /* cache level */
};

static bool is_chosen(const struct choice *choice, const struct ps_component *component)
{
	enum ps_component_type type = ps_component_type(component);

	if (!(choice->types & PS_TYPE_BIT(type)))
		return false;
	return type != PS_COMPONENT_CACHE || ps_component_cache_level(component) == choice->level;
}

static int add_component(struct ps_component *component, void *context)
{
	struct choice *choice = context;
	struct tool_log_groups *all = choice->all;

	if (!is_chosen(choice, component))
		return 0;
	if (!PS__VECTOR_GROW(&all->components, all->component_count, &all->component_room))
		return -1;
	all->components[all->component_count++] = component;
	return 0;
}

int tool_log_groups_create(struct tool_log_groups *all, const struct tool_log *log)
{
	struct ps_component *root = ps_log_root(log->reader);
	struct choice choice = {all, log->options.by, log->options.by_level};

	*all = (struct tool_log_groups){.event_count = log->events.count};
	all->places = ps__os_calloc(PLACES, sizeof *all->places);
	if (!all->places)
		return tool_complain_memory("the intervals of the log");
	if (!log->options.by) {
		all->components = ps__os_calloc(1, sizeof *all->components);
		all->component_count = 1;
		return all->components ? 0 : tool_complain_memory("the intervals of the log");
	}
	if (choice.level == PS_CACHE_LAST_LEVEL)
		choice.level = ps__by_last_level(root);
	if (ps_component_for_each(root, add_component, &choice) < 0)
		return tool_complain_memory("the intervals of the log");
	return all->component_count
	           ? 0
	           : tool_complain("the machine of the log has no component of that type");
}

/* Returns the group's slot in the hash table, or the free slot where the group belongs. */
static uint32_t *groups_find_place(const struct tool_log_groups *all, const char *text, bool is_set)
{
	uint64_t hash = ps__hash_of(text);
	size_t place = (size_t)(hash ^ hash >> 32) % PLACES;

	for (; all->places[place]; place = (place + 1) % PLACES) {
		const struct tool_log_group *group = &all->groups[all->places[place] - 1];
		if (group->is_set == is_set && strcmp(group->text, text) == 0)
			break;
	}
	return &all->places[place];
}

static struct tool_log_group *groups_find(struct tool_log_groups *all, const char *text,
                                          bool is_set)
{
	uint32_t *place = groups_find_place(all, text, is_set);

	if (*place)
		return &all->groups[*place - 1];
	if (all->count == MOST_GROUPS) {
		tool_complain("the field of --group has more than %d values", MOST_GROUPS);
		return NULL;
	}
	struct tool_log_sum *sums =
	    ps__os_calloc(all->component_count * all->event_count + 1, sizeof *sums);
	if (!sums || !PS__VECTOR_GROW(&all->groups, all->count, &all->room)) {
		ps__os_free(sums);
		tool_complain_memory("the intervals of the log");
		return NULL;
	}
	struct tool_log_group *group = &all->groups[all->count++];
	*place = (uint32_t)all->count;
	snprintf(group->text, sizeof group->text, "%s", text);
	group->is_set = is_set;
	group->sums = sums;
	return group;
}

static struct tool_log_group *groups_group_of(struct tool_log_groups *all,
                                              const struct tool_log *log)
{
	char text[PS_LOG_TEXT_BYTES + 1] = "";
	struct ps_log_value value = {.is_set = 0};

	if (log->view.group >= 0 &&
	    ps_log_value(log->reader, (unsigned)log->view.group, &value) == PS_OK)
		tool_log_field_text(&value, text, sizeof text);
	return groups_find(all, text, value.is_set);
}

static int add_values(struct tool_log_groups *all, struct tool_log_group *group, size_t component,
                      const struct ps_value *values)
{
	int result = 0;

	for (size_t event = 0; result == 0 && event < all->event_count; event++)
		result = tool_log_sum_add(&group->sums[component * all->event_count + event],
		                          &values[event]);
	return result;
}

static int add_record(struct tool_log *log, const struct ps_log_record *record, void *context)
{
	struct tool_log_groups *all = context;
	struct ps_value *values = ps__os_calloc(all->event_count + 1, sizeof *values);
	struct ps_value time = {.attribution = PS_ATTRIBUTION_EXACT};
	struct tool_log_group *group = NULL;
	uint64_t duration_ns;
	bool is_timed = false;
	int result = values ? 0 : tool_complain_memory("the intervals of the log");

	for (size_t index = 0; result == 0 && index < all->component_count; index++) {
		int found =
		    tool_log_interval(log, record, all->components[index], values, &duration_ns);
		if (found <= 0) {
			result = found;
			continue;
		}
		time.value = (long long)duration_ns;
		if (!group && !(group = groups_group_of(all, log)))
			result = -1;
		else if (!is_timed)
			result = tool_log_sum_add(&group->time, &time);
		is_timed = true;
		if (result == 0)
			result = add_values(all, group, index, values);
	}
	ps__os_free(values);
	return result;
}

/* Sorts numbers by value, then texts alphabetically; records without the field come last. */
static int compare_groups(const void *one, const void *other)
{
	const struct tool_log_group *first = one, *second = other;
	const char *a = first->text, *b = second->text;
	double x, y;

	if (first->is_set != second->is_set)
		return first->is_set ? -1 : 1;
	bool is_a_number = tool_log_parse_number(a, &x) && !isnan(x);
	bool is_b_number = tool_log_parse_number(b, &y) && !isnan(y);

	if (is_a_number != is_b_number)
		return is_a_number ? -1 : 1;
	if (is_a_number && x != y)
		return x < y ? -1 : 1;
	return strcmp(a, b);
}

int tool_log_groups_collect(struct tool_log_groups *all, struct tool_log *log)
{
	int result = tool_log_each(log, add_record, all);

	if (result == 0 && all->count > 1)
		qsort(all->groups, all->count, sizeof *all->groups, compare_groups);
	return result;
}

void tool_log_groups_clear(struct tool_log_groups *all)
{
	size_t sums = all->component_count * all->event_count;

	for (size_t group = 0; group < all->count; group++) {
		for (size_t index = 0; index < sums; index++)
			ps__os_free(all->groups[group].sums[index].numbers);
		ps__os_free(all->groups[group].sums);
		ps__os_free(all->groups[group].time.numbers);
	}
	ps__os_free(all->groups);
	ps__os_free(all->places);
	ps__os_free(all->components);
}
