/* SPDX-License-Identifier: BSD-3-Clause */
/* sysfs's format files: "config:0-7,32-35" says which bits of perf_event_attr a
 * term fills, lowest first. */
#include "event/pmu.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Reads a bit number, 0 to 63, at *text, and moves *text past it; -1 if there
 * is none. */
static int format_parse_bit(const char **text)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	unsigned long bit = strtoul(*text, &end, 10);
	*text = end;
	return bit < 64 ? (int)bit : -1;
}

static bool format_parse_range(const char **text, uint64_t *mask)
{
	int first = format_parse_bit(text);
	int last = first;

	if (**text == '-') {
		++*text;
		last = format_parse_bit(text);
	}
	if (first < 0 || last < first)
		return false;
	for (int bit = first; bit <= last; bit++)
		*mask |= UINT64_C(1) << bit;
	return true;
}

bool ps__format_parse(const char *text, struct ps__format *out)
{
	static const char *const configs[] = {
	    "config:", "config1:", "config2:", "config3:", "config4:"};
	struct ps__format format = {.config = -1};

	for (int i = 0; i < (int)(sizeof configs / sizeof configs[0]); i++) {
		if (!strncmp(text, configs[i], strlen(configs[i])))
			format.config = i;
	}
	if (format.config < 0)
		return false;
	text += strlen(configs[format.config]);
	while (format_parse_range(&text, &format.mask)) {
		if (*text == '\0') {
			*out = format;
			return true;
		}
		if (*text++ != ',')
			return false;
	}
	return false;
}

uint64_t ps__format_max(const struct ps__format *format)
{
	int bits = __builtin_popcountll(format->mask);

	return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t format_config_of(const struct ps__event *event, int config)
{
	switch (config) {
	case 0:
		return event->attr.config;
	case 1:
		return event->attr.config1;
	case 2:
		return event->attr.config2;
	default:
		return event->later[config - 3];
	}
}

static void format_set_config(struct ps__event *event, int config, uint64_t value)
{
	switch (config) {
	case 0:
		event->attr.config = value;
		break;
	case 1:
		event->attr.config1 = value;
		break;
	case 2:
		event->attr.config2 = value;
		break;
	default:
		event->later[config - 3] = value;
	}
}

bool ps__format_apply(const struct ps__format *format, uint64_t value, struct ps__event *event)
{
	uint64_t config = format_config_of(event, format->config) & ~format->mask;

	if (value > ps__format_max(format))
		return false;
	for (int bit = 0; bit < 64; bit++) {
		if (!(format->mask & UINT64_C(1) << bit))
			continue;
		config |= (value & 1) << bit;
		value >>= 1;
	}
	format_set_config(event, format->config, config);
	return true;
}
