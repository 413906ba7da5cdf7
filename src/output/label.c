/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of components and events in the text output. They are plain ASCII, whatever bytes a
 * topology file or an event's name has. The words for attributions are in known.c.
 */
#include "output/label.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEEPEST  63 /* greatest depth that has its own bit in a line's branches */
#define LONGEST  60 /* columns that names may take */
#define SHORTEST 24 /* the same on a narrow screen */

static void label_add_ascii(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add_foreign(buffer, text, PS__CHARSET_ASCII);
}

/* Adds the size in the largest unit that keeps at least four digits or is exact. */
static void label_add_size(struct ps__buffer *buffer, uint64_t size_bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (unit + 1 < sizeof units / sizeof units[0] && size_bytes >= 1024 &&
	       (size_bytes % 1024 == 0 || size_bytes >= 10000)) {
		size_bytes /= 1024;
		unit++;
	}
	ps__buffer_add(buffer, "%" PRIu64 " %s", size_bytes, units[unit]);
}

const char *ps__label_core_kind(enum ps_core_kind kind)
{
	switch (kind) {
	case PS_CORE_KIND_EFFICIENT:
		return "efficient";
	case PS_CORE_KIND_MIDDLE:
		return "middle";
	case PS_CORE_KIND_PERFORMANCE:
		return "performance";
	case PS_CORE_KIND_UNKNOWN:
		break;
	}
	return "";
}

/* Adds " (HBM, 16 GiB)"; if are_many, " (HBM, 16 GiB each)". */
static void label_add_remarks(struct ps__buffer *buffer, const struct ps_component *component,
                              bool details, bool are_many)
{
	uint64_t size_bytes = details ? ps_component_size_bytes(component) : 0;
	const char *remarks[3] = {ps_component_subtype(component), "", ""};
	const char *separator = " (", *end = "";

	if (ps_component_type(component) == PS_COMPONENT_CORE)
		remarks[1] = ps__label_core_kind(ps_component_core_kind(component));
	if (details && !ps_component_is_allowed(component))
		remarks[2] = "not allowed";
	for (size_t i = 0; i < 3; i++) {
		if (!*remarks[i])
			continue;
		ps__buffer_add(buffer, "%s", separator);
		label_add_ascii(buffer, remarks[i]);
		separator = ", ";
		end = ")";
	}
	if (size_bytes) {
		ps__buffer_add(buffer, "%s", separator);
		label_add_size(buffer, size_bytes);
		end = are_many ? " each)" : ")";
	}
	ps__buffer_add(buffer, "%s", end);
}

void ps__label_add_name(struct ps__buffer *buffer, const struct ps_component *component)
{
	/* Text for people says CPU, because most readers understand a thread as software. */
	if (ps_component_type(component) == PS_COMPONENT_THREAD &&
	    ps_component_os_id(component) >= 0)
		ps__buffer_add(buffer, "CPU %d", ps_component_os_id(component));
	else
		label_add_ascii(buffer, ps_component_name(component));
}

void ps__label_add_component(struct ps__buffer *buffer, const struct ps_component *component,
                             bool details)
{
	ps__label_add_name(buffer, component);
	label_add_remarks(buffer, component, details, false);
}

void ps__label_add_type(struct ps__buffer *buffer, const struct ps_component *component,
                        size_t count)
{
	enum ps_component_type type = ps_component_type(component);

	if (type == PS_COMPONENT_CACHE)
		ps__buffer_add(buffer, "L%d", ps_component_cache_level(component));
	else
		ps__buffer_add(buffer, "%s%s",
		               type == PS_COMPONENT_THREAD ? "CPU" : ps_component_type_name(type),
		               count == 1 ? "" : "s");
}

void ps__label_add_alike(struct ps__buffer *buffer, const struct ps_component *component,
                         const char *numbers)
{
	ps__label_add_type(buffer, component, 2);
	ps__buffer_add(buffer, "%s%s", *numbers ? " " : "", numbers);
	label_add_remarks(buffer, component, true, true);
}

static int label_compare(const void *one, const void *other)
{
	int a = *(const int *)one, b = *(const int *)other;

	return (a > b) - (a < b);
}

#define LEAST_STEPS 4

void ps__label_add_numbers(struct ps__buffer *buffer, int *numbers, size_t count)
{
	qsort(numbers, count, sizeof *numbers, label_compare);
	for (size_t first = 0, last; first < count; first = last + 1) {
		int step = first + 1 < count ? numbers[first + 1] - numbers[first] : 0;
		last = first;
		while (last + 1 < count && numbers[last + 1] - numbers[last] == step)
			last++;
		if (step != 1 && last - first + 1 < LEAST_STEPS)
			last = first;
		ps__buffer_add(buffer, "%s%d", first ? "," : "", numbers[first]);
		if (last > first)
			ps__buffer_add(buffer, step == 1 ? "-%d" : "-%d:%d", numbers[last], step);
	}
}

void ps__label_add_event(struct ps__buffer *buffer, const char *event, const char *unit)
{
	label_add_ascii(buffer, event);
	if (!*unit)
		return;
	ps__buffer_add(buffer, " (");
	label_add_ascii(buffer, unit);
	ps__buffer_add(buffer, ")");
}

void ps__label_add_metric(struct ps__buffer *buffer, const char *metric, const char *unit,
                          bool is_also_event)
{
	if (!is_also_event) {
		ps__label_add_event(buffer, metric, unit);
		return;
	}
	label_add_ascii(buffer, metric);
	ps__buffer_add(buffer, " (metric%s", *unit ? ", " : "");
	label_add_ascii(buffer, unit);
	ps__buffer_add(buffer, ")");
}

size_t ps__label_width(size_t screen_width)
{
	size_t part = screen_width * 2 / 5;

	if (screen_width == 0)
		return SIZE_MAX;
	if (part > LONGEST)
		return LONGEST;
	return part < SHORTEST ? SHORTEST : part;
}

/* A line has a branch at a depth if a line of this depth follows before any line of a smaller
 * depth. */
uint64_t ps__label_find_branches(uint64_t *open, int depth)
{
	uint64_t bit = UINT64_C(1) << (depth < DEEPEST ? depth : DEEPEST);
	uint64_t branches = *open & (2 * bit - 1);

	*open = (*open & (bit - 1)) | bit;
	return branches;
}

void ps__label_add_branches(struct ps__buffer *buffer, uint64_t branches, int depth,
                            enum ps__branches kind, bool has_colour)
{
	if (has_colour)
		ps__style_begin(buffer, PS__STYLE_FAINT);
	for (int level = 1; level <= depth; level++) {
		bool goes_on = branches >> (level < DEEPEST ? level : DEEPEST) & 1;
		if (level < depth || kind == PS__BRANCHES_CONTINUED)
			ps__buffer_add(buffer, "%s", goes_on ? "\u2502 " : "  ");
		else
			ps__buffer_add(buffer, "%s", goes_on ? "\u251c\u2500" : "\u2514\u2500");
	}
	if (has_colour)
		ps__style_end(buffer, PS__STYLE_FAINT);
}
