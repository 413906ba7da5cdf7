/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What things are called in the text output. It is plain ASCII, whatever a
 * foreign file or an event's name holds.
 */
#include "output/label.h"

#include <inttypes.h>

static void label_add_ascii(struct ps__buffer *buffer, const char *text)
{
	ps__buffer_add_foreign(buffer, text, PS__CHARSET_ASCII);
}

/* In the largest unit that loses nothing that matters: at least four digits, or
 * exact. */
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

void ps__label_add_component(struct ps__buffer *buffer, const struct ps_component *component,
                             bool details)
{
	uint64_t size_bytes = details ? ps_component_size_bytes(component) : 0;
	const char *remarks[3] = {ps_component_subtype(component), "", ""};
	const char *separator = " (", *end = "";

	if (ps_component_type(component) == PS_COMPONENT_CORE)
		remarks[1] = ps__label_core_kind(ps_component_core_kind(component));
	if (details && !ps_component_is_allowed(component))
		remarks[2] = "not allowed";
	label_add_ascii(buffer, ps_component_name(component));
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
		end = ")";
	}
	ps__buffer_add(buffer, "%s", end);
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
